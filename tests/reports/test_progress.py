import io

import pytest

from strop.reports.terminal import progress
from strop.reports.terminal.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def ticking(monkeypatch):
    """A clock that moves on by one second every time it is read."""
    now = iter(range(10_000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(now)))


def test_plain_lines_come_every_ten_seconds(ticking, monkeypatch):
    monkeypatch.setattr("sys.stderr", stderr := io.StringIO())
    with Progress("evaluating \x1b[2Jx", 40) as bar:
        for number in range(40):
            bar.step(number % 2 == 0)
    lines = stderr.getvalue().splitlines()
    assert len(lines) == 4
    assert lines[0] == "evaluating \\x1b[2Jx: 10 of 40, 5 passed, 0:30 left"


def test_no_estimate_before_enough_is_done(ticking, monkeypatch):
    monkeypatch.setattr("sys.stderr", stderr := io.StringIO())
    with Progress("verified", 1000) as bar:
        for _ in range(10):
            bar.step(True)
    assert stderr.getvalue() == "verified: 10 of 1000, 10 passed\n"


def test_a_terminal_line_is_rewritten_and_cleared(ticking, monkeypatch):
    monkeypatch.setattr("sys.stderr", stderr := Terminal())
    with Progress("verified") as bar:
        bar.step(True)
        bar.step(False)
    assert stderr.getvalue() == "\rverified: 1, 1 passed\x1b[K\rverified: 2, 1 passed\x1b[K\r\x1b[K"
