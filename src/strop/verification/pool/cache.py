"""Verdicts of answers that were judged before: same task, answer, toolchain and settings, same verdict.

Kept: passed, failed, tampered. Never kept: timed out and out of memory, which a busy machine can cause, and *error*.
Bounded by bytes; the verdict that was not asked for the longest goes first. `VerdictCache` is not thread-safe.
"""

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict

KEPT = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.TAMPERED})
OVERHEAD = 400
"""Bytes counted for an entry besides its text."""
Key = tuple[bytes, bytes, str, str]
"""Digests of task and answer, toolchain, its version."""
_Made = TypeVar("_Made")


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


class PerTask(Generic[_Made]):
    """What `make` gives for a task. The same few tasks come again and again, so that is remembered. Thread-safe."""

    def __init__(self, make: Callable[[Task], _Made], most: int = 512) -> None:
        self._make, self._most = make, most
        self._lock = threading.Lock()
        self._known: OrderedDict[int, tuple[Task, _Made]] = OrderedDict()

    def __call__(self, task: Task) -> _Made:
        """Raises what `make` raises."""
        with self._lock:
            if id(task) in self._known:
                self._known.move_to_end(id(task))
                return self._known[id(task)][1]
        made = self._make(task)
        with self._lock:
            self._known[id(task)] = (task, made)  # holds the task, so its id cannot become another's
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made


def task_digest(task: Task) -> bytes:
    """SHA-256 of everything that a task holds. Raises ValueError or TypeError for metadata that is not JSON."""
    return hashlib.sha256(json.dumps(task.model_dump(mode="json"), sort_keys=True).encode()).digest()


def answer_digest(answer: str) -> bytes:
    """SHA-256 of an answer's text."""
    return hashlib.sha256(answer.encode("utf-8", errors="surrogatepass")).digest()
