"""Shows the progress of a long loop on stderr, so that stdout holds only the result."""

import sys
import time

from strop.reports.terminal.live import clock
from strop_verify.core.text import printable

_TERMINAL_SECONDS, _PLAIN_SECONDS = 0.25, 10.0
_KNOWN = 0.05
"""Share done before the time left is estimated, because the first answers of a batch take a while."""


class Progress:
    """A line that is rewritten on a terminal, and a new line every ten seconds elsewhere. A context manager."""

    def __init__(self, label: str, total: int | None = None) -> None:
        self._label = printable(label)
        self._total = total
        self._done = 0
        self._passed: int | None = 0
        self._note = ""
        self._terminal = sys.stderr.isatty()
        self._started = self._shown = time.monotonic()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def step(self, passed: bool) -> None:
        """Counts one more answer."""
        self.at(self._done + 1, (self._passed or 0) + passed, self._total)

    def at(
        self, done: int, passed: int | None, total: int | None, note: str = "", *, now: bool = False
    ) -> None:
        """Shows that `done` of `total` are done and `passed` of them passed (None: not applicable), then `note`.

        now  show it at once, however recent the last line
        """
        self._done, self._passed, self._total, self._note = done, passed, total, printable(note)
        clock_now = time.monotonic()
        if not now and clock_now - self._shown < (_TERMINAL_SECONDS if self._terminal else _PLAIN_SECONDS):
            return
        self._shown = clock_now
        if self._terminal:
            print(f"\r{self._line(clock_now)}\x1b[K", end="", file=sys.stderr, flush=True)
        else:
            print(self._line(clock_now), file=sys.stderr, flush=True)

    def _line(self, now: float) -> str:
        parts = [f"{self._label}: {self._done}" + (f" of {self._total}" if self._total else "")]
        if self._passed is not None:
            parts.append(f"{self._passed} passed")
        if self._total and self._done > _KNOWN * self._total:
            parts.append(f"{clock((now - self._started) / self._done * (self._total - self._done))} left")
        return ", ".join([*parts, *([self._note] if self._note else [])])
