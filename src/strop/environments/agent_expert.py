"""An expert's messages to an agent: the known answer, as calls or in the text format that the agent asks for. In a
shell it looks around before changing files, as the expert of `workspace` does.

The agent either lists tools, one of which is a shell, writes files or runs Python, or lists none and describes in its
prompt how to write commands, edits or code. The expert guesses what a tool does from the names of its arguments, so if
it fails with an agent, that says nothing about the agent.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from strop.environments.task_tree import tree_of
from strop.environments.workspace import demonstrated
from strop.policies.chat_wire import ChatRequest
from strop.policies.tool_calls import ToolCall
from strop.tasks.edit_tasks import solution_of
from strop_verify.core.task import Task

_SHELL = ("command", "cmd", "commands", "bash_command", "script")
_PATH = ("path", "file_path", "filepath", "filename", "file_name", "file")
_TEXT = ("content", "contents", "file_text", "text", "new_content", "code")
_OLD, _NEW = ("old_str", "old_string", "old_text", "old"), ("new_str", "new_string", "new_text", "new")
_PYTHON = ("code", "python_code", "source", "script")
"""Names of tools' arguments, most likely first."""
_FINISH = re.compile(r"finish|submit|final|done|complete", re.IGNORECASE)
"""Names of tools that end an agent's work."""
_MARKER = re.compile(r"echo ['\"]?([A-Z]+(?:_[A-Z]+){2,})")
"""The text that a shell command prints to end the agent, as in mini-swe-agent's prompt."""
_FOLDER = re.compile(
    r"(?:director(?:y|ies)|workspace|folder|files are in|cwd)\W{1,20}?(/[\w./-]*\w)", re.IGNORECASE
)
"""The working folder in a prompt, for tools that take absolute paths."""
_FENCE = re.compile(r"```(\w*bash\w*)\n")


_LOOKS = ("search", "read", "edit")
"""The tools of `workspace` whose calls become commands of a shell."""
_READ = 30
"""Lines of a long file that the expert reads."""


class AgentExpert:
    """The expert of one play.

    before, after  path -> text of each file that changes, None where it is absent
    calls          calls of the workspace's tools, to be written as shell commands
    """

    def __init__(
        self,
        before: Mapping[str, str | None],
        after: Mapping[str, str | None],
        calls: Iterator[ToolCall],
    ) -> None:
        self._before, self._after = before, after
        self._left: list[str] = list(after)
        self._commands = self._shell(calls)

    @classmethod
    def of(cls, task: Task, turns: int, rng: Random) -> "AgentExpert | None":
        """The expert for a task and a number of turns; None if no answer is known."""
        calls = demonstrated(task, turns, _LOOKS, rng)
        if task.edit is not None:
            after = dict(task.edit.oracle)
            return cls({path: task.edit.files.get(path) for path in after}, after, calls) if after else None
        name, known = solution_of(task), f"{task.reference.rstrip()}\n"
        return cls({name: tree_of(task)[name].decode()}, {name: known}, calls) if known.strip() else None

    def answers(self, asked: Callable[[], ChatRequest]) -> Iterator[str]:
        """The answers in order. `asked()` gives the request that the next one answers."""
        while True:
            request = asked()
            said = self._called(request) if request.tools.listed else self._told(_text(request))
            yield said.removeprefix("".join(request.tools.begun))

    def _called(self, request: ChatRequest) -> str:
        """A call of one of the tools, or a message if no call is left to make."""
        tools = [tool["function"] for tool in request.tools.listed]
        call = self._change(tools, _text(request)) if self._left else None
        call = call or self._finish(tools, _text(request))
        if call is None and request.tools.forced is not None:
            call = ToolCall(tools[0]["name"], _filled(tools[0], {}))
        return request.tools.form.write(call) if call else self._last()

    def _change(self, tools: Sequence[Any], prompt: str) -> ToolCall | None:
        """The call that changes the next file; for a shell, its next command; for Python, all remaining changes."""
        for tool in tools:
            if (name := _argument(tool, _SHELL)) and not _argument(tool, _PATH):
                command = self._command()
                return ToolCall(tool["name"], _filled(tool, {name: command})) if command else None
        for tool in tools:
            path, text = _argument(tool, _PATH), _argument(tool, _TEXT)
            there, here = _argument(tool, _OLD), _argument(tool, _NEW)
            before, after = self._before[self._left[0]], self._after[self._left[0]]
            given: dict[str, Any] = (
                {there: before, here: after} if there and here and before and after else {text: after}
            )
            if path and all(given) and after is not None:
                whole = "absolute" in str(_properties(tool)[path].get("description")).lower()
                folders = _FOLDER.findall(prompt) if whole else []
                given[path] = "/".join([*folders[-1:], self._left.pop(0)])
                return ToolCall(tool["name"], _filled(tool, given))
        for tool in tools:
            if (name := _argument(tool, _PYTHON)) and not _argument(tool, _PATH):
                code, self._left = "\n".join(map(self._by_python, self._left)), []
                return ToolCall(tool["name"], _filled(tool, {name: code}))
        return None

    def _finish(self, tools: Sequence[Any], prompt: str) -> ToolCall | None:
        for tool in tools:
            if _FINISH.search(tool["name"]):
                return ToolCall(tool["name"], _filled(tool, {}))
        marker = _MARKER.search(prompt)
        for tool in tools if marker else ():
            if name := _argument(tool, _SHELL):
                return ToolCall(tool["name"], _filled(tool, {name: f"echo {marker[1]}"}))  # type: ignore[index]
        return None

    def _told(self, prompt: str) -> str:
        """An answer in the form that a prompt without tools asks for."""
        fence = _FENCE.search(prompt)
        if self._left and "<<<<<<< SEARCH" in prompt:
            paths, self._left = self._left, []
            return "\n\n".join(map(self._as_edit, paths))
        marker = _MARKER.search(prompt)
        if fence and (command := self._command() or (f"echo {marker[1]}" if marker else "")):
            return f"I go on.\n\n```{fence[1]}\n{command}\n```"
        return self._last()

    def _last(self) -> str:
        """The whole file as a fenced block, for agents that read one; also the expert's last message."""
        path, self._left = next(iter(self._after)), []
        return f"Done.\n\n{path}\n```{path.rpartition('.')[2].replace('py', 'python')}\n{self._after[path] or ''}```"

    def _command(self) -> str:
        """The next shell command; empty once the files are changed."""
        command = next(self._commands, "")
        if not command:
            self._left = []
        return command

    def _shell(self, calls: Iterator[ToolCall]) -> Iterator[str]:
        """Commands that inspect and change files; whole files where the calls do not produce the answer."""
        texts, made = dict(self._before), list[str]()
        for name, given in calls:
            path = shlex.quote(given.get("path", "."))
            if name == "search":
                made.append(f"grep -rnE {shlex.quote(given['pattern'])} {path}")
            elif name == "read":
                first = given.get("start")
                made.append(f"cat -n {path}" + (f" | sed -n '{first},{first + _READ}p'" if first else ""))
            elif name == "edit":
                text = texts[given["path"]] or ""
                made.append(_line_changed(path, text, given["old"], given["new"]))
                texts[given["path"]] = text.replace(given["old"], given["new"])
        if texts == self._after and all(made):
            return iter(made)
        return iter(["\n".join(map(self._by_shell, self._after))])

    def _by_shell(self, path: str) -> str:
        new, name = self._after[path], shlex.quote(path)
        return f"rm {name}" if new is None else f"printf %s {shlex.quote(new)} > {name}"

    def _by_python(self, path: str) -> str:
        new = self._after[path]
        return f"import os; os.remove({path!r})" if new is None else f"open({path!r}, 'w').write({new!r})"

    def _as_edit(self, path: str) -> str:
        """A search/replace block in aider's format."""
        old, new = self._before[path] or "", self._after[path] or ""
        return f"{path}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```"


def _line_changed(path: str, text: str, old: str, new: str) -> str:
    """A command that replaces one line by its number; empty for a change of several lines."""
    if "\n" in old + new:
        return ""
    at = text.index(old)
    number, start = text.count("\n", 0, at) + 1, text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0].replace(old, new)
    script = f"{number}c\\" + line.replace("\\", "\\\\")
    return f"sed -i {shlex.quote(script)} {path}"


def _argument(tool: Any, names: Sequence[str]) -> str:
    """The first of these names that is an argument of the tool and takes free values; "" if there is none."""
    taken = _properties(tool)
    return next((name for name in names if name in taken and "enum" not in taken[name]), "")


def _properties(tool: Any) -> Mapping[str, Any]:
    given = (tool.get("parameters") or {}).get("properties")
    return (
        {name: one for name, one in given.items() if isinstance(one, dict)} if isinstance(given, dict) else {}
    )


def _filled(tool: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with the tool's other required ones set to their first allowed value or an empty one."""
    taken, schema = _properties(tool), tool.get("parameters") or {}
    empty: Mapping[str, Any] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
    needed = [name for name in schema.get("required") or () if name not in given]
    wanted = (
        ("str_replace", "replace", "edit") if any(name in given for name in _OLD) else ("create", "write")
    )
    found = {name: _first(taken.get(name, {}), wanted, empty) for name in needed}
    for name, text in given.items():
        found[name] = ["sh", "-c", text] if taken[name].get("type") == "array" else text
    return found


def _first(schema: Mapping[str, Any], wanted: Sequence[str], empty: Mapping[str, Any]) -> Any:
    if values := schema.get("enum"):
        return next((one for one in values if one in wanted), values[0])
    return empty.get(str(schema.get("type")), "done")


def _text(request: ChatRequest) -> str:
    prompt = request.prompt
    return prompt if isinstance(prompt, str) else "\n".join(message.content for message in prompt)
