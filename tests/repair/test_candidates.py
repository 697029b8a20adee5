"""Answers become candidates, or say why not. Hostile ones too."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strop.repair.candidates import NoCandidate, changed, collect, diff_size
from strop_verify.edits import EXACT, LENIENT

from .conftest import BREAKS, OLD, RIGHT, RIGHT_TOO, block

pytestmark = pytest.mark.unit

SHOWN = ["shop/totals.py"]


def fault(repository, answer, tolerance=LENIENT, format="search-replace"):
    with pytest.raises(NoCandidate) as caught:
        changed(answer, repository, SHOWN, format, tolerance)
    assert "\n" not in str(caught.value)
    return str(caught.value).partition(":")[0]


def test_samples_that_do_the_same_are_one_edit(repository):
    got = collect(["no idea", RIGHT_TOO, BREAKS, RIGHT], repository, SHOWN, "search-replace", LENIENT)
    assert [s.fault.partition(":")[0] for s in got.samples] == ["no-edit", "", "", ""]
    assert sorted(e.samples for e in got.edits) == [[1, 3], [2]]
    assert all(e.size == 2 for e in got.edits)
    assert list(got.changes) == [e.group for e in got.edits]


def test_the_smallest_diff_stands_for_a_group(repository):
    text = repository.files["shop/totals.py"]
    longer = block("shop/totals.py", OLD, "    # a remark\n    return amount - amount * discount / 100")
    got = collect([longer, RIGHT], repository, SHOWN, "search-replace", LENIENT)
    (edit,) = got.edits
    assert edit.samples == [0, 1] and edit.size == 2 and "remark" not in edit.diff
    assert got.changes[edit.group] == {"shop/totals.py": text.replace(OLD, OLD.split("  #")[0] + "0")}


def test_files_that_were_not_shown_can_be_edited_and_made(repository):
    change = changed(
        block("shop/names.py", "    return name[:width].title()", "    return name.title()[:width]")
        + block("shop/more.py", "", "MORE = 1").replace("SEARCH\n\n", "SEARCH\n"),
        repository, SHOWN, "search-replace", EXACT,
    )  # fmt: skip
    assert set(change) == {"shop/names.py", "shop/more.py"} and change["shop/more.py"] == "MORE = 1\n"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("", "no-edit"),
        (block("shop/totals.py", "no such line", "x"), "not-found"),
        (block("../outside.py", "", "x = 1"), "bad-path"),
        (block("/etc/passwd", "", "x = 1"), "bad-path"),
        (block(".git/hooks/pre-commit", "", "x = 1"), "bad-path"),
        (block("shop/totals.py", OLD, "    return (amount"), "syntax"),
        (block("shop/totals.py", OLD, OLD + "  # remark"), "no-effect"),
        (block("shop/totals.py", OLD, OLD.replace("/ 10", "/ 100") + "\0"), "no-text"),
        (block("shop/totals.py", OLD, OLD.replace("/ 10", "/ 100") + "\ud800"), "no-text"),
        (block("shop/totals.py", OLD, "    return 1\n" + "# x\n" * 200_000), "too-large"),
        (block("shop/totals.py", OLD, "    return " + "(" * 100_000 + ")" * 100_000), "syntax"),
        (block("shop/totals.py", OLD, "    return " + "-" * 200_000 + "1"), "syntax"),
        (block("tests/test_totals.py", "    assert mean([2, 4]) == 3", "    pass"), "changes-tests"),
        (block("tests/test_more.py", "", "x = 1"), "changes-tests"),
        (block("conftest.py", "", "x = 1"), "changes-tests"),
        (block("decimal.py", "", "x = 1"), "shadows"),
    ],
)
def test_what_is_no_candidate(repository, answer, code):
    answer = answer.replace("SEARCH\n\n", "SEARCH\n")
    began = time.process_time()
    assert fault(repository, answer) == code
    assert time.process_time() - began < 30


def test_a_file_that_is_not_read_is_not_replaced(folder):
    from strop.repair.repository import read_repository

    (folder / "shop/data.bin").write_bytes(b"\xff\xfe\x00")
    (folder / "shop/linked.py").symlink_to("/etc/passwd")
    repository = read_repository(folder)
    assert {"shop/data.bin", "shop/linked.py"}.isdisjoint(repository.files)
    assert repository.left_out == {"not UTF-8 text": 1}
    for name in ("shop/data.bin", "shop/linked.py"):
        answer = block(name, "", "x = 1").replace("SEARCH\n\n", "SEARCH\n")
        assert fault(repository, answer) == "file-exists"
    assert fault(repository, f"### {SHOWN[0]}/inner.py\n```\nx = 1\n```\n", format="whole-file") == "bad-path"


def test_a_megabyte_of_hostile_text_is_read_fast(repository):
    began = time.process_time()
    for text in (
        "<<<<<<< SEARCH\n" * 60_000,
        "### a.py\n```\n" * 70_000,
        "\x1b]0;x\x07" * 150_000,
        "=======\n" * 120_000,
    ):
        collect([text], repository, SHOWN, "search-replace", LENIENT)
    assert time.process_time() - began < 60


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(), st.sampled_from(["search-replace", "unified-diff", "whole-file", "line-range"]))
def test_any_text_is_a_candidate_or_is_none(repository, text, format):
    for answer in (text, RIGHT[:60] + text + RIGHT[60:], f"### shop/totals.py\n```\n{text}\n```\n"):
        got = collect([answer], repository, SHOWN, format, LENIENT)
        assert len(got.edits) == (not got.samples[0].fault)


def test_lines_of_a_diff_that_look_like_headers_are_counted():
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n-b\n+++ c\n+d\n"
    assert diff_size(diff) == 4
