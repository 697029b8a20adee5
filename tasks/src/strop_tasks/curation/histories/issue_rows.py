"""Rows of SWE-bench and similar sets as commits in a new repository: each, with its tests and patch, becomes a child of
its base commit and is tried like any commit. Its issue is the message; its FAIL_TO_PASS tests run first.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from strop_tasks.curation.edits.file_pairs import clone_of
from strop_tasks.curation.edits.repository import Repository, gather
from strop_tasks.curation.engine.tally import LeftOut, Tally
from strop_tasks.curation.histories import HistorySettings
from strop_tasks.curation.histories.commits import HistoryCommit, candidate
from strop_verify.core.checks import WorkspaceCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.sandbox.git import Git, GitError


class IssueRows:
    """The rows of a source with an issue, a repository and a patch, and the folder of clones."""

    def __init__(self, tasks: Iterable[Task], clones: Path, tally: Tally) -> None:
        self._tally = tally
        self.left_out: dict[str, str] = {}  # instance to why it makes no task
        self._rows: dict[str, list[Task]] = defaultdict(list)
        self._clones: dict[str, Path] = {}
        if not clones.is_dir():
            raise UserError(f"--repositories {clones}: no such folder")
        for task in tasks:
            self._tally.considered += 1
            self._sort(task, clones)

    def _sort(self, task: Task, clones: Path) -> None:
        check = task.check.maybe(WorkspaceCheck)
        if check is None or not check.repository or not task.reference.strip() or not task.statement.strip():
            return self.leave_out(task.id, "no issue of a repository with a patch")
        if check.repository not in self._clones:
            clone = clone_of(clones, check.repository)
            if clone is None:
                return self.leave_out(task.id, f"no clone of {check.repository}")
            self._clones[check.repository] = clone.folder
        self._rows[check.repository].append(task)

    def leave_out(self, instance: str, why: str) -> None:
        """Counts a row that makes no task."""
        self.left_out[instance] = why
        self._tally.left_out[why] += 1

    def candidates(self, store: Path, settings: HistorySettings) -> dict[str, list[HistoryCommit]]:
        """The rows by repository, as commits in a new bare repository."""
        names = list(self._clones)
        if not names:
            return {}
        histories = gather([str(self._clones[name]) for name in names], store)
        repository, git = Repository(store), Git(own=True)
        found: dict[str, list[HistoryCommit]] = {}
        for name, history in zip(names, histories, strict=True):
            made = found[history.name] = []
            for task in self._rows[name]:
                try:
                    made.append(_candidate(git, repository, history.name, task, settings))
                except LeftOut as reason:
                    self.leave_out(task.id, str(reason))
        return found


def _candidate(
    git: Git, repository: Repository, name: str, task: Task, settings: HistorySettings
) -> HistoryCommit:
    check = task.check.only(WorkspaceCheck)
    base = repository.resolve(check.commit)
    if not base:
        raise LeftOut(f"its commit is not in the history of {check.repository}")
    made = _commit(git, repository, base, task, check)
    [(commit, diff)] = repository.diffs(repository.commits(1, made))
    tests = {test.partition("[")[0]: None for test in check.failing if "::" in test}
    return candidate(name, commit, diff, settings, {}, row=task, tests=list(tests))


def _commit(git: Git, repository: Repository, base: str, task: Task, check: WorkspaceCheck) -> str:
    """The id of a commit on `base` with the row's tests and its patch; the same in every run."""
    where, day = f"--git-dir={repository.folder}", str(task.metadata.get("date") or repository.date(base))
    with tempfile.TemporaryDirectory(prefix="strop-git-") as folder:
        file = Path(folder) / "text"
        try:
            git(where, "read-tree", base)
            for patch in filter(None, (check.patch, task.reference)):
                file.write_text(patch)
                git(where, "apply", "--cached", "--whitespace=nowarn", str(file))
            tree = git(where, "write-tree")
            second = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
            who = f"{task.id} <row@localhost> {second} +0000"
            head = f"tree {tree}\nparent {base}\nauthor {who}\ncommitter {who}\n\n"
            file.write_text(head + task.statement.strip() + "\n")
            return git(where, "hash-object", "-t", "commit", "-w", str(file))
        except (GitError, ValueError, UnicodeError):
            raise LeftOut("its patch or its tests do not apply to its commit") from None
