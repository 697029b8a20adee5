"""Environment `world`: the tools of a small simulated world (`strop.tasks.tool_worlds`), and a goal stated in words.

The calls are the answer. The grader replays them (`strop.tasks.comparison`); the policy's prose does not count.
"""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from random import Random
from typing import Annotated, Any

from pydantic import Field

from strop.environments.toolbox import Toolbox, UseTool
from strop.environments.workspace import Workspace
from strop.policies.tool_calls import FormName, ToolCall
from strop.tasks.tool_worlds import WORLDS
from strop.tasks.tool_worlds.world import read_calls, write_call
from strop_verify.core.checks import WorldCheck
from strop_verify.core.errors import UserError
from strop_verify.core.play import Next, Opening, Services
from strop_verify.core.task import Task


class ToolWorld(Workspace):
    """Lets the policy use the tools of the task's world until it finishes.

    calls  how calls are written
    turns  maximum number of completions
    """

    begins_without_setup = True
    works, counts = "You do what is asked with tools.", "What the tools did counts"

    def __init__(
        self, task: Task, opening: Opening, read: object, *, calls: FormName = "tags",
        turns: Annotated[int, Field(ge=1)] = 8,
    ) -> None:  # fmt: skip
        check = task.check.maybe(WorldCheck)
        if check is None or check.world not in WORLDS:
            raise UserError(f"task {task.id} has no world; play tasks of tool-worlds")
        tools = world_tools(check.world)
        super().__init__(task, opening, read, tools=tools, calls=calls, files=False, turns=turns)
        self.made: list[str] = []

    def setup(self, services: Services) -> None:
        """Creates the world in its start state."""
        self.box = self.kind(self.task, services)

    def result(self, effect: UseTool, said: str) -> Next:
        """Records the call, then continues like a workspace."""
        self.made += [write_call((effect.name, effect.arguments))] if effect.name != "finish" else []
        return super().result(effect, said)

    def demonstrate(self, rng: Random) -> Iterator[str]:
        """The reference calls, one per turn or grouped by tool; the last ones are merged if there are too few turns."""
        calls = [ToolCall(name, dict(given)) for name, given in read_calls(self.task.reference)]
        together = rng.random() < 0.5
        groups = groupby(enumerate(calls), lambda one: one[1].name if together else one[0])
        turns = [[call for _, call in group] for _, group in groups]
        while len(turns) >= self.left > 1:
            turns[-2:] = [turns[-2] + turns[-1]]
        for turn in [*turns, [ToolCall("finish", {})]]:
            yield "\n".join(self.form.write(call, self.tools) for call in turn)

    def _answer(self) -> str:
        return "\n".join(self.made)


@cache
def world_tools(name: str) -> type[Toolbox]:
    """The Toolbox subclass of a world."""
    world: Any = WORLDS[name]

    def begun(self: Any, task: Task, services: Services) -> None:
        Toolbox.__init__(self, task, services)
        world.__init__(self, task.check.only(WorldCheck).start)

    made: type[Toolbox] = type(world.__name__, (world, Toolbox), {"__init__": begun})
    return made
