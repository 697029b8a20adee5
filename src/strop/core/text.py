"""Hostile text: made safe for a terminal, and without its reasoning. All in time linear in its length."""

import re

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
    """The response without the reasoning in front of it; an unfinished thought leaves nothing."""
    start = 0
    while response.startswith(_THINK_OPEN, _behind(_SPACE, response, start)):
        close = response.find(_THINK_CLOSE, start)
        if close < 0:
            return ""
        start = _behind(_ENDS, response, close + len(_THINK_CLOSE))
    close = response.find(_THINK_CLOSE, start)
    unopened = close >= 0 and response.find(_THINK_OPEN, start, close) < 0
    if unopened and not _is_code(response, start, close):
        return response[
            _behind(_ENDS, response, close + len(_THINK_CLOSE)) :
        ]  # the prompt held the opening tag
    return response[start:]


def _is_code(response: str, start: int, close: int) -> bool:
    """Whether a closing tag with text behind it on its line is part of code: of a literal, a comment, a block."""
    end = close + len(_THINK_CLOSE)
    first, last = response.rfind("\n", start, close) + 1, response.find("\n", end)
    line = response[max(first, start) : last if last >= 0 else len(response)]
    behind = line.partition(_THINK_CLOSE)[2].strip()
    if not behind or behind.startswith(("```", "~~~")):
        return False
    if len(line) < _LONGEST_LINE and (_LITERAL.search(line) or _COMMENT.search(line)):
        return True
    fences = [(match.start(), match[1].strip()) for match in _FENCE_LINE.finditer(response, start)]
    if not fences:
        return _CODE_START.match(response, start) is not None
    is_open = sum(at < close for at, _ in fences) % 2 == 1
    following = next((word for at, word in fences if at > close), None)
    return is_open and not following


def _behind(pattern: re.Pattern[str], text: str, start: int) -> int:
    """The index after the match there of a pattern that always matches."""
    match = pattern.match(text, start)
    return match.end() if match else start


def squeeze(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())
