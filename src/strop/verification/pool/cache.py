"""Verdicts of answers that were judged before: same task, answer, toolchain and settings, same verdict.

Kept: passed, failed, tampered. Never kept: timed out and out of memory, which a busy machine can cause, and *error*.
Bounded by bytes; the verdict that was not asked for the longest goes first. `VerdictCache` is not thread-safe.
"""

import hashlib
import json
import threading
from collections import OrderedDict

from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict

KEPT = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.TAMPERED})
OVERHEAD = 400
"""Bytes counted for an entry besides its text."""
_TASKS = 512
"""Tasks whose digest is remembered."""
Key = tuple[bytes, bytes, str, str]
"""Digests of task and answer, toolchain, its version."""


class VerdictCache:
    """The kept verdicts, as JSON text."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self._texts: OrderedDict[Key, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._texts)

    def get(self, key: Key) -> Verdict | None:
        """The kept verdict, or None."""
        text = self._texts.get(key)
        if text is None:
            return None
        self._texts.move_to_end(key)
        return Verdict.model_validate_json(text)

    def put(self, key: Key, verdict: Verdict, text: str) -> None:
        """Keeps a verdict, given with its JSON text, if its outcome may be kept and there is room for it."""
        if verdict.outcome not in KEPT or key in self._texts:
            return
        data = text.encode()
        if len(data) + OVERHEAD > self.most_bytes:
            return
        self._texts[key] = data
        self.bytes += len(data) + OVERHEAD
        while self.bytes > self.most_bytes:
            _, dropped = self._texts.popitem(last=False)
            self.bytes -= len(dropped) + OVERHEAD


class Digests:
    """SHA-256 of tasks and answers. The same few tasks come again and again, so theirs are remembered. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[int, tuple[Task, bytes]] = OrderedDict()

    def task(self, task: Task) -> bytes:
        """The digest of everything that a task holds, its check above all."""
        with self._lock:
            known = self._known.get(id(task))
            if known is not None:
                self._known.move_to_end(id(task))
                return known[1]
        text = json.dumps(task.model_dump(mode="json"), sort_keys=True)
        digest = hashlib.sha256(text.encode()).digest()
        with self._lock:
            self._known[id(task)] = (task, digest)  # holds the task, so its id cannot become another's
            while len(self._known) > _TASKS:
                self._known.popitem(last=False)
        return digest

    @staticmethod
    def answer(answer: str) -> bytes:
        """The digest of an answer's text."""
        return hashlib.sha256(answer.encode("utf-8", errors="surrogatepass")).digest()
