"""Hostile text made safe for a terminal."""

import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of writing direction
    "\u2028\u2029\ud800-\udfff]"  # other line breaks; lone surrogates, which no terminal can be sent
)


def printable(text: str) -> str:
    """The text with control characters and direction overrides written as escapes; newline and tab stay.

    A terminal that prints the result cannot be made to move its cursor, change its title or reorder what is read.
    """
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
