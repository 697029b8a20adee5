"""Strop's verdicts as a reward function for an existing TRL script.

    from strop.rollouts.trl_reward import verdict_reward

    trainer = GRPOTrainer(..., reward_funcs=verdict_reward(), train_dataset=dataset)

The data set has the column `prompt`, as always with TRL, and `task`: a task line as text (docs/formats.md), for example
`{"prompt": ..., "task": task.model_dump_json()}`. Instead of `task` it may have the columns `check` (JSON text or a
mapping) and optionally `id`, `language`, `reference` and `signature`. JSON text is exact. A mapping has passed through
Arrow, which gives every row the keys of all rows, with null for missing ones. Nulls that cannot be meant are dropped; a
null in a case's own mappings is ambiguous and refused. An answer that the grader failed to verify gets None, which TRL
reads as "not scored".
"""

import atexit
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from strop.rewards.rubric import WeightedRubric, score_name
from strop.tasks.answers import answer_in
from strop.tasks.arrow import without_arrow_nulls
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import JudgedRollout, Verifier
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier

RewardFunction = Callable[..., list[float | None]]
_NEEDS_TOKENS = ("finished",)


def verdict_reward(
    reward: str = "passed", *, verifier: Verifier | None = None, continues_prompt: bool = False
) -> RewardFunction:
    """A TRL reward function, `(prompts, completions, **columns) -> list[float | None]`.

    reward            a built-in reward (passed, tests, build, ...) or "file.py:function"; also the function's name
    verifier          by default one is opened at the first call and closed when the process ends
    continues_prompt  True if a completion continues the code that its text prompt began (base models); else it holds
                      the whole code, bare or in a fenced block

    Raises UserError for an unknown reward; the returned function raises it for a batch without usable tasks.
    """
    if reward in _NEEDS_TOKENS:
        raise UserError(f"reward {reward!r} needs to know how sampling ended, which TRL does not pass")
    rubric = WeightedRubric.from_names([(reward, 1.0)])
    opened = OpenedVerifier(verifier)

    def score(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        tasks = _tasks(columns, len(completions))
        codes = [
            _said(prompt) + _said(completion) if continues_prompt else answer_in(_said(completion), task)
            for task, prompt, completion in zip(tasks, prompts, completions, strict=True)
        ]
        judge = opened.get()
        futures = [judge.submit(task, code) for task, code in zip(tasks, codes, strict=True)]
        verdicts = [future.result() for future in futures]
        judged = [judged_rollout(*row) for row in zip(tasks, prompts, codes, verdicts, strict=True)]
        return [scores[0].value for scores in rubric.score_all(judged)]

    score.__name__ = score.__qualname__ = score_name(reward)
    return score


class OpenedVerifier:
    """A verifier that is opened on first use, unless one is given."""

    def __init__(self, given: Verifier | None, limits: Limits | None = None) -> None:
        self._verifier, self._limits = given, limits
        self._lock = threading.Lock()

    def get(self) -> Verifier:
        """The verifier; if opened here, it is closed when the process ends."""
        with self._lock:
            if self._verifier is None:
                self._verifier = open_verifier(limits=self._limits)
                atexit.register(self._verifier.close)
            return self._verifier


def _tasks(columns: Mapping[str, Any], count: int) -> list[Task]:
    if "task" in columns:
        texts = [t if isinstance(t, str) else json.dumps(_filled(t)) for t in columns["task"]]
    elif "check" in columns:
        names = [name for name in ("id", "language", "reference", "signature") if name in columns]
        texts = [
            json.dumps(
                {"check": _plain(check), **{name: columns[name][row] for name in names if columns[name][row]}}
            )
            for row, check in enumerate(columns["check"])
        ]
    else:
        raise UserError("the data set has neither a column 'task' nor 'check' to verify against")
    if len(texts) != count:
        raise UserError(f"{len(texts)} tasks for {count} completions")
    return [task_of_line(text) for text in texts]


@lru_cache(maxsize=4096)
def task_of_line(text: str) -> Task:
    """The task in a column's text. Raises UserError for an invalid task, or one without tests."""
    try:
        task = Task.model_validate({"statement": "", **json.loads(text)})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"column 'task': not a task line: {where}: {first['msg']} in {text!r:.80}") from error
    except (ValueError, TypeError) as error:
        raise UserError(f"column 'task': not a task line ({error}): {text[:80]!r}") from error
    if task.untested:
        raise UserError(f"column 'task': task {task.id} has no tests")
    return task


def _plain(check: Any) -> Any:
    """A check as a mapping, without the nulls that Arrow added."""
    if isinstance(check, str):
        return json.loads(check)
    return without_arrow_nulls(check) if isinstance(check, Mapping) else check


def _filled(task: Any) -> Any:
    """A task line without the nulls that Arrow added."""
    if not isinstance(task, Mapping):
        return task
    kept = {key: value for key, value in task.items() if value is not None}
    return {**kept, "check": _plain(kept["check"])} if "check" in kept else kept


def _said(message: Any) -> str:
    """The text of a plain string, or of the last message of a conversation."""
    if isinstance(message, str):
        return message
    return str(message[-1].get("content") or "") if message else ""


def judged_rollout(task: Task, prompt: Any, code: str, verdict: Verdict) -> JudgedRollout:
    """The input of a reward, without tokens."""
    rollout = Rollout(
        task_id=task.id, index=0, seed=0, prompt=_said(prompt), turns=[], answer=code, verdict=verdict
    )
    return JudgedRollout(task, rollout, verdict)
