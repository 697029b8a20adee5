"""Tools as methods: schema, caps, deadlines, what is said of wrong calls, what output is without its unsteady parts."""

import threading
from pathlib import Path
from typing import Any, Literal

import pytest

import strop
from strop.environments import toolbox
from strop.environments.toolbox import clipped, steady, tools_of
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import SandboxError, UserError
from strop_verify.core.task import Task

TASK = Task(statement="x", check=CasesCheck(entry_point="f", cases=[Case(args=[1], expected=1)]))


class Desk(strop.Toolbox):
    """Tools without a folder."""

    @strop.tool(lines=4, width=10)
    def show(self, name: str, count: int = 1, how: Literal["up", "down"] = "up") -> str:
        """Shows a name.

        And more of it.

        Args:
            name: who it is
            count: how often
        """
        return "\n".join([name] * count)

    def add(self, numbers: list[float]) -> str:
        """Adds."""
        return str(sum(numbers))

    def fail(self, how: str) -> str:
        raise {"value": ValueError("no such thing"), "file": FileNotFoundError("a.py is not there"),
               "jail": SandboxError("the jail is gone"), "bug": KeyError("x")}[how]  # fmt: skip

    def number(self) -> str:
        return 3  # type: ignore[return-value]

    def _own(self) -> str:
        return "not a tool"


def desk() -> Desk:
    services: Any = None
    return Desk(TASK, services)


def test_the_schema_is_that_of_the_signature_and_the_docstring() -> None:
    tools = tools_of(Desk)
    assert list(tools) == ["show", "add", "fail", "number", "finish"]
    assert tools["show"].schema() == {
        "type": "function",
        "function": {
            "name": "show",
            "description": "Shows a name.",
            "parameters": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "name": {"type": "string", "description": "who it is"},
                    "count": {"type": "integer", "default": 1, "description": "how often"},
                    "how": {"type": "string", "default": "up", "enum": ["up", "down"]},
                },
                "required": ["name"],
            },
        },
    }
    assert tools["add"].schema()["function"]["parameters"]["properties"]["numbers"]["type"] == "array"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("shwo", {}, "there is no tool 'shwo'; there are show, add, fail, number, finish"),
        ("_own", {}, "there is no tool '_own'; there are show, add, fail, number, finish"),
        ("use", {"name": "finish"}, "there is no tool 'use'; there are show, add, fail, number, finish"),
        ("show", {}, "show: name is missing; it takes name, count=1, how='up'"),
        ("show", {"name": "a", "no": 1}, "show: there is no argument 'no'; it takes name, count=1, how='up'"),
        ("show", {"name": "a", "count": "many"}, "show: count: input should be a valid integer, unable to parse "
         "string as an integer, not 'many'; it takes name, count=1, how='up'"),
        ("show", {"name": ["a"]}, "show: name: input should be a valid string, not ['a']; "
         "it takes name, count=1, how='up'"),
        ("show", {"name": "a", "how": "left"}, "show: how: input should be 'up' or 'down', not 'left'; it takes name, "
         "count=1, how='up'"),
        ("number", {"x": 1}, "number: there is no argument 'x'; it takes nothing"),
        ("show", {"name": 12, "count": "2"}, "12\n12"),
        ("add", {"numbers": [1, "2.5"]}, "3.5"),
        ("fail", {"how": "value"}, "no such thing"),
        ("fail", {"how": "file"}, "a.py is not there"),
    ],
)  # fmt: skip
def test_a_wrong_call_gets_one_line_with_the_remedy(name: str, arguments: dict[str, Any], said: str) -> None:
    assert desk().use(name, arguments) == said


def test_what_is_ours_and_what_is_a_mistake_is_no_text() -> None:
    with pytest.raises(SandboxError):
        desk().use("fail", {"how": "jail"})
    with pytest.raises(KeyError):
        desk().use("fail", {"how": "bug"})
    with pytest.raises(TypeError, match=r"the tool number returned 3, not text \(test_toolbox.py:\d+\)"):
        desk().use("number", {})


def test_finish_is_a_tool_of_every_box() -> None:
    box = desk()
    assert not box.finished and box.use("finish", {}) == "finished" and box.finished


def test_head_and_tail_are_kept_and_what_is_between_is_counted() -> None:
    said = desk().use("show", {"name": "0123456789abc", "count": 9})
    row = "01234[3 characters left out]89abc"
    assert said.split("\n") == [row, row, "[5 lines, 70 characters left out]", row, row]
    assert clipped("a\nb\n", 2) == "a\nb" and clipped("a\nb\nc", 1) == "a\n[2 lines, 4 characters left out]"
    assert clipped("") == ""
    # What a program's output has lost already counts, in a line of its own and within one.
    note = "[7 lines, 90 characters left out]"
    assert clipped(f"a\nb\n{note}\nc\nd", 2) == "a\n[9 lines, 94 characters left out]\nd"
    row = f"{'a' * 9}[50 characters left out]{'b' * 9}"
    assert clipped(row, 3, 10) == "aaaaa[58 characters left out]bbbbb"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("3 passed in 0.12s", "3 passed in 0.0s"),
        ("took 12 ms; finished in 3.5 seconds", "took 0.0s; finished in 0.0s"),
        ("<object at 0x7f3ac01b2d90>", "<object at 0x>"),
        ("pid 4711, PID=12", "pid 0, PID=0"),
        ("File /box/a.py, /box: ok", "File ./a.py, .: ok"),
        ("/tmp/strop-work-812-ab_c9/a.py", "./a.py"),
        ("/tmp/tmpab12_x9z", "/tmp/tmp"),
        ("/boxes/in 3 steps, x/box", "/boxes/in 3 steps, x/box"),
    ],
)
def test_what_differs_from_run_to_run_is_taken_out(said: str, left: str) -> None:
    assert steady(said) == left


def test_a_tool_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolbox, "PATIENCE", 0.05)
    done = threading.Event()

    class Slow(strop.Toolbox):
        @strop.tool(seconds=0.001)
        def wait(self) -> str:
            done.wait()
            return "late"

    services: Any = None
    box = Slow(TASK, services)
    try:
        assert box.use("wait", {}) == "wait took more than 0.05 seconds and was given up"
        assert box.use("wait", {}).endswith("still running; finish")
    finally:
        done.set()


def test_a_class_that_can_be_no_toolbox_is_said_with_its_line(tmp_path: Path) -> None:
    class Odd(strop.Toolbox):
        def many(self, *names: str) -> str:
            return ""

    with pytest.raises(
        UserError, match=r"the tool many takes 'names', which has no name .*test_toolbox.py:\d+"
    ):
        tools_of(Odd)
    (tmp_path / "own.py").write_text("class Plain:\n    pass\n")
    with pytest.raises(UserError, match=r"is not a Toolbox subclass; derive it from strop\.Toolbox"):
        toolbox.toolbox_of(f"{tmp_path}/own.py:Plain", "tasks.environment.tools")
    with pytest.raises(ValueError, match="limits must be positive"):
        strop.tool(lines=0)
