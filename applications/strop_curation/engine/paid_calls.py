"""The build's side of the calls: its folder and locks; paid calls are read back, others go to the calling process."""

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, Self

from strop.core import files
from strop.core.errors import StropError, UserError
from strop.core.journal import JournalReader, LinePlace, scan, try_lock
from strop.policies.connection import Connection, Usage
from strop.sandbox.spawn import Process, source_folder, spawn

CALLS, BUILD = "calls.jsonl", "build.json"
_LOOK_SECONDS = 0.2
FINISH_SECONDS = 15.0
"""How long an interrupted build waits for calls in flight; the calling process goes on without it."""
MOST_REFUSED = 8
"""Refusals after which a build ends when nothing has been answered: the settings are wrong, not the prompts."""
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from strop_curation.engine.paid_caller import main; main()"
)


class Question(NamedTuple):
    """One call."""

    key: str
    """By which a paid response is known again."""
    stage: str
    """What is asked: usage is counted by it."""
    attempt: int
    """From 1."""
    prompt_id: str
    seed: int
    messages: list[dict[str, str]]


class Response(NamedTuple):
    """What the model said."""

    text: str
    finish: str
    """Of the server: "length" when the response was cut."""


class QuestionRefused(Exception):
    """The server will not answer this question, such as one that is too long; says why."""


class Stopped(Exception):
    """No more calls: the limit of the cost is reached, or a call failed for good."""


class Calls:
    """Answers questions, each paid for once, from any thread. A context manager; it owns the calling process.

    At most `concurrency` calls are in flight. The calling process starts with the first unpaid call.
    """

    def __init__(self, settings: Connection, path: Path, lock: int) -> None:
        """Reads the journal, keeping keys and places. `lock`: descriptor, see `opened`. Raises UserError."""
        self._settings, self._lock = settings, lock
        self._path = path / CALLS
        self.usage = Usage()
        self._places: dict[bytes, LinePlace] = {}
        for place, line in scan(self._path):
            self._places[bytes.fromhex(line["key"])] = place
            self.usage.add(line)
        self._journal = JournalReader(self._path)
        self._guard = threading.RLock()
        self._queued: deque[tuple[Question, Future[Response]]] = deque()
        self._sent: dict[str, Future[Response]] = {}
        self._refused = 0
        self.failure: StropError | None = None
        """What ended the calls, if anything did."""
        self.out_of_money = False
        self._process: Process | None = None
        self._socket: socket.socket | None = None
        self._listener: threading.Thread | None = None

    @property
    def under_way(self) -> int:
        """Calls whose responses are not in yet."""
        return len(self._sent)

    def ask(self, question: Question) -> "Future[Response]":
        """The response, from the journal where it is there. The future may raise QuestionRefused and Stopped."""
        future: Future[Response] = Future()
        with self._guard:
            place = self._places.get(bytes.fromhex(question.key))
            if place is not None:
                future.set_result(_response(self._journal.at(place)))
            else:
                self._queued.append((question, future))
                self._send()
        return future

    def _send(self) -> None:
        """Sends questions while there is room; gives them up once no more calls are made."""
        while self._queued and len(self._sent) < self._settings.concurrency:
            question, future = self._queued.popleft()
            limit = self._settings.max_cost
            if limit is not None and self.usage.cost(self._settings.prices) >= limit:
                self.out_of_money = True
            if self.out_of_money or self.failure is not None:
                future.set_exception(Stopped())
                continue
            self._sent[question.key] = future
            try:
                self._started().sendall(json.dumps(question._asdict()).encode() + b"\n")
            except OSError:
                self._lost()

    def _started(self) -> socket.socket:
        if self._socket is None:
            self._socket, theirs = socket.socketpair()
            with theirs:
                self._process = spawn(
                    [sys.executable, "-c", _BOOT, source_folder(), str(theirs.fileno())],
                    environment=os.environ,
                    keep=(theirs.fileno(), self._lock),
                )
            server = {field.name: getattr(self._settings, field.name) for field in fields(Connection)}
            first = {**server, "journal": str(self._path.resolve())}
            self._socket.sendall(json.dumps(first).encode() + b"\n")
            self._listener = threading.Thread(target=self._listen, args=(self._socket,), daemon=True)
            self._listener.start()
        return self._socket

    def _listen(self, connection: socket.socket) -> None:
        """Hands out what the calling process says, until it ends."""
        with contextlib.suppress(OSError), connection.makefile("rb") as messages:
            for line in messages:
                if line.endswith(b"\n"):
                    self._heard(json.loads(line))
        with self._guard:
            if self._sent:
                self._lost()

    def _heard(self, message: Mapping[str, Any]) -> None:
        with self._guard:
            future = self._sent.pop(message["key"], None) or Future()
            if "place" in message:
                place = LinePlace(*message["place"])
                line = self._journal.at(place)
                self._places[bytes.fromhex(message["key"])] = place
                self.usage.add(line)
                future.set_result(_response(line))
            elif "fatal" in message:
                self._fail(UserError(message["fatal"]))
                future.set_exception(Stopped())
            else:
                self._refused += 1
                if self._refused >= MOST_REFUSED and not self.usage.calls:
                    self._fail(UserError(f"every question is refused: {message['refused']}"))
                future.set_exception(QuestionRefused(message["refused"]))
            self._send()

    def _lost(self) -> None:
        """The calling process has ended, and its calls are lost."""
        words = self._process.last_words() if self._process else ""
        self._fail(StropError(f"the process that calls the server ended ({words or 'killed'}); run it again"))
        lost = list(self._sent.values())
        self._sent.clear()
        for future in lost:
            future.set_exception(Stopped())
        self._send()

    def _fail(self, error: StropError) -> None:
        self.failure = self.failure or error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Waits `FINISH_SECONDS` at most for calls in flight; they are journalled in any case."""
        with self._guard:
            self._queued.clear()
        if self._socket is not None and self._listener is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
            self._listener.join(FINISH_SECONDS)
            if not self._listener.is_alive() and self._process is not None:
                self._process.wait(FINISH_SECONDS)
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RD)
            self._listener.join()
            self._socket.close()
        self._journal.close()


def _response(line: Mapping[str, Any]) -> Response:
    text = line["text"].encode(errors="replace").decode()  # half of a surrogate pair is no text
    return Response(text, line["finish"])


@contextlib.contextmanager
def opened(path: Path, identity: dict[str, Any], say: Callable[[str], None], command: str) -> Iterator[int]:
    """Creates or reopens the folder, locks it for this process, and yields the lock of its calls.

    The process that calls the server also holds that lock and may outlive a killed build; this waits for it and says
    so. Raises UserError for a folder that holds something else or is in use.
    """
    _make(path)
    _check_identity(path, identity)
    own = try_lock(path / ".build.lock")
    if own is None:
        raise UserError(f"another `{command}` is using {path}: wait for it, or name another folder")
    try:
        files.remove_parts(path)
        calls = _wait(path, say)
        try:
            if not (path / BUILD).exists():
                files.write_json(path / BUILD, identity)
            yield calls
        finally:
            os.close(calls)
    finally:
        os.close(own)


def _make(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        foreign = [name for name in os.listdir(path) if not name.startswith(".")]
    except OSError as error:
        raise UserError(f"cannot use {path} as the folder of a build: {error.strerror}") from error
    if foreign and not (path / BUILD).exists():
        raise UserError(f"{path} holds {min(foreign)} and no build: name an empty or a new folder")


def _check_identity(path: Path, identity: dict[str, Any]) -> None:
    """Raises UserError where the folder was made with other settings."""
    try:
        before = json.loads((path / BUILD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path / BUILD}: {error}; name another folder") from error
    for name, value in identity.items():
        if before.get(name) != value:
            what = "made with other texts of the questions" if name == "templates" else (
                f"made with {name} {before.get(name)!r}, this is {value!r}"
            )  # fmt: skip
            raise UserError(f"{path} holds another build, {what}: name another folder, or the same settings")


def _wait(path: Path, say: Callable[[str], None]) -> int:
    lock = try_lock(path / ".calls.lock")
    if lock is None:
        say("calls of a killed run are still in flight; waiting for them, so that none is paid twice")
    while lock is None:
        time.sleep(_LOOK_SECONDS)
        lock = try_lock(path / ".calls.lock")
    return lock
