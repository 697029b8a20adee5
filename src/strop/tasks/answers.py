"""Extracts code from a response: bare, or in a fenced block.

Responses are hostile text: everything here is linear in their length and never runs them.
"""

import re
from typing import NamedTuple

from strop.code.python.source import UNPARSABLE, tree_of
from strop.core.task import Task
from strop.core.text import without_thinking as without_thinking

TAGS = {
    "python": {"python", "py", "python3", "py3"},
    "rust": {"rust", "rs"},
    "javascript": {"javascript", "js"},
    "typescript": {"typescript", "ts"},
    "c++": {"c++", "cpp", "cc"},
    "bash": {"bash", "sh", "shell"},
    "go": {"go", "golang"},
}
"""Words after a fence that mean the language; a language that is not listed has its own name only."""

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([^\s`{,]*)[^`]*$")
_LONGEST_PARSED = 100_000


class CodeBlock(NamedTuple):
    """A fenced block: its language tag in lower case, its content, and whether its end was found."""

    tag: str
    code: str
    closed: bool


def extract_code(response: str, language: str = "python") -> str:
    """The code that a response means as its answer; "" when it only holds blocks of other languages.

    A `<think>` passage in front is dropped. Without a fenced block the rest is the code. Of blocks it is the last one
    tagged with the language; else, in this order, an unclosed one with that tag, the last one without a tag, an
    unclosed one without a tag. Fences inside a string literal of Python source are not fences.
    """
    text = without_thinking(response)
    if not ("```" in text or "~~~" in text) or (language == "python" and _is_python_with_quotes(text)):
        return text
    found = blocks(text)
    if not found:
        return text
    fitting = TAGS.get(language, {language})
    for tags, closed in ((fitting, True), (fitting, False), ({""}, True), ({""}, False)):
        chosen = [b.code for b in found if b.tag in tags and b.closed is closed]
        if chosen:
            return chosen[-1]
    return ""


def answer_in(response: str, task: Task) -> str:
    """A response's answer to a task: its code, the text with a label, or all of it where an edit is asked for."""
    if task.check.answer == "edit":
        return response
    if task.check.answer == "label":
        return without_thinking(response)
    return extract_code(response, task.language)


def blocks(text: str) -> list[CodeBlock]:
    """The fenced blocks of a Markdown text, in order; an indented block loses the indentation of its fence."""
    found: list[CodeBlock] = []
    indent = fence = tag = ""
    content: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.match(line.rstrip("\r"))
        if not fence:
            if match:
                indent, fence, tag = match[1], match[2], match[3].lower()
                content = []
        elif match and not match[3] and match[2].startswith(fence) and not match[2].strip(fence[0]):
            found.append(CodeBlock(tag, "\n".join(content), True))
            fence = ""
        else:
            content.append(line.removeprefix(indent))
    if fence:
        found.append(CodeBlock(tag, "\n".join(content), False))
    return found


def until_fence(text: str) -> str:
    """The text before the first line that starts with a fence: what follows a prefilled ```` ```python ````."""
    return re.split(r"\n[ \t]*```", text, maxsplit=1)[0]


def _is_python_with_quotes(text: str) -> bool:
    """Whether the text is valid Python as it is, so that its fences can only be in string literals or comments."""
    first = min(i for i in (text.find("```"), text.find("~~~")) if i >= 0)
    start = text[:first]
    if not ('"""' in start or "'''" in start) or len(text) > _LONGEST_PARSED:
        return False
    try:
        tree_of(text)
    except UNPARSABLE:
        return False
    return True
