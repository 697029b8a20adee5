"""`strop answer` from the command line: the file on stdout, the reasons on stderr, what a task lacks, mistakes."""

import json
import subprocess
import sys

import pytest

from strop.tasks import write_tasks
from strop.tasks.sources import load_tasks

STUB = '''import math


def root(number: int) -> int:
    """The whole part of the square root of a number.

    >>> root(16)
    4
    >>> root(17)
    4
    """
    ...
'''
RIGHT = "import math\n\n\ndef root(number: int) -> int:\n    return math.isqrt(number)\n"
ALSO = "def root(number):\n    return int(number**0.5)\n"
BY_HEART = "def root(number):\n    return 4\n"
WRONG = "def root(number):\n    return number\n"


@pytest.fixture
def asked(strop, tmp_path):
    """Asks with answers from a file, of a stub or of the task that is given."""
    pytest.importorskip("torch")
    (tmp_path / "root.py").write_text(STUB)

    def ask(*more, answers=(BY_HEART, WRONG, RIGHT, ALSO), task="root.py", task_id="root"):
        lines = [json.dumps({"task_id": task_id, "answer": f"```python\n{text}```\n"}) for text in answers]
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        return strop("answer", task, "-m", "scripted:a.jsonl", "-n", len(answers), "--style", "chat", *more)

    return ask


def test_the_answer_is_a_file_and_the_reasons_are_apart(asked, tmp_path):
    done = asked()
    assert done.returncode == 0, done.stderr
    (tmp_path / "out.py").write_text(done.stdout)
    call = "import out; print(out.root(10**4 + 1))"
    ran = subprocess.run(
        [sys.executable, "-c", call], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "100\n" and "return 4" not in done.stdout
    for said in (
        "of 4, by shown-majority, the first of 2 tied samples", "passes 2 of 2 shown tests; 3 of 4 samples pass all",
        "2 of 4 samples return the same on 10 inputs; behaviours: 3", " s: ",
    ):  # fmt: skip
        assert said in done.stderr, done.stderr
    assert "warning" not in done.stderr and "log-probability" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_selectors_choose_as_they_say(asked):
    assert "return 4" in asked("--select", "first").stdout
    done = asked("--select", "shown", answers=(WRONG, WRONG))
    assert done.returncode == 0 and "warning: it fails a shown test" in done.stderr
    assert "return number" in asked("--select", "majority", answers=(RIGHT, WRONG, WRONG)).stdout


def test_a_reward_chooses_and_is_given_no_hidden_test(asked, tmp_path, add):
    (tmp_path / "mine.py").write_text(
        "def short(task, rollout, verdict):\n"
        "    assert task.reference == '' and verdict.outcome == 'unjudged' and rollout.verdict is None\n"
        "    assert all(case.shown for case in task.check.cases) and 'original' not in task.metadata\n"
        "    return -len(rollout.answer)\n"
    )
    done = asked("--select", "mine.py:short")
    assert done.returncode == 0 and "mine.py:short: -" in done.stderr, done.stderr
    assert "return 4" in done.stdout


def test_hidden_tests_are_not_run(asked, tmp_path, add):
    """An answer that is right on the shown test alone is as good as any; one that is right on the hidden one is not."""
    shown, hidden = add.check.cases
    check = add.check.model_copy(update={"cases": [shown.model_copy(update={"shown": True}), hidden]})
    write_tasks([add.model_copy(update={"check": check})], tmp_path / "one.jsonl")
    answers = ["def add(a, b):\n    return 5\n", "def add(a, b):\n    return 3\n"]
    done = asked(answers=answers, task="one.jsonl", task_id="add")
    assert done.returncode == 0 and "return 3" in done.stdout, done.stderr
    assert "passes 1 of 1 shown tests; 1 of 2 samples pass all" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (("add", "--tasks", "tasks.jsonl", "--select", "shown-majority"), "task add shows no test"),
        (("add", "--tasks", "tasks.jsonl", "--select", "majority"), "shows no call"),
        (("add", "--tasks", "tasks.jsonl", "--select", "oracle"), "the oracle needs the hidden tests"),
        (("add", "--tasks", "tasks.jsonl", "--select", "best"), "there are first, random"),
        (("add", "--tasks", "tasks.jsonl", "--select", "model:./nowhere"), "no such folder"),
        (("tasks.jsonl",), "holds 2 tasks; name one: strop answer add --tasks tasks.jsonl"),
        (("nothing.py",), "there is no file nothing.py"),
        (("plain.py",), "no function has a doctest"),
        (("loose.py",), "a doctest must be a call with literals"),
        (("sub", "--tasks", "tasks.jsonl"), "has no task"),
    ],
)
def test_mistakes_are_one_line_before_anything_is_sampled(strop, tmp_path, tasks_file, arguments, cause):
    (tmp_path / "plain.py").write_text("def f(x):\n    return x\n")
    (tmp_path / "loose.py").write_text('def f(x):\n    """Do.\n\n    >>> f(y)\n    1\n    """\n')
    (tmp_path / "a.jsonl").write_text(json.dumps({"task_id": "add", "answer": ""}))
    done = strop("answer", *arguments, "-m", "scripted:a.jsonl")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert cause in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.soak(9)
def test_without_shown_tests_the_likeliest_is_taken(strop, tmp_path, tasks_file, tiny):
    done = strop(
        "answer", "add", "--tasks", tasks_file, "-m", tiny, "-n", 3, "--max-tokens", 8, "--style", "continue"
    )
    assert done.returncode == 0, done.stderr
    assert "by log-prob" in done.stderr and "log-probability -" in done.stderr
    assert done.stdout.startswith("def add(a, b):")


def test_functions_with_doctests_are_tasks(tmp_path):
    (tmp_path / "f.py").write_text(
        STUB + '\n\ndef twice(x):\n    """Twice.\n\n    >>> twice(2)\n    4\n    """\n    return 2 * x\n'
    )
    root, twice = load_tasks(f"doctests:{tmp_path / 'f.py'}")
    assert (root.id, root.reference, twice.id) == ("root", "", "twice")
    assert (
        root.signature == "import math\n\n\ndef root(number: int) -> int:"
        and "return 2 * x" in twice.reference
    )
    assert root.statement == "The whole part of the square root of a number." and all(
        c.shown for c in root.check.cases
    )
