"""Plays tasks of any number of turns side by side, each at its own pace.

One thread drives everything in ticks: plays begin where there is room, results of effects reach their environments,
and the policy moves every completion on by one step. Environments are set up, effects carried out and answers judged
elsewhere meanwhile. Each play that began ends exactly once: finished, or cancelled when the caller stops.

In the order `deterministic` an effect's result is taken `patience` ticks after it was asked for, whenever it came:
which completions are decoded side by side then depends on no clock, and on a CPU the same seeds give the same bits
whatever tools take. In the order `as-ready` it is taken as soon as it is there.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial

from strop.core.errors import SandboxError, StropError, UserError, VerificationError
from strop.core.ids import derive_seed
from strop.core.play import Do, Done, Next, PlayLimits, Say, Verify
from strop.core.protocols import Environment, Policy, Request, Verifier
from strop.core.rollout import Completion, Message, Rollout, SamplingParams, Turn
from strop.core.task import Task
from strop.rollouts.effects import Effects, OpenBox
from strop.rollouts.encoding import check_prompts, first_prompt, turn_ids
from strop.rollouts.holding import Holders
from strop.rollouts.plays import Clock, Count, Order, Play, rollout_of, unjudged
from strop.rollouts.starting import Starts
from strop.sandbox import open_box

_WAIT = 0.05
"""Seconds that a tick without anything to decode waits."""


class Dispatcher:
    """Plays tasks in environments. Rollouts come back in the order in which they are done."""

    def __init__(
        self,
        policy: Policy,
        verifier: Verifier,
        environment: Callable[[Task], Environment],
        *,
        limits: PlayLimits | None = None,
        order: Order = "deterministic",
        open_one: OpenBox = open_box,
    ) -> None:
        """`open_one` opens the jails in which programs of the effect `Run` run."""
        self.policy = policy
        self.verifier = verifier
        self.clock = Clock()
        self.count = Count()
        self._environment = environment
        self.limits = limits or PlayLimits()
        self.order = order
        self.open_one = open_one

    def like(
        self, policy: Policy, environment: Callable[[Task], Environment], limits: PlayLimits | None = None
    ) -> "Dispatcher":
        """Another with the same verifier and settings, but for what is given."""
        return Dispatcher(
            policy,
            self.verifier,
            environment,
            limits=limits or self.limits,
            order=self.order,
            open_one=self.open_one,
        )

    def check_prompts(self, tasks: Sequence[Task]) -> None:
        """Raises UserError for the first task whose prompt is longer than the limit, before anything is sampled."""
        check_prompts(tasks, self._environment, self.policy.tokenizer, self.limits.prompt)

    def play(
        self, tasks: Iterable[Task], samples: int, params: SamplingParams, *, seed: int, tag: str | int = ""
    ) -> Iterator[Rollout]:
        """Plays every task `samples` times; indices 0 to samples - 1.

        A rollout's randomness comes from (seed, tag, task id, index) alone. Without `params.stop`, the stop strings of
        each play's own opening apply.
        """
        queue = (
            (task, index, derive_seed(seed, tag, task.id, index))
            for task in tasks
            for index in range(samples)
        )
        run = _Plays(self, queue, params)
        try:
            yield from run.all()
        finally:
            run.cancel()


class _Plays:
    """The plays of one call."""

    def __init__(
        self, owner: Dispatcher, queue: Iterator[tuple[Task, int, int]], params: SamplingParams
    ) -> None:
        self._owner, self._params = owner, params
        self._limits, self._policy = owner.limits, owner.policy
        self._effects = Effects(owner.verifier, owner.open_one)
        self._holders = Holders(self._limits.close)
        self._starts = Starts(queue, owner._environment, self._holders, self._limits, owner.order)
        self._tick = 0
        self._playing: list[Play] = []
        self._grading: deque[Play] = deque()

    def all(self) -> Iterator[Rollout]:
        while not self._starts.ended or self._playing or self._grading:
            self._admit()
            self._sample()
            self._take_results()
            yield from self._graded()
            if not self._playing and self._starts.ended:
                yield from self._wait_for_verdict()

    def _admit(self) -> None:
        """Begins plays while there is room."""
        while len(self._playing) < self._limits.plays and len(self._grading) < self._limits.grading:
            play = self._starts.next(idle=not self._playing)
            if play is None:
                break
            self._owner.count.started += 1
            self._playing.append(play)
            self._begin(play)

    def _begin(self, play: Play) -> None:
        """The first prompt, once the environment is set up."""
        play.began = started = time.monotonic()
        try:
            if play.setup is not None:
                play.setup.result(max(0.0, play.made + self._limits.setup - started))
        except TimeoutError:
            self._end(play, Done(f"no set-up in {self._limits.setup:g} s", "infra"))
        except Exception as error:
            self._end(play, Done(f"the set-up failed: {type(error).__name__}: {error}", "infra"))
        else:
            play.opening = play.environment.begin()
            play.given = first_prompt(play.task, play.opening, self._policy.tokenizer, self._limits.prompt)
            self._ask(play)
        self._waited(play, time.monotonic() - started)

    def _ask(self, play: Play) -> None:
        """The policy's next turn, if there is room for one."""
        context = play.context
        params = self._params.model_copy(
            update={
                "stop": self._params.stop or play.opening.stop,
                "max_tokens": play.opening.max_tokens or self._params.max_tokens,
            }
        )
        if len(context) + params.max_tokens > self._limits.context:
            self._end(play, Done("", "context"))
            return
        request = Request(context, derive_seed(play.seed, len(play.turns)), params)
        play.effect, play.pending = None, self._policy.submit(request)

    def _sample(self) -> None:
        """One step of the policy, and what its completions lead to."""
        started = time.perf_counter()
        sampling = [play for play in self._playing if play.effect is None]
        if sampling:
            self._policy.work(_WAIT)
            self._owner.clock.sampling += time.perf_counter() - started
        self._tick += 1
        for play in sampling:
            if play.pending.done():
                self._take_completion(play)

    def _take_completion(self, play: Play) -> None:
        """Hands a completion to its environment. Raises UserError where the engine can't go on."""
        try:
            completion: Completion = play.pending.result()
        except UserError:
            raise
        except StropError as error:
            self._end(play, Done(str(error), "infra"))
            return
        play.turns.append(Turn(prompt_ids=play.given, completion=completion))
        play.given = []
        self._follow(play, partial(play.environment.step, completion))

    def _take_results(self) -> None:
        """Hands results of effects to their environments."""
        waiting = [play for play in self._playing if play.effect is not None]
        if not waiting:
            return
        idle = len(waiting) == len(self._playing)
        if self._owner.order == "deterministic":
            if idle:  # nothing to decode until the next is due
                self._tick = max(self._tick, min(play.due for play in waiting))
            ready = [play for play in waiting if play.due <= self._tick]
        else:
            if idle:
                wait([play.pending for play in waiting], timeout=_WAIT, return_when=FIRST_COMPLETED)
            ready = [play for play in waiting if play.pending.done() or self._left(play) == 0]
        for play in ready:
            self._take_result(play)

    def _take_result(self, play: Play) -> None:
        effect, started = play.effect, time.monotonic()
        assert effect is not None
        try:
            result = play.pending.result(self._left(play))
        except TimeoutError:
            play.pending.cancel()
            self._end(play, Done("", "deadline"))
        except (VerificationError, SandboxError) as error:
            self._end(play, Done(str(error), "infra"))
        else:
            if isinstance(effect, Verify):
                judged = {"verdict": result, "answer": effect.answer}
                play.turns[-1] = play.turns[-1].model_copy(update=judged)
            self._follow(play, partial(play.environment.result, effect, result))
        self._waited(play, time.monotonic() - started)

    def _waited(self, play: Play, seconds: float) -> None:
        """Waiting for one play takes no time from the others."""
        for other in self._playing:
            if other is not play:
                other.began += seconds

    def _left(self, play: Play) -> float | None:
        """Seconds that a play has left."""
        most = self._limits.seconds
        return None if most is None else max(0.0, play.began + most - time.monotonic())

    def _follow(self, play: Play, decide: Callable[[], Next]) -> None:
        try:
            after = decide()
        except (VerificationError, SandboxError) as error:
            after = Done(str(error), "infra")
        if self._left(play) == 0:
            after = Done("", "deadline")
        match after:
            case Say(messages):
                self._say(play, messages)
            case Do(effect):
                play.effect, play.due = effect, self._tick + self._limits.patience
                play.pending = self._effects.submit(effect)
            case Done(why, reason):
                told = self._limits.stops.get(reason) == "feedback" and play.told < self._limits.feedback
                if told:
                    play.told += 1
                    self._say(
                        play, (Message(role="user", content=why or f"This turn does not count: {reason}."),)
                    )
                else:
                    self._end(play, after)

    def _say(self, play: Play, messages: Sequence[Message]) -> None:
        play.given = turn_ids(play.opening, play.turns[-1].completion, messages, self._policy.tokenizer)
        self._ask(play)

    def _end(self, play: Play, done: Done) -> None:
        """The play is over; its answer goes to the grader."""
        play.done, play.effect = done, None
        self._playing.remove(play)
        self._grading.append(play)
        self._holders.close(play.environment, play.setup)
        if done.reason == "answered":
            play.pending = self._owner.verifier.submit(play.task, done.answer)
        else:
            play.pending = Future()
            play.pending.set_result(unjudged(done, self._limits.stops[done.reason]))

    def _graded(self) -> Iterator[Rollout]:
        """Rollouts whose verdict is there, in the order in which their plays ended."""
        while self._grading and self._grading[0].pending.done():
            play = self._grading.popleft()
            self._owner.count.finished += 1
            yield rollout_of(play, self._limits.stops)

    def _wait_for_verdict(self) -> Iterator[Rollout]:
        if self._grading:
            started = time.perf_counter()
            wait([self._grading[0].pending])
            self._owner.clock.verifying += time.perf_counter() - started
            yield from self._graded()

    def cancel(self) -> None:
        """Gives up what is still being played, and closes everything."""
        left = [*self._playing, *self._grading]
        for play in left:
            play.pending.cancel()
        try:
            if left:
                self._policy.work(0)
        finally:
            self._owner.count.cancelled += len(left)
            for play in [*self._starts.left, *self._playing]:
                self._holders.close(play.environment, play.setup)
            self._playing.clear()
            self._grading.clear()
            self._effects.close()
            self._holders.finish()
