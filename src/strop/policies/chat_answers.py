"""Answers of chat and text completions in OpenAI's format, whole or as the events of a stream.

A stream sends text as it is sampled, but only once it is certain to be text of the answer, so that its pieces add up to
the same answer as without streaming. Calls are sent when they are complete, in the deltas of OpenAI's API.
"""

import json
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from strop.policies.chat_options import RefusedChat
from strop.policies.chat_wire import ChatChoice, ChatReply, ChatRequest
from strop.policies.tool_calls import ToolCall


@dataclass(frozen=True)
class Envelope:
    """The metadata of an answer.

    key      part of all its ids
    created  seconds since 1970
    model    the model's name
    """

    key: str
    created: int
    model: str

    @classmethod
    def of(cls, asked: ChatRequest, model: str, *, play: bool) -> "Envelope":
        """A new one; in a play it depends on the request alone, since later prompts may contain the ids."""
        return (
            cls(asked.digest[:24], 0, model) if play else cls(secrets.token_hex(12), int(time.time()), model)
        )

    def call_id(self, choice: int, number: int) -> str:
        """The id of a call in a choice."""
        return f"call_{self.key}_{choice}_{number}"


class AnswerStream(Protocol):
    """Makes the events of one stream."""

    def more(self, index: int, choice: ChatChoice) -> Iterator[dict[str, Any]]:
        """Events for new content of an unfinished choice."""

    def end(self, reply: ChatReply) -> Iterator[dict[str, Any]]:
        """All remaining events. Raises RefusedChat."""

    def fault(self, error: RefusedChat) -> Iterator[dict[str, Any]]:
        """The final events if there is no answer."""


def parts_of_choice(asked: ChatRequest, choice: ChatChoice) -> tuple[str, list[ToolCall]]:
    """(text, calls) of a whole choice. Raises RefusedChat if a required call is missing, except in a play."""
    text, calls = asked.tools.parts(choice.text, cut=choice.cut)
    if asked.must and (fault := asked.tools.fault(calls, cut=choice.cut)):
        raise RefusedChat(fault, 500, "no_call", param="tool_choice")
    return text, calls


def certain(asked: ChatRequest, choice: ChatChoice) -> str:
    """The part of an unfinished choice that is certain to be text."""
    if not asked.tools.listed:
        return choice.text
    return choice.text[: asked.tools.begins(choice.text)].rstrip()  # white space before a call is left out


def response(asked: ChatRequest, reply: ChatReply, envelope: Envelope) -> dict[str, Any]:
    """The body of an answer that is not streamed. Raises RefusedChat."""
    choices = [_choice(asked, n, choice, envelope) for n, choice in enumerate(reply.choices)]
    kind = "chat.completion" if asked.api == "chat" else "text_completion"
    return {**_head(asked, envelope, kind), "choices": choices, "usage": usage_of(reply)}


def _choice(asked: ChatRequest, index: int, choice: ChatChoice, envelope: Envelope) -> dict[str, Any]:
    finish, logprobs = "length" if choice.cut else "stop", _logprobs(asked, choice.pieces)
    if asked.api == "text":
        return {"index": index, "text": choice.text, "logprobs": logprobs, "finish_reason": finish}
    text, calls = parts_of_choice(asked, choice)
    message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None}
    if calls:
        message["tool_calls"], finish = _wired(calls, index, envelope), "tool_calls"
    return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": finish}


@dataclass
class _Given:
    """What a stream has sent of a choice: whether it began, its text, the number of pieces, and where they end."""

    begun: bool = False
    text: str = ""
    pieces: int = 0
    at: int = 0


class CompletionStream:
    """Events of chat and text completions."""

    def __init__(self, asked: ChatRequest, envelope: Envelope) -> None:
        self._asked, self._envelope = asked, envelope
        self._chat = asked.api == "chat"
        self._head = _head(asked, envelope, "chat.completion.chunk" if self._chat else "text_completion")
        if asked.usage:
            self._head["usage"] = None
        self._given = [_Given() for _ in range(asked.choices)]

    def more(self, index: int, choice: ChatChoice) -> Iterator[dict[str, Any]]:
        """Yields the new text of a choice, if there is any."""
        text = certain(self._asked, choice)
        if len(text) > len(self._given[index].text):
            yield self._text(index, text, choice.pieces)

    def end(self, reply: ChatReply) -> Iterator[dict[str, Any]]:
        """Yields the remaining text, the calls, the finish reasons and the usage."""
        parts = [parts_of_choice(self._asked, choice) for choice in reply.choices]
        for index, (choice, (text, calls)) in enumerate(zip(reply.choices, parts, strict=True)):
            given = self._given[index]
            if not given.begun or text != given.text or given.pieces < len(choice.pieces):
                yield self._text(index, text, choice.pieces, none=bool(calls) and not text, last=True)
            for number, call in enumerate(_wired(calls, index, self._envelope)):
                function = call["function"]
                opened = {"index": number, **call, "function": {**function, "arguments": ""}}
                arguments = {"index": number, "function": {"arguments": function["arguments"]}}
                yield self._event(index, {"tool_calls": [opened]})
                yield self._event(index, {"tool_calls": [arguments]})
            yield self._event(index, {}, finish="tool_calls" if calls else "length" if choice.cut else "stop")
        if self._asked.usage:
            yield {**self._head, "choices": [], "usage": usage_of(reply)}

    def fault(self, error: RefusedChat) -> Iterator[dict[str, Any]]:
        """Yields the error in OpenAI's format."""
        yield error.body()

    def _text(
        self,
        index: int,
        text: str,
        pieces: Sequence[tuple[str, float]],
        *,
        none: bool = False,
        last: bool = False,
    ) -> dict[str, Any]:
        """The new text of a choice, with the tokens that end in it. `none`: the choice has no text at all."""
        given = self._given[index]
        new, end, at = text[len(given.text) :], given.pieces, given.at
        while end < len(pieces) and (last or at + len(pieces[end][0]) <= len(text)):
            at += len(pieces[end][0])
            end += 1
        delta: dict[str, Any] = {"content": None if none else new}
        delta |= {} if given.begun else {"role": "assistant"}
        logprobs = _logprobs(self._asked, pieces[given.pieces : end], given.at)
        self._given[index] = _Given(True, text, end, at)
        return self._event(index, delta, logprobs)

    def _event(
        self, index: int, delta: dict[str, Any], logprobs: Any = None, finish: str | None = None
    ) -> dict[str, Any]:
        said = {"delta": delta} if self._chat else {"text": delta.get("content", "")}
        return {
            **self._head,
            "choices": [{"index": index, **said, "logprobs": logprobs, "finish_reason": finish}],
        }


def _head(asked: ChatRequest, envelope: Envelope, kind: str) -> dict[str, Any]:
    word = "chatcmpl" if asked.api == "chat" else "cmpl"
    return {
        "id": f"{word}-{envelope.key}", "object": kind, "created": envelope.created, "model": envelope.model,
    }  # fmt: skip


def _wired(calls: Sequence[ToolCall], choice: int, envelope: Envelope) -> list[dict[str, Any]]:
    return [
        {
            "id": envelope.call_id(choice, number),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for number, call in enumerate(calls)
    ]


def _logprobs(asked: ChatRequest, pieces: Sequence[tuple[str, float]], at: int = 0) -> dict[str, Any] | None:
    """Log-probabilities of tokens, the first of which begins at character `at` of the text."""
    if not asked.logprobs:
        return None
    if asked.api == "text":
        offsets = list[int]()
        for text, _ in pieces:
            offsets.append(at)
            at += len(text)
        tokens, values = [text for text, _ in pieces], [value for _, value in pieces]
        return {"tokens": tokens, "token_logprobs": values, "top_logprobs": None, "text_offset": offsets}
    content = [
        {"token": text, "logprob": value, "bytes": list(text.encode()), "top_logprobs": []}
        for text, value in pieces
    ]
    return {"content": content, "refusal": None}


def usage_of(reply: ChatReply) -> dict[str, int]:
    """Token counts of the prompt and of all choices."""
    tokens = sum(choice.tokens for choice in reply.choices)
    return {
        "prompt_tokens": reply.prompt_tokens, "completion_tokens": tokens, "total_tokens": reply.prompt_tokens + tokens,
    }  # fmt: skip
