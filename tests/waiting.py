"""Waiting for events, with a deadline far away."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

DEADLINE = 300.0
"""Seconds; only a test that fails waits so long."""
Found = TypeVar("Found")


def wait_until(condition: Callable[[], Found], process: "subprocess.Popen[Any] | None" = None) -> Found:
    """What the condition returns, once it is true. A process that ends before is a failure with its words."""
    deadline = time.monotonic() + DEADLINE
    while not (found := condition()):
        if process is not None and process.poll() is not None:
            raise AssertionError(f"it ended before: {process.communicate()}")
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)
    return found


def wait_until_blocked(thread: threading.Thread) -> None:
    """Returns once the thread waits for a lock or an event."""

    def blocked() -> bool:
        frame = sys._current_frames().get(thread.ident or 0)
        return (
            frame is not None
            and frame.f_code.co_filename == threading.__file__
            and "wait" in frame.f_code.co_name
        )

    wait_until(blocked)
