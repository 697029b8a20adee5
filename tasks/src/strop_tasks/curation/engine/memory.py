"""Results so far of a costly build, step or audit, on disk, so that a killed one loses little."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from strop_verify.core.journal import Appender, JournalReader, LinePlace, scan


class Memory(Mapping[str, Any]):
    """A JSON value by key, in an append-only file of lines {"id", "value"}; memory holds only keys and offsets.

    A context manager. A value counts when its whole line is in the file; a torn last line is cut off on opening. The
    last value of a key counts. Any thread may read; only one at a time may write.
    """

    def __init__(self, path: Path, *, durable: bool = False) -> None:
        """Opens or creates the file. Raises UserError if that fails or a line in its middle is damaged.

        durable  an assignment returns only once the value is on disk
        """
        self._places: dict[str, LinePlace] = {line["id"]: place for place, line in scan(path)}
        self._writer = Appender(path, durable=durable)
        self._reader = JournalReader(path)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, key: str) -> Any:
        return self._reader.at(self._places[key])["value"]

    def __setitem__(self, key: str, value: Any) -> None:
        self._places[key] = self._writer.append({"id": key, "value": value})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._writer.close()
        with suppress(OSError):
            self._reader.close()
