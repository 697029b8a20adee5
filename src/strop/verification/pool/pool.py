"""`VerifierPool`: many answers judged by a few threads, each with its own toolchains. Verdicts come as they finish.

- The queue is bounded: `submit` blocks while it is full. Clients take turns; a client's own jobs go oldest first.
- A worker takes as many waiting jobs of one toolchain as its `batch` allows, and never waits for more.
- A job whose worker broke is retried alone in a fresh one. If that breaks too, a known good answer to the same task is
  judged in another: if it gets a verdict the answer is *failed*, else the verdict is *error* with the cause. So no
  answer can turn its own failure into *error*, which leaves the loss. No job ends a thread.
- Where the toolchain says its limit (`wall_seconds`), both happen at once: first the known good answer, which proves
  that ours works, then the retry, which is ended one second past the limit, counted from the start of the first run,
  and has at least `LEAST`. So an answer over which ours breaks has its verdict in the limit and one second; at the very
  end the known good one's own time may come to it. Time in the queue does not count.
- An answer judged before gets the same verdict (`verification.pool.cache`); one that is being judged is not judged
  twice. After a time-out or an *error* there is a new run.

Threat model: nothing of an answer runs here; the texts of a Verdict are hostile but plain.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from strop.core.errors import StropError, TaskFault, VerificationError, WorkerDied
from strop.core.protocols import Toolchain
from strop.core.task import Task
from strop.core.verdict import Outcome, Trust, Verdict
from strop.verification.pool.cache import PerTask, answer_digest, task_digest
from strop.verification.pool.ledger import Job, Ledger, PoolBusy
from strop.verification.verifier import CLOSED, OpenVerifier, error_verdict, held_to, resolved

__all__ = ["PoolBusy", "VerifierPool"]

CAPACITY = 4096
"""Answers that may wait; `submit` blocks when there are more, so that memory stays bounded."""
CACHE_BYTES = 64 * 2**20
"""Kept verdicts, in bytes."""
TRIES = 2
"""Attempts at a job before its verdict is *error*."""
_HARMLESS = {
    "python": "pass\n",
    "rust": "fn harmless() {}\n",
    "c": "int main(void) { return 0; }\n",
    "javascript": ";\n",
}
"""Answers that do nothing, for tasks without a reference."""
PAST = 1.0
"""Seconds past the limit in which a retry may end."""
LEAST = 0.5
"""Seconds that a retry has at the least: an honest answer is quick."""
_DETAIL = 500
"""Most characters of a blamed answer's detail."""
_CLOSE_SECONDS = 60.0
"""How long `close` waits for its threads; each ends soon after its processes."""


class VerifierPool(OpenVerifier):
    """`workers` threads that judge answers with the toolchains that `route` names and `build` makes.

    `capacity`: answers that may wait. `cache_bytes`: 0 turns the cache off; runs are shared all the same. `trust`:
    the least of a pass (`held_to`). The names of `stats`: submitted, finished, errors, cache_hits, cache_misses
    (answers that needed a run), joined, retries (runs that broke), waiting, running, cache_entries, cache_bytes,
    workers.
    """

    def __init__(
        self,
        *,
        workers: int,
        route: Callable[[Task], str],
        build: Callable[[str], Toolchain],
        capacity: int = CAPACITY,
        cache_bytes: int = CACHE_BYTES,
        trust: Trust = "same-process",
    ) -> None:
        if workers < 1 or capacity < 1:
            raise ValueError(f"workers and capacity must be at least 1, not {workers} and {capacity}")
        self._route, self._build, self._trust = route, build, trust
        self._ledger = Ledger(capacity, cache_bytes)
        self._task_digest = PerTask(task_digest)
        self._toolchains: list[dict[str, Toolchain]] = [{} for _ in range(workers)]
        self._threads = [
            threading.Thread(target=self._serve, args=(own,), name=f"strop-verify-{number}", daemon=True)
            for number, own in enumerate(self._toolchains)
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self, task: Task, answer: str, *, client: str = "", timeout: float | None = None
    ) -> "Future[Verdict]":
        """Starts verification. See `OpenVerifier.submit`; a closed pool answers *error*."""
        if not answer.strip():
            return resolved(Verdict(outcome=Outcome.NO_ANSWER, detail="the answer is empty"))
        try:
            toolchain = self._route(task)
        except VerificationError as error:
            return resolved(error_verdict(str(error)))
        job = Job(task, answer, toolchain, client, self._digest(task, answer))
        kept = self._ledger.offer(job, timeout)
        if kept is None and not self._ledger.closed:
            return job.future
        return resolved(kept or error_verdict(CLOSED))

    @property
    def capacity(self) -> int:
        """Answers that may wait."""
        return self._ledger.capacity

    @property
    def room(self) -> int:
        """Answers that can be submitted now without blocking."""
        return self._ledger.room()

    def stats(self) -> dict[str, int]:
        """Counters; see the class."""
        return {**self._ledger.stats(), "workers": len(self._threads)}

    def close(self) -> None:
        """Ends every process; unfinished answers get outcome *error*. Safe to call twice and from any thread."""
        for job in self._ledger.close():
            self._ledger.finish(job, error_verdict(CLOSED), active=False)
        deadline = time.monotonic() + _CLOSE_SECONDS
        others = [thread for thread in self._threads if thread is not threading.current_thread()]
        while any(thread.is_alive() for thread in others) and time.monotonic() < deadline:
            for own in self._toolchains:  # again and again: a worker may be starting a process right now
                _close_all(list(own.values()))
            for thread in others:
                thread.join(0.05)

    def _digest(self, task: Task, answer: str) -> tuple[bytes, bytes] | None:
        try:
            return self._task_digest(task), answer_digest(answer)
        except (ValueError, TypeError):  # metadata that is not JSON
            return None

    def _serve(self, own: dict[str, Toolchain]) -> None:
        try:
            while (first := self._ledger.first()) is not None:
                self._work(first, own)
        finally:
            _close_all(own.values())

    def _work(self, first: Job, own: dict[str, Toolchain]) -> None:
        began = time.monotonic()
        try:
            toolchain = self._toolchain(first.toolchain, own)
        except Exception as error:
            self._ledger.finish(first, error_verdict(_cause(error)), active=False)
            return
        jobs = self._ledger.gather(first, toolchain.batch)
        while jobs:
            try:
                if self._ledger.closed:
                    raise WorkerDied(CLOSED)
                verdicts = toolchain.judge([(job.task, job.answer) for job in jobs])
                if len(verdicts) != len(jobs):
                    raise WorkerDied(f"{len(jobs)} answers gave {len(verdicts)} verdicts")
            except Exception as error:
                jobs = self._failed(error, jobs, toolchain, began)
            else:
                for job, verdict in zip(jobs, verdicts, strict=True):
                    self._settle(job, verdict, toolchain)
                return

    def _settle(self, job: Job, verdict: Verdict, toolchain: Toolchain) -> None:
        try:
            if verdict.scored:
                if verdict.passed and verdict.trust is None:
                    verdict = verdict.model_copy(update={"trust": job.task.check.judged().trust})
                self._ledger.finish(job, held_to(verdict, self._trust))
            else:
                self._broke(job, verdict, toolchain)
        except Exception as error:  # no verdict at all, or one that cannot be written down
            self._ledger.finish(job, error_verdict(_cause(error)))

    def _toolchain(self, name: str, own: dict[str, Toolchain]) -> Toolchain:
        if name not in own:
            toolchain = self._build(name)
            version = getattr(toolchain, "version", "")
            self._ledger.versions[name] = version if isinstance(version, str) else ""
            own[name] = toolchain
        return own[name]

    def _failed(self, error: Exception, jobs: list[Job], toolchain: Toolchain, began: float) -> list[Job]:
        """Settles a run that gave no verdicts; returns the jobs that go on at once."""
        seconds = time.monotonic() - began
        if isinstance(error, VerificationError) and not isinstance(error, WorkerDied):
            verdict = error_verdict(str(error), seconds)
            if isinstance(error, TaskFault):
                self._ledger.finish(jobs[0], verdict)
            else:
                self._broke(jobs[0], verdict, toolchain)
            return jobs[1:]
        _close_all([toolchain])
        limit = getattr(toolchain, "wall_seconds", None)
        if limit is not None and len(jobs) == 1 and not jobs[0].tries and not self._ledger.closed:
            proven = blamed(jobs[0].task, jobs[0].answer, error_verdict(_cause(error), seconds), toolchain)
            if proven.scored:
                self._ledger.broken()
                self._hurried(jobs[0], proven, toolchain, began + limit + PAST)
                return []
        for job in jobs:
            if not self._ledger.again(job, TRIES):
                cause = CLOSED if self._ledger.closed else _cause(error)
                self._broke(job, error_verdict(cause, seconds), toolchain)
        return []

    def _hurried(self, job: Job, otherwise: Verdict, toolchain: Toolchain, until: float) -> None:
        """The retry of a job whose task is known to work: settled with its verdict, or with `otherwise`."""
        lock, over = threading.Lock(), False

        def end() -> None:
            with lock:
                if not over:
                    _close_all([toolchain])

        alarm = threading.Timer(max(LEAST, until - time.monotonic()), end)
        alarm.daemon = True
        alarm.start()
        try:
            (verdict,) = toolchain.judge([(job.task, job.answer)])
        except Exception:
            verdict = otherwise
            self._ledger.broken()
            _close_all([toolchain])
        finally:
            alarm.cancel()
            with lock:
                over = True
        if verdict.scored and verdict is not otherwise:
            self._settle(job, verdict, toolchain)
        else:
            self._ledger.finish(job, otherwise, keep=False)

    def _broke(self, job: Job, verdict: Verdict, toolchain: Toolchain) -> None:
        """Settles a job with *error*, or with *failed* where a known good answer to its task gets a verdict."""
        if not self._ledger.closed:
            verdict = blamed(job.task, job.answer, verdict, toolchain)
        self._ledger.finish(job, verdict, keep=False)


def _cause(error: Exception) -> str:
    known = isinstance(error, StropError | OSError) and str(error)
    return str(error) if known else f"{type(error).__name__}: {error}"


def _close_all(toolchains: Iterable[Toolchain]) -> None:
    for toolchain in toolchains:
        with contextlib.suppress(Exception):
            toolchain.close()


def blamed(task: Task, answer: str, verdict: Verdict, toolchain: Toolchain) -> Verdict:
    """The verdict of an answer over which ours broke: *failed* if a known good answer gets a verdict, else *error*."""
    known = task.reference if task.reference.strip() else _HARMLESS.get(task.language, "")
    if not known or known == answer:
        return verdict
    try:
        (proof,) = toolchain.judge([(task, known)])
    except Exception:  # ours is broken without this answer too
        return verdict
    if not proof.scored:
        return verdict
    detail = f"the grader broke on this answer, and not on a known good one: {verdict.detail}"
    return verdict.model_copy(update={"outcome": Outcome.FAILED, "detail": detail[:_DETAIL]})
