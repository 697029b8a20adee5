"""A pytest plugin that writes signed reports of each test to a file beside itself.

It is copied into images and runs on Python 3.6 or newer. The key comes on standard input and is read before any code of
the project runs. A line is the signature of its number and body, a space, and the body: JSON of "test", "when",
"outcome" and "expected" (whether the failure was), or of "uncollected".
"""

import hashlib
import hmac
import json
import os
import sys
from typing import Any


class Reporter:
    """Receives pytest's reports."""

    def __init__(self, key: bytes, path: str) -> None:
        self._key, self._count = key, 0
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def pytest_collectreport(self, report: Any) -> None:
        """Reports a file that could not be imported."""
        if report.failed:
            self._say({"uncollected": report.nodeid})

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Reports one phase of a test."""
        expected = hasattr(report, "wasxfail")
        told = {"test": report.nodeid, "when": report.when, "outcome": report.outcome, "expected": expected}
        self._say(told)

    def _say(self, told: Any) -> None:
        body = json.dumps(told).encode()
        signature = hmac.new(self._key, b"%d:" % self._count + body, hashlib.sha256).hexdigest()
        self._count += 1
        os.write(self._file, signature.encode() + b" " + body + b"\n")


_MADE = []
if "PYTEST_XDIST_WORKER" not in os.environ:
    _MADE.append(Reporter(sys.stdin.buffer.read(32), __file__[:-3] + ".results"))


def pytest_configure(config: Any) -> None:
    """Registers the reporter, once."""
    while _MADE:
        config.pluginmanager.register(_MADE.pop())
