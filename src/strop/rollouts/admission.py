"""Plays in progress, and their admission: environments with a set-up are set up ahead of their turn."""

import time
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

from strop.environments.single_turn import SingleTurn
from strop.rollouts.encoding import ExternalHistory
from strop.rollouts.services import Lifecycle, PlayServices
from strop_verify.core.errors import UserError
from strop_verify.core.ids import derive_seed
from strop_verify.core.play import Converse, Do, Done, Effect, Opening, PlayLimits, StopAction, StopReason
from strop_verify.core.protocols import CacheHandle, Environment, Request, Tokenizer
from strop_verify.core.rollout import EVENT_TEXT, Event, Rollout, SamplingParams, Turn, end_to_end
from strop_verify.core.task import Task
from strop_verify.core.user_code import environment_fault
from strop_verify.core.verdict import Outcome, Verdict

WAIT = 0.05
"""Seconds to wait when there is nothing else to do."""
MOST_LOST = 2
"""Maximum number of restarts of a play whose machine was lost."""
_LEFT_OUT: Mapping[StopAction, Literal["loss", "scores"]] = {"mask": "loss", "drop": "scores"}

Order = Literal["deterministic", "as-ready"]


@dataclass
class Clock:
    """Wall seconds by activity since the last `take`."""

    sampling: float = 0.0
    verifying: float = 0.0
    """Only while nothing was left to sample: verification during sampling delays nothing."""
    rewards: float = 0.0
    """Time in reward functions."""
    starting: float = 0.0
    """Setting up environments and their agents while nothing was sampled."""
    tools: float = 0.0
    """Environments, their tools and agents at work while nothing was sampled."""

    @contextmanager
    def spent(self, part: Literal["sampling", "verifying", "rewards", "starting", "tools"]) -> Iterator[None]:
        """Adds the time of the block to this activity."""
        started = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, part, getattr(self, part) + time.perf_counter() - started)

    def take(self) -> "Clock":
        """A copy with the seconds so far; resets them."""
        spent = replace(self)
        vars(self).update(vars(Clock()))
        return spent


@dataclass
class Count:
    """Counts of plays; always started = finished + cancelled + those in flight."""

    started: int = 0
    finished: int = 0
    cancelled: int = 0


@dataclass(eq=False)
class StartedEffect:
    """An effect that has been started; times are those of `time.monotonic`."""

    effect: Effect
    future: Future[Any]
    since: float
    until: float = 0.0
    """When its result arrived."""

    @classmethod
    def begun(cls, effect: Effect, services: PlayServices) -> "StartedEffect":
        """Starts an effect. Raises TypeError if it returns no Future."""
        future: Any = effect.start(services)
        if not isinstance(future, Future):
            name = type(effect).__name__
            raise TypeError(f"{name}.start returned {future!r:.60}, not a Future; return services.call(...)")
        started = cls(effect, future, time.monotonic())
        started.future.add_done_callback(lambda _: setattr(started, "until", time.monotonic()))
        return started

    def event(self, result: Any) -> Event:
        """The record of the effect and its result."""
        return event_of(self.effect, result, max(0.0, self.until - self.since))


def event_of(effect: Effect, result: Any, seconds: float) -> Event:
    """The record of an effect and its result."""
    if isinstance(result, Event):  # of an effect on another machine
        return result
    text = f"{result.outcome.value}: {result.detail}" if isinstance(result, Verdict) else str(result)
    return Event(
        name=type(effect).__name__,
        asked=str(effect)[:EVENT_TEXT],
        result=text[:EVENT_TEXT],
        seconds=seconds,
        bytes=len(text.encode(errors="replace")),
    )


class Decision(NamedTuple):
    """What an environment returned, and the effects that were started for it."""

    after: Any
    effects: Sequence[StartedEffect]

    @classmethod
    def of(cls, after: Any, services: PlayServices) -> "Decision":
        """Starts the effects of `after`."""
        return cls(
            after,
            [StartedEffect.begun(one, services) for one in after.effects] if isinstance(after, Do) else (),
        )


@dataclass(eq=False)
class Play:
    """One rollout while it is being played."""

    task: Task
    index: int
    seed: int
    environment: Environment
    services: PlayServices
    made: float
    """`time.monotonic()` when it was created and its set-up began."""
    setup: Future[None] | None
    """None if its environment has no set-up."""
    began: float = 0.0
    """When it left the queue."""
    opening: Opening = field(default_factory=Opening)
    given: list[int] = field(default_factory=list)
    """New tokens of the next turn's prompt."""
    turns: list[Turn] = field(default_factory=list)
    row: int = 0
    """The row of tokens that `given` continues."""
    conversation: ExternalHistory = field(default_factory=ExternalHistory)
    over: Callable[[StopReason, str], None] | None = None
    """Called if the last request of an external conversation gets no answer."""
    one: CacheHandle | None = None
    """Handle of its cached context until the play is over; None for plays of one turn."""
    awaits: Literal["setup", "completion", "decision", "effects", "verdict"] = "setup"
    pending: Future[Any] = field(default_factory=Future)
    """What it awaits, except effects."""
    method: str = "begin"
    """Last environment method called."""
    asked: float = 0.0
    """When it was called."""
    effects: Sequence[StartedEffect] = ()
    due: int = 0
    """The tick at which the results of `effects` are taken."""
    rounds: int = 0
    """Rounds of effects since the last turn."""
    told: int = 0
    """How often the policy was told that its turn did not count."""
    done: Done | None = None

    @property
    def context(self) -> list[int]:
        """All tokens of the row, including those that await the next completion."""
        return [*end_to_end(turn.tokens for turn in self.turns if turn.row == self.row)[0], *self.given]

    @property
    def ready(self) -> bool:
        """Whether what it awaits is done."""
        if self.awaits == "effects":
            return all(one.future.done() for one in self.effects)
        return self.pending.done()

    def converse(self, asked: Converse, tokenizer: Tokenizer, limits: PlayLimits) -> Done | None:
        """Finds the row of tokens that a prompt continues; returns Done if the play must end instead."""
        self.over, row = asked.over, self.row
        if len(self.turns) >= limits.turns:
            return Done(f"{limits.turns} turns", "max turns")
        try:
            self.row, self.given = self.conversation.place(asked, self.turns, tokenizer)
        except ValueError as error:
            return Done(str(error), "malformed")
        if self.row != row:
            self.one = CacheHandle()
        if not self.turns:
            self.opening = asked
            if (count := len(self.given)) > limits.prompt:
                fault = f"its prompt has {count} tokens, more than tasks.max_prompt_tokens={limits.prompt}"
                return Done(fault, "context")
        asked.placed(len(self.context))
        return None

    def request(self, params: SamplingParams, positions: int) -> Request | None:
        """The policy's next request, with a first answer shortened to fit; None if too few positions are left."""
        room = positions - len(context := self.context)
        most = self.opening.max_tokens or params.max_tokens
        if room < (most if self.turns else 1):
            return None
        changed = {"stop": params.stop or self.opening.stop, "max_tokens": min(most, room)}
        own = params.model_copy(update=changed)
        return Request(context, derive_seed(self.seed, len(self.turns)), own, self.one)

    def end(self, done: Done) -> None:
        """Ends the play, which now awaits its verdict."""
        if self.over is not None:
            self.over(done.reason, done.answer)
        self.done, self.awaits, self.effects, self.one, self.over = done, "verdict", (), None, None

    def fault(self, what: str, cause: BaseException | str) -> UserError:
        """The error to raise for a fault in its environment."""
        where = f"{what}, turn {len(self.turns)}"
        return environment_fault(self.environment, self.task.id, where, cause)

    def rollout(self, stops: Mapping[StopReason, StopAction]) -> Rollout:
        """The rollout, once the play is over and judged."""
        assert self.done is not None
        reason = self.done.reason
        return Rollout(
            task_id=self.task.id,
            index=self.index,
            seed=self.seed,
            prompt=self.opening.shown(),
            turns=self.turns,
            answer=self.done.answer if reason == "answered" else "",
            verdict=self.pending.result(),
            stop_reason=reason,
            left_out=_LEFT_OUT.get(stops.get(reason, "end"), ""),
        )


class Admission:
    """Creates plays from a queue of (task, index, seed), in order or, with `as-ready`, as their set-ups finish.

    Environments with a set-up are set up ahead of their plays' turn.
    """

    def __init__(
        self,
        queue: Iterator[tuple[Task, int, int]],
        environment: Callable[[Task], Environment],
        services: Callable[[Task], PlayServices],
        lifecycle: Lifecycle,
        limits: PlayLimits,
        order: Order,
    ) -> None:
        self._queue, self._environment, self._limits, self._order = queue, environment, limits, order
        self._services, self._lifecycle = services, lifecycle
        self._waiting: deque[Play] = deque()
        self._drawn = False  # whether the queue is used up
        self._lost = Counter[tuple[str, int]]()

    @property
    def ended(self) -> bool:
        """Whether no play is left to start."""
        return self._drawn and not self._waiting

    @property
    def left(self) -> list[Play]:
        """The plays that wait for their turn."""
        return list(self._waiting)

    def again(self, play: Play) -> bool:
        """Puts a lost play at the front of the queue; False if it was lost MOST_LOST times before."""
        self._lost[play.task.id, play.index] += 1
        if self._lost[play.task.id, play.index] > MOST_LOST:
            return False
        self._queue, self._drawn = chain([(play.task, play.index, play.seed)], self._queue), False
        return True

    def next(self, *, idle: bool) -> Play | None:
        """A play whose environment is set up, or should be by now; None if there is none. With `idle`, it may wait a
        little, since there is nothing else to do."""
        self._draw()
        if not self._waiting:
            return None
        setups = [play.setup for play in self._waiting if play.setup is not None]
        if self._order == "deterministic" or not setups:
            return self._waiting.popleft()
        if idle:
            wait(setups, timeout=WAIT, return_when=FIRST_COMPLETED)
        late = time.monotonic() - self._limits.setup
        for play in self._waiting:
            if play.setup is None or play.setup.done() or play.made < late:
                self._waiting.remove(play)
                return play
        return None

    def _draw(self) -> None:
        """Creates the next play and, while environments are being set up, some of those that follow."""
        while not self._drawn and (
            not self._waiting
            or (self._waiting[-1].setup is not None and len(self._waiting) < self._limits.setups)
        ):
            found = next(self._queue, None)
            if found is None:
                self._drawn = True
                return
            task, index, seed = found
            environment, services = self._environment(task), self._services(task)
            setup = self._lifecycle.set_up(environment, services)
            play = Play(task, index, seed, environment, services, time.monotonic(), setup)
            play.one = None if isinstance(environment, SingleTurn) else CacheHandle()
            self._waiting.append(play)


def queued(
    tasks: Iterable[Task], samples: int, seed: int, tag: str | int, done: Container[tuple[str, int]] = ()
) -> Iterator[tuple[Task, int, int]]:
    """(task, index, seed) of every play that is not `done`. Only a sequence may repeat a task."""
    again: Counter[str] = Counter()
    for task in tasks:
        first = again[task.id]
        if isinstance(tasks, Sequence):
            again[task.id] += samples
        for index in range(first, first + samples):
            if (task.id, index) not in done:
                yield task, index, derive_seed(seed, tag, task.id, index)


def unanswered(task: Task, done: Done, action: StopAction) -> Verdict:
    """The verdict on a play that ended without an answer: *error* if the cause is ours and `action` is "drop"."""
    ours: tuple[StopReason, ...] = ("infra", "cancelled", "deadline")
    none = Outcome.UNJUDGED if task.check.rewards_alone else Outcome.NO_ANSWER
    outcome = Outcome.ERROR if done.reason in ours and action == "drop" else none
    return Verdict(
        outcome=outcome,
        detail=f"the play ended: {done.reason}" + (f" ({done.answer})" if done.answer else ""),
    )
