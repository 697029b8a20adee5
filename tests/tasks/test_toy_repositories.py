"""toy-repositories: each is a small package with one bug that its tests show, mended by the task's own reference."""

import ast
from collections import Counter

import pytest
from tests.scale import most

from strop.tasks import load_tasks
from strop_tasks.generators.toy_repositories import HIDDEN, NAME, PUBLIC, generate
from strop_tasks.generators.toy_repositories.functions import FUNCTIONS, KINDS
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.edits import apply_answer
from strop_verify.verification.project.layout import is_protected
from strop_verify.verification.project.snapshot import Files, load_snapshot
from strop_verify.verification.verifier import OpenVerifier


def check_of(task: Task) -> tuple[EditCheck, ProjectCheck, Files]:
    check = task.check.only(EditCheck)
    judge = check.effective().only(ProjectCheck)
    return check, judge, load_snapshot(judge)


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_tasks(f"{NAME}:400")


def test_there_are_many_kinds_and_every_way_to_be_wrong_is_one(tasks: list[Task]) -> None:
    assert len(KINDS) >= 12
    for template in FUNCTIONS:
        head, _, body = template.text.rpartition('"""')
        for fault in template.faults:
            assert fault.right in (head if fault.kind == "default" else body), (template.text, fault)
            assert fault.right != fault.wrong
    seen = Counter(task.metadata["bug"] for task in tasks)
    assert set(seen) == set(KINDS)
    assert len({task.topic for task in tasks}) >= 12


def test_one_line_of_one_function_is_wrong_and_stands_once_in_its_file(tasks: list[Task]) -> None:
    for task in tasks:
        check, _, files = check_of(task)
        ((path, wrong),) = check.files.items()
        right = files[path].decode()
        assert check.oracle == {path: right} and path == task.metadata["path"] and not is_protected(path)
        pairs = list(zip(wrong.splitlines(), right.splitlines(), strict=True))
        (at,) = [number for number, (old, new) in enumerate(pairs, start=1) if old != new]
        assert at == task.metadata["line"] and wrong.splitlines().count(pairs[at - 1][0]) == 1
        assert apply_answer(task.reference, check.files, check.format) == {path: right}
        spans = {
            n.name: (n.lineno, n.end_lineno or 0)
            for n in ast.parse(wrong).body
            if isinstance(n, ast.FunctionDef)
        }
        first, last = spans[task.metadata["function"]]
        assert first <= at <= last


def test_the_repository_is_small_and_the_statement_says_which_test(tasks: list[Task]) -> None:
    for task in tasks:
        _, judge, files = check_of(task)
        sources = [path for path in files if path.endswith(".py") and path not in (PUBLIC, HIDDEN)]
        assert 4 <= len(sources) <= 7
        assert all(len(files[path].splitlines()) <= 27 for path in sources)
        assert max(len(line) for data in files.values() for line in data.decode().splitlines()) < 140
        lines = task.statement.splitlines()
        assert 2 <= len(lines) <= 4 and max(map(len, lines)) < 160
        (said,) = [line for line in lines if line.startswith(f"{judge.failing[0]} - ")]
        assert said.partition("::")[0] == PUBLIC
        name = task.metadata["function"]
        assert sum(f"def {name}(".encode() in data for data in files.values()) == 1
        assert len(judge.project) < 8000


def test_public_tests_are_some_and_hidden_ones_judge_too(tasks: list[Task]) -> None:
    for task in tasks:
        _, judge, files = check_of(task)
        tests = [*judge.failing, *judge.passing]
        defined = {
            f"{path}::{node.name}"
            for path in (PUBLIC, HIDDEN)
            for node in ast.parse(files[path]).body
            if isinstance(node, ast.FunctionDef)
        }
        assert len(tests) == len(set(tests)) and set(tests) == defined
        assert sorted(task.metadata["public_tests"]) == sorted(t for t in tests if t.startswith(PUBLIC))
        assert sum(test.startswith(HIDDEN) for test in judge.failing) >= 2
        assert sum(test.startswith(PUBLIC) for test in judge.failing) == 1


@pytest.mark.soak(18)
def test_verdicts_agree_with_the_task(verifier: OpenVerifier) -> None:
    """The reference passes; unedited, exactly `failing` fail; the message is what pytest says."""
    drawn = list(generate(most(200, 10), seed=41))
    futures = []
    for task in drawn:
        check, judge, _ = check_of(task)
        broken = judge.model_copy(update={"files": check.files})
        unedited = task.model_copy(update={"check": broken})
        futures.append((task, verifier.submit(task, task.reference), verifier.submit(unedited, "as it is")))
    for task, repaired, unedited_verdict in futures:
        judge = check_of(task)[1]
        assert repaired.result().passed, task.model_dump_json()
        verdict = unedited_verdict.result()
        failed = [test.id for test in verdict.tests if test.outcome is not Outcome.PASSED]
        assert verdict.outcome is Outcome.FAILED and failed == judge.failing, task.model_dump_json()


def test_the_beginning_of_a_list_is_a_shorter_list_and_seeds_differ() -> None:
    long, short = list(generate(30, seed=3)), list(generate(10, seed=3))
    assert [task.id for task in long[:10]] == [task.id for task in short]
    assert not {task.id for task in long} & {task.id for task in generate(30, seed=4)}


def test_a_function_with_its_words_is_on_one_side(tasks: list[Task]) -> None:
    sides: dict[str, set[str | None]] = {}
    for task in tasks:
        _, _, files = check_of(task)
        tree = ast.parse(files[task.metadata["path"]])
        (node,) = [
            n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == task.metadata["function"]
        ]
        sides.setdefault(ast.unparse(node), set()).add(task.split)
    assert all(len(found) == 1 for found in sides.values())
    assert 0.1 < sum(task.split == "held-out" for task in tasks) / len(tasks) < 0.3


@pytest.mark.parametrize("rest", ["x", "0", "10@", "1@2@3", "-1"])
def test_a_bad_source_is_one_line(rest: str) -> None:
    with pytest.raises(UserError, match=f"bad task source '{NAME}:"):
        load_tasks(f"{NAME}:{rest}")
