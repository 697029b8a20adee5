"""Plays tasks concurrently, each at its own pace and for any number of turns.

One thread drives everything in ticks: it starts plays while there is room, carries out the environments' decisions, and
advances every completion by one step of the policy. Environments, their effects and the grader work in other threads
and processes. Each play that started ends exactly once: finished, or cancelled when the caller stops.

The order `deterministic` waits for each decision of an environment and takes an effect's result exactly `patience`
ticks after the request. Which completions are decoded together is then independent of timing, and on a CPU the same
seeds give the same bits however long tools take. In the order `as-ready`, decoding never waits for tools.
"""

import copy
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import Any

from strop.environments.surroundings import Surroundings, surroundings_of
from strop.rollouts.admission import WAIT, Admission, Clock, Count, Decision, Order, Play, queued, unanswered
from strop.rollouts.encoding import check_prompts, first_prompt, turn_ids
from strop.rollouts.services import Lifecycle, PlayServices, Threads
from strop_verify.core.errors import PlayLost, SandboxError, StropError, UserError, VerificationError
from strop_verify.core.play import Converse, Do, Done, Opening, PlayLimits, Say, Verify
from strop_verify.core.progress import PROGRESS
from strop_verify.core.protocols import Environment, Policy, Verifier
from strop_verify.core.rollout import Completion, Message, Rollout, SamplingParams, Turn
from strop_verify.core.task import Task
from strop_verify.core.user_code import misreturned
from strop_verify.sandbox import Folder, open_box
from strop_verify.sandbox.programs import MOST_FOLDERS, OpenBox, OpenFolder, Programs

_GRACE = 0.002
"""Seconds that decoding waits for decisions of environments in the order `as-ready`; most take less."""
MOST_ROUNDS = 100
"""Maximum number of requests for effects that an environment may make between two turns."""


class Dispatcher:
    """Plays tasks in environments; yields rollouts in the order in which their plays end."""

    def __init__(
        self,
        policy: Policy,
        verifier: Verifier,
        environment: Callable[[Task], Environment],
        *,
        limits: PlayLimits | None = None,
        order: Order = "deterministic",
        open_one: OpenBox = open_box,
        open_folder: OpenFolder = Folder,
        surroundings: Callable[[Task], Surroundings] = surroundings_of,
    ) -> None:
        """`open_one` opens jails for `Run`, `open_folder` those of a play, whose programs see `surroundings`."""
        self.policy, self.verifier, self.environment = policy, verifier, environment
        self.clock, self.count = Clock(), Count()
        self.moved: Callable[[Any], Callable[[Task], Environment]] = lambda here: here
        """Makes environments of the same kind elsewhere (`ray_plays`)."""
        self.limits = limits or PlayLimits()
        self.order = order
        self.open_one, self.open_folder, self.surroundings = open_one, open_folder, surroundings

    def copy_with(
        self, policy: Policy, environment: Callable[[Task], Environment], limits: PlayLimits | None = None
    ) -> "Dispatcher":
        """A copy with another policy, environment and, if given, limits."""
        made = copy.copy(self)
        made.policy, made.environment, made.limits = policy, environment, limits or self.limits
        made.clock, made.count = Clock(), Count()
        return made

    def control(self) -> "Dispatcher | None":
        """A dispatcher for the environment's control (`BoundEnvironment.control`); None if it has none."""
        found = getattr(self.environment, "control", None)
        return self.copy_with(self.policy, found) if found else None

    def check_prompts(self, tasks: Sequence[Task]) -> None:
        """Raises UserError for the first task whose prompt is longer than the limit, before anything is sampled."""
        check_prompts(tasks, self.environment, self.policy.tokenizer, self.limits.prompt)

    def play(
        self,
        tasks: Iterable[Task],
        samples: int,
        params: SamplingParams,
        *,
        seed: int,
        tag: str | int = "",
        done: Container[tuple[str, int]] = (),
    ) -> Iterator[Rollout]:
        """Plays every task `samples` times, with indices from 0 (continued if a task is repeated), except those in
        `done`, a container of (task id, index).

        A rollout's randomness comes from (seed, tag, task id, index) alone. Without `params.stop`, the stop strings of
        each play's own opening apply.
        """
        run = _Plays(self, queued(tasks, samples, seed, tag, done), params)
        try:
            yield from run.all()
        finally:
            run.cancel()


class _Plays:
    """The plays of one call of `Dispatcher.play`."""

    def __init__(
        self, owner: Dispatcher, queue: Iterator[tuple[Task, int, int]], params: SamplingParams
    ) -> None:
        self._owner, self._params = owner, params
        self._limits, self._policy = owner.limits, owner.policy
        self._context = min(
            self._limits.context, getattr(owner.policy, "context", None) or PlayLimits.context
        )
        self._threads, self._programs = Threads(), Programs(owner.open_one, owner.open_folder)
        self._lifecycle = Lifecycle(self._threads, self._limits.close)
        more = (self._services, self._lifecycle, self._limits, owner.order)
        self._admission = Admission(queue, owner.moved(owner.environment), *more)
        self._tick, self._playing, self._most = 0, list[Play](), self._limits.plays
        self._grading: deque[Play] = deque()

    def _services(self, task: Task) -> PlayServices:
        found = partial(self._owner.surroundings, task)
        return PlayServices(self._owner.verifier, self._threads, self._programs, found)

    def all(self) -> Iterator[Rollout]:
        """Yields the rollouts. If the engine or user code fails, yields those answered so far before raising."""
        try:
            yield from self._rounds()
        except UserError:
            self._take_decisions()
            while self._grading:
                yield from self._wait_for_verdict()
            raise

    def _rounds(self) -> Iterator[Rollout]:
        while not self._admission.ended or self._playing or self._grading:
            with self._owner.clock.spent("starting"):
                self._admit()
            with self._owner.clock.spent("tools"):
                self._take_decisions()
            self._sample()
            with self._owner.clock.spent("tools"):
                self._take_results()
            yield from self._graded()
            if not self._playing and self._admission.ended:
                yield from self._wait_for_verdict()

    def _waiting(self, what: str) -> list[Play]:
        return [play for play in self._playing if play.awaits == what]

    def _admit(self) -> None:
        """Starts plays while there is room."""
        while len(self._playing) < self._most and len(self._grading) < self._limits.grading:
            if (play := self._admission.next(idle=not self._playing)) is None:
                break
            self._owner.count.started += 1
            self._playing.append(play)
            self._begin(play)

    def _begin(self, play: Play) -> None:
        """Waits until the environment is set up, then asks it for the opening."""
        play.began = started = time.monotonic()
        try:
            if play.setup is not None:
                with PROGRESS.at("setting an environment up", most=self._limits.setup):
                    play.setup.result(max(0.0, play.made + self._limits.setup - started))
        except TimeoutError:
            self._end(play, Done(f"no set-up in {self._limits.setup:g} s", "infra"))
        except UserError:
            raise
        except PlayLost as error:
            self._failed(play, error)
        except Exception as error:
            self._end(play, Done(f"the set-up failed: {type(error).__name__}: {error}", "infra"))
        else:
            # A set-up that opened a folder: those of the other plays will, too, and ahead of their turn.
            if play.setup is not None and play.services.used:
                self._most = min(self._most, max(1, MOST_FOLDERS - self._limits.setups))
            self._decide(play, "begin")
        self._waited(play, time.monotonic() - started)

    def _decide(self, play: Play, method: str, *given: Any) -> None:
        """Calls the environment, in a thread, and starts the effects that it asks for."""
        play.awaits, play.method, play.effects, play.asked = "decision", method, (), time.monotonic()
        play.pending = self._threads.submit(
            lambda: Decision.of(getattr(play.environment, method)(*given), play.services)
        )

    def _sample(self) -> None:
        """Runs one step of the policy, then hands finished completions to their environments."""
        if sampling := self._waiting("completion"):
            with self._owner.clock.spent("sampling"):
                self._policy.work(WAIT)
        self._tick += 1
        done = [play for play in sampling if play.pending.done()]
        for play in sorted(done, key=lambda play: play.pending.exception() is not None):
            self._take_completion(play)

    def _take_completion(self, play: Play) -> None:
        """Hands a completion to its environment. Raises UserError if the engine cannot continue."""
        try:
            completion: Completion = play.pending.result()
        except UserError:
            raise
        except StropError as error:
            self._end(play, Done(str(error), "infra"))
            return
        PROGRESS.beat()
        play.turns.append(Turn(prompt_ids=play.given, completion=completion, row=play.row))
        play.given, play.rounds, play.over = [], 0, None
        self._decide(play, "step", completion)

    def _take_results(self) -> None:
        """Hands results of effects to their environments, then carries out decisions."""
        waiting = [play for play in self._playing if play.awaits != "completion"]
        idle = len(waiting) == len(self._playing)
        acting = self._waiting("effects")
        if self._owner.order == "deterministic":
            if idle and len(acting) == len(waiting) and acting:  # nothing to decode until the next is due
                self._tick = max(self._tick, min(play.due for play in acting))
            ready = [play for play in acting if play.due <= self._tick]
        else:
            if idle and waiting:
                futures = [f for p in waiting for f in ([e.future for e in p.effects] or [p.pending])]
                wait(futures, timeout=WAIT, return_when=FIRST_COMPLETED)
            ready = [play for play in acting if play.ready or self._left(play) == 0]
        for play in ready:
            self._take_result(play)
        self._take_decisions()

    def _take_result(self, play: Play) -> None:
        asked, started = play.effects, time.monotonic()
        what = f"effect {type(asked[0].effect).__name__}"
        if (results := self._results(play, [one.future for one in asked], what)) is not None:
            turn: dict[str, Any] = {"events": [*play.turns[-1].events]}
            for one, result in zip(asked, results, strict=True):
                turn["events"].append(one.event(result))
                if isinstance(one.effect, Verify):
                    turn |= {"verdict": result, "answer": one.effect.answer}
            play.turns[-1] = play.turns[-1].model_copy(update=turn)
            effects = tuple(one.effect for one in asked)
            self._decide(
                play, "result", *((effects, tuple(results)) if len(asked) > 1 else (effects[0], results[0]))
            )
        self._waited(play, time.monotonic() - started)

    def _take_decisions(self) -> None:
        """Carries out the environments' decisions: all of them with `deterministic`, else those that are available."""
        deciding = self._waiting("decision")
        if self._owner.order == "as-ready" and deciding:
            late = time.monotonic() - _GRACE
            wait([play.pending for play in deciding if play.asked > late], timeout=_GRACE)
            deciding = [play for play in deciding if play.ready or self._left(play) == 0]
        for play in deciding:
            started = time.monotonic()
            if (found := self._results(play, [play.pending], play.method)) is not None:
                self._follow(play, found[0])
            self._waited(play, time.monotonic() - started)

    def _results(self, play: Play, futures: Sequence[Future[Any]], what: str) -> list[Any] | None:
        """Waits for the results within the play's time limit; None if that ended the play. Raises UserError."""
        wait(futures, timeout=self._left(play))
        if not all(future.done() for future in futures):
            for future in futures:
                future.cancel()
            self._end(play, Done("", "deadline"))
            return None
        PROGRESS.beat()
        for future in futures:
            match future.exception():
                case None:
                    continue
                case VerificationError() | SandboxError() as error:
                    self._failed(play, error)
                    return None
                case UserError() as error:
                    raise error
                case error:
                    raise play.fault(what, error) from error
        return [future.result() for future in futures]

    def _waited(self, play: Play, seconds: float) -> None:
        """Extends the deadlines of all other plays by the time spent waiting for one."""
        for other in self._playing if self._limits.seconds else ():
            if other is not play:
                other.began += seconds

    def _left(self, play: Play) -> float | None:
        """Seconds that a play has left, None without a limit."""
        most = self._limits.seconds
        return None if most is None else max(0.0, play.began + most - time.monotonic())

    def _follow(self, play: Play, decision: Decision) -> None:
        play.effects = decision.effects
        match decision.after:
            case _ if self._left(play) == 0:
                self._end(play, Done("", "deadline"))
            case Converse() as asked if play.method == "begin" or play.turns:
                if over := play.converse(asked, self._policy.tokenizer, self._limits):
                    self._end(play, over)
                else:
                    self._ask(play)
            case Opening() as opening if play.method == "begin":
                play.opening = opening
                play.given = first_prompt(play.task, opening, self._policy.tokenizer, self._limits.prompt)
                self._ask(play)
            case Say(messages, prefill) if play.turns:
                self._say(play, messages, prefill)
            case Do() if play.turns and play.rounds < MOST_ROUNDS:
                play.rounds += 1
                play.awaits, play.due = "effects", self._tick + self._limits.patience
            case Do() if play.turns:
                self._end(play, Done(f"{MOST_ROUNDS} rounds of effects without a turn", "max turns"))
            case Done(why, reason) as done if play.turns:
                told = self._limits.stops.get(reason) == "feedback" and play.told < self._limits.feedback
                if told:
                    play.told += 1
                    text = why or f"This turn does not count: {reason}."
                    self._say(play, (Message(role="user", content=text),))
                else:
                    self._end(play, done)
            case other:
                raise play.fault(play.method, misreturned(play.environment, play.method, other))

    def _say(self, play: Play, messages: Sequence[Message], prefill: str = "") -> None:
        if len(play.turns) >= self._limits.turns:
            self._end(play, Done(f"{self._limits.turns} turns", "max turns"))
            return
        last, tokenizer = play.turns[-1].completion, self._policy.tokenizer
        play.given = turn_ids(play.opening, last, messages, tokenizer, prefill)
        self._ask(play)

    def _ask(self, play: Play) -> None:
        """Asks for the policy's next turn if its context has room for it."""
        if (request := play.request(self._params, self._context)) is None:
            self._end(play, Done("", "context"))
        else:
            play.awaits, play.pending = "completion", self._policy.submit(request)

    def _failed(self, play: Play, error: StropError) -> None:
        """Ends a play because of a failure of ours; if its machine was lost, restarts it from the beginning."""
        if isinstance(error, PlayLost) and self._admission.again(play):
            self._playing.remove(play)
            self._close(play)
            self._owner.count.cancelled += 1
        else:
            self._end(play, Done(str(error), "infra"))

    def _end(self, play: Play, done: Done) -> None:
        """Ends a play and submits its answer to the grader."""
        self._playing.remove(play)
        self._grading.append(play)
        self._close(play)
        play.end(done)
        if done.reason == "answered":
            play.pending = self._owner.verifier.submit(play.task, done.answer)
        else:
            play.pending = Future()
            play.pending.set_result(unanswered(play.task, done, self._limits.stops[done.reason]))

    def _close(self, play: Play) -> None:
        deciding = play.pending if play.awaits == "decision" else None
        for one in play.effects:
            one.future.cancel()
        held = play.setup is not None
        self._lifecycle.close(play.environment, play.services, deciding or play.setup, held=held)

    def _graded(self) -> Iterator[Rollout]:
        """Yields rollouts that have a verdict, in the order in which their plays ended."""
        while self._grading and self._grading[0].pending.done():
            play = self._grading.popleft()
            self._owner.count.finished += 1
            yield play.rollout(self._limits.stops)

    def _wait_for_verdict(self) -> Iterator[Rollout]:
        if self._grading:
            with self._owner.clock.spent("verifying"):
                wait([self._grading[0].pending])
            yield from self._graded()

    def cancel(self) -> None:
        """Cancels unfinished plays and closes everything."""
        for play in (left := [*self._playing, *self._grading]):
            play.pending.cancel()
        try:
            if left:
                self._policy.work(0)
        finally:
            self._owner.count.cancelled += len(left)
            for play in [*self._admission.left, *self._playing]:
                self._close(play)
            self._playing.clear()
            self._grading.clear()
            self._programs.close()
            self._threads.close()
            with PROGRESS.at("closing environments", most=self._limits.close):
                self._lifecycle.finish()
