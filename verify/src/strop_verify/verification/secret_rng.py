"""Random draws for verdicts: reproducible for a task and an answer, and unpredictable for the answer.

The draws are keyed with a secret: `STROP_VERDICT_SECRET`, else 32 random bytes in a file that is created once per user,
`$XDG_STATE_HOME/strop/verdict-secret` (`~/.local/state/...`). The secret stays in the process that asks for verdicts;
no process of an answer ever holds it.
"""

import contextlib
import hmac
import json
import logging
import os
import random
import secrets
import threading
from pathlib import Path

VARIABLE = "STROP_VERDICT_SECRET"
SIZE = 32
"""Size of the file in bytes."""
_log = logging.getLogger(__name__)
_lock = threading.Lock()
_known: dict[Path, bytes] = {}


def drawn(task: str, answer: str, purpose: str) -> random.Random:
    """A random generator for an answer to the task with this id; with an empty answer, for the task itself."""
    about = json.dumps([task, answer, purpose]).encode()
    return random.Random(hmac.digest(_secret(), about, "sha256"))


def secret_file() -> Path:
    """The secret's file, used if the variable is not set. Raises RuntimeError if the user has no home."""
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return folder / "strop" / "verdict-secret"


def _secret() -> bytes:
    if given := os.environ.get(VARIABLE):
        return os.fsencode(given)
    try:
        path = secret_file()
    except RuntimeError:
        path = Path()
    with _lock:
        if path not in _known:
            try:
                _known[path] = _from_file(path)
            except OSError as error:
                _log.warning(
                    "another run may give other verdicts, because no secret can be stored in %s (%s); "
                    "set %s, or set XDG_STATE_HOME to a writable folder",
                    path, error.strerror or error, VARIABLE,
                )  # fmt: skip
                _known[path] = secrets.token_bytes(SIZE)
        return _known[path]


def _from_file(path: Path) -> bytes:
    """The file's bytes; a missing file is created atomically. Raises OSError."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}-{secrets.token_hex(8)}")
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(SIZE))
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.link(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
    found = path.read_bytes()
    if len(found) != SIZE:
        raise OSError(f"it has {len(found)} bytes instead of {SIZE}; remove it")
    return found
