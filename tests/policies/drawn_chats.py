"""Chat requests, drawn: what OpenAI's client sends, and what of them must be seen in the policy's prompt."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

NAMES = ("look", "put", "run_tests")
SCHEMA = {"type": "object", "properties": {"mark": {"type": "string"}}}
FUNCTIONS = [{"name": name, "description": f"It may {name}.", "parameters": SCHEMA} for name in NAMES]
TOOLS: list[dict[str, Any]] = [{"type": "function", "function": function} for function in FUNCTIONS]
IGNORED: dict[str, Any] = {
    "temperature": 0.5, "top_p": 0.9, "seed": 3, "stop": ["\n\n"], "max_tokens": 64, "max_completion_tokens": 32,
    "user": "u", "metadata": {"a": "b"}, "store": False, "parallel_tool_calls": True, "n": 1, "logprobs": False,
    "response_format": {"type": "text"}, "modalities": ["text"], "reasoning_effort": "low",
}  # fmt: skip
"""Fields that change nothing of the prompt."""


@dataclass
class Chat:
    """A request, and what is to become of it.

    marks    (role in the prompt, text that stands there), in order
    refused  whether it must be
    """

    body: dict[str, Any]
    marks: list[tuple[str, str]] = field(default_factory=list)
    refused: bool = False


class Drawer:
    """One request after another."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self._number = 0

    def chat(self) -> Chat:
        """One that is understood, or, one in four, refused."""
        chat = Chat({"model": "m", "messages": []})
        if self._chance(0.75):
            chat.body["tools"] = TOOLS
        self._options(chat)
        if self._chance(0.6):
            self._said(chat, self.random.choice(["system", "developer"]), "system")
        for _ in range(self.random.randrange(1, 4)):
            self._said(chat, "user", "user")
            turn = self.random.choice([self._answer, self._refusal, self._calls])
            turn(chat)
        self._said(chat, "user", "user")
        if self._chance(0.25):
            chat.refused = True
            self.random.choice(FAULTS)(self, chat)
        return chat

    def sampled(self) -> tuple[str, list[tuple[str, dict[str, str]]]]:
        """(what a policy says, the calls in it)."""
        text = self.random.choice(["", "I look. ", "Two\nlines\n", "é <b> "])
        kind = self.random.randrange(8)
        if kind < 2:
            return f"{text}{self.mark()}", []
        if kind == 2:
            broken = ['{"name": 3}', '{"name": "look", "mark": "x"}', '{"name": "look", "args": 1}', "look()"]
            return f"{text}<tool_call>{self.random.choice(broken)}</tool_call>", []
        calls = [
            (self.random.choice(NAMES), {"mark": self.mark()}) for _ in range(self.random.randrange(1, 4))
        ]
        for name, arguments in calls:
            key = self.random.choice(["arguments", "arguments", "parameters", "args"])
            given = json.dumps(arguments) if self._chance(0.2) else arguments
            text += f"<tool_call>\n{json.dumps({'name': name, key: given})}\n</tool_call>"
        return text, calls

    def mark(self) -> str:
        """A word that stands nowhere else."""
        self._number += 1
        return f"mark{self._number:06}é"

    def replies(self, calls: list[str]) -> tuple[list[dict[str, Any]], list[str]]:
        """(messages with the replies to calls by id, in any order; what they say, in that of the calls)."""
        marks = [self.mark() for _ in calls]
        found = [
            {"role": "tool", "tool_call_id": id_, "content": mark}
            for id_, mark in zip(calls, marks, strict=True)
        ]
        self.random.shuffle(found)
        return found, marks

    def _chance(self, part: float) -> bool:
        return self.random.random() < part

    def _content(self, mark: str) -> Any:
        parts = [{"type": "text", "text": "A "}, {"type": "text", "text": mark}]
        return self.random.choice([mark, f"Say\n{mark}.", parts])

    def _said(self, chat: Chat, role: str, shown: str) -> None:
        mark = self.mark()
        named = {"name": "Ann"} if self._chance(0.1) else {}
        chat.body["messages"].append({"role": role, "content": self._content(mark), **named})
        chat.marks.append((shown, mark))

    def _answer(self, chat: Chat) -> None:
        self._said(chat, "assistant", "assistant")

    def _refusal(self, chat: Chat) -> None:
        mark = self.mark()
        part = {"role": "assistant", "content": [{"type": "refusal", "refusal": mark}]}
        chat.body["messages"].append(self.random.choice([{"role": "assistant", "refusal": mark}, part]))
        chat.marks.append(("assistant", mark))

    def _arguments(self, mark: str) -> str:
        return self.random.choice(
            [json.dumps({"mark": mark}), json.dumps({"a": [1, {"b": mark}]}), f"{mark} {{", f'["{mark}"]']
        )

    def _calls(self, chat: Chat) -> None:
        calls = [
            (f"call_{self.mark()}", self.random.choice(NAMES)) for _ in range(self.random.randrange(1, 4))
        ]
        marks = [self.mark() for _ in calls]
        listed = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": self._arguments(mark)}}
            for (id_, name), mark in zip(calls, marks, strict=True)
        ]
        content = self.random.choice([{"content": None}, {}, {"content": self.mark()}])
        chat.body["messages"].append({"role": "assistant", **content, "tool_calls": listed})
        told, replies = self.replies([id_ for id_, _ in calls])
        chat.body["messages"] += told
        chat.marks += [("assistant", mark) for mark in filter(None, [content.get("content"), *marks])]
        chat.marks += [("user", mark) for mark in replies]

    def _options(self, chat: Chat) -> None:
        names = self.random.sample(sorted(IGNORED), self.random.randrange(4))
        chat.body |= {name: IGNORED[name] for name in names}
        if "tools" in chat.body and self._chance(0.3):
            named = {"type": "function", "function": {"name": "put"}}
            chat.body["tool_choice"] = self.random.choice(["none", "auto", "required", named])


def _field(**fields: Any) -> Callable[[Drawer, Chat], None]:
    return lambda drawer, chat: chat.body.update(fields)


def _part(part: dict[str, Any]) -> Callable[[Drawer, Chat], None]:
    return lambda drawer, chat: chat.body["messages"].append({"role": "user", "content": [part]})


def _turn(*messages: dict[str, Any]) -> Callable[[Drawer, Chat], None]:
    return lambda drawer, chat: chat.body["messages"].extend(messages)


_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
_ASKED = {"role": "assistant", "tool_calls": [_CALL, {**_CALL, "id": "c2"}]}
_REPLY = {"role": "tool", "tool_call_id": "c1", "content": "1"}
_CUSTOM = {"id": "c1", "type": "custom", "custom": {"name": "look", "input": "x"}}
_JSON = {"name": "a", "schema": {"type": "object"}}
FAULTS: list[Callable[[Drawer, Chat], None]] = [
    _field(n=2), _field(logprobs=True), _field(logprobs=True, top_logprobs=2), _field(messages=[]),
    _field(response_format={"type": "json_object"}), _field(modalities=["text", "audio"]),
    _field(response_format={"type": "json_schema", "json_schema": _JSON}),
    _field(web_search_options={"user_location": None}), _field(prediction={"type": "content", "content": "x"}),
    _field(tools=[{"type": "custom", "custom": {"name": "look"}}]),
    _field(tools=TOOLS, tool_choice={"type": "function", "function": {"name": "nowhere"}}),
    _field(tools=TOOLS, tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}),
    _part({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}),
    _part({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}),
    _part({"type": "file", "file": {"file_id": "f"}}),
    _turn(_REPLY), _turn(_ASKED), _turn(_ASKED, _REPLY), _turn(_ASKED, _REPLY, _REPLY),
    _turn(_ASKED, _REPLY, {"role": "user", "content": "x"}, {**_REPLY, "tool_call_id": "c2"}),
    _turn(_ASKED, _REPLY, {**_REPLY, "tool_call_id": "c3"}),
    _turn({"role": "assistant", "tool_calls": [_CALL, _CALL]}, _REPLY),
    _turn({"role": "assistant", "tool_calls": [_CUSTOM]}, _REPLY),
    _turn({"role": "assistant", "audio": {"id": "a"}}),
    _turn({"role": "assistant", "function_call": {"name": "look", "arguments": "{}"}}),
    _turn({"role": "function", "name": "put", "content": ""}), _field(functions=FUNCTIONS),
]  # fmt: skip
"""What makes of a request one that must be refused."""
