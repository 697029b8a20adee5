"""Runs EvalPlus with Strop's judge: `evalplus.evaluate` under another module name, with all of its options.

    python -m strop.neighbours.evalplus --dataset humaneval --samples samples.jsonl

Its tasks, its parsing of samples and its report stay; `check_correctness`, which its processes call, is replaced. An
answer has the limits of `strop.neighbours.evaluators`, whereas EvalPlus has a limit for each input.
"""

import json
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import evalplus.evaluate
from evalplus.data.mbpp import mbpp_serialize_inputs

from strop.neighbours.evaluators import submit, task_of, verdict_of
from strop_verify.core.errors import StropError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome

_FIELDS = ("task_id", "prompt", "entry_point", "canonical_solution", "atol")


def check_correctness(
    dataset: str,
    completion_id: int,
    problem: Mapping[str, Any],
    solution: str,
    expected_output: Mapping[str, Any],
    base_only: bool = False,
    fast_check: bool = False,
    identifier: str | None = None,
    min_time_limit: float = 0.0,
    gt_time_limit_factor: float = 0.0,
) -> dict[str, Any]:
    """Replaces EvalPlus' function of this name: returns a status and the tests' results for `base` and `plus`."""
    found: dict[str, Any] = {
        "completion_id": completion_id,
        "task_id": problem["task_id"],
        "_identifier": identifier,
        "solution": solution,
    }
    for part in ("base",) if base_only else ("base", "plus"):
        found[part] = _judged(dataset, problem, solution, part, fast_check)
    return found


def _judged(
    dataset: str, problem: Mapping[str, Any], solution: str, part: str, fast: bool
) -> tuple[str, list[bool]]:
    inputs = problem[f"{part}_input"]
    if not len(inputs):
        return "pass", []
    if dataset == "mbpp":
        inputs = mbpp_serialize_inputs(problem["task_id"], inputs)
    row = {**{name: problem[name] for name in _FIELDS}, "base_input": list(inputs)}
    task = _task(json.dumps(row))
    verdict = verdict_of(task, submit(task, solution))
    if verdict.passed:
        return "pass", [True] * len(inputs)
    passed = [test.outcome is Outcome.PASSED for test in verdict.tests[: len(inputs)]]
    if fast and False in passed:  # EvalPlus' list then ends at the first failure
        passed = passed[: passed.index(False) + 1]
    return "fail", passed  # what EvalPlus reports for an input that takes too long


@lru_cache(maxsize=64)
def _task(row: str) -> Task:
    """The task of a line in EvalPlus' release."""
    return task_of(json.loads(row))


def main() -> None:
    """Runs the command line."""
    evalplus.evaluate.check_correctness = check_correctness
    try:
        evalplus.evaluate.main()
    except StropError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        os._exit(2)  # a thread of EvalPlus would wait for the remaining answers forever


if __name__ == "__main__":
    main()
