"""verify: the task's reference must pass a number of runs.

DeepCoder keeps a task only if its official solution passes all tests (Together, "DeepCoder", 2025, section on data).
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from pydantic import Field

from strop_tasks.curation.audit.flakiness import again
from strop_tasks.curation.engine.tally import ErrorBudget
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_tasks.curation.pipeline.verdicts import error_budget, known_answers, settle, why
from strop_verify.core.bounded_map import Work
from strop_verify.core.section import Section
from strop_verify.core.task import Task
from strop_verify.core.verdict import Trust, Verdict


class VerifyStepConfig(Section):
    """Settings of the step `verify`."""

    runs: int = Field(default=1, ge=1, le=100)
    """Number of runs of the reference; more than one finds flaky tasks."""
    min_share: float = Field(default=1.0, gt=0, le=1)
    """Share of the runs that must pass."""
    tries: int = Field(default=1, ge=1, le=100)
    """Maximum known answers to try, if a task has several (`metadata.references`); the first that passes becomes the
    reference."""
    max_error_rate: float = Field(default=0.5, ge=0, le=1)
    """Stop if a larger share of verdicts is *error*: the machine is at fault then, not the tasks."""


class VerifyStep(Step[VerifyStepConfig]):
    """Drops tasks whose reference does not pass; keeps unjudged ones. Records the trust."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`. Remembers the outcome of each known answer tried."""
        errors = error_budget(self.config.max_error_rate)
        with context.memory() as memory:
            work = partial(self._tried, context=context, errors=errors)
            settle(read, context, memory, work, lambda tried: not any(found["error"] for found in tried))
            for task in read():
                yield self._decide(task, memory[task.id])

    def _tried(self, task: Task, context: Context, errors: ErrorBudget) -> Work[list[dict[str, Any]]]:
        """The outcomes of the known answers, up to the first that passes."""
        tried = list[dict[str, Any]]()
        answers = known_answers(task) if task.check.toolchains else []
        for answer in answers[: self.config.tries]:
            runs = [context.verifier().submit(task, again(answer, run)) for run in range(self.config.runs)]
            yield runs
            tried.append(self._summary([errors.see(run.result()) for run in runs]))
            if tried[-1]["passed"]:
                break
        return tried

    def _summary(self, found: list[Verdict]) -> dict[str, Any]:
        passes = sum(verdict.passed for verdict in found)
        first = next((verdict for verdict in found if not verdict.passed), None)
        return {
            "passed": passes >= self.config.min_share * len(found),
            "passes": passes,
            "error": any(not verdict.scored for verdict in found),
            "why": "" if first is None else why(first),
            "trust": next((verdict.trust for verdict in found if verdict.passed), None),
        }

    def _decide(self, task: Task, tried: list[dict[str, Any]]) -> Task | Dropped:
        answers = known_answers(task)
        if task.check.rewards_alone:
            return task
        if not task.check.toolchains:
            return drop(task, "cannot be verified", f"no toolchain plays checks of kind {task.check.kind}")
        if not answers:
            return drop(task, "no reference")
        for number, found in enumerate(tried):
            if found["passed"]:
                kept = task if answers[number] == task.reference else _with(task, answers, number)
                return _trusted(kept, found.get("trust"))
        worst = tried[0]
        if worst["error"]:
            return drop(task, "cannot be verified", worst["why"])
        if worst["passes"]:
            return drop(task, "flaky", f"passed {worst['passes']} of {self.config.runs} runs; {worst['why']}")
        return drop(task, "the reference fails", worst["why"])


def _trusted(task: Task, trust: Trust | None) -> Task:
    """The task, with `metadata.trust` if a pass has less trust than usual for its check."""
    if not task.check.effective().lowered(trust):
        return task
    return task.model_copy(update={"metadata": {**task.metadata, "trust": trust}})


def _with(task: Task, answers: list[str], number: int) -> Task:
    """The task with another known answer as the reference; those after it stay in `metadata.references`."""
    rest = [answer for place, answer in enumerate(answers) if place > number]
    metadata = {**task.metadata, "references": rest}
    return task.model_copy(update={"reference": answers[number], "metadata": metadata})
