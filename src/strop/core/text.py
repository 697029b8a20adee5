"""Hostile text: made safe for a terminal, and without its reasoning. All in time linear in its length."""

import re
from bisect import bisect

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of writing direction
    "\u2028\u2029\ud800-\udfff]"  # other line breaks; lone surrogates, which no terminal can be sent
)

_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"
_SPACE = re.compile(r"\s*")
_ENDS = re.compile(r"[ \t]*[\r\n]*")
_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)
_LITERAL = re.compile(r"""(?<!\w)[rbfuRBFU]{0,2}(["'`])(?:(?!\1).)*</think>(?:(?!\1).)*\1(?!\w)""")
_COMMENT = re.compile(r"(?<!\S)(?:#(?!#)|//)[^\n]*</think>")
_CODE_START = re.compile(
    r"\s*(?:(?:async )?def \w+\(|class \w+[(:]|import \w|from [\w.]+ import |@\w|#include|use \w+::|(?:pub )?fn \w"
    r"|function \w+\(|\"\"\")"
)
_LONGEST_LINE = 10_000


def printable(text: str) -> str:
    """The text with control characters and direction overrides written as escapes; newline and tab stay.

    A terminal that prints the result cannot be made to move its cursor, change its title or reorder what is read.
    """
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def without_thinking(response: str) -> str:
    """The response without the reasoning in front of it; an unfinished thought leaves nothing.

    A prompt may hold the opening tag. Of several closing ones without it the last counts that is not part of code; at
    the very end they only count where there is no other.
    """
    start = 0
    while response.startswith(_THINK_OPEN, _behind(_SPACE, response, start)):
        close = response.find(_THINK_CLOSE, start)
        if close < 0:
            return ""
        start = _behind(_ENDS, response, close + len(_THINK_CLOSE))
    first = response.find(_THINK_CLOSE, start)
    if first < 0 or response.find(_THINK_OPEN, start, first) >= 0:
        return response[start:]
    fences = [(match.start(), match[1].strip()) for match in _FENCE_LINE.finditer(response, start)]
    end = stop = _without_closing(response, start)
    while (close := response.rfind(_THINK_CLOSE, start, stop)) >= 0:
        before = max(response.rfind(_THINK_CLOSE, start, close), start)
        if response.find(_THINK_OPEN, before, close) >= 0:
            stop = close
        elif _is_code(response, start, close, fences):
            stop = max(response.rfind("\n", start, close), start)
        else:
            rest = response[_behind(_ENDS, response, close + len(_THINK_CLOSE)) : end]
            return without_thinking(rest) if rest.lstrip().startswith(_THINK_OPEN) else rest
    return response[start:] if end == len(response) else ""


def _without_closing(response: str, start: int) -> int:
    """The index where closing tags at the end begin; the length where there are none."""
    end = at = len(response)
    while at > start:
        if response[at - 1].isspace():
            at -= 1
        elif response.endswith(_THINK_CLOSE, start, at):
            end = at = at - len(_THINK_CLOSE)
        else:
            break
    return end


def _is_code(response: str, start: int, close: int, fences: list[tuple[int, str]]) -> bool:
    """Whether a closing tag is part of code: of a literal, a comment, a block. The first one is not at a line's end."""
    end = close + len(_THINK_CLOSE)
    first, last = response.rfind("\n", start, close) + 1, response.find("\n", end)
    line = response[max(first, start) : last if last >= 0 else len(response)]
    behind = response[end : last if last >= 0 else len(response)].strip()
    if behind.startswith(("```", "~~~")):
        return False
    index = bisect(fences, (close, ""))
    in_block = index % 2 == 1 and not (fences[index][1] if index < len(fences) else "")
    if not behind:
        return in_block and index < len(fences) and response.find(_THINK_CLOSE, start, close) >= 0
    if len(line) < _LONGEST_LINE and (_LITERAL.search(line) or _COMMENT.search(line)):
        return True
    return in_block if fences else _CODE_START.match(response, start) is not None


def _behind(pattern: re.Pattern[str], text: str, start: int) -> int:
    """The index after the match there of a pattern that always matches."""
    match = pattern.match(text, start)
    return match.end() if match else start


def squeeze(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())
