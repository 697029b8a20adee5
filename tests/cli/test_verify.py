import json
import os
import signal
import time
from dataclasses import asdict
from random import Random

import pytest
from tests.processes import alive, family
from tests.waiting import DEADLINE, wait_until

from strop.cli.verdict_log import VerdictLog
from strop.cli.verify import VerifierOptions
from strop.tasks import load_tasks, write_tasks
from strop_verify.core.checks import PytestCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict


def write_answers(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answer(task_id, text):
    return {"task_id": task_id, "answer": text}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_verdicts_come_in_the_order_of_the_answers(strop, tmp_path, tasks_file, add):
    answers = write_answers(
        tmp_path / "answers.jsonl",
        answer("add", add.reference),
        answer("double", "So:\n```python\ndef double(x):\n    return x + x\n```\nDone."),
        answer("add", "def add(a, b):\n    return a - b\n"),
        answer("double", ""),
        {**answer("add", "def add(a, b):\n    while True: pass\n"), "model": "anyone's"},
        answer("add", add.reference),
    )
    done = strop(
        "verify", tasks_file, answers, "-o", "verdicts.jsonl", "--cpu-seconds", "0.5", "--workers", "2"
    )
    assert done.returncode == 0, done.stderr
    verdicts = lines(tmp_path / "verdicts.jsonl")
    assert [(v["task_id"], v["outcome"]) for v in verdicts] == [
        ("add", "passed"), ("double", "passed"), ("add", "failed"), ("double", "no answer"), ("add", "timed out"),
        ("add", "passed"),
    ]  # fmt: skip
    assert verdicts[0].keys() - {"trust"} == {
        "task_id", "outcome", "stages", "tests", "output", "detail", "seconds", "cpu_seconds", "peak_bytes",
    }  # fmt: skip
    assert verdicts[0]["cpu_seconds"] > 0 and verdicts[0]["peak_bytes"] > 0
    assert [t["outcome"] for t in verdicts[0]["tests"]] == ["passed", "passed"]
    assert done.stdout.startswith("6 answers verified in ") and "3 passed" in done.stdout


def test_what_an_answer_printed_and_returned_is_in_its_line(strop, tmp_path, tasks_file):
    text = "def add(a, b):\n    print('seen')\n    return {(a, b)}"
    answers = write_answers(tmp_path / "a.jsonl", answer("add", text))
    assert strop("verify", tasks_file, answers, "-o", "v.jsonl").returncode == 0
    (found,) = lines(tmp_path / "v.jsonl")
    assert "seen" in found["output"] and "returned {(" in found["detail"]


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_a_folder_of_crates_must_be_there(strop, tmp_path, tasks_file, command):
    answers = (
        [write_answers(tmp_path / "a.jsonl", answer("add", "x")), "-o", "v.jsonl"]
        if command == "verify"
        else []
    )
    done = strop(command, tasks_file, *answers, "--rust-vendor", "none")
    assert done.returncode != 0 and "--rust-vendor none: no such folder" in done.stderr


def test_limits_are_those_of_a_recipe_that_sets_none(monkeypatch):
    from strop.cli.verify import VerifierOptions
    from strop_verify.verification.config import SandboxConfig

    given = {}
    monkeypatch.setattr("strop_verify.verification.open_verifier", lambda **options: given.update(options))
    VerifierOptions().open()
    usual = SandboxConfig()
    assert (given["limits"].cpu_seconds, given["limits"].wall_seconds) == (
        usual.cpu_seconds,
        usual.wall_seconds,
    )


def test_many_answers_are_all_written_in_order(strop, tmp_path, tasks_file, add, monkeypatch):
    good, bad = add.reference, "def add(a, b):\n    return None\n"
    rows = [answer("add", good if i % 3 else bad) for i in range(700)]  # more than are in flight at a time
    done = strop("verify", tasks_file, write_answers(tmp_path / "a.jsonl", *rows), "-o", tmp_path / "v.jsonl")
    assert done.returncode == 0, done.stderr
    assert [v["outcome"] for v in lines(tmp_path / "v.jsonl")] == [
        "passed" if i % 3 else "failed" for i in range(700)
    ]


def test_a_pass_with_less_than_the_trust_asked_for_is_failed(strop, tmp_path, add):
    check = PytestCheck(
        files={"test_f.py": "from solution import f\ndef test_f(): assert f(2) == 4\n"},
        tests=["test_f.py::test_f"],
    )
    write_tasks([add, Task(id="suite", statement="s", check=check)], tmp_path / "two.jsonl")
    good = answer("add", add.reference), answer("suite", "def f(x): return 2 * x")
    answers = write_answers(tmp_path / "answers.jsonl", *good)
    told = {
        "value": ["passed", "failed"],
        "typed": ["passed", "passed"],
        "same-process": ["passed", "passed"],
    }
    for trust, outcomes in told.items():
        done = strop(
            "verify", "two.jsonl", answers, "-o", f"{trust}.jsonl", "--trust", trust, "--workers", "1"
        )
        assert done.returncode == 0, done.stderr
        assert [v["outcome"] for v in lines(tmp_path / f"{trust}.jsonl")] == outcomes
    assert lines(tmp_path / "value.jsonl")[1]["detail"] == "passed with trust typed; value is required"
    done = strop("verify", "two.jsonl", answers, "-o", "none.jsonl", "--trust", "some")
    assert done.returncode == 2 and "'some'" in done.stderr and "same-process" in done.stderr


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"task_id": "add", "answer": "x"}\n{"task_id": "ad', "answers.jsonl:2: bad JSON"),
        ('{"task_id": "sub", "answer": "x"}\n', "answers.jsonl:1: unknown task_id 'sub'"),
        ('\n{"task_id": "add"}\n', "answers.jsonl:2: "),
        ('{"task_id": "add", "answer": null}\n', "'answer' is None"),
        ('{"task_id": 7, "answer": "x"}\n', "'task_id' is 7"),
        ("[1]\n", "answers.jsonl:1: "),
        ("", "the file is empty"),
    ],
)
def test_bad_answers_are_refused_with_their_line_and_write_nothing(strop, tmp_path, tasks_file, text, cause):
    (tmp_path / "answers.jsonl").write_text(text)
    (tmp_path / "out.jsonl").write_text("old\n")
    done = strop("verify", tasks_file, "answers.jsonl", "-o", "out.jsonl")
    assert done.returncode == 2
    assert cause in done.stderr and done.stderr.count("\n") == 1 and done.stderr.startswith("error: ")
    assert (tmp_path / "out.jsonl").read_text() == "old\n"
    assert sorted(os.listdir(tmp_path)) == ["answers.jsonl", "out.jsonl", "tasks.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (("nope.jsonl", "a.jsonl", "-o", "v"), "no such file: nope.jsonl"),
        (("tasks.jsonl", "nope.jsonl", "-o", "v"), "no such file: nope.jsonl"),
        (("tasks.jsonl", "a.jsonl", "-o", "/dev/null/v"), "cannot write /dev/null/v"),
        (("tasks.jsonl", "a.jsonl", "-o", "/dev/full/v"), "cannot write /dev/full/v"),
        (("a.jsonl", "a.jsonl", "-o", "v"), "a.jsonl:1: "),
        (
            ("tasks.jsonl", "a.jsonl", "-o", "v", "--cpu-seconds", "5", "--wall-seconds", "1"),
            "--wall-seconds 1 is below",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(strop, tmp_path, tasks_file, add, arguments, cause):
    write_answers(tmp_path / "a.jsonl", answer("add", add.reference))
    done = strop("verify", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert cause in done.stderr and done.stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "tasks.jsonl"]


def test_no_verdict_is_exit_code_1_with_the_cause(strop, tmp_path, add):
    from strop.tasks import write_tasks

    write_tasks([add.model_copy(update={"language": "cobol"})], tmp_path / "tasks.jsonl")
    done = strop(
        "verify", "tasks.jsonl", write_answers(tmp_path / "a.jsonl", answer("add", "x")), "-o", "v.jsonl"
    )
    assert done.returncode == 1
    assert "1 could not be verified" in done.stderr and "cobol" in done.stderr
    assert lines(tmp_path / "v.jsonl")[0]["outcome"] == "error"


@pytest.mark.soak(40)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed_anywhere_it_goes_on_and_the_output_is_whole(strop, start, tmp_path, tasks_file, add, number):
    random = Random()
    texts = [add.reference, "def add(a, b):\n    return a - b\n", "def add(a, b):\n    while True: pass\n"]
    outcomes = ["passed", "failed", "timed out"]
    kinds = [random.randrange(3) for _ in range(130)]  # the same text again is an answer of its own
    write_answers(
        tmp_path / "a.jsonl", *(answer("add", f"{texts[kind]}\n# {random.randrange(30)}") for kind in kinds)
    )
    words = ("verify", "tasks.jsonl", "a.jsonl", "-o", "v.jsonl", "--workers", "1", "--cpu-seconds", "0.3")
    journal, kept = tmp_path / "v.jsonl.journal", 0

    def grew():
        return journal.is_file() and whole_lines(journal) > kept

    for _ in range(4):
        process = start(*words)
        wait_until(grew, process)
        time.sleep(random.uniform(0, 0.5))
        process.send_signal(number)
        _, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == {2: 130, 15: 143, 9: -9}[number], err
        assert not (tmp_path / "v.jsonl").exists()
        assert grew()
        kept = whole_lines(journal)
        if number != signal.SIGKILL:
            assert f"{kept} verdicts are kept in v.jsonl.journal; the same command resumes" in err
            assert err.count("\n") == 1
    done = strop(*words)
    assert done.returncode == 0, done.stderr
    assert "130 answers verified in " in done.stdout and f"({kept} of them before)" in done.stdout
    assert [line["outcome"] for line in lines(tmp_path / "v.jsonl")] == [outcomes[kind] for kind in kinds]
    assert all("key" not in line for line in lines(tmp_path / "v.jsonl"))
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "tasks.jsonl", "v.jsonl"]


def whole_lines(path):
    return path.read_bytes().count(b"\n")


def test_what_is_kept_counts_for_the_same_answer_task_and_settings_alone(strop, tmp_path, add, double):
    good, wrong = answer("add", add.reference), answer("add", "def add(a, b): return 0")
    other = answer("double", double.reference)
    journal = tmp_path / "v.jsonl.journal"
    loose = double.model_copy(update={"check": double.check.model_copy(update={"tolerance": 0.5})})

    def verified(tasks, rows, *more):
        write_tasks(tasks, tmp_path / "tasks.jsonl")
        return strop(
            "verify", "tasks.jsonl", write_answers(tmp_path / "a.jsonl", *rows), "-o", "v.jsonl", *more
        )

    write_tasks([add, double], tmp_path / "tasks.jsonl")
    loaded = load_tasks(f"jsonl:{tmp_path}/tasks.jsonl")
    with VerdictLog(tmp_path / "v.jsonl", given()) as log:
        for key, task, _ in log.missing([(task, task.reference) for task in loaded]):
            log.keep(
                key, task, Verdict(outcome="timed out" if task.id == "add" else "error", detail="made up")
            )
    made = journal.read_bytes()
    cases = [
        ((add, double), (good, other), (), ["timed out", "passed"]),  # an error is tried again
        ((add, double), (other, wrong, good), (), ["passed", "failed", "timed out"]),
        ((add, double), (good, good), (), ["timed out", "passed"]),
        ((add, loose), (good, other), (), ["timed out", "passed"]),
        ((add.model_copy(update={"topic": "x"}),), (good,), (), ["passed"]),
        ((add,), (good,), ("--cpu-seconds", "1"), ["passed"]),
        ((add,), (good,), ("--workers", "1"), ["timed out"]),
    ]
    for tasks, rows, more, outcomes in cases:
        journal.write_bytes(made + b'{"key": "torn')
        done = verified(tasks, rows, *more)
        assert done.returncode == 0, done.stderr
        assert [line["outcome"] for line in lines(tmp_path / "v.jsonl")] == outcomes
        assert not journal.exists()


def given():
    from strop import __version__

    return {**asdict(VerifierOptions()), "strop": __version__}


def test_two_at_once_and_outputs_that_are_no_files(strop, start, tmp_path, tasks_file, add):
    write_answers(tmp_path / "a.jsonl", answer("add", add.reference))
    with VerdictLog(tmp_path / "v.jsonl", {}):
        done = strop("verify", "tasks.jsonl", "a.jsonl", "-o", "v.jsonl")
    assert done.returncode == 2 and "v.jsonl is being written by another process" in done.stderr
    done = strop("verify", "tasks.jsonl", "a.jsonl", "-o", "/dev/stdout")
    assert done.returncode == 0 and '"outcome": "passed"' in done.stdout, done.stderr
    assert os.path.islink("/dev/stdout")
    assert strop("verify", "tasks.jsonl", "a.jsonl", "-o", "/dev/null").returncode == 0
    assert not os.path.exists("/dev/null.journal")
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "tasks.jsonl"]


def test_interrupt_leaves_nobody(start, tmp_path, tasks_file):
    slow = "import time\ndef add(a, b):\n    time.sleep(30)\n"
    write_answers(tmp_path / "a.jsonl", *[answer("add", slow)] * 20)
    process = start(
        "verify", "tasks.jsonl", "a.jsonl", "-o", "v.jsonl", "--workers", "1", "--wall-seconds", "60"
    )
    workers = wait_until(
        lambda: len(found := family("zygote", process.pid)) > 1 and found, process
    )  # an answer runs
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "tasks.jsonl"]
    wait_until(lambda: not any(alive(pid) for pid in workers))
