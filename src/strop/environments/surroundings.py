"""What programs in a play's folder can use: Python, pytest, the packages that the task's project requires, and Rust.

Neither Strop's own installation nor a release of the project itself is part of it (`verification.project.needs`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from strop.environments.task_tree import project_of, tree_of
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.task import Task
from strop_verify.sandbox.interpreter import interpreter_reads
from strop_verify.sandbox.packages import TESTS, canonical, site_of
from strop_verify.verification.project.needs import needs_of
from strop_verify.verification.project.snapshot import locate_packages
from strop_verify.verification.rust.installation import find_installation


@dataclass(frozen=True)
class Surroundings:
    """What programs see. Equal contents compare equal, so that plays can reuse each other's jails.

    read       paths that programs in the jail may read
    variables  (name, value) pairs of their environment
    """

    read: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables by name."""
        return MappingProxyType(dict(self.variables))


def surroundings_of(
    task: Task | None = None, packages: Sequence[str] = (), read: Sequence[str] = ()
) -> Surroundings:
    """The surroundings of a task's plays; starts no program.

    packages  names of further installed packages that its programs may use
    read      further paths that they may read

    Raises UserError if such a package is not installed, VerificationError if the task's project is missing.
    """
    project = project_of(task) if task is not None else None
    if task is None or project is None or task.language != "python":
        site = site_of((*TESTS, *packages))
    else:
        site = needs_of(tree_of(task), locate_packages(project.packages), packages).site
    if lacking := sorted({canonical(one) for one in packages} & {*site.lacking}):
        raise UserError(f"play.folder.packages: {', '.join(lacking)} is not installed here; pip install it")
    rust = _rust()
    programs = [f"{site.folder}/bin", rust.environment.get("PATH"), "/usr/local/bin", "/usr/bin", "/bin"]
    own = {
        **rust.environment,
        "PATH": ":".join(filter(None, programs)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "CARGO_INCREMENTAL": "0",
        "CARGO_TERM_COLOR": "never",
        "CARGO_NET_OFFLINE": "true",
        "CARGO_PROFILE_TEST_DEBUG": "0",
        "RUST_BACKTRACE": "0",
        "TZ": "UTC",
    }
    reads = [*interpreter_reads(), *site.read, *rust.read, *read]
    return Surroundings(tuple(dict.fromkeys(reads)), tuple(sorted(own.items())))


@cache
def _rust() -> Surroundings:
    """Rust's part, with the folder of its programs as PATH; empty if Rust is not installed, which a task that needs
    it reports."""
    try:
        found = find_installation()
    except VerificationError:
        return Surroundings()
    variables = {"RUSTC": found.program("rustc"), "LD_LIBRARY_PATH": found.libraries}
    return Surroundings(found.read, (*variables.items(), ("PATH", str(found.programs))))
