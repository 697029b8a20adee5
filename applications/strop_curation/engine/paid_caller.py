"""The process that calls the server and journals the responses. It outlives a killed build until its calls are done.

From a socket it reads a connection and then questions, one JSON line each. It calls at once, writes each response to
the journal, then reports its place there. When the socket closes, it finishes and journals the calls in flight. It
leads its own session, so signals to the build's process group miss it, and it shares the journal's lock, for which
the next build waits.

Limit: killing this process loses the calls in flight. They are sent again with the same `Idempotency-Key`, by which a
server that supports it recognises them.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from strop.core.errors import UserError
from strop.core.journal import Appender
from strop.policies.connection import Connection, ModelCaller, explain, one_line, refusals

LONGEST_LINE = 2**26
"""Bytes of one message."""


class JournalingCaller:
    """Calls one server and writes its responses down."""

    def __init__(
        self, server: Connection, caller: ModelCaller, journal: Appender, reply: "asyncio.StreamWriter"
    ) -> None:
        self._server, self._caller, self._journal, self._reply = server, caller, journal, reply

    async def call(self, question: dict[str, Any]) -> None:
        """Calls, journals and reports; an error is reported in one line."""
        key = question["key"]
        try:
            response = await self._caller.ask(
                max_tokens=self._server.max_tokens,
                messages=question["messages"],
                temperature=self._server.temperature,
                seed=question["seed"],
                extra_headers={"Idempotency-Key": key},
            )
            self._say({"key": key, "place": self._journal.append(self._line(question, response))})
        except refusals() as error:
            self._say({"key": key, "refused": f"the server refuses it ({one_line(error)})"})
        except self._caller.failures as error:
            self._say({"key": key, "fatal": explain(error, self._server)})
        except UserError as error:
            self._say({"key": key, "fatal": str(error)})

    def _line(self, question: dict[str, Any], response: Any) -> dict[str, Any]:
        """The journal's line."""
        choice, usage = response.choices[0], response.usage
        text = choice.message.content or ""
        asked = sum(len(message["content"]) for message in question["messages"])
        line = {name: question[name] for name in ("key", "prompt_id", "stage", "attempt")}
        return {
            **line,
            "text": text,
            "finish": choice.finish_reason or "stop",
            "prompt_tokens": usage.prompt_tokens if usage else -(-asked // 4),
            "completion_tokens": usage.completion_tokens if usage else -(-len(text) // 4),
            **({} if usage else {"counted": "characters / 4"}),
        }

    def _say(self, message: dict[str, Any]) -> None:
        if not self._reply.is_closing():
            self._reply.write(json.dumps(message).encode() + b"\n")


async def serve(connection: socket.socket) -> None:
    """The process's whole life."""
    reader, writer = await asyncio.open_connection(sock=connection, limit=LONGEST_LINE)
    first = await _line(reader)
    if first is None:
        return
    journal, server = Appender(Path(first.pop("journal"))), Connection(**first)
    model = ModelCaller(server, "a build that asks a model")
    caller = JournalingCaller(server, model, journal, writer)
    under_way: set[asyncio.Task[None]] = set()
    while (question := await _line(reader)) is not None:
        task = asyncio.create_task(caller.call(question))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
    if under_way:
        await asyncio.wait(under_way, timeout=2 * server.timeout_seconds)
    await model.close()


async def _line(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next message, None when the other end has closed."""
    try:
        line = await reader.readline()
    except ConnectionError:
        return None
    message: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
    return message


def main() -> None:
    """Serves the socket whose descriptor is the last argument."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    asyncio.run(serve(socket.socket(fileno=int(sys.argv[-1]))))
