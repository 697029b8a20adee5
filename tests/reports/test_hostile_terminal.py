"""Hostile texts on a terminal: no command prints a control character, whatever lies in the run folder."""

import io
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests import warm

from strop.reports.terminal.live import LiveView

from .hostile_runs import hostile_run, named_runs
from .terminals import COLOUR, MOVE, SOURCE, environment, on_terminal, strop_on_terminal
from .xss import CORPUS, SHORT

_FORBIDDEN = {*"\u061c\u200e\u200f\u2028\u2029", *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_run(tmp_path_factory.mktemp("hostile") / "run")


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return named_runs(tmp_path_factory.mktemp("named"))


def harmful(text: str) -> list[str]:
    """Characters that a terminal would act upon, but for line ends and tabs."""
    return sorted(
        {c for c in text if c not in "\n\t" and (unicodedata.category(c) == "Cc" or c in _FORBIDDEN)}
    )


def said(words: Sequence[str | Path], *, status: int = 0, **variables: str) -> str:
    """What `strop WORDS` prints on stdout and stderr, looked at for harmful characters."""
    done = warm.strop(*words, env=environment(**variables))
    text = done.stdout + done.stderr
    assert harmful(text) == []
    assert "Traceback" not in text, text[-3000:]
    assert done.returncode == status, text[-2000:]
    return text


@pytest.mark.soak(8)
@pytest.mark.parametrize("options", [[], ["--step", "1", "--full"], ["--evaluation", "after"]])
def test_show_prints_no_control_characters(run: Path, options: list[str]) -> None:
    text = said(["show", run, *options, *(["--limit", "1000"] if options else [])])
    if "--step" in options:
        for kind in ("script", "markup of rich"):  # what is harmless is there as it is
            assert SHORT[kind] in text
        assert "\\x1b]0;pwned\\x07" in text and "\\u202egnp.exe" in text and "a\\x00b\\x00" in text


def test_show_with_hostile_arguments(run: Path) -> None:
    names = [SHORT[kind] for kind in ("prototype", "markup of rich", "terminal, title", "terminal, C1")]
    for text in names:
        assert "1 of 1 rollouts" in said(["show", run, "--task", text, "--step", "1"])
    said(["show", run, "--id", "e.after.\x1b[2J.0"], status=2)
    said(["show", run, "--evaluation", "\x1b[2J\u202e"], status=2)
    said(["show", run / "\x1b[2J"], status=2)


def test_names_of_runs_and_folders(named: list[Path], tmp_path: Path) -> None:
    table = said(["runs", named[0].parent])
    assert "\\x1b]0;pwned\\x07" in table and "[red]x[/red]" in table
    said(["runs", "--json", named[0].parent])
    odd = [path for path in named if not path.name.isprintable()]
    assert len(odd) > 5
    for path in odd[:2]:
        said(["show", path])
    said(["report", *odd, "-o", tmp_path / "\x1b[2J\u202e.html"])


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_with_few_characters(run: Path, named: list[Path], encoding: str) -> None:
    said(["show", run, "--step", "2", "--limit", "110"], PYTHONIOENCODING=encoding)
    said(["runs", named[0].parent], PYTHONIOENCODING=encoding)


def test_colours_are_the_only_escapes_on_a_terminal(run: Path, named: list[Path]) -> None:
    words = [["show", str(run), "--step", "1", "--limit", "110"], ["runs", str(named[0].parent)]]
    for command in words:
        text = COLOUR.sub("", strop_on_terminal(command, 100)).replace("\r\n", "\n")
        assert harmful(text) == []


def test_live_view() -> None:
    plain = io.StringIO()
    with LiveView(2, plain=True, file=plain, title=SHORT["terminal, title"]) as view:
        for text in CORPUS.values():
            view.update({"step": 1, "reward": 0.5, "rewards": {text: 0.5, "b": 1.0}, "sample": text})
            view.note(text)
            view.status(text)
    assert harmful(plain.getvalue()) == []
    assert "\\x1b]0;pwned" in plain.getvalue() and "[red]x[/red]" in plain.getvalue()


_LIVE = """
from strop.reports.terminal.live import LiveView
from tests.reports.xss import CORPUS
with LiveView(2, title="".join(CORPUS.values())[:200]) as view:
    assert not view.plain
    for text in CORPUS.values():
        view.update({"step": 1, "reward": 0.5, "rewards": {text: 0.5, "b": 1.0}, "sample": text})
        view.note(text[:500])
        view.status(text)
"""


def test_live_view_on_a_terminal() -> None:
    text = on_terminal(["-c", _LIVE], 80, PYTHONPATH=f"{SOURCE}:{SOURCE.parent}")
    assert harmful(MOVE.sub("", COLOUR.sub("", text)).replace("\r", "")) == []
