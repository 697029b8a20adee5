"""Strop's tools as an environment of TRL's GRPOTrainer, whose multi-turn loop plays them.

    from strop.neighbours.trl import tool_environment

    trainer = GRPOTrainer(..., environment_factory=tool_environment(), train_dataset=dataset)

The data set has a column `task` with a task line as text, as `strop tasks convert --to trl` writes it. A
`strop.Toolbox` subclass needs no changes: its public methods are TRL's tools, in the play's own jailed folder. The
reward is 1 if the final files pass the task's tests, else 0; None, "not scored", if they could not be verified.
"""

import functools
from typing import Any

from strop.environments.repository_tools import RepositoryTools
from strop.environments.surroundings import surroundings_of
from strop.environments.task_tree import Tree, answer_in, tree_of
from strop.environments.toolbox import Toolbox, toolbox_of, tools_of
from strop.environments.workspace import files_told
from strop.rollouts.services import PlayServices, Threads
from strop.rollouts.trl_reward import OpenedVerifier, task_of_line
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.sandbox import Folder, open_box
from strop_verify.sandbox.programs import Programs


class ToolEnvironment:
    """One play after another, each started by `reset`. TRL treats every other public method as a tool."""

    _kind: type[Toolbox]
    _verifier: OpenedVerifier
    _threads: Threads
    _programs: Programs | None = None
    _services: PlayServices
    _box: Toolbox
    _task: Task
    _tree: Tree

    def reset(self, task: str, **columns: Any) -> str:
        """Copies the task's files to a new folder and returns the prompt's text about them (`files_told`)."""
        self._close()
        self._task = task_of_line(task)
        self._tree = tree_of(self._task)
        self._programs = Programs(open_box, functools.partial(Folder, open_box))
        found = functools.partial(surroundings_of, self._task)
        self._services = PlayServices(self._verifier.get(), self._threads, self._programs, found)
        self._services.folder.put(self._tree)
        self._box = self._kind(self._task, self._services)
        return files_told(self._task, self._tree, tools_of(self._kind))

    def get_reward(self) -> float | None:
        """Ends the play: 1 if the files pass, 0 if not, None if they could not be verified."""
        try:
            answer = answer_in(self._task, self._tree, self._services.folder)
        except (ValueError, FileNotFoundError):  # a folder that the policy has made unreadable
            answer = ""
        finally:
            self._close()
        verdict = self._services.verify(self._task, answer).result()
        return float(verdict.passed) if verdict.scored else None

    def _close(self) -> None:
        programs, self._programs = self._programs, None
        if programs is not None:
            self._services.close()
            programs.close()


def tool_environment(
    tools: str | type[Toolbox] = RepositoryTools, *, verifier: Verifier | None = None
) -> type[ToolEnvironment]:
    """A class for `environment_factory`, named like the class of its tools.

    tools     a Toolbox subclass, or "file.py:Class"
    verifier  by default one is opened at the first play and closed when the process ends

    Raises UserError for a class that is not a Toolbox subclass.
    """
    kind = toolbox_of(tools, "tools")
    members: dict[str, Any] = {name: _tool(name, getattr(kind, name)) for name in tools_of(kind)}
    members |= {
        "_kind": kind,
        "_verifier": OpenedVerifier(verifier),
        "_threads": Threads(),
        "__doc__": kind.__doc__,
    }
    return type(kind.__name__, (ToolEnvironment,), members)


def _tool(name: str, method: Any) -> Any:
    """A method with the same hints and docstring, from which TRL builds the tool's schema."""

    @functools.wraps(method)
    def called(self: ToolEnvironment, **arguments: Any) -> str:
        return "the work is finished" if self._box.finished else self._box.use(name, arguments)

    return called
