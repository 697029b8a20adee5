"""Prompts: a task in the form in which a policy reads it, and the way back from a completion to code.

A prompt never ends in white space: tokenisers join a newline with the indentation behind it, and a prompt that has cut
that token in two leaves the model where it has never been (pass@1 fell from 0.31 to 0.00).
"""

import string
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path

from pydantic import Field

from strop.core.errors import UserError
from strop.core.records import Record
from strop.core.rollout import Message
from strop.core.task import CasesCheck, RustCheck, StdioCheck, Task
from strop.tasks import templating
from strop.tasks.answers import extract_code, until_fence
from strop.tasks.rows import suggestion

CONTINUE_STOP = (*(f"\n{c}" for c in f"{string.ascii_letters}#@`>\"'"), "\n\n\n")
"""What ends a function's body: a line that starts at the margin, or two empty lines."""


class Prompt(Record):
    """What the policy is given. Either `text`, or `messages` and the `prefill` with which its answer begins."""

    text: str = ""
    messages: list[Message] = Field(default_factory=list)
    prefill: str = ""
    """Start of the assistant's message; the completion continues it."""
    stop: tuple[str, ...] = ()
    """Stop strings that fit the style."""
    head: str = ""
    """Code in front of the completion: what it continues, or imports and helpers that it may leave out."""

    @abstractmethod
    def assemble(self, completion: str) -> str:
        """The complete code to verify, from the completion's text."""


class ContinuePrompt(Prompt):
    """Text that ends inside a function; the completion is the rest of its body."""

    def assemble(self, completion: str) -> str:
        """The function's start with the completion behind it."""
        return self.head + completion


class ChatPrompt(Prompt):
    """A question; the answer holds a fenced block."""

    language: str = "python"

    def assemble(self, completion: str) -> str:
        """The answer's code behind the imports and helpers of the signature; "" when it has no code."""
        code = extract_code(completion, self.language)
        return f"{self.head}\n\n\n{code}" if self.head and code.strip() else code


class PrefilledPrompt(Prompt):
    """A question with an answer that is begun: an open fence and the signature."""

    def assemble(self, completion: str) -> str:
        """The signature with the completion behind it, up to the end of the fenced block."""
        return self.head + until_fence(completion)


def render(task: Task, style: str, template: str | Path | None = None) -> Prompt:
    """The task's prompt in a style of `STYLES`, from the style's own template or from a file.

    A task with a ready prompt is shown with it in style "continue", unless a template is given. Raises UserError for an
    unknown style, a template that cannot be used, and a task that the style cannot show.
    """
    if style not in STYLES:
        raise UserError(
            f"unknown prompt style {style!r}{suggestion(style, list(STYLES))}: one of {', '.join(STYLES)}"
        )
    if not (task.statement.strip() or task.prompt):
        raise UserError(f"task {task.id!r} has no statement: it can be verified, but not be asked")
    return STYLES[style](task, None if template is None else templating.load(template))


def examples(task: Task) -> str:
    """The shown cases as doctests, as what a program reads and prints, or as Rust; "" when there are none."""
    if isinstance(task.check, CasesCheck):
        name = task.check.entry_point
        calls = [
            (", ".join([*map(repr, c.args), *(f"{k}={v!r}" for k, v in c.kwargs.items())]), c.expected)
            for c in task.check.cases
            if c.shown
        ]
        return "\n".join(
            f">>> {name}({arguments})" + ("" if e is None else f"\n{e!r}") for arguments, e in calls
        )
    if isinstance(task.check, StdioCheck):
        shown = [c for c in task.check.cases if c.shown]
        return "\n\n".join(f"Input:\n{c.stdin.rstrip()}\nOutput:\n{c.stdout.rstrip()}" for c in shown)
    if isinstance(task.check, RustCheck):
        return "\n".join(task.metadata.get("examples", ()))
    return ""


def _continue(task: Task, template: str | None) -> Prompt:
    if task.prompt and template is None:
        text = task.prompt.rstrip()
        return ContinuePrompt(text=text, head=text, stop=CONTINUE_STOP)
    if not task.signature:
        raise UserError(f"task {task.id!r} has no signature to continue: use style 'chat'")
    template = templating.packaged("continue") if template is None else template
    values = {
        name: value.replace('"""', "'''") for name, value in _values(task).items() if name != "signature"
    }
    values["signature"] = task.signature
    at = max(template.rfind("{signature}"), 0)
    before, head = template[:at], templating.fill(template[at:], values)
    start = len(task.signature)
    if "\\" in head[start:] and "\\" not in template[at:]:
        head = head[:start] + head[start:].replace('"""', 'r"""', 1)
    # `fill` drops white space at the end, which here stands between two parts.
    front = templating.fill(before, values) + before[len(before.rstrip()) :] if before.strip() else ""
    return ContinuePrompt(text=front + head, head=head, stop=CONTINUE_STOP)


def _chat(task: Task, template: str | None) -> Prompt:
    packaged = "chat" if task.signature else "chat-program"
    messages = templating.messages(template or templating.packaged(packaged), _values(task))
    return ChatPrompt(messages=messages, head=_above(task.signature), language=task.language)


def _chat_prefilled(task: Task, template: str | None) -> Prompt:
    if not task.signature:
        raise UserError(f"task {task.id!r} has no signature to begin an answer with: use style 'chat'")
    messages = templating.messages(template or templating.packaged("chat"), _values(task))
    signature = task.signature.rstrip()
    prefill = f"```{task.language}\n{signature}"
    return PrefilledPrompt(messages=messages, prefill=prefill, head=signature, stop=CONTINUE_STOP)


def _values(task: Task) -> dict[str, str]:
    statement = task.statement or task.prompt or ""
    return {"statement": statement.strip(), "signature": task.signature.rstrip(), "examples": examples(task)}


def _above(signature: str) -> str:
    """Imports and helpers that stand above the last function header."""
    position = signature.rfind("\ndef ")
    return signature[:position].rstrip() if position > 0 else ""


STYLES: dict[str, Callable[[Task, str | None], Prompt]] = {
    "continue": _continue,
    "chat": _chat,
    "chat-prefilled": _chat_prefilled,
}
"""Prompt styles by name. "continue" suits small base models; "chat-prefilled" begins the answer with the signature."""
