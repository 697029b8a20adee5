"""What is drawn for a verdict depends on task, answer, purpose and a secret that is kept, and on nothing else."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from strop_verify.verification import secret_rng
from strop_verify.verification.secret_rng import SIZE, VARIABLE, drawn, secret_file


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(secret_rng, "_known", {})
    return tmp_path


def number(*about: str) -> int:
    return drawn(*about).getrandbits(64)


def test_draws_differ_by_all_that_they_are_for(monkeypatch: pytest.MonkeyPatch) -> None:
    about = [
        ("t", "a", "p"),
        ("u", "a", "p"),
        ("t", "b", "p"),
        ("t", "a", "q"),
        ("ta", "", "p"),
        ("t", "\ud800", "p"),
    ]
    seen = [number(*one) for one in about]
    assert len(set(seen)) == len(about) and seen == [number(*one) for one in about]
    monkeypatch.setenv(VARIABLE, "mine")
    mine = [number(*one) for one in about]
    assert not {*mine} & {*seen}
    monkeypatch.setenv(VARIABLE, "other")
    assert not {number(*one) for one in about} & {*mine, *seen}


def test_the_secret_is_made_once_for_its_user_alone(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = number("t", "a", "p")
    assert secret_file() == state / "strop" / "verdict-secret"
    assert secret_file().stat().st_mode & 0o777 == 0o600 and len(secret_file().read_bytes()) == SIZE
    assert [path.name for path in secret_file().parent.iterdir()] == ["verdict-secret"]
    monkeypatch.setattr(secret_rng, "_known", {})  # as in another process
    assert number("t", "a", "p") == first
    secret_file().write_bytes(bytes(SIZE))
    monkeypatch.setattr(secret_rng, "_known", {})
    assert number("t", "a", "p") != first


def test_processes_that_begin_together_have_one_secret(state: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from strop_verify.verification.secret_rng import drawn; print(drawn('t', 'a', 'p').random())",
    ]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) for _ in range(4)]
    assert len({process.communicate()[0] for process in started}) == 1


def test_a_home_that_takes_no_file_is_told_once(
    state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (state / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(state / "file"))
    with caplog.at_level(logging.WARNING):
        first = number("t", "a", "p")
        assert number("t", "a", "p") == first
    (said,) = caplog.messages
    assert VARIABLE in said and str(state / "file") in said
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    secret_file().parent.mkdir(parents=True)
    secret_file().write_text("short")
    number("t", "a", "p")
    assert "remove it" in caplog.messages[-1]


CONTROLS = """
import random
from strop_verify.verification.project.control_tests import python_controls
from strop_verify.verification.project.expression_values import NOTHING
text = b'''
NAMES = {"a", "b", "c", "d", "e"}
def test_words(one="x", other="y"):
    first, second, third = 1, 2, 3
    red = "red"
    blue = "blue"
    assert red == f(1) and blue == f(2) and f(first) == second
    assert f(3) == {"p", "q", "r", "s", "t"}
    assert f(4) == [{"k": {"u", "v", "w"}}, 5]
    assert f(5) == NAMES
'''
tree = {"test_it.py": text}
for number in range(4):
    for made in (
        python_controls(tree, ["test_it.py::test_words"], random.Random(number)),
        python_controls(tree, ["test_it.py::test_words"], random.Random(number), NOTHING, truth=False),
    ):
        print(made.files, made.must, made.of)
"""


def test_control_tests_do_not_depend_on_the_hashes_of_a_process() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", CONTROLS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "123"
    }
    assert len(texts) == 1
