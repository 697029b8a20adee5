"""Labels: what counts as one, what does not, and that no fixed answer beats the balance of a set."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop_verify.core.checks import LabelCheck, WorkspaceCheck
from strop_verify.core.errors import VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.label import MAX_ANSWER, MAX_LINES, LabelToolchain, label_of
from strop_verify.verification.verifier import OpenVerifier

CHOICES = ["safe", "CWE-022", "CWE-089", "CWE-416"]


def task(expected: str = "CWE-089", language: str = "c", choices: list[str] = CHOICES) -> Task:
    return Task(statement="Which?", language=language, check=LabelCheck(choices=choices, expected=expected))


@pytest.mark.parametrize(
    "answer",
    [
        "Answer: CWE-089",
        "answer:cwe-89",
        "**Answer:** `CWE-089`.",
        "The query is built from text.\n\n> Answer: CWE-089 (SQL injection)\n",
        "Answer: CWE-089\nBecause of the string.\nAnswer: CWE-89",
        "CWE-089",
        "  `cwe-89`.\n",
        "```c\nint main;\n```\nAnswer: CWE-0089\r\n",
        "I first thought: Answer: safe\nAnswer: CWE-089",
    ],
)
def test_a_label_is_found(answer: str) -> None:
    assert label_of(answer, CHOICES) == ("CWE-089", "")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "It is CWE-089.",
        "Answer: CWE-0890",
        "Answer: CWE-089-like",
        "Answer: unsafe",
        "Answer: not safe",
        "Answer: CWE-089 or safe",
        "Answer: CWE-089, CWE-022",
        "Answer: CWE-089\nAnswer: safe",
        "Answer: CWE-089\nAnswer: whatever",
        "Answer:\nCWE-089",
        "Answers: CWE-089",
        "Answer CWE-089",
        "CWE-089 safe",
        " ".join(CHOICES),
        "Answer: safe from CWE-089",
        "\n".join(f"Answer: {choice}" for choice in CHOICES),
        "Answer: \uff23\uff37\uff25-089",
    ],
)  # fmt: skip
def test_anything_else_is_no_label(answer: str) -> None:
    label, why = label_of(answer, CHOICES)
    assert label is None and why


def test_a_label_that_begins_another() -> None:
    assert label_of("Answer: safe enough", ["safe", "safe enough"])[0] == "safe enough"
    assert label_of("Answer: safe", ["safe", "safe enough"])[0] == "safe"
    assert label_of("Answer: 10", ["1", "10", "100"])[0] == "10"
    assert label_of("Answer: 0", ["0", "1"])[0] == "0"
    assert label_of("Answer: 00", ["0", "10"])[0] == "0"


@given(st.text(), st.sampled_from(CHOICES), st.text(st.characters(exclude_characters="\n")))
def test_what_stands_around_does_not_change_a_label(before: str, choice: str, reason: str) -> None:
    label, _ = label_of(f"{before}\nAnswer: {choice}\n", CHOICES)
    assert label in (choice, None) and (label == choice or "answer" in before.casefold())
    assert label_of(f"Because {reason}\nAnswer: {choice}", CHOICES)[0] == choice


@given(st.lists(st.sampled_from(CHOICES), min_size=1, max_size=6))
def test_several_labels_count_only_when_they_agree(named: list[str]) -> None:
    label, _ = label_of("\n".join(f"Answer: {name}" for name in named), CHOICES)
    assert label == (named[0] if len(set(named)) == 1 else None)


@pytest.mark.parametrize(
    "hostile",
    [
        "Answer: " * (MAX_ANSWER // 8),
        "*" * MAX_ANSWER,
        "Answer: safe" + "0" * (MAX_ANSWER - 20),
        "Answer: safe\n" * (MAX_ANSWER // 13),
        "Answer: " + "CWE-" * (MAX_ANSWER // 4 - 10),
        "x" * (MAX_ANSWER + 1),
    ],
)
def test_long_answers_come_to_an_end(hostile: str) -> None:
    assert label_of(hostile, CHOICES)[0] in (None, "safe")


def test_verdicts_and_every_language(verifier: OpenVerifier) -> None:
    for language in ("python", "rust", "c", "klingon"):
        right, wrong = (verifier.verify(task(language=language), f"Answer: {x}") for x in ("cwe-89", "safe"))
        assert right.outcome is Outcome.PASSED and right.fraction == 1.0
        assert wrong.outcome is Outcome.FAILED and "CWE-089" not in wrong.model_dump_json()
    assert verifier.verify(task(), "Both.").outcome is Outcome.NO_ANSWER
    assert verifier.verify(task(), "").outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize(
    ("choices", "expected", "cause"),
    [
        (["safe"], "safe", "two or more"),
        (["CWE-89", "cwe-089"], "CWE-89", "two or more"),
        (["a", ""], "a", "two or more"),
        (["a", "b"], "c", "not one of its choices"),
    ],
)
def test_a_bad_task_is_our_error(
    verifier: OpenVerifier, choices: list[str], expected: str, cause: str
) -> None:
    verdict = verifier.verify(task(expected, choices=choices), "Answer: a")
    assert verdict.outcome is Outcome.ERROR and cause in verdict.detail


def test_workspaces_are_carried(verifier: OpenVerifier) -> None:
    carried = Task(statement="Fix it.", check=WorkspaceCheck(repository="a/b", failing=["t"]))
    verdict = verifier.verify(carried, "diff")
    assert (verdict.outcome, verdict.detail) == (
        Outcome.ERROR,
        "a check of kind workspace is judged in a container image, but this one names none",
    )


def test_other_checks_are_not_for_this_toolchain() -> None:
    with pytest.raises(VerificationError, match="is not of kind 'label'"):
        LabelToolchain().judge([(Task(statement="", check=WorkspaceCheck(argv=["true"])), "x")])


def test_no_fixed_answer_beats_a_balanced_set() -> None:
    tasks = [task(label) for label in CHOICES for _ in range(50)]
    draw = random.Random(0)

    def rate(answers: list[str]) -> float:
        return sum(v.passed for v in LabelToolchain().judge(list(zip(tasks, answers, strict=True)))) / 200

    assert all(rate([f"Answer: {choice}"] * 200) == 0.25 for choice in CHOICES)
    assert rate([f"Answer: {draw.choice(CHOICES)}" for _ in tasks]) < 0.35
    assert rate(["\n".join(f"Answer: {choice}" for choice in CHOICES)] * 200) == 0.0


def test_many_lines_are_no_answer() -> None:
    assert label_of("Answer: safe\n" * MAX_LINES, CHOICES) == ("safe", "")
    assert label_of("Answer: safe\n" * (MAX_LINES + 1), CHOICES)[0] is None
