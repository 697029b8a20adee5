"""What every environment is given: how its task is put in the recipe's prompt style, and how an answer is read."""

from collections.abc import Callable, Sequence
from functools import cache

from strop.core.play import Opening
from strop.core.protocols import Environment
from strop.core.task import Task
from strop.tasks.prompts import render
from strop.tasks.rust_prompts import AnswerForm
from strop.tasks.templates import Prompt

Kind = Callable[[Task, Opening, Callable[[str], str]], Environment]
"""Makes the environment of one rollout, usually a class: (task, opening, read). The opening puts the task in the
recipe's prompt style; `read` turns a completion's text into the code to verify."""


def framed(
    kind: Kind,
    style: str,
    template: str | None = None,
    answer: AnswerForm = "function",
    *,
    stop: Sequence[str] | None = None,
    max_tokens: int | None = None,
) -> Callable[[Task], Environment]:
    """A factory of environments of one kind in one prompt style, or with a template file of the user's own.

    Without `stop` completions end at the style's stop strings.
    """

    @cache
    def rendered(task_id: str) -> tuple[Opening, Prompt]:
        prompt = render(by_id[task_id], style, template, answer)
        ends = prompt.stop if stop is None else tuple(stop)
        return Opening(prompt.text, tuple(prompt.messages), prompt.prefill, ends, max_tokens), prompt

    by_id: dict[str, Task] = {}

    def make(task: Task) -> Environment:
        by_id[task.id] = task
        opening, prompt = rendered(task.id)
        return kind(task, opening, prompt.assemble)

    return make
