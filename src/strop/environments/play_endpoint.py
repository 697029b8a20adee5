"""One play's endpoint: turns an agent's requests, one after another, into turns of the play.

A request whose digest was seen before is the same turn, so a client that retries gets the same answer. After the end
every request is refused, with messages and status codes that tell clients not to retry.
"""

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from socket import socket
from typing import Any

from strop.policies.chat_options import ChatTerms, RefusedChat
from strop.policies.chat_wire import ChatReply, ChatRequest, Hear, Said, choice_of, said_as
from strop.policies.model_calls import MODEL_FORMS, ModelForm
from strop_verify.core.play import Converse, Ran, Services, StopReason
from strop_verify.core.rollout import Completion

MODEL = "policy"
"""The model name under which agents find the policy."""
MOST_WAITING = 64
"""Maximum number of an agent's requests waiting for their turn."""
_OVER = "the play is over"
_LEAVING = 10.0
"""Seconds an agent has to exit after asking for more turns than it has; many agents would retry forever."""


@dataclass(eq=False)
class AgentTurn:
    """A request and its pending answer."""

    request: ChatRequest
    reply: "Future[ChatReply]"
    prompt_tokens: int = 0

    def __str__(self) -> str:
        prompt = self.request.prompt
        return prompt if isinstance(prompt, str) else f"{prompt[-1].role}: {prompt[-1].content}"


@dataclass(frozen=True)
class AgentEnded:
    """How the agent ended: `ran`, its program's result, or `fault`, what its function raised."""

    ran: Ran | None = None
    fault: str = ""

    def __str__(self) -> str:
        return str(self.ran) if self.ran else self.fault or "returned"


class PlayEndpoint:
    """The HTTP endpoint of one agent.

    seconds  the agent's own total time, counted from each answer to its next request
    late     called when the agent exceeds that, or keeps asking after its last turn
    calls    how the policy writes calls
    over     wraps the server's ASGI application
    """

    def __init__(
        self, listening: socket, seconds: float, late: Callable[[], None], calls: ModelForm = "hermes",
        over: Callable[[Any], Any] = lambda app: app,
    ) -> None:  # fmt: skip
        self._lock = threading.Lock()
        self._turns: dict[str, AgentTurn] = {}
        self._asked: deque[AgentTurn] = deque()
        self._awaits: Future[AgentTurn | AgentEnded] | None = None
        self._ended: AgentEnded | None = None
        self._sealed: RefusedChat | None = None
        self._asks_on = False  # a request was refused after the endpoint was sealed
        self._said: dict[Said, str] = {}
        self._left, self._late = seconds, late
        from strop.policies.chat_server import ChatServer, later  # needs the extra `serve`

        self._later = later
        self._server = ChatServer(
            listening, self._ask, model=MODEL, terms=ChatTerms(play=True, calls=MODEL_FORMS[calls]),
            secret=secrets.token_urlsafe(24), said=self._said, over=over,
        )  # fmt: skip
        self.url = self._server.url
        """The agent's base URL."""

    def next(self, *, first: bool = False) -> "Future[AgentTurn | AgentEnded]":
        """The agent's next request, its end, or the end of its time. Wait for one before asking for the next.

        The first request has no limit here: the play's set-up limit bounds it.
        """
        future: Future[AgentTurn | AgentEnded] = Future()
        with self._lock:
            if self._asked:
                future.set_result(self._asked.popleft())
            elif self._ended is not None:
                future.set_result(self._ended)
            else:
                self._awaits = future
                if first:
                    return future
                if self._asks_on:
                    self._leave(future)
                cancel, began = self._later(self._left, lambda: self._expired(future)), time.monotonic()

                def took(_: object) -> None:
                    cancel()
                    self._left = max(0.0, self._left - (time.monotonic() - began))

                future.add_done_callback(took)
        return future

    def answer(self, turn: AgentTurn, completion: Completion) -> None:
        """Sends the policy's completion to the agent."""
        choice = choice_of(turn.request, completion)
        self._said.setdefault(said_as(*turn.request.tools.parts(choice.text, cut=choice.cut)), choice.text)
        turn.reply.set_result(ChatReply(turn.prompt_tokens, (choice,)))

    def converse(self, turn: AgentTurn, max_tokens: int | None) -> Converse:
        """The play's next step: the policy answers the request."""

        def over(reason: StopReason, why: str) -> None:
            self.seal(reason, why)
            if not turn.reply.done():
                assert self._sealed is not None
                turn.reply.set_exception(self._sealed)

        prompt = turn.request.prompt
        text, messages = (prompt, ()) if isinstance(prompt, str) else ("", prompt)
        placed = lambda count: setattr(turn, "prompt_tokens", count)  # noqa: E731
        begun = turn.request.tools.begun
        return Converse(
            text, messages, "".join(begun), max_tokens=max_tokens, mark=begun[0], placed=placed, over=over
        )

    def ended(self, how: AgentEnded) -> None:
        """Records that the agent has ended."""
        with self._lock:
            self._ended = how
            future, self._awaits = self._awaits, None
        _give(future, how)

    def seal(self, reason: StopReason = "answered", why: str = "") -> None:
        """Refuses every request from now on, including waiting ones. The first call's reason stands."""
        with self._lock:
            if self._sealed is None:
                full = "This model's maximum context length is reached, and " if reason == "context" else ""
                because = f": {why or reason}" if reason != "answered" else ""
                code = ("context_length_exceeded", 400) if full else ("play_over", 403)
                self._sealed = RefusedChat(f"{full}{_OVER}{because}", code[1], code[0])
            waiting, sealed = list(self._asked), self._sealed
            self._asked.clear()
        for turn in waiting:
            turn.reply.set_exception(sealed)

    def close(self) -> None:
        """Seals the endpoint and closes its server."""
        self.seal()
        with self._lock:
            turns, sealed = list(self._turns.values()), self._sealed
            self._awaits = None
        for turn in turns:
            if not turn.reply.done():
                turn.reply.set_exception(sealed)
        self._server.close()

    def _ask(self, request: ChatRequest, hear: Hear) -> "Future[ChatReply]":
        with self._lock:
            if self._sealed is not None:
                if not self._asks_on and self._awaits is not None:
                    self._leave(self._awaits)
                self._asks_on = True
                raise self._sealed
            if (known := self._turns.get(request.digest)) is not None:
                return known.reply
            if len(self._asked) >= MOST_WAITING:
                raise RefusedChat(f"{MOST_WAITING} requests are already waiting", 429, "rate_limit_exceeded")
            turn = self._turns[request.digest] = AgentTurn(request, Future())
            future, self._awaits = self._awaits, None
            if future is None:
                self._asked.append(turn)
        _give(future, turn)
        return turn.reply

    def _leave(self, future: "Future[AgentTurn | AgentEnded]") -> None:
        self._later(_LEAVING, lambda: self._expired(future, "it kept asking after its last turn"))

    def _expired(self, future: "Future[AgentTurn | AgentEnded]", why: str = "it ran out of time") -> None:
        with self._lock:
            if self._awaits is not future:
                return
            self._awaits = None
        self._late()
        self.seal("deadline", "the agent ran out of time")
        _give(future, AgentEnded(fault=why))


def _give(future: "Future[AgentTurn | AgentEnded] | None", what: AgentTurn | AgentEnded) -> None:
    if future is not None and future.set_running_or_notify_cancel():  # False if the play ended meanwhile
        future.set_result(what)


@dataclass(frozen=True)
class NextRequest:
    """An effect: the agent's next request, or its end."""

    endpoint: PlayEndpoint

    def start(self, services: Services) -> "Future[AgentTurn | AgentEnded]":
        """Starts waiting for the request; see `Effect`."""
        return self.endpoint.next()

    def __str__(self) -> str:
        return "the agent goes on"
