"""OpenAI's Responses API on top of chat completions: requests become chat requests; replies become items, whole or as
events.

Nothing is stored: clients send the whole conversation, as text or as items (messages, calls, outputs of calls). An
assistant message and the calls after it are one message of the policy. Fields for stored state (previous_response_id,
conversation, prompt, item_reference, store) and tools other than functions are refused by name.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from strop.policies.chat_answers import Envelope, certain, parts_of_choice
from strop.policies.chat_options import ChatTerms, RefusedChat, read_options
from strop.policies.chat_wire import ChatChoice, ChatReply, ChatRequest, Said, request_of

_ROLES = ("system", "developer", "user", "assistant")
_TEXTS = ("input_text", "output_text", "text")
_RENAMED = {"messages": "input", "max_tokens": "max_output_tokens", "response_format": "text.format"}
"""{field of chat completions: its name in this API}."""


def read_response(data: Mapping[str, Any], terms: ChatTerms, said: Mapping[Said, str]) -> ChatRequest:
    """Reads a request's body. Raises RefusedChat, naming the field."""
    data = {name: _given(value) if name == "reasoning" else value for name, value in data.items()}
    options = read_options(data, "responses", terms)
    taken = ("model", "temperature", "top_p", "stream", "parallel_tool_calls")
    body = {name: data[name] for name in taken if data.get(name) is not None}
    body["messages"] = _messages(data)
    if data.get("max_output_tokens") is not None:
        body["max_tokens"] = data["max_output_tokens"]
    if tools := data.get("tools"):
        body["tools"] = _tools(tools)
    if (choice := data.get("tool_choice")) is not None:
        if isinstance(choice, dict) and choice.get("type") == "function":
            choice = {"type": "function", "function": {"name": choice.get("name")}}
        body["tool_choice"] = choice
    if data.get("text") is not None:
        body["response_format"] = _format(data["text"])
    if options.stream_options and options.stream_options.include_usage is not None:
        raise RefusedChat("stream_options.include_usage is not supported here", param="stream_options")
    try:
        asked = request_of(body, "chat", terms, said)
    except RefusedChat as error:
        raise _renamed(error) from None
    return ChatRequest(**{**vars(asked), "api": "responses", "body": data})


def _renamed(error: RefusedChat) -> RefusedChat:
    """The error with the field's name in this API."""
    name = _RENAMED.get(error.param or "")
    if name is None:
        return error
    told = str(error).removeprefix(f"{error.param}: ")
    return RefusedChat(f"{name}: {told}", error.status, error.code, param=name.partition(".")[0])


def _given(value: Any) -> Any:
    return {key: one for key, one in value.items() if one is not None} if isinstance(value, dict) else value


def _unread(message: str, param: str = "input") -> RefusedChat:
    return RefusedChat(message, param=param)


def _messages(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversation in the format of chat completions."""
    found: list[dict[str, Any]] = []
    if (rules := data.get("instructions")) is not None:
        if not isinstance(rules, str):
            raise _unread("instructions must be a string", "instructions")
        found.append({"role": "system", "content": rules})
    items = data.get("input")
    if isinstance(items, str) and items:
        return [*found, {"role": "user", "content": items}]
    if not isinstance(items, list) or not items:
        raise _unread("input must be a string or a list, and not empty")
    for number, item in enumerate(items):
        one = _message(item, f"input[{number}]")
        if "tool_calls" in one and found and found[-1]["role"] == "assistant":
            found[-1].setdefault("tool_calls", []).extend(one["tool_calls"])
        else:
            found.append(one)
    return found


def _message(item: Any, where: str) -> dict[str, Any]:
    """One item as a message."""
    item = item if isinstance(item, dict) else {}
    match item.get("type", "message" if "role" in item else None):
        case "message" if item.get("role") in _ROLES:
            return {"role": item["role"], "content": _text(item.get("content"), f"{where}.content")}
        case "function_call" if all(
            isinstance(item.get(key), str) for key in ("call_id", "name", "arguments")
        ):
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        case "function_call_output" if isinstance(item.get("call_id"), str):
            text = _text(item.get("output"), f"{where}.output")
            return {"role": "tool", "tool_call_id": item["call_id"], "content": text}
        case kind:
            fault = "is not a valid message, function_call or function_call_output"
            raise _unread(f"{where} ({kind!r:.40}) {fault}")


def _text(content: Any, where: str) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for part in content if isinstance(content, list) else [None]:
        part = part if isinstance(part, dict) else {}
        text = part.get("refusal" if part.get("type") == "refusal" else "text")
        if part.get("type") not in (*_TEXTS, "refusal") or not isinstance(text, str):
            raise _unread(f"{where} has parts other than text")
        parts.append(text)
    return "".join(parts)


def _tools(tools: Any) -> list[dict[str, Any]]:
    found = []
    for number, tool in enumerate(tools if isinstance(tools, list) else [None]):
        if (
            not isinstance(tool, dict)
            or tool.get("type") != "function"
            or not isinstance(tool.get("name"), str)
        ):
            fault = f"tools[{number}] is not a function with a name; other tools cannot be called here"
            raise _unread(fault, "tools")
        named = ("name", "description", "parameters", "strict")
        function = {key: tool[key] for key in named if tool.get(key) is not None}
        found.append({"type": "function", "function": function})
    return found


def _format(text: Any) -> Any:
    """`text` as response_format. Raises RefusedChat."""
    text = _given(text)
    if not isinstance(text, dict) or set(text) - {"format"}:
        raise _unread("text: only text.format is supported here", "text")
    form = text.get("format", {"type": "text"})
    if isinstance(form, dict) and form.get("type") == "json_schema":
        return {"type": "json_schema", "json_schema": {key: form[key] for key in form if key != "type"}}
    return form


def response_object(asked: ChatRequest, reply: ChatReply, envelope: Envelope) -> dict[str, Any]:
    """The response's body. Raises RefusedChat."""
    (choice,) = reply.choices
    text, calls = parts_of_choice(asked, choice)
    status = "incomplete" if choice.cut else "completed"
    output = [_said(envelope, text, status)] if text or not calls else []
    output += [
        {
            "id": f"fc_{envelope.key}_{number}", "type": "function_call", "status": "completed",
            "call_id": envelope.call_id(0, number), "name": call.name,
            "arguments": json.dumps(call.arguments, ensure_ascii=False),
        }
        for number, call in enumerate(calls)
    ]  # fmt: skip
    usage = {
        "input_tokens": reply.prompt_tokens, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": choice.tokens, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.prompt_tokens + choice.tokens,
    }  # fmt: skip
    cut = {"reason": "max_output_tokens"} if choice.cut else None
    return {**_object(asked, envelope, status), "output": output, "incomplete_details": cut, "usage": usage}


def _object(asked: ChatRequest, envelope: Envelope, status: str) -> dict[str, Any]:
    """A response's body without output."""
    given = {key: value for key, value in asked.body.items() if value is not None}
    return {
        "id": f"resp_{envelope.key}", "object": "response", "created_at": envelope.created, "model": envelope.model,
        "status": status, "error": None, "incomplete_details": None, "output": [], "usage": None,
        "instructions": given.get("instructions"), "metadata": given.get("metadata", {}),
        "parallel_tool_calls": given.get("parallel_tool_calls", True), "tool_choice": given.get("tool_choice", "auto"),
        "tools": given.get("tools", []), "temperature": asked.sampling.get("temperature"),
        "top_p": asked.sampling.get("top_p"), "max_output_tokens": asked.sampling.get("max_tokens"),
        "previous_response_id": None, "store": False, "truncation": "disabled",
        "text": given.get("text", {"format": {"type": "text"}}),
    }  # fmt: skip


def _said(envelope: Envelope, text: str, status: str) -> dict[str, Any]:
    return {
        "id": f"msg_{envelope.key}", "type": "message", "role": "assistant", "status": status,
        "content": [_part(text)],
    }  # fmt: skip


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


class ResponseStream:
    """The events of a response, numbered from 0; the last is `response.completed`, `.incomplete` or `.failed`."""

    def __init__(self, asked: ChatRequest, envelope: Envelope) -> None:
        self._asked, self._envelope = asked, envelope
        self._text, self._begun, self._opened, self._number = "", False, False, 0
        self._item = f"msg_{envelope.key}"

    def more(self, index: int, choice: ChatChoice) -> Iterator[dict[str, Any]]:
        """Yields the new text, if there is any."""
        yield from self._delta(certain(self._asked, choice))

    def end(self, reply: ChatReply) -> Iterator[dict[str, Any]]:
        """Yields the remaining text, the calls and the final state."""
        whole = response_object(self._asked, reply, self._envelope)
        yield from self._begin()
        for place, item in enumerate(whole["output"]):
            yield from self._message(item) if item["type"] == "message" else self._call(place, item)
        yield self._event(f"response.{whole['status']}", response=whole)

    def fault(self, error: RefusedChat) -> Iterator[dict[str, Any]]:
        """Yields the failed state of the response."""
        yield from self._begin()
        failed = _object(self._asked, self._envelope, "failed")
        code = "server_error" if error.status >= 500 else error.code
        failed["error"] = {"code": code, "message": str(error)}
        yield self._event("response.failed", response=failed)

    def _begin(self) -> Iterator[dict[str, Any]]:
        if not self._begun:
            self._begun = True
            head = _object(self._asked, self._envelope, "in_progress")
            yield self._event("response.created", response=head)
            yield self._event("response.in_progress", response=head)

    def _delta(self, text: str, *, last: bool = False) -> Iterator[dict[str, Any]]:
        new = text[len(self._text) :]
        if not new and not last:
            return
        yield from self._begin()
        if not self._opened:
            self._opened = True
            empty = {**_said(self._envelope, "", "in_progress"), "content": []}
            yield self._event("response.output_item.added", output_index=0, item=empty)
            yield self._event("response.content_part.added", **self._place(), part=_part(""))
        if new:
            self._text = text
            yield self._event("response.output_text.delta", **self._place(), delta=new, logprobs=[])

    def _message(self, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
        text = item["content"][0]["text"]
        yield from self._delta(text, last=True)
        yield self._event("response.output_text.done", **self._place(), text=text, logprobs=[])
        yield self._event("response.content_part.done", **self._place(), part=_part(text))
        yield self._event("response.output_item.done", output_index=0, item=item)

    def _call(self, place: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
        at = {"output_index": place, "item_id": item["id"]}
        opened = {**item, "arguments": "", "status": "in_progress"}
        yield self._event("response.output_item.added", output_index=place, item=opened)
        yield self._event("response.function_call_arguments.delta", **at, delta=item["arguments"])
        done = {"name": item["name"], "arguments": item["arguments"]}
        yield self._event("response.function_call_arguments.done", **at, **done)
        yield self._event("response.output_item.done", output_index=place, item=item)

    def _place(self) -> dict[str, Any]:
        return {"output_index": 0, "content_index": 0, "item_id": self._item}

    def _event(self, kind: str, **more: Any) -> dict[str, Any]:
        number, self._number = self._number, self._number + 1
        return {"type": kind, "sequence_number": number, **more}
