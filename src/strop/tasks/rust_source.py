"""Pieces of Rust source for prompts and examples."""

import re
from collections.abc import Sequence
from textwrap import wrap

from strop.core.task import Task

_FUNCTION = re.compile(r"^ *(?:pub(?:\([^)]*\))? )?(?:const )?(?:unsafe )?fn \w+", re.M)
_TEST = re.compile(r"^( *)#\[test\]\n(?:\1#\[.*\n)*\1fn (\w+)\(.*?^\1\}\n", re.M | re.S)


def documented(head: str, statement: str, examples: Sequence[str]) -> str:
    """A function's head with the description above it. Examples are no code blocks, which would be doc tests."""
    indent = head[: len(head) - len(head.lstrip())]
    lines = [*wrap(statement, 96), *(["", *examples] if examples else [])]
    return "".join(f"{indent}/// {line}".rstrip() + "\n" for line in lines) + head


def opening(task: Task) -> str:
    """The task as the start of a program, up to the brace that opens the function to write; no space behind it."""
    if task.prompt:
        return task.prompt.rstrip()
    heads = list(_FUNCTION.finditer(task.signature))
    at = heads[-1].start() if heads else 0
    above, head = task.signature[:at], task.signature[at:].rstrip().removesuffix("{").rstrip()
    return f"{above}{documented(head, task.statement, task.metadata.get('examples', ()))} {{"


def own_tests(task: Task) -> str:
    """A test module for an answer to bring itself: the first test of the trusted ones, which shows the examples.

    Empty where the task has no trusted tests in a module of their own.
    """
    if kept := task.metadata.get("example_tests"):
        return str(kept)
    head, _, body = task.check.test_code().partition("mod tests {\n")
    first = _TEST.search(body)
    if not body or first is None:
        return ""
    return f"{head}mod tests {{\n{body[: first.end()]}}}\n"


def judged_by_own_tests(task: Task) -> Task:
    """The task with its trusted tests left out: an answer's own tests judge it, as in the published Rust recipe.

    What `own_tests` says of it stays the same.
    """
    check = task.check.without_tests()
    if check is task.check:
        return task
    return task.model_copy(
        update={"check": check, "metadata": {**task.metadata, "example_tests": own_tests(task)}}
    )
