"""The part of `ray_plays` that runs on a node: an actor with environments and their folders, tools and agents."""

import asyncio
import os
import pickle
import signal
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from typing import Any

from strop.config.schema import Recipe
from strop.environments.registry import BoundEnvironment, EnvironmentSource, played_by
from strop.rollouts.admission import StartedEffect
from strop.rollouts.services import Lifecycle, PlayServices, Threads, close_play, jails_of
from strop_verify.core.errors import PlayLost, SandboxError, StropError, UserError
from strop_verify.core.play import Converse, Do, Done, Opening, Say, StopReason, Verify
from strop_verify.core.task import Task
from strop_verify.core.user_code import environment_fault, misreturned
from strop_verify.core.verdict import Verdict
from strop_verify.sandbox.programs import Programs
from strop_verify.verification import open_configured
from strop_verify.verification.ray_workers import release, task_of

CLOSE_SECONDS = 60.0
_SENT = [one.name for one in fields(Converse) if one.name not in ("placed", "over")]


@dataclass(eq=False)
class HeldPlay:
    """One play on its actor."""

    task: Task
    environment: Any
    services: PlayServices
    busy: "Future[Any] | None" = None
    """The last call of the environment."""
    asked: Converse | None = None
    turns: int = 0
    effects: Sequence[Verify | StartedEffect] = ()
    results: list[Any] = field(default_factory=list)
    """The effects' results."""

    def decide(self, method: str, *given: Any) -> Any:
        """The environment's reply in a form that can be sent: an error or a decision. `Do` becomes a list with each
        `Verify` and the texts of all other effects, which are started.
        """
        self.turns += method == "step"
        try:
            after = getattr(self.environment, method)(*given)
            wanted = Opening if method == "begin" else Say | Do | Done | Converse
            if not isinstance(after, wanted):
                return self.fault(method, misreturned(self.environment, method, after))
            if isinstance(after, Converse):
                self.asked = after
                return Converse(**{name: getattr(after, name) for name in _SENT})
            if not isinstance(after, Do):
                return after
            self.effects = [
                one if isinstance(one, Verify) else StartedEffect.begun(one, self.services)
                for one in after.effects
            ]
        except StropError as error:
            return error
        except BaseException as error:
            return self.fault(method, error)
        self.results = [None] * len(self.effects)
        return [one if isinstance(one, Verify) else str(one.effect) for one in self.effects]

    def result(self, verdicts: Sequence[Verdict | None]) -> Any:
        """The environment's reply to the results of its effects; those of each `Verify` are passed in."""
        effects = tuple(one if isinstance(one, Verify) else one.effect for one in self.effects)
        results = tuple(
            given if isinstance(effect, Verify) else kept
            for effect, given, kept in zip(effects, verdicts, self.results, strict=True)
        )
        if len(effects) == 1:
            return self.decide("result", effects[0], results[0])
        return self.decide("result", effects, results)

    def fault(self, what: str, cause: BaseException | str) -> UserError:
        """A fault of the environment, worded like `admission.Play.fault`."""
        return environment_fault(self.environment, self.task.id, f"{what}, turn {self.turns}", cause)


class PlayActor:
    """Runs on a node. Its methods return errors instead of raising them, since Ray would wrap them."""

    def __init__(self, folder: str, recipe: bytes) -> None:
        """`folder` is the working directory of the run, `recipe` is pickled."""
        self._folder, self._recipe = folder, recipe
        self._plays: dict[int, HeldPlay] = {}
        self._threads = Threads()
        self._lifecycle = Lifecycle(self._threads, CLOSE_SECONDS)
        self._ready = False

    async def hello(self) -> dict[str, str]:
        """The node's name, its release, and why it cannot play ("" if it can)."""
        # Ray blocks SIGINT in all its processes; every thread and process of a play descends from this thread.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        fault = ""
        try:
            if not self._ready:
                await self._called(self._open)
        except Exception as error:
            fault = str(error)
        return {"node": socket.gethostname(), "fault": fault, **release()}

    def _open(self) -> None:
        """Raises StropError, and any error that a recipe of another release causes."""
        try:
            os.chdir(self._folder)
        except OSError as error:
            raise UserError(
                f"{self._folder}: {error.strerror}; start the run in a folder that nodes share"
            ) from None
        recipe: Recipe = pickle.loads(self._recipe)
        open_one, open_folder, self._surroundings = jails_of(recipe)
        self._programs = Programs(open_one, open_folder)
        self._verifier = open_configured(recipe.sandbox)
        self._ready = True

    async def open(self, key: int, source: bytes, text: str) -> Exception | None:
        """Makes and sets up the environment of a new play."""
        if not self._ready:
            return _gone()
        try:
            task = task_of(text)
            surroundings = partial(self._surroundings, task)
            services = PlayServices(self._verifier, self._threads, self._programs, surroundings)
            play = self._plays[key] = HeldPlay(task, _maker(source)(task), services)
            play.busy = self._lifecycle.set_up(play.environment, services)
            if play.busy is not None:
                await asyncio.wrap_future(play.busy)
        except asyncio.CancelledError:
            return play_closed()
        except Exception as error:
            return _portable(error)
        return None

    async def call(self, key: int, method: str, placed: int | None, *given: Any) -> Any:
        """Calls a method of a `HeldPlay`; `placed`, if given, is first passed to `Converse.placed`."""
        if (play := self._plays.get(key)) is None:
            return _gone()
        if placed is not None and play.asked is not None:
            play.asked.placed(placed)
        do = play.result if method == "result" else partial(play.decide, method)
        play.busy = self._threads.submit(partial(do, *given))
        return await asyncio.wrap_future(play.busy)

    async def effect(self, key: int, number: int) -> Any:
        """Waits for an effect and returns its event, or an error."""
        if (play := self._plays.get(key)) is None:
            return _gone()
        one = play.effects[number]
        assert isinstance(one, StartedEffect)
        try:
            play.results[number] = await asyncio.wrap_future(one.future)
        except asyncio.CancelledError:
            return play_closed()
        except StropError as error:
            return error
        except BaseException as error:
            return play.fault(f"effect {type(one.effect).__name__}", error)
        return one.event(play.results[number])

    async def over(self, key: int, reason: StopReason, why: str) -> None:
        """Calls the pending `Converse.over` of a play, if there is one."""
        if (play := self._plays.get(key)) is not None and play.asked is not None:
            play.asked.over(reason, why)

    async def close(self, key: int) -> Exception | None:
        """Ends a play and everything that it runs."""
        if (play := self._plays.pop(key, None)) is None:
            return None
        for one in play.effects:
            if isinstance(one, StartedEffect):
                one.future.cancel()
        try:
            await self._called(partial(close_play, play.environment, play.services, play.busy))
        except Exception as error:
            return _portable(error)
        return None

    async def end(self) -> None:
        """Ends every jail and process of this actor."""
        if self._ready:
            await self._called(self._programs.close)
            await self._called(self._verifier.close)
        self._threads.close()

    async def _called(self, do: Callable[[], Any]) -> Any:
        return await asyncio.wrap_future(self._threads.submit(do))


@lru_cache(16)
def _maker(source: bytes) -> BoundEnvironment:
    found: EnvironmentSource = pickle.loads(source)
    return played_by(found.recipe, found.style, kind=found.kind)


def play_closed() -> SandboxError:
    """The error for a call that arrives after its play has ended."""
    return SandboxError("the play was closed")


def _gone() -> PlayLost:
    return PlayLost("it was restarted")


def _portable(error: Exception) -> Exception:
    """The error, or one with its text if it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
