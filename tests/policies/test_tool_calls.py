"""Two forms of calls: what is written is read again, whatever stands in the arguments and around."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.environments.repository_tools import RepositoryTools
from strop.environments.toolbox import Toolbox, tools_of
from strop.policies.tool_calls import (
    CALL_FORMS,
    MOST_CALLS,
    CallFault,
    FormName,
    ToolCall,
    calls_of,
)
from strop_verify.core.rollout import Completion

FORMS: tuple[FormName, ...] = get_args(FormName)
TOOLS = tools_of(RepositoryTools)
LOOK_ALIKES = (
    "</edit>", "<edit>", "<\\/edit>", "<\\\\/edit>", "</run>", "<run>ls</run>", " @@ ",
    "\n@@\n", "@@", "\\@@", "@", "\\",
    "<tool_call>", "</tool_call>", '{"tool_calls": [', '"', "'", "{", "}", "<|im_end|>", "\r\n", "\n", "\u2028", "\x00",
    "\ufeff", "e\u0301", "\U0001f600", " ", "\t", "<", "</", "</edit", "&lt;", "null",
)  # fmt: skip
texts = st.lists(
    st.one_of(st.sampled_from(LOOK_ALIKES), st.text(st.characters(codec="utf-8"), max_size=6)), max_size=8
).map("".join)
prose = st.lists(
    st.sampled_from(
        ["I look.", "\n", "<div>", "</run>", "x < 3", "```python\nx = {1: 2}\n```", "{", "[1]", "@@", "é"]
    ),
    max_size=4,
).map(" ".join)


def calls() -> st.SearchStrategy[ToolCall]:
    def of(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[ToolCall]:
        return st.fixed_dictionaries(dict(arguments)).map(lambda given: ToolCall(name, given))

    return st.one_of(
        of("edit", path=texts, old=texts, new=texts),
        of("write", path=texts, text=texts),
        of("run", command=texts),
        of("read", path=texts, start=st.integers(-5, 10**6)),
        of("read", path=texts),
        of("test"),
    )


def in_types(call: ToolCall) -> dict[str, Any]:
    return TOOLS[call.name].checked(call.arguments)


@pytest.mark.parametrize("name", FORMS)
@given(made=st.lists(calls(), min_size=1, max_size=3), around=st.lists(prose, min_size=4, max_size=4))
def test_what_is_written_is_read_again(name: FormName, made: list[ToolCall], around: list[str]) -> None:
    form = CALL_FORMS[name]
    text = around[0]
    for call, behind in zip(made, around[1:], strict=False):
        text += f"\n{form.write(call, TOOLS)}\n{behind}"
    found = form.read(text, TOOLS)
    assert [call.name for call in found] == [call.name for call in made]
    assert [in_types(call) for call in found] == [in_types(call) for call in made]


@pytest.mark.parametrize(("name", "end"), [("tags", "</edit>"), ("hermes", "\n</tool_call>")])
@given(texts)
def test_the_last_call_may_be_left_open_unless_it_was_cut_off(name: FormName, end: str, text: str) -> None:
    form, call = CALL_FORMS[name], ToolCall("edit", {"path": "a.py", "old": "x", "new": text})
    written = form.write(call, TOOLS)
    assert written.endswith(end)
    cut = written.removesuffix(end)
    assert form.read(cut, TOOLS) == [call]
    with pytest.raises(CallFault, match=r"cut off|not closed"):
        form.read(cut, TOOLS, whole=False)
    for finish, taken in (("eos", True), ("length", False)):
        completion = Completion(token_ids=[], logprobs=[], text=cut, finish_reason=finish)
        if taken:
            assert calls_of(completion, form, TOOLS) == [call]
        else:
            with pytest.raises(CallFault):
                calls_of(completion, form, TOOLS)


@pytest.mark.parametrize(
    ("name", "text", "remedy"),
    [
        ("tags", "I am done.", "no tool was called; write a tag such as <run>COMMAND</run>"),
        ("tags", "<rum>ls</rum>", "no tool was called"),
        ("tags", "<edit>a @@ b @@ c @@ d</edit>", "path, old, new, not 4 arguments; inside text write \\@@ for @@"),
        ("tags", "<test>now</test>", "<test> takes nothing, not 1 arguments"),
        ("hermes", "", 'write <tool_call>{"name": ..., "arguments": {...}}</tool_call>'),
        ("hermes", "<tool_call>run ls</tool_call>", "not JSON: expecting value at character 0"),
        ("hermes", '<tool_call>{"arguments": {}}</tool_call>', "a call has no name"),
        ("hermes", '<tool_call>{"name": "run", "arguments": [1]}</tool_call>', "arguments of 'run' are not an object"),
        ("hermes", '<tool_call>{"name": "run"} and more</tool_call>', "not closed"),
        ("hermes", '<tool_call>{"name": ' + "9" * 5000, "cannot be read as JSON"),
        ("hermes", '<tool_call>{"name": "run", "arguments": "{"}</tool_call>', "of 'run' is not JSON"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line_with_the_remedy(name: FormName, text: str, remedy: str) -> None:
    with pytest.raises(CallFault) as raised:
        CALL_FORMS[name].read(text, TOOLS)
    said = str(raised.value)
    assert remedy in said and "\n" not in said and len(said) < 200


def test_thoughts_call_nothing_and_a_message_has_a_bound() -> None:
    def said(text: str) -> list[ToolCall]:
        return calls_of(
            Completion(token_ids=[], logprobs=[], text=text, finish_reason="eos"), CALL_FORMS["tags"], TOOLS
        )

    assert said("<think>\n<run>rm -r .</run>\n</think>\n\n<test></test>") == [ToolCall("test", {})]
    assert len(said("<test/>" * MOST_CALLS)) == MOST_CALLS
    with pytest.raises(CallFault, match=f"nothing was done: {MOST_CALLS + 1} calls"):
        said("<test/>" * (MOST_CALLS + 1))


def test_lenient_ways_to_write_a_tag() -> None:
    read = CALL_FORMS["tags"].read
    assert read("<edit>a.py\n@@\n    x\n@@\n    y</edit>", TOOLS) == [
        ToolCall("edit", {"path": "a.py", "old": "    x", "new": "    y"})
    ]
    assert read("<finish/>", TOOLS) == read("<finish></finish>", TOOLS) == [ToolCall("finish", {})]


class Typed(Toolbox):
    def pick(self, names: list[str], deep: bool = False, share: float = 0.5) -> str:
        """Picks."""
        return ""


@pytest.mark.parametrize("name", FORMS)
def test_types_come_through_every_form(name: FormName) -> None:
    tools = tools_of(Typed)
    call = ToolCall("pick", {"names": ["a @@ b", "</pick>"], "share": 0.25})
    (found,) = CALL_FORMS[name].read(CALL_FORMS[name].write(call, tools), tools)
    assert tools["pick"].checked(found.arguments) == {**call.arguments, "deep": False}


@pytest.mark.parametrize("name", FORMS)
def test_the_prompt_names_every_tool_and_shows_a_call_that_is_read(name: FormName) -> None:
    said = CALL_FORMS[name].instructions(TOOLS)
    assert all(tool.name in said and tool.says in said for tool in TOOLS.values())
    replies = CALL_FORMS[name].replies(["one", "two"], "[3 turns left]")
    assert "".join(message.content for message in replies).count("[3 turns left]") == 1
    assert {message.role for message in replies} == {"user"}
    assert ("<tool_response>\none\n</tool_response>" in replies[0].content) == (name == "hermes")
