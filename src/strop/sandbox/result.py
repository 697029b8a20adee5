"""What a jailed program did, and the words for asking."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

Profile = Literal["run", "build"]
"""run: threads but no other process, no file written. build: processes, and writing in the work directory."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a jailed program ended."""

    status: int
    """Exit status; negative for the signal that ended it. An exit status of 0 proves nothing about what it did."""
    expired: Literal["", "cpu", "wall", "output"]
    """The limit that ended it, or empty."""
    stdout: bytes
    stderr: bytes
    truncated: bool
    """Whether a stream had more than limits.output_bytes; the rest was dropped."""
    seconds: float
    """Wall seconds, start and clean-up included."""
    cpu_seconds: float
    """CPU seconds of the whole tree."""
    peak_bytes: int
    """Largest resident set of any process of the tree."""
    left: int
    """Processes that the program left behind; they were killed."""
    sized: bool
    """Whether the work directory was a tmpfs with a size; else its files were bounded one by one only."""
    out_of_memory: bool = False
    """Whether the kernel killed one of its processes because the tree used more than limits.tree_bytes."""


def safe_name(name: str) -> str:
    """The name of a file below the work directory. Raises ValueError when it leaves it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise ValueError(f"file name {name!r} leaves the work directory; use a relative name without '..'")
    return str(path)
