"""Unified diffs: what git and diff -u write, what models write, and where hunks go."""

import pytest

from strop_verify.edits import EXACT, FORMATS, LENIENT, Create, Delete, EditError, Rename, Replace, Tolerance

FORM = FORMATS["unified-diff"]
OFFSET = Tolerance(offset=True)
FILE = "".join(f"line {i}\n" for i in range(1, 11))


def applied(text: str, files: dict[str, str], tolerance: Tolerance = EXACT) -> dict[str, str]:
    return FORM.apply(FORM.parse(text), files, tolerance)


def codes(text: str) -> list[str]:
    return [fault.code for fault in FORM.parse(text).faults]


def hunk(header: str, *lines: str) -> str:
    return "--- a/f.txt\n+++ b/f.txt\n" + "".join(f"{line}\n" for line in (header, *lines))


def test_plain_and_git_headers_name_the_same_file():
    body = "@@ -2,1 +2,1 @@ def f():\n-line 2\n+two\n"
    for head in (
        "--- f.txt\n+++ f.txt\n",
        "--- f.txt\t2024-01-01 10:00:00 +0100\n+++ f.txt\t2024-01-02\n",
        "--- f.txt.orig\n+++ f.txt\n",
        "--- ./f.txt\n+++ ./f.txt\n",
        "diff --git a/f.txt b/f.txt\nindex 123..456 100644\n--- a/f.txt\n+++ b/f.txt\n",
        "diff --git a/f.txt b/f.txt\nold mode 100644\nnew mode 100755\n--- a/f.txt\n+++ b/f.txt\n",
        "diff --git i/f.txt w/f.txt\n--- i/f.txt\n+++ w/f.txt\n",
        "Index: f.txt\n=======\n--- a/f.txt\n+++ b/f.txt\n",
    ):
        assert applied(head + body, {"f.txt": FILE}) == {"f.txt": FILE.replace("line 2\n", "two\n")}, head
    assert applied(body, {"f.txt": FILE})["f.txt"].startswith("line 1\ntwo\n")
    assert codes(body) == ["no-header"]


def test_new_deleted_renamed_and_empty_files():
    text = (
        "diff --git a/new b/new\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        "diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/was empty b/was empty\ndeleted file mode 100644\nindex e69de29..0000000\n"
        "diff --git a/p q b/r s\nsimilarity index 100%\nrename from p q\nrename to r s\n"
        'diff --git "a/\\303\\274" "b/\\303\\274"\n--- "a/\\303\\274"\n+++ "b/\\303\\274"\n@@ -1 +1 @@\n-1\n+2\n'
    )
    parsed = FORM.parse(text)
    assert parsed.faults == ()
    assert parsed.changes == (
        Create("new", "a\nb\n"), Create("empty", ""), Delete("gone", "x\n"), Delete("was empty"), Rename("p q", "r s"),
        Replace("\u00fc", "1\n", "2\n", 1),
    )  # fmt: skip
    before = {"gone": "x\n", "was empty": "", "p q": "kept\n", "\u00fc": "1\n"}
    assert FORM.apply(parsed, before) == {"new": "a\nb\n", "empty": "", "r s": "kept\n", "\u00fc": "2\n"}
    with pytest.raises(EditError, match="file-exists"):
        FORM.apply(parsed, {**before, "new": ""})
    with pytest.raises(EditError, match="not-found"):
        FORM.apply(parsed, {**before, "gone": "y\n"})


def test_no_newline_at_end_of_file():
    note = "\\ No newline at end of file"
    assert applied(hunk("@@ -1 +1 @@", "-a", note, "+b"), {"f.txt": "a"}) == {"f.txt": "b\n"}
    assert applied(hunk("@@ -1 +1 @@", "-a", "+b", note), {"f.txt": "a\n"}) == {"f.txt": "b"}
    assert applied(hunk("@@ -1,2 +1,2 @@", "-a", "+b", " c", note), {"f.txt": "a\nc"}) == {"f.txt": "b\nc"}
    assert applied(hunk("@@ -1 +1 @@", "-a", "+b"), {"f.txt": "a"}) == {"f.txt": "b"}


def test_lines_that_look_like_headers():
    text = hunk("@@ -1,3 +1,3 @@", " a", "--- a/x", "+++ b/x", " b")
    assert applied(text, {"f.txt": "a\n-- a/x\nb\n"}) == {"f.txt": "a\n++ b/x\nb\n"}
    assert codes(text) == []


def test_offset_is_a_switch_and_needs_a_single_place():
    text = hunk("@@ -2,3 +2,3 @@", " line 6", "-line 7", "+seven", " line 8")
    with pytest.raises(EditError, match=r"not-found: .* but at line 6 \(tolerance: offset\)"):
        applied(text, {"f.txt": FILE})
    after = {"f.txt": FILE.replace("line 7", "seven")}
    assert applied(text, {"f.txt": FILE}, OFFSET) == after
    twice = {"f.txt": "top\n" + FILE + FILE}
    with pytest.raises(EditError, match=r"ambiguous: .* lines 7, 17"):
        applied(text, twice, OFFSET)
    assert applied(text.replace("-2,3", "-17,3"), twice)["f.txt"] == "top\n" + FILE + after["f.txt"]


def test_hunks_of_models():
    wrong = hunk("@@ -6,9 +6,2 @@", " line 6", "-line 7", "+seven", " line 8", "", "Done.")
    assert codes(wrong) == ["hunk-counts"]
    assert applied(wrong, {"f.txt": FILE}) == {"f.txt": FILE.replace("line 7", "seven")}
    small = hunk("@@ -6,1 +6,1 @@", " line 6", "-line 7", "+seven", " line 8", "```")
    assert codes(small) == ["hunk-counts"]
    assert applied(small, {"f.txt": FILE}) == {"f.txt": FILE.replace("line 7", "seven")}
    for header in ("@@ ... @@", "@@", "@@ -6 @@"):
        text = hunk(header, " line 6", "-line 7", "+seven")
        assert codes(text) == ["hunk-header"]
        assert applied(text, {"f.txt": FILE}, LENIENT) == {"f.txt": FILE.replace("line 7", "seven")}
    blank = hunk("@@ -1,3 +1,3 @@", " a", "", "-b", "+c")  # the blank of an empty line of context was dropped
    assert applied(blank, {"f.txt": "a\n\nb\n"}) == {"f.txt": "a\n\nc\n"}
    signed = hunk("@@ -1 +1 @@", "-a", "+b", "-- ", "2.39.2")
    assert codes(signed) == []
    assert applied(signed, {"f.txt": "a\n"}) == {"f.txt": "b\n"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "no-edit"),
        ("--- a/x\n+++ b/x\n", "no-edit"),
        ("@@ -1 +1 @@\n", "bad-syntax"),
        ("@@@ -1 -1 +1 @@@\n", "bad-syntax"),
        ("diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\n", "bad-syntax"),
        ("diff --git a/x b/x\nGIT binary patch\nliteral 3\n", "binary"),
        ("Binary files a/x and b/x differ\n", "binary"),
        ("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "bad-syntax"),
        ("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", "bad-path"),
        ("--- f.txt\n+++ f.txt\n@@ -1,0 +2 @@\n+b\n", "empty-search"),
        ("--- f.txt\n+++ f.txt\n@@ -1 +1 @@\n a\n", "no-change"),
    ],
)
def test_what_is_refused(text, code):
    with pytest.raises(EditError) as caught:
        applied(text, {"f.txt": "a\n"}, LENIENT)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "tail",
    [
        "-- \n2.39.5\n",
        "--\n2.39.5\n",
        "---\n",
        "- why this is right\n",
        " and so on\n",
        "+ tests\n",
        "-----\nNext\n",
    ],
)
def test_a_hunk_with_right_counts_ends_where_they_say(tail):
    text = hunk("@@ -1,3 +1,3 @@", " a", "-b", "+c", " d") + tail
    assert applied(text, {"f.txt": "a\nb\nd\ne\n"}) == {"f.txt": "a\nc\nd\ne\n"}


def test_prefixes_of_git_beside_nowhere():
    text = (
        "diff --git c/s/n.py i/s/n.py\nnew file mode 100644\n--- /dev/null\n+++ i/s/n.py\n@@ -0,0 +1 @@\n+b\n"
    )
    assert applied(text, {}) == {"s/n.py": "b\n"}
    gone = (
        "diff --git c/n.py w/n.py\ndeleted file mode 100644\n--- c/n.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
    )
    assert applied(gone, {"n.py": "b\n", "m.py": ""}) == {"m.py": ""}
    literal = (
        "diff --git a/i/n.py b/i/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/i/n.py\n@@ -0,0 +1 @@\n+b\n"
    )
    assert applied(literal, {}) == {"i/n.py": "b\n"}
