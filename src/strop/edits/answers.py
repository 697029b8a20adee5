"""The edit in a model's answer: after its thinking, inside the tags that the prompt asks for."""

import re

from strop.core.text import without_thinking

_START = re.compile(
    r"^(?:<(?P<tag>answer|solution)>|<<<<<|### |diff --git |--- |@@ | {0,3}(?:```|~~~))", re.MULTILINE
)
"""Where an edit, or the tag around it, begins."""


def edit_in(answer: str) -> str:
    """What an answer gives as its edit: all of it behind the thinking, or what stands in `<answer>` or `<solution>`.

    Such a tag counts at the start of a line above the first fence, header, marker or diff; code may hold any tag. It
    ends at the last closing tag; where that is missing, with the answer.
    """
    text = without_thinking(answer)
    match = _START.search(text)
    if match is None or not match["tag"]:
        return text
    end = text.rfind(f"</{match['tag']}>", match.end())
    inner = text[match.end() :] if end < 0 else text[match.end() : end]
    return inner.removeprefix("\r").removeprefix("\n")
