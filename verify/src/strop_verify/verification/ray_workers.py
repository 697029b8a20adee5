"""`RayVerifier`: the Verifier protocol, served by actors on the nodes of a Ray cluster.

Each actor judges with its own `VerifierPool` in its node's jail, and starts nothing on a node without a jail. Ray
places the actors (SPREAD), reports lost ones and restarts them wherever there is room (max_restarts). The answers of a
lost actor go back to the front of the queue here, for whichever actor is free first: Ray's own retries
(max_task_retries) would wait for that same actor, for which a full cluster has no room. So every answer gets a verdict;
one that has broken `MOST_BREAKS` actors, or has waited `patience` seconds without any, is *error*, never a zero.

Threat model: as `VerifierPool`. Whoever can reach a Ray cluster can run programs on its nodes: keep it in a private
network (docs.ray.io, Security).
"""

import logging
import os
import platform
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from strop_verify import __version__
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.verification import open_verifier
from strop_verify.verification.pool.job_queue import Job, PerTask
from strop_verify.verification.pool.pool import VerifierPool
from strop_verify.verification.pool.queued_verifier import QueuedVerifier
from strop_verify.verification.remote.protocol import PATIENCE_SECONDS, differences, read_address, task_json
from strop_verify.verification.verifier import CLOSED, error_verdict, writable

BATCH_JOBS = 32
"""Maximum answers per call; fewer when few are waiting, so that all actors get some."""
MOST_BREAKS = 4
"""Number of actors that an answer may break before it is *error*."""
START_SECONDS = 120.0
"""Time limit for the first actor to start; actors without room join later."""
DEADLINE_SECONDS = 3600.0
"""Time limit of a call."""
_POLL_SECONDS = 1.0
_OTHERS_SECONDS = 10.0
_REACH_SECONDS = 10.0


class VerificationActor:
    """Runs on a node: a verifier of `cpus` workers, opened on first use."""

    def __init__(self, cpus: int, options: Mapping[str, Any]) -> None:
        self._cpus, self._options = cpus, options
        self._pool: VerifierPool | None = None
        self._lock = threading.Lock()

    def hello(self) -> dict[str, str]:
        """The node's name, its release, which all nodes must share, and why it cannot judge ("" if it can)."""
        try:
            self._open()
            fault = ""
        except StropError as error:
            fault = str(error)
        return {"node": socket.gethostname(), "fault": fault, **release()}

    def judge(self, jobs: list[tuple[str, str]]) -> list[str]:
        """Judges pairs of (task as JSON, answer); returns the verdicts as JSON."""
        pool = self._open()
        futures = [pool.submit(task_of(text), answer) for text, answer in jobs]
        return [writable(future.result())[1] for future in futures]

    def _open(self) -> VerifierPool:
        with self._lock:
            if self._pool is None:
                # Ray blocks SIGINT in all its processes, and an answer's process would inherit that.
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                self._pool = open_verifier(workers=self._cpus, **self._options)
            return self._pool


@lru_cache(512)
def task_of(text: str) -> Task:
    """A task from JSON."""
    return Task.model_validate_json(text)


def release() -> dict[str, str]:
    """Versions that all nodes must share."""
    return {"strop": __version__, "Python": ".".join(platform.python_version_tuple()[:2])}


@dataclass(eq=False)
class KnownActor:
    """An actor and its state."""

    handle: Any
    up: bool = False
    """Whether it has reported that it can judge, and has not been lost since."""


class RayVerifier(QueuedVerifier):
    """`workers` actors of `cpus` cores each on a cluster (see `verifier` in a recipe); `options`: of `open_verifier`.

    `patience`: seconds that answers wait while there is no actor. Raises UserError when there is no cluster, no actor
    starts, or a node has another release or no jail. `stats` adds `workers`, `workers_up` and `lost` (broken calls).
    """

    def __init__(
        self,
        address: str | None = "auto",
        *,
        workers: int | None = None,
        cpus: int = 1,
        patience: float = PATIENCE_SECONDS,
        **options: Any,
    ) -> None:
        self._owns_ray = join_cluster(address)
        self._patience, self._lost = patience, 0
        self._closing = threading.Event()
        self._text = PerTask(task_json)
        self._served = cpus + 1  # calls per actor at a time: one waits, so that no core is idle
        actor = ray.remote(VerificationActor).options(
            num_cpus=cpus, max_restarts=-1, max_concurrency=cpus + 2, scheduling_strategy="SPREAD"
        )
        count = workers or _room(cpus)
        self._actors = [KnownActor(actor.remote(cpus, options)) for _ in range(count)]
        super().__init__(count * self._served)
        try:
            self._wait_for_first(cpus)
        except BaseException:
            self.close()
            raise
        self._last_up = time.monotonic()
        self.start()

    def stats(self) -> dict[str, int]:
        """Counters; see the class."""
        up = sum(actor.up for actor in self._actors)
        return {**super().stats(), "workers": len(self._actors), "workers_up": up, "lost": self._lost}

    def close(self) -> None:
        """Ends the actors, and leaves the cluster if it was joined here. See `OpenVerifier.close`."""
        self._closing.set()
        super().close()
        self._interrupt()
        if self._owns_ray:
            self._owns_ray = False
            ray.shutdown()

    def _interrupt(self) -> None:
        if ray.is_initialized():
            for actor in self._actors:
                ray.kill(actor.handle)

    def _wait_for_first(self, cpus: int) -> None:
        if not meet(self._actors):
            free = int(ray.available_resources().get("CPU", 0))
            raise UserError(
                f"no verification worker started on the Ray cluster within {START_SECONDS:g} s: each needs {cpus} free "
                f"CPUs on one node, and {free} are free in total; free some, or lower verifier.cpus"
            )

    def _serve(self, number: int) -> None:
        actor = self._actors[number // self._served]
        while self._is_up(actor) and (first := self._jobs.next_job()) is not None:
            self._work(first, number)

    def _work(self, first: Job, number: int) -> None:
        share = min(BATCH_JOBS, 1 + self._jobs.stats()["waiting"] // len(self._threads))
        jobs = []
        lines = []
        for job in self._jobs.batch_with(first, share):
            try:
                lines.append((self._text(job.task), job.answer))
                jobs.append(job)
            except (ValueError, TypeError) as error:
                self._jobs.finish(job, error_verdict(f"task {job.task.id} cannot be sent: {error}"))
        actor = self._actors[number // self._served]
        try:
            texts = ray.get(actor.handle.judge.remote(lines), timeout=DEADLINE_SECONDS) if lines else []
            verdicts = [Verdict.model_validate_json(text) for text in texts]
        except Exception as error:
            self._broke(actor, jobs, error)
            return
        self._last_up = time.monotonic()
        for job, verdict in zip(jobs, verdicts, strict=True):
            self._jobs.finish(job, verdict)

    def _broke(self, actor: KnownActor, jobs: list[Job], error: Exception) -> None:
        actor.up = False
        self._lost += 1
        for job in jobs:
            job.breaks += 1
            if self._jobs.closed:
                self._jobs.finish(job, error_verdict(CLOSED), keep=False)
            elif job.breaks >= MOST_BREAKS:
                cause = f"{job.breaks} verification workers broke on it, the last: {cause_of(error)}"
                self._jobs.finish(job, error_verdict(cause), keep=False)
            else:
                self._jobs.requeue_alone(job)

    def _is_up(self, actor: KnownActor) -> bool:
        """Waits until the actor can judge; False when closed."""
        hello, cause = None, "Ray has no room for it"
        while not actor.up and not self._jobs.closed:
            try:
                hello = hello or actor.handle.hello.remote()
                if ray.wait([hello], timeout=_POLL_SECONDS)[0]:
                    done, hello = hello, None
                    greet(actor, done)
                    self._last_up = time.monotonic()
                    break
            except Exception as error:
                cause = cause_of(error)
                self._closing.wait(_POLL_SECONDS)
            self._expire(cause)
        return not self._jobs.closed

    def _expire(self, cause: str) -> None:
        if any(actor.up for actor in self._actors) or time.monotonic() - self._last_up < self._patience:
            return
        for job in self._jobs.take_waiting():
            what = f"no verification worker for {self._patience:g} s: {cause}"
            self._jobs.finish(job, error_verdict(what), active=False)


def join_cluster(address: str | None) -> bool:
    """Joins the cluster and returns True; False if this process already belongs to one. Raises UserError."""
    if ray.is_initialized():
        return False
    where: dict[str, Any] = {}
    if address is None:
        where = {"num_cpus": len(os.sched_getaffinity(0)), "include_dashboard": False}
        address = "local"
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's default is 15
    elif address == "auto":
        address = os.environ.get("RAY_ADDRESS", address)
    address = read_address(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ours = signal.getsignal(signal.SIGTERM)
    try:
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if host:  # Ray itself would retry for minutes
            socket.create_connection((host, int(port)), timeout=_REACH_SECONDS).close()
        ray.init(address, **where, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise UserError(
            f"no Ray cluster at {address}: {cause_of(error).rstrip('.')}; start one with `ray start --head` and set "
            "verifier.address to it, or to null for one on this machine"
        ) from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, ours or signal.SIG_DFL)  # Ray replaces the handler
    return True


def _room(cpus: int) -> int:
    """Number of actors that the cluster has cores for; each of several training processes takes its share."""
    nodes = [node for node in ray.nodes() if node["Alive"]]
    whole = sum(int(node["Resources"].get("CPU", 0) // cpus) for node in nodes)
    return max(1, whole // int(os.environ.get("WORLD_SIZE", "1")))


def meet(actors: Sequence[KnownActor]) -> bool:
    """Waits until an actor has started, and a little longer for the others; False if none starts. Raises UserError."""
    hellos = [actor.handle.hello.remote() for actor in actors]
    if not ray.wait(hellos, timeout=START_SECONDS)[0]:
        return False
    ready, _ = ray.wait(hellos, num_returns=len(hellos), timeout=_OTHERS_SECONDS)
    for actor, hello in zip(actors, hellos, strict=True):
        if hello in ready:
            greet(actor, hello)
    return True


def greet(actor: KnownActor, hello: Any) -> None:
    """Marks an actor as up from its reply to `hello`. Raises UserError if it cannot or must not judge."""
    try:
        said = ray.get(hello, timeout=DEADLINE_SECONDS)
    except RayError as error:
        raise UserError(
            f"a worker did not start: {cause_of(error)}; install strop {__version__} on every node"
        ) from None
    node = f"Ray node {said['node']}"
    if faults := differences(release(), said):
        raise UserError(
            f"{node} has different releases: {'; '.join(faults)}; install the same ones on every node"
        )
    if said["fault"]:
        raise UserError(f"{node} cannot judge: {said['fault']}")
    actor.up = True


def cause_of(error: Exception) -> str:
    """A Ray error in one line: its last line if our code raised it, else its first, which is Ray's own report."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1 if isinstance(error, RayTaskError) or "creation task" in lines[0] else 0][:300]
