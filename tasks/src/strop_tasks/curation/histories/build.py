"""Builds tasks from whole histories: every commit is tried once, newest first; a journal keeps outcomes, so a kill
loses no work."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from math import ceil
from pathlib import Path
from typing import Any

from strop_tasks.curation.edits.history import read_issues
from strop_tasks.curation.edits.repository import Repository, gather
from strop_tasks.curation.engine.tally import ErrorBudget, LeftOut, Tally
from strop_tasks.curation.histories import HistorySettings
from strop_tasks.curation.histories.commits import HistoryCommit, candidate
from strop_tasks.curation.histories.environment import PackageFolders
from strop_tasks.curation.histories.issue_rows import IssueRows
from strop_tasks.curation.histories.runs import HistoryRuns
from strop_tasks.curation.histories.trial import CommitTrial
from strop_verify.core.bounded_map import ahead
from strop_verify.core.checks import ProjectCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.ids import content_hash
from strop_verify.core.journal import Appender, scan, try_lock
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.verification.settings import Settings

JOURNAL = ".journal.jsonl"


Show = Callable[[str, int, int, int], None]
"""Receives the repository, and the numbers of commits that this run has tried, of commits that it is expected to try
(with a limit, estimated by the share of tasks so far), and of tasks."""


class HistoryBuild:
    """One build in its folder. Raises UserError if another build is running there, or used other settings."""

    def __init__(
        self, sources: Sequence[str], folder: Path, settings: HistorySettings, verifier: Verifier, tally: Tally,
        *, jail: Settings, workers: int, rows: IssueRows | None = None,
    ) -> None:  # fmt: skip
        self._sources, self._folder, self._settings, self._workers = sources, folder, settings, workers
        self._issues = read_issues(settings.issues or [])
        self._tally, self._verifier, self.rows = tally, verifier, rows
        lock = try_lock(folder / ".lock")
        if lock is None:
            raise UserError(f"{folder}: another build is running there")
        self._lock: int = lock
        self.runs, self.folders = HistoryRuns(jail), PackageFolders(folder)
        self._budget = ErrorBudget(what="commits could not be judged", share=0.1)
        self._known = self._read()
        self._journal = Appender(folder / JOURNAL)

    def tasks(self, show: Show) -> Iterator[Task]:
        """The tasks of all repositories, newest commits of each first, without splits."""
        with tempfile.TemporaryDirectory(prefix="strop-histories-") as folder:
            store = Path(folder) / "histories.git"
            if self.rows is not None:
                waiting = self.rows.candidates(store, self._settings)
            else:
                histories = gather(self._sources, store)
                waiting = {
                    one.name: list(self._candidates(Repository(store), one.name, one.ref))
                    for one in histories
                }
            if waiting:
                yield from self._of_all(Repository(store), waiting, show)

    def _of_all(
        self, repository: Repository, waiting: Mapping[str, Sequence[HistoryCommit]], show: Show
    ) -> Iterator[Task]:
        left = {name: sum(one.key not in self._known for one in found) for name, found in waiting.items()}
        self._done = made = seen = 0
        threads = ThreadPoolExecutor(self._workers, thread_name_prefix="strop-history")
        trial = CommitTrial(repository, self.runs, self.folders, self._verifier, self._settings)
        futures = list[Future[dict[str, Any]]]()

        def begun(one: HistoryCommit) -> tuple[HistoryCommit, Future[dict[str, Any]]]:
            futures.append(threads.submit(self._outcome, trial, one))
            return one, futures[-1]

        try:
            for name, found in waiting.items():
                kept = 0
                futures.clear()
                for one, future in ahead(map(begun, found), 2 * self._workers):
                    left[name] -= one.key not in self._known
                    task = self._taken(one, future)
                    seen, made, kept = seen + 1, made + (task is not None), kept + (task is not None)
                    more = self._to_try(left, name, kept, made / seen)
                    show(name, self._done, self._done + more, made)
                    if task is not None:
                        yield task
                    if kept == self._settings.limit:
                        for waiting_for in futures:
                            waiting_for.cancel()
                        break
                left[name] = 0
        except BaseException:  # leaves no trial waiting for a verdict
            self._verifier.close()
            raise
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            self.runs.close()
            threads.shutdown(wait=True)

    def _to_try(self, left: Mapping[str, int], name: str, kept: int, share: float) -> int:
        """Commits still to be tried. `share`: tasks per commit so far."""
        if self._settings.limit is None:
            return sum(left.values())
        tasks = {other: self._settings.limit - kept * (other == name) for other in left}
        return sum(min(many, ceil(tasks[other] / max(share, 0.01))) for other, many in left.items())

    def close(self) -> None:
        """Closes the journal, removes unused snapshots, and releases the folder."""
        self._journal.close()
        tasks = [line["task"] for line in self._known.values() if "task" in line]
        named = {task["check"]["judge"]["project"] for task in tasks}
        for path in self._folder.glob("*.project.tar.gz"):
            if path.name not in named:
                path.unlink(missing_ok=True)
        os.close(self._lock)

    def _candidates(self, repository: Repository, name: str, ref: str) -> Iterator[HistoryCommit]:
        for commit, diff in repository.diffs(repository.commits(self._settings.newest, ref)):
            self._tally.considered += 1
            with self._tally.leaving_out("left_out"):
                yield candidate(name, commit, diff, self._settings, self._issues.get(name, {}))

    def _outcome(self, trial: CommitTrial, one: HistoryCommit) -> dict[str, Any]:
        """A commit's entry in the journal: its task, or why there is none."""
        if (known := self._known.get(one.key)) is not None:
            return known
        try:
            return {"commit": one.key, "task": trial.task(one).model_dump(mode="json")}
        except LeftOut as reason:
            return {"commit": one.key, "left_out": str(reason)}
        except VerificationError as error:
            return {"commit": one.key, "error": str(error)}

    def _taken(self, one: HistoryCommit, future: "Future[dict[str, Any]]") -> Task | None:
        """Records the outcome; returns the task, if any."""
        outcome, error = future.result(), future.result().get("error")
        self._budget.count(error)
        if one.key not in self._known:
            self._done += 1
            if error is None:  # else the next run tries it again
                self._journal.append(outcome)
                self._known[one.key] = outcome
        if "task" in outcome:
            return Task.model_validate(outcome["task"])
        reason = outcome.get("left_out", "could not be judged")
        self._tally.left_out[reason] += 1
        if self.rows is not None:
            self.rows.left_out[one.instance] = reason if error is None else f"{reason}: {error}"
        return None

    def _key(self) -> str:
        """Digest of the settings on which a commit's outcome depends."""
        settings = self._settings
        trial = {name: getattr(settings, name) for name in ("format", "mutants", "seconds", "seed")}
        issues = sorted((name, sorted(texts.items())) for name, texts in self._issues.items())
        return content_hash([trial, settings.max_files, settings.max_lines, issues])

    def _read(self) -> dict[str, dict[str, Any]]:
        """The outcomes of earlier runs."""
        path, key = self._folder / JOURNAL, self._key()
        lines = [value for _, value in scan(path)]
        if not lines:
            with closing(Appender(path)) as journal:
                journal.append({"settings": key})
        elif lines[0].get("settings") != key:
            raise UserError(
                f"{path.parent} was started with other settings; name another folder or remove this one"
            )
        return {line["commit"]: line for line in lines[1:]}


def manifest_of(tasks: Sequence[Task], folder: Path) -> dict[str, Any]:
    """The manifest's entries besides counts: bytes, environments, strength."""
    archives = [folder / task.check.effective().only(ProjectCheck).project for task in tasks]
    strength = [task.metadata["strength"] for task in tasks]
    return {
        "snapshot_bytes": sum(path.stat().st_size for path in archives),
        "packages": sorted(path.stem for path in folder.glob("packages-*.json")),
        "faults": {"noticed": sum(one for one, _ in strength), "tried": sum(many for _, many in strength)},
        "noticed_none": sum(1 for one, many in strength if many and not one),
    }
