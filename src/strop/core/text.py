"""Hostile text: made safe for a terminal, and without its reasoning. All in time linear in its length."""

import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of writing direction
    "\u2028\u2029\ud800-\udfff]"  # other line breaks; lone surrogates, which no terminal can be sent
)

_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"
_SPACE = re.compile(r"\s*")
_ENDS = re.compile(r"[\r\n]*")


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
    end = close + len(_THINK_CLOSE)
    if (
        close >= 0
        and response.find(_THINK_OPEN, start, close) < 0
        and response[end : end + 1] in ("", "\n", "\r")
    ):
        return response[_behind(_ENDS, response, end) :]  # the prompt held the opening tag
    return response[start:]


def _behind(pattern: re.Pattern[str], text: str, start: int) -> int:
    """The index after the match there of a pattern that always matches."""
    match = pattern.match(text, start)
    return match.end() if match else start


def squeeze(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())
