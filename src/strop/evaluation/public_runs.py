"""Runs answers without hidden tests: the shown tests that each passes, and its results on public inputs.

Public inputs are those of the shown calls, and others made from them (`tasks.inputs`). The answer runs in the jail,
and only a digest of each result leaves it; equal results have equal digests.
"""

import re
import time
from collections.abc import Container, Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import islice

from pydantic import Field

from strop.rewards.rubric import WeightedRubric
from strop.tasks.inputs import more_inputs
from strop.tasks.public_tests import public_task
from strop_verify.code.python.source import below
from strop_verify.core.bounded_map import ahead
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, NoneCheck
from strop_verify.core.ids import content_hash
from strop_verify.core.protocols import JudgedRollout, Verifier
from strop_verify.core.records import Record
from strop_verify.core.rollout import Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

_ENTRY = "strop_behaves"
_RETURNED = re.compile(r"returned '([0-9a-f]{24})'")
_PROMPTED = ("broken", "message", "stub", "examples", "choices", "prefix", "suffix")
"""Metadata shown in prompts; the rest may hold tests and solutions."""
_AHEAD = 64
"""Maximum answers waiting for the verifier."""
_CODE = """import ast
import hashlib
import sys
import types


def _plain(value):
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.9g}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_plain, value)) + "]"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(_plain, value))) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(_plain(k) + ": " + _plain(v) for k, v in value.items())) + "}."
    return repr(value)


_answer = types.ModuleType("solution")
sys.modules["solution"] = _answer
exec(compile(CODE, "<answer>", "exec"), _answer.__dict__)
_found = _answer.__dict__.get(NAME)
if _found is None:
    _found = getattr(_answer.Solution(), NAME)


def strop_behaves(given):
    args, kwargs = ast.literal_eval(given)
    text = _plain(_found(*args, **kwargs))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
"""


class PublicRun(Record):
    """Results of one answer to one task, without hidden tests."""

    key: str
    """Identifies task, answer and number of inputs; see `key_of`."""
    shown: list[bool]
    """Which of the shown tests it passed; empty if the task shows none."""
    results: list[str | None]
    """Digest of its result on each public input; None if it returned nothing. Empty without such inputs."""
    shown_cpu: float
    """CPU seconds of the jailed runs."""
    results_cpu: float
    rewards: dict[str, float] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """Values by reward name; a reward without a value is left out."""
    rewards_cpu: dict[str, float] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """CPU seconds of this process for each reward."""


def key_of(task: Task, answer: str, inputs: int) -> str:
    """The key of a `PublicRun`, a hash of these values."""
    return content_hash([task.id, answer, inputs])


def shown_part(task: Task) -> Task | None:
    """The task with only its shown tests and without its reference; None if it shows no test."""
    marked = any(test.shown for test in task.check.effective().single_tests())
    if not marked and "public_tests" not in task.metadata:
        return None
    return public_task(task).model_copy(update={"reference": ""})


def public_parts(task: Task, inputs: int) -> tuple[Task | None, Task | None]:
    """The task that judges answers by the shown tests, and the one that runs them on public inputs; None if there is no
    such task.
    """
    public = shown_part(task)
    return public, public and _behaviour(public, inputs)


def public_runs(
    verifier: Verifier, answers: Iterable[tuple[Task, str]], *, inputs: int, known: Container[str] = ()
) -> Iterator[PublicRun | None]:
    """Runs every distinct answer whose key is not `known`; None for an answer that the grader failed to judge."""
    seen: set[str] = set()
    parts: dict[str, tuple[Task | None, Task | None]] = {}

    def started() -> Iterator[tuple[str, "Future[Verdict] | None", "Future[Verdict] | None", int, int]]:
        for task, answer in answers:
            key = key_of(task, answer, inputs)
            if key in seen or key in known:
                continue
            seen.add(key)
            if task.id not in parts:
                parts[task.id] = public_parts(task, inputs)
            public, behaviour = parts[task.id]
            wrapped = _wrapped(public, answer) if public and answer.strip() else ""
            yield (
                key,
                verifier.submit(public, answer) if public else None,
                verifier.submit(behaviour, wrapped) if behaviour else None,
                len(public.check.effective().single_tests()) if public else 0,
                behaviour.test_count if behaviour else 0,
            )

    for key, shown, results, tests, asked in ahead(started(), _AHEAD):
        first, second = (future.result() if future else None for future in (shown, results))
        if any(verdict is not None and not verdict.scored for verdict in (first, second)):
            yield None
            continue
        yield PublicRun(
            key=key,
            shown=_passed(first, tests) if first else [],
            results=_results(second, asked) if second else [],
            shown_cpu=first.cpu_seconds if first else 0.0,
            results_cpu=second.cpu_seconds if second else 0.0,
        )


def with_rewards(name: str, found: Sequence[tuple[Task, Rollout, PublicRun]]) -> list[PublicRun]:
    """The runs with a reward's values, from one call for all. The reward gets the task with only its shown tests, the
    rollout without a verdict, and the verdict *unjudged*. Raises UserError for an unusable reward.
    """
    rubric = WeightedRubric.from_names([(name, 1.0)])
    parts = {task.id: _shown_alone(task) for task, _, _ in found}
    unjudged = Verdict(outcome=Outcome.UNJUDGED)
    began = time.process_time()
    scores = rubric.score_all(
        [JudgedRollout(parts[task.id], _unjudged(one), unjudged) for task, one, _ in found]
    )
    each = (time.process_time() - began) / max(1, len(found))
    return [
        run.model_copy(
            update={
                "rewards": run.rewards | ({} if score.value is None else {name: score.value}),
                "rewards_cpu": run.rewards_cpu | {name: each},
            }
        )
        for (_, _, run), (score,) in zip(found, scores, strict=True)
    ]


def _shown_alone(task: Task) -> Task:
    part = shown_part(task) or task.model_copy(update={"check": NoneCheck(), "reference": ""})
    kept = {key: value for key, value in task.metadata.items() if key in _PROMPTED}
    return part.model_copy(update={"metadata": kept})


def _unjudged(rollout: Rollout) -> Rollout:
    turns = [Turn(prompt_ids=turn.prompt_ids, completion=turn.completion) for turn in rollout.turns]
    kept = rollout.model_dump(include={"task_id", "index", "seed", "prompt", "answer"})
    return Rollout(**kept, turns=turns)


def _behaviour(public: Task, inputs: int) -> Task | None:
    """The task that runs a function on the inputs; None for answers other than Python functions, or without calls."""
    check = public.check
    if public.language != "python" or not isinstance(check, CasesCheck | AssertsCheck):
        return None
    given = list(islice(more_inputs(public), inputs))
    cases = [Case(args=[repr((args, kwargs))], expected=None) for args, kwargs in given]
    return Task(statement="behaves", check=CasesCheck(entry_point=_ENTRY, cases=cases)) if cases else None


def _wrapped(public: Task, answer: str) -> str:
    check = public.check
    preamble = check.preamble if isinstance(check, CasesCheck | AssertsCheck) else ""
    return f"NAME = {check.function!r}\nCODE = {below(preamble, answer)!r}\n{_CODE}"


def _passed(verdict: Verdict, count: int) -> list[bool]:
    """The result of each test; for tests that are judged as one, all or none."""
    if len(verdict.tests) == count and not verdict.passed:
        return [test.outcome is Outcome.PASSED for test in verdict.tests]
    return [verdict.passed] * count


def _results(verdict: Verdict, count: int) -> list[str | None]:
    found = [_RETURNED.fullmatch(test.message) for test in verdict.tests]
    return [match[1] if match else None for match in found] or [None] * count
