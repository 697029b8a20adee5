"""What plays of many turns are held against: resampling at equal sampled tokens, and the best possible in one turn."""

import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.evaluation.evaluate import evaluate
from strop.evaluation.result import Evaluation
from strop.evaluation.table import control_table, show
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.rollout import Completion, Rollout, SamplingParams, Turn
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict

PASSED, FAILED = Verdict(outcome=Outcome.PASSED), Verdict(outcome=Outcome.FAILED, detail="no")
ERROR = Verdict(outcome=Outcome.ERROR, detail="ours")


def task(name: str, **metadata: Any) -> Task:
    check = CasesCheck(entry_point="f", cases=[Case(expected=1)])
    return Task(id=name, statement="", check=check, metadata=metadata)


def turn(tokens: int, verdict: Verdict | None = None, answer: str = "") -> Turn:
    completion = Completion(token_ids=[1] * tokens, logprobs=[0.0] * tokens, text=answer, finish_reason="eos")
    return Turn(prompt_ids=[1], completion=completion, verdict=verdict, answer=answer)


def rollout(task_id: str, index: int, turns: list[Turn], verdict: Verdict = FAILED) -> Rollout:
    return Rollout(task_id=task_id, index=index, seed=0, prompt="", turns=turns, verdict=verdict)


class Control:
    """Single answers of so many tokens; notes what was asked. `passes` says which of a task's answers pass."""

    def __init__(self, tokens: int = 10, passes: Any = lambda task, number: False) -> None:
        self.tokens, self.passes = tokens, passes
        self.asked: list[tuple[str, int, str]] = []
        self.made: Counter[str] = Counter()

    def __call__(
        self, tasks: Sequence[Task], samples: int, params: SamplingParams, tag: str
    ) -> Iterator[Rollout]:
        for one in reversed(tasks):
            self.asked.append((one.id, samples, tag))
            for index in range(samples):
                self.made[one.id] += 1
                found = self.passes(one.id, self.made[one.id])
                verdict = found if isinstance(found, Verdict) else PASSED if found else FAILED
                yield rollout(one.id, index, [turn(self.tokens)], verdict)


def evaluated(plays: dict[str, list[Rollout]], control: Control | None, **options: Any) -> Evaluation:
    tasks = options.pop("tasks", None) or [task(name) for name in plays]
    samples = len(next(iter(plays.values())))

    def play(some: Any, each: int, params: Any, tag: str) -> Iterator[Rollout]:
        for one in some:
            yield from plays[one.id][:each]

    settings = {"greedy": False, "max_tokens": 64, "resamples": 200, "samples": samples} | options
    return evaluate(play, tasks, control=control, **settings)


def of(tokens: int, index: int = 0, name: str = "a", verdict: Verdict = FAILED) -> Rollout:
    return rollout(name, index, [turn(tokens)], verdict)


def test_single_answers_are_sampled_until_they_have_as_many_tokens() -> None:
    control, shown = Control(10), list[tuple[int, int]]()
    plays = {"a": [of(25), of(10, 1)], "b": [of(1, 0, "b"), of(30, 1, "b")]}
    found = evaluated(plays, control, on_control=lambda done, total: shown.append((done, total)))
    assert [*shown] == sorted(shown) and shown[-1] == (66, 66) and len(shown) == 8
    assert control.made == {"a": 3 + 1, "b": 1 + 3}
    other = found.controls["resampled"]
    assert [(one.n, one.c) for one in other.counts] == [(2, 0), (2, 0)]
    assert other.tokens_mean == (30 + 10 + 10 + 30) / 4


@given(
    st.lists(st.lists(st.integers(0, 60), min_size=2, max_size=2), min_size=1, max_size=4),
    st.integers(1, 20),
)
def test_the_control_always_has_at_least_as_many_tokens(spent: list[list[int]], each: int) -> None:
    plays = {f"t{n}": [of(t, i, f"t{n}") for i, t in enumerate(pair)] for n, pair in enumerate(spent)}
    control = Control(each)
    evaluated(plays, control)
    for n, pair in enumerate(spent):
        assert control.made[f"t{n}"] == sum(-(-tokens // each) for tokens in pair)


def test_any_of_them_may_pass_and_then_no_more_are_sampled() -> None:
    control = Control(10, lambda name, number: (name, number) in {("a", 2), ("b", 4)})
    plays = {name: [of(40, 0, name), of(5, 1, name)] for name in ("a", "b")}
    found = evaluated(plays, control).controls["resampled"]
    # First round: both plays of each; the second play has its tokens by then, and of "a" it is solved.
    assert {one.task_id: one.c for one in found.counts} == {"a": 1, "b": 1}
    assert control.made == {"a": 5, "b": 4}


def test_rounds_have_seeds_of_their_own_and_greedy_plays_are_resampled_too() -> None:
    control = Control(10, lambda name, number: number == 3)
    found = evaluated({"a": [of(15), of(15, 1)]}, control, greedy=True, k=[1, 2])
    assert [tag for _, _, tag in control.asked] == ["resampled.0", "resampled.1"]
    assert [samples for _, samples, _ in control.asked] == [3, 2]
    (counts,) = found.controls["resampled"].counts
    assert (counts.n, counts.c, counts.greedy) == (2, 0, True)
    assert found.against("resampled")["greedy"].delta == -1.0


def test_errors_of_ours_count_for_nobody() -> None:
    control = Control(10, lambda name, number: ERROR if name == "a" else number == 2)
    found = evaluated({"a": [of(20)], "b": [of(20, 0, "b")]}, control).controls["resampled"]
    assert [(one.n, one.c) for one in found.counts] == [(0, 0), (1, 1)]
    assert found.outcomes == {"error": 2, "failed": 1, "passed": 1}


def test_the_ceiling_is_one_in_as_many_options_and_printed() -> None:
    tasks = [task("a", options=4), task("b", options=8)]
    plays = {name: [of(10, 0, name, PASSED)] for name in ("a", "b")}
    found = evaluated(plays, Control(), tasks=tasks)
    estimate = found.controls["ceiling"].estimate("pass@1")
    assert estimate is not None and estimate.value == pytest.approx((1 / 4 + 1 / 8) / 2)
    difference = found.against("ceiling")["pass@1"]
    assert difference.delta == pytest.approx(1 - 3 / 16) and difference.low > 0
    report = found.as_json()
    json.dumps(report)
    assert report["controls"]["ceiling"]["pass@1"] == pytest.approx(3 / 16)
    assert report["controls"]["resampled"]["difference"]["pass@1"]["delta"] == 1.0
    out = io.StringIO()
    show(control_table({"after": found}), file=out)
    assert "0.188" in out.getvalue() and "+0.812" in out.getvalue() and "best possible" in out.getvalue()
    assert Evaluation.model_validate_json(found.model_dump_json()) == found
    assert not evaluated(plays, None, tasks=[task("a", options=4), task("b")]).controls


def test_turn_by_turn() -> None:
    plays = [
        [turn(5, PASSED, "x")],
        [turn(5, FAILED, "x"), turn(5, PASSED, "y")],
        [turn(5, FAILED, "x"), turn(5, FAILED, "x"), turn(5, FAILED, "z")],
        [turn(5, FAILED, "x"), turn(5, FAILED, "x"), turn(5, PASSED, "z")],
    ]
    found = evaluated({"a": [rollout("a", n, turns) for n, turns in enumerate(plays)]}, None)
    assert found.by_turn is not None
    assert found.by_turn.passed == [0.25, 0.5, 0.75] and found.by_turn.repeated == pytest.approx(2 / 3)
    assert evaluated({"a": [of(5)]}, None).by_turn is None


def test_by_task_and_index_the_seeds_differ_from_those_of_the_plays() -> None:
    """Nothing is sampled under the tags of the evaluation itself."""
    tags: defaultdict[str, int] = defaultdict(int)
    control = Control(1)
    evaluated({"a": [of(4)]}, control)
    for _, _, tag in control.asked:
        tags[tag] += 1
    assert dict(tags) == {f"resampled.{n}": 1 for n in range(4)}
