"""Environment `next-edit`: the newest edits and the lines around the cursor; the answer is an edit, or silence.

The prompt and the answer are described in `strop.tasks.next_edit`. Silence is the end token alone, so it is one action
with a log-probability of its own.
"""

from collections.abc import Callable
from typing import Any

from strop.core.checks import NextEditCheck
from strop.core.errors import UserError
from strop.core.play import Done, Next, Opening
from strop.core.rollout import Completion
from strop.core.task import Task


class NextEdit:
    """Shows a state and takes the completion as the edit. Single use."""

    def __init__(self, task: Task, opening: Opening, read: Callable[[str], str]) -> None:
        if task.check.maybe(NextEditCheck) is None:
            raise UserError(
                f"task {task.id} asks for no next edit; make such tasks with strop build next-edit"
            )
        self._opening = opening

    def begin(self) -> Opening:
        """The state."""
        return self._opening

    def step(self, completion: Completion) -> Done:
        """The edit; one that was cut off would not be shown to anyone."""
        if completion.finish_reason == "length":
            return Done("the answer was cut off", "malformed")
        return Done(completion.text)

    def result(self, effect: Any, result: Any) -> Next:
        """Never called: it asks for nothing."""
        raise NotImplementedError
