"""Keeps the verdicts of an unfinished `strop verify` next to its output. Imported when the command runs."""

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.journal import Appender, JournalReader, scan, try_lock
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict


class VerdictLog:
    """The verdicts of one output, appended to OUTPUT.journal until the output is written whole.

    A verdict of an earlier process counts for the same answer to the same task under the same settings, whatever its
    position. A context manager. Outputs that are not regular files, such as pipes, have no journal.

    earlier  verdicts taken from an earlier process
    cause    why the first unverified answer could not be verified
    beside   tasks that passed only in one process with their tests
    """

    def __init__(self, output: Path, settings: Mapping[str, Any]) -> None:
        """Raises UserError for an output that cannot be written or that another process is writing."""
        self.earlier, self.cause = 0, ""
        self.beside: dict[str, None] = {}
        self._output, self._settings = output, settings
        self._closing = ExitStack()
        if output.is_dir():
            files.check_writable(output)
        if files.is_device(output):
            self._path = Path(self._closing.enter_context(tempfile.TemporaryDirectory()), "journal")
        else:
            self._path = output.with_name(f"{output.name}.journal")
        if (lock := try_lock(self._path)) is None:
            raise UserError(f"{output} is being written by another process; wait for it or choose another -o")
        self._closing.callback(os.close, lock)
        self._kept = {line["key"]: (place, line["outcome"]) for place, line in scan(self._path)}
        self._file, self._reader = Appender(self._path, durable=False), JournalReader(self._path)
        self._closing.callback(self._file.close)
        self._closing.callback(self._reader.close)
        self._wanted: list[str] = []
        self._seen: Counter[str] = Counter()
        self._tasks: dict[str, str] = {}

    def __enter__(self) -> "VerdictLog":
        return self

    def __exit__(self, *_: object) -> None:
        if not self._kept:
            self._path.unlink(missing_ok=True)
        self._closing.close()

    def missing(self, answers: Iterable[tuple[Task, str]]) -> Iterator[tuple[str, Task, str]]:
        """(key, task, code) of the answers that have no verdict yet; the output will hold all answers."""
        for task, code in answers:
            if task.id not in self._tasks:
                self._tasks[task.id] = _digest(task.model_dump())
            answer = _digest(self._tasks[task.id], code, self._settings)
            key = f"{answer}.{self._seen[answer]}"
            self._seen[answer] += 1
            self._wanted.append(key)
            if key in self._kept and self._kept[key][1] != Outcome.ERROR:
                self.earlier += 1
            else:
                yield key, task, code

    def keep(self, key: str, task: Task, verdict: Verdict) -> None:
        """Records the verdict of an answer."""
        if not verdict.scored:
            self.cause = self.cause or verdict.detail
        if task.check.effective().lowered(verdict.trust):
            self.beside[task.id] = None
        line = {"key": key, "task_id": task.id, **verdict.model_dump(mode="json")}
        self._kept[key] = self._file.append(line), verdict.outcome

    def finish(self) -> Counter[str]:
        """Writes the output in the order of the answers and removes the journal. Returns the number of answers per
        outcome.
        """
        with files.atomic(self._output) as file:
            for key in self._wanted:
                line = self._reader.at(self._kept[key][0])
                del line["key"]
                file.write(files.json_line(line))
        self._path.unlink()
        return Counter(str(self._kept[key][1]) for key in self._wanted)

    @property
    def remedy(self) -> str:
        """The hint on how to resume after an interrupt; "" if nothing is kept."""
        if self._path.parent != self._output.parent or not self._kept:
            return ""
        return f"{len(self._kept)} verdicts are kept in {self._path}; the same command resumes with them"


def _digest(*values: Any) -> str:
    """A hash that is the same in every process for the same values."""
    return hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()[:24]
