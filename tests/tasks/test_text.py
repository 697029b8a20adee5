"""Hostile text in the terminal."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from strop_verify.core.text import printable


@given(st.text())
def test_no_control_or_override_is_left(text):
    for character in printable(text):
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in (
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        )


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]) | st.sampled_from("\n\t")))
def test_ordinary_text_is_unchanged(text):
    assert printable(text) == text


def test_escapes_are_readable():
    assert printable("\x1b[31mred\x1b]0;t\x07\r\x9b2J\u202e") == r"\x1b[31mred\x1b]0;t\x07\x0d\x9b2J\u202e"
