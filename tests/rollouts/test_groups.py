"""Playing with a scripted policy and real verification."""

import pytest

from strop.config.schema import Recipe
from strop.config.training import GrpoConfig, OptimConfig
from strop.core.errors import UserError
from strop.core.rollout import SamplingParams
from strop.core.task import Task
from strop.environments.single_turn import single_turn
from strop.policies.scripted import ScriptedPolicy
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.groups import TaskStream, fill_step, play_groups
from strop.rollouts.player import Player
from strop.verification.pool.pool import VerifierPool


def doubling(name: str) -> Task:
    cases = [{"args": [n], "expected": 2 * n} for n in (1, 2, 5)]
    return Task.model_validate(
        {
            "statement": f"Return n doubled ({name}).",
            "signature": f"def {name}(n: int) -> int:",
            "check": {"kind": "cases", "entry_point": name, "cases": cases},
            "split": "train",
        }
    )


def player(verifier: VerifierPool) -> Player:
    """Right for names that begin with "mixed" at even seeds, always wrong otherwise."""

    def answer(prompt: list[int], seed: int, index: int) -> str:
        text = policy.tokenizer.decode(prompt)
        return "\n    return n * 2" if "def mixed" in text and index % 2 == 0 else "\n    return n"

    policy = ScriptedPolicy(answer)
    return Player(policy, verifier, single_turn("continue"))


def test_groups_have_signal_where_answers_differ(verifier: VerifierPool) -> None:
    tasks = [doubling("mixed_a"), doubling("wrong_b")]
    rubric = WeightedRubric.from_names([("passed", 1.0)])
    groups = play_groups(player(verifier), rubric, tasks, 4, SamplingParams(), seed=1, step=0)
    assert [g.task_id for g in groups] == [t.id for t in tasks]
    assert [len(g.rollouts) for g in groups] == [4, 4]
    assert groups[0].has_signal and not groups[1].has_signal
    assert sum(r.reward or 0 for r in groups[0].rollouts) == 2
    assert [r.index for r in groups[0].rollouts] == [0, 1, 2, 3]


def test_refill_replaces_what_teaches_nothing(verifier: VerifierPool) -> None:
    tasks = [doubling(f"wrong_{i}") for i in range(6)] + [doubling(f"mixed_{i}") for i in range(2)]
    stream = TaskStream(tasks, seed=0)
    grpo = GrpoConfig(tasks_per_step=2, group_size=4, max_refill_rounds=5)
    recipe = Recipe(seed=1, grpo=grpo, optim=OptimConfig(micro_batch=8))
    learnt, played = fill_step(
        player(verifier), WeightedRubric.from_names([("passed", 1.0)]), stream, recipe, step=0
    )
    assert [g.has_signal for g in learnt] == [True, True]
    assert 2 <= len(played) <= 8


def test_a_prompt_over_the_limit_names_the_task(verifier: VerifierPool) -> None:
    task = doubling("mixed_a")
    short = Player(player(verifier).policy, verifier, single_turn("continue"), max_prompt_tokens=3)
    with pytest.raises(UserError, match=f"{task.id}.*max_prompt_tokens=3"):
        list(short.play([task], 1, SamplingParams(), seed=0))


def test_the_stream_repeats_itself_from_its_state() -> None:
    tasks = [doubling(f"t{i}") for i in range(7)]
    first = TaskStream(tasks, seed=3)
    first.draw(5)
    second = TaskStream(tasks, seed=3)
    second.load(first.state())
    assert [t.id for t in first.draw(6)] == [t.id for t in second.draw(6)]
    assert len({t.id for t in TaskStream(tasks, seed=3).draw(7)}) == 7
