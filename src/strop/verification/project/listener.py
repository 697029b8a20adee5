"""Takes the signed messages of a run of tests; what is not signed was written by the code under test."""

import base64
import hashlib
import json
import secrets
from typing import Any

from strop.core.verdict import Outcome, TestResult
from strop.verification.project.runs import Run, Warmth
from strop.verification.python.codec import Malformed
from strop.verification.python.wire import FrameReader

RESULT_BYTES = 512 << 20


class Listener:
    """Takes a run's signed messages."""

    def __init__(self, secret: bytes) -> None:
        self.run = Run()
        self.broken = ""
        self.over = self.heard = False
        self._keyed = hashlib.blake2b(key=secret, digest_size=16)
        self._count = 0
        self._reader = FrameReader(RESULT_BYTES)
        self._compiled: dict[str, bytes] = {}
        self._modules: list[str] = []

    def feed(self, data: bytes) -> None:
        """The next bytes; b"" is the end."""
        if not data or self.over:
            self.over = True
            return
        try:
            self._reader.feed(data)
            while not self.over and (message := self._reader.next()) is not None:
                self._take(message)
        except (Malformed, ValueError, KeyError, TypeError, RecursionError):
            self._forged()

    def warmth(self) -> Warmth:
        """What the run left behind."""
        return Warmth(self._compiled, tuple(self._modules))

    def _forged(self) -> None:
        self.run.tampered, self.over = "something was written to the tests' channel", True

    def _take(self, message: dict[str, Any]) -> None:
        if "broken" in message and not self.heard:  # nothing of the project has run yet
            self.broken, self.over = str(message["broken"]), True
            return
        text = message["p"]
        mac = self._keyed.copy()
        mac.update(b"%d:" % self._count + text.encode("ascii"))
        if not secrets.compare_digest(mac.hexdigest(), str(message["a"])):
            self._forged()
            return
        self._count += 1
        self.heard = True
        self._handle(json.loads(text))

    def _handle(self, said: dict[str, Any]) -> None:
        run = self.run
        if "start" in said:
            run.running = said["start"]
        elif "lines" in said:
            run.lines[said["test"]] = said["lines"]
        elif "ok" in said:
            run.running = ""
            self._test(said)
        elif "collected" in said:
            run.collected = said["collected"]
        elif "collect" in said:
            run.uncollected = run.uncollected or f"{said['collect']}: {said['x']}"
            if "Overdue: took too long" in said["x"]:
                run.stop = (Outcome.TIMED_OUT, "importing took too long")
        elif "stopped" in said:
            run.stop = (Outcome.TIMED_OUT, said["stopped"])
        elif "tampered" in said:
            run.tampered = f"{said['tampered']} of the test machinery was changed"
        elif "modules" in said:
            self._modules = said["modules"]
        elif "cache" in said:
            self._compiled[said["cache"]] = base64.b64decode(said["data"])
        elif "done" in said:
            run.status, self.over = said["done"], True

    def _test(self, said: dict[str, Any]) -> None:
        kind = said["x"].partition(":")[0]
        bad = {"MemoryError": Outcome.OUT_OF_MEMORY, "Overdue": Outcome.TIMED_OUT}.get(kind, Outcome.FAILED)
        outcome = Outcome.PASSED if said["ok"] is True else bad
        name = said["test"]
        if name in self.run.results:  # reported twice: the worse counts
            before = self.run.results[name]
            outcome = outcome if before.outcome is Outcome.PASSED else before.outcome
        self.run.results[name] = TestResult(id=name, outcome=outcome, message=said["x"], seconds=said["s"])
