"""`cites_fix`: cited lines against the lines of a fix, and what answers that know nothing earn on all of SVEN."""

import random
import time
from collections.abc import Callable
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import needs

from strop.rewards.citation import TOLERANCE, Shown, cited_lines, cites_fix, score
from strop.rewards.rubric import WeightedRubric
from strop.tasks.sources import iter_tasks
from strop_tasks.formats.vulnerability import VULNERABILITY as ADAPTER
from strop_verify.core.checks import LabelCheck
from strop_verify.core.rollout import Completion, Rollout, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.label import LabelToolchain

PASSED = Verdict(outcome=Outcome.PASSED)


def reward(task: Task, text: str, prompt: str = "?") -> float | None:
    completion = Completion(token_ids=[1], logprobs=[0.0], text=text, finish_reason="eos")
    turns = [Turn(prompt_ids=[0], completion=completion)]
    return cites_fix(task, Rollout(task_id=task.id, index=0, seed=0, prompt=prompt, turns=turns), PASSED)


def task(vulnerable: bool = True, lines: object = ((10, 11),), total: object = 20) -> Task:
    metadata = {"lines": [list(part) for part in lines] if isinstance(lines, tuple) else lines}  # type: ignore[misc]
    metadata |= {"code_lines": total, "vulnerable": vulnerable}
    check = LabelCheck(choices=["safe", "CWE-1"], expected="CWE-1" if vulnerable else "safe")
    return Task(family="vulnerability", statement="?", check=check, metadata=metadata)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Lines: 10-11", 1.0),
        ("Lines: 10, 11", 1.0),
        ("**Lines:** 11 \u2013 11, 10-10.", 1.0),
        ("because\nlines: 9-12\nAnswer: safe", 1.0),  # within a line
        ("Lines: 10", 1.0),
        ("Line: 12", 2 / 3),  # one of the two changes
        ("Lines: 13", 0.0),
        ("Lines: 10, 1", 2 / 3),  # P = 1/2, R = 1
        ("Lines: 1-20", 2 * 0.2 / 1.2),  # P = 4/20, R = 1
        ("Lines: none", 0.0),
        ("Lines: 10-11, 21", 0.0),  # not shown
        ("Lines: 0-20", 0.0),
        ("Lines: 11-10", 0.0),
        ("Lines: 10;11", 0.0),
        ("Lines:", 0.0),
        ("Lines: 10-11\nLines: 1", 0.0),
        ("<think>Lines: 10-11</think>\nAnswer: CWE-1", 0.0),
        ("<think>Lines: 3</think>\nAnswer: CWE-1\nLines: 10-11", 1.0),
        ("It is line 10.", 0.0),
        ("", 0.0),
    ],
)
def test_a_vulnerable_function(said: str, value: float) -> None:
    assert reward(task(), said) == pytest.approx(value)


def test_the_thought_may_have_been_begun_by_the_prompt() -> None:
    assert reward(task(), "Lines: 1\n</think>\nAnswer: CWE-1\nLines: 10", "...<think>") == 1.0


@pytest.mark.parametrize(
    ("said", "value"), [("Lines: none", 1), ("Lines: None.", 1), ("Lines: 10", 0), ("", 0)]
)
def test_a_safe_function_has_nothing_to_cite(said: str, value: float) -> None:
    assert reward(task(vulnerable=False), said) == value


def test_lines_that_only_the_fix_has_lie_between_two() -> None:
    between = task(lines=((8, 7),))
    assert [reward(between, f"Lines: {n}") for n in range(5, 11)] == [0, 0, 1, 1, 0, 0]
    assert reward(task(lines=((1, 0),)), "Lines: 1") == 1.0
    assert reward(task(lines=((21, 20),)), "Lines: 20") == 1.0


@pytest.mark.parametrize("lines", [[], None, "10", [[1]], [["a", "b"]], [[30, 40]]])
def test_not_scored_without_lines(lines: object) -> None:
    assert reward(task(lines=lines), "Lines: 1") is None


def test_not_scored_for_other_tasks() -> None:
    assert reward(task(total=None), "Lines: 1") is None
    plain = Task(statement="?", check=LabelCheck(choices=["a", "b"], expected="a"))
    assert reward(plain, "Lines: 1") is None
    assert [s.name for s in WeightedRubric.from_names([("cites_fix", 1.0)]).score(
        plain, Rollout(task_id="", index=0, seed=0, prompt="", turns=[]), PASSED)] == ["cites_fix"]  # fmt: skip


_CHANGES = st.lists(
    st.integers(1, 30).flatmap(lambda a: st.tuples(st.just(a), st.integers(a - 1, 30))), min_size=1
)


@given(_CHANGES, st.sets(st.integers(1, 30), min_size=1))
def test_the_number_is_the_definition(changes: list[tuple[int, int]], cited: set[int]) -> None:
    units = [float(n) for a, b in changes for n in range(a, b + 1)]
    units += [b + 0.5 for a, b in changes if b < a]
    right = [c for c in cited if any(abs(c - u) <= TOLERANCE for u in units)]
    found = [u for u in units if any(abs(c - u) <= TOLERANCE for c in cited)]
    p, r = len(right) / len(cited), len(found) / len(units)
    expected = 2 * p * r / (p + r) if right else 0.0
    text = "Lines: " + ", ".join(map(str, sorted(cited)))
    assert score(text, Shown(changes, 30, True)) == pytest.approx(expected)
    assert 0 <= expected <= 1


@given(st.text(st.sampled_from("Lines: none,-0123456789\n*")), st.integers(1, 50))
def test_reading_never_raises_and_stays_in_the_code(text: str, total: int) -> None:
    assert (cited_lines(text, total) or set()) <= set(range(1, total + 1))


@pytest.mark.parametrize("text", ["Lines: " + "1," * 400_000, "lines" * 200_000, " " * 10**6, "Lines: " + "9" * 10**6,
                                  "Lines:\n" * 150_000, "Lines: 1-9999999, " + "1-9999999," * 900])  # fmt: skip
def test_hostile_text_is_read_in_no_time(text: str) -> None:
    began = time.process_time()
    assert cited_lines(text, 40) is None
    assert time.process_time() - began < 20


def test_what_knows_nothing_earns_at_most_chance_on_sven() -> None:
    """Label and citation alike; half is chance, since half of the tasks are safe."""
    tasks = list(iter_tasks(f"{ADAPTER.name}:{needs.data('sven.jsonl')}"))
    draw = random.Random(0)

    def some(count: int) -> str:
        first = draw.randint(1, count)
        return f"{first}-{draw.randint(first, count)}"

    def earned(answer: Callable[[Task, int], str]) -> tuple[float, float]:
        said = [answer(task, task.metadata["code_lines"]) for task in tasks]
        labels = LabelToolchain().judge(list(zip(tasks, said, strict=True)))
        cites = [reward(task, text) for task, text in zip(tasks, said, strict=True)]
        return mean(v.passed for v in labels), mean(c for c in cites if c is not None)

    choices = tasks[0].check.choices  # type: ignore[union-attr]
    assert earned(lambda t, _: t.reference) == (1.0, 1.0)
    answers: dict[str, Callable[[Task, int], str]] = {
        "always no": lambda t, n: "Answer: safe\nLines: none",
        "always no, all lines": lambda t, n: f"Answer: safe\nLines: 1-{n}",
        "always yes, all lines": lambda t, n: f"Answer: CWE-089\nLines: 1-{n}",
        "always yes, first line": lambda t, n: "Answer: CWE-125\nLines: 1",
        "always yes, every third": lambda t, n: (
            "Answer: CWE-125\nLines: " + ", ".join(map(str, range(1, n + 1, 3)))
        ),
        "random": lambda t, n: f"Answer: {draw.choice(choices)}\nLines: {some(n)}",
        "random or none": lambda t, n: (
            f"Answer: {draw.choice(choices)}\nLines: {draw.choice(['none', some(n)])}"
        ),
        "nothing cited": lambda t, n: "Answer: CWE-089",
    }
    numbers = {name: earned(answer) for name, answer in answers.items()}
    assert all(label <= 0.5 and cites <= 0.5 for label, cites in numbers.values()), numbers
    assert numbers["always yes, all lines"][1] < 0.25, numbers
    assert numbers["random"][1] < 0.25, numbers
    assert numbers["nothing cited"][1] == 0
    print(numbers)
