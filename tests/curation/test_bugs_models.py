"""Bugs and statements by a scripted model behind a server on this machine."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from tests.waiting import DEADLINE, wait_until

from strop.policies.connection import Connection
from strop_tasks.curation.bugs import LAYOUT, BugSettings
from strop_tasks.curation.bugs.issue import IssueWriter, docstring, unfit
from strop_tasks.curation.bugs.rewrites import KINDS, Rewriter, python_subject, rust_subject
from strop_tasks.curation.bugs.server import open_server
from strop_tasks.curation.bugs.task_bugs import PATH, bugs_of_tasks
from strop_tasks.curation.engine.tally import Tally
from strop_tasks.curation.faults.body_replacement import NoFault
from strop_tasks.curation.faults.draw import rust_functions
from strop_tasks.curation.faults.routines import routines
from strop_verify.core.checks import Case, CasesCheck, EditCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome

pytest.importorskip("openai", reason="openai is not installed")

RIGHT = '''def total(xs, low=0):
    """Sum of some."""
    found = 0
    for x in xs:
        # those above
        if x > low:
            found += x
    return found
'''
TOTAL = Task(
    statement="Return the sum of the numbers that are above low.",
    reference=RIGHT,
    check=CasesCheck(
        entry_point="total",
        cases=[
            Case(args=[[1, 2, 3]], expected=6, shown=True),
            Case(args=[[2, 5, 7], 2], expected=12),
            Case(args=[[-1]], expected=0),
        ],
    ),
    source="mine/total",
)
BUG = RIGHT.replace("x > low", "x >= low")
OTHER = RIGHT.replace("found += x", "found += x  # BUG: counted twice\n            found += low")
ANSWERS = [
    f"Here it is.\n```python\n{BUG}```\nThe bug is subtle.",
    f"```python\n{BUG}```",
    OTHER,
    "I cannot do that.",
    BUG.replace("total", "sum_of"),
    BUG.replace("low=0", "low"),
    f"import os\n{BUG}",
    "```python\ndef total(xs, low=0):\n    return (\n```",
    "x" * 2**20,
    "",
]
"""By kind of the bug that is asked for."""


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def asked(model):
    """The questions that came; `model.script` answers them."""
    questions, lock = [], threading.Lock()

    def reply(body, key):
        with lock:
            questions.append(body["messages"][-1]["content"])
            model.failures -= 1
            if model.failures >= 0:
                return 500, b'{"error": {"message": "down", "type": "x"}}'
        if model.status != 200:
            return model.status, json.dumps({"error": {"message": model.error, "type": "x"}}).encode()
        message = {"role": "assistant", "content": model.script(questions[-1])}
        said = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": model.usage,
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
        return 200, json.dumps(said).encode()

    model.reply, model.failures = reply, 0
    model.script = lambda question: ANSWERS[next(n for n, kind in enumerate(KINDS) if kind in question)]
    return questions


@pytest.fixture
def made(verifier):
    return partial(make, verifier)


def make(verifier, url, folder, share=1.0, **settings):
    tally = Tally(LAYOUT)
    with open_server(Connection(url), "m", folder) as server:
        tasks = list(
            bugs_of_tasks(
                [TOTAL], verifier, tally, BugSettings(**settings), rewriter=Rewriter(server, share, 0)
            )
        )
        for task in tasks:
            judged = task.model_copy(update={"check": task.check.judge})
            assert verifier.verify(judged, task.check.files[PATH]).outcome is Outcome.FAILED
            assert verifier.verify(task, task.reference).passed
    return tasks, tally


def test_bugs_of_a_model_are_judged_and_answers_of_no_use_are_counted(model, asked, tmp_path, made):
    tasks, tally = made(model.url, tmp_path / "calls", per_task=4)
    texts = [task.check.files[PATH] for task in tasks]
    assert sorted(texts) == sorted([BUG, RIGHT.replace("+= x", "+= x\n            found += low")])
    assert all(task.metadata["bug"] == ["rewrite"] and task.check.oracle == {PATH: RIGHT} for task in tasks)
    assert tally.tried == {"rewrite": 12} and tally.kept == {"rewrite": 2} and len(asked) == 12
    reasons = tally.dropped["rewrite"]
    assert sum(reasons.values()) == 10
    for reason in (
        "it equals another bug", "the answer has another name", "the answer has another list of parameters",
        "the answer is not the function alone", "the answer does not parse", "the answer is too long",
        "the answer is empty",
    ):  # fmt: skip
        assert reasons[reason] >= 1, reasons
    assert all("x > low" in question and "Python" in question for question in asked)
    again = made(model.url, tmp_path / "calls", per_task=4)[0]
    assert again == tasks and len(asked) == 12


def test_operators_and_a_model_take_turns(model, asked, tmp_path, made):
    tasks, tally = made(model.url, tmp_path / "calls", 0.5, per_task=10)
    assert 1 <= tally.kept["rewrite"] <= 2 and len(tasks) == 10
    assert tally.tried["rewrite"] == len(asked) < tally.tried.total()


def test_a_server_that_fails_once_is_asked_again_and_one_that_refuses_ends_the_build(
    model, asked, tmp_path, made
):
    model.failures = 3
    assert len(made(model.url, tmp_path / "a", per_task=4)[0]) == 2 and len(asked) == 12 + 3
    model.status, model.error = 401, "no key"
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        made(model.url, tmp_path / "b")
    model.status = 404
    with pytest.raises(UserError, match="set --rewrite-model or --rewrite-url"):
        made(model.url, tmp_path / "c")
    model.status, model.error = 400, "too long"
    with pytest.raises(UserError, match="every question is refused"):
        made(model.url, tmp_path / "d", per_task=3)


METHOD = '''class A:
\t@property
\tdef f(self, xs):
\t\t"""One.

\t\ttwo"""
\t\ttext = """
\t\t  a"""
\t\tfor x in xs:
\t\t\tif x:
\t\t\t\treturn x  # kept
\t\treturn text


def g(x): return x + 1
'''


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_method_takes_the_place_of_its_body(end):
    text = METHOD.replace("\n", end)
    method, line = routines(text)
    answer = (
        'Sure:\n```python\n@property\ndef f(self, xs):\n    """Other."""\n    text = """\n  a"""\n    # wrong now\n'
        "    for x in xs:\n        if not x:\n            return x  # kept\n    return text  # bug\n```"
    )
    fault = python_subject(method).placed(answer)
    wanted = METHOD.replace("if x:", "if not x:").replace("\t\t  a", "  a")
    wanted = wanted.replace("\t\t\tif", "\t\t    if").replace("\t\t\t\treturn x", "\t\t        return x")
    assert fault.text == wanted.replace("\n", end)
    assert fault.operators == ("rewrite",) and fault.function == "A.f" and fault.lines == (8, 11)
    one = python_subject(line)
    assert one.placed("def g(x): return x - 1").text.endswith(f"def g(x): return x - 1{end}")
    assert "y = x" in one.placed("def g(x):\n    y = x\n    return y").text
    with pytest.raises(NoFault, match="changes nothing"):
        one.placed('def g(x):\n    """New."""\n    return x + 1')


RUST = """/// Whether x is large.
#[inline]
pub fn above(x: i32) -> bool {
    // more than ten
    x > 10
}
"""


def test_a_rust_function_is_fitted_too():
    subject = rust_subject(RUST, rust_functions(RUST)[0])
    assert subject.code.startswith("pub fn above") and subject.code.endswith("}")
    answer = (
        "```rust\npub fn above(x: i32) -> bool {\n    // more than ten\n    x >= 10 // off by one\n}\n```"
    )
    fault = subject.placed(answer)
    assert fault.text == RUST.replace("> 10", ">= 10") and fault.lines == (5, 5)
    with pytest.raises(NoFault, match="changes nothing"):
        subject.placed(RUST)
    with pytest.raises(NoFault, match="another list of parameters"):
        subject.placed("fn above(x: i64) -> bool { x > 10 }")


def command(folder, *words):
    """Starts the command line, with Ctrl-C as a terminal would send it."""
    source = str(Path(__file__).resolve().parents[2] / "src")
    return subprocess.Popen(
        [sys.executable, "-c", "from strop.cli import main; main()", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": source}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


GOOD = "I called `total([1, 2, 3])` and got 5, but 6 is right."


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (GOOD, ""),
        ("", "it is empty"),
        ("a " * 2000, "it is too long"),
        ("It should be `if x>low:`, I think.", "it holds a line of the repair"),
        ("--- a/x.py\n+++ b/x.py\n", "it holds a diff"),
        ("@@ -1 +1 @@\n", "it holds a diff"),
        ("The rule:\n- above\n- below\n---\nand so on", ""),
    ],
)
def test_a_statement_that_gives_the_repair_away_is_not_used(said, reason):
    check = EditCheck(format="search-replace", files={PATH: BUG}, oracle={PATH: RIGHT}, judge=TOTAL.check)
    assert unfit(said, TOTAL.model_copy(update={"check": check})) == reason


def test_statements_by_a_model_take_the_place_of_the_template(model, asked, tmp_path, verifier):
    plain = list(bugs_of_tasks([TOTAL], verifier, Tally(LAYOUT), BugSettings(per_task=3)))
    texts = iter([GOOD, f"<think>hm</think>{GOOD}", f"```diff\n{RIGHT}```"])
    model.script = lambda question: next(texts)
    tally = Tally(LAYOUT)
    with open_server(Connection(model.url), "m", tmp_path / "calls") as server:
        told = list(IssueWriter(server, 0, tally).written(iter(plain), lambda task: TOTAL.statement))
    assert tally.counts["issues"] == {"model": 2, "template: it holds a diff": 1}
    assert sum(task in plain for task in told) == 1
    for task, before in zip(told, plain, strict=True):
        if task != before:
            assert task.statement == (
                f"Fix the bug in {PATH}.\n\n{GOOD}\n\nIt should do this: {TOTAL.statement}"
            )
            assert task.id != before.id and task.check == before.check and task.metadata["issue"] == "model"
    for question in asked:
        assert TOTAL.statement in question and "found" not in question
        assert "`total`" in question


def test_the_purpose_of_a_function_is_its_docstring():
    def of(text, name, language="python", line=1):
        check = EditCheck(format="search-replace", files={"a": "x"}, oracle={"a": text})
        metadata = {"original": f"a:{name}", "lines": [line, line]}
        return docstring(Task(statement="s", language=language, check=check, metadata=metadata))

    assert of(METHOD, "A.f") == "One.\n\ntwo" and of(METHOD, "g") == "" and of(METHOD, "h") == ""
    assert of(RUST, "above", "rust", 5) == "Whether x is large."


@pytest.mark.soak(17)
def test_a_project_whose_bugs_and_statements_a_model_writes(model, asked, tmp_path):
    """The command, to its end and again."""
    (tmp_path / "p/tests").mkdir(parents=True)
    (tmp_path / "p/pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
    (tmp_path / "p/shop.py").write_text(RIGHT)
    (tmp_path / "p/tests/test_shop.py").write_text(
        "from shop import total\n\ndef test_some():\n    assert total([1, 2, 3]) == 6\n\n"
        "def test_low():\n    assert total([2, 5], 2) == 5\n"
    )
    answers = model.script
    model.script = lambda question: answers(question) if "Write this" in question else GOOD
    words = ["build", "bugs", "p", "-o", "p.jsonl", "--workers", "1", "--rewrite-url", model.url,
             "--rewrite-model", "m", "--issue-model", "n"]  # fmt: skip

    def run():
        process = command(tmp_path, *words)
        said = process.communicate(timeout=400)
        assert process.returncode == 0, said

    run()
    manifest = json.loads((tmp_path / "p.jsonl.manifest.json").read_text())
    assert manifest["tasks"] == 2 == manifest["operators"]["rewrite"]["kept"], manifest
    assert manifest["issues"] == {"model": 2} and manifest["models"]["rewrite"]["calls"] == 10
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert all(
        re.match(r"Fix the bug in `total` \(shop.py\)\.\n\nI called", line["statement"]) for line in lines
    )
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["p", "p.jsonl", "p.jsonl.calls", "p.jsonl.manifest.json", "p.project.tar.gz"]
    before, count = (tmp_path / "p.jsonl").read_bytes(), len(asked)
    run()
    assert (tmp_path / "p.jsonl").read_bytes() == before and len(asked) == count


@pytest.mark.soak(19)
def test_an_interrupted_build_keeps_what_is_paid_and_goes_on(model, asked, tmp_path):
    answers, interrupted = model.script, threading.Event()

    def script(question):
        interrupted.wait(DEADLINE)
        return answers(question)

    model.script = script
    words = ["build", "bugs", "python-functions", "-o", "b.jsonl", "--limit", "4", "--per-task", "2", "--workers", "1",
             "--rewrite-url", model.url, "--rewrite-model", "m"]  # fmt: skip
    running = command(tmp_path, *words)
    wait_until(lambda: asked, running)
    running.send_signal(signal.SIGINT)
    interrupted.set()
    out, err = running.communicate(timeout=DEADLINE)
    assert running.returncode == 130 and "Traceback" not in err, (out, err)
    assert [path.name for path in tmp_path.iterdir()] == ["b.jsonl.calls"]
    lines = (tmp_path / "b.jsonl.calls/rewrite/calls.jsonl").read_text().splitlines()
    assert len(lines) == len(asked) >= 1
    again = command(tmp_path, *words)
    said = again.communicate(timeout=200)[1]
    assert again.returncode == 2 and "no bug could be made" in said, said
    assert len(asked) == len(set(asked))
