"""Loads languages described in YAML: how an answer is named, built, linted and run.

The packaged ones are in this module's folder; the environment variable STROP_TOOLCHAINS names more folders
(separated by ':'), whose files take precedence. docs/formats.md describes the fields.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from strop_verify.core.checks import CommandCheck, StdioCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.task import Task, language_named
from strop_verify.sandbox.limits import Limits

FOLDERS = "STROP_TOOLCHAINS"
JAIL_PATH = "/usr/local/bin:/usr/bin:/bin"
"""PATH in the jail, unless `environment` has one."""
BUILD = Limits(cpu_seconds=20.0, wall_seconds=60.0, memory_bytes=2**30, file_bytes=64 * 2**20)
"""Default limits of build and lint."""


class Language(BaseModel):
    """A language as described by one YAML file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str = Field(pattern=r"^[a-z0-9+#_-]+$")
    needs: list[str]
    """Programs that must be installed."""
    file: str
    """Name of the file to which the answer is written."""
    build: list[str] = Field(default_factory=list)
    """Command that builds the answer or checks its syntax; empty = nothing to build."""
    lint: list[str] = Field(default_factory=list)
    """Command of the lint stage, which never changes the outcome; empty = none."""
    run: list[str] = Field(min_length=1)
    read: list[str] = Field(default_factory=list)
    """Additional paths that the programs may read and execute."""
    environment: dict[str, str] = Field(default_factory=dict)
    limits: dict[str, float] = Field(default_factory=dict)
    """Overrides limits of the answer's runs, except CPU and wall time, which the verifier sets."""
    build_limits: dict[str, float] = Field(default_factory=dict)
    """Overrides limits of build and lint."""
    test_profile: Literal["run", "build"] = "run"
    """build: runs may start processes and write in the work directory."""

    @field_validator("limits", "build_limits")
    @classmethod
    def _limits_are_limits(cls, given: dict[str, float]) -> dict[str, float]:
        known = Limits.__slots__
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"unknown limit {name!r}; choose from {', '.join(known)}")
            if value <= 0:
                raise ValueError(f"limit {name} must be above 0, not {value}")
        return given

    def for_run(self, limits: Limits) -> Limits:
        """Limits of one answer's runs."""
        kept = {k: v for k, v in self.limits.items() if k not in ("cpu_seconds", "wall_seconds")}
        return _changed(limits, kept)

    def for_build(self) -> Limits:
        """Limits of build and lint, independent of the runs' limits."""
        return _changed(BUILD, self.build_limits)


def _changed(limits: Limits, changes: Mapping[str, float]) -> Limits:
    whole = {k: v if k.endswith("seconds") else int(v) for k, v in changes.items()}
    return replace(limits, **whole)  # type: ignore[arg-type]


def language(name: str) -> Language:
    """The description of a language. Raises VerificationError if there is none, UserError for a bad file."""
    known = languages()
    if name not in known:
        raise VerificationError(
            f"no toolchain for language {name!r}: there are {', '.join(sorted(known))}; describe others in YAML files "
            f"in a folder named by {FOLDERS}"
        )
    return known[name]


def require_known(task: Task) -> None:
    """Raises VerificationError if a task must be judged but its language has no toolchain."""
    check = task.check.effective()
    if check.toolchains and check.toolchain(task.language) == "command" and isinstance(check, StdioCheck):
        language(task.language)


def languages() -> dict[str, Language]:
    """Every described language by name. Raises UserError for a bad file."""
    return _load(os.environ.get(FOLDERS, ""))


@cache
def _load(folders: str) -> dict[str, Language]:
    found: dict[str, Language] = {}
    for folder in (*filter(None, folders.split(os.pathsep)), str(Path(__file__).parent)):
        if not Path(folder).is_dir():
            raise UserError(f"{FOLDERS} names {folder!r}, which is not a folder")
        for path in sorted(Path(folder).glob("*.yaml")):
            described = _read(path)
            found.setdefault(language_named(described.language), described)
    return found


def _read(path: Path) -> Language:
    try:
        data: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Language.model_validate(data)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path}: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UserError(f"{path}: {where}: {first['msg']}") from None


def require_for(check: CommandCheck | StdioCheck, name: str) -> None:
    """Raises a one-line VerificationError if a program that the check needs in this language is not installed."""
    if isinstance(check, StdioCheck):
        described = language(name)
        require(described.needs, described.environment, f"language {name!r}")
        return
    programs = [step.argv[0] for step in check.steps if step.argv and "/" not in step.argv[0]]
    known = languages().get(name)
    require(programs, known.environment if known else {}, "the command check")


def require(programs: list[str], environment: Mapping[str, str], what: str) -> None:
    """Raises a one-line VerificationError if a program is not on the jail's PATH."""
    path = environment.get("PATH", JAIL_PATH)
    for program in programs:
        if shutil.which(program, path=path) is None:
            raise VerificationError(
                f"{what} needs {program!r}, which is not in {path}; install it, or describe where it is (PATH under "
                "environment, and read) in a YAML file of your own"
            )
