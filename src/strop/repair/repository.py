"""A repository's text files: what a policy may see and an edit may change. Nothing here runs or changes them.

The files are those of a project's snapshot (`strop_verify.verification.project`): what git tracks, else everything
except hidden files, caches and build outputs; no links. Files that are not UTF-8 text, are larger than `LARGEST`, or
have names that edits cannot hold are only counted.
"""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from strop_verify.core.errors import UserError
from strop_verify.edits import EditError
from strop_verify.edits.paths import check_path
from strop_verify.verification.project.layout import Layout, is_protected, layout_of, shadows
from strop_verify.verification.project.snapshot import read_project

LARGEST = 512 * 1024
"""Maximum bytes of a file to read."""
CODE = frozenset({
    ".py", ".pyx", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".go", ".java", ".js", ".jsx", ".kt", ".lua",
    ".php", ".pl", ".rb", ".scala", ".sh", ".swift", ".ts", ".tsx",
})  # fmt: skip
"""File extensions of source code, which comes before other files in every ranking."""


@dataclass(frozen=True)
class RepositoryTexts:
    """The texts of a repository by relative path, in the order of paths. `left_out`: reason -> number of files."""

    root: Path
    files: Mapping[str, str]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def _layout(self) -> Layout:
        return layout_of({path: text.encode() for path, text in self.files.items()})

    @cached_property
    def language(self) -> str:
        """ "rust" for a root with Cargo.toml and without a Python project, else "python"."""
        python = {"pyproject.toml", "setup.py", "setup.cfg"} & self.files.keys()
        return "rust" if "Cargo.toml" in self.files and not python else "python"

    def exists(self, path: str) -> bool:
        """Whether anything exists at a path, whether or not it was read."""
        return path in self.files or os.path.lexists(self.root / path)

    @property
    def editable(self) -> list[str]:
        """The paths that an edit may change."""
        return [path for path in self.files if not self.is_test(path)]

    def is_test(self, path: str) -> bool:
        """Whether a path is a test or configures tests, which no candidate may change."""
        return is_protected(path, self.language)

    def shadows(self, path: str) -> bool:
        """Whether a new file would shadow a module of Python or of the environment."""
        return shadows(path, self._layout.own, self._layout.roots)


def is_code(path: str) -> bool:
    """Whether a path has an extension of CODE."""
    return PurePosixPath(path).suffix in CODE


def read_repository(root: Path) -> RepositoryTexts:
    """Reads a folder or an sdist. Raises UserError if it is missing or holds no text file."""
    files: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    for path, data in read_project(root).items():
        if fault := _fault(path, data):
            left_out[fault] += 1
        else:
            files[path] = data.decode()
    if not files:
        raise UserError(f"{root} contains no text file; name the folder of a repository")
    return RepositoryTexts(root, dict(sorted(files.items())), dict(sorted(left_out.items())))


def _fault(path: str, data: bytes) -> str:
    """Why a file is not read; "" if it is."""
    try:
        check_path(path)
        if len(data) > LARGEST:
            return "too large"
        data.decode()
    except EditError:
        return "name"
    except UnicodeDecodeError:
        return "not UTF-8 text"
    return "not UTF-8 text" if b"\0" in data else ""
