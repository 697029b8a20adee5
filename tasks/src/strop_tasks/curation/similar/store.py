"""Many sets of hashes in one file: written once, in order, then read by number."""

from pathlib import Path
from typing import Any

import numpy as np

from strop_tasks.curation.similar.hashes import Hashes, Sizes

Numbers = np.ndarray[Any, np.dtype[np.int64]]


class Store:
    """A file of sets. Memory holds 8 bytes per set. The caller removes the folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._ends: list[int] = [0]
        self.offsets: Numbers
        """The start of each set, and the end of the last: shape (len + 1,). Only once sealed."""
        self.flat: Hashes  # all sets end to end, on disk. Only once sealed

    def extend(self, flat: Hashes, sizes: Sizes) -> None:
        """Adds the next sets, given end to end. Raises OSError if the disk is full."""
        self._file.write(flat.tobytes())
        self._ends.extend((self._ends[-1] + np.cumsum(sizes)).tolist())

    def append(self, values: Hashes) -> None:
        """Adds the next set. Raises OSError if the disk is full."""
        self.extend(values, np.array([len(values)]))

    def seal(self) -> "Store":
        """Ends writing; reading begins. Returns itself."""
        self._file.close()
        self.offsets = np.array(self._ends, np.int64)
        self._ends = []
        size = int(self.offsets[-1])
        self.flat = np.memmap(self._path, np.uint64, "r", shape=(size,)) if size else np.empty(0, np.uint64)
        return self

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> Hashes:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return np.asarray(self.flat[self.offsets[number] : self.offsets[number + 1]])
