"""Playing with a scripted policy and real verification."""

import pytest

from strop.config.schema import Recipe
from strop.config.training import GrpoConfig
from strop.environments.registry import bind
from strop.environments.single_turn import SingleTurn
from strop.policies.scripted import ScriptedPolicy
from strop.rewards.rubric import WeightedRubric
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.groups import MixedStream, TaskShare, fill_step, play_groups
from strop_verify.core.errors import UserError
from strop_verify.core.play import PlayLimits
from strop_verify.core.rollout import SamplingParams
from strop_verify.core.task import Task
from strop_verify.verification.pool.pool import VerifierPool


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


def player(verifier: VerifierPool) -> Dispatcher:
    """Right for names that begin with "mixed" at even seeds, always wrong otherwise."""

    def answer(prompt: list[int], seed: int, index: int) -> str:
        text = policy.tokenizer.decode(prompt)
        return "\n    return n * 2" if "def mixed" in text and index % 2 == 0 else "\n    return n"

    policy = ScriptedPolicy(answer)
    return Dispatcher(policy, verifier, bind(SingleTurn, "continue"))


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
    stream = MixedStream({"": TaskShare(tasks, lambda step: 1.0)}, seed=0)
    grpo = GrpoConfig(tasks_per_step=2, group_size=4, max_refill_rounds=5)
    recipe = Recipe(seed=1, grpo=grpo)
    who, rubric = player(verifier), WeightedRubric.from_names([("passed", 1.0)])
    learnt, played = fill_step(
        lambda some, params, round: play_groups(who, rubric, some, 4, params, seed=1, step=0, round=round),
        stream,
        recipe,
        1,
    )
    assert [g.has_signal for g in learnt] == [True, True]
    assert 2 <= len(played) <= 8


def test_a_prompt_over_the_limit_names_the_task(verifier: VerifierPool) -> None:
    task = doubling("mixed_a")
    short = Dispatcher(
        player(verifier).policy, verifier, bind(SingleTurn, "continue"), limits=PlayLimits(prompt=3)
    )
    with pytest.raises(UserError, match=f"{task.id}.*max_prompt_tokens=3"):
        list(short.play([task], 1, SamplingParams(), seed=0))


def test_the_stream_repeats_itself_from_its_state() -> None:
    tasks = [doubling(f"t{i}") for i in range(7)]
    first, second, third = (MixedStream({"": TaskShare(tasks, lambda step: 1.0)}, seed=3) for _ in range(3))
    first.draw(5, 1)
    second.load(first.state())
    assert [t.id for t in first.draw(6, 2)] == [t.id for t in second.draw(6, 2)]
    assert len({t.id for t in third.draw(7, 1)}) == 7
