"""Plays whose environments, with their folders, tools and agents, run on actors of a Ray cluster, one on each node.

The policy and the dispatcher stay in this process, which also decides the order. An environment's methods and effects
are called on its actor, and its replies come back as from a local one. The effect `Verify` goes to the run's own
verifier; what a tool verifies itself is judged on its node.

A lost actor loses only its own plays. The dispatcher restarts them from the beginning on the remaining actors
(`PlayLost`), with the same seeds. Ray restarts the actor, on another node if its own is gone.

Threat model: that of `strop_verify.verification.ray_workers`.
"""

import os
import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, NoReturn

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from strop.config.schema import Recipe
from strop.environments.registry import EnvironmentSource
from strop.environments.single_turn import SingleTurn
from strop.rollouts.ray_actor import CLOSE_SECONDS, PlayActor, play_closed
from strop.rollouts.services import PlayServices
from strop_verify.core.errors import PlayLost, SandboxError, UserError
from strop_verify.core.play import Converse, Do, Next, Opening, Services, StopReason
from strop_verify.core.protocols import Environment
from strop_verify.core.rollout import Completion, Event
from strop_verify.core.task import Task
from strop_verify.core.threads import begun, fill
from strop_verify.core.verdict import Verdict
from strop_verify.verification.config import RayVerifierConfig
from strop_verify.verification.ray_workers import (
    DEADLINE_SECONDS,
    START_SECONDS,
    KnownActor,
    cause_of,
    greet,
    join_cluster,
    meet,
)
from strop_verify.verification.remote.protocol import PATIENCE_SECONDS, task_json

MOST_CALLS = 8192
"""Maximum concurrent calls of an actor: one for each play and one for each of its effects."""
_POLL_SECONDS = 1.0


class PlayActors:
    """The actors of a run. `moved` makes environments that run on them.

    Raises UserError if there is no cluster, or a node has another release or no jail.
    """

    def __init__(self, recipe: Recipe) -> None:
        if not isinstance(recipe.verifier, RayVerifierConfig):
            raise UserError(
                "launch.environments=ray has no cluster; set verifier.engine=ray, or start the run with strop launch"
            )
        self._owns_ray = join_cluster(recipe.verifier.address)
        self._keys, self._closing, self._lock = count(), threading.Event(), threading.Lock()
        self._plays = Counter[KnownActor]()
        self._cause = "none has started"
        kind, given = ray.remote(PlayActor), (os.getcwd(), pickle.dumps(recipe))
        self._actors = [
            KnownActor(
                kind.options(
                    num_cpus=0,
                    max_restarts=-1,
                    max_concurrency=MOST_CALLS,
                    scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=True),
                ).remote(*given)
            )
            for node in ray.nodes()
            if node["Alive"]
        ]
        try:
            if not meet(self._actors):
                raise UserError(f"no actor for plays started on the Ray cluster within {START_SECONDS:g} s")
        except BaseException:
            self.close()
            raise

    def moved(self, here: Any) -> Callable[[Task], Environment]:
        """Makes the environments of `here` on the actors; one-turn environments stay here, since they do no work."""

        def made(task: Task) -> Environment:
            environment: Environment = here(task)
            if isinstance(environment, SingleTurn):
                return environment
            source: EnvironmentSource | None = here.source_of(task) if hasattr(here, "source_of") else None
            if source is None:
                name = type(environment).__name__
                raise UserError(
                    f"launch.environments=ray: {name} was passed by a program, which other nodes cannot read; name it "
                    f"in the recipe (tasks.environment.type: file.py:{name}), or set launch.environments=local"
                )
            return ActorEnvironment(self, pickle.dumps(source), task)

        return made

    def take(self) -> tuple[KnownActor, int]:
        """The actor with the fewest plays, and a key for a new play. Raises SandboxError if there is no actor."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            with self._lock:
                if up := [actor for actor in self._actors if actor.up]:
                    chosen = min(up, key=lambda actor: self._plays[actor])
                    self._plays[chosen] += 1
                    return chosen, next(self._keys)
            if time.monotonic() > end or self._closing.wait(_POLL_SECONDS):
                raise SandboxError(f"no Ray actor for plays for {PATIENCE_SECONDS:g} s: {self._cause}")

    def give_back(self, actor: KnownActor) -> None:
        """Ends a play's claim on its actor."""
        with self._lock:
            self._plays[actor] -= 1

    def ask(self, actor: KnownActor, method: str, *given: Any, most: float = DEADLINE_SECONDS) -> Any:
        """Calls a method of an actor. Raises an error that it returns, and PlayLost if the actor is lost."""
        asked = getattr(actor.handle, method).remote(*given)
        return self._answer(actor, lambda: ray.get(asked, timeout=most))

    def begin_asking(self, actor: KnownActor, method: str, *given: Any) -> "Future[Any]":
        """Like `ask`, but returns a future at once."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        asked: Future[Any] = getattr(actor.handle, method).remote(*given).future()
        asked.add_done_callback(lambda done: fill(future, lambda: self._answer(actor, done.result)))
        return future

    def close(self) -> None:
        """Ends the actors, and leaves the cluster if it was joined here. Safe to call twice."""
        self._closing.set()
        if ray.is_initialized():
            with suppress(RayError):
                ray.get([one.handle.end.remote() for one in self._actors if one.up], timeout=CLOSE_SECONDS)
            for actor in self._actors:
                ray.kill(actor.handle)
        self._actors = []
        if self._owns_ray:
            self._owns_ray = False
            ray.shutdown()

    def _answer(self, actor: KnownActor, get: Callable[[], Any]) -> Any:
        try:
            found = get()
        except RayTaskError as error:
            raise SandboxError(f"a Ray actor failed: {cause_of(error)}") from error
        except RayError as error:
            self._lose(actor, error)
        if isinstance(found, PlayLost):
            self._lose(actor, found)
        if isinstance(found, Exception):
            raise found
        return found

    def _lose(self, actor: KnownActor, error: Exception) -> NoReturn:
        self._cause = cause_of(error)
        with self._lock:
            was, actor.up = actor.up, False
        if was and not self._closing.is_set():
            begun(partial(self._greet_again, actor), "ray actor")
        raise PlayLost(f"the Ray actor of this play was lost: {self._cause}") from error

    def _greet_again(self, actor: KnownActor) -> None:
        """Waits until Ray has restarted an actor."""
        while not actor.up and not self._closing.is_set():
            try:
                greet(actor, actor.handle.hello.remote())
            except Exception as error:
                self._cause = cause_of(error)
                self._closing.wait(_POLL_SECONDS)


class ActorEnvironment:
    """A play's environment that runs on an actor."""

    def __init__(self, actors: PlayActors, source: bytes, task: Task) -> None:
        self._actors, self._source, self._task = actors, source, task
        self._held: tuple[KnownActor, int] | None = None
        self._placed: int | None = None
        self._lock = threading.Lock()

    def setup(self, services: Services) -> None:
        """Makes and sets up the environment on an actor. Raises its errors, and SandboxError if there is no actor."""
        if isinstance(services, PlayServices):
            services.elsewhere = self.close
        self._held = self._actors.take()
        self._ask("open", self._source, task_json(self._task))

    def begin(self) -> Opening:
        """The first prompt; see `Environment`, also for the other methods."""
        found = self._call("begin")
        assert isinstance(found, Opening)
        return found

    def step(self, completion: Completion) -> Next:
        """Sends a completion to the environment and returns its decision."""
        return self._next(self._call("step", completion))

    def result(self, effect: Any, result: Any) -> Next:
        """Returns the decision on results; only verdicts are sent, since the actor has the other results."""
        results = result if isinstance(effect, tuple) else (result,)
        return self._next(
            self._call("result", [one if isinstance(one, Verdict) else None for one in results])
        )

    def effect(self, number: int) -> "Future[Event]":
        """The event of an effect, once it has ended."""
        if (held := self._held) is None:
            raise play_closed()
        return self._actors.begin_asking(held[0], "effect", held[1], number)

    def close(self) -> None:
        """Ends the play on its actor, also during another call. Safe to call twice."""
        with self._lock:
            held, self._held = self._held, None
        if held is None:
            return
        try:
            with suppress(PlayLost):
                if held[0].up:  # else the play is gone with it
                    self._actors.ask(held[0], "close", held[1], most=CLOSE_SECONDS)
        finally:
            self._actors.give_back(held[0])

    def _next(self, found: Any) -> Next:
        if isinstance(found, list):
            found = Do(
                *(ActorEffect(self, n, one) if isinstance(one, str) else one for n, one in enumerate(found))
            )
        after: Next = found
        return after

    def _call(self, method: str, *given: Any) -> Any:
        placed, self._placed = self._placed, None
        found = self._ask("call", method, placed, *given)
        return replace(found, placed=self._place, over=self._over) if isinstance(found, Converse) else found

    def _ask(self, method: str, *given: Any) -> Any:
        if (held := self._held) is None:
            raise play_closed()
        return self._actors.ask(held[0], method, held[1], *given)

    def _place(self, tokens: int) -> None:
        self._placed = tokens

    def _over(self, reason: StopReason, why: str) -> None:
        if (held := self._held) is not None:
            held[0].handle.over.remote(held[1], reason, why)


@dataclass(frozen=True)
class ActorEffect:
    """An effect that an actor has started; its result in this process is its event."""

    environment: ActorEnvironment
    number: int
    text: str

    def start(self, services: Services) -> "Future[Event]":
        """Waits for the effect's event on the actor."""
        return self.environment.effect(self.number)

    def __str__(self) -> str:
        return self.text
