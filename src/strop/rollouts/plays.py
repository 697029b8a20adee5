"""One play of a task while it goes on, and counts and clocks of many."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from strop.core.play import Done, Effect, Opening, StopAction, StopReason
from strop.core.protocols import Environment
from strop.core.rollout import Rollout, Turn
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict

_LEFT_OUT: Mapping[StopAction, Literal["loss", "scores"]] = {"mask": "loss", "drop": "scores"}

Order = Literal["deterministic", "as-ready"]


@dataclass
class Clock:
    """Wall seconds spent where, since the last `take`."""

    sampling: float = 0.0
    verifying: float = 0.0
    """Only the time in which nothing was left to sample: verification beside sampling costs no waiting."""

    def take(self) -> tuple[float, float]:
        """(sampling, verifying) seconds; starts again from zero."""
        spent = self.sampling, self.verifying
        self.sampling = self.verifying = 0.0
        return spent


@dataclass
class Count:
    """Plays so far: started = finished + cancelled + those in flight, at all times."""

    started: int = 0
    finished: int = 0
    cancelled: int = 0


@dataclass(eq=False)
class Play:
    """One rollout while it is being played. It waits for a completion, an effect or its verdict: `pending`."""

    task: Task
    index: int
    seed: int
    environment: Environment
    made: float
    """When, as `time.monotonic` tells it; from then on its environment is set up."""
    setup: Future[None] | None
    """Of an environment that holds something."""
    began: float = 0.0
    """When its turn came."""
    opening: Opening = field(default_factory=Opening)
    given: list[int] = field(default_factory=list)
    """Tokens for the next turn's prompt."""
    turns: list[Turn] = field(default_factory=list)
    pending: Future[Any] = field(default_factory=Future)
    told: int = 0
    """Times that the policy was told why its turn did not count."""
    effect: Effect | None = None
    due: int = 0
    """The tick in which the effect's result is taken."""
    done: Done | None = None

    @property
    def context(self) -> list[int]:
        """Every token so far, with those that await the next completion."""
        ids = [ids for turn in self.turns for ids in (turn.prompt_ids, turn.completion.token_ids)]
        return [*chain.from_iterable(ids), *self.given]


def unjudged(done: Done, action: StopAction) -> Verdict:
    """The verdict of a play that ended without an answer to judge: ours where the reason is ours."""
    ours: tuple[StopReason, ...] = ("infra", "cancelled", "deadline")
    outcome = Outcome.ERROR if done.reason in ours and action == "drop" else Outcome.NO_ANSWER
    return Verdict(
        outcome=outcome,
        detail=f"the play ended: {done.reason}" + (f" ({done.answer})" if done.answer else ""),
    )


def rollout_of(play: Play, stops: Mapping[StopReason, StopAction]) -> Rollout:
    """What came of a play that is over and judged."""
    assert play.done is not None
    reason = play.done.reason
    return Rollout(
        task_id=play.task.id,
        index=play.index,
        seed=play.seed,
        prompt=play.opening.shown(),
        turns=play.turns,
        answer=play.done.answer if reason == "answered" else "",
        verdict=play.pending.result(),
        stop_reason=reason,
        left_out=_LEFT_OUT.get(stops.get(reason, "end"), ""),
    )
