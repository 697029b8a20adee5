"""Hostile text: nothing makes a parser raise, no megabyte takes long, no path leads out of the tree."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale import some

from strop_verify.edits import FORMATS, LENIENT, EditError, Parsed, apply_answer, convert, edit_in
from strop_verify.edits.paths import check_path, looks_like_path, read_path, write_path

PIECES = [
    "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "(no newline)", "<<<<<", "=====", "```", "````", "~~~", "### ",
    "### a.py", "### (lines 1-2)", " (deleted)", " (renamed to b.py)", '"', "(", ")", "diff --git a/x b/x", "--- a/x",
    "+++ b/x", "--- /dev/null", "@@ -1 +1 @@", "@@ -1,9 +1,9 @@", "@@", "@@@", "-x", "+y", " z", "\\", "rename from x",
    "rename to y", "new file mode 100644", "GIT binary patch", "-- ", "2.0", "<answer>", "</answer>", "<solution>",
    "<think>", "</think>", "\n", "\n", "\n", "\r\n", "\r", "\u2028", "\x00", "\ud800", "1:1-2:2", "9999999999",
    "\u0661", "<FILL>", "a.py", "x",
]  # fmt: skip
soup = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=200)
FILES = {"a.py": "x\ny\n", "x": "z\n-x\n", "b/c": "<FILL>"}


@given(soup)
def test_no_text_makes_a_parser_raise_anything_but_an_edit_error(text):
    for name, form in FORMATS.items():
        assert isinstance(form.parse(text), Parsed)
        assert isinstance(edit_in(text), str)
        try:
            after = apply_answer(text, FILES, name, LENIENT)
            assert after != FILES
            assert FORMATS[name].apply(form.parse(form.render(FILES, after)), FILES) == after
            assert convert(edit_in(text), FILES, name, "whole-file", LENIENT)
        except EditError as error:
            assert error.code and "\n" not in str(error)


MEGABYTES = [
    "\n", "\r", "x", "=", "`", '"', "@", "(", "\u2028",
    "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "<<<<<<< SEARCH\n=======\n", "```\n", "### a.py\n",
    "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n", "<<<<<<< SEARCH\nx\n=======\n=======\n", "### a.py\n```\n```\n",
    "@@ -1,9 +1,9 @@\n", "@@ -1,9 +1,9 @@\n\n", "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n", "diff --git a/x b/x\n",
    " \n",    "### (lines 1-2)\n```\nx\n```\n", "<think></think>", "</think>\n", "<answer>\n",
]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_a_megabyte_of_anything_parses_in_time(name):
    texts = [piece * (1_000_000 // len(piece)) for piece in MEGABYTES]
    texts.append("".join("<" * (7 + i) + " SEARCH\n" for i in range(900)) + "=====\n" * 90_000)
    texts.append("~" * 1_000_000 + "`")
    texts.append("@@ -1,500000 +1,500000 @@\n" + " a\n" * 300_000)
    for text in some(texts, 8, salt=len(name)):
        started = time.process_time()
        parsed = FORMATS[name].parse(edit_in(text))
        with pytest.raises(EditError):
            FORMATS[name].apply(parsed, {"a.py": "x\n" * 100_000, "b.py": ""}, LENIENT)
        assert time.process_time() - started < 30, text[:40]  # a few tenths; quadratic time would be minutes


def test_large_texts_render():
    before = "x\n" * 200_000
    after = "x\n" * 100_000 + "y\n" + "x\n" * 100_000
    for form in FORMATS.values():
        assert form.apply(form.parse(form.render({"a": before}, {"a": after})), {"a": before}) == {"a": after}


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../x", "a/../../x", "a/./b", "./a", "a//b", "a/", "C:/x", "c:x", "a\\b", "..\\x",
     "a\x00b", "a\nb","a\tb", "\ud800", ".git/config", "sub/.GIT/hooks/pre-commit", "x" * 256, 
     "/".join(["d"] * 65), ".", "..", "a\x7f"],
)  # fmt: skip
def test_paths_that_are_refused(path):
    with pytest.raises(EditError, match="bad-path"):
        check_path(path)
    change = {"a.py": "1\n"}
    for form in FORMATS.values():
        with pytest.raises(EditError, match="bad-path"):
            form.render(change, {**change, path: "2\n"})


@pytest.mark.parametrize(
    "path", ["a", "a.py", ".github/x.yml", "...", "a b", "~/x", "-x", "\u00fc", "a/.gitignore", "$HOME"]
)
def test_paths_that_are_allowed(path):
    assert check_path(path) == path


@given(st.text(min_size=1, max_size=30))
def test_a_path_reads_as_it_was_written(path):
    assert read_path(write_path(path)) == (path, "")
    assert read_path(write_path(path) + " (x)") == (path, "(x)")


def test_what_surely_is_a_path():
    assert all(map(looks_like_path, ["a.py", "src/a", "Makefile", "a-b_c/d.e", ".gitignore"]))
    assert not any(
        map(looks_like_path, ["Solution", "Fixed code", "Done.", "a.py:", "/", "`a.py`", "", "e.g. x"])
    )


def test_a_file_cannot_be_a_folder():
    text = "### a/b.py\n```\nx\n```\n"
    with pytest.raises(EditError, match="bad-path"):
        apply_answer(text, {"a": ""}, "whole-file")
    with pytest.raises(EditError, match="bad-path"):
        apply_answer("### Makefile\n```\nx\n```\n", {"Makefile/x": ""}, "whole-file")


def test_unknown_formats_are_named():
    with pytest.raises(EditError, match=r"no-format: .*'diff'; there are search-replace"):
        apply_answer("x", {"a": ""}, "diff")
