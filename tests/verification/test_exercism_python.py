"""Exercism's Python track in the jail: examples pass, stubs and empty files fail, exceptions by name."""

import json

import pytest
from tests import needs

from strop.tasks import load_tasks
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox import Limits
from strop_verify.verification import open_verifier

DATA = needs.DATA / "exercism-python.jsonl"
UNFIT = {"error-handling": "the row lacks test_utils.py"}
BESIDE = {"paasio", "rational-numbers"}
"""Whose tests need the answer's process: mocks of its objects, a plain number raised to one of them."""
pytestmark = pytest.mark.needs("data")


def exercises() -> dict[str, Task]:
    return {task.source.rpartition("/")[2]: task for task in load_tasks(f"exercism-python:{DATA}")}


@pytest.mark.soak(13)
def test_examples_pass_and_stubs_fail() -> None:
    tasks = exercises()
    assert len(tasks) == len(DATA.read_text().splitlines())
    assert len({json.loads(line)["slug"] for line in DATA.read_text().splitlines()}) == len(tasks)
    limits = Limits(cpu_seconds=30, wall_seconds=300)  # one example is slow
    with open_verifier(workers=2, limits=limits) as verifier:
        asked = {
            name: [
                verifier.submit(task, text)
                for text in (task.reference, task.metadata["stub"], "NOTHING = 1\n")
            ]
            for name, task in tasks.items()
        }
        found = {name: [future.result(timeout=1800) for future in futures] for name, futures in asked.items()}
    wrong = {name: verdicts[0].detail for name, verdicts in found.items() if not verdicts[0].passed}
    assert wrong.keys() == UNFIT.keys() & found.keys(), wrong
    for name, (_, *others) in found.items():
        assert {verdict.outcome for verdict in others} == {Outcome.FAILED}, (name, [v.detail for v in others])
    for name, (passed, *_) in found.items():
        if name not in UNFIT:
            assert len(passed.tests) == tasks[name].test_count and passed.fraction == 1.0
            assert passed.trust == ("same-process" if name in BESIDE else "typed"), name
