"""Environment `workspace`: tools in a folder with the task's files; the changes to the files are the answer.

A completion without a readable call costs a turn, and the policy is told why. When the turns are used up, or `finish`
was called, the folder's contents are judged (`task_tree`): in a fresh jail, on the pristine files and tests.

The expert (`demonstrated`) makes calls that lead to the task's known answer, randomised for each play: search for a
name near the change, read around it, edit by the shortest text that occurs once, test, finish. Sometimes the tests run
first, a search finds nothing, or the tests are skipped.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random
from typing import Annotated

from pydantic import Field

from strop.environments.repository_tools import RepositoryTools, listing
from strop.environments.task_tree import Tree, answer_in, packages_of, project_of, tree_of
from strop.environments.toolbox import Toolbox, UseTool, clipped, toolbox_of, tools_of
from strop.policies.tool_calls import CALL_FORMS, CallFault, FormName, ToolCall, calls_of
from strop.tasks.edit_tasks import solution_of
from strop_verify.core.play import Do, Done, Next, Opening, Say, Services
from strop_verify.core.rollout import Completion, Message
from strop_verify.core.task import Task
from strop_verify.edits.lines import split
from strop_verify.edits.minimal_diff import unique_hunks


class Workspace:
    """Copies the task's files to a folder where the policy uses tools; the changed files are its answer.

    tools   "file.py:Class", a Toolbox that replaces the built-in tools
    only    names of the tools that are offered; all if empty
    calls   how calls are written
    files   whether the prompt names the files; without the tool `read`, it also shows those that the task is about
    turns   maximum number of completions
    tell    whether `test` says what failed in tests that the task does not show
    """

    works, counts = "You mend and write code in a folder of files.", "The files are your answer"
    """Parts of the system prompt."""

    def __init__(
        self, task: Task, opening: Opening, read: object, *, tools: str | type[Toolbox] = "", only: Sequence[str] = (),
        calls: FormName = "tags", files: bool = True, turns: Annotated[int, Field(ge=1)] = 8, tell: bool = False,
    ) -> None:  # fmt: skip
        self.task, self.opening, self.form, self.left = task, opening, CALL_FORMS[calls], turns
        self.kind = toolbox_of(tools, "tasks.environment.tools") if tools else RepositoryTools
        self.tools, self.listed, self.tell = tools_of(self.kind, *only), files, tell
        self.waiting: list[UseTool] = []
        self.said: list[str] = []

    def setup(self, services: Services) -> None:
        """Puts the task's files into the play's folder."""
        self.tree, self.folder = tree_of(self.task), services.folder
        self.folder.put({**self.tree, **packages_of(self.task)})
        self.box = self.kind(self.task, services)
        if self.tell and isinstance(self.box, RepositoryTools):
            self.box.tell = True

    def begin(self) -> Opening:
        """The tools and how to call them, then the task and the names of its files."""
        rules = f"{self.works}\n{self.form.instructions(self.tools)}"
        rules += f"\n{self.counts} when you finish, or after {self.left} turns."
        asked = self.task.statement.strip()
        asked += files_told(self.task, self.tree, self.tools) if self.listed else ""
        messages = Message(role="system", content=rules), Message(role="user", content=asked)
        return Opening(messages=messages, max_tokens=self.opening.max_tokens)

    def step(self, completion: Completion) -> Next:
        """Starts the first call, or tells the policy why there is none."""
        self.left, self.said = self.left - 1, []
        try:
            self.waiting = [UseTool(self.box, *call) for call in calls_of(completion, self.form, self.tools)]
        except CallFault as fault:
            return self._next([str(fault)])
        return Do(self.waiting.pop(0))

    def result(self, effect: UseTool, said: str) -> Next:
        """Starts the turn's next call; after the last one, shows all outputs."""
        self.said.append(said)
        if self.waiting and not self.box.finished:
            return Do(self.waiting.pop(0))
        return self._next(self.said)

    def demonstrate(self, rng: Random) -> Iterator[str]:
        """An expert's completions; none if no answer is known or the tools are not the built-in ones."""
        calls = demonstrated(self.task, self.left, self.tools, rng) if self.kind is RepositoryTools else ()
        return (self.form.write(call, self.tools) for call in calls)

    def _next(self, said: list[str]) -> Next:
        if self.left and not self.box.finished:
            return Say(self.form.replies(said, f"[{self.left} turn{'s' * (self.left > 1)} left]"))
        return Done(self._answer())

    def _answer(self) -> str:
        try:
            return answer_in(self.task, self.tree, self.folder)
        except (ValueError, FileNotFoundError):  # a folder that the policy has made unreadable
            return ""


def files_told(task: Task, tree: Tree, tools: Collection[str]) -> str:
    """A prompt's section on the task's files: their names and, without the tool `read`, the text of those that the task
    is about."""
    told = f"\n\nFiles:\n{clipped(listing(list(tree)))}"
    about = [] if "read" in tools else sorted(task.edit.files) if task.edit else [solution_of(task)]
    texts = ((path, tree[path].decode(errors="replace")) for path in about if tree.get(path))
    return told + "".join(f"\n\n{path}:\n{clipped(text, _SHOWN)}" for path, text in texts)


_SHOWN = 200
"""Maximum number of lines of a file that a prompt shows."""
_DEFINED = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))? +|async +)*(?:def|class|fn|struct|impl|enum|trait) +(\w+)", re.MULTILINE
)
_WORD = re.compile(r"[A-Za-z_]\w{3,}")
_ABOVE = 10
"""Minimum number of lines above the change that the expert reads."""


def demonstrated(task: Task, turns: int, tools: Collection[str], rng: Random) -> Iterator[ToolCall]:
    """An expert's calls of these tools, one per turn; none if no answer is known or there are too few turns."""
    edit = task.edit
    before = dict(edit.files) if edit else {}
    after: Mapping[str, str | None] = edit.oracle if edit else {solution_of(task): task.reference or None}
    needed = [call for path, text in sorted(after.items()) for call in _changes(path, before.get(path), text)]
    if not needed or len(needed) > turns:
        return
    optional = _looks(task, before, after, rng)
    if rng.random() < 0.3:
        optional.insert(0, ToolCall("test", {}))
    optional = [call for call in optional if call.name in tools]
    tested = [ToolCall("test", {})] if "test" in tools and rng.random() < 0.8 else []
    while optional and len(optional) + len(needed) + len(tested) + 1 > turns:
        optional.pop(0)
    yield from [*optional, *needed, *tested, ToolCall("finish", {})][:turns]


def _looks(
    task: Task, before: Mapping[str, str], after: Mapping[str, str | None], rng: Random
) -> list[ToolCall]:
    """Calls that search and read the first changed file that exists."""
    path = next((path for path in sorted(after) if path in before), None)
    if path is None:
        return []
    text, line = before[path], _first_line(before[path], after[path] or "")
    above = split(text)[: line + 1]
    defined = [match[1] for match in _DEFINED.finditer("".join(above))]
    words = _WORD.findall(above[-1] if above else "")
    name = defined[-1] if defined else rng.choice(words) if words else ""
    found: list[ToolCall] = []
    if name and project_of(task) is not None:
        if rng.random() < 0.2:
            found.append(ToolCall("search", {"pattern": f"def {name.title().replace('_', '')}"}))
        found.append(ToolCall("search", {"pattern": rng.choice([name, name, f"(def|fn|class) {name}"])}))
    start = max(1, line + 1 - _ABOVE - rng.randrange(5))
    return [*found, ToolCall("read", {"path": path, **({"start": start} if start > _ABOVE else {})})]


def _first_line(before: str, after: str) -> int:
    """Index of the first line that changes."""
    pairs = zip(split(before), split(after), strict=False)
    return next((at for at, (old, new) in enumerate(pairs) if old != new), 0)


def _changes(path: str, before: str | None, after: str | None) -> Iterator[ToolCall]:
    if before == after:
        return
    if after is None:
        yield ToolCall("run", {"command": f"rm {path}"})
        return
    if not before:
        yield ToolCall("write", {"path": path, "text": after})
        return
    old, new = split(before), split(after)
    for hunk in reversed(unique_hunks(before, after, gap=1)):  # bottom up, so that line numbers stay valid
        text = "".join(old)
        first, last, piece = hunk.first, hunk.last, new[hunk.new_first : hunk.new_last]
        while text.count("".join(old[first:last])) != 1:  # widen until the text is unique
            if first == 0 and last == len(old):
                break
            piece = [*old[max(0, first - 1) : first], *piece, *old[last : last + 1]]
            first, last = max(0, first - 1), min(len(old), last + 1)
        left, right = _shorter(text, "".join(old[first:last]), "".join(piece))
        yield ToolCall("edit", {"path": path, "old": left, "new": right})
        old[first:last] = piece


def _shorter(text: str, old: str, new: str) -> tuple[str, str]:
    """Both texts without their common line end and indentation, as long as the old one stays unique in `text`."""
    if old.endswith("\n") and new.endswith("\n") and text.count(old[:-1]) == 1:
        old, new = old[:-1], new[:-1]
    if "\n" not in old + new:
        indent = len(old) - len(old.lstrip(" \t"))
        if old[:indent] == new[:indent] and text.count(old[indent:]) == 1:
            return old[indent:], new[indent:]
    return old, new
