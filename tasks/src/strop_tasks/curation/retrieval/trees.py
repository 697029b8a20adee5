"""The trees of retrieval tasks: one bare git repository beside the tasks, with the histories of all their sources. git
shares and packs the objects, so thousands of commits take little more space than the history itself.
"""

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from strop_verify.core.errors import UserError
from strop_verify.sandbox.foreign_git import ForeignGit
from strop_verify.sandbox.git import Git, GitError

SECONDS = 1800.0  # time limit for copying a history


class SourceHistory(NamedTuple):
    """A source's history in the repository of trees."""

    name: str
    """Of the source, without its folder and ending."""
    ref: str


def gather(sources: Sequence[str], store: Path) -> list[SourceHistory]:
    """Copies the histories of git folders and bundles into a new bare repository. Raises UserError.

    Their configurations and hooks are not read. An existing `store` is replaced.
    """
    names = [_name(source) for source in sources]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UserError(
            f"two sources are called {twice!r}; rename one, so that their tasks can be told apart"
        )
    shutil.rmtree(store, ignore_errors=True)
    git = Git(own=True)
    found: list[SourceHistory] = []
    kept = ""
    try:
        for name, source in zip(names, sources, strict=True):
            history = SourceHistory(name, f"refs/heads/{name}")
            with tempfile.TemporaryDirectory(prefix="strop-git-") as folder:
                bundle = _bundle(source, Path(folder) / "history.bundle")
                head, objects = _head(git, bundle, source)
                if not kept:
                    git("init", "--quiet", "--bare", f"--object-format={objects}", str(store))
                elif objects != kept:
                    raise UserError(
                        f"{source}: its git object format is {objects}, that of {sources[0]} is {kept}; build them "
                        "separately"
                    )
                kept, wanted = objects, [str(bundle), f"+{head}:{history.ref}"]
                git(f"--git-dir={store}", "fetch", "--quiet", "--no-tags", *wanted, seconds=SECONDS)
            found.append(history)
        if found:
            (store / "HEAD").write_text(f"ref: {found[0].ref}\n")
    except GitError as error:
        raise UserError(f"{source}: git cannot read it: {error}") from error
    return found


def _name(source: str) -> str:
    path = Path(source).expanduser()
    name = path.name.removesuffix(".bundle") if path.is_file() else path.resolve().name.removesuffix(".git")
    return re.sub(r"[^A-Za-z0-9._-]+|\.\.+|^[.-]+|\.(?:lock)?$", "-", name) or "repository"


def _bundle(source: str, made: Path) -> Path:
    path = Path(source).expanduser()
    if path.is_file():
        return path.resolve()
    if not path.is_dir():
        raise UserError(f"{source!r} is neither a git repository nor a bundle")
    git = ForeignGit(path)
    if not git("rev-list", "--max-count=1", "--all"):
        raise UserError(f"{source}: it has no commit to build from")
    if git("rev-parse", "--is-shallow-repository") == "true":
        raise UserError(
            f"{source}: a shallow clone, without its older commits; complete it: git fetch --unshallow"
        )
    git("bundle", "create", "--quiet", str(made), "HEAD", seconds=SECONDS)
    return made


def _head(git: Git, bundle: Path, source: str) -> tuple[str, str]:
    """(HEAD or the first branch, the format of its objects) of a bundle."""
    listed = git("bundle", "list-heads", str(bundle)).split("\n")
    names = {name: objects for objects, _, name in (line.partition(" ") for line in listed)}
    branches = [name for name in names if name == "HEAD" or name.startswith("refs/heads/")]
    if not branches:
        raise UserError(f"{source}: the bundle holds no branch")
    head = "HEAD" if "HEAD" in branches else branches[0]
    return head, "sha256" if len(names[head]) == 64 else "sha1"
