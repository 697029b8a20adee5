"""Prompt styles: turn a task into the prompt that a policy reads; `edit_prompts` and `rust_prompts` have their own.

The answer to a label task is one of the choices, on a line `Answer: LABEL`. Its templates are `chat-label` and, for
style "continue", `continue-label`, whose text ends just before the label.
"""

import string
from collections.abc import Callable
from pathlib import Path

from strop.tasks import edit_prompts, next_edit, rust_prompts, templates
from strop.tasks.rows import unknown
from strop.tasks.rust_prompts import AnswerForm
from strop.tasks.templates import (
    ChatPrompt,
    ContinuePrompt,
    PrefilledPrompt,
    Prompt,
    TextPrompt,
    code_fields,
    values,
)
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

CONTINUE_STOP = (*(f"\n{c}" for c in f"{string.ascii_letters}#@`>\"'"), "\n\n\n")
"""Ends a function's body: a line that starts at the margin, or two empty lines."""

PROGRAM_STOP = ("\n\n\n", '\n"""', "\n'''", "\n```", "\nInput:", "\nOutput:")
"""Ends a program: two empty lines, the next docstring, a fence, or another example."""


def render(
    task: Task, style: str, template: str | Path | None = None, answer: AnswerForm = "function"
) -> Prompt:
    """The task's prompt in a style of `STYLES`, from the style's own template or from a file.

    Style "continue" uses a task's ready-made prompt, unless a template is given. Raises UserError for an unknown style,
    a bad template and a task that does not fit the style.
    """
    if style not in STYLES:
        raise unknown("prompt style", style, STYLES)
    if not (task.statement.strip() or task.prompt):
        raise UserError(f"task {task.id!r} has no statement: it can be verified, but not prompted")
    text = None if template is None else templates.load(template)
    if task.check.answer == "places":
        return TextPrompt(
            messages=templates.messages(text or templates.packaged("chat-places"), values(task))
        )
    if task.check.answer == "next edit":
        return next_edit.prompt_of(task)
    if task.check.answer == "calls":
        raise UserError(
            f"task {task.id!r} is played with tools: set tasks.environment=world (--environment world)"
        )
    if task.check.answer == "label":
        return _LABEL[style](task, text)
    if task.check.answer == "edit":
        return edit_prompts.STYLES[style](task, text)
    if task.language == "rust":
        return _RUST[style](task, text, answer)
    if answer != "function":
        raise UserError(f"tasks.answer={answer!r} is for Rust; task {task.id!r} is {task.language}")
    return STYLES[style](task, text)


def solution(task: Task, prompt: Prompt, answer: AnswerForm = "function") -> str:
    """The ideal answer to the prompt, from the task's reference; "" if none fits."""
    if task.check.answer == "edit":
        return edit_prompts.solution(task, prompt)
    if not task.reference.strip():
        return ""
    if task.check.answer == "next edit":
        return task.reference
    if task.check.answer in ("label", "places", "calls"):
        return task.reference.strip().removeprefix(prompt.head).rstrip()
    if task.language == "rust":
        return rust_prompts.solution(task, prompt, answer)
    if isinstance(prompt, ContinuePrompt | PrefilledPrompt):
        # What follows the signature in the reference; a continued function cannot reach the imports above it.
        head = task.signature.strip()
        body = task.reference.partition(head)[2] if head and head in task.reference else task.reference
        text = "\n" + body.strip("\n")
        return f"{text}\n```" if isinstance(prompt, PrefilledPrompt) else text
    return f"```{task.language}\n{task.reference.strip()}\n```"


def _continue(task: Task, template: str | None) -> Prompt:
    if task.prompt and template is None:
        text = task.prompt.rstrip()
        return ContinuePrompt(text=text, head=text, stop=CONTINUE_STOP, **code_fields(task))
    if not task.signature:
        return _continued_program(task, template)
    template = templates.packaged("continue") if template is None else template
    shown = {**_in_docstring(task), "signature": task.signature}
    at = max(template.rfind("{signature}"), 0)
    before, head = template[:at], templates.fill(template[at:], shown)
    start = len(task.signature)
    if "\\" in head[start:] and "\\" not in template[at:]:
        head = head[:start] + head[start:].replace('"""', 'r"""', 1)
    # `fill` drops trailing white space, which here separates two parts.
    front = templates.fill(before, shown) + before[len(before.rstrip()) :] if before.strip() else ""
    return ContinuePrompt(text=front + head, head=head, stop=CONTINUE_STOP, **code_fields(task))


def _continued_program(task: Task, template: str | None) -> Prompt:
    """A file that begins with the statement as its docstring; the completion is the whole program.

    If only rewards judge the answer, the model continues the statement itself.
    """
    if task.check.rewards_alone and template is None:
        return ContinuePrompt(text=task.statement)
    if not (task.check.answer == "program" and task.language == "python"):
        raise UserError(f"task {task.id!r} has no signature to continue: use style 'chat'")
    text = templates.fill(template or templates.packaged("continue-program"), _in_docstring(task))
    if template is None and "\\" in text:
        text = f"r{text}"
    return ContinuePrompt(text=text, stop=PROGRAM_STOP, **code_fields(task))


def _in_docstring(task: Task) -> dict[str, str]:
    """The placeholders' values, escaped for triple quotes."""
    return {name: value.replace('"""', "'''") for name, value in values(task).items()}


def _chat(task: Task, template: str | None) -> Prompt:
    template = template or templates.packaged_for("chat", task.family)
    packaged = "chat" if task.signature else "chat-program"
    messages = templates.messages(template or templates.packaged(packaged), values(task))
    return ChatPrompt(messages=messages, head=templates.above_last(task.signature), **code_fields(task))


def _chat_prefilled(task: Task, template: str | None) -> Prompt:
    signature = task.signature.rstrip()
    if not (signature or task.check.answer == "program"):
        raise UserError(f"task {task.id!r} has no signature to begin an answer with: use style 'chat'")
    packaged = "chat" if signature else "chat-program"
    messages = templates.messages(template or templates.packaged(packaged), values(task))
    prefill = f"```{task.language}\n{signature}".rstrip()
    stop = CONTINUE_STOP if signature else ("\n```",)
    return PrefilledPrompt(messages=messages, prefill=prefill, head=signature, stop=stop, **code_fields(task))


STYLES: dict[str, Callable[[Task, str | None], Prompt]] = {
    "continue": _continue,
    "chat": _chat,
    "chat-prefilled": _chat_prefilled,
}
"""Prompt styles by name. "continue" suits small base models; "chat-prefilled" begins the answer with the signature or,
for a program, with its fence."""

_RUST: dict[str, Callable[[Task, str | None, AnswerForm], Prompt]] = {
    "continue": rust_prompts.continued,
    "chat": rust_prompts.chat,
    "chat-prefilled": rust_prompts.prefilled,
}


BEGUN = "Answer:"
"""Start of the line with the label; see `strop_verify.verification.label` for what else is accepted."""


def _chat_label(task: Task, template: str | None) -> Prompt:
    return TextPrompt(messages=templates.messages(template or _label_template(task, "chat"), values(task)))


def _prefilled_label(task: Task, template: str | None) -> Prompt:
    messages = templates.messages(template or _label_template(task, "chat"), values(task))
    return PrefilledPrompt(messages=messages, prefill=BEGUN, head=BEGUN, stop=("\n",))


def _continue_label(task: Task, template: str | None) -> Prompt:
    question = templates.fill(template or _label_template(task, "continue"), values(task))
    text = question if question.endswith(BEGUN) else f"{question}\n\n{BEGUN}"
    return ContinuePrompt(text=text, head=BEGUN, stop=("\n",))


def _label_template(task: Task, style: str) -> str:
    return templates.packaged_for(style, task.family) or templates.packaged(f"{style}-label")


_LABEL: dict[str, Callable[[Task, str | None], Prompt]] = {
    "continue": _continue_label,
    "chat": _chat_label,
    "chat-prefilled": _prefilled_label,
}
"""Prompt styles by name, as in `STYLES`."""
