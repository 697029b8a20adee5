"""Function calls in the formats of model families, for clients that list tools as OpenAI's API does.

hermes      `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`: Hermes, Qwen2.5, Qwen3
qwen-coder  `<tool_call><function=f><parameter=a>1</parameter></function></tool_call>`: Qwen3-Coder, values as text
llama       `{"name": "f", "parameters": {"a": 1}}`, after `<|python_tag|>` or not, `;` between several: Llama 3
mistral     `[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]`, or `[TOOL_CALLS]f[ARGS]{"a": 1}` for each: Mistral

In JSON, `arguments`, `parameters` and `args` mean the same. The system message describes the tools, whatever the
template has for them; results of calls are in `<tool_response>` in a user message.

Source of the formats: xgrammar 0.2.8, `builtin_structural_tag.py`, and the chat templates of those models.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, get_args

from strop.policies.grammars import call_grammar
from strop.policies.tool_calls import CallFault, HermesCalls, ToolCall, call_of_json, json_at
from strop_verify.core.rollout import Message

Begun = tuple[str, str]
"""How a required call begins: a control token's name, then text."""


class ModelCalls(Protocol):
    """A model family's format for calls. `tools` are functions as OpenAI's API lists them."""

    def described(self, tools: Sequence[Any]) -> str:
        """The tools, and how to call them, for the system message."""

    def read(self, text: str, tools: Sequence[Any], *, whole: bool) -> list[ToolCall]:
        """The calls in an answer, in order. Raises CallFault if there is none, or one cannot be read.

        whole  False if the answer was cut off; an open call is then a fault
        """

    def write(self, call: ToolCall) -> str:
        """The call in the form that `read` reads."""

    def begins(self, text: str) -> int:
        """Where calls may begin in an unfinished text: everything before is certain to be text."""

    def begun(self, name: str) -> Begun:
        """The beginning of a call of this function, or of any function for ""."""

    def rest(self, name: str, tools: Sequence[Any]) -> str:
        """A grammar for what follows `begun`; "" if there is none."""


def replies(outputs: Sequence[str]) -> tuple[Message, ...]:
    """The results of calls, in order, as the next messages."""
    return HermesCalls().replies(outputs, "")


class JsonForm:
    """Base class of the JSON forms: how a required call begins and continues."""

    _token, _open, _key, _close = "", "", "arguments", ""
    """A control token and text before the object, the key of its arguments, text after it."""

    def begins(self, text: str) -> int:
        """Where the form's control token begins; see `ModelCalls`."""
        return _first(text, self._token)

    def begun(self, name: str) -> Begun:
        """The beginning of the JSON object, with the name if given; see `ModelCalls`."""
        named = f' {json.dumps(name, ensure_ascii=False)}, "{self._key}":' if name else ""
        return self._token, f'{self._open}{{"name":{named}'

    def rest(self, name: str, tools: Sequence[Any]) -> str:
        """A grammar for the rest of the JSON object; see `ModelCalls`."""
        return call_grammar(tools, name, self._key, self._close)


class HermesForm(HermesCalls, JsonForm):
    """The form `hermes`: JSON between `<tool_call>` tags."""

    _token, _open, _close = "<tool_call>", "\n", "\n</tool_call>"


class QwenCoderForm:
    """The form `qwen-coder`. An argument not limited to strings is read as JSON if it is valid JSON, else as text."""

    _function = re.compile(r"(?:<tool_call>\s*)?<function=([^>\s]+)>")
    _parameter = re.compile(r"\s*<parameter=([^>\n]+)>\n?")
    _value_end = re.compile(r"\n?</parameter>(?=\s*(?:<parameter=|</function>|\Z))")
    _end = re.compile(r"\s*</function>(?:\s*</tool_call>)?")

    def described(self, tools: Sequence[Any]) -> str:
        """The functions as JSON and an example of a call; see `ModelCalls`."""
        lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
        example = self.write(ToolCall("NAME", {"FIRST": "value", "SECOND": "another\nof two lines"}))
        return f"You can call these functions:\n<tools>\n{lines}\n</tools>\n\nWrite a call so:\n{example}"

    def read(self, text: str, tools: Sequence[Any], *, whole: bool) -> list[ToolCall]:
        """Reads the functions and their parameters; see `ModelCalls`."""
        found, at = list[ToolCall](), 0
        while start := self._function.search(text, at):
            given, at = dict[str, Any](), start.end()
            taken = _properties(tools, start[1])
            while key := self._parameter.match(text, at):
                end = self._value_end.search(text, key.end())
                if end is None:
                    raise CallFault(f"<parameter={key[1]:.40}> is not closed; write </parameter>")
                given[key[1].strip()] = _typed(text[key.end() : end.start()], taken.get(key[1].strip()))
                at = end.end()
            closed = self._end.match(text, at)
            if closed is None and (text[at:].strip() or not whole):
                raise CallFault(f"<function={start[1]:.40}> is not closed; write </function></tool_call>")
            at = closed.end() if closed else len(text)
            found.append(ToolCall(start[1], given))
        return _some(found, "<function=NAME><parameter=KEY>value</parameter></function>")

    def write(self, call: ToolCall) -> str:
        """The call with each parameter in its own tag; see `ModelCalls`."""
        lines = "".join(
            f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}\n"
            "</parameter>\n"
            for key, value in call.arguments.items()
        )
        return f"<tool_call>\n<function={call.name}>\n{lines}</function>\n</tool_call>"

    def begins(self, text: str) -> int:
        """Where either opening tag begins; see `ModelCalls`."""
        return _first(text, "<tool_call>", "<function=")

    def begun(self, name: str) -> Begun:
        """The opening tags, with the name if given; see `ModelCalls`."""
        return "<tool_call>", f"\n<function={name}>\n" if name else "\n<function="

    def rest(self, name: str, tools: Sequence[Any]) -> str:
        """Returns "": there is no grammar, since values are plain text."""
        return ""


class LlamaForm(JsonForm):
    """The form `llama`. An object that does not name one of the tools is an answer in JSON, not a call."""

    _key = "parameters"

    def described(self, tools: Sequence[Any]) -> str:
        """The functions as JSON and the format of a call; see `ModelCalls`."""
        lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
        return (
            f"You can call these functions:\n{lines}\n\nTo call one, answer with nothing but JSON: "
            '{"name": function name, "parameters": object of its arguments}'
        )

    def read(self, text: str, tools: Sequence[Any], *, whole: bool) -> list[ToolCall]:
        """Reads JSON objects separated by semicolons; see `ModelCalls`."""
        at = text.find("<|python_tag|>")
        rest = (text if at < 0 else text[at + len("<|python_tag|>") :]).strip()
        names, found, at = {tool["function"]["name"] for tool in tools}, list[ToolCall](), 0
        while at < len(rest):
            value, at = json_at(rest, at, "the answer")
            found.append(call_of_json(value))
            if found[-1].name not in names:
                raise CallFault(f"there is no function {found[-1].name!r:.40}")
            at += len(rest[at:]) - len(rest[at:].lstrip("; \n\t"))
        return _some(found, self.write(ToolCall("NAME", {})))

    def write(self, call: ToolCall) -> str:
        """The call as one JSON object; see `ModelCalls`."""
        return json.dumps({"name": call.name, "parameters": call.arguments}, ensure_ascii=False)

    def begins(self, text: str) -> int:
        """0 for a text that may be a JSON object, else the place of the tag; see `ModelCalls`."""
        if text.lstrip()[:1] in ("", "{"):
            return 0
        return _first(text, "<|python_tag|>")


class MistralForm(JsonForm):
    """The form `mistral`: reads both versions and writes the older one."""

    _token, _open, _close = "[TOOL_CALLS]", "[", "]"
    _named = re.compile(r"\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*[\w-]+\s*)?(?:\[ARGS\])?(?=\s*\{)")

    def described(self, tools: Sequence[Any]) -> str:
        """The functions as a JSON list and an example of a call; see `ModelCalls`."""
        lines = json.dumps(list(tools), ensure_ascii=False)
        return (
            f"You can call these functions:\n{lines}\n\nWrite calls so:\n{self.write(ToolCall('NAME', {}))}"
        )

    def read(self, text: str, tools: Sequence[Any], *, whole: bool) -> list[ToolCall]:
        """Reads the calls after each control token; see `ModelCalls`."""
        found = list[ToolCall]()
        for part in text.split("[TOOL_CALLS]")[1:]:
            if named := self._named.match(part):
                given, end = json_at(part, named.end(), f"the arguments of {named[1]!r:.40}")
                value: Any = [{"name": named[1], "arguments": given}]
            else:
                value, end = json_at(part, 0, "the text after [TOOL_CALLS]")
            if part[end:].strip():
                raise CallFault("there is text after the calls; write nothing there")
            found += [call_of_json(one) for one in (value if isinstance(value, list) else [value])]
        return _some(found, self.write(ToolCall("NAME", {})))

    def write(self, call: ToolCall) -> str:
        """The call as a list of one JSON object; see `ModelCalls`."""
        data = [{"name": call.name, "arguments": call.arguments}]
        return f"[TOOL_CALLS]{json.dumps(data, ensure_ascii=False)}"


ModelForm = Literal["hermes", "qwen-coder", "llama", "mistral"]
MODEL_FORMS: Mapping[str, ModelCalls] = {
    "hermes": HermesForm(), "qwen-coder": QwenCoderForm(), "llama": LlamaForm(), "mistral": MistralForm(),
}  # fmt: skip
"""{name: form}."""
assert tuple(MODEL_FORMS) == get_args(ModelForm)
_OF_TEMPLATE: Mapping[str, ModelForm] = {
    "<function=": "qwen-coder", "[TOOL_CALLS]": "mistral", "<tool_call>": "hermes", "<|python_tag|>": "llama",
    '"parameters":': "llama",
}  # fmt: skip


def form_of(template: str | None) -> ModelForm:
    """The form in which a chat template writes calls; hermes if it has none."""
    return next((form for word, form in _OF_TEMPLATE.items() if word in (template or "")), "hermes")


def _first(text: str, *openings: str) -> int:
    """Where the first of these openings begins, including one that the end of the text cuts off."""
    whole = [at for one in openings if (at := text.find(one)) >= 0]
    return min([*whole, *(len(text) - cut_off(text, one) for one in openings)])


def cut_off(text: str, opening: str) -> int:
    """Length of the longest proper prefix of `opening` that ends the text."""
    longest = min(len(opening) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if text.endswith(opening[:size])), 0)


def _some(found: list[ToolCall], example: str) -> list[ToolCall]:
    if not found:
        raise CallFault(f"no tool was called; write {example}")
    return found


def _properties(tools: Sequence[Any], name: str) -> Mapping[str, Any]:
    """{argument: schema} of a function."""
    for tool in tools:
        schema = tool["function"].get("parameters") if tool["function"]["name"] == name else None
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if isinstance(properties, dict):
            return properties
    return {}


def _typed(text: str, schema: Any) -> Any:
    """The value of an argument that was written as text."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "string" or (isinstance(kind, list) and "string" in kind):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
