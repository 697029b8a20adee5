"""Moves bytes between the trainer and jailed processes within a budget of CPU and wall time; never blocks longer."""

import contextlib
import math
import os
import re
import select
import time
from collections.abc import Callable
from typing import Literal

from strop_verify.core.text import left_out
from strop_verify.sandbox.limits import Limits

_CHUNK = 1 << 16
_SLACK = 0.002
"""Seconds added to a wait for CPU time, so that the clock is past the limit when read."""


def cpu_clock(pid: int) -> float:
    """CPU seconds of a process, all threads together. Raises OSError if it is gone."""
    return time.clock_gettime((~pid << 3) | 2)


def stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal. No judged code has a reason to stop itself."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


class Pump:
    """Readers and writers by descriptor, and the deadline that ends them.

    `used`: CPU seconds that the answer spent in earlier processes.
    """

    def __init__(self, limits: Limits, *, used: float = 0.0, began: float | None = None) -> None:
        self.limits = limits
        self.used = used
        self.began = time.monotonic() if began is None else began
        self.expired: Literal["", "cpu", "wall"] = ""
        self._clocks: list[tuple[int, float]] = []
        self._poll = select.poll()
        self._readers: dict[int, Callable[[bytes], None]] = {}
        self._writers: dict[int, memoryview] = {}

    def watch(self, pid: int, *, fresh: bool) -> None:
        """Counts the CPU time of this process: from its start if `fresh`, else from now."""
        self._clocks.append((pid, 0.0 if fresh else cpu_clock(pid)))

    def read(self, fd: int, sink: Callable[[bytes], None]) -> None:
        """Passes incoming data to `sink`, and b"" at the end of the stream."""
        os.set_blocking(fd, False)
        self._readers[fd] = sink
        self._register(fd)

    def write(self, fd: int, data: bytes) -> None:
        """Writes as fast as the other end reads; drops the data if it is gone, which the reader notices."""
        os.set_blocking(fd, False)
        self._writers[fd] = memoryview(data)
        self._push(fd)
        self._register(fd)

    def step(self, at_most: float = math.inf) -> bool:
        """Waits up to `at_most` seconds for events and handles them. False when the time is up; see `expired`."""
        timeout = min(self._time_left(), at_most)
        if timeout <= 0:
            return False
        for fd, _ in self._poll.poll(timeout * 1000):
            if fd in self._writers:
                self._push(fd)
            if fd in self._readers:
                self._pull(fd)
            self._register(fd)
        return True

    def drain(self, fd: int) -> None:
        """Reads what has already arrived, without waiting."""
        while fd in self._readers and self._pull(fd):
            pass

    def _time_left(self) -> float:
        wall = self.limits.wall_seconds - (time.monotonic() - self.began)
        if wall <= 0:
            self.expired = "wall"
            return 0.0
        for pid, start in self._clocks:
            with contextlib.suppress(OSError):
                left = self.limits.cpu_seconds - self.used - (cpu_clock(pid) - start)
                if left <= 0:
                    self.expired = "cpu"
                    return 0.0
                wall = min(wall, left + _SLACK)
        return wall

    def _pull(self, fd: int) -> bool:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        except ConnectionError:
            data = b""
        sink = self._readers[fd]
        if not data:
            del self._readers[fd]
        sink(data)
        return bool(data)

    def _push(self, fd: int) -> None:
        try:
            while self._writers[fd]:
                self._writers[fd] = self._writers[fd][os.write(fd, self._writers[fd]) :]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            pass
        del self._writers[fd]

    def _register(self, fd: int) -> None:
        events = select.POLLIN if fd in self._readers else 0
        events |= select.POLLOUT if fd in self._writers else 0
        if events:
            self._poll.register(fd, events)
        else:
            with contextlib.suppress(KeyError):
                self._poll.unregister(fd)


_CONTINUED = bytes(range(0x80, 0xC0))
"""Continuation bytes of UTF-8."""


class Capture:
    """Keeps the first and last `limit` bytes of a stream and counts the rest. `flood` after more than `most` bytes, by
    default 16 times the limit.
    """

    def __init__(self, limit: int, most: int | None = None) -> None:
        self.limit, self.most = limit, 16 * limit if most is None else most
        self.seen = 0
        self.kept, self._last = bytearray(), bytearray()
        self._lines = self._characters = 0
        """Counts of the discarded middle."""
        self.ended = False

    def __call__(self, data: bytes) -> None:
        """Takes the next bytes; b"" is the end."""
        self.ended = self.ended or not data
        self.seen += len(data)
        room = max(0, self.limit - len(self.kept))
        self.kept += data[:room]
        self._last += data[room:]
        if len(self._last) > 2 * self.limit:
            gone = bytes(self._last[: -self.limit])
            self._lines += gone.count(b"\n")
            self._characters += _characters(gone)
            del self._last[: len(gone)]

    @property
    def flood(self) -> bool:
        """Whether more than `most` bytes have come."""
        return self.seen > self.most

    @property
    def text(self) -> str:
        """The first bytes as text; untrusted."""
        return self.kept.decode("utf-8", errors="replace")

    def excerpt(self) -> tuple[str, int]:
        """(the stream as text, or its head, a note on what was left out, and its tail; number of characters left out).

        Whole lines are left out if head, middle and tail each have a line end; the note is then a line.
        """
        head, tail = bytes(self.kept), bytes(self._last)
        if self.seen == len(head) + len(tail):
            return (head + tail).decode("utf-8", errors="replace"), 0
        if self._lines:
            above, below = head[: head.rfind(b"\n") + 1] or head, tail[tail.find(b"\n") + 1 :]
        else:
            above, below = head, tail
        above, below = re.sub(rb"[\xc0-\xff][\x80-\xbf]{0,3}\Z", b"", above), below.lstrip(_CONTINUED)
        gone = head[len(above) :], tail[: len(tail) - len(below)]
        lines = self._lines + sum(part.count(b"\n") for part in gone)
        characters = self._characters + sum(map(_characters, gone))
        note = left_out(lines, characters)
        if lines:
            note = f"{note}\n" if above[-1:] in (b"", b"\n") else f"\n{note}\n"
        return f"{above.decode(errors='replace')}{note}{below.decode(errors='replace')}", characters


def _characters(data: bytes) -> int:
    return len(data.translate(None, _CONTINUED))
