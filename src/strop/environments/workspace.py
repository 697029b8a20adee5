"""Environment `workspace`: tools in a folder with the task's files; how the files were changed is the answer.

A completion that calls nothing, or can't be read, is told so and costs its turn. When the turns are used up, or
`finish` was called, what the folder holds is judged (`task_tree`): in a fresh jail, on the pristine files and tests.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Annotated

from pydantic import Field

from strop.core.play import Do, Done, Next, Opening, Say, Services
from strop.core.rollout import Completion, Message
from strop.core.task import Task
from strop.environments.calls import CALL_FORMS, CallFault, FormName, calls_of
from strop.environments.demonstration import demonstrated
from strop.environments.repository_tools import RepositoryTools, listing
from strop.environments.task_tree import answer_in, packages_of, tree_of
from strop.environments.toolbox import Toolbox, UseTool, clipped, toolbox_of, tools_of


class Workspace:
    """Puts the task's files into a folder and lets the policy use tools there; the changed files are its answer.

    tools   "file.py:Class", a Toolbox in place of the ready one
    only    names of the tools that are offered; all where there are none
    calls   how calls are written
    files   whether the prompt names the files
    turns   answers at most
    """

    works, counts = "You mend and write code in a folder of files.", "The files are your answer"
    """What the prompt says."""

    def __init__(
        self, task: Task, opening: Opening, read: object, *, tools: str | type[Toolbox] = "", only: Sequence[str] = (),
        calls: FormName = "tags", files: bool = True, turns: Annotated[int, Field(ge=1)] = 8,
    ) -> None:  # fmt: skip
        self.task, self.opening, self.form, self.left = task, opening, CALL_FORMS[calls], turns
        self.kind = toolbox_of(tools, "tasks.environment.tools") if tools else RepositoryTools
        self.tools, self.listed = tools_of(self.kind, *only), files
        self.waiting: list[UseTool] = []
        self.said: list[str] = []

    def setup(self, services: Services) -> None:
        """The task's files are put into the play's folder."""
        self.tree, self.folder = tree_of(self.task), services.folder
        self.folder.put({**self.tree, **packages_of(self.task)})
        self.box = self.kind(self.task, services)

    def begin(self) -> Opening:
        """The tools and how to call them; then the task and the names of its files."""
        rules = f"{self.works}\n{self.form.instructions(self.tools)}"
        rules += f"\n{self.counts} when you finish, or after {self.left} turns."
        asked = self.task.statement.strip()
        asked += f"\n\nFiles:\n{clipped(listing(list(self.tree)))}" if self.listed else ""
        messages = Message(role="system", content=rules), Message(role="user", content=asked)
        return Opening(messages=messages, max_tokens=self.opening.max_tokens)

    def step(self, completion: Completion) -> Next:
        """The first call is begun, or it is said why there is none."""
        self.left, self.said = self.left - 1, []
        try:
            self.waiting = [UseTool(self.box, *call) for call in calls_of(completion, self.form, self.tools)]
        except CallFault as fault:
            return self._next([str(fault)])
        return Do(self.waiting.pop(0))

    def result(self, effect: UseTool, said: str) -> Next:
        """The next call of the turn; else the outputs are said."""
        self.said.append(said)
        if self.waiting and not self.box.finished:
            return Do(self.waiting.pop(0))
        return self._next(self.said)

    def demonstrate(self, rng: Random) -> Iterator[str]:
        """An expert's completions; none where there is no known answer, or the tools are not the ready ones."""
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
