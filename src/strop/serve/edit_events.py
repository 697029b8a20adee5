"""The writing end of the log of suggested edits: one file a session in one folder, with one writer.

What the events are, and how they are read, is `strop.core.edit_events`.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from strop.core import files
from strop.core.edit_events import (
    Dialect,
    EditAccepted,
    EditDismissed,
    EditEvent,
    EditReplaced,
    EditServed,
    EditSettled,
    EditShown,
    Leaving,
)
from strop.core.journal import Appender
from strop.serve.edit_model import Suggested
from strop.serve.edit_secrets import secret_in, secret_name


class EditEventLog:
    """Appends events. Ids are made here."""

    def __init__(self, folder: Path, *, checkpoint: str, clock: Callable[[], float] = time.time) -> None:
        """Raises UserError where the folder cannot be written."""
        self.session, self.checkpoint, self._clock = secrets.token_hex(8), checkpoint, clock
        self._key = secrets.token_bytes(16)
        with files.writing(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path = folder / f"{int(clock())}-{self.session}.jsonl"
            self.path.touch(mode=0o600, exist_ok=False)
        self._file = Appender(self.path, durable=False)

    def served(
        self,
        made: Suggested,
        *,
        dialect: Dialect,
        client: str,
        path: str = "",
        language: str = "",
        about: str = "",
    ) -> str:
        """Writes what was suggested; returns its new id.

        path   of the file that is edited
        about  all of its text that the client sent: where a secret is in it, no token is written
        """
        secret = secret_name(path) or secret_in(about) or secret_in(made.completion.text)
        event = EditServed(
            **self._ids(secrets.token_hex(8)),
            session=self.session,
            client=client[:80],
            dialect=dialect,
            file=hmac.digest(self._key, path.encode("utf-8", "replace"), hashlib.sha256).hex()[:16],
            language=language[:40],
            checkpoint=self.checkpoint,
            sampling=made.params,
            seed=made.seed,
            characters=len(made.edit.text) if made.edit else 0,
            withheld="secret" if secret else "",
            prompt_ids=None if secret else list(made.prompt),
            completion=None if secret else made.completion,
        )
        self._write(event)
        return event.id

    def shown(self, id: str) -> None:
        """The client got it, and shows what it gets."""
        self._write(EditShown(**self._ids(id), by="server"))

    def accepted(self, id: str, characters: int) -> None:
        """So many characters of it were taken."""
        self._write(EditAccepted(**self._ids(id), characters=characters))

    def dismissed(self, id: str) -> None:
        """The user went on without it."""
        self._write(EditDismissed(**self._ids(id)))

    def replaced(self, id: str, why: Leaving) -> None:
        """It went away, and nobody decided about it."""
        self._write(EditReplaced(**self._ids(id), why=why))

    def settled(self, id: str, *, kept: int, discarded: int) -> None:
        """What is left of what was taken."""
        self._write(EditSettled(**self._ids(id), kept=kept, discarded=discarded))

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _ids(self, id: str) -> dict[str, object]:
        return {"event": secrets.token_hex(8), "id": id, "time": round(self._clock(), 3)}

    def _write(self, event: EditEvent) -> None:
        self._file.append(event.model_dump(mode="json"))
