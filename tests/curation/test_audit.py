"""Audits: what they find, with a scripted verifier; and every built-in task, with the real one."""

from concurrent.futures import Future

import pytest

from strop.core.task import AssertsCheck, Case, CasesCheck, StdioCase, StdioCheck, Task
from strop.core.verdict import Outcome, Verdict
from strop.curation.audit import audit, trivial_answers
from strop.tasks import load_tasks

REFERENCE = "def f(x):\n    return x + 1\n"


class Scripted:
    """Passes the answers that it was told to pass; remembers all."""

    def __init__(self, *passing: str, outcome: Outcome = Outcome.FAILED) -> None:
        self.passing = passing
        self.outcome = outcome
        self.seen: list[str] = []

    def submit(self, task: Task, answer: str) -> Future[Verdict]:
        self.seen.append(answer)
        future: Future[Verdict] = Future()
        passed = any(text in answer for text in self.passing)
        future.set_result(Verdict(outcome=Outcome.PASSED if passed else self.outcome, detail="why"))
        return future

    def close(self) -> None:
        """Nothing to end."""


def task(args=range(6), shown=2, reference=REFERENCE, statement="Add one.") -> Task:
    cases = [Case(args=[a], expected=a + 1, shown=i < shown) for i, a in enumerate(args)]
    check = CasesCheck(entry_point="f", cases=cases)
    return Task(statement=statement, signature="def f(x):", reference=reference, check=check)


def reasons(one: Task, *passing: str, **options) -> list[str]:
    (found,) = audit([one], Scripted(*(passing or (REFERENCE,))), **options)
    assert found.task_id == one.id and found.ok is (found.reasons == [])
    return found.reasons


def test_a_good_task_is_fit_and_many_answers_were_tried():
    verifier = Scripted(REFERENCE)
    assert audit([task()], verifier)[0].ok
    assert verifier.seen[:2] == [REFERENCE, ""]
    for value in ("None", "0", "1", "''", "[]", "{}", "True", "False"):
        assert any(f"return {value}\n" in answer for answer in verifier.seen)


def test_each_fault_is_named():
    assert reasons(task(), "nothing") == ["the reference does not pass (failed): why"]
    assert reasons(task(), REFERENCE, "return 0\n") == ["the constant answer `return 0` passes"]
    assert reasons(task(), REFERENCE, "args[0]") == ["returning the first argument passes"]
    assert reasons(task(reference="")) == ["no reference: nobody has shown that it can be solved"]
    assert reasons(task(range(4))) == ["4 different tests, fewer than 6"]
    assert reasons(task(range(4)), min_tests=3) == []
    assert reasons(task(shown=0)) == ["no test is shown"]
    assert reasons(task(shown=6)) == ["no test is hidden"]
    assert reasons(task([0, 1, 2, 3, 4, 5, 0, 5])) == ["2 hidden tests repeat another test"]
    assert reasons(task(statement="So f(5) is 6.")) == ["1 hidden tests stand in the statement"]


def test_the_first_shown_value_is_tried():
    assert any("return 41\n" in answer for _, answer in trivial_answers(task([40, 1])))


def test_an_error_of_ours_is_a_reason_too():
    (found,) = audit([task()], Scripted(REFERENCE, outcome=Outcome.ERROR))
    assert not found.ok and "the empty answer could not be verified: why" in found.reasons


def test_results_keep_the_order_of_many_tasks():
    tasks = [task(range(n, n + 6)) for n in range(60)]
    assert [a.task_id for a in audit(tasks, Scripted(REFERENCE))] == [t.id for t in tasks]


def test_programs_and_asserts_are_tried_as_well():
    stdio = Task(statement="Add.", check=StdioCheck(cases=[StdioCase(stdin="1", stdout="7\n", shown=True)]))
    answers = dict(trivial_answers(stdio))
    assert "print('7\\n', end='')\n" in answers.values() and "the echo of its input" in answers
    asserts = Task(
        statement="Add.", reference="x", check=AssertsCheck(entry_point="f", code="assert f(1) == 2")
    )
    assert audit([asserts], Scripted("x"))[0].reasons == []


@pytest.fixture(scope="module")
def verifier():
    from strop.verification import open_verifier

    with open_verifier(workers=2) as opened:
        yield opened


def faults(tasks, verifier) -> list[str]:
    return [f"{a.source}: {'; '.join(a.reasons)}" for a in audit(tasks, verifier) if not a.ok]


def test_a_part_of_python_functions_is_fit(verifier):
    assert faults(load_tasks("python-functions")[::20], verifier) == []


def test_a_weak_task_is_found(verifier):
    weak = task([0] * 6).model_copy(update={"reference": "def f(x):\n    return 2\n"})
    (found,) = audit([weak], verifier)
    assert "the constant answer `return 1` passes" in found.reasons
    assert any("the reference does not pass" in reason for reason in found.reasons)


@pytest.mark.slow
def test_every_task_of_python_functions_is_fit(verifier):
    assert faults(load_tasks("python-functions"), verifier) == []


@pytest.mark.slow
def test_every_task_of_humaneval_is_fit(verifier):
    assert faults(load_tasks("humaneval"), verifier) == []
