"""verify: the task's own reference must pass every one of a number of runs.

DeepCoder keeps a task only if its official solution passes all tests (Together, "DeepCoder", 2025, section on data).
"""

from collections.abc import Iterator

from pydantic import Field

from strop.config.section import Section
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop_curation.engine.memory import Memory
from strop_curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_curation.pipeline.verdicts import again, error_budget, known_answers, verdicts, why


class VerifyStepConfig(Section):
    """Settings of verify."""

    runs: int = Field(default=1, ge=1, le=100)
    """How often the reference is run; more than once finds flaky tasks."""
    min_share: float = Field(default=1.0, gt=0, le=1)
    """Share of the runs that must pass."""
    tries: int = Field(default=1, ge=1, le=100)
    """Known answers that are tried, where a set has several (`metadata.references`): the first that passes becomes the
    reference."""
    max_error_rate: float = Field(default=0.5, ge=0, le=1)
    """Stop where a larger share of verdicts is *error*: then the machine fails, not the tasks."""


class VerifyStep(Step[VerifyStepConfig]):
    """Drops tasks whose reference does not pass; keeps those that nothing judges."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`. Remembers, by id, the outcomes of each known answer that was tried."""
        with context.memory() as memory:
            for number in range(self.config.tries):
                self._try(number, read, context, memory)
            for task in read():
                yield self._decide(task, memory)

    def _try(self, number: int, read: Read, context: Context, memory: Memory) -> None:
        """Runs the known answer of that number of every task that has one and needs it."""
        errors = error_budget(self.config.max_error_rate)
        found: list[Verdict] = []
        done = 0
        for (task_id, last), verdict in verdicts(self._jobs(number, read, memory), context.verifier()):
            errors.see(verdict)
            found.append(verdict)
            if last:
                memory[f"{number} {task_id}"] = self._summary(found)
                found, done = [], done + 1
                context.progress(done, context.size)

    def _jobs(self, number: int, read: Read, memory: Memory) -> Iterator[tuple[tuple[str, bool], Task, str]]:
        """The runs of each task's answer, the last one marked."""
        for task in read():
            answers = known_answers(task)
            if number >= len(answers) or not task.check.toolchains:
                continue
            if self._known(number, task.id, memory) or (number and self._passed(number - 1, task.id, memory)):
                continue
            for run in range(self.config.runs):
                last = run == self.config.runs - 1
                yield (task.id, last), task, again(answers[number], run)

    def _known(self, number: int, task_id: str, memory: Memory) -> bool:
        """Whether that answer's outcome is known; what could not be decided is tried again."""
        key = f"{number} {task_id}"
        return key in memory and not memory[key]["error"]

    def _passed(self, number: int, task_id: str, memory: Memory) -> bool:
        """Whether an answer up to that number passed."""
        keys = (f"{earlier} {task_id}" for earlier in range(number + 1))
        return any(memory[key]["passed"] for key in keys if key in memory)

    def _summary(self, found: list[Verdict]) -> dict[str, object]:
        passes = sum(verdict.passed for verdict in found)
        first = next((verdict for verdict in found if not verdict.passed), None)
        return {
            "passed": passes >= self.config.min_share * len(found),
            "passes": passes,
            "error": any(not verdict.scored for verdict in found),
            "why": "" if first is None else why(first),
        }

    def _decide(self, task: Task, memory: Memory) -> Task | Dropped:
        answers = known_answers(task)
        if task.check.rewards_alone:
            return task
        if not task.check.toolchains:
            return drop(task, "cannot be verified", f"no toolchain plays checks of kind {task.check.kind}")
        if not answers:
            return drop(task, "no reference")
        tried = [memory[key] for n in range(len(answers)) if (key := f"{n} {task.id}") in memory]
        for number, found in enumerate(tried):
            if found["passed"]:
                return task if answers[number] == task.reference else _with(task, answers, number)
        worst = tried[0]
        if worst["error"]:
            return drop(task, "cannot be verified", worst["why"])
        if worst["passes"]:
            return drop(task, "flaky", f"passed {worst['passes']} of {self.config.runs} runs; {worst['why']}")
        return drop(task, "the reference fails", worst["why"])


def _with(task: Task, answers: list[str], number: int) -> Task:
    """The task with another of its known answers as the reference; the others stay known."""
    rest = [answer for place, answer in enumerate(answers) if place > number]
    metadata = {**task.metadata, "references": rest}
    return task.model_copy(update={"reference": answers[number], "metadata": metadata})
