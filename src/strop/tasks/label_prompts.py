"""Prompts of label tasks: the answer is one of the choices, on a line `Answer: LABEL`.

Templates: `chat-label`, and for style "continue" `continue-label`, whose text ends where the label begins.
"""

from collections.abc import Callable

from strop.core.task import Task
from strop.tasks import templating
from strop.tasks.prompt import ContinuePrompt, PrefilledPrompt, Prompt, TextPrompt, values

BEGUN = "Answer:"
"""How the line with the label begins; see `strop.verification.label` for what else is read."""


def _chat(task: Task, template: str | None) -> Prompt:
    return TextPrompt(messages=templating.messages(template or _packaged(task, "chat"), values(task)))


def _prefilled(task: Task, template: str | None) -> Prompt:
    messages = templating.messages(template or _packaged(task, "chat"), values(task))
    return PrefilledPrompt(messages=messages, prefill=BEGUN, head=BEGUN, stop=("\n",))


def _continue(task: Task, template: str | None) -> Prompt:
    question = templating.fill(template or _packaged(task, "continue"), values(task))
    text = question if question.endswith(BEGUN) else f"{question}\n\n{BEGUN}"
    return ContinuePrompt(text=text, head=BEGUN, stop=("\n",))


def solution(task: Task, prompt: Prompt) -> str:
    """What the model should have answered: the reference, less what the prompt has begun."""
    return task.reference.strip().removeprefix(prompt.head).rstrip()


def _packaged(task: Task, style: str) -> str:
    return templating.packaged_for(style, task.family) or templating.packaged(f"{style}-label")


STYLES: dict[str, Callable[[Task, str | None], Prompt]] = {
    "continue": _continue,
    "chat": _chat,
    "chat-prefilled": _prefilled,
}
"""As `strop.tasks.prompts.STYLES`."""
