"""Writes the log of suggested edits: one file per session in one folder, with one writer.

The events and their reader are in `strop_verify.core.edit_events`.

Keys, tokens, passwords, private keys, `.env` files and files whose names suggest secrets are never logged. If a file
holds a secret, nothing of its text is logged, so that neither its surroundings nor a half-typed key leaks. The patterns
err on the side of withholding; there is no list of exceptions.
"""

import hashlib
import hmac
import math
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path, PurePath

from strop.serve.edit_model import Suggested
from strop_verify.core import files
from strop_verify.core.edit_events import (
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
from strop_verify.core.journal import Appender

_NAMES = re.compile(
    r"""\.env(\..*)?|.*\.env|.*\.(pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|asc|gpg|ovpn|tfvars|tfstate|htpasswd)
    |id_(rsa|dsa|ecdsa|ed25519).*|.*(secret|credential|password|passwd).*|\.(netrc|npmrc|pypirc|pgpass|htpasswd|dockercfg)
    |_netrc|kubeconfig|token(s)?(\..*)?|authorized_keys|shadow""",
    re.VERBOSE | re.IGNORECASE,
)
_FOLDERS = {".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", "secrets"}
_KNOWN = re.compile(
    r"""-----BEGIN|PRIVATE[ ]KEY
    |\b(AKIA|ASIA)[A-Z0-9]{4}|\bgh[pousr]_\w{4}|\bgithub_pat_|\bglpat-|\bsk-[\w-]{4}|\b[sr]k_(live|test)_|\bxox[a-z]-
    |\bAIza[\w-]{4}|\bya29\.|\bhf_\w{4}|\bnpm_\w{4}|\bpypi-\w{4}|\bdop_v1_|\bSG\.[\w-]{4}|\bAGE-SECRET-KEY
    |\beyJ[\w-]{8,}|\b(Bearer|Basic)\s+[\w.~+/=-]{6,}|://[^/\s:@]+:[^/\s:@]+@|hooks\.slack\.com/services/""",
    re.VERBOSE,
)
_NAMED = re.compile(
    r"""[\w-]*(secret|token|passw|passphrase|pwd|api_?-?key|access_?-?key|private_?-?key|credential|auth_?-?key)[\w-]*
    ["']?\s*(:\s*\w+\s*)?[:=]>?\s*[rbf]?["'`][^"'`\s]""",
    re.VERBOSE | re.IGNORECASE,
)
"""Matches only quoted values, since `token = next()` is code."""
_SETTING = re.compile(r"\s*(export\s+)?[A-Z][A-Z0-9_]*=\S*.*")
_RANDOM = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
_ENTROPY = 4.0
"""Bits per character: words and names joined by _ have less, hexadecimal digits at most this."""
_HEX = re.compile(r"[0-9a-fA-F]{32,}")


def secret_name(path: str) -> bool:
    """Whether a file of this name may hold secrets."""
    name = PurePath(path)
    return bool(_NAMES.fullmatch(name.name)) or not _FOLDERS.isdisjoint(name.parts)


def secret_in(text: str) -> bool:
    """Whether a text may hold a secret, even a half-typed one, or is the text of a `.env` file."""
    lines = text.splitlines()
    said = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if said and all(_SETTING.fullmatch(line) for line in said):
        return True
    return any(map(_secret_line, lines))


@lru_cache(maxsize=1 << 14)
def _secret_line(line: str) -> bool:
    if _KNOWN.search(line) or _NAMED.search(line) or _HEX.search(line):
        return True
    return any(_random(found[0]) for found in _RANDOM.finditer(line))


def _random(word: str) -> bool:
    if not (re.search(r"\d", word) and re.search(r"[A-Za-z]", word)):
        return False
    counts = Counter(word)
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values()) >= _ENTROPY


class EditEventLog:
    """Appends events and makes their ids."""

    def __init__(self, folder: Path, *, checkpoint: str, clock: Callable[[], float] = time.time) -> None:
        """Raises UserError if the folder cannot be written."""
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
        """Records a suggestion and returns its new id.

        path   path of the edited file
        about  all text that the client sent: if it holds a secret, no tokens are written
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
        """Records that the client received the suggestion and shows it."""
        self._write(EditShown(**self._ids(id), by="server"))

    def accepted(self, id: str, characters: int) -> None:
        """Records that `characters` of it were accepted."""
        self._write(EditAccepted(**self._ids(id), characters=characters))

    def dismissed(self, id: str) -> None:
        """Records that the user continued without it."""
        self._write(EditDismissed(**self._ids(id)))

    def replaced(self, id: str, why: Leaving) -> None:
        """Records that it went away without a decision by the user."""
        self._write(EditReplaced(**self._ids(id), why=why))

    def settled(self, id: str, *, kept: int, discarded: int) -> None:
        """Records how many of the accepted characters were kept and discarded."""
        self._write(EditSettled(**self._ids(id), kept=kept, discarded=discarded))

    def close(self) -> None:
        """Closes the session's file."""
        self._file.close()

    def _ids(self, id: str) -> dict[str, object]:
        return {"event": secrets.token_hex(8), "id": id, "time": round(self._clock(), 3)}

    def _write(self, event: EditEvent) -> None:
        self._file.append(event.model_dump(mode="json"))
