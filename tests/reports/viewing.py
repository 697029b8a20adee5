"""Real servers and writers for the tests of the live view."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parent.parent.parent
DEADLINE = 300.0


class Viewed(httpx.Client):
    """A running `strop view` and a client of it."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process, self.url = process, url
        super().__init__(base_url=url, timeout=DEADLINE)

    def json(self, path: str, **query: Any) -> Any:
        """A good answer."""
        answer = self.get(f"/api/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def rows(self, **query: Any) -> Any:
        """The rows of a step or of an evaluation; each one's task comes with it."""
        answer = self.json("rows", **query)
        assert {row["task"] for row in answer["rows"]} == answer["tasks"].keys()
        return answer["rows"]

    def run(self) -> Any:
        """The first run of the page."""
        return self.json("page")["runs"][0]

    def complete(self) -> Any:
        """The first run of the page, when everything was looked at."""
        return until(self.run, lambda run: run["index"]["complete"])


BEFORE_END: list[Callable[[], None]] = []
"""What closes the pages that look at a server: one that asks a server that has ended has an error on its console."""


@contextmanager
def viewed(*runs: Path) -> Iterator[Viewed]:
    """`strop view RUN...` at a free port, as a process of its own, ended by Ctrl-C."""
    command = [sys.executable, "-m", "strop.cli", "view", *map(str, runs), "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said.startswith("http://127.0.0.1:"), process.communicate(timeout=DEADLINE)
            with Viewed(process, said.split()[0]) as client:
                yield client
        finally:
            while BEFORE_END:
                BEFORE_END.pop()()
            process.send_signal(signal.SIGINT)
            process.wait(DEADLINE)


class Writer:
    """A process that writes a run, see run_writer."""

    def __init__(self, source: Path, target: Path, how: str = "create") -> None:
        command = [sys.executable, "-m", "tests.reports.run_writer", str(source), str(target), how]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
        assert self._answer() == "ready\n"

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def say(self, *words: str) -> None:
        """Has it do something, and waits until that is done."""
        assert self._process.stdin is not None
        for word in words:
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()
            assert self._answer() == "done\n"

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def until(ask: Callable[[], Any], enough: Callable[[Any], Any]) -> Any:
    """The first answer that is enough."""
    end = time.monotonic() + DEADLINE
    while True:
        answer = ask()
        if enough(answer):
            return answer
        assert time.monotonic() < end, f"not in {DEADLINE} s: {str(answer)[:2000]}"
        time.sleep(0.1)
