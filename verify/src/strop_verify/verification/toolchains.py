"""Builds toolchains and checks what they need on this machine. A toolchain's module is imported with its first job."""

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module

from strop_verify.code.trees import parse
from strop_verify.core.checks import CommandCheck, PytestCheck, StdioCheck, TerminalCheck, WorkspaceCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.protocols import Toolchain
from strop_verify.core.registry import Registry
from strop_verify.core.task import Task
from strop_verify.sandbox.image import check_image
from strop_verify.verification.settings import Settings

_CLASSES = {
    "python": ("plain", "PythonVerifier"),
    "command": ("command.toolchain", "CommandToolchain"),
    "project": ("project.toolchain", "ProjectToolchain"),
    "label": ("label", "LabelToolchain"),
    "terminal": ("terminal", "TerminalToolchain"),
    "workspace": ("workspace", "WorkspaceToolchain"),
}
OTHERS: Registry[Callable[[Settings], Toolchain]] = Registry("toolchains", {})
"""Toolchains added by packages, by the name that a kind of check returns; each is called with the settings."""


def build(name: str, settings: Settings) -> Toolchain:
    """A new toolchain; its processes start with the first job. Raises VerificationError, ImportError."""
    kind, _, judge = name.partition(":")
    if name in _CLASSES:
        module, called = _CLASSES[name]
        made: Toolchain = getattr(import_module(f"{__package__}.{module}"), called)(settings)
        return made
    if name == "rust":
        from strop_verify.verification.rust import RustToolchain

        return RustToolchain(
            verdict=settings.rust_verdict,
            limits=settings.limits,
            jail=settings.jail,
            allow_unsafe=settings.allow_unsafe,
            vendor=settings.rust_vendor,
        )
    if name in OTHERS:
        return OTHERS[name](settings)
    if kind == "edit":
        from strop_verify.verification.edit import EditToolchain

        return EditToolchain(partial(build, settings=settings), judge)
    raise VerificationError(f"no toolchain is named {name!r}")


def missing_programs(tasks: Iterable[Task], root: str = "") -> list[str]:
    """What the toolchains of these tasks lack on this machine, one line each with the remedy. Starts nothing.

    root  image for jails, as in `sandbox.root`
    """
    languages: dict[tuple[str, ...], Task] = {}
    for task in tasks:
        check = task.check.effective()
        if check.rewards_alone:
            continue
        programs = [step.argv[0] for step in check.steps] if isinstance(check, CommandCheck) else []
        if isinstance(check, TerminalCheck | WorkspaceCheck):
            programs = [task.id]
        languages.setdefault((check.kind, task.language, *programs), task)
    found: dict[str, None] = {}
    for task in languages.values():
        try:
            _look(task.model_copy(update={"check": task.check.effective()}), root)
        except (VerificationError, UserError) as error:
            found[str(error)] = None
    return list(found)


def _look(task: Task, root: str) -> None:
    """Raises VerificationError if what judges the task is not installed."""
    name, check = task.toolchain(), task.check
    if name == "rust" or (name == "project" and task.language == "rust"):
        from strop_verify.verification.rust.installation import find_installation

        find_installation()
        parse("", "rust")
    elif name == "project" or isinstance(check, PytestCheck):
        from strop_verify.verification.python.suite.check import testing_site

        testing_site()
    elif isinstance(check, TerminalCheck):
        from strop_verify.verification.terminal import plan_of

        plan_of(check, root)
    elif isinstance(check, WorkspaceCheck):
        from strop_verify.verification.workspace import place_of, tests_of

        check_image(place_of(check, root))
        tests_of(check)
    elif isinstance(check, CommandCheck | StdioCheck) and name == "command":
        from strop_verify.verification.command.languages import require_for

        require_for(check, task.language)
