"""`strop.log_reward`: what it writes, and that nobody notices that it does."""

import asyncio
import functools
import inspect
import json
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import DEADLINE

import strop
from strop.reports.call_log import drop_torn_lines, truncate_after
from strop.reports.sinks.short_forms import score_of, short, text_hash
from strop_verify.core.checks import CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "calls" / f"{name}.jsonl").read_text().splitlines()]


def judged(answer: str = "def inc(x): return x + 1") -> tuple[Task, Rollout, Verdict]:
    task = Task(statement="add one", check=CasesCheck(entry_point="inc", cases=[]))
    completion = Completion(token_ids=[1], logprobs=[-0.5], text=answer, finish_reason="eos")
    verdict = Verdict(outcome=Outcome.PASSED)
    turn = Turn(prompt_ids=[7], completion=completion)
    rollout = Rollout(
        task_id=task.id, index=3, seed=5, prompt="?", turns=[turn], answer=answer, verdict=verdict
    )
    return task, rollout, verdict


@strop.log_reward
def halves(number: int, *more: int, scale: float = 1.0) -> float:
    """Half of it."""
    return scale * (number + sum(more)) / 2


@strop.log_reward
def breaks(text: str) -> float:
    raise LookupError(f"nothing about {text}")


def test_a_reward_says_which_answer_it_judged(tmp_path: Path) -> None:
    @strop.log_reward
    def length(task: Task, rollout: Rollout, verdict: Verdict) -> float:
        return len(rollout.answer) / 1000

    task, rollout, verdict = judged("x" * 700)
    with strop.logging_to(tmp_path) as log:
        log.step = 12
        assert length(task, rollout, verdict) == 0.7
    (line,) = lines(tmp_path, "length")
    assert line["step"] == 12 and line["task_id"] == task.id and line["index"] == 3 and line["seed"] == 5
    assert line["answer"] == "x" * 500 + "... 200 more characters" and line["answer_hash"] == text_hash(
        "x" * 700
    )
    assert line["outcome"] == "passed" and line["score"] == line["output"] == 0.7
    assert 0 <= line["seconds"] < 60 and "error" not in line and "inputs" not in line


def test_any_function_with_its_arguments(tmp_path: Path) -> None:
    with strop.logging_to(tmp_path):
        assert halves(4, 2, 2, scale=0.5) == 2.0
        assert halves(number=8) == 4.0
    first, second = lines(tmp_path, "halves")
    assert first["inputs"] == {"number": 4, "1": 2, "2": 2, "scale": 0.5} and first["score"] == 2.0
    assert second["inputs"] == {"number": 8} and second["step"] is None
    assert halves.__name__ == "halves" and halves.__doc__ == "Half of it."
    assert str(inspect.signature(halves)).startswith("(number: int, *more: int")
    assert pickle.loads(pickle.dumps(halves)) is halves


def test_exceptions_are_logged_and_raised_as_they_are(tmp_path: Path) -> None:
    with strop.logging_to(tmp_path), pytest.raises(LookupError, match="nothing about cats") as caught:
        breaks("cats")
    assert caught.traceback[-1].name == "breaks"
    (line,) = lines(tmp_path, "breaks")
    assert line["error"]["type"] == "LookupError" and line["error"]["message"] == "nothing about cats"
    assert "in breaks: raise LookupError" in line["error"]["traceback"][-1]
    assert not any("logged" in frame for frame in line["error"]["traceback"])
    assert "score" not in line and line["inputs"] == {"text": "cats"}


def test_an_interrupt_passes_through(tmp_path: Path) -> None:
    @strop.log_reward
    def stops() -> None:
        raise KeyboardInterrupt("enough")

    with strop.logging_to(tmp_path), pytest.raises(KeyboardInterrupt):
        stops()
    assert lines(tmp_path, "stops")[0]["error"]["type"] == "KeyboardInterrupt"


def test_async_functions_run_beside_each_other(tmp_path: Path) -> None:
    together = asyncio.Barrier(5)

    @strop.log_reward(name="slowly")
    async def slow(number: int) -> int:
        await asyncio.wait_for(together.wait(), DEADLINE)
        await asyncio.sleep(0.05)  # what "seconds" measures
        if number == 3:
            raise ValueError("three")
        return number

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(slow(n) for n in range(5)), return_exceptions=True)

    assert inspect.iscoroutinefunction(slow)
    with strop.logging_to(tmp_path):
        results = asyncio.run(all_of_them())
    assert results[:3] == [0, 1, 2] and isinstance(results[3], ValueError)
    found = {line["inputs"]["number"]: line for line in lines(tmp_path, "slowly")}
    assert found[4]["score"] == 4 and found[3]["error"]["type"] == "ValueError"
    assert found[4]["seconds"] >= 0.04


def test_methods_of_every_kind_and_other_callables(tmp_path: Path) -> None:
    class Judge:
        weight = 2.0

        @strop.log_reward
        def plain(self, x: float) -> float:
            return self.weight * x

        @strop.log_reward
        @classmethod
        def of_class(cls, x: float) -> float:
            return cls.weight * x

        @staticmethod
        @strop.log_reward(name="static")
        def of_none(x: float) -> float:
            return x

        def __call__(self, x: float) -> float:
            return -x

    with strop.logging_to(tmp_path):
        assert Judge().plain(1.0) == 2.0 and Judge.of_class(2.0) == 4.0 and Judge.of_none(3.0) == 3.0
        assert strop.log_reward(Judge())(4.0) == -4.0
        assert strop.log_reward(functools.partial(halves, scale=4))(1) == 2.0
        assert strop.log_reward(len)([1, 2]) == 2
    assert lines(tmp_path, "Judge.plain")[0]["inputs"] == {"x": 1.0}
    assert lines(tmp_path, "Judge.of_class")[0]["score"] == 4.0
    assert lines(tmp_path, "static")[0]["score"] == 3.0 and lines(tmp_path, "Judge")[0]["score"] == -4.0
    assert lines(tmp_path, "len")[0]["score"] == 2 and len(lines(tmp_path, "halves")) == 2


def test_what_cannot_be_logged_is_refused() -> None:
    def generator() -> Any:
        yield 1

    async def stream() -> Any:
        yield 1

    for wrong in (generator, stream, int, 7):
        with pytest.raises(UserError, match="log_reward"):
            strop.log_reward(wrong)  # type: ignore[type-var]
    for name in ("../up", "a/b", ".hidden", "x" * 101):
        with pytest.raises(UserError, match="is not a file name"):
            strop.log_reward(name=name)(halves)


def test_without_a_run_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STROP_CALLS", raising=False)
    assert halves(2) == 1.0
    assert list(tmp_path.iterdir()) == []


def test_the_environment_names_a_folder(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import strop\n@strop.log_reward\ndef f(x):\n    return x\nfor n in range(50): f(n)\n"
        "class Odd(Exception): pass\nraise SystemExit(3)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "STROP_CALLS": str(tmp_path / "there")},
        timeout=300,
        check=False,
    )
    assert done.returncode == 3
    assert [line["score"] for line in lines(tmp_path / "there", "f")] == list(range(50))


def test_the_innermost_folder_counts(tmp_path: Path) -> None:
    with strop.logging_to(tmp_path / "outer"):
        halves(1)
        with strop.logging_to(tmp_path / "inner"):
            halves(2)
        halves(3)
    assert [line["inputs"]["number"] for line in lines(tmp_path / "outer", "halves")] == [1, 3]
    assert [line["inputs"]["number"] for line in lines(tmp_path / "inner", "halves")] == [2]


def test_every_call_of_many_threads_is_one_whole_line(tmp_path: Path) -> None:
    with strop.logging_to(tmp_path), ThreadPoolExecutor(8) as pool:
        results = list(pool.map(halves, range(5000)))
    assert results == [n / 2 for n in range(5000)]
    assert sorted(line["inputs"]["number"] for line in lines(tmp_path, "halves")) == list(range(5000))


def _in_child(number: int) -> None:
    halves(number)
    os._exit(0)  # as a worker of multiprocessing does: nothing is run at its end


def test_forked_processes_log_once_each(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    with strop.logging_to(tmp_path):
        halves(-1)
        children = [fork.Process(target=_in_child, args=(n,)) for n in range(4)]
        for child in children:
            child.start()
        for child in children:
            child.join(300)
            assert child.exitcode == 0
    assert sorted(line["inputs"]["number"] for line in lines(tmp_path, "halves")) == [-1, 0, 1, 2, 3]


def test_a_call_that_ends_after_the_block_is_still_written(tmp_path: Path) -> None:
    go = threading.Event()

    @strop.log_reward
    def waits() -> int:
        assert go.wait(300)
        return 1

    with strop.logging_to(tmp_path), ThreadPoolExecutor(1) as pool:
        future = pool.submit(waits)
        while not future.running():
            pass
        pool.submit(int)
        with strop.logging_to(tmp_path / "other"):
            pass
        go.set()
    assert future.result() == 1 and lines(tmp_path, "waits")[0]["score"] == 1


@pytest.mark.parametrize("folder", ["a file", "/proc/nowhere"])
def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path, folder: str) -> None:
    (tmp_path / "a file").write_text("")
    said: list[str] = []
    with strop.logging_to(tmp_path / folder, warn=said.append):
        for n in range(10):
            assert halves(n) == n / 2
    assert len(said) == 1 and folder in said[0] and said[0].startswith("warning: ")


def test_a_full_disk_is_one_warning(tmp_path: Path) -> None:
    """The largest file is 4 kB: writing fails in the middle, every call still returns."""
    code = (
        "import strop, sys\n@strop.log_reward\ndef f(x):\n    return len(x)\n"
        f"with strop.logging_to({str(tmp_path)!r}):\n    for n in range(100):\n        assert f('x' * 100) == 100\n"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr.count("warning:") == 1 and "File too large" in done.stderr
    found = lines(tmp_path, "f")  # whole lines only
    assert 1 < len(found) < 100


@dataclass
class Point:
    x: int
    label: str


class Hostile:
    """Whatever one asks of it, it raises."""

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __str__(self) -> str:
        raise RuntimeError("str")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        return 1

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_short_forms() -> None:
    assert short({"a": [1, 2.5, None, True], 3: "x" * 12}, 10) == {
        "a": [1, 2.5, None, True],
        "3": "x" * 10 + "... 2 more characters",
    }
    assert short(list(range(20)), 10)[-2:] == [15, "... 4 more"]
    assert short({n: n for n in range(20)}, 10)["..."] == "4 more"
    assert short([[[[[1]]]]], 10) == [[[["<list>"]]]]
    assert short(Point(1, "p" * 20), 5) == {"type": "Point", "x": 1, "label": "ppppp... 15 more characters"}
    assert short(float("nan"), 10) == "nan" and short(b"abc", 10) == "<3 bytes>" and short(1 << 70, 10)
    loop: list[Any] = []
    loop.append(loop)
    assert json.dumps(short(loop, 10))
    assert short({1, 2}, 10) == [1, 2] and short(Outcome.TIMED_OUT, 10) == "timed out"
    assert short(Hostile(), 10).endswith("Hostile>")


def test_arrays_go_by_their_shape() -> None:
    import numpy as np

    assert short(np.zeros((3, 4)), 10) == "<numpy.ndarray (3, 4)>"
    assert score_of(np.float32(0.5)) == 0.5 and score_of([np.float64(1), None, 2]) == 1.5


def test_scores_in_results() -> None:
    assert score_of({"score": 0.5, "why": "x"}) == 0.5 and score_of({"reward": 1}) == 1.0
    assert score_of([1, None, 0]) == 0.5 and score_of("1.0") is None and score_of([1, "x"]) is None
    assert score_of(True) == 1.0 and score_of(None) is None and score_of(float("inf")) is None
    assert score_of(10**400) is None and score_of([]) is None


def test_hostile_values_change_nothing(tmp_path: Path) -> None:
    hostile = Hostile()
    same = strop.log_reward(name="same")(lambda x, **_: x)
    said: list[str] = []
    with strop.logging_to(tmp_path, warn=said.append):
        assert same(hostile) is hostile
        assert same({hostile: hostile})
        assert same("\ud800\x1b[2J") == "\ud800\x1b[2J"
    assert len(said) <= 1
    assert lines(tmp_path, "same")[-1]["inputs"]["x"]  # goes on after what could not be logged


def test_inputs_can_be_left_out(tmp_path: Path) -> None:
    rated = strop.log_reward(name="rated", inputs=False)(lambda task, rollout, verdict, secret: 1.0)
    with strop.logging_to(tmp_path):
        rated(*judged(), "hidden")
    (line,) = lines(tmp_path, "rated")
    assert line["index"] == 3 and line["answer_hash"] and "hidden" not in json.dumps(line)
    assert "answer" not in line


def test_later_steps_and_torn_lines_are_forgotten(tmp_path: Path) -> None:
    with strop.logging_to(tmp_path) as log:
        halves(0)
        for step in (1, 2, 3, 10):
            log.step = step
            halves(step)
    path = tmp_path / "calls" / "halves.jsonl"
    with path.open("ab") as file:
        file.write(b'{"step": 2, "ti')
    drop_torn_lines(tmp_path)
    truncate_after(tmp_path, 2)
    assert [line["step"] for line in lines(tmp_path, "halves")] == [None, 1, 2]


def test_the_decorator_loads_nothing_heavy() -> None:
    code = "import sys, strop\nstrop.log_reward(len)\n"
    code += "print(sorted({'pydantic', 'omegaconf', 'yaml', 'numpy', 'torch', 'typer', 'rich'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "[]"
