"""Shared by the plug-ins for evaluators: a benchmark's rows as tasks, and one verifier for all answers.

An answer that the grader failed to judge is not a wrong answer: `verdict_of` raises VerificationError for it.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any

from strop.rollouts.trl_reward import OpenedVerifier
from strop.tasks.adapters import ADAPTERS
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.sandbox.limits import Limits

VERIFIER = OpenedVerifier(None, Limits(cpu_seconds=20, wall_seconds=60, result_bytes=256 << 20))
"""Opened for the first answer, closed when the process ends. References of HumanEval+ and MBPP+, with hundreds of tests
each, take longer and return more than a recipe allows an answer.
"""
_FORMATS = ("evalplus", "humaneval", "mbpp", "livecodebench")


def task_of(row: Mapping[str, Any]) -> Task:
    """The task of a row of HumanEval, MBPP, EvalPlus or LiveCodeBench. Raises UserError for any other row."""
    where = f"task {row.get('task_id', row.get('question_id'))}"
    for adapter in map(ADAPTERS.__getitem__, _FORMATS):
        if adapter.fits(dict(row)):
            (task,) = adapter.read(dict(row), where)
            return task
    raise UserError(f"{where}: not a row of any of {', '.join(_FORMATS)}: {', '.join(sorted(row))[:200]}")


def harness_task(doc: Mapping[str, Any]) -> Task:
    """The task of a harness's document; harnesses judge MBPP by `test_list` alone."""
    alone = {"test_setup_code": "", "challenge_test_list": []} if "test" not in doc else {}
    return task_of({**doc, **alone})


def submit(task: Task, program: str) -> "Future[Verdict]":
    """Submits a program to be judged concurrently. Raises UserError without pytest, which some verdicts need."""
    if find_spec("pytest") is None:
        raise UserError(
            "pytest is not installed, and Strop's judge needs it: pip install 'strop-verify[suites]'"
        )
    return VERIFIER.get().submit(task, program)


def verdict_of(task: Task, judged: "Future[Verdict]") -> Verdict:
    """Waits for the verdict. Raises VerificationError if the grader failed."""
    verdict = judged.result()
    if not verdict.scored:
        raise VerificationError(f"{task.id}: Strop's grader failed: {verdict.detail}")
    return verdict
