"""The functions that a client lists, its tool_choice, and the calls in an answer.

A required call is begun for the policy, which continues from there. The arguments of a `strict` function must fit its
schema, or the call counts as text; schemas that take unbounded time to check (patterns, references) can't be strict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from strop.policies.chat_options import RefusedChat
from strop.policies.model_calls import Begun, ModelCalls
from strop.policies.tool_calls import CallFault, ToolCall
from strop_verify.core.protocols import Tokenizer
from strop_verify.core.text import without_thinking

_UNBOUNDED = frozenset(("$ref", "$dynamicRef", "$recursiveRef", "pattern", "patternProperties"))
_MOST_PARTS = 2000
"""Maximum size of a strict function's schema, counted in values of keys and list entries at all levels."""


@dataclass(frozen=True)
class ChatTools:
    """What may be called.

    listed  functions as OpenAI's API lists them; empty if none may be called
    form    how the policy writes calls
    forced  name of the function that must be called, "" for any, None if no call is required
    one     whether calls after the first are dropped
    """

    listed: tuple[Any, ...]
    form: ModelCalls
    forced: str | None = None
    one: bool = False

    @property
    def begun(self) -> Begun:
        """How the answer begins: a control token's name, and text."""
        return ("", "") if self.forced is None else self.form.begun(self.forced)

    def begun_ids(self, tokenizer: Tokenizer) -> list[int]:
        """`begun` as token ids."""
        name, text = self.begun
        return [*(tokenizer.mark([name]) if name else ()), *(tokenizer.encode(text) if text else ())]

    @property
    def rest(self) -> str:
        """A grammar for what follows `begun`; "" for no constraint."""
        return "" if self.forced is None else self.form.rest(self.forced, self.listed)

    @property
    def told(self) -> str:
        """The tools' description for the system message."""
        if self.forced is None:
            return self.form.described(self.listed) if self.listed else ""
        asked = f"Call the function {self.forced}." if self.forced else "Call a function."
        return f"{self.form.described(self.listed)}\n\n{asked}"

    def begins(self, text: str) -> int:
        """Where calls may begin in an unfinished answer: everything before is certain to be text."""
        return self.form.begins(text) if self.listed else len(text)

    def parts(self, text: str, *, cut: bool = False) -> tuple[str, list[ToolCall]]:
        """(text, calls) of an answer; if any call cannot be read, all is text."""
        if not self.listed:
            return text, []
        answer = without_thinking(text)
        try:
            calls = self.form.read(answer, self.listed, whole=not cut)
            for call in calls:
                self._check(call)
        except CallFault:
            return text, []
        before = text.rfind(answer) + self.form.begins(answer)
        return text[:before].rstrip(), calls[:1] if self.one else calls

    def fault(self, calls: Sequence[ToolCall], *, cut: bool) -> str:
        """Why an answer lacks a required call; "" if it does not lack one or was cut off by the token limit."""
        if self.forced is None or cut:
            return ""
        names = [self.forced] if self.forced else [tool["function"]["name"] for tool in self.listed]
        if calls and all(call.name in names for call in calls):
            return ""
        return "the policy's answer is not the call that tool_choice requires: send the request again"

    def _check(self, call: ToolCall) -> None:
        """Raises CallFault for arguments that do not fit a strict function's schema."""
        for tool in self.listed:
            function = tool["function"]
            if function["name"] != call.name or not function.get("strict"):
                continue
            try:
                fits = _validator()(function.get("parameters") or {}).is_valid(call.arguments)
            except RecursionError:
                fits = False
            if not fits:
                raise CallFault(f"the arguments of {call.name!r:.40} do not fit its schema")


def read_tools(data: Mapping[str, Any], form: ModelCalls) -> ChatTools:
    """The tools and tool_choice of a chat completion's body. Raises RefusedChat."""
    tools = data.get("tools")
    tools = [] if tools is None else tools
    if not isinstance(tools, list):
        raise RefusedChat("tools must be a list", param="tools")
    for number, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            fault = f"tools[{number}] is not a function with a name; other tools cannot be called here"
            raise RefusedChat(fault, param="tools")
        if function.get("strict"):
            _checkable(function.get("parameters") or {}, f"tools[{number}].function.strict")
    one, choice = data.get("parallel_tool_calls") is False, data.get("tool_choice")
    if choice == "none":
        return ChatTools((), form)
    if choice in (None, "auto"):
        return ChatTools(tuple(tools), form, one=one)
    if choice == "required" and tools:
        return ChatTools(tuple(tools), form, "", one)
    named = choice.get("function") if isinstance(choice, dict) else None
    name = named.get("name") if isinstance(named, dict) else None
    if name not in [tool["function"]["name"] for tool in tools]:
        fault = "tool_choice must be auto, none, required, or a function that tools lists"
        raise RefusedChat(fault, param="tool_choice")
    return ChatTools(tuple(tools), form, name, one)


def _checkable(schema: Any, where: str) -> None:
    """Raises RefusedChat for an invalid JSON schema, and for one that cannot be strict."""
    try:
        from jsonschema.exceptions import SchemaError
    except ImportError:
        fault = f"{where} needs jsonschema: pip install 'strop[serve]', or leave strict out"
        raise RefusedChat(fault, param="tools") from None
    left, seen = [schema], 0
    while left:
        one, seen = left.pop(), seen + 1
        if seen > _MOST_PARTS:
            raise RefusedChat(
                f"{where}: the schema is too large to be checked; leave strict out", param="tools"
            )
        if isinstance(one, dict) and (odd := _UNBOUNDED & one.keys()):
            fault = f"{where}: {min(odd)} in the schema cannot be checked here; leave strict out"
            raise RefusedChat(fault, param="tools")
        left += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    try:
        _validator().check_schema(schema)
    except SchemaError as error:
        raise RefusedChat(f"{where}: {error.message.splitlines()[0]:.200}", param="tools") from None


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator
