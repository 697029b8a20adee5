"""The build's end of the calls: what is paid already is read back, the rest goes to the calling process."""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from strop.core.errors import StropError, UserError
from strop.core.journal import JournalReader, LinePlace, scan
from strop.policies.paid import folder
from strop.policies.paid.caller import LONGEST_LINE
from strop.policies.paid.connection import Connection
from strop.policies.paid.usage import Prices, Usage
from strop.sandbox.spawn import Process, source_folder, spawn

FINISH_SECONDS = 15.0
"""How long an interrupted build waits for calls under way; the calling process waits longer, without it."""
MOST_REFUSED = 8
"""Refusals after which a build ends when nothing has been answered: the settings are at fault, not the prompts."""
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from strop.policies.paid.caller import main; main()"


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
    """Answers questions, each paid for once. An asynchronous context manager; it owns the calling process.

    At most `concurrency` calls are under way. The calling process starts with the first call that is not paid.
    """

    def __init__(self, settings: Connection, path: Path, lock: int) -> None:
        """Reads the journal, keeping keys and places. `lock`: descriptor, see `folder.opened`. Raises UserError."""
        self._settings, self._lock = settings, lock
        self._prices = Prices(settings.price_in, settings.price_out)
        self._path = path / folder.CALLS
        self.usage = Usage()
        self._places: dict[bytes, LinePlace] = {}
        for place, line in scan(self._path):
            self._places[bytes.fromhex(line["key"])] = place
            self.usage.add(line)
        self._journal = JournalReader(self._path)
        self._gate = asyncio.Semaphore(settings.concurrency)
        self._waiting: dict[str, asyncio.Future[LinePlace]] = {}
        self._refused = 0
        self.failure: StropError | None = None
        """What ended the calls, if anything did."""
        self.out_of_money = False
        self._starting = asyncio.Lock()
        self._process: Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None

    @property
    def under_way(self) -> int:
        """Calls whose responses are not in yet."""
        return len(self._waiting)

    async def ask(self, question: Question) -> Response:
        """The response, from the journal where it is there. Raises QuestionRefused and Stopped."""
        place = self._places.get(bytes.fromhex(question.key))
        if place is None:
            async with self._gate:
                place = await self._call(question)
        line = self._journal.at(place)
        text = line["text"].encode(errors="replace").decode()  # half of a surrogate pair is no text
        return Response(text, line["finish"])

    async def _call(self, question: Question) -> LinePlace:
        self._check_budget()
        writer = await self._started()
        if self.failure is not None:
            raise Stopped
        future: asyncio.Future[LinePlace] = asyncio.get_running_loop().create_future()
        self._waiting[question.key] = future
        writer.write(json.dumps(question._asdict()).encode() + b"\n")
        place = await asyncio.shield(future)
        self._places[bytes.fromhex(question.key)] = place
        return place

    def _check_budget(self) -> None:
        limit = self._settings.max_cost
        if limit is not None and self.usage.cost(self._prices) >= limit:
            self.out_of_money = True
        if self.out_of_money or self.failure is not None:
            raise Stopped

    async def _started(self) -> asyncio.StreamWriter:
        async with self._starting:
            if self._writer is None:
                self._writer = await self._start()
            return self._writer

    async def _start(self) -> asyncio.StreamWriter:
        mine, theirs = socket.socketpair()
        with theirs:
            self._process = spawn(
                [sys.executable, "-c", _BOOT, source_folder(), str(theirs.fileno())],
                environment=os.environ,
                keep=(theirs.fileno(), self._lock),
            )
        reader, writer = await asyncio.open_connection(sock=mine, limit=LONGEST_LINE)
        writer.write(json.dumps(self._for_caller()).encode() + b"\n")
        self._listening = asyncio.create_task(self._listen(reader))
        return writer

    def _for_caller(self) -> dict[str, Any]:
        settings = self._settings
        return {
            "url": settings.url,
            "model": settings.model,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "timeout": settings.timeout_seconds,
            "api_key_env": settings.api_key_env,
            "journal": str(self._path.resolve()),
        }

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Hands out what the calling process says, until it ends."""
        with contextlib.suppress(ConnectionError):
            while (line := await reader.readline()).endswith(b"\n"):
                self._heard(json.loads(line))
        if self._waiting:
            words = self._process.last_words() if self._process else ""
            self._fail(
                StropError(f"the process that calls the server ended ({words or 'killed'}); run it again")
            )
        for future in self._waiting.values():
            future.set_exception(Stopped())
            future.exception()  # nobody may be waiting any more
        self._waiting.clear()

    def _heard(self, message: Mapping[str, Any]) -> None:
        future = self._waiting.pop(message["key"])
        if "place" in message:
            place = LinePlace(*message["place"])
            self.usage.add(self._journal.at(place))
            if not future.done():
                future.set_result(place)
            return
        if "fatal" in message:
            self._fail(UserError(message["fatal"]))
            error: Exception = Stopped()
        else:
            error = QuestionRefused(message["refused"])
            self._refused += 1
            if self._refused >= MOST_REFUSED and not self.usage.calls:
                self._fail(UserError(f"every question is refused: {message['refused']}"))
        if not future.done():
            future.set_exception(error)
            future.exception()

    def _fail(self, error: StropError) -> None:
        self.failure = self.failure or error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Lets calls under way come to their end, for `FINISH_SECONDS` at most; they are journalled in any case."""
        if self._writer is not None and self._listening is not None:
            with contextlib.suppress(OSError):
                self._writer.write_eof()
            done, _ = await asyncio.wait({self._listening}, timeout=FINISH_SECONDS)
            self._writer.close()
            if done and self._process is not None:
                await asyncio.to_thread(self._process.wait, FINISH_SECONDS)
        self._journal.close()
