"""Converts requests of OpenAI's chat and text completions to prompts for the policy.

Tools are described in the system message and called in the form of the model's family (`policies.model_calls`), so any
chat template works. Replies to calls are shown in the order of the calls. An assistant message with the same text and
calls as the policy produced becomes the exact text that was sampled. Names of participants are dropped.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from strop.policies.chat_options import Api, ChatTerms, RefusedChat, read_options
from strop.policies.chat_tools import ChatTools, read_tools
from strop.policies.model_calls import ModelCalls, replies
from strop.policies.tool_calls import ToolCall
from strop_verify.core.listening import read_json
from strop_verify.core.rollout import Completion, Message

Said = tuple[str, tuple[tuple[str, str], ...]]
"""An assistant message: its stripped text, and (name, arguments as JSON) of each call."""
_ROLES: Mapping[str, Literal["system", "user", "assistant"]] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant",
}  # fmt: skip


@dataclass(frozen=True)
class ChatRequest:
    """A client's request.

    prompt    a conversation, or the text to continue
    tools     what may be called, and what must be
    digest    hash of everything the answer depends on, except how to sample
    sampling  the sampling options that the client gave: temperature, top_p, max_tokens, stop (a tuple), seed
    choices   number of answers
    schema    JSON schema of the answer, None for none
    stream    whether to stream the answer; `usage`: with token counts at the end
    logprobs  whether to return log-probabilities
    must      whether an answer that lacks a required call is an error; else it is text
    body      the request as received
    """

    prompt: tuple[Message, ...] | str
    tools: ChatTools
    digest: str
    sampling: Mapping[str, Any]
    api: Api = "chat"
    choices: int = 1
    schema: Any = None
    stream: bool = False
    usage: bool = False
    logprobs: bool = False
    must: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ChatChoice:
    """One answer to a request, complete or partial.

    text    what was said, including what was begun for the policy
    cut     whether it hit the token limit
    tokens  number of sampled tokens
    pieces  (text, natural log-probability) of each token of the text, if requested
    """

    text: str
    cut: bool = False
    tokens: int = 0
    pieces: Sequence[tuple[str, float]] = ()


Hear = Callable[[int, ChatChoice], None]
"""A callback that gets a choice's number and its state so far, from any thread."""


@dataclass(frozen=True)
class ChatReply:
    """The policy's answers to a request."""

    prompt_tokens: int
    choices: tuple[ChatChoice, ...]


def choice_of(
    asked: ChatRequest, completion: Completion, pieces: Sequence[tuple[str, float]] = ()
) -> ChatChoice:
    """A completion as a choice, preceded by the text that was begun for it."""
    text, cut = "".join(asked.tools.begun) + completion.text, completion.finish_reason == "length"
    return ChatChoice(text, cut, len(completion.token_ids), pieces)


def read_body(body: bytes) -> dict[str, Any]:
    """The JSON object of a body. Raises RefusedChat."""
    try:
        data = read_json(body)
    except ValueError as error:
        raise RefusedChat(str(error)) from None
    if not isinstance(data, dict):
        raise RefusedChat("the body is not a JSON object")
    return data


def request_of(
    data: Mapping[str, Any], api: Literal["chat", "text"], terms: ChatTerms, said: Mapping[Said, str]
) -> ChatRequest:
    """Reads a request's body. `said`: {message as clients received it: text that the policy sampled} of this play.

    Raises RefusedChat, also for options that the terms do not offer.
    """
    form = data.get("response_format")
    options = read_options(data, api, terms)
    schema = _schema(form, terms) if form is not None else None
    tools = read_tools(data, terms.calls) if api == "chat" else ChatTools((), terms.calls)
    if schema is not None and tools.listed:
        fault = "response_format: an answer that may call functions cannot be constrained; leave tools out"
        raise RefusedChat(fault, code="unsupported_parameter", param="response_format")
    prompt: tuple[Message, ...] | str
    if api == "chat":
        prompt = _told(_conversation(data.get("messages"), said, terms.calls), tools)
    else:
        prompt = _text_prompt(data.get("prompt"))
    shown = prompt if isinstance(prompt, str) else [message.model_dump() for message in prompt]
    asked = [shown, tools.listed, *([schema, tools.begun] if schema is not None or tools.begun[1] else [])]
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    logprobs = options.logprobs is not None if api == "text" else bool(options.logprobs)
    return ChatRequest(
        prompt, tools, digest, options.sampling, api, options.n, schema, options.stream, options.usage,
        logprobs, not terms.play, data,
    )  # fmt: skip


def _schema(form: Any, terms: ChatTerms) -> Any:
    """The JSON schema of `response_format`, None for text. Raises RefusedChat."""
    kind = form.get("type") if isinstance(form, dict) else None
    if kind == "text":
        return None
    if kind not in ("json_object", "json_schema") or not terms.schemas:
        fault = "response_format: only text is supported here"
        raise RefusedChat(fault, code="unsupported_parameter", param="response_format")
    if kind == "json_object":
        return {"type": "object"}
    given = form.get("json_schema")
    schema = given.get("schema") if isinstance(given, dict) else None
    if not isinstance(schema, dict):
        raise RefusedChat("response_format.json_schema.schema must be an object", param="response_format")
    return schema


def _text_prompt(prompt: Any) -> str:
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str) or not prompt:
        raise RefusedChat("prompt must be one non-empty string", param="prompt")
    return _clean(prompt)


def _unread(message: str) -> RefusedChat:
    return RefusedChat(message, param="messages")


def _conversation(messages: Any, said: Mapping[Said, str], form: ModelCalls) -> list[Message]:
    if not isinstance(messages, list) or not messages:
        raise _unread("messages must be a non-empty list")
    found: list[Message] = []
    waiting: dict[str, str | None] = {}
    for number, one in enumerate(messages):
        role = str(one.get("role")) if isinstance(one, dict) else ""
        if role == "tool":
            key = one.get("tool_call_id")
            if not isinstance(key, str) or waiting.get(key, "") is not None:
                raise _unread(f"messages[{number}].tool_call_id does not name a call that awaits a reply")
            waiting[key] = _content(one, number)
            continue
        found += _replied(waiting, number)
        if role not in _ROLES:
            raise _unread(f"messages[{number}].role must be system, user, assistant or tool")
        text = _content(one, number)
        if role == "assistant":
            calls = _calls(one, number)
            waiting = dict.fromkeys((key for key, _ in calls), None)
            if len(waiting) < len(calls):
                raise _unread(f"messages[{number}].tool_calls has a duplicate id")
            parts = [*([text] if text else []), *(form.write(call) for _, call in calls)]
            text = said.get(said_as(text, [call for _, call in calls]), "\n".join(parts))
        found.append(Message(role=_ROLES[role], content=text))
    return [*found, *_replied(waiting, len(messages))]


def _replied(waiting: dict[str, str | None], number: int) -> Sequence[Message]:
    """The replies to the waiting calls, in order; clears `waiting`."""
    outputs = [text for text in waiting.values() if text is not None]
    if len(outputs) < len(waiting):
        missing = next(key for key, text in waiting.items() if text is None)
        raise _unread(f"messages[{number}]: the reply to the call {missing!r:.80} must come before it")
    waiting.clear()
    return replies(outputs) if outputs else ()


def _told(messages: list[Message], tools: ChatTools) -> tuple[Message, ...]:
    """The messages with the tools in the first system message."""
    if not tools.listed:
        return tuple(messages)
    rules, head = _clean(tools.told), messages[0]
    if head.role != "system":
        return (Message(role="system", content=rules), *messages)
    return (Message(role="system", content=f"{head.content}\n\n{rules}"), *messages[1:])


def _content(message: Mapping[str, Any], number: int) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [
            part.get(part["type"])
            if isinstance(part, dict) and part.get("type") in ("text", "refusal")
            else None
            for part in content
        ]
        if not all(isinstance(part, str) for part in parts):
            raise _unread(f"messages[{number}].content has parts other than text")
        content = "".join(map(str, parts))
    if content is None:
        content = ""
    refused = message.get("refusal")
    if not isinstance(content, str) or not isinstance(refused, str | None):
        raise _unread(f"messages[{number}].content is not text")
    if message.get("audio"):
        raise _unread(f"messages[{number}] has audio, which is not supported")
    return _clean("\n".join(filter(None, [content, refused])))


def _calls(message: Mapping[str, Any], number: int) -> list[tuple[str, ToolCall]]:
    """(id that its reply uses, call) of each call."""
    found = []
    listed = message.get("tool_calls") or []
    if not isinstance(listed, list):
        raise _unread(f"messages[{number}].tool_calls is not a list")
    if message.get("function_call"):
        raise _unread(f"messages[{number}].function_call: use tool_calls")
    for call in listed:
        call = call if isinstance(call, dict) else {}
        function, key = call.get("function"), call.get("id")
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str) or not isinstance(key, str):
            raise _unread(f"messages[{number}].tool_calls has an entry without function, name or id")
        given = function.get("arguments") or {}
        try:
            given = json.loads(given) if isinstance(given, str) else given
        except (ValueError, RecursionError):
            given = {"arguments": given}
        call_of = ToolCall(_clean(name), given if isinstance(given, dict) else {"arguments": given})
        found.append((key, call_of))
    return found


def _clean(text: str) -> str:
    """Replaces lone surrogates, which no tokenizer accepts."""
    return text.encode(errors="replace").decode()


def said_as(text: str, calls: Sequence[ToolCall]) -> Said:
    """An assistant message in comparable form."""
    return text.strip(), tuple((call.name, json.dumps(call.arguments, sort_keys=True)) for call in calls)
