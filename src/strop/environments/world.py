"""Environment `world`: the tools of a small world (`strop.tasks.tool_worlds`), and a goal in words.

The calls that were made are the answer. Whoever judges makes them again in the world as it was at first, and looks at
its state (`strop.verification.world`): what the policy says counts for nothing.
"""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from random import Random
from typing import Annotated, Any

from pydantic import Field

from strop.core.checks import WorldCheck
from strop.core.errors import UserError
from strop.core.play import Next, Opening, Services
from strop.core.rollout import Message
from strop.core.task import Task
from strop.environments.calls import FormName, ToolCall
from strop.environments.toolbox import Toolbox, UseTool
from strop.environments.workspace import Workspace
from strop.tasks.tool_worlds import WORLDS
from strop.tasks.tool_worlds.world import read_calls, write_call


class ToolWorld(Workspace):
    """Lets the policy use the tools of the task's world until it finishes.

    calls  how calls are written
    turns  answers at most
    """

    begins_without_setup = True
    """Its first prompt is known before it is set up."""

    def __init__(
        self, task: Task, opening: Opening, read: object, *, calls: FormName = "tags",
        turns: Annotated[int, Field(ge=1)] = 8,
    ) -> None:  # fmt: skip
        check = task.check.maybe(WorldCheck)
        if check is None or check.world not in WORLDS:
            raise UserError(f"task {task.id} has no world of this version; play tasks of tool-worlds")
        super().__init__(task, opening, read, tools=world_tools(check.world), calls=calls, turns=turns)
        self.made: list[str] = []

    def setup(self, services: Services) -> None:
        """The world is as it is at first."""
        self.box = self.kind(self.task, services)

    def begin(self) -> Opening:
        """The tools and how to call them; then what is asked."""
        rules = f"You do what is asked with tools.\n{self.form.instructions(self.tools)}"
        rules += f"\nWhat the tools did counts when you finish, or after {self.left} turns."
        messages = Message(role="system", content=rules), Message(role="user", content=self.task.statement)
        return Opening(messages=messages, max_tokens=self.opening.max_tokens)

    def result(self, effect: UseTool, said: str) -> Next:
        """The call is noted; then as in `Workspace`."""
        if effect.name != "finish":
            self.made.append(write_call((effect.name, effect.arguments)))
        return super().result(effect, said)

    def demonstrate(self, rng: Random) -> Iterator[str]:
        """The known calls, each in a turn or those of one tool together; where turns are few, the last has more."""
        calls = [ToolCall(name, dict(given)) for name, given in read_calls(self.task.reference)]
        each = rng.random() < 0.5
        turns = [
            [*some] for _, some in groupby(enumerate(calls), lambda one: one[0] if each else one[1].name)
        ]
        while len(turns) >= self.left > 1:
            turns[-2:] = [turns[-2] + turns[-1]]
        for turn in [*([call for _, call in some] for some in turns), [ToolCall("finish", {})]]:
            yield "\n".join(self.form.write(call, self.tools) for call in turn)

    def _answer(self) -> str:
        return "\n".join(self.made)


@cache
def world_tools(name: str) -> type[Toolbox]:
    """A world's class as a class of tools."""

    def begun(self: Any, task: Task, services: Services) -> None:
        Toolbox.__init__(self, task, services)
        world.__init__(self, task.check.only(WorldCheck).start)

    world: Any = WORLDS[name]
    made: type[Toolbox] = type(world.__name__, (world, Toolbox), {"__init__": begun})
    return made
