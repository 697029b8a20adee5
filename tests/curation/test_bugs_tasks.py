import pytest

from strop.tasks import load_tasks
from strop_tasks.curation.bugs import LAYOUT, BugSettings, TaskChoice
from strop_tasks.curation.bugs.issue import failing_call
from strop_tasks.curation.bugs.task_bugs import PATH, bugs_of_tasks
from strop_tasks.curation.engine.tally import Tally
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, EditCheck, RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, TestResult, Verdict
from strop_verify.edits import FORMATS, apply_answer
from strop_verify.verification import open_verifier

TOTAL = Task(
    statement="Return the sum of the numbers that are above low.",
    reference='def total(xs, low=0):\n    """Sum of some."""\n    found = 0\n    for x in xs:\n        if x > low:\n'
    "            found += x\n    return found\n",
    check=CasesCheck(
        entry_point="total",
        cases=[
            Case(args=[[1, 2, 3]], expected=6, shown=True),
            Case(args=[[2, 5, 7], 2], expected=12),
            Case(args=[[]], expected=0),
        ],
    ),
    topic="numbers",
    level=2,
    split="held-out",
    source="mine/total",
)
ASSERTED = Task(
    statement="Return True if n is even.",
    reference="def even(n):\n    return n % 2 == 0\n",
    check=AssertsCheck(entry_point="even", code="assert even(2)\nassert not even(77123)\n"),
)


def made(verifier, tasks, **settings):
    tally = Tally(LAYOUT)
    choice = TaskChoice(
        **{name: settings.pop(name) for name in ("min_passing", "max_lines") if name in settings}
    )
    return list(bugs_of_tasks(tasks, verifier, tally, BugSettings(**settings), choice)), tally


def test_every_task_fails_unrepaired_and_passes_with_the_oracle(verifier):
    tasks, tally = made(verifier, [TOTAL, ASSERTED], per_task=8)
    assert len(tasks) >= 10 and tally.tasks == len(tasks) == sum(tally.counts["splits"].values())
    assert len({task.id for task in tasks}) == len(tasks) == len({task.source for task in tasks})
    for task in tasks:
        check, original = task.check, TOTAL if task.metadata["original"] == TOTAL.id else ASSERTED
        assert isinstance(check, EditCheck) and check.judge == original.check and check.path == PATH
        judged = task.model_copy(update={"check": check.judge})
        assert verifier.verify(judged, check.files[PATH]).outcome is Outcome.FAILED
        assert verifier.verify(judged, check.oracle[PATH]).passed
        assert apply_answer(task.reference, check.files, check.format) == check.oracle
        assert (task.family, task.topic, task.level, task.split) == (
            "repair", original.topic, original.level, original.split
        )  # fmt: skip
        assert task.statement.startswith(f"Fix the bug in {PATH}.") and original.statement in task.statement
        assert "77123" not in task.statement and "[2, 5, 7]" not in task.statement


def test_the_same_seed_gives_the_same_tasks_in_other_batches_too(verifier):
    first = made(verifier, [TOTAL, ASSERTED], seed=4)[0]
    with open_verifier(workers=2) as other:  # other batches
        assert made(other, [TOTAL, ASSERTED], seed=4)[0] == first
    assert made(verifier, [TOTAL, ASSERTED], seed=5)[0] != first


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_its_repair(verifier, format):
    for task in made(verifier, [TOTAL], per_task=3, format=format)[0]:
        assert task.check.format == format
        assert apply_answer(task.reference, task.check.files, format) == task.check.oracle


def test_bugs_that_pass_some_tests_come_first_and_others_can_be_left_out(verifier):
    def passing(tasks):
        judged = [(t.model_copy(update={"check": t.check.judge}), t.check.files[PATH]) for t in tasks]
        return [sum(r.outcome is Outcome.PASSED for r in verifier.verify(*job).tests) for job in judged]

    some = passing(made(verifier, [TOTAL], per_task=40)[0])
    assert 0 in some and some.index(0) > 5 and not any(some[some.index(0) :])
    assert min(passing(made(verifier, [TOTAL], per_task=40, min_passing=2)[0])) == 2


def test_several_faults_are_put_in_together(verifier):
    tasks, tally = made(verifier, [TOTAL], faults="2")
    assert len(tasks) == 6 == tally.counts["faults"]["2"]
    assert all(len(task.metadata["bug"]) == 2 for task in tasks)


def test_what_cannot_be_used_is_left_out_and_counted(verifier):
    wrong = TOTAL.model_copy(update={"reference": TOTAL.reference.replace("+=", "-=")})
    none = TOTAL.model_copy(update={"reference": ""})
    rust = TOTAL.model_copy(update={"language": "rust", "check": RustCheck(tests="x")})
    tasks, tally = made(verifier, [wrong, none, rust, TOTAL], max_lines=6)
    assert not tasks and tally.unusable == {
        "longer than --max-lines": 2, "no reference": 1, "no Python task with tests": 1,
    }  # fmt: skip
    assert made(verifier, [wrong])[1].unusable == {"the reference does not pass": 1}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("returned 5", "`total([1, 2, 3])` returns 5, expected 6."),
        ("returned (1, True)", "`total([1, 2, 3])` returns (1, True), expected 6."),
        ("returned ['abc...", "`total([1, 2, 3])` returns something else, expected 6."),
        ("KeyError: 3", "`total([1, 2, 3])` raises KeyError: 3, expected 6."),
        ("KeyError: 3, line 7", "`total([1, 2, 3])` raises KeyError: 3, expected 6."),
        ("time is up", "`total([1, 2, 3])` fails, expected 6."),
    ],
)
def test_the_failing_call_is_told_with_what_it_gives(message, said):
    tests = [TestResult(id=f"case {n}", outcome=Outcome.PASSED) for n in range(3)]
    tests[0] = TestResult(id="case 0", outcome=Outcome.FAILED, message=message)
    assert failing_call(TOTAL, Verdict(outcome=Outcome.FAILED, tests=tests)) == said
    hidden = [TestResult(id="case 0", outcome=Outcome.PASSED), tests[0], tests[2]]
    assert failing_call(TOTAL, Verdict(outcome=Outcome.FAILED, tests=hidden)) == ""


def test_bugs_of_the_functions_are_on_the_sides_of_their_functions(verifier):
    originals = {task.id: task for task in load_tasks("python-functions", limit=12)}
    tasks, tally = made(verifier, originals.values(), per_task=3)
    assert len(tasks) >= 30 and tally.originals == 12
    assert all(task.split == originals[task.metadata["original"]].split for task in tasks)
    assert {task.split for task in tasks} == {"train", "held-out"}
