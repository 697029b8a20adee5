"""Whole files, line ranges and the middle of a file: headers, fences, numbers and holes."""

import pytest

from strop_verify.edits import FORMATS, EditError, apply_answer

FENCE = "```"


def fence(text: str, header: str = "") -> str:
    return (header + "\n" if header else "") + f"{FENCE}python\n{text}{FENCE}\n"


def codes(name: str, text: str) -> list[str]:
    return [fault.code for fault in FORMATS[name].parse(text).faults]


def test_whole_file_without_header_is_the_last_fence():
    answer = (
        "This fails:\n"
        + fence("f(1)\n")
        + "\n### Fixed code\n\n"
        + fence("a\r\n\nb\n")
        + "Explanation: ...\n"
    )
    assert apply_answer(answer, {"x.py": "old"}, "whole-file") == {"x.py": "a\r\n\nb\n"}
    assert codes("whole-file", answer) == ["several-blocks"]
    for heading in ("### Solution", "### Solution (short)", "### The `f` function", "### Step 2 (deleted)"):
        assert apply_answer(heading + "\n" + fence("a\n"), {"x.py": "old"}, "whole-file") == {"x.py": "a\n"}
    assert apply_answer(fence("") + "### Why\n", {"x.py": "old"}, "whole-file") == {"x.py": ""}


def test_whole_files_with_headers():
    answer = (
        fence("1\n", "### a.py")
        + fence("example\n")
        + fence("2\n", '### "odd name"')
        + fence("3\n", "### `c.py`")
    )
    assert codes("whole-file", answer) == ["stray-block"]
    after = apply_answer(answer, {"a.py": "", "d.py": "4"}, "whole-file")
    assert after == {"a.py": "1\n", "odd name": "2\n", "c.py": "3\n", "d.py": "4"}
    moved = "### a.py (renamed to b.py)\n### d.py (deleted)\n" + fence("5\n", "### e.py (no newline)")
    assert apply_answer(moved, {"a.py": "x", "d.py": "4"}, "whole-file") == {"b.py": "x", "e.py": "5"}


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("whole-file", "", "no-edit"),
        ("whole-file", "just words", "no-edit"),
        ("whole-file", "```\nx\n", "unclosed"),
        ("whole-file", "### a.py (lines 1-2)\n```\nx\n```\n", "bad-syntax"),
        ("whole-file", "### a.py (new)\n```\nx\n```\n", "file-exists"),
        ("whole-file", "### ../a.py\n```\nx\n```\n", "bad-path"),
        ("whole-file", "### b.py (deleted)\n", "no-file"),
        ("whole-file", "```\n1\n2\n3\n4\n```\n", "no-change"),
        ("whole-file", "### a.py/b.py\n```\nx\n```\n", "bad-path"),
        ("line-range", "```\nx\n```\n", "bad-syntax"),
        ("line-range", "### a.py\n```\nx\n```\n", "bad-syntax"),
        ("line-range", "### (lines 4-5)\n```\nx\n```\n", "out-of-range"),
        ("line-range", "### (lines 0-1)\n```\nx\n```\n", "out-of-range"),
        ("line-range", "### (lines 3-1)\n```\nx\n```\n", "out-of-range"),
        ("line-range", "### (lines 1-2)\n```\nx\n```\n### (lines 2-3)\n```\nx\n```\n", "overlap"),
        ("line-range", "### (before line 2)\n```\nx\n```\n### (before line 2)\n```\ny\n```\n", "overlap"),
        ("line-range", "### (lines 1-2, no newline)\n```\nx\n```\n", "not-at-end"),
        ("line-range", "### b.py (lines 1-2)\n```\nx\n```\n", "no-file"),
        ("infill", "### (1:1-9:1)\n```\nx\n```\n", "out-of-range"),
        ("infill", "### (2:1-1:1)\n```\nx\n```\n", "out-of-range"),
        ("infill", "### (somewhere)\n```\nx\n```\n", "bad-syntax"),
        ("infill", "```\nx\n```\n", "not-found"),
        ("infill", "", "no-edit"),
        ("infill", "```\nx\n", "unclosed"),
    ],
)
def test_what_is_refused(name, text, code):
    with pytest.raises(EditError) as caught:
        apply_answer(text, {"a.py": "1\n2\n3\n4\n"}, name)
    assert caught.value.code == code


def test_line_ranges():
    file = {"a.py": "1\n2\n3\n4\n"}
    answer = (
        fence("x\n", "### a.py (lines 4\u20134)")
        + fence("y\n", "### (before line 1)")
        + fence("", "### (line 2)")
    )
    assert apply_answer(answer, file, "line-range") == {"a.py": "y\n1\n3\nx\n"}
    assert apply_answer(fence("5\n", "### (before line 5)"), file, "line-range") == {
        "a.py": "1\n2\n3\n4\n5\n"
    }
    assert apply_answer(fence("5\n", "### (before line 2)"), {"a.py": "1"}, "line-range") == {
        "a.py": "1\n5\n"
    }


@pytest.mark.parametrize(
    ("before", "behind", "middle"),
    [
        ("def f(x):\n", "    return y\n", "    y = x\n"),  # whole lines
        ("def f(x):\n    return ", "\n", "x"),  # the end of a line
        ("def f(x", "):\n    return x\n", ""),  # nothing
        ("x = (1, ", ")\n", "2,\n3"),
        ("def f(x):\n", "", "    return x\n"),  # the end of the file
        ("a\n", "\nb\n", "c"),  # an empty line's place
        ("a", "b\n", "c\n"),
        ("", "b\n", "a\n"),
        ("a\r\n", "\r\nb\r\n", "c"),
    ],
)
def test_infill(before, behind, middle):
    form = FORMATS["infill"]
    files, after = {"a.py": f"{before}<FILL>{behind}"}, {"a.py": before + middle + behind}
    text = form.render(files, after)
    assert "###" not in text
    assert form.apply(form.parse(text), files) == after
    raw = form.parse(middle)
    if middle:
        assert form.apply(raw, files) == after
        assert [fault.code for fault in raw.faults] == ["no-fence"]


def test_infill_takes_lines_as_a_model_writes_them():
    hole = {"a.py": "def f(x):\n<FILL>    return y\n"}
    assert apply_answer(fence("    y = x\n"), hole, "infill") == {
        "a.py": "def f(x):\n    y = x\n    return y\n"
    }
    hole = {"a.py": "def f(x):\n    return <FILL>\n"}
    assert apply_answer(fence("x + 1\n"), hole, "infill") == {"a.py": "def f(x):\n    return x + 1\n"}
    hole = {"a.py": "def f(x):\n<FILL>\n"}
    assert apply_answer(fence("    return x\n"), hole, "infill") == {"a.py": "def f(x):\n    return x\n"}
    with pytest.raises(EditError, match="ambiguous"):
        apply_answer(fence("x\n"), {"a.py": "<FILL><FILL>"}, "infill")


def test_a_part_of_a_file_may_hold_half_of_a_string():
    answer = fence('"""\n', "### (line 1)") + fence("x\n", "### (line 2)") + fence('"""\n', "### (line 3)")
    assert apply_answer(answer, {"a.py": "1\n2\n3\n"}, "line-range") == {"a.py": '"""\nx\n"""\n'}
