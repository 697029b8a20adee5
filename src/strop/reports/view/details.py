"""One rollout, whole: its line joined with the run's vocabulary, which is read once."""

import threading
from pathlib import Path
from typing import Any

from strop.core.errors import UserError
from strop.reports.page.rollout_data import NO_ROLLOUT, detail_of, load_vocabulary
from strop.reports.run_folder import VOCABULARY
from strop.reports.view.blocks import Block


class Details:
    """Makes details of one run folder's lines. May be used from any thread."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / VOCABULARY
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._texts: list[str] = []

    def of(self, block: Block, line: dict[str, Any]) -> dict[str, Any]:
        """The DETAIL of a line. Raises UserError for a line that is no rollout."""
        language = block.tasks.get(str(line.get("task_id")), {}).get("language", "")
        try:
            return detail_of(line, block.found, self._vocabulary(), language)
        except NO_ROLLOUT as error:
            raise UserError(
                f"{block.found.path} has changed: a line is no longer a rollout ({error!r})"
            ) from error

    def _vocabulary(self) -> list[str]:
        """The text of each token id, read again when the file is another; empty when there is none."""
        with self._lock:
            try:
                status = self._path.stat()
            except OSError:
                self._stamp, self._texts = None, []
                return []
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._stamp:
                self._texts, self._stamp = load_vocabulary(self._path.parent), stamp
            return self._texts
