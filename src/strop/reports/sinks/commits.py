"""Commits of a run's data while it trains: every N steps and at the end, by a separate thread.

Training never waits for git and never fails because of it. A failure is one line each time its cause changes, and the
next commit catches up. If the run is interrupted, the running command is ended and nothing more is committed.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from strop.config.git import GitError
from strop.reports.sinks.data_repository import DataRepository

_LAST, _INTERRUPTED = 300.0, 10.0
"""Seconds that the end of a run waits for its last commit, and those that an interrupted one does."""


class DataCommits:
    """A context manager around a training. `say` gets lines for the user, from the thread too."""

    def __init__(
        self, folder: Path, *, remote: str, branch: str, every: int, run: str, say: Callable[[str], None]
    ) -> None:
        self._repository = DataRepository(folder, remote=remote, branch=branch, run=run)
        self._remote = remote
        self._every = every
        self._say = say
        self._wanted = ""
        self._closing = False
        self._cause = ""
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="commits", daemon=True)

    def __enter__(self) -> "DataCommits":
        self._want("starts")
        self._thread.start()
        return self

    def step(self, step: int, note: str = "") -> None:
        """A step is over; every N-th is committed. Returns at once."""
        if step % self._every == 0:
            self._want(f"step {step}" + (f", {note}" if note else ""))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            self._end(_INTERRUPTED, stop=True)
            return
        try:
            self._want("stops" if kind else "is over")
            self._end(_LAST, stop=False)
        except BaseException:
            self._end(_INTERRUPTED, stop=True)
            raise

    def _want(self, subject: str) -> None:
        """What is wanted while a commit is made becomes one commit."""
        with self._wake:
            self._wanted = subject
            self._wake.notify()

    def _end(self, seconds: float, *, stop: bool) -> None:
        with self._wake:
            self._closing = True
            if stop:
                self._wanted = ""
            self._wake.notify()
        if stop:
            self._repository.stop()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._cause = f"not done after {seconds:g} s"
            self._repository.stop(kill=True)
            self._thread.join(_INTERRUPTED)
        if self._cause and not stop:
            self._say(
                f"run.commit: {self._cause}; the run's data is not all in {self._remote}, once it can be reached: "
                f"{self._repository.by_hand}"
            )

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._wanted and not self._closing:
                    self._wake.wait()
                subject, self._wanted = self._wanted, ""
            if not subject:
                self._repository.close()
                return
            self._commit(subject)

    def _commit(self, subject: str) -> None:
        try:
            try:
                self._repository.commit(subject)
            except GitError:
                self._repository.commit(subject)  # a file changed while it was read
            self._repository.push()
            if self._cause:
                self._cause = ""
                self._say(f"run.commit: {self._remote} has all of the run's data again")
            self._repository.tidy()
        except Exception as error:
            self._failed(" ".join(str(error).split()) or type(error).__name__)

    def _failed(self, cause: str) -> None:
        if cause != self._cause and not self._closing:
            self._say(f"run.commit: {cause} (training continues; the next commit catches up)")
        self._cause = cause
