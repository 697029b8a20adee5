"""What a costly step found for each task, kept on disk so that a killed run goes on where it was."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from strop.core.journal import Appender, JournalReader, LinePlace, scan


class Memory(Mapping[str, Any]):
    """A mapping from task id to a small JSON value, append-only; only ids and places are held in memory.

    A context manager. A value counts once its whole line is in the file; a torn last line is cut off on opening.
    """

    def __init__(self, path: Path) -> None:
        """Opens or creates the file. Raises UserError where that fails or a line in its middle is damaged."""
        self._places: dict[str, LinePlace] = {line["id"]: place for place, line in scan(path)}
        self._writer = Appender(path, durable=False)
        self._reader = JournalReader(path)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, task_id: str) -> Any:
        return self._reader.at(self._places[task_id])["value"]

    def __setitem__(self, task_id: str, value: Any) -> None:
        self._places[task_id] = self._writer.append({"id": task_id, "value": value})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._writer.close()
        with suppress(OSError):
            self._reader.close()
