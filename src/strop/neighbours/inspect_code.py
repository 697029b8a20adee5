"""A scorer for the code tasks of inspect_evals: HumanEval and MBPP, judged by Strop.

    inspect score logs/FILE.eval --scorer strop/tests_passed

or in a task: `humaneval(scorer=tests_passed())`. inspect_evals' own functions extract the code from the reply. No
sandbox is needed, since the program runs in Strop's jail and not in a container.
"""

import asyncio
from typing import Any

from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState

from strop.neighbours.evaluators import submit, task_of
from strop_verify.core.task import Task


@scorer(metrics=[accuracy(), stderr()])
def tests_passed() -> Scorer:
    """Correct if the program passes its sample's tests; unscored if it could not be judged."""

    async def score(state: TaskState, target: Target) -> Score:
        task, program = _asked(state.metadata, state.sample_id, state.output.completion)
        judged = await asyncio.wrap_future(submit(task, program))
        if not judged.scored:
            return Score.unscored(reason=judged.detail)
        told = judged.detail or judged.outcome.value
        return Score(value=CORRECT if judged.passed else INCORRECT, answer=program, explanation=told)

    return score


def _asked(sample: dict[str, Any], name: int | str, reply: str) -> tuple[Task, str]:
    """The task and the program of a sample. Raises UserError for a sample of another evaluation."""
    if "test_list" in sample:
        from inspect_evals.mbpp.mbpp import find_code

        imports = sample.get("test_imports") or []
        return task_of({**sample, "task_id": name, "test_imports": imports}), find_code(reply)
    from inspect_evals.humaneval.humaneval import find_code

    row = {**sample, "task_id": name, "canonical_solution": ""}
    return task_of(row), str(sample.get("prompt", "")) + find_code(reply)
