"""Environments of one turn: one question, one answer, one verdict."""

from collections.abc import Callable
from typing import Any

from strop_verify.core.checks import NextEditCheck
from strop_verify.core.errors import UserError
from strop_verify.core.play import Done, Next, Opening
from strop_verify.core.rollout import Completion
from strop_verify.core.task import Task


class SingleTurn:
    """Shows the task's prompt and takes the first completion as the answer. Single use."""

    def __init__(self, task: Task, opening: Opening, read: Callable[[str], str]) -> None:
        self._opening = opening
        self._read = read

    def begin(self) -> Opening:
        """The task's prompt."""
        return self._opening

    def step(self, completion: Completion) -> Done:
        """Ends the play with the code in the completion as the answer."""
        return Done(self._read(completion.text))

    def result(self, effect: Any, result: Any) -> Next:
        """Never called: this environment asks for no effects."""
        raise NotImplementedError


class NextEdit(SingleTurn):
    """Shows a state of the code and takes the completion as the next edit. Single use."""

    def __init__(self, task: Task, opening: Opening, read: Callable[[str], str]) -> None:
        if task.check.maybe(NextEditCheck) is None:
            raise UserError(
                f"task {task.id} does not ask for a next edit; make such tasks with strop build next-edit"
            )
        super().__init__(task, opening, str)

    def step(self, completion: Completion) -> Done:
        """Takes the completion as the edit. A truncated one is malformed, since an editor would not show it."""
        if completion.finish_reason == "length":
            return Done("the answer was cut off", "malformed")
        return super().step(completion)
