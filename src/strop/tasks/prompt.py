"""The prompt that a policy gets, and how its completion is turned back into code.

A prompt never ends in white space: tokenisers join a newline with the indentation after it, and a prompt that cuts
that token in two puts the model into a state it never saw in training (pass@1 fell from 0.31 to 0.00).
"""

from abc import abstractmethod

from pydantic import Field

from strop.core.records import Record
from strop.core.rollout import Message
from strop.core.task import Task
from strop.tasks.answers import extract_code, until_fence, without_thinking


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
    """Text that ends inside a function, or above a program; the completion is the rest of the code."""

    def assemble(self, completion: str) -> str:
        """The function's start, if there is one, followed by the completion."""
        return self.head + completion


class ChatPrompt(Prompt):
    """A question; the answer holds a fenced block."""

    language: str = "python"

    def assemble(self, completion: str) -> str:
        """The answer's code after the imports and helpers of the signature; "" when it has no code."""
        code = extract_code(completion, self.language)
        return f"{self.head}\n\n\n{code}" if self.head and code.strip() else code


class TextPrompt(Prompt):
    """A question; the answer is a text, not code."""

    def assemble(self, completion: str) -> str:
        """The answer without the reasoning in front of it."""
        return without_thinking(completion)


class PrefilledPrompt(Prompt):
    """A question with an answer that is begun: an open fence and the signature, where the task has one."""

    def assemble(self, completion: str) -> str:
        """The signature and the completion, up to the end of the fenced block."""
        return self.head + until_fence(completion)


def values(task: Task) -> dict[str, str]:
    """The values of a template's placeholders."""
    statement, hole = task.statement or task.prompt or "", around_hole(task)
    return {
        "statement": statement.strip(),
        "signature": task.signature.rstrip(),
        "examples": examples(task),
        "tests": task.check.test_code().strip(),
        "stub": str(task.metadata.get("stub") or task.signature).strip("\n"),
        "language": task.language,
        "choices": _choices(task),
        "hole": "<FILL>".join(hole).strip("\n") if hole else "",
        **{name: str(task.metadata.get(name, "")).strip("\n") for name in ("broken", "message")},
    }


def examples(task: Task) -> str:
    """The shown cases as doctests, as what a program reads and prints, or as Rust; "" when there are none."""
    return task.check.examples(task.metadata.get("examples", ()))


def around_hole(task: Task) -> tuple[str, str] | None:
    """The code before and after what is to be filled in; None for tasks of other families."""
    prefix, suffix = task.metadata.get("prefix"), task.metadata.get("suffix")
    return (prefix, suffix) if isinstance(prefix, str) and isinstance(suffix, str) else None


def _choices(task: Task) -> str:
    """One label a line, with what it means where the metadata says so."""
    meanings = task.metadata.get("choices")
    known = meanings if isinstance(meanings, dict) else {}
    return "\n".join(f"- {c}: {known[c]}" if c in known else f"- {c}" for c in task.check.labels())
