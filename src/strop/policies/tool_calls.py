"""How a policy is told about tools, and how it writes calls: as one-line tags, or as Hermes' JSON.

tags    `<read>shop/cart.py @@ 20</read>`: the arguments in order, separated by ` @@ ` or a line `@@`. In an argument,
        `@@` is written `\\@@`, and the tool's own end tag `<\\/read>`.
hermes  `<tool_call>{"name": "read", "arguments": {"path": "shop/cart.py"}}</tool_call>`, as Nous Research's Hermes and
        Qwen write it. Replies are in `<tool_response>` in a user message, as their templates render them.

Text before, between and after calls is allowed, and the last tag may be left open. Only tools' names are read as tags,
so code and prose may contain others.
"""

import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ValidationError

from strop_verify.core.rollout import Completion, Message
from strop_verify.core.text import without_thinking

LINES, WIDTH, SECONDS = 50, 200, 10.0
"""Default limits of a tool."""
MOST_CALLS = 8
"""Maximum number of calls in a completion."""


@dataclass(frozen=True)
class ToolCaps:
    """Limits of one tool.

    lines, width  of its output: lines, and characters of each; the middle is replaced by a note of how much is missing
    seconds       CPU time of each program that it starts; wall time is limited to three times as much
    """

    lines: int = LINES
    width: int = WIDTH
    seconds: float = SECONDS


@dataclass(frozen=True)
class ToolSpec:
    """The description of a tool for the policy."""

    name: str
    says: str
    """First line of the docstring."""
    model: type[BaseModel]
    """Pydantic model of its arguments."""
    caps: ToolCaps

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments, in the method's order."""
        return tuple(self.model.model_fields)

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the arguments without a default."""
        return tuple(name for name, field in self.model.model_fields.items() if field.is_required())

    def schema(self) -> dict[str, Any]:
        """The tool as a function in OpenAI's list of tools."""
        parameters = _untitled(self.model.model_json_schema())
        function = {"name": self.name, "description": self.says, "parameters": parameters}
        return {"type": "function", "function": function}

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, converted to their types. Raises ValueError with one line on how to call the tool."""
        try:
            model = self.model.model_validate(dict(given))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where, kind = ".".join(map(str, first["loc"])), first["type"]
            known = {
                "missing": f"{where} is missing",
                "extra_forbidden": f"there is no argument {where!r:.40}",
            }
            cause = known.get(kind, f"{where}: {first['msg'].lower()}, not {first['input']!r:.40}")
            raise ValueError(f"{self.name}: {cause}; it takes {self.usage()}") from None
        return {name: getattr(model, name) for name in self.arguments}

    def of_text(self, name: str, text: str) -> Any:
        """The value of an argument written as text: the text if a string is allowed, else the parsed JSON."""
        taken = self.model.model_fields[name].annotation
        several = typing.get_origin(taken) in (typing.Union, types.UnionType)
        if str in (taken, *(typing.get_args(taken) if several else ())):
            return text
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text  # `checked` refuses it

    def usage(self) -> str:
        """The arguments for error messages: `path, start=1`, or "nothing"."""
        shown = (
            name if field.is_required() else f"{name}={field.default!r}"
            for name, field in self.model.model_fields.items()
        )
        return ", ".join(shown) or "nothing"


def _untitled(schema: Any) -> Any:
    if isinstance(schema, dict):
        kept = {key: value for key, value in schema.items() if key != "title" or not isinstance(value, str)}
        return {key: _untitled(value) for key, value in kept.items() if value is not None}
    return [_untitled(one) for one in schema] if isinstance(schema, list) else schema


Tools = Mapping[str, ToolSpec]


class ToolCall(NamedTuple):
    """A tool's name and its arguments, not yet checked."""

    name: str
    arguments: dict[str, Any]


class CallFault(ValueError):
    """A completion's calls cannot be read; the message is one line with the remedy."""


class CallForm(Protocol):
    """A format for calls: instructions, reading, writing and replies."""

    def instructions(self, tools: Tools) -> str:
        """The tools, and how to call them, for the system prompt."""

    def read(self, text: str, tools: Tools, *, whole: bool = True) -> list[ToolCall]:
        """The calls in a completion, in order. Raises CallFault if there is none, or one cannot be read.

        whole  False if the completion was cut off; an open call is then a fault
        """

    def write(self, call: ToolCall, tools: Tools) -> str:
        """The call in the form that `read` reads."""

    def replies(self, said: Sequence[str], rest: str) -> tuple[Message, ...]:
        """The results of calls, in order, and the text `rest`, as the next messages."""


class TagCalls:
    """The form `tags`: one tag per call."""

    def instructions(self, tools: Tools) -> str:
        """An example tag and a description per line, one line per tool."""
        lines = (f"{_example(name, tool)}  {tool.says}" for name, tool in tools.items())
        return "Call a tool with a tag:\n" + "\n".join(lines)

    def read(self, text: str, tools: Tools, *, whole: bool = True) -> list[ToolCall]:
        """Reads the tags that have a tool's name; see `CallForm`."""
        found: list[ToolCall] = []
        opening, at = re.compile(f"<({'|'.join(map(re.escape, tools))})(/?)>"), 0
        while (start := opening.search(text, at)) is not None:
            name, body, at = start[1], "", start.end()
            if not start[2]:
                end = text.find(f"</{name}>", at)
                if end < 0 and not whole:
                    raise CallFault(f"the answer was cut off in <{name}>; write less")
                body, at = (text[at:], len(text)) if end < 0 else (text[at:end], end + len(name) + 3)
            found.append(self._call(tools[name], body))
        if not found:
            example = _example(*next(iter(tools.items())))
            raise CallFault(f"no tool was called; write a tag such as {example}")
        return found

    def write(self, call: ToolCall, tools: Tools) -> str:
        """Writes the arguments up to the last one given; on separate lines if any has several lines."""
        fields = tools[call.name].model.model_fields
        count = max((n for n, name in enumerate(fields, start=1) if name in call.arguments), default=0)
        given = (call.arguments.get(name, fields[name].default) for name in list(fields)[:count])
        texts = [self._escaped(call.name, value) for value in given]
        return _tag(call.name, ("\n@@\n" if any("\n" in one for one in texts) else " @@ ").join(texts))

    def replies(self, said: Sequence[str], rest: str) -> tuple[Message, ...]:
        """All results as plain text in one user message."""
        return (Message(role="user", content="\n\n".join([*said, rest])),)

    def _call(self, tool: ToolSpec, body: str) -> ToolCall:
        if not tool.arguments or (not body and not tool.required):
            given = [body] if body.strip() else []
        else:
            given = re.split(r"[ \n]@@[ \n]", body)
        if len(given) > len(tool.arguments):
            raise CallFault(
                f"<{tool.name}> takes {tool.usage()}, not {len(given)} arguments; inside text write \\@@ for @@"
            )
        plain = (re.sub(rf"\\(\\*@@)|<\\(\\*/{re.escape(tool.name)}>)", _unescape, one) for one in given)
        named = zip(tool.arguments, plain, strict=False)
        return ToolCall(tool.name, {name: tool.of_text(name, text) for name, text in named})

    def _escaped(self, name: str, value: Any) -> str:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return re.sub(rf"(\\*@@)|<(\\*/{re.escape(name)}>)", _escape, text)


def _escape(match: re.Match[str]) -> str:
    return "\\" + match[1] if match[1] else "<\\" + match[2]


def _unescape(match: re.Match[str]) -> str:
    return match[1] or "<" + match[2]


def _tag(name: str, body: str) -> str:
    return f"<{name}>{body}</{name}>"


def _example(name: str, tool: ToolSpec) -> str:
    return _tag(name, " @@ ".join(argument.upper() for argument in tool.arguments))


class HermesCalls:
    """The form `hermes`: JSON between `<tool_call>` tags."""

    def instructions(self, tools: Tools) -> str:
        """The tools and how to call them, in Hermes' own wording."""
        return self.described([tool.schema() for tool in tools.values()])

    @staticmethod
    def described(schemas: Sequence[Any]) -> str:
        """`instructions` for tools as OpenAI's API lists them."""
        lines = "\n".join(json.dumps(schema, ensure_ascii=False) for schema in schemas)
        return (
            "You may call one or more functions to assist with the user query.\n\nYou are provided with function "
            f"signatures within <tools></tools> XML tags:\n<tools>\n{lines}\n</tools>\n\nFor each function call, "
            "return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n"
            '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
        )

    def read(self, text: str, tools: object, *, whole: bool = True) -> list[ToolCall]:
        """See `CallForm`; `tools` is ignored."""
        found, at = list[ToolCall](), 0
        while (start := text.find("<tool_call>", at)) >= 0:
            value, at = json_at(text, start + len("<tool_call>"), "the text in <tool_call>")
            end = re.compile(r"\s*(</tool_call>|\Z)").match(text, at)
            if end is None or (not end[1] and not whole):
                raise CallFault("a <tool_call> is not closed; write </tool_call> after the JSON")
            at = end.end()
            found.append(call_of_json(value))
        if not found:
            raise CallFault(
                'no tool was called; write <tool_call>{"name": ..., "arguments": {...}}</tool_call>'
            )
        return found

    def write(self, call: ToolCall, tools: object = None) -> str:
        """Writes the JSON on its own line."""
        data = {"name": call.name, "arguments": call.arguments}
        return f"<tool_call>\n{json.dumps(data, ensure_ascii=False)}\n</tool_call>"

    def replies(self, said: Sequence[str], rest: str) -> tuple[Message, ...]:
        """All results, each in its own tag, in one user message."""
        tagged = (f"<tool_response>\n{one}\n</tool_response>" for one in said)
        return (Message(role="user", content="\n".join([*tagged, *([rest] if rest else [])])),)


_ARGUMENTS = {"arguments", "parameters", "args"}


def json_at(text: str, at: int, what: str) -> tuple[Any, int]:
    """(the JSON value that begins at `at`, where it ends); `what` names it in the error. Raises CallFault."""
    at += len(text[at:]) - len(text[at:].lstrip())
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise CallFault(f"{what} is not JSON: {error.msg.lower()} at character {error.pos - at}") from None
    except (ValueError, RecursionError):  # thousands of digits in a number, thousands of brackets
        raise CallFault(f"{what} cannot be read as JSON") from None


def call_of_json(value: Any) -> ToolCall:
    """A call from {"name", "arguments"}, where the arguments may be JSON in a string. Raises CallFault."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise CallFault('a call has no name; write {"name": ..., "arguments": {...}}')
    rest = [key for key in value if key not in ("name", "id", "type")]
    if len(rest) > 1 or not _ARGUMENTS.issuperset(rest):
        raise CallFault(
            f"the call of {value['name']!r:.40} holds more than its name and arguments: {rest!r:.60}"
        )
    given = value[rest[0]] if rest else None
    given = {} if given in (None, "") else given
    if isinstance(given, str):
        given, _ = json_at(given, 0, f"the arguments of {value['name']!r:.40}")
    if not isinstance(given, dict):
        raise CallFault(f"the arguments of {value['name']!r:.40} are not an object; name them")
    return ToolCall(value["name"], given)


def calls_of(completion: Completion, form: CallForm, tools: Tools) -> list[ToolCall]:
    """The calls in a completion, without its thoughts. Raises CallFault."""
    whole = completion.finish_reason != "length"
    found = form.read(without_thinking(completion.text), tools, whole=whole)
    if len(found) > MOST_CALLS:
        raise CallFault(f"nothing was done: {len(found)} calls in one message; write at most {MOST_CALLS}")
    return found


FormName = Literal["tags", "hermes"]
CALL_FORMS: Mapping[FormName, CallForm] = {"tags": TagCalls(), "hermes": HermesCalls()}
"""{name: form}."""
