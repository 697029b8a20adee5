"""How a policy writes calls of tools: one-line tags, or Hermes' JSON.

tags    `<read>shop/cart.py @@ 20</read>`: the arguments in their order, with ` @@ ` or a line `@@` between them. Inside
        an argument `@@` is written `\\@@`, and the tool's own end tag `<\\/read>`.
hermes  `<tool_call>{"name": "read", "arguments": {"path": "shop/cart.py"}}</tool_call>`, as Nous Research's Hermes and
        Qwen write it. The replies stand in `<tool_response>` in a message of the user, as their templates render them.

Text before, between and after calls is allowed, and the last tag may be left open. Names of tools decide what is a tag,
so that code and prose may hold others.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from strop.environments.toolbox import ToolSpec
from strop_verify.core.rollout import Completion, Message
from strop_verify.core.text import without_thinking

Tools = Mapping[str, ToolSpec]
MOST_CALLS = 8
"""Calls of one completion."""


class ToolCall(NamedTuple):
    """A tool and its arguments by name, not checked yet."""

    name: str
    arguments: dict[str, Any]


class CallFault(ValueError):
    """Why a completion's calls can't be read: one line that says the remedy."""


class CallForm(Protocol):
    """One way to write calls."""

    def instructions(self, tools: Tools) -> str:
        """What the system prompt says of the tools and of how to call them."""

    def read(self, text: str, tools: Tools, *, whole: bool = True) -> list[ToolCall]:
        """The calls in a completion, in order. Raises CallFault where there is none, or one can't be read.

        whole  whether the completion came to its end; where it did not, a call that is left open is none
        """

    def write(self, call: ToolCall, tools: Tools) -> str:
        """What `read` takes for this call."""

    def replies(self, said: Sequence[str], rest: str) -> tuple[Message, ...]:
        """What the calls gave, in order, and what there is to say beside, as the next messages."""


class TagCalls:
    """Form `tags`."""

    def instructions(self, tools: Tools) -> str:
        """One line a tool."""
        lines = (f"{_tag(name, ' @@ '.join(_upper(tool)))}  {tool.says}" for name, tool in tools.items())
        return "Call a tool with a tag:\n" + "\n".join(lines)

    def read(self, text: str, tools: Tools, *, whole: bool = True) -> list[ToolCall]:
        """See `CallForm`."""
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
            example = next(iter(tools))
            raise CallFault(
                f"no tool was called; write a tag such as {_tag(example, ' @@ '.join(_upper(tools[example])))}"
            )
        return found

    def write(self, call: ToolCall, tools: Tools) -> str:
        """Arguments up to the last that is given; on lines of their own where one has several lines."""
        fields = tools[call.name].model.model_fields
        count = max((n for n, name in enumerate(fields, start=1) if name in call.arguments), default=0)
        given = (call.arguments.get(name, fields[name].default) for name in list(fields)[:count])
        texts = [self._escaped(call.name, value) for value in given]
        return _tag(call.name, ("\n@@\n" if any("\n" in one for one in texts) else " @@ ").join(texts))

    def replies(self, said: Sequence[str], rest: str) -> tuple[Message, ...]:
        """The plain texts in a message of the user."""
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


def _upper(tool: ToolSpec) -> list[str]:
    return [name.upper() for name in tool.arguments]


class HermesCalls:
    """Form `hermes`."""

    def instructions(self, tools: Tools) -> str:
        """Hermes' own words."""
        return self.described([tool.schema() for tool in tools.values()])

    @staticmethod
    def described(schemas: Sequence[Any]) -> str:
        """The same of tools as OpenAI's API lists them."""
        lines = "\n".join(json.dumps(schema, ensure_ascii=False) for schema in schemas)
        return (
            "You may call one or more functions to assist with the user query.\n\nYou are provided with function "
            f"signatures within <tools></tools> XML tags:\n<tools>\n{lines}\n</tools>\n\nFor each function call, "
            "return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n"
            '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
        )

    def read(self, text: str, tools: Tools, *, whole: bool = True) -> list[ToolCall]:
        """See `CallForm`."""
        found, at = list[ToolCall](), 0
        while (start := text.find("<tool_call>", at)) >= 0:
            value, at = _json(text, start + len("<tool_call>"), "the text in <tool_call>")
            end = re.compile(r"\s*(</tool_call>|\Z)").match(text, at)
            if end is None or (not end[1] and not whole):
                raise CallFault("a <tool_call> is not closed; write </tool_call> behind the JSON")
            at = end.end()
            found.append(_function(value))
        if not found:
            raise CallFault(
                'no tool was called; write <tool_call>{"name": ..., "arguments": {...}}</tool_call>'
            )
        return found

    def write(self, call: ToolCall, tools: Tools) -> str:
        """The JSON on a line of its own."""
        data = {"name": call.name, "arguments": call.arguments}
        return f"<tool_call>\n{json.dumps(data, ensure_ascii=False)}\n</tool_call>"

    def replies(self, said: Sequence[str], rest: str) -> tuple[Message, ...]:
        """Each in its tag, in one message of the user."""
        tagged = (f"<tool_response>\n{one}\n</tool_response>" for one in said)
        return (Message(role="user", content="\n".join([*tagged, *([rest] if rest else [])])),)


_ARGUMENTS = {"arguments", "parameters", "args"}


def _json(text: str, at: int, what: str) -> tuple[Any, int]:
    at += len(text[at:]) - len(text[at:].lstrip())
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise CallFault(f"{what} is no JSON: {error.msg.lower()} at character {error.pos - at}") from None
    except (ValueError, RecursionError):  # numbers of thousands of digits, thousands of brackets
        raise CallFault(f"{what} is no JSON that can be read") from None


def _function(value: Any) -> ToolCall:
    """A call of {"name", "arguments"}; the arguments may be JSON in a string, and be called as Llama calls them."""
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
        given, _ = _json(given, 0, f"the arguments of {value['name']!r:.40}")
    if not isinstance(given, dict):
        raise CallFault(f"the arguments of {value['name']!r:.40} are no object; name them")
    return ToolCall(value["name"], given)


def calls_of(completion: Completion, form: CallForm, tools: Tools) -> list[ToolCall]:
    """The calls in a completion, its thoughts left out. Raises CallFault."""
    whole = completion.finish_reason != "length"
    found = form.read(without_thinking(completion.text), tools, whole=whole)
    if len(found) > MOST_CALLS:
        raise CallFault(f"nothing was done: {len(found)} calls in one message; write at most {MOST_CALLS}")
    return found


FormName = Literal["tags", "hermes"]
CALL_FORMS: Mapping[FormName, CallForm] = {"tags": TagCalls(), "hermes": HermesCalls()}
"""Every form by its name."""
