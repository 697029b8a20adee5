"""The stages of an answer (build, lint, base, test, score), and whether it passed each of them.

Build and lint are the verdict's stages; a stage that was never reached is not passed. Test is the whole verdict, so
answers that were refused although their tests passed (unsafe code, tests that assert nothing) do not pass here either;
the test rate is pass@1.

`base` exists for tasks that record how many of their first tests are the base set (`metadata["base_tests"]`): whether
those passed, whatever happened in the extra tests after them. This gives HumanEval and HumanEval+ (EvalPlus, arXiv
2305.01210) from one run of the tests.

`score` exists for tasks whose check says how good an answer is (`Verdict.score`): that number; 0 without an answer.
Searches and next edits have numbers of their own (`HALVES` and `NUMBERS` of `core.checks.comparison`).

`pairs` exists for labels of tasks in pairs (`metadata["pair"]`), such as a function before and after a security fix:
the share of pairs whose members are both right (P-C of PrimeVul, arXiv 2403.18624). Giving both the same label scores
0.
"""

from collections.abc import Set

from strop_verify.core.checks.comparison import HALVES, NUMBERS
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

SHARES = ("score", *HALVES, *NUMBERS)
"""Numbers that are not stages."""

STAGES = ("build", "lint", "base", "test", *SHARES)
"""Stages in the order in which they run; numbers that are not stages come last."""

SIGNED = frozenset(name for name in NUMBERS if name.startswith(("saved", "utility")))
"""Numbers that are not shares in [0, 1]."""

PAIRS = "pairs"

GREEDY_PREFIX = "greedy-"
"""Prefix of a stage's name for the greedy answers: greedy-build, ..."""


def kind_of(task: Task) -> tuple[str, str]:
    """Tasks with the same key go through the same stages, unless the task says more."""
    return task.language, task.check.kind


def stages_of(task: Task, seen: Set[str] = frozenset()) -> list[str]:
    """Names of the stages that an answer to the task can go through, in their order.

    seen  stages of verdicts on tasks of the same `kind_of`; user-defined languages may or may not have a lint stage
    """
    own = task.check.stages(seen) | ({"base"} if base_tests(task) else set())
    return [name for name in STAGES if name in own]


def base_tests(task: Task) -> int:
    """How many of the task's first tests are its base set; 0 if unknown."""
    count = task.metadata.get("base_tests")
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def pair_of(task: Task) -> str:
    """The pair that the task belongs to; "" for none."""
    pair = task.metadata.get("pair")
    return pair if isinstance(pair, str) and task.check.answer == "label" else ""


def came_through(verdict: Verdict, name: str, base: int) -> float:
    """Whether a scored answer passed the stage of that name, or its score. `base`: how many tests are the base set."""
    if name == "score":
        return verdict.score or 0.0
    if name in SHARES:
        return verdict.numbers.get(name, 0.0)
    if name == "test":
        return verdict.passed
    if name == "base":
        first = verdict.tests[:base]
        whole = len(first) == base > 0 and all(test.outcome is Outcome.PASSED for test in first)
        return verdict.passed or (whole and verdict.outcome is not Outcome.TAMPERED)
    stage = verdict.stage(name)
    if stage is None:
        return verdict.passed and name == "build"
    return stage.passed
