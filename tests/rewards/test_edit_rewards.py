"""The rewards of edits as a recipe names them, on tasks whose check is an edit."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rewards.edit_pairs import block, edited, made_text, real_pairs

from strop.rewards.edits import (
    EDITS,
    change_overlap,
    edit_format,
    edit_similarity,
    partial_reasoning,
    strict_reasoning,
    tokens_of,
)
from strop.rewards.rubric import WeightedRubric, total
from strop_tasks.published.edits import EDITS as PUBLISHED
from strop_verify.core.checks import EditCheck, LabelCheck
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.edits import FORMATS

BEFORE = "def f(a, b):\n    return a * b\n\n\ndef g(x):\n    y = x\n\n    return y\n"
AFTER = BEFORE.replace("a * b", "a + b").replace("    y = x\n", "    y = x + 1\n")
FILES, ORACLE = {"m.py": BEFORE}, {"m.py": AFTER}
TASK = Task(
    statement="Repair it.", check=EditCheck(format="search-replace", files=FILES, oracle={"m.py": AFTER})
)
PASSED = Verdict(outcome=Outcome.PASSED)


def scores(text: str, task: Task = TASK, prompt: str = "Repair it.") -> dict[str, float | None]:
    completion = Completion(token_ids=[1], logprobs=[0.0], text=text, finish_reason="eos")
    turns = [Turn(prompt_ids=[0], completion=completion)]
    rollout = Rollout(task_id=task.id, index=0, seed=0, prompt=prompt, turns=turns, answer=text)
    found = WeightedRubric.from_names([(name, 1.0) for name in EDITS | PUBLISHED]).score(
        task, rollout, PASSED
    )
    return {score.name: score.value for score in found}


def wrapped(*blocks: str, tag: str = "answer") -> str:
    return f"<think>\nThe operator.\n\nAnd the step.\n</think>\n<{tag}>\n{''.join(blocks)}</{tag}>"


FIRST = block("m.py", "    return a * b", "    return a + b")
SECOND = block("m.py", "    y = x", "    y = x + 1")


def test_the_oracle_in_two_blocks_earns_everything_sound() -> None:
    for said in (wrapped(FIRST, SECOND), wrapped(SECOND, FIRST)):
        found = scores(said)
        ours = ("edit_similarity", "edit_applies", "edit_format", "partial_reasoning", "strict_reasoning")
        assert {name: found[name] for name in ours} == dict.fromkeys(ours, 1.0)
    assert found["published_strict_reasoning"] == 0.0, "more than one line"


def test_block_similarity_reads_what_the_published_parser_does_not() -> None:
    """The smallest edit, here one block with a blank line in it, is what other blocks are compared with, in order."""
    said = wrapped(FORMATS["search-replace"].render(FILES, ORACLE))
    assert "\n\n" in said and said.count("SEARCH") == 1
    wrong = said.replace("a + b", "a - b")
    assert scores(said)["sr_diff_similarity"] == 1.0 > (scores(wrong)["sr_diff_similarity"] or 0)
    assert scores(wrong)["published_sr_diff_similarity"] == 1.0, "neither side parses"
    assert 0 < (scores(wrapped(FIRST, SECOND))["sr_diff_similarity"] or 0) < 1


def test_published_swe_rl_wants_its_own_tags() -> None:
    assert scores(wrapped(FIRST, SECOND))["published_swe_rl"] == -1.0
    assert scores(wrapped(FIRST, SECOND, tag="solution"))["published_swe_rl"] == 1.0
    assert 0 < scores(wrapped(FIRST, tag="solution"))["published_swe_rl"] < 1
    assert scores(wrapped(FIRST, tag="solution"))["strict_reasoning"] == 1.0


def test_a_thought_that_the_prompt_began() -> None:
    said = wrapped(FIRST, SECOND, tag="solution")
    rest = said.removeprefix("<think>\n")
    for text in (rest, "\n" + rest):
        found = scores(text, prompt="Repair it.\n<think>")
        assert (found["published_swe_rl"], found["strict_reasoning"]) == (1.0, 1.0)
    assert scores(rest)["published_swe_rl"] == -1.0


def test_nothing_and_rubbish_earn_nothing() -> None:
    same = wrapped(block("m.py", "    y = x", "    y = x"))
    for said in ("", "It is fine.", wrapped(), same, wrapped(block("m.py", "    nowhere", "    y"))):
        found = scores(said)
        assert (found["edit_similarity"], found["edit_applies"]) == (0.0, 0.0)
    assert scores("It is fine.")["edit_format"] == 0.0


def test_format_is_graded() -> None:
    unclosed = wrapped("<<<<<<< SEARCH\n    y = x\n=======\n    y = x + 1\n")
    one, half = scores(wrapped(FIRST))["edit_format"], scores(unclosed)["edit_format"]
    assert half is not None and one == 1.0 and 0 < half < 0.5
    bare = scores(wrapped("<<<<<<< SEARCH\n    y = x\n=======\n    y = x + 1\n>>>>>>> REPLACE\n"))[
        "edit_format"
    ]
    assert bare == pytest.approx(0.9), "no fence"


def test_other_tasks_are_not_scored_but_for_reasoning() -> None:
    task = Task(statement="Which?", check=LabelCheck(choices=["a", "b"], expected="a"))
    found = scores("<think>\nx\n</think>\n<answer>\na\n</answer>", task)
    assert {name for name, value in found.items() if value is not None} == {
        "partial_reasoning", "strict_reasoning", "published_partial_reasoning", "published_strict_reasoning",
    }  # fmt: skip
    assert found["published_strict_reasoning"] == found["strict_reasoning"] == 1.0
    blind = TASK.model_copy(update={"check": EditCheck(format="search-replace", files=FILES)})
    found = scores(wrapped(FIRST), blind)
    assert found["edit_similarity"] is None and found["edit_applies"] == 1.0


def test_the_rewards_add_up() -> None:
    rubric = WeightedRubric.from_names([("edit_similarity", 0.4), ("strict_reasoning", 0.2), ("passed", 1.0)])
    completion = Completion(token_ids=[1], logprobs=[0.0], text=wrapped(FIRST, SECOND), finish_reason="eos")
    rollout = Rollout(
        task_id="t", index=0, seed=0, prompt="", turns=[Turn(prompt_ids=[0], completion=completion)]
    )
    assert total(rubric.score(TASK, rollout, PASSED)) == pytest.approx(1.6)
    error = Verdict(outcome=Outcome.ERROR)
    assert total(rubric.score(TASK, rollout, error)) is None


def test_diffs_of_the_workspace() -> None:
    exact, part = scores(wrapped(FIRST, SECOND)), scores(wrapped(FIRST))
    for name in ("published_unified_diff_similarity", "published_swe_rl_unidiff"):
        assert exact[name] == 1.0 and 0 < (part[name] or 0) < 1
        assert scores("nothing")[name] == 0.0
    check = EditCheck(format="whole-file", files={"a": "x\n", "b": "y\n"}, oracle={"b": None, "c": "z\n"})
    task = Task(statement="Move.", check=check)
    said = FORMATS["whole-file"].render(check.files, {"a": "x\n", "c": "z\n"})
    found = scores(said, task)
    assert (found["edit_similarity"], found["published_swe_rl_unidiff"]) == (1.0, 1.0)


def test_every_format_reaches_the_oracle() -> None:
    rng = random.Random(4)
    pairs = [(a, b) for a, b in real_pairs() if a != b and a.strip() and len(a) < 3_000]
    for before, after in rng.sample(pairs, min(25, len(pairs))) or [(BEFORE, AFTER)]:
        for name, form in FORMATS.items():
            said = form.render({"m.c": before}, {"m.c": after})
            check = EditCheck(format=name, files={"m.c": before}, oracle={"m.c": after})
            assert edit_similarity(check, said) == edit_format(check, said) == 1.0


def test_overlap_table_of_the_docs() -> None:
    before, oracle = {"m": "x = a * b\ny = 1\n"}, {"m": "x = a + b\ny = 1\n"}

    def overlap(after: str) -> float:
        return change_overlap(before, {"m": after}, oracle)

    assert overlap(before["m"]) == 0 and overlap(oracle["m"]) == 1
    assert overlap("x = a * b\ny = 2\n") == 0
    assert overlap("x = a + b\ny = 2\n") == pytest.approx(2 / 3)
    assert overlap("x = a - b\ny = 1\n") == 0.5
    assert overlap("x = a b\ny = 1\n") == pytest.approx(2 / 3)
    assert overlap("x  =  a+b  \r\n\r\ny = 1") == 1
    assert overlap("  x = a + b\ny = 1\n") < 1, "indentation counts"
    assert change_overlap(before, {**oracle, "n": "x\n"}, oracle) < 1
    assert change_overlap(before, {}, {}) == 1 and change_overlap({}, {"e": ""}, {"e": ""}) == 1


def test_an_oracle_of_white_space_counts_characters() -> None:
    before, oracle = {"m": "a\n b \n"}, {"m": "a\n b\n"}
    assert change_overlap(before, before, oracle) == 0 and change_overlap(before, oracle, oracle) == 1


def counted(before: str, after: str, oracle: str) -> float:
    """The definition, with a table for the distance."""

    def distance(a: str, b: str) -> int:
        x, y = tokens_of(a), tokens_of(b)
        row = list(range(len(y) + 1))
        for i, token in enumerate(x, 1):
            last, row[0] = row[0], i
            for j, other in enumerate(y, 1):
                last, row[j] = row[j], last if token == other else 1 + min(row[j], row[j - 1])
        return row[-1]

    if not distance(before, oracle):
        return -1.0
    return 1 - distance(after, oracle) / (distance(before, after) + distance(before, oracle))


def test_overlap_is_as_defined() -> None:
    rng = random.Random(6)
    for _ in range(150):
        before = made_text(rng, 6)
        after, oracle = edited(rng, before), edited(rng, before)
        expected = counted(before, after, oracle)
        if expected >= 0:
            assert change_overlap({"f": before}, {"f": after}, {"f": oracle}) == pytest.approx(expected)


@given(*[st.dictionaries(st.sampled_from("ab"), st.text("ab \n\t", max_size=20)) for _ in range(3)])
def test_overlap_stays_between_zero_and_one(
    before: dict[str, str], after: dict[str, str], oracle: dict[str, str]
) -> None:
    assert 0 <= change_overlap(before, after, oracle) <= 1
    assert change_overlap(before, before, oracle) == 0
    assert change_overlap(before, oracle, oracle) == float(before != oracle)


def test_a_huge_answer_earns_nothing() -> None:
    assert change_overlap(FILES, {"m.py": AFTER + "x = 1\n" * 200_000}, ORACLE) == 0.0


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "<solution>", "a"]), max_size=9)
)
def test_strict_is_partial_at_its_best(parts: list[str]) -> None:
    text = "".join(parts)
    assert 0 <= partial_reasoning(text) <= 1
    if strict_reasoning(text):
        assert partial_reasoning(text) == 1.0


def test_partial_reasoning_by_hand() -> None:
    cases = {
        "<think>a</think><answer>b\nc</answer>": 1.0,
        "ab <think>a</think><answer>b</answer> cd e": 0.995,
        "<think>a</think>": 0.5,
        "</think><answer>b</answer>": 0.75,
        "<answer>b</answer><think>a</think>": 0.25 + 0.25 - 0.018,
        "<think><think></think>": 0.25,
        "": 0.0,
    }
    for text, value in cases.items():
        assert partial_reasoning(text) == pytest.approx(value), text


CASES = {
    "line ends": ({"m.py": "a = 1\r\nb = 2\r\n"}, {"m.py": "a = 1\nb = 2\n"}),
    "last line end": ({"m.py": "a = 1\nb = 2"}, {"m.py": "a = 1\nb = 2\n"}),
    "form feed": ({"m.py": "a = 1\n\x0cb = 2\n"}, {"m.py": "a = 1\n\nb = 2\n"}),
    "next line": ({"m.py": "a = '\x85'\n"}, {"m.py": "a = '\n'\n"}),
    "a new empty file": ({"m.py": "a = 1\n"}, {"n/__init__.py": ""}),
    "an empty file deleted": ({"m.py": "a = 1\n", "e.py": ""}, {"e.py": None}),
}


@pytest.mark.parametrize("name", CASES)
def test_changes_that_show_in_no_line_are_changes(name: str) -> None:
    files, oracle = CASES[name]
    task = Task(statement="x", check=EditCheck(format="search-replace", files=files, oracle=oracle))
    after = {path: text for path, text in {**files, **oracle}.items() if text is not None}
    perfect = f"<answer>\n{FORMATS['search-replace'].render(files, after)}</answer>"
    assert scores(perfect, task)["edit_similarity"] == 1.0
    assert scores(perfect, task)["published_unified_diff_similarity"] == 1.0
    assert scores("", task)["published_unified_diff_similarity"] == 0.0
    assert scores("", task)["published_swe_rl_unidiff"] == 0.0
    if "empty file" not in name:  # a file without hunks counts 0 in the published form, whoever changes it
        assert scores(perfect, task)["published_swe_rl_unidiff"] == 1.0
