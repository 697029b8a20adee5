"""The live view on real pseudo-terminals: narrow, dumb, without colours, resized while it runs; and on pipes."""

import os
import pty
import subprocess
import sys
import threading

import pytest
from tests.waiting import DEADLINE

from .terminals import COLOUR, MOVE, environment, on_terminal, size, widest

VIEW = """
import os, sys
from strop.reports.terminal.live import LiveView
sample = 'def f(numbers):\\n    return "\\u4f60\\u597d \\U0001f600 ' + 'x' * 200 + '"\\n\\x1b[2J\\x1b]0;owned\\x07'
with LiveView(30, title='runs/a-run-with-quite-a-long-name-that-does-not-fit', plain=PLAIN) as view:
    view.note('evaluating before training on 100 held-out tasks, a line that is longer than narrow terminals ...')
    for step in range(1, 13):
        view.status(f'evaluating: {step} of 400 answers')
        view.update({'step': step, 'reward': step / 10, 'rewards': {'passed': .25, 'a_reward_with_a_long_name': .5},
            'pass_rate': step / 12, 'completion_tokens': 21.5, 'groups_played': 12, 'groups_with_signal': 8,
            'error_rate': 0.02, 'seconds': 30.0, 'seconds_sampling': 20.0, 'seconds_verifying': 1.0,
            'seconds_update': 9.0, 'held_out': {'pass@1': .25, 'intervals': {}} if step % 4 == 0 else None,
            'sample': sample})
        if sys.argv[1:]:
            os.write(2, b'step\\n')  # sys.stderr is the view's
            sys.stdin.readline()
    view.note('alarm at step 12: duplicates: 81.0 % of the answers equal another of their group (mean of 3 steps)')
print('the end')
"""


def live(columns: int, lines: int = 24, plain: bool | None = None, **variables: str) -> str:
    """What the view writes to a terminal of that size."""
    return on_terminal(["-c", VIEW.replace("PLAIN", str(plain))], columns, lines, **variables)


@pytest.mark.parametrize("columns", [10, 20, 33, 80, 200])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    text = live(columns)
    assert widest(text) <= columns
    assert "the end" in text and COLOUR.search(text)


def test_a_terminal_of_few_lines() -> None:
    assert "the end" in live(40, lines=3)


def test_without_colours_only_the_cursor_is_moved() -> None:
    text = live(60, NO_COLOR="1")
    assert not COLOUR.search(text) and MOVE.search(text)
    assert widest(text) <= 60 and "\x1b" not in MOVE.sub("", text)


@pytest.mark.parametrize(
    "variables", [{"TERM": "dumb"}, {"TERM": "unknown"}, {"TERM": "dumb", "NO_COLOR": "1"}]
)
def test_a_dumb_terminal_gets_plain_lines(variables: dict[str, str]) -> None:
    text = live(20, **variables)
    assert "\x1b" not in text and text.count("step ") >= 12
    assert "step 12/30" in text and "held-out pass@1 0.250 (step 12)" in text and "the end" in text


def test_plain_on_a_terminal_moves_nothing() -> None:
    assert "\x1b" not in live(80, plain=True)


def test_an_encoding_without_bars_or_ideographs() -> None:
    text = live(60, PYTHONIOENCODING="ascii")
    assert text.isascii() and "\\u4f60" in text and "the end" in text


def test_a_pipe_gets_plain_lines() -> None:
    done = subprocess.run(
        [sys.executable, "-c", VIEW.replace("PLAIN", "None")],
        capture_output=True,
        env=environment(),
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == b""
    assert b"\x1b" not in done.stdout
    lines = done.stdout.decode().splitlines()
    assert len(lines) == 15 and lines[12].startswith("step 12/30") and lines[-1] == "the end"


def test_a_terminal_that_is_resized_while_the_view_runs() -> None:
    ours, theirs = pty.openpty()
    size(theirs, 120)
    process = subprocess.Popen(
        [sys.executable, "-c", VIEW.replace("PLAIN", "None"), "slowly"],
        stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    os.close(theirs)
    assert process.stdin is not None and process.stderr is not None
    blocks: list[bytes] = []
    reader = threading.Thread(target=read_on, args=(ours, blocks), daemon=True)
    reader.start()
    for columns in (120, 20, 200, 8, 1, 80, 20, 60, 30, 100, 15, 25):
        assert process.stderr.readline().startswith(b"step")
        size(ours, columns)
        process.stdin.write(b"\n")
        process.stdin.flush()
    process.stdin.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(DEADLINE) == 0 and errors == "", errors
    reader.join(DEADLINE)
    os.close(ours)
    text = b"".join(blocks).decode(errors="replace")
    last = text[text.index("alarm") :]  # written after the last change of size
    assert "the end" in last and "step 12/30" in last and widest(last) <= 25


def read_on(handle: int, blocks: list[bytes]) -> None:
    """Reads until the other side is closed, so that it never waits for us."""
    while True:
        try:
            block = os.read(handle, 1 << 16)
        except OSError:
            return
        if not block:
            return
        blocks.append(block)
