"""OpenAI's chat and text completions as they go over the wire: a request as the policy's prompt, an answer as JSON.

Tools are told in the system message and called in the form `hermes`, so that any chat template will do. Replies to
calls stand in the order of the calls. An assistant's message that is what the policy said, by its text and calls,
stands for the very text that was sampled. What the answer would have to keep and cannot (`response_format`, `logprobs`,
tools that are no functions, the older `functions`) is refused; names of participants are not told.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from strop.policies.tool_calls import CallFault, HermesCalls, ToolCall
from strop_verify.core.errors import StropError
from strop_verify.core.listening import read_json
from strop_verify.core.rollout import Completion, Message
from strop_verify.core.text import without_thinking

Said = tuple[str, tuple[tuple[str, str], ...]]
"""An assistant's message: its text without white space at both ends, and (name, arguments as JSON) of each call."""
_FORM = HermesCalls()
_ROLES: Mapping[str, Literal["system", "user", "assistant"]] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant",
}  # fmt: skip
_UNKEPT = (
    "audio", "best_of", "echo", "function_call", "functions", "logprobs", "moderation", "prediction", "suffix",
    "top_logprobs", "web_search_options",
)  # fmt: skip
"""Fields that ask for what no answer here holds."""
_SAMPLING = ("temperature", "top_p", "stop", "seed", "frequency_penalty", "presence_penalty", "logit_bias")


class RefusedChat(StropError):
    """A request that gets an error instead of an answer: HTTP status, and the code that clients look at."""

    def __init__(self, message: str, status: int = 400, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status, self.code = status, code

    def body(self) -> dict[str, Any]:
        """As OpenAI's API says it."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": str(self), "type": kind, "param": None, "code": self.code}}


@dataclass(frozen=True)
class ChatRequest:
    """What a client asks.

    prompt    a conversation, or the text to continue
    tools     as OpenAI's API lists them
    digest    of all that the answer depends on, but for how to sample
    sampling  what the client asks of that, as it came
    """

    prompt: tuple[Message, ...] | str
    tools: tuple[Any, ...]
    digest: str
    sampling: Mapping[str, Any]
    stream: bool = False
    usage: bool = False
    """Whether a stream ends with the numbers of tokens."""


@dataclass(frozen=True)
class ChatReply:
    """What the policy said to a request."""

    text: str
    cut: bool
    """Whether it ran into the token limit."""
    prompt_tokens: int
    tokens: int

    @classmethod
    def of(cls, completion: Completion, prompt_tokens: int) -> "ChatReply":
        """A completion."""
        cut = completion.finish_reason == "length"
        return cls(completion.text, cut, prompt_tokens, len(completion.token_ids))


def read_request(body: bytes, *, chat: bool, said: Mapping[Said, str] | None = None) -> ChatRequest:
    """What a body asks. `said`: what the policy said in this play, by the messages that clients have got for it.

    Raises RefusedChat.
    """
    try:
        data = read_json(body)
    except ValueError as error:
        raise RefusedChat(str(error)) from None
    if not isinstance(data, dict):
        raise RefusedChat("the body is no JSON object")
    _kept(data)
    tools, choice = _tools(data)
    prompt = (
        _told(_conversation(data.get("messages"), said or {}), tools, choice)
        if chat
        else _text_prompt(data.get("prompt"))
    )
    shown = prompt if isinstance(prompt, str) else [message.model_dump() for message in prompt]
    digest = hashlib.sha256(json.dumps([shown, tools], sort_keys=True).encode()).hexdigest()
    options = data.get("stream_options")
    return ChatRequest(
        prompt,
        tuple(tools),
        digest,
        {name: data[name] for name in _SAMPLING if data.get(name) is not None}
        | {"max_tokens": data.get("max_completion_tokens") or data.get("max_tokens")},
        stream=bool(data.get("stream")),
        usage=isinstance(options, dict) and bool(options.get("include_usage")),
    )


def _kept(data: Mapping[str, Any]) -> None:
    """Raises RefusedChat for what the answer would have to be and cannot."""
    if data.get("n") not in (None, 1):
        raise RefusedChat("n must be 1: ask again, with other words, for another answer")
    for name in _UNKEPT:
        if data.get(name) and (name, data[name]) != ("best_of", 1):
            raise RefusedChat(f"{name} is not given here: leave it out")
    form = data.get("response_format")
    if form is not None and (not isinstance(form, dict) or form.get("type") != "text"):
        raise RefusedChat("response_format: answers are text, and are held to no form")
    if data.get("modalities") not in (None, ["text"]):
        raise RefusedChat("modalities: answers are text")


def _tools(data: Mapping[str, Any]) -> tuple[list[Any], str]:
    """The functions that can be called, as `tools` lists them, and what is to be said of when. Raises RefusedChat."""
    tools = data.get("tools") or []
    for number, tool in enumerate(tools if isinstance(tools, list) else [None]):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise RefusedChat(f"tools[{number}] is no function with a name; others cannot be called here")
    choice = data.get("tool_choice")
    if choice == "none":
        return [], ""
    if choice in (None, "auto") or not tools:
        return tools, ""
    if choice == "required":
        return tools, "Call a function."
    named = choice.get("function") if isinstance(choice, dict) else None
    name = named.get("name") if isinstance(named, dict) else None
    if name not in [tool["function"]["name"] for tool in tools]:
        raise RefusedChat("tool_choice must be auto, none, required, or a function that tools lists")
    return tools, f"Call the function {name}."


def _text_prompt(prompt: Any) -> str:
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str) or not prompt:
        raise RefusedChat("prompt must be one text")
    return _clean(prompt)


def _conversation(messages: Any, said: Mapping[Said, str]) -> list[Message]:
    if not isinstance(messages, list) or not messages:
        raise RefusedChat("messages must be a list with a message in it")
    found: list[Message] = []
    replies: dict[str, str | None] = {}
    for number, one in enumerate(messages):
        role = str(one.get("role")) if isinstance(one, dict) else ""
        if role == "tool":
            key = one.get("tool_call_id")
            if not isinstance(key, str) or replies.get(key, "") is not None:
                raise RefusedChat(f"messages[{number}].tool_call_id names no call that waits for its reply")
            replies[key] = _content(one, number)
            continue
        found += _replied(replies, number)
        if role not in _ROLES:
            raise RefusedChat(f"messages[{number}] has no role of system, user, assistant or tool")
        text = _content(one, number)
        if role == "assistant":
            calls = _calls(one, number)
            replies = dict.fromkeys((key for key, _ in calls), None)
            if len(replies) < len(calls):
                raise RefusedChat(f"messages[{number}].tool_calls holds an id twice")
            text = _as_sampled(text, [call for _, call in calls], said)
        found.append(Message(role=_ROLES[role], content=text))
    return [*found, *_replied(replies, len(messages))]


def _replied(replies: dict[str, str | None], number: int) -> Sequence[Message]:
    """What the calls gave, in their order; forgets it."""
    outputs = [text for text in replies.values() if text is not None]
    if len(outputs) < len(replies):
        missing = next(key for key, text in replies.items() if text is None)
        raise RefusedChat(f"messages[{number}]: the reply to the call {missing!r:.80} must stand before it")
    replies.clear()
    return _FORM.replies(outputs, "") if outputs else ()


def _as_sampled(text: str, calls: Sequence[ToolCall], said: Mapping[Said, str]) -> str:
    """An assistant's message as the policy said it, or would say it."""
    written = "\n".join([*([text] if text else []), *(_FORM.write(call, {}) for call in calls)])
    return said.get(said_as(text, calls), written)


def _told(messages: list[Message], tools: Sequence[Any], choice: str) -> tuple[Message, ...]:
    """With the tools in the first system message."""
    if not tools:
        return tuple(messages)
    rules, head = _clean("\n\n".join(filter(None, [_FORM.described(tools), choice]))), messages[0]
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
            raise RefusedChat(f"messages[{number}].content holds something other than text")
        content = "".join(map(str, parts))
    if content is None:
        content = ""
    refused = message.get("refusal")
    if not isinstance(content, str) or not isinstance(refused, str | None):
        raise RefusedChat(f"messages[{number}].content is no text")
    if message.get("audio"):
        raise RefusedChat(f"messages[{number}] holds audio")
    return _clean("\n".join(filter(None, [content, refused])))


def _calls(message: Mapping[str, Any], number: int) -> list[tuple[str, ToolCall]]:
    """(what its reply names it by, call)."""
    found = []
    listed = message.get("tool_calls") or []
    if not isinstance(listed, list):
        raise RefusedChat(f"messages[{number}].tool_calls is no list")
    if message.get("function_call"):
        raise RefusedChat(f"messages[{number}].function_call: write tool_calls")
    for call in listed:
        call = call if isinstance(call, dict) else {}
        function, key = call.get("function"), call.get("id")
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str) or not isinstance(key, str):
            raise RefusedChat(
                f"messages[{number}].tool_calls holds what is no function with a name and an id"
            )
        given = function.get("arguments") or {}
        try:
            given = json.loads(given) if isinstance(given, str) else given
        except (ValueError, RecursionError):
            given = {"arguments": given}
        call_of = ToolCall(_clean(name), given if isinstance(given, dict) else {"arguments": given})
        found.append((key, call_of))
    return found


def _clean(text: str) -> str:
    """Without halves of surrogate pairs, which no tokenizer takes."""
    return text.encode(errors="replace").decode()


def said_as(text: str, calls: Sequence[ToolCall]) -> Said:
    """An assistant's message, to compare."""
    return text.strip(), tuple((call.name, json.dumps(call.arguments, sort_keys=True)) for call in calls)


def parts_of(text: str, tools: Sequence[Any], *, cut: bool = False) -> tuple[str, list[ToolCall]]:
    """(text, calls) of an answer to a request with these tools; what can't be read as a call is text."""
    if not tools:
        return text, []
    answer = without_thinking(text)
    try:
        calls = _FORM.read(answer, {}, whole=not cut)
    except CallFault:
        return text, []
    before = text.rfind(answer) + answer.find("<tool_call>")
    return text[:before].strip(), calls


def response(asked: ChatRequest, reply: ChatReply, model: str) -> dict[str, Any]:
    """The body of an answer that is not streamed."""
    chat = not isinstance(asked.prompt, str)
    kind = "chat.completion" if chat else "text_completion"
    said: dict[str, Any] = {"text": reply.text}
    finish = "length" if reply.cut else "stop"
    if chat:
        text, calls = parts_of(reply.text, asked.tools, cut=reply.cut)
        message: dict[str, Any] = {"role": "assistant", "content": text if text or not calls else None}
        if calls:
            message["tool_calls"], finish = _wired(calls, asked.digest), "tool_calls"
        said = {"message": message}
    choice = {"index": 0, **said, "logprobs": None, "finish_reason": finish}
    return {**_head(asked, kind, model), "choices": [choice], "usage": _usage(reply)}


def chunks(asked: ChatRequest, reply: ChatReply, model: str) -> Iterator[dict[str, Any]]:
    """The same as the events of a stream."""
    whole = response(asked, reply, model)
    (choice,) = whole["choices"]
    chat = "message" in choice
    head = {**_head(asked, "chat.completion.chunk" if chat else "text_completion", model), "usage": None}
    if not asked.usage:
        head.pop("usage")
    finish = {"index": 0, "logprobs": None, "finish_reason": choice["finish_reason"]}
    if chat:
        delta = dict(choice["message"])
        if "tool_calls" in delta:
            delta["tool_calls"] = [{"index": n, **call} for n, call in enumerate(delta["tool_calls"])]
        yield {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]}
        yield {**head, "choices": [{**finish, "delta": {}}]}
    else:
        yield {**head, "choices": [{**finish, "text": choice["text"]}]}
    if asked.usage:
        yield {**head, "choices": [], "usage": whole["usage"]}


def _wired(calls: Sequence[ToolCall], digest: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{digest[:16]}_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for number, call in enumerate(calls)
    ]


def _head(asked: ChatRequest, kind: str, model: str) -> dict[str, Any]:
    # No clock: an agent's prompts may hold what it got.
    return {"id": f"chatcmpl-{asked.digest[:24]}", "object": kind, "created": 0, "model": model}


def _usage(reply: ChatReply) -> dict[str, int]:
    total = reply.prompt_tokens + reply.tokens
    return {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.tokens, "total_tokens": total}
