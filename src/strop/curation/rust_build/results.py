"""The result of each prompt, one line each in order of completion; read back by number."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strop.core.journal import Appender, JournalReader, LinePlace, scan
from strop.core.task import Task
from strop.curation.rust_build.answer import NotKept
from strop.curation.rust_build.source import SourcePrompt


class Results:
    """Results of this build, those of its earlier runs included. Keeps places, not texts."""

    def __init__(self, path: Path, judge: str) -> None:
        """`judge` names the compiler; results by another one are made again. Raises UserError."""
        self._judge = judge
        self._places: dict[int, tuple[str, LinePlace]] = {}
        for place, line in scan(path):
            if (
                line["judge"] == judge and line.get("stage") != "refused"
            ):  # not paid, so it may be asked again
                self._places[line["n"]] = (line["key"], place)
        self._file = Appender(path, durable=False)
        self._reader = JournalReader(path)
        self.numbers: list[int] = []
        """Of the prompts of this run that have a result."""

    def known(self, prompt: SourcePrompt) -> bool:
        """Whether this very prompt has a result; then it is one of this run."""
        key, _ = self._places.get(prompt.number, ("", None))
        if key != prompt.key:
            return False
        self.numbers.append(prompt.number)
        return True

    def kept(self, number: int) -> bool:
        """Whether the result of that number is a task."""
        return "task" in self.line(number)

    def add(self, prompt: SourcePrompt, outcome: Task | NotKept) -> None:
        """Writes down a result."""
        line: dict[str, Any] = {"n": prompt.number, "key": prompt.key, "judge": self._judge, "id": prompt.id}
        if isinstance(outcome, Task):
            line["task"] = outcome.model_dump(mode="json")
        else:
            line |= {"where": prompt.where, "stage": outcome.stage, "reason": outcome.reason}
        self._places[prompt.number] = (prompt.key, self._file.append(line))
        self.numbers.append(prompt.number)

    def line(self, number: int) -> dict[str, Any]:
        """One result."""
        found: dict[str, Any] = self._reader.at(self._places[number][1])
        return found

    def lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(number, result) of this run in the order of the source, read as they are asked for."""
        for number in sorted(self.numbers):
            yield number, self.line(number)

    def close(self) -> None:
        """Closes the files."""
        self._file.close()
        self._reader.close()
