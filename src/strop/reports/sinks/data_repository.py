"""A run's data as a branch of a git repository: recipe, versions, metrics, rollouts, evaluations, calls, summary.

The repository is RUN/.data.git, with the run folder as its work tree: no repository around the run folder is read or
written, and the user's settings, hooks and identity have no effect. From there a branch is pushed, never by force.
Checkpoints and models are left out. The index is only a cache, deleted if anything goes wrong with it. A separate
thread (`DataCommits`) commits every N steps and at the end of training. Training never waits for git and never fails
because of it. A failure is reported in one line each time its cause changes, and the next commit catches up. An
interrupted run ends the running command and commits nothing more.
"""

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

from strop.reports.run_folder import DATA
from strop_verify.core.errors import UserError
from strop_verify.core.journal import try_lock
from strop_verify.sandbox.git import Git, GitError

GIT_DIR = ".data.git"
_LOCK, _WAIT = "strop-in-use", 60.0
"""Name of the lock of the process that works in the repository, and seconds to wait for it."""
_TRAILER = "Strop-Run"
_LOCAL, _SLOW = 600, 1800
"""Seconds for a local command, and for one that transfers data."""


def check_remote(remote: str, branch: str) -> None:
    """Raises UserError for settings that can never work; uses no network and writes nothing."""
    git = Git(own=True)
    try:
        git("--version")
    except GitError as error:
        raise UserError(f"run.commit: {error}") from error
    try:
        git("check-ref-format", "--branch", branch)
    except GitError as error:
        raise UserError(f"run.commit.branch={branch!r} is not a valid branch name; choose another") from error
    path = local_path(remote)
    if path is None or not path.exists():
        return
    try:
        if not path.is_dir():
            raise UserError(f"run.commit.remote={remote} is a file; name a folder or a URL")
        if any(path.iterdir()):
            git("ls-remote", str(path), seconds=30)
    except OSError as error:
        raise UserError(f"run.commit.remote={remote} cannot be read: {error.strerror}") from error
    except GitError as error:
        raise UserError(
            f"run.commit.remote={remote} is a folder with files that git does not recognise as a repository ({error}); "
            "name an empty or a new folder"
        ) from error


def local_path(remote: str) -> Path | None:
    """The local folder of a remote, relative to the current directory; None for a URL or HOST:PATH."""
    if remote.startswith("file://"):
        return Path(remote.removeprefix("file://"))
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", remote) or re.match(r"[^/]+:", remote):
        return None
    return Path(remote).expanduser().absolute()


class DataRepository:
    """The repository of one run. Every method may raise GitError; the next call repairs an unfinished one."""

    def __init__(self, folder: Path, *, remote: str, branch: str, run: str) -> None:
        self._folder = folder.absolute()
        self._dir = self._folder / GIT_DIR
        self._runner = Git(own=True, folder=self._folder)
        self._path = local_path(remote)
        self._remote = remote if self._path is None else str(self._path)
        self._branch = branch
        self._ref = f"refs/heads/{branch}"
        self._run = run
        self._ready = self._met = False
        self._pushed = ""

    @property
    def by_hand(self) -> str:
        """The command that pushes the local commits."""
        return f"git --git-dir={self._dir} push {self._remote} {self._branch}"

    def commit(self, subject: str) -> bool:
        """Commits the run folder as it is; False if nothing has changed. Needs no remote."""
        self._prepare()
        try:
            self._add()
            tree = self._git("write-tree", seconds=_LOCAL)
        except GitError:
            self._forget_index()
            raise
        tip = self._tip()
        if tip and self._git("rev-parse", f"{tip}^{{tree}}") == tree:
            return False
        self._commit(tree, subject, tip)
        return True

    def push(self) -> None:
        """Pushes to the remote's branch; the first time it checks that the branch is this run's."""
        tip = self._tip()
        if not tip or tip == self._pushed:
            return
        if not self._met:
            self._meet()
            tip = self._tip()
        try:
            what = (self._remote, f"{self._ref}:{self._ref}")
            self._git("push", "--quiet", "--no-verify", *what, seconds=_SLOW, remote=True)
        except GitError as error:
            if "fetch first" not in str(error) and "non-fast-forward" not in str(error):
                raise
            advice = "another process writes to this branch; choose another run.commit.branch"
            raise GitError(f"{error}; {advice}") from error
        self._pushed = tip

    def tidy(self) -> None:
        """Packs the repository's loose objects."""
        self._git("-c", "gc.auto=1000", "gc", "--auto", "--quiet", seconds=_LOCAL)

    def close(self) -> None:
        """Releases the lock. Safe to call twice."""
        for handle in self._runner.held:
            os.close(handle)
        self._runner.held = ()

    def stop(self, *, kill: bool = False) -> None:
        """Ends the running command, from another thread."""
        self._runner.stop(kill=kill)

    def _git(self, *arguments: str, seconds: float = 60, remote: bool = False) -> str:
        where = (f"--git-dir={self._dir}", f"--work-tree={self._folder}")
        return self._runner(*where, *arguments, seconds=seconds, remote=remote)

    def _maybe(self, *arguments: str) -> str | None:
        """git's output; None if it fails."""
        with contextlib.suppress(GitError):
            return self._git(*arguments)
        return None

    def _add(self) -> None:
        """Adds the data on disk to the index, ignoring any .gitignore in the run folder."""
        known = {line.partition("/")[0] for line in self._git("ls-files", seconds=_LOCAL).splitlines()}
        names = [name for name in DATA if name in known or (self._folder / name).exists()]
        if names:  # without names, git would add all files
            parts = ":(exclude,glob)**/.*.part"
            self._git("add", "--all", "--force", "--", *names, parts, seconds=_LOCAL)

    def _prepare(self) -> None:
        if self._ready:
            return
        self._lock()
        self._runner("init", "--quiet", "--bare", str(self._dir))
        for lock in (*self._dir.glob("*.lock"), *(self._dir / "refs").rglob("*.lock")):
            lock.unlink(missing_ok=True)  # left by a killed process
        if not self._tip():
            (self._dir / self._ref).unlink(missing_ok=True)  # it may exist without naming a commit
        (self._dir / "info").mkdir(exist_ok=True)
        (self._dir / "info" / "attributes").write_text("* -text -filter -ident -working-tree-encoding\n")
        (self._dir / ".gitignore").write_text("*\n")  # for a repository around the run folder
        self._ready = True

    def _lock(self) -> None:
        """Waits for commands that a killed process left running: git commands hold the lock while they live."""
        self._dir.mkdir(exist_ok=True)
        deadline = time.monotonic() + _WAIT
        while (handle := try_lock(self._dir / _LOCK)) is None:
            if time.monotonic() > deadline:
                raise GitError(f"another process works in {self._dir}")
            time.sleep(0.05)
        self._runner.held = (handle,)

    def _meet(self) -> None:
        """Checks the remote's branch for the first time. Creates the remote, if it is a new folder."""
        path, known = self._path, self._maybe("config", "--get", "strop.remote") == self._remote
        if path is not None and not known and not (path.exists() and any(path.iterdir())):
            self._runner("init", "--quiet", "--bare", str(path))
        if found := self._git("ls-remote", self._remote, self._ref, remote=True):
            self._join(found.split()[0])
        self._git("config", "strop.remote", self._remote)
        self._met = True

    def _join(self, theirs: str) -> None:
        """Continues the remote's branch. Raises GitError if it belongs to a run of another name."""
        if self._maybe("merge-base", "--is-ancestor", theirs, self._ref) is not None:
            return
        what = ("--quiet", "--depth=1", "--no-tags", self._remote, self._ref)
        self._git("fetch", *what, seconds=_SLOW, remote=True)
        body = self._git("show", "--no-patch", "--format=%B", theirs)
        if f"{_TRAILER}: {self._run}" not in body.splitlines():
            raise GitError(
                f"branch {self._branch} of {self._remote} does not belong to a run named {self._run}; "
                "choose another run.commit.branch"
            )
        tip = self._tip()
        tree = self._git("rev-parse", f"{tip}^{{tree}}")
        self._commit(tree, "continues an earlier run of this name", tip, theirs)

    def _commit(self, tree: str, subject: str, tip: str, theirs: str = "") -> None:
        """Commits that tree on top of `theirs` and `tip`, if they exist, and moves the branch there."""
        parents = [word for parent in (theirs, tip) if parent for word in ("-p", parent)]
        message = ("-m", f"{self._run}: {subject}", "-m", f"{_TRAILER}: {self._run}")
        new = self._git("commit-tree", tree, *parents, *message)
        self._git("update-ref", self._ref, new, tip or "0" * 40)

    def _tip(self) -> str:
        """The newest commit; empty if there is none yet."""
        return self._maybe("rev-parse", "--quiet", "--verify", f"{self._ref}^{{commit}}") or ""

    def _forget_index(self) -> None:
        """Resets the index after files changed during a commit, or a kill damaged it; the next commit reads
        everything again."""
        for name in ("index", "index.lock"):
            (self._dir / name).unlink(missing_ok=True)


_LAST, _INTERRUPTED = 300.0, 10.0
"""Seconds to wait for the last commit at the end of a run, and of an interrupted run."""


class DataCommits:
    """A context manager around training. `say` gets lines for the user, also from the thread."""

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
        """Called after each step; every N-th is committed. Returns at once."""
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
        """Requests during a commit become one commit."""
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
                f"run.commit: {self._cause}; not all of the run's data is in {self._remote}; once it can be reached: "
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
