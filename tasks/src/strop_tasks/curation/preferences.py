"""Preferences from runs: answers to a task, some of which passed their tests and some failed.

Tasks keep their run's split, so a reward model never learns from what its policy is evaluated on;
one that any run held out is held out, and a training task that is a near-duplicate of a held-out one is left out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from strop.tasks.preferences import ComparedAnswer, ComparedAnswers, reward_prompt
from strop.tasks.splits import alike_statements, assign_splits
from strop_tasks.curation.similar.form import form
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Split, Task
from strop_verify.core.verdict import Outcome, Verdict


@dataclass
class PreferenceCounts:
    """Counts of what was read and used."""

    answers: int = 0
    """Judged answers that were read."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Answers, by reason."""
    tasks_left_out: Counter[str] = field(default_factory=Counter)


def build_preferences(
    tasks: Mapping[str, Task],
    kept: Iterable[tuple[str, Rollout]],
    *,
    held_out: float | None = None,
) -> tuple[list[ComparedAnswers], PreferenceCounts]:
    """The tasks with their distinct answers, including tasks without pairs. Raises UserError if nothing was judged.

    tasks     by id, each with its split
    kept      (where it was sampled, the rollout)
    held_out  share of the tasks to hold out, in place of their own split; near-duplicates stay together
    """
    answers: dict[str, dict[str, ComparedAnswer]] = {}
    counts = PreferenceCounts()
    verdicts: dict[tuple[str, str], set[bool]] = {}
    for policy, rollout in kept:
        verdict, task = rollout.verdict, tasks.get(rollout.task_id)
        if verdict is None or not verdict.judged:
            counts.left_out["not judged"] += 1
        elif task is None:
            counts.left_out["of a task that the run's recipe no longer gives"] += 1
        else:
            counts.answers += 1
            answer = _answer(task, rollout, verdict, policy)
            verdicts.setdefault((task.id, answer.text), set()).add(answer.passed)
            found, key = answers.setdefault(task.id, {}), _key(answer, task)
            if (before := found.get(key)) is None:
                found[key] = answer
                continue
            counts.left_out["equal to another but for names and layout"] += 1
            found[key] = before.model_copy(update={"count": before.count + 1})
    for (task_id, text), said in verdicts.items():
        for key in [key for key, one in answers[task_id].items() if len(said) > 1 and one.text == text]:
            counts.left_out["equal to one with the other verdict"] += answers[task_id].pop(key).count
    if not any(answers.values()):
        raise UserError("the runs keep no judged answer; name runs of strop train or strop eval")
    return _split(tasks, answers, held_out, counts), counts


def _split(
    tasks: Mapping[str, Task],
    answers: dict[str, dict[str, ComparedAnswer]],
    held_out: float | None,
    counts: PreferenceCounts,
) -> list[ComparedAnswers]:
    asked = [tasks[task_id] for task_id in sorted(answers) if answers[task_id]]
    if held_out is not None:
        asked = assign_splits([task.model_copy(update={"split": None}) for task in asked], held_out)
    train = [task for task in asked if task.split != "held-out"]
    held = [task for task in asked if task.split == "held-out"]
    if close := alike_statements(train, held):
        counts.tasks_left_out["near-duplicates of held-out tasks"] = len(close)
    sides: dict[Split, list[Task]] = {
        "train": [task for at, task in enumerate(train) if at not in close],
        "held-out": held,
    }
    return [
        ComparedAnswers(
            task_id=task.id, task_name=task.name, language=task.language, split=side, prompt=reward_prompt(task),
            answers=list(answers[task.id].values()),
        )
        for side, some in sides.items() for task in some
    ]  # fmt: skip


def _key(answer: ComparedAnswer, task: Task) -> str:
    """Equal for answers with the same verdict that differ only in names, layout, comments and imports."""
    code = task.check.answer not in ("label", "places", "edit")
    found = form(answer.text, task.language) if code else None
    return f"{answer.passed} {found.exact}" if found and found.size else answer.text


def _answer(task: Task, rollout: Rollout, verdict: Verdict, policy: str) -> ComparedAnswer:
    logprobs = [value for turn in rollout.turns for value in turn.completion.logprobs]
    build = verdict.stage("build")
    return ComparedAnswer(
        text=rollout.answer.strip("\n"), passed=verdict.passed, tokens=len(logprobs),
        logprob=sum(logprobs) if any(logprobs) else None,
        compiles=verdict.passed or bool(build and build.passed),
        shown=_shown(task, verdict), seconds=verdict.cpu_seconds, policy=policy,
    )  # fmt: skip


def _shown(task: Task, verdict: Verdict) -> float | None:
    """Share of the shown tests that passed; None if the verdict covers only some of the tests."""
    tests = task.check.effective().single_tests()
    shown = [number for number, test in enumerate(tests) if test.shown]
    if not shown:
        return None
    if verdict.passed:
        return 1.0
    if len(verdict.tests) != len(tests):
        return None if verdict.tests else 0.0
    return sum(verdict.tests[number].outcome is Outcome.PASSED for number in shown) / len(shown)
