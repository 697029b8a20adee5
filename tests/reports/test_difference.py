"""The page's line difference against a table that cannot be wrong, and on texts that would take for ever."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from strop.reports import page as page_package

SOURCE = Path(page_package.__file__).parent / "js" / "difference.js"


@pytest.fixture
def difference(browser: Any) -> Any:
    """difference(left, right) in the browser, by the page's own file alone."""
    page = browser.new_page()
    page.set_default_timeout(30_000)
    page.evaluate("window.Strop = {}")
    page.add_script_tag(content=SOURCE.read_text())
    yield lambda left, right: page.evaluate("([a, b]) => Strop.difference(a, b)", [left, right])
    page.close()


def common(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of a longest common subsequence, by the plain table."""
    last = [0] * (len(right) + 1)
    for one in left:
        row = [0]
        for at, other in enumerate(right):
            row.append(last[at] + 1 if one == other else max(row[at], last[at + 1]))
        last = row
    return last[-1]


def side(found: dict[str, Any], name: str) -> list[str]:
    lines = [row[name] for row in found["rows"] if row[name] is not None]
    assert [line["number"] for line in lines] == list(range(1, len(lines) + 1))
    return ["".join(text for text, _ in line["parts"]) for line in lines]


def test_is_the_shortest_and_loses_nothing(difference: Any) -> None:
    rng = random.Random(0)
    for _ in range(150):
        letters = "abcdefgh"[: rng.randint(1, 8)]
        left, right = ([rng.choice(letters) for _ in range(rng.randint(0, 16))] for _ in range(2))
        found = difference("".join(f"{x}\n" for x in left), "".join(f"{x}\n" for x in right))
        assert side(found, "left") == left
        assert side(found, "right") == right
        same = sum(row["kind"] == "same" for row in found["rows"])
        assert same == common(left, right)
        assert (found["removed"], found["added"]) == (len(left) - same, len(right) - same)
        assert found["kind"] == ("same" if left == right else "changed")


def test_marks_the_words_that_changed(difference: Any) -> None:
    found = difference("fn f(x: i64) {\n    x + 1\n}", "fn f(x: u64) {\n    nothing like it\n}\n")
    first, second, third = found["rows"]
    assert [text for text, marked in first["left"]["parts"] if marked] == ["i64"]
    assert [text for text, marked in first["right"]["parts"] if marked] == ["u64"]
    assert not any(marked for _, marked in second["left"]["parts"])
    assert [row["kind"] for row in found["rows"]] == ["changed", "changed", "same"]
    assert third["left"]["number"] == third["right"]["number"] == 3


def test_two_thousand_lines(difference: Any) -> None:
    left = [f"let value_{n} = work({n});" for n in range(2000)]
    right = [line.replace("work", "play") if n % 5 == 0 else line for n, line in enumerate(left)]
    found = difference("\n".join(left), "\n".join(right))
    assert (found["removed"], found["added"]) == (400, 400)
    assert difference("\n".join(left), "\n".join(f"{line} " for line in left))["removed"] == 2000


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("a\nb\n" * 5000, "a\nb\nb\n" * 3300, "too different"),
        ("\n" * 400_000, "\n", "too different"),
        ("x" * 2_000_000, "y", "too different"),
        ("a b " * 100_000, "b a " * 100_000, "changed"),
        ("", "", "same"),
        ("", "a", "changed"),
        ("a\n", "a", "same"),
        ("__proto__\nconstructor", "constructor", "changed"),
    ],
)
def test_hostile_texts_are_bounded(difference: Any, left: str, right: str, kind: str) -> None:
    assert difference(left, right)["kind"] == kind
