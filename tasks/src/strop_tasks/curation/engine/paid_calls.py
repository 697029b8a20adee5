"""Calls to a model's server, each paid for once: a response is stored before it is used, and read back on resuming.

A killed build loses the calls in flight. They are sent again with the same `Idempotency-Key`, for servers that use it.
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, Self

from strop.policies.connection import Connection, ModelCaller, Usage, explain, one_line, refusals
from strop.tasks import templates
from strop_tasks.curation.engine.folder import held, read_object, refuse_other
from strop_tasks.curation.engine.memory import Memory
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.files import write_json

CALLS, BUILD = "calls.jsonl", "build.json"
FINISH_SECONDS = 15.0  # how long an interrupted build waits for calls in flight
MOST_REFUSED = 8
"""A build ends after this many refusals without an answer: the settings are wrong then, not the prompts."""


class Question(NamedTuple):
    """One call to the model."""

    key: str
    """Identifies a paid response."""
    stage: str
    """Which prompt is used; usage is counted per stage."""
    attempt: int
    """From 1."""
    prompt_id: str
    seed: int
    messages: list[dict[str, str]]


class Response(NamedTuple):
    """The text of a response, and why it ended."""

    text: str
    finish: str
    """The server's finish reason; "length" if the response was cut."""


class QuestionRefused(Exception):
    """The server refuses this question, for example because it is too long; says why."""


class Stopped(Exception):
    """No more calls: the cost limit is reached, or a call failed for good."""


class Calls:
    """Answers questions, each paid for once, from any thread. A context manager.

    At most `concurrency` calls are in flight. The thread that makes them starts with the first unpaid call.
    """

    def __init__(self, server: Connection, folder: Path) -> None:
        """Reads the stored responses; keeps only their keys and positions in memory. Raises UserError."""
        self._server, self._paid = server, Memory(folder / CALLS, durable=True)
        self.usage = Usage()
        for line in self._paid.values():
            self.usage.add(line)
        self.failure: StropError | None = None  # what stopped the calls, or None
        self.out_of_money = self._closing = False
        self._refused = 0
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: set[Future[Response]] = set()

    @property
    def under_way(self) -> int:
        """Calls whose responses are not in yet."""
        return min(len(self._asked), self._server.concurrency)

    def ask(self, question: Question) -> "Future[Response]":
        """The response, from disk if it is there. The future may raise QuestionRefused and Stopped."""
        if question.key in self._paid:
            known: Future[Response] = Future()
            known.set_result(_response(self._paid[question.key]))
            return known
        with self._guard:
            loop = self._loop or self._start()
        future = asyncio.run_coroutine_threadsafe(self._call(question), loop)
        self._asked.add(future)
        future.add_done_callback(self._asked.discard)
        return future

    def _start(self) -> asyncio.AbstractEventLoop:
        self._caller = ModelCaller(self._server, "a build that asks a model")
        self._room = asyncio.Semaphore(self._server.concurrency)
        self._ended = asyncio.Event()
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), daemon=True)
        self._thread.start()
        self._loop = started.result()
        return self._loop

    async def _serve(self, started: "Future[asyncio.AbstractEventLoop]") -> None:
        """Runs the thread's event loop until the calls are closed."""
        started.set_result(asyncio.get_running_loop())
        await self._ended.wait()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._caller.close()

    async def _call(self, question: Question) -> Response:
        """Calls the server and stores the response."""
        async with self._room:
            limit = self._server.max_cost
            if limit is not None and self.usage.cost(self._server.prices) >= limit:
                self.out_of_money = True
            if self.out_of_money or self._closing or self.failure is not None:
                raise Stopped
            try:
                answer = await self._caller.ask(
                    max_tokens=self._server.max_tokens, temperature=self._server.temperature, seed=question.seed,
                    messages=question.messages, extra_headers={"Idempotency-Key": question.key},
                )  # fmt: skip
                line = self._paid[question.key] = _line(question, answer)
            except refusals() as error:
                refused = f"the server refuses it ({one_line(error)})"
                self._refused += 1
                if self._refused >= MOST_REFUSED and not self.usage.calls:
                    self.failure = self.failure or UserError(f"every question is refused: {refused}")
                raise QuestionRefused(refused) from error
            except self._caller.failures as error:
                self.failure = self.failure or UserError(explain(error, self._server))
                raise Stopped from error
            except UserError as error:
                self.failure = self.failure or error
                raise Stopped from error
            self.usage.add(line)
            return _response(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Drops unsent calls, and waits at most `FINISH_SECONDS` for calls in flight."""
        self._closing = True
        if self._loop is not None:
            wait(list(self._asked), FINISH_SECONDS)
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()
        self._paid.__exit__()


def _line(question: Question, answer: Any) -> dict[str, Any]:
    """The stored part of a response."""
    choice, usage = answer.choices[0], answer.usage
    text = choice.message.content or ""
    asked = sum(len(message["content"]) for message in question.messages)
    return {
        **{name: getattr(question, name) for name in ("prompt_id", "stage", "attempt")},
        "text": text,
        "finish": choice.finish_reason or "stop",
        "prompt_tokens": usage.prompt_tokens if usage else -(-asked // 4),
        "completion_tokens": usage.completion_tokens if usage else -(-len(text) // 4),
        **({} if usage else {"counted": "characters / 4"}),
    }


def _response(line: Mapping[str, Any]) -> Response:
    text = line["text"].encode(errors="replace").decode()  # replaces lone surrogates
    return Response(text, line["finish"])


@cache
def template(builder: str, name: str) -> str:
    """The text of a template of a builder, such as "rust_build"."""
    folder = resources.files(f"strop_tasks.curation.{builder}")
    return folder.joinpath("templates", f"{name}.txt").read_text("utf-8")


def messages(text: str, values: Mapping[str, str]) -> list[dict[str, str]]:
    """The messages of a template's text, filled in, as a server takes them."""
    return [{"role": m.role, "content": m.content} for m in templates.messages(text, values)]


@contextmanager
def opened(path: Path, identity: dict[str, Any], command: str) -> Iterator[None]:
    """Creates or resumes the folder of a build that calls a model, and locks it for this process.

    Raises UserError for a folder that holds something else, holds a build of another identity, or is in use.
    """
    with held(path, command, (path / BUILD).exists):
        before = read_object(path / BUILD)
        if before is None:
            write_json(path / BUILD, identity)
        else:
            refuse_other(path, before, identity, "name another folder, or the same settings")
        yield
