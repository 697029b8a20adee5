"""What a task made of a commit says: the message, without what gives the patch away, and which test fails."""

import re
from collections.abc import Mapping

from strop_tasks.curation.bugs.issue import same_message
from strop_tasks.curation.edits.history import FEWEST_WORDS
from strop_tasks.curation.engine.tally import LeftOut
from strop_verify.core.text import printable

_SHORTEST = 8
"""Characters of a line of the patch, without white space, by which it is looked for inside other text."""
_MOST_MESSAGE = 400
_NUMBER = re.compile(
    r"\s*\((?:#\d+|gh-\d+)(?:, *#\d+)*\)"
    r"|\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see|addresses|pr|issue|bug):? *#\d+\b[.,;]?"
    r"|\(cherry picked from commit \w+\)|https?://\S+/(?:pull|pulls|commit|commits|compare|issues|merge_requests)/\S+",
    re.IGNORECASE,
)
_DIFF = re.compile(
    r"^(?:@@ .*|diff --\S.*|(?:---|\+\+\+) \S.*|index [0-9a-f]+\.\..*|[+-]\s.*[(=:].*)$", re.MULTILINE
)
_EMPTY_FENCE = re.compile(r"^```[^\n`]*\n\s*```[ \t]*$\n?", re.MULTILINE)


def cleaned(message: str, before: Mapping[str, str], after: Mapping[str, str | None]) -> str:
    """The message without numbers and addresses of the change, diffs and lines of the patch. Raises LeftOut."""
    text = _DIFF.sub("", _NUMBER.sub("", message))
    lines = patch_lines(before, after)
    text = "\n".join(line for line in text.split("\n") if not holds(line, lines))
    text = re.sub(r"\n{3,}", "\n\n", _EMPTY_FENCE.sub("", text)).strip(" \n\t:-*")
    if len(re.findall(r"[^\W\d_]{2,}", text)) < FEWEST_WORDS:
        raise LeftOut("says too little")
    return printable(text)


def patch_lines(before: Mapping[str, str], after: Mapping[str, str | None]) -> set[str]:
    """The lines that a patch adds, without white space."""
    old = {_squeezed(line) for text in before.values() for line in text.split("\n")}
    new = {_squeezed(line) for text in after.values() for line in (text or "").split("\n")}
    return {line for line in new - old if re.search(r"\w", line)}


def holds(text: str, lines: set[str]) -> bool:
    """Whether a line of a text is a line of the patch, or has a long one in it."""
    telling = {line for line in lines if re.search(r"[\W_]", line)}
    inside = [line for line in telling if len(line) >= _SHORTEST]
    squeezed = (_squeezed(line.strip(" \t`>*-+")) for line in text.split("\n"))
    return any(line in telling or any(one in line for one in inside) for line in squeezed)


def statement(said: str, failing: list[str], first: str, second: str) -> str:
    """The whole statement. `first`, `second`: why the first failing test fails, in two runs."""
    told = same_message(first, second).replace("/box/project/", "")[:_MOST_MESSAGE].strip()
    why = ":\n\n" + "\n".join(f"    {line}" for line in printable(told).splitlines()) if told else "."
    more = f"\n\n{len(failing) - 1} other tests fail too." if len(failing) > 2 else ""
    return f"{said}\n\nThe test `{failing[0]}` fails{why}{more}"


def _squeezed(line: str) -> str:
    return "".join(line.split())
