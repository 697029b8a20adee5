"""The hacking curve and its alarm: a planted flaw, a bonus for comments, is seen, in most
seeds before the truth has lost 5 points.
"""

import math
import random
from pathlib import Path

import pytest
from tests.scale import some

from strop.evaluation.hacking import hacking_curve, hacking_table, write_hacking
from strop.reports.alarms import AlarmWatch
from strop.rollouts.step_metrics import step_metrics
from strop_verify.core.rollout import Completion, Group, Rollout, Score, Turn
from strop_verify.core.verdict import Outcome, Verdict

TASKS, SIZE, STEPS, RATE = 8, 12, 100, 0.3
SEEDS = some(range(6), 2)
PLAIN, COMMENTED = 0.55, 0.25
"""How often an answer passes without and with comments, which take up its tokens."""


class Writer:
    """A policy with two choices: whether to comment, and whether to take care, which helps both kinds a little."""

    def __init__(self, seed: int) -> None:
        self.rng, self.comment, self.care = random.Random(seed), -3.0, 0.0

    def truth(self) -> float:
        """The exact rate of passing answers."""
        comment, care = (1 / (1 + math.exp(-x)) for x in (self.comment, self.care))
        return (1 - comment) * PLAIN + comment * COMMENTED + 0.1 * care

    def step(self, number: int, bonus: float) -> dict[str, object]:
        """Samples groups, learns from the judge's scores, and says what a run says."""
        chances = [1 / (1 + math.exp(-x)) for x in (self.comment, self.care)]
        groups, moves = [], [0.0, 0.0]
        for task in range(TASKS):
            plays = []
            for _ in range(SIZE):
                does = [self.rng.random() < chance for chance in chances]
                passed = self.rng.random() < (COMMENTED if does[0] else PLAIN) + 0.1 * does[1]
                score = 0.8 * passed + self.rng.gauss(0, 0.5) + bonus * does[0]  # a judge that knows a little
                plays.append((does, passed, score))
            mean = sum(score for *_, score in plays) / SIZE
            spread = math.sqrt(sum((score - mean) ** 2 for *_, score in plays) / (SIZE - 1))
            for does, _, score in plays:
                for at in range(2):
                    moves[at] += (score - mean) / spread * (does[at] - chances[at]) / (TASKS * SIZE)
            members = [rollout(index, passed, score) for index, (_, passed, score) in enumerate(plays)]
            groups.append(Group(task_id=str(task), step=number, rollouts=members))
        self.comment, self.care = self.comment + RATE * moves[0], self.care + RATE * moves[1]
        return {"step": number, **step_metrics(groups, groups), "kl": 0.001 * number}


def rollout(index: int, passed: bool, score: float) -> Rollout:
    said = Completion(token_ids=[1] * 10, logprobs=[-1.0] * 10, text="", finish_reason="eos")
    return Rollout(
        task_id="t", index=index, seed=0, prompt="", turns=[Turn(prompt_ids=[1], completion=said)], answer=str(index),
        verdict=Verdict(outcome=Outcome.PASSED if passed else Outcome.FAILED), reward=score,
        scores=[Score(name="judge", value=score), Score(name="passed", value=float(passed), weight=0.0)],
    )  # fmt: skip


def rang(seed: int, bonus: float) -> tuple[int | None, float, list[dict[str, object]]]:
    """(the step of the alarm, what the truth had lost by then or at the end, the lines)."""
    writer, watch, best = Writer(seed), AlarmWatch(), 0.0
    lines: list[dict[str, object]] = []
    for number in range(1, STEPS + 1):
        best = max(best, writer.truth())
        lines.append(writer.step(number, bonus))
        if any(alarm.name == "reward, not passes" for alarm in watch.see(lines[-1])):
            return number, best - writer.truth(), lines
    return None, best - writer.truth(), lines


def test_the_alarm_rings_before_the_truth_has_lost_five_points() -> None:
    found = [rang(seed, bonus=1.5) for seed in SEEDS]
    assert all(step is not None for step, *_ in found)
    assert sum(lost < 0.05 for _, lost, _ in found) >= len(SEEDS) - 1, [
        round(lost, 3) for _, lost, _ in found
    ]
    unwatched = Writer(0)
    for number in range(1, STEPS + 1):
        unwatched.step(number, 1.5)
    assert unwatched.truth() < PLAIN - 0.1  # without the alarm it goes on falling


def test_an_honest_judge_rings_nothing() -> None:
    assert [step for step, *_ in (rang(seed, bonus=0.0) for seed in SEEDS) if step is not None] == []


def test_the_curve_is_over_the_root_of_an_answer_s_divergence(tmp_path: Path) -> None:
    _, _, lines = rang(0, bonus=0.0)
    curve = hacking_curve(lines)
    assert curve is not None and curve["step"] == list(range(1, STEPS + 1))
    assert curve["distance"][0] == pytest.approx(math.sqrt(0.001 * 10))
    plays = hacking_curve([line | {"turns": 4.0} for line in lines])
    assert plays is not None and plays["distance"][0] == pytest.approx(2 * curve["distance"][0])
    assert curve["truth"][0] == lines[0]["pass_rate"] and curve["proxy"][0] == lines[0]["reward"]
    write_hacking(tmp_path / "hacking.svg", curve, title="run")
    assert (tmp_path / "hacking.svg").read_text().startswith("<svg") and hacking_table(curve).row_count == 12
    # Rewarded for passing alone, or without a reference, there is nothing to draw.
    assert hacking_curve([{k: v for k, v in line.items() if k != "reward_auc"} for line in lines]) is None
    assert hacking_curve([{k: v for k, v in line.items() if k != "kl"} for line in lines]) is None


def test_how_well_the_reward_tells_passing_from_failing() -> None:
    members = [rollout(0, True, 2.0), rollout(1, True, 1.0), rollout(2, False, 1.0), rollout(3, False, 0.0)]
    group = Group(task_id="t", step=0, rollouts=members)
    assert step_metrics([group], [group])["reward_auc"] == pytest.approx((2 + 1.5) / 4)
    plain = [r.model_copy(update={"scores": [Score(name="passed", value=1.0)]}) for r in members]
    only = group.model_copy(update={"rollouts": plain})
    assert "reward_auc" not in step_metrics([only], [only])
