"""What is asked of a run of a project's tests, and what was seen of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from strop.core.errors import VerificationError
from strop.core.verdict import Outcome, TestResult
from strop.sandbox.limits import Limits

MEMORY_BYTES = 3 << 30
"""Address space of a run's process at the least, in bytes."""
PLAIN = ("-o", "addopts=", "-o", "required_plugins=")
"""What a project asks pytest for on its command line is left out: it mostly names plugins that are not here."""
BARE = ("-c", "/dev/null")
"""No configuration of the project at all, where pytest refuses the one it has."""


@dataclass(frozen=True)
class Warmth:
    """What one run of the unchanged snapshot left behind to make others quick."""

    compiled: dict[str, bytes] = field(default_factory=dict)
    """Path to content of compiled files."""
    modules: tuple[str, ...] = ()
    """Modules of Python and of the environment that the project imports."""
    options: tuple[str, ...] = PLAIN


@dataclass(frozen=True)
class Request:
    """One run of tests."""

    tests: Collection[str] | None = None
    """Node ids; None = all that pytest finds."""
    left_out: Collection[str] = ()
    beside: Collection[str] = ()
    """Files that tests are collected from as a whole; `tests` still says which of them run."""
    order: int = 0
    """Seed of another order than the project's; 0 = the project's."""
    collect: bool = False
    """Only find out which tests there are."""
    seconds: float = 5.0
    """CPU seconds that a test may take; 0 = no bound."""
    loading: float = 0.0
    """CPU seconds that importing and collecting may take; 0 = no bound."""
    patience: int = 0
    """Tests that may take too long before the rest is given up; 0 = any number."""
    traced: Sequence[str] = ()
    """Files whose lines that each test reaches are recorded."""
    keep: bool = False
    """Bring back compiled files and names of modules; only for trees that are trusted."""


@dataclass
class Run:
    """What was seen of one run."""

    results: dict[str, TestResult] = field(default_factory=dict)
    collected: list[str] = field(default_factory=list)
    uncollected: str = ""
    """Why a file could not be collected, the first one."""
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Test to path to lines."""
    running: str = ""
    """The test that was under way at the end."""
    stop: tuple[Outcome, str] | None = None
    """What ended the run before its time."""
    status: int | None = None
    """pytest's exit status, if it came to its end."""
    tampered: str = ""
    warmth: Warmth | None = None
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


def with_room(limits: Limits, *, cpu: float, wall: float) -> Limits:
    """Limits of a run: those of an answer, with room for pytest, imports and a tree of files."""
    return Limits(
        cpu_seconds=limits.cpu_seconds + cpu,
        wall_seconds=limits.wall_seconds + wall,
        memory_bytes=max(limits.memory_bytes, MEMORY_BYTES),
        open_files=256,
    )


def as_bytes(files: Mapping[str, str]) -> dict[str, bytes]:
    """Texts as they are written to disk. Raises VerificationError for a path that leaves the project."""
    for path in files:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts or str(pure) != path or "\0" in path:
            raise VerificationError(f"path {path!r} leaves the project")
    return {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}
