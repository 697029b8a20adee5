"""The statement of a commit's task: the message, without what reveals the patch, and a failing test."""

import re
from collections.abc import Mapping

from strop_tasks.curation.bugs.issue import same_message
from strop_tasks.curation.edits.history import FEWEST_WORDS
from strop_tasks.curation.engine.tally import LeftOut
from strop_verify.core.text import plain_text, squeeze

_SHORTEST = 8  # minimum characters of a patch line, without white space, to search for it inside other text
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
_LEFT = re.compile(r" ?[(\[] *(?:\0[ ,;]*)+[)\]]|\0")
"""Brackets left with only removed numbers and punctuation."""
_DEBRIS = re.compile(
    r"^[ \t]*[*-]?[ \t]*(?:\[pre-commit\.ci\].*|apply suggestions from code review.*|update (?:changelog|authors)\S*"
    r"|(?:co-authored|signed-off|reviewed|acked|tested|reported|suggested)-by:.*|-{3,}"
    r"|for more information, see https?://\S*)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines for the project's developers, and lines of bots."""
_QUOTED = re.compile(
    r"(?<!`)(`{1,3})(?!`)(.{1,200}?)(?<!`)\1(?!`)|\"([^\"\n]{2,120})\"|(?<!\w)'([^'\n]{2,120})'(?!\w)"
)
_NAME = re.compile(r"\b[A-Za-z_]\w*(?:_\w+|[a-z0-9][A-Z]\w*)|\b[A-Z][A-Z0-9]{3,}\b|\b\w+(?=\(\))")
"""Words that look like names of code: with an underscore, inner capitals or only capitals, or called."""
_EMPTY_FENCE = re.compile(r"^```[^\n`]*\n\s*```[ \t]*$\n?", re.MULTILINE)


def cleaned(message: str, before: Mapping[str, str], after: Mapping[str, str | None]) -> str:
    """The message without issue numbers, URLs, diffs, lines of the patch and lines of bots. Raises LeftOut."""
    text = _DIFF.sub("", _LEFT.sub("", _NUMBER.sub("\0", _DEBRIS.sub("", plain_text(message)))))
    lines = patch_lines(before, after)
    text = "\n".join(line for line in text.split("\n") if not holds(line, lines))
    text = re.sub(r"\n{3,}", "\n\n", _EMPTY_FENCE.sub("", text)).strip(" \n\t:-*")
    if len(re.findall(r"[^\W\d_]{2,}", text)) < FEWEST_WORDS:
        raise LeftOut("says too little")
    return text


def told_of(said: str, before: Mapping[str, str], after: Mapping[str, str | None]) -> list[str]:
    """Quoted fragments and code-like names in a text that occur in the patch's new texts only."""
    old, new = squeeze("\n".join(before.values())), squeeze("\n".join(filter(None, after.values())))
    quoted = [next(filter(None, match.groups()[1:])) for match in _QUOTED.finditer(said)]
    words = [*quoted, *_NAME.findall(said)]
    return sorted(
        {word for word in words if (bare := squeeze(word.strip(" ()"))) and bare in new and bare not in old}
    )


def patch_lines(before: Mapping[str, str], after: Mapping[str, str | None]) -> set[str]:
    """The lines that a patch adds, without white space."""
    old = {squeeze(line) for text in before.values() for line in text.split("\n")}
    new = {squeeze(line) for text in after.values() for line in (text or "").split("\n")}
    return {line for line in new - old if re.search(r"\w", line)}


def holds(text: str, lines: set[str]) -> bool:
    """Whether a line of the text is a line of the patch, or contains a long one."""
    telling = {line for line in lines if re.search(r"[\W_]", line)}
    inside = [line for line in telling if len(line) >= _SHORTEST]
    squeezed = (squeeze(line.strip(" \t`>*-+")) for line in text.split("\n"))
    return any(line in telling or any(one in line for one in inside) for line in squeezed)


def statement(said: str, failing: list[str], first: str, second: str) -> str:
    """The whole statement. `first`, `second`: why the first failing test fails, in two runs."""
    told = same_message(first, second).replace("/box/project/", "")[:_MOST_MESSAGE].strip()
    why = ":\n\n" + "\n".join(f"    {line}" for line in plain_text(told).splitlines()) if told else "."
    more = f"\n\n{len(failing) - 1} other tests fail too." if len(failing) > 2 else ""
    return f"{said}\n\nThe test `{failing[0]}` fails{why}{more}"
