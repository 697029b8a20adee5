"""`OpenVerifier`, the base class of verifiers, and helpers for verdicts and their futures."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from typing import Any, Self, get_args

from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Trust, Verdict

CLOSED = "the verifier is closed"
_DETAIL = 500
"""Maximum characters kept of a cause."""


class OpenVerifier(ABC):
    """A verifier that owns processes or connections. Implements `strop_verify.core.protocols.Verifier`."""

    @abstractmethod
    def submit(
        self, task: Task, answer: str, *, client: str = "", timeout: float | None = None
    ) -> "Future[Verdict]":
        """Starts verification. The future never raises: our own failures have outcome *error*.

        `client`: who asks; clients take turns. Blocks while too many answers wait, for at most `timeout` seconds (None:
        no limit), then raises PoolBusy. Must not be called from a future's callback.
        """

    @abstractmethod
    def close(self) -> None:
        """Ends all processes and connections; unfinished answers become *error*. Idempotent; safe from any thread."""

    @abstractmethod
    def stats(self) -> Mapping[str, int]:
        """Counters since the start, and current load; see the class for their names."""

    def verify(self, task: Task, answer: str) -> Verdict:
        """Verifies one answer and waits for it."""
        return self.submit(task, answer).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def error_verdict(cause: str, seconds: float = 0.0) -> Verdict:
    """Outcome *error* with its cause: our failure, never the model's."""
    return Verdict(outcome=Outcome.ERROR, detail=" ".join(cause.split())[:_DETAIL], seconds=seconds)


def verdict_at_once(task: Task, answer: str) -> Verdict | None:
    """The verdict if no toolchain is needed for it, else None."""
    if task.check.rewards_alone:
        return Verdict(outcome=Outcome.UNJUDGED)
    if answer.strip() or task.check.empty_is_answer:
        return None
    return Verdict(outcome=Outcome.NO_ANSWER, detail="the answer is empty")


def held_to(verdict: Verdict, least: Trust) -> Verdict:
    """The verdict, made *failed* if it is a pass with less trust than `least`."""
    levels = get_args(Trust)
    if not verdict.passed or levels.index(verdict.trust or levels[0]) <= levels.index(least):
        return verdict
    why = f"passed with trust {verdict.trust}; {least} is required"
    failed = {"outcome": Outcome.FAILED, "message": why}
    last = [stage.model_copy(update={"passed": False}) for stage in verdict.stages[-1:]]
    changed = {
        "outcome": Outcome.FAILED,
        "stages": [*verdict.stages[:-1], *last],
        "tests": [test.model_copy(update=failed) for test in verdict.tests],
        "detail": why,
        "trust": None,
    }
    return verdict.model_copy(update=changed)


def resolve(future: "Future[Verdict]", verdict: Verdict) -> bool:
    """Gives a future its verdict; False if it already has one or was cancelled."""
    try:
        if future.done():
            return False
        if not future.running():
            future.set_running_or_notify_cancel()
        future.set_result(verdict)
    except InvalidStateError:  # cancelled meanwhile
        return False
    return True


def resolved(verdict: Verdict) -> "Future[Verdict]":
    """A future that holds its verdict already."""
    future: Future[Verdict] = Future()
    future.set_result(verdict)
    return future


def writable(verdict: Verdict) -> tuple[Verdict, str]:
    """The verdict and its JSON text; lone surrogates, which UTF-8 cannot encode, become question marks."""
    try:
        return verdict, verdict.model_dump_json()
    except ValueError:
        text = json.dumps(_clean(verdict.model_dump()))
        return Verdict.model_validate_json(text), text


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", errors="replace").decode()
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value
