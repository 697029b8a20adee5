"""stdio-problems: every kind, many parameters: tests that tell, statements that are complete, splits that hold."""

import json
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest

from strop.tasks import load_tasks, render
from strop.tasks.prompts import PROGRAM_STOP, solution
from strop_tasks.generators.stdio_problems import NAME, compiled, generate, task_of
from strop_tasks.generators.stdio_problems.kind import Problem, ProblemKind, all_kinds
from strop_verify.core.checks import StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.ids import rng
from strop_verify.core.task import Task
from strop_verify.verification.python.compare import same_output
from strop_verify.verification.verifier import OpenVerifier

SEEDS = 30
KINDS = pytest.mark.parametrize("kind", all_kinds(), ids=lambda kind: kind.name)


def problem_of(kind: ProblemKind, seed: int) -> Problem:
    return kind.make(rng("test", kind.name, seed))


def tasks_of(kind: ProblemKind, seeds: int = SEEDS) -> list[Task]:
    made = []
    for seed in range(seeds):
        r = rng("test", kind.name, seed)
        made.append(task_of(kind, kind.make(r), r))
    return made


def check_of(task: Task) -> StdioCheck:
    assert isinstance(task.check, StdioCheck)
    return task.check


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_tasks(f"{NAME}:600")


def test_many_kinds_of_every_level():
    levels = Counter(kind.level for kind in all_kinds())
    assert len(all_kinds()) >= 60 and set(levels) == {1, 2, 3, 4, 5} and min(levels.values()) >= 8
    assert all(kind.about and kind.topic for kind in all_kinds())


@KINDS
def test_tests_tell(kind):
    """Enough different tests; no constant, no echo and no silence passes, nor any one output more than two thirds."""
    for task in tasks_of(kind):
        cases = check_of(task).cases
        shown, hidden = [c for c in cases if c.shown], [c for c in cases if not c.shown]
        assert len(cases) >= 9 and 1 <= len(shown) <= 2 and cases[: len(shown)] == shown
        assert len({c.stdin for c in cases}) == len(cases)
        assert len({c.stdout for c in shown}) == len(shown)
        outputs = Counter(c.stdout for c in cases)
        assert outputs.most_common(1)[0][1] <= len(cases) * 2 / 3, (kind.name, task.metadata, outputs)
        for answer in ("", *(c.stdout for c in shown)):
            assert not all(same_output(c.stdout, answer, 0) for c in hidden), (kind.name, answer)
        assert not all(same_output(c.stdout, c.stdin, 0) for c in hidden)


@KINDS
def test_expected_outputs_are_the_references_own(kind):
    for task in tasks_of(kind, 5):
        run = compiled(task.reference)
        for case in check_of(task).cases:
            assert run(case.stdin) == case.stdout == run(case.stdin)
            assert case.stdin.endswith("\n") and case.stdout.endswith("\n")


@KINDS
def test_statements_say_everything(kind):
    """Different programs never share a statement, in any phrasing; equal parameters are one problem."""
    program_of: dict[str, str] = {}
    problems: dict[str, Problem] = {}
    parameters_of: dict[str, str] = {}
    for seed in range(300):
        problem = problem_of(kind, seed)
        key = json.dumps(problem.parameters, sort_keys=True)
        again = problems.setdefault(key, problem)
        assert (again.program, again.statements, again.edges) == (
            problem.program,
            problem.statements,
            problem.edges,
        )
        assert parameters_of.setdefault(problem.program, key) == key, "two parameters, one problem"
        for statement in problem.statements:
            assert program_of.setdefault(statement, problem.program) == problem.program, statement
            assert statement == statement.strip() and "  " not in statement.replace("\n\n", "")
    assert len(problems) >= 24, "too few different problems"


@KINDS
def test_hidden_tests_are_not_told(kind):
    for task in tasks_of(kind, 5):
        prompt = render(task, "continue").text
        for case in check_of(task).cases:
            told = f"Input:\n{case.stdin.rstrip()}\nOutput:\n{case.stdout.rstrip()}" in prompt
            assert told == case.shown
            assert case.shown or len(case.stdin) < 12 or case.stdin.strip() not in task.statement


@KINDS
def test_prompts_and_what_they_should_be_answered_with(kind):
    (task,) = tasks_of(kind, 1)
    for style in ("continue", "chat", "chat-prefilled"):
        prompt = render(task, style)
        for text in (prompt.text, prompt.prefill, *(m.content for m in prompt.messages)):
            assert text == text.rstrip()
        target = solution(task, prompt)
        assert prompt.assemble(target).strip() == task.reference.strip()
        if style == "continue":
            assert not [stop for stop in PROGRAM_STOP if stop in target]
            compile(prompt.text + target, kind.name, "exec")


def judged(verifier: OpenVerifier, tasks: list[Task], answers) -> list[tuple[str, str, str]]:
    """(source, what, detail) of the answers whose verdict is not as it should be."""
    waiting = [
        (task, what, good, verifier.submit(task, answer))
        for task in tasks
        for what, good, answer in answers(task)
    ]
    verdicts = [(task, what, good, future.result()) for task, what, good, future in waiting]
    return [(t.source, what, v.detail) for t, what, good, v in verdicts if not v.scored or v.passed != good]


def few_answers(task: Task):
    first = next(c.stdout for c in check_of(task).cases if c.shown)
    yield "reference", True, task.reference
    yield "nothing", False, "x = 1\n"
    yield "first shown output", False, f"print({first!r}, end='')\n"
    yield "echo", False, "import sys\nprint(sys.stdin.read(), end='')\n"


@pytest.mark.soak(30)
def test_in_the_jail_every_reference_passes_and_trivial_answers_fail(verifier):
    assert judged(verifier, [task for kind in all_kinds() for task in tasks_of(kind, 2)], few_answers) == []


@pytest.mark.soak(30)
def test_in_the_jail_references_pass_whatever_the_parameters(verifier):
    tasks = [task for kind in all_kinds() for task in tasks_of(kind, 10)]
    assert judged(verifier, tasks, lambda task: [("reference", True, task.reference)]) == []


def test_some_in_the_jail(tasks, verifier):
    assert judged(verifier, tasks[:12], few_answers) == []


def test_a_load_holds_no_problem_twice(tasks):
    assert len(tasks) == 600
    for field in (
        [t.id for t in tasks],
        [t.statement for t in tasks],
        [t.check.model_dump_json() for t in tasks],
        [json.dumps(t.metadata, sort_keys=True) for t in tasks],
        [t.reference + t.statement.partition("Input:")[2] for t in tasks],
    ):
        assert len(set(field)) == len(field)
    assert {t.family for t in tasks} == {"program"} and all(
        t.source == f"{NAME}/{t.metadata['kind']}" for t in tasks
    )


def test_fewer_tasks_begin_the_same_way_and_seeds_differ(tasks):
    assert list(generate(50)) == tasks[:50]
    assert not {t.id for t in generate(100, seed=1)} & {t.id for t in tasks}


def test_the_same_in_every_process():
    code = "from strop_tasks.generators.stdio_problems import generate\nprint([t.id for t in generate(100)])"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {f"{[t.id for t in generate(100)]}\n"}


def test_a_problem_is_on_one_side_whatever_the_seed(tasks):
    sides: dict[str, set[str | None]] = {}
    for task in [*tasks, *load_tasks(f"{NAME}:600@1")]:
        sides.setdefault(json.dumps(task.metadata, sort_keys=True), set()).add(task.split)
    assert len(sides) < 1200, "the seeds share some problems"
    assert all(len(side) == 1 for side in sides.values())
    share = sum(t.split == "held-out" for t in tasks) / len(tasks)
    assert 0.14 < share < 0.26


def test_whole_kinds_held_out():
    found = load_tasks(f"{NAME}:400@0/kinds")
    sides = {side: [t for t in found if t.split == side] for side in ("train", "held-out")}
    kinds = {side: {t.metadata["kind"] for t in some} for side, some in sides.items()}
    assert not kinds["train"] & kinds["held-out"]
    assert all({t.level for t in some} == {1, 2, 3, 4, 5} for some in sides.values())
    assert 0.1 < len(sides["held-out"]) / len(found) < 0.3


def test_tasks_come_as_they_are_asked_for():
    assert len(list(islice(generate(1_000_000), 3))) == 3


@pytest.mark.parametrize(
    "rest", ["0", "-5", "1000001", "10@", "10@x", "1e3", "10/kind", "10/kinds/", "٣", "9" * 40]
)
def test_a_bad_source_is_one_line(rest):
    with pytest.raises(UserError) as caught:
        load_tasks(f"{NAME}:{rest}")
    assert "\n" not in str(caught.value) and ("COUNT" in str(caught.value))


def test_the_default_is_a_thousand():
    assert sum(1 for _ in generate(1000)) == 1000
    with pytest.raises(UserError, match="no column mapping"):
        load_tasks(NAME, columns={"tests": "x"})


def test_a_reference_leaves_the_process_as_it_was(capsys):
    run = compiled("import sys\nname = input()\nsys.stdout.write(name + sys.stdin.read())\n")
    assert run("a\nb\n") == "ab\n"
    with pytest.raises(EOFError):
        run("")
    assert sys.stdin is not None and capsys.readouterr().out == ""
