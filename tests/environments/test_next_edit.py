"""Next edits: how a commit is cut, what is shown and answered, and what the simulated users accept."""

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import next_edits
from tests.warm import strop

from strop.evaluation.baselines import repeat
from strop.policies.tokenizer import WireTokenizer
from strop.rollouts.encoding import opening_ids
from strop.tasks.comparison import NextEditToolchain
from strop.tasks.next_edit import LETTERS, answer_for, edited, prompt_of, window_around
from strop.tasks.sources import load_tasks
from strop_tasks.curation.next_edit.edit_sequence import files_of, made, ordered, place_of
from strop_verify.core.checks import NextEditCheck, PastEdit
from strop_verify.core.play import Opening
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

WINDOW = [
    "def total(items):",
    "    price = 0",
    "    for item in items:",
    "        price += item.price",
    "    return price",
]
DONE = [WINDOW[0], "    cost = 0", *WINDOW[2:]]
NEXT = [*DONE[:3], "        cost += item.price", DONE[4]]
GOAL = [*NEXT[:4], "    return cost"]


def check_of(**changes: object) -> NextEditCheck:
    history = [PastEdit(path="shop.py", old=["    price = 0"], new=["    cost = 0"])]
    fields = {"path": "shop.py", "window": DONE, "cursor": 1, "history": history, "next": NEXT, "goal": GOAL}
    return NextEditCheck.model_validate({**fields, **changes})


def judged(answer: str, **changes: object) -> Verdict:
    task = Task(statement="x", check=check_of(**changes))
    return NextEditToolchain().judge([(task, answer)])[0]


lines = st.lists(st.sampled_from(["", "a = 1", "    b", "c:", "<file_sep>"]), max_size=9)


@given(st.lists(st.sampled_from(["", "a = 1", "    b", "c:"]), min_size=1, max_size=9), lines)
def test_an_answer_makes_what_it_was_written_for(window: list[str], after: list[str]) -> None:
    answer = answer_for(window, after)
    assert edited(window, answer) == after
    assert (answer == "") == (window == after)


@pytest.mark.parametrize("answer", ["hello", "z\nx", "d-b\nx", "a++", "a-", " b\nx", "B\nx", "f\nx"])
def test_what_is_no_edit(answer: str) -> None:
    with pytest.raises(ValueError, match=r"names no line|has no lines"):
        edited(WINDOW, answer)
    verdict = judged(answer)
    assert (
        verdict.outcome is Outcome.NO_ANSWER and verdict.numbers["shown"] == 0 == verdict.numbers["utility"]
    )


def test_the_prompt_shows_edits_and_lines() -> None:
    task = Task(statement="x", check=check_of())
    assert prompt_of(task).text == (
        "<file_sep>shop.py\n-    price = 0\n+    cost = 0\n<filename>shop.py\n"
        "a:def total(items):\nb>    cost = 0\nc:    for item in items:\nd:        price += item.price\n"
        "e:    return price\n<jupyter_output>"
    )


def test_no_line_of_a_file_is_a_section() -> None:
    """Names of sections are control tokens; the same text in a file is plain."""

    class Marking(WireTokenizer):
        def mark(self, names):  # type: ignore[no-untyped-def]
            return [7]

    task = Task(statement="x", check=check_of(window=["<filename>x", *DONE[1:]], next=DONE, goal=DONE))
    prompt = prompt_of(task)
    ids = opening_ids(Opening(prompt.text, sections=prompt.sections), Marking())
    assert ids.count(7) == 3 and "a:<filename>x" in Marking().decode([one for one in ids if one != 7])


def test_three_users() -> None:
    exact = judged("d\n        cost += item.price")
    assert exact.passed and [exact.numbers[n] for n in ("accepted", "kept", "exact")] == [1, 1, 1]
    assert exact.numbers["saved"] == pytest.approx(7 - 4) and exact.numbers["utility"] == 0.75
    later = judged("e\n    return cost")  # right, and not what came next
    assert [later.numbers[n] for n in ("accepted", "kept", "exact")] == [1, 1, 0]
    short = judged(
        "e\n    return pric", next=[*DONE[:4], "    return pric"]
    )  # what came next, not worth reading
    assert short.passed and [short.numbers[n] for n in ("accepted", "exact")] == [0, 1]
    small = judged("d\n        ce += item.price")  # nearer to the goal, by less than reading it takes
    assert [small.numbers[n] for n in ("shown", "accepted", "kept", "wrong")] == [1, 0, 1, 1]
    assert small.numbers["utility"] == -0.25 and small.numbers["saved"] == -4
    wrong = judged("d\n        total += 1")
    assert not wrong.passed and wrong.numbers["utility-kept"] == -0.25
    both = judged("d-e\n        cost += item.price\n    return price * 2  # for all of them together")
    assert [both.numbers[n] for n in ("accepted", "kept")] == [0, 0]


def test_silence() -> None:
    due, over = judged(""), judged("", next=DONE, goal=DONE)
    assert (due.outcome, over.outcome) == (Outcome.FAILED, Outcome.PASSED)
    for verdict in (due, over, judged("b\n    cost = 0")):  # what changes nothing is not shown
        assert verdict.numbers["shown"] == verdict.numbers["utility"] == verdict.numbers["saved"] == 0
    assert "silent" not in check_of().stages(set()) and "exact" not in check_of(next=DONE, goal=DONE).stages(
        set()
    )
    shown = judged("e\n    return 0", next=DONE, goal=DONE)
    assert not shown.passed and shown.numbers["silent"] == 0 and shown.numbers["utility-exact"] == -0.25


def test_repeat_the_last_change() -> None:
    assert repeat(check_of()) == "d\n        cost += item.cost"  # all of the line
    assert repeat(check_of(history=[PastEdit(path="a", old=[], new=["x"])])) == ""
    assert repeat(check_of(history=[PastEdit(path="a", old=["y = nowhere"], new=["y = here"])])) == ""


@pytest.mark.parametrize(
    ("length", "cursor", "window"), [(5, 2, (0, 5)), (40, 0, (0, 12)), (40, 39, (28, 40)), (40, 20, (16, 28))]
)
def test_window(length: int, cursor: int, window: tuple[int, int]) -> None:
    assert window_around(length, cursor, 12) == window


DIFF = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -3,5 +3,6 @@ def x():
 one
-two = 1
+two = 2
 three
+new
 four
-five
\\ No newline at end of file
+-- five
\\ No newline at end of file
diff --git a/new.py b/new.py
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+x
"""


def test_files_of_a_diff() -> None:
    (path, changed), *others = files_of(DIFF).items()
    assert path == "a.py" and not others
    assert changed.before == ["", "", "one", "two = 1", "three", "four", "five"]
    assert [(e.first, e.last, e.new) for e in changed.edits] == [
        (3, 4, ("two = 2",)), (5, 5, ("new",)), (6, 7, ("-- five",))
    ]  # fmt: skip
    after = made(changed.before, changed.edits)
    assert after == ["", "", "one", "two = 2", "three", "new", "four", "-- five"]
    for edit in changed.edits:
        assert after[place_of(edit, changed.edits)] == edit.new[0]


def test_definitions_come_before_uses_and_imports_last() -> None:
    diff = (
        DIFF.replace("+two = 2", "+import cost")
        .replace("+new", "+x = tax(1)")
        .replace("+-- five", "+def tax(x):")
    )
    edits = files_of(diff)["a.py"].edits
    for seed in range(20):
        found = [edit.new[0] for edit in ordered({"a.py": edits}, Random(seed))]
        assert found.index("def tax(x):") < found.index("x = tax(1)") and found[-1] == "import cost"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next_edits.built(tmp_path_factory.mktemp("edits"), "--newest-share", "0.4")


def test_states_of_commits(built: Path) -> None:
    tasks = load_tasks(str(built))
    manifest = json.loads(built.with_name("edits.jsonl.manifest.json").read_text())
    assert manifest["tasks"] == len(tasks) and manifest["considered"] == len(tasks) + sum(
        manifest["left_out"].values()
    )
    assert sum(not task.check.only(NextEditCheck).due for task in tasks) >= 0.4 * len(tasks)
    days = {side: {t.metadata["date"] for t in tasks if t.split == side} for side in ("train", "held-out")}
    assert max(days["train"]) < min(days["held-out"])
    for task in tasks:
        check = task.check.only(NextEditCheck)
        assert check.history and check.cursor < len(check.window) <= 12 <= len(LETTERS)
        assert edited(check.window, task.reference) == check.next
        assert (task.metadata["state"] in ("next", "finish")) == check.due
        right = NextEditToolchain().judge([(task, task.reference)])[0]
        assert right.passed and right.numbers["kept"] == check.due and right.numbers["exact"] == check.due
    follows = next(t for t in tasks if t.metadata["state"] == "next" and "* cost" in t.reference)
    assert repeat(follows.check.only(NextEditCheck)) == follows.reference


def test_seeds_repeat(built: Path, tmp_path: Path) -> None:
    again = next_edits.built(tmp_path, "--newest-share", "0.4")
    assert again.read_text() == built.read_text()


def test_evaluation_of_baselines(built: Path, tmp_path: Path) -> None:
    done = strop(
        "eval", "scripted:repeat", "scripted:silent", "scripted:oracle", "--tasks", str(built), "--environment",
        "next-edit", "-n", "0", "-o", "out.json", f"run.dir={tmp_path}/run", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    models = json.loads((tmp_path / "out.json").read_text())["models"]
    rule, silent, oracle = (models[f"scripted:{name}"] for name in ("repeat", "silent", "oracle"))
    assert silent["greedy-shown"] == silent["greedy-utility"] == 0 and silent["greedy-silent"] == 1
    assert "accept_rates" not in silent and oracle["accept_rates"]["accept rate, exact"] == 1
    assert oracle["greedy-exact"] == oracle["greedy-silent"] == 1
    assert 0 < rule["greedy-shown"] < 1 and rule["greedy-wrong"] == pytest.approx(
        rule["greedy-shown"] - rule["greedy-accepted"]
    )
    assert "accept rate" in done.stdout and "utility-kept" in done.stdout


def test_other_environments_say_what_is_missing(built: Path, tmp_path: Path) -> None:
    done = strop("eval", "scripted:repeat", "--tasks", str(built), f"run.dir={tmp_path}/run")
    assert done.returncode == 2 and "add --environment next-edit" in done.stderr
    done = strop(
        "eval", "scripted:repeat", "--environment", "next-edit", "--limit", "2", f"run.dir={tmp_path}/run"
    )
    assert done.returncode == 2 and "cannot answer task" in done.stderr
