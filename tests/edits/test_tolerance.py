"""Tolerance: off by default, one switch at a time, never in the wrong place, and new lines fit in where they go."""

import pytest

from strop_verify.edits import EXACT, FORMATS, LENIENT, EditError, Tolerance

FORM = FORMATS["search-replace"]
ENDS, TRAILING, INDENT = (Tolerance.of(n) for n in ("line_ends", "trailing_space", "indentation"))


def applied(search: str, replace: str, text: str, tolerance: Tolerance = EXACT) -> str:
    answer = f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"
    return FORM.apply(FORM.parse(answer), {"a.py": text}, tolerance)["a.py"]


@pytest.mark.parametrize(
    ("switch", "search", "replace", "text", "after"),
    [
        ("line_ends", "a\nb\n", "a\nc\nd\n", "a\r\nb\r\ne\r\n", "a\r\nc\r\nd\r\ne\r\n"),
        ("line_ends", "a\r\nb\r\n", "a\r\nc\r\n", "a\nb\n", "a\nc\n"),
        ("line_ends", "a\nb\nx\n", "a\nc\nx\n", "a\r\nb\r\nx\n", "a\r\nc\r\nx\n"),
        ("line_ends", "a\nb\n", "a\nc\nd\n", "a\r\nb", "a\r\nc\r\nd"),
        ("trailing_space", "a\nb\n", "a\nc\n", "a  \nb\t\n", "a  \nc\n"),
        ("indentation", "if x:\n    y\n", "if x:\n    z\n\nw\n", "  if x:\n      y\n", "  if x:\n      z\n\n  w\n"),
        ("indentation", "        y\n", "        z\n            w\n", "    y\n", "    z\n        w\n"),
        ("indentation", "x\n", "y\n", "\tx\n", "\ty\n"),
    ],
)  # fmt: skip
def test_each_switch_does_its_part_and_nothing_without_it(switch, search, replace, text, after):
    assert applied(search, replace, text, Tolerance.of(switch)) == after
    assert applied(search, replace, text, LENIENT) == after
    with pytest.raises(EditError, match=r"not-found: .* differs in white space only"):
        applied(search, replace, text)
    others = {"line_ends", "trailing_space", "indentation", "offset"} - {switch}
    with pytest.raises(EditError, match="not-found"):
        applied(search, replace, text, Tolerance.of(*others))


def test_blank_lines_may_hold_blanks():
    for switch in (TRAILING, INDENT):
        assert applied("a\n\nb\n", "a\n\nc\n", "a\n    \nb\n", switch) == "a\n    \nc\n"


def test_the_exact_place_wins_over_a_like_one():
    assert applied("  x\n", "  y\n", "x\n  x\n    x\n", LENIENT) == "x\n  y\n    x\n"
    assert applied("x\n", "y\n", "x \nx\nx\r\n", LENIENT) == "x \ny\nx\r\n"


def test_like_places_are_ambiguous_too():
    with pytest.raises(EditError, match=r"ambiguous: .* lines 1, 2"):
        applied("x\n", "y\n", "  x\n    x\n", INDENT)
    with pytest.raises(EditError, match="ambiguous"):
        applied("x\n", "y\n", "x \nx\t\n", LENIENT)
    with pytest.raises(EditError, match="ambiguous"):
        applied("x\n", "y\n", " x\n" * 500, LENIENT)


def test_lines_shifted_unlike_are_not_found():
    with pytest.raises(EditError, match="not-found"):
        applied("if x:\n    y\n", "if x:\n    z\n", "  if x:\n    y\n", LENIENT)
    with pytest.raises(EditError, match="not-found"):
        applied("if x:\n    y\n", "z\n", "\tif x:\n\t\ty\n", INDENT)
    with pytest.raises(EditError, match=r"not-found: .* indented"):
        applied("    x\n", "y\n", "x\n", INDENT)


def test_other_line_ends_and_blanks_are_not_white_space_here():
    for odd in ("\x0c", "\u2028", "\x85", "\u00a0", "\x0b"):
        with pytest.raises(EditError, match="not-found"):
            applied("x\n", "y\n", f"x{odd}\n", LENIENT)
        with pytest.raises(EditError, match="not-found"):
            applied("x\n", "y\n", f"a{odd}x\n", LENIENT)


def test_names_of_switches():
    assert Tolerance.of() == EXACT
    with pytest.raises(ValueError, match="'spaces'; there are line_ends"):
        Tolerance.of("spaces")
    assert TRAILING != ENDS
