"""`strop trace`: one task from its source to the loss, in at most 22 stops, with its record at each."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.warm import strop

from strop.cli.trace import ItemTrace
from strop.tasks.sources import load_tasks

MOST = 22
ROOT = Path(__file__).parents[2]


@pytest.mark.train(20)
@pytest.mark.parametrize("style", ["continue", "demo"])
def test_a_task_passes_few_files_and_each_form_of_it_is_shown(
    recipe_words: Callable[..., list[str]], style: str
) -> None:
    words = recipe_words("run")
    if style == "demo":  # the demo itself, but for the model, the length of answers and a reward that differs
        words = [
            "demo",
            *(word for word in words if word.startswith(("model.", "run.", "sampling."))),
        ]
        words += recipe_words("run")[:1]
    task = load_tasks("python-functions")[0].id
    done = strop("trace", *([] if style == "demo" else [task]), *words, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    stops = re.findall(r"^ ?(\d+) (\S+.*): \S+  \[(.+)\]$", done.stdout, re.M)
    assert [int(number) for number, _, _ in stops] == list(range(1, len(stops) + 1))
    assert len(stops) <= MOST, done.stdout
    files = [file for _, file, _ in stops]
    assert files[0] == "tasks/builtin.py" and files[-1] == "algorithms/losses.py"
    assert {"rollouts/dispatcher.py", "verification/ and sandbox/", "training/loop.py"} <= {*files}
    records = dict(re.findall(r"^      ([a-z -]+): (.+)$", done.stdout, re.M))
    assert records.keys() >= {
        "task", "prompt", "prompt ids", "completion", "answer", "verdict", "scores", "advantage", "sample", "loss"
    }  # fmt: skip
    assert style == "demo" or records["task"].startswith(task)
    assert re.match(r"-?\d+\.\d+, ", records["loss"])
    assert re.match(r"\d+ tokens, ended by (length|eos|stop)", records["completion"])


def test_an_unknown_task_is_one_line(recipe_words: Callable[..., list[str]]) -> None:
    done = strop("trace", "zzz", *recipe_words("run"))
    assert done.returncode == 2 and done.stdout == ""
    assert re.fullmatch(
        r"error: no task of run has an id that begins with 'zzz'; there are .*, \.\.\.\n", done.stderr
    )


def test_nothing_is_noted_outside_and_the_profiler_is_given_back() -> None:
    tracer = ItemTrace("")
    with tracer:
        load_tasks("python-functions", limit=1)
    seen = list(tracer.path)
    load_tasks("rust-functions", limit=1)
    assert {"tasks/sources.py", "tasks/builtin.py"} <= {file for file, *_ in seen} and seen == tracer.path
