"""Search/replace blocks: the forms that models write, what is ambiguous, and what is wrong with a block."""

from textwrap import indent

import pytest

from strop_verify.edits import EXACT, FORMATS, LENIENT, Create, Delete, EditError, Rename, Replace, Tolerance

FORM = FORMATS["search-replace"]
FILE = "def f(x):\n    y = x\n\n    return y\n\n\ndef g(x):\n    y = x\n    return -y\n"


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def applied(text: str, files: dict[str, str], tolerance: Tolerance = EXACT) -> dict[str, str]:
    return FORM.apply(FORM.parse(text), files, tolerance)


def codes(text: str) -> list[str]:
    return [fault.code for fault in FORM.parse(text).faults]


def test_a_block_with_blank_lines_in_one_file():
    text = "```python\n" + block("    y = x\n\n    return y\n", "    return x\n") + "```\n"
    assert applied(text, {"a.py": FILE}) == {
        "a.py": FILE.replace("    y = x\n\n    return y\n", "    return x\n")
    }
    assert FORM.parse(text).faults == ()


def test_headers_as_in_swe_rl_and_paths_above_the_fence():
    files = {"a.py": "1\n", "src/b.py": "1\n", "Makefile": "1\n", "d.py": "1\n"}
    text = (
        "```python\n### src/b.py\n" + block("1\n", "2\n") + "```\n\n"
        "```\n### Makefile\n" + block("1\n", "3\n") + "```\n\n"
        "`d.py`:\n```python\n" + block("1\n", "4\n") + "```\n"
    )  # fmt: skip
    assert applied(text, files) == {"a.py": "1\n", "src/b.py": "2\n", "Makefile": "3\n", "d.py": "4\n"}


def test_a_block_without_header_belongs_to_the_file_of_the_block_before():
    text = "```\n### a.py\n" + block("1\n", "2\n") + "\n" + block("3\n", "4\n") + "```\n"
    assert applied(text, {"a.py": "1\n3\n", "b.py": "1\n3\n"})["a.py"] == "2\n4\n"


def test_prose_above_a_block_is_no_path():
    for prose in (
        "### Change 1",
        "### Solution",
        "### The fix (short)",
        "Done.",
        "e.g. this:",
        "Fix:",
        "The fix is in a.py",
        "---",
    ):
        assert FORM.parse(prose + "\n```\n" + block("1\n", "2\n") + "```\n").changes[0].path == ""


def test_new_deleted_renamed():
    text = (
        "```\n### new.py\n" + block("", "1\n") + "```\n```\n### old.py (deleted)\n```\n"
        "```\n### a.py (renamed to b/c.py)\n" + block("1\n", "2\n") + "```\n"
    )  # fmt: skip
    assert set(FORM.parse(text).changes) == {
        Replace("new.py", "", "1\n"), Delete("old.py"), Rename("a.py", "b/c.py"), Replace("b/c.py", "1\n", "2\n")
    }  # fmt: skip
    assert applied(text, {"old.py": "x", "a.py": "1\n"}) == {"new.py": "1\n", "b/c.py": "2\n"}
    assert Create("x", "1") != Create("x", "2")


def test_the_file_end_stays_as_it_is_unless_a_note_says_otherwise():
    assert applied(block("b\n", "c\n"), {"a": "a\nb"}) == {"a": "a\nc"}
    assert applied(block("b\n", "c\n").replace("=\n", "= (no newline)\n"), {"a": "a\nb"}) == {"a": "a\nc\n"}
    assert applied(block("b\n", "c\n").replace("REPLACE", "REPLACE (no newline)"), {"a": "b\n"}) == {"a": "c"}
    with pytest.raises(EditError, match="not-at-end"):
        applied(block("b\n", "c\n").replace("REPLACE", "REPLACE (no newline)"), {"a": "b\nx\n"})
    with pytest.raises(EditError, match="not-found"):
        applied(block("b\n", "c\n").replace("=\n", "= (no newline)\n"), {"a": "b\n"})


def test_whole_lines_only():
    with pytest.raises(EditError, match="not-found"):
        applied(block("y = x\n", "y = 1\n"), {"a.py": FILE})
    with pytest.raises(EditError, match="not-found"):
        applied(block("    y\n", "    z\n"), {"a.py": FILE})


def test_several_places_are_ambiguous_and_named():
    with pytest.raises(EditError, match=r"ambiguous: .* lines 2, 8: ") as caught:
        applied(block("    y = x\n", "    y = 1\n"), {"a.py": FILE}, LENIENT)
    assert caught.value.code == "ambiguous"
    with pytest.raises(EditError, match=r"lines 1, 2, 3, 4, 5 and more"):
        applied(block("x\n", "y\n"), {"a.py": "x\n" * 9})
    with pytest.raises(EditError, match=r"lines 1, 2: "):
        applied(block("x\nx\n", "y\n"), {"a.py": "x\nx\nx\n"})


def test_overlapping_and_repeated_blocks():
    with pytest.raises(EditError, match="overlap"):
        applied(block("a\nb\n", "1\n") + block("b\nc\n", "2\n"), {"x": "a\nb\nc\n"})
    twice = block("a\n", "1\n") * 2
    assert applied(twice, {"x": "a\nb\n"}) == {"x": "1\nb\n"}
    assert "repeated" in codes(twice)
    assert applied(block("b\n", "2\n") + block("a\n", "1\n"), {"x": "a\nb\n"}) == {"x": "1\n2\n"}
    with pytest.raises(EditError, match="not-found"):  # no block sees what another wrote
        applied(block("a\n", "1\n") + block("1\n", "2\n"), {"x": "a\n"})


def test_nothing_changed():
    assert "no-change" in codes(block("a\n", "a\n"))
    with pytest.raises(EditError, match="no-change"):
        applied(block("a\n", "a\n"), {"x": "a\n"})
    assert applied(block("a\n", "a\n") + block("b\n", "c\n"), {"x": "a\nb\n"}) == {"x": "a\nc\n"}


def test_marker_look_alikes():
    rst = "Title\n=======\n\ntext\n"
    ambiguous = block("Title\n=======\n", "Name\n=======\n")
    assert codes(ambiguous)[:1] == ["ambiguous-marker"]
    with pytest.raises(EditError, match="ambiguous-marker"):
        applied(ambiguous, {"a.rst": rst})
    rendered = FORM.render({"a.rst": rst}, {"a.rst": "Name\n=======\n"})
    assert "<<<<<<<< SEARCH" in rendered
    assert applied(rendered, {"a.rst": rst}) == {"a.rst": "Name\n=======\n"}
    conflict = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> main\n"
    longer = f"<<<<<<<< SEARCH\n{conflict}========\nboth\n>>>>>>>> REPLACE\n"
    assert applied(longer, {"x": conflict + "end\n"}) == {"x": "both\nend\n"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "no-edit"),
        ("I would change nothing.", "no-edit"),
        ("<<<<<<< SEARCH\na\n=======\nb\n", "bad-syntax"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "bad-syntax"),
        ("<<<<<<< SEARCH\na\n" + block("a\n", "b\n"), "bad-syntax"),
        ("a\n=======\nb\n>>>>>>> REPLACE\n", "stray-marker"),
        (block("a\n", "b\n") + ">>>>>>> REPLACE\n", "stray-marker"),
    ],
)
def test_what_cannot_be_read_is_not_applied_in_part(text, code):
    fatal = FORM.parse(text).fatal
    assert fatal is not None and fatal.code == code
    with pytest.raises(EditError, match=code):
        applied(text, {"x": "a\n"})


def test_small_faults_cost_marks_only():
    assert codes("```\n" + block("a\n", "b\n").replace("=======", "========") + "```") == ["marker-width"]
    assert codes("```\n" + block("a\n", "b\n").replace("=======", "======= ") + "```") == ["untidy-marker"]
    assert codes(block("a\n", "b\n")) == ["no-fence"]
    for text in (block("a\n", "b\n").replace(">>>>>>>", ">>>>>>"), block("a\n", "b\n").replace("\n", "\r\n")):
        assert applied(text, {"x": "a\n"}, LENIENT) == {"x": "b\n"}


def test_which_file():
    with pytest.raises(EditError, match="no-path"):
        applied(block("a\n", "b\n"), {"x": "a\n", "y": ""})
    with pytest.raises(EditError, match="no-file"):
        applied("### z\n" + block("a\n", "b\n"), {"x": "a\n"})
    with pytest.raises(EditError, match="empty-search"):
        applied(block("", "b\n"), {"x": "a\n"})
    assert applied(block("", "b\n"), {"x": ""}) == {"x": "b\n"}
    assert applied(block("a\n", ""), {"x": "a\n"}) == {"x": ""}


@pytest.mark.parametrize(
    "heading",
    [
        "# b.py\n", "## `b.py`\n", "File: b.py\n", "**b.py**:\n", "// b.py\n", "<!-- b.py -->\n", "In b.py:\n",
        "```python b.py\n", "```b.py\n", "```python:b.py\n", '```python title="b.py"\n', "# b.py\n\nSome words.\n\n",
    ],
)  # fmt: skip
def test_a_heading_of_another_form_names_the_file_of_its_block(heading):
    text = "### a.py\n```\n" + block("x\n", "y\n") + "```\n" + heading + block("x\n", "z\n")
    assert FORM.apply(FORM.parse(text), {"a.py": "x\n", "b.py": "x\n"}) == {"a.py": "y\n", "b.py": "z\n"}


@pytest.mark.parametrize("prose", ["Second, the other place:\n", "## Step 2\n", "It uses self.value now.\n"])
def test_prose_between_blocks_keeps_the_file(prose):
    text = "### a.py\n```\n" + block("x\n", "y\n") + "```\n" + prose + "```\n" + block("u\n", "v\n") + "```\n"
    assert [change.path for change in FORM.parse(text).changes] == ["a.py", "a.py"]


def test_swe_rl_makes_a_file_with_an_empty_line_to_search():
    text = "```python\n### new.py\n" + block("\n", "X = 1\n") + "```\n"
    assert FORM.apply(FORM.parse(text), {"a.py": "x\n"}) == {"a.py": "x\n", "new.py": "X = 1\n"}
    with pytest.raises(EditError):
        FORM.apply(FORM.parse(text.replace("new.py", "a.py")), {"a.py": "x\n"})


LOWER, RAISE = "    y = x\n\n    return y\n", "    return x\n"


@pytest.mark.parametrize(
    "line",
    [
        "</thinking>", "<edit>", "### Edit 2", "### Fix", "### `self.y`", "**str.join**:", "yes/no", "v2.1", "np.add",
        "### 1/2: the sign", "### C: a cast", "http://example.org/a", "### f(x) -> y", "## Step 1/3",
    ],
)  # fmt: skip
@pytest.mark.parametrize("fence", ["", "```python\n"])
def test_a_line_that_is_no_path_is_none_where_there_is_one_file(line, fence):
    text = f"{line}\n{fence}{block(LOWER, RAISE)}"
    assert applied(text, {"a.py": FILE}) == {"a.py": FILE.replace(LOWER, RAISE)}


@pytest.mark.parametrize(
    ("line", "code"),
    [("### b.py", "no-file"), ("`lib/c.rs`", "no-file"), ("README", "no-file"), ("### ../a.py", "bad-path")],
)
def test_a_line_that_is_a_path_stays_one(line, code):
    with pytest.raises(EditError, match=code):
        applied(f"{line}\n```\n{block(LOWER, RAISE)}```\n", {"a.py": FILE})
    with pytest.raises(EditError, match="no-file"):
        applied(f"np.add\n{block(LOWER, RAISE)}", {"a.py": FILE, "b.py": FILE})
    assert applied(f"### new\n{block('', RAISE)}", {"a.py": FILE}) == {"a.py": FILE, "new": RAISE}


@pytest.mark.parametrize("front", ["  ", "    ", "\t", "      "])
def test_an_indented_block_loses_its_indentation(front):
    whole = "```python\n" + block(LOWER, RAISE) + "```\n"
    wanted = {"a.py": FILE.replace(LOWER, RAISE)}
    for text in (whole, block(LOWER, RAISE), "### a.py\n" + whole):
        indented = "1. The change:\n\n" + indent(text, front)
        assert applied(indented, {"a.py": FILE}) == wanted
        assert applied(indented.replace("\n\n", f"\n{front}\n"), {"a.py": FILE}) == wanted
    (change,) = FORM.parse(indent(whole, front)).changes
    assert change == Replace("", LOWER, RAISE)


def test_markers_in_line_with_the_code_leave_it_as_it_is():
    text = (
        "```python\n    <<<<<<< SEARCH\n    return -y\n    =======\n    return y\n    >>>>>>> REPLACE\n```\n"
    )
    assert applied(text, {"a.py": FILE}) == {"a.py": FILE.replace("-y", "y")}
    less = text.replace("    return", "  return")
    assert applied(less, {"a.py": "  return -y\n"}) == {"a.py": "  return y\n"}


def test_indented_lines_of_a_block_are_no_markers_of_it():
    shown = "    <<<<<<< SEARCH\n    a\n    =======\n    b\n    >>>>>>> REPLACE\n"
    assert FORM.parse(block(shown, "x\n")).changes == (Replace("", shown, "x\n"),)
    assert codes(block("  =======\n", "x\n")) == ["no-fence"]
