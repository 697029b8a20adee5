"""Prompts of Rust tasks: the beginning of a program to continue, or a request for a whole program, or one with tests.

`answer` is the requested form: "function", or "function-and-tests", where the answer also has a `#[cfg(test)]`
module (the form of the published Rust recipe).
"""

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Literal

from strop.tasks import templates
from strop.tasks.answers import until_fence
from strop.tasks.templates import (
    ChatPrompt,
    ContinuePrompt,
    PrefilledPrompt,
    Prompt,
    begun_anew,
    code_fields,
    values,
)
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

AnswerForm = Literal["function", "function-and-tests"]
END = "\n}"
"""A brace at the margin: the end of the item whose body a completion continues."""


class RustContinuePrompt(ContinuePrompt):
    """A program up to the brace that opens the function; the completion ends at the first brace at the margin."""

    def assemble(self, completion: str) -> str:
        """The program, with the function's closing brace."""
        return begun_anew(self, completion) or _closed(self.head, completion)


class RustPrefilledPrompt(PrefilledPrompt):
    """A question with the start of the answer: an open fence and the program up to the function's brace."""

    def assemble(self, completion: str) -> str:
        """The program, with the function's closing brace."""
        return begun_anew(self, completion) or _closed(self.head, until_fence(completion, "rust"))


def _closed(head: str, completion: str) -> str:
    return f"{head}{completion.partition(END)[0].rstrip()}{END}\n"


def continued(task: Task, template: str | None, answer: AnswerForm) -> Prompt:
    """Style "continue". Raises UserError for a task without a signature."""
    if template is None and not task.prompt:
        template = templates.packaged_for("continue", task.family)
    if template is None:
        text = head = _begun(task)
    else:
        # The program is the text from the signature on.
        front, _, _ = template.rpartition("{signature}")
        head = f"{task.signature.rstrip()} {{"
        text = f"{templates.fill(front, values(task))}\n\n{head}" if front.strip() else head
    if answer == "function":
        return RustContinuePrompt(text=text, head=head, stop=(END,), **code_fields(task))
    return ContinuePrompt(text=text, head=head, **code_fields(task))


def chat(task: Task, template: str | None, answer: AnswerForm) -> Prompt:
    """Style "chat": asks for a fenced block with the complete program."""
    messages = templates.messages(template or _question(task, answer), values(task))
    return ChatPrompt(messages=messages, **code_fields(task))


def prefilled(task: Task, template: str | None, answer: AnswerForm) -> Prompt:
    """Style "chat-prefilled". Raises UserError for a task without a signature."""
    messages = templates.messages(template or _question(task, answer), values(task))
    _begun(task)
    head = f"{task.signature.rstrip()} {{"
    fields = {"messages": messages, "prefill": f"```rust\n{head}", "head": head, **code_fields(task)}
    if answer == "function":
        return RustPrefilledPrompt.model_validate({**fields, "stop": (END,)})
    return PrefilledPrompt.model_validate({**fields, "stop": ("\n```",)})


def solution(task: Task, prompt: Prompt, answer: AnswerForm) -> str:
    """The ideal answer to the prompt, from the task's reference, with its examples as tests if requested; else ""."""
    tests = own_tests(task) if answer == "function-and-tests" else ""
    whole = task.reference.strip() + (f"\n\n{tests}" if tests else "")
    if not prompt.head:
        return f"```rust\n{whole.strip()}\n```"
    body = whole.partition(task.signature.strip())[2].lstrip()
    if not body.startswith("{"):
        return ""
    text = body.removeprefix("{").rstrip()
    if answer == "function":
        inside, _, below = text.partition(END)
        return "" if below.strip() else f"{inside}{END}"  # it cannot hold a helper below the function
    return f"{text}\n```" if isinstance(prompt, PrefilledPrompt) else text


def _begun(task: Task) -> str:
    if not (task.signature or task.prompt):
        raise UserError(f"task {task.id!r} has no signature to continue: use style 'chat'")
    return opening(task)


def _question(task: Task, answer: AnswerForm) -> str:
    by_family = templates.packaged_for("chat", task.family)
    return by_family or templates.packaged("chat-rust" if answer == "function" else "chat-rust-tests")


_FUNCTION = re.compile(r"^ *(?:pub(?:\([^)]*\))? )?(?:const )?(?:unsafe )?fn \w+", re.M)
_TEST = re.compile(r"^( *)#\[test\]\n(?:\1#\[.*\n)*\1fn (\w+)\(.*?^\1\}\n", re.M | re.S)


def documented(head: str, statement: str, examples: Sequence[str]) -> str:
    """A function's head below its description. Examples are not code blocks, because those would be doc tests."""
    indent = head[: len(head) - len(head.lstrip())]
    lines = [*wrap(statement, 96), *(["", *examples] if examples else [])]
    return "".join(f"{indent}/// {line}".rstrip() + "\n" for line in lines) + head


def opening(task: Task) -> str:
    """The task as the start of a program, up to the opening brace of the function to write, with no space after it."""
    if task.prompt:
        return task.prompt.rstrip()
    heads = list(_FUNCTION.finditer(task.signature))
    at = heads[-1].start() if heads else 0
    above, head = task.signature[:at], task.signature[at:].rstrip().removesuffix("{").rstrip()
    return f"{above}{documented(head, task.statement, task.metadata.get('examples', ()))} {{"


def own_tests(task: Task) -> str:
    """A test module for an answer to include: the first trusted test, which shows the examples; else ""."""
    if kept := task.metadata.get("example_tests"):
        return str(kept)
    head, _, body = task.check.test_code().partition("mod tests {\n")
    first = _TEST.search(body)
    if not body or first is None:
        return ""
    return f"{head}mod tests {{\n{body[: first.end()]}}}\n"


def judged_by_own_tests(task: Task) -> Task:
    """The task without trusted tests: an answer's own tests judge it, as in the published Rust recipe."""
    check = task.check.without_tests()
    if check is task.check:
        return task
    return task.model_copy(
        update={"check": check, "metadata": {**task.metadata, "example_tests": own_tests(task)}}
    )
