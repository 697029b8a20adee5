"""From groups to batches: which are young enough, by age alone, and each form of advantage on its way to the tokens."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from strop.config import algorithms as config
from strop.config.training import GrpoConfig
from strop.training.batch import Advantages, age, batch_of, sample_of, too_old
from strop_verify.core.rollout import Completion, Event, Group, Rollout, Turn


def rollout(index: int, lengths: list[int], reward: float | None, versions: list[int]) -> Rollout:
    turns = [
        Turn(
            prompt_ids=[1, 2],
            completion=Completion(
                token_ids=[3] * length,
                logprobs=[-0.5] * length,
                text="",
                finish_reason="eos",
                policy_version=version,
            ),
        )
        for length, version in zip(lengths, versions, strict=True)
    ]
    return Rollout(task_id="t", index=index, seed=0, prompt="", turns=turns, reward=reward)


def group(rewards: list[float | None], lengths: list[list[int]], began: int = 0, task: str = "t") -> Group:
    """Plays that all began with the weights `began`; each further turn was sampled by weights one step newer."""
    members = [
        rollout(index, turns, reward, list(range(began, began + len(turns))))
        for index, (reward, turns) in enumerate(zip(rewards, lengths, strict=True))
    ]
    return Group(task_id=task, step=1, rollouts=members)


def test_a_group_is_as_old_as_the_weights_that_began_it() -> None:
    long, short = group([1.0, 0.0], [[9, 9, 9], [1]], began=3), group([1.0, 0.0], [[1], [1]], began=3)
    assert age(long, 5) == age(short, 5) == 2
    one, two = (GrpoConfig(max_staleness=n, correction=config.TokenTruncated()) for n in (1, 2))
    assert not any(too_old(g, 5, two) for g in (long, short))
    assert too_old(long, 5, one) and too_old(short, 5, one)
    corrected = GrpoConfig(max_staleness=1, older="correct", correction=config.TokenTruncated())
    assert not too_old(long, 5, corrected) and not too_old(long, 3, GrpoConfig())


@given(
    st.lists(
        st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=4), min_size=2, max_size=4), max_size=8
    ),
    st.integers(0, 3),
    st.data(),
)
def test_what_is_dropped_by_age_does_not_depend_on_lengths(
    lengths: list[list[list[int]]], most: int, data: st.DataObject
) -> None:
    """Groups that began alike all stay or all go: what is trained has the lengths that were sampled at that age."""
    began = data.draw(st.lists(st.integers(0, 5), min_size=len(lengths), max_size=len(lengths)))
    groups = [group([0.0] * len(one), one, b) for one, b in zip(lengths, began, strict=True)]
    grpo = GrpoConfig(max_staleness=most, correction=config.TokenTruncated())
    kept = [one for one in groups if not too_old(one, 5, grpo)]

    young = [one for one, b in zip(groups, began, strict=True) if 5 - b <= most]
    sampled = Counter(sum(r.flat()[1]) for one in young for r in one.rollouts)
    trained = batch_of(Advantages(grpo.advantage).of(kept), grpo)
    assert Counter(sample.tokens for sample in trained.samples) == sampled


def test_each_form_of_advantage_reaches_the_tokens() -> None:
    groups = [group([1.0, 0.0, 0.5], [[2], [2, 2], [1, 1]])]
    found = {
        form.type: [
            [round(float(a), 3) for a, keep in zip(sample.advantages, sample.mask, strict=True) if keep]
            for rollout in Advantages(form).of(groups)[0].rollouts
            for sample in [sample_of(rollout, mask_truncated=True)]
        ]
        for form in (
            config.GroupAdvantage(scale="none"),
            config.LeaveOneOutAdvantage(),
            config.RunningBaselineAdvantage(),
            config.PerTurnAdvantage(discount=0.5),
            config.ProcessAdvantage(steps="turn"),
        )
    }
    assert found == {
        "group": [[0.5] * 2, [-0.5] * 4, [0.0] * 2],
        "leave-one-out": [[0.75] * 2, [-0.75] * 4, [0.0] * 2],
        "running-baseline": [[0.5] * 2, [-0.5] * 4, [0.0] * 2],
        # Returns 1; 0, 0; 0.25, 0.5: the first turns have the mean 5/12, the second 1/4.
        "per-turn": [[0.583] * 2, [-0.417, -0.417, -0.25, -0.25], [-0.167, 0.25]],
        # Rewards 1; 0, 0; 0, 0.5 of the steps: mean .3, standard deviation .447; sums of this and later steps.
        "process": [[1.565] * 2, [-1.341, -1.341, -0.671, -0.671], [-0.224, 0.447]],
    }


def test_advantages_by_calls_reach_all_tokens_of_a_play() -> None:
    one = group([1.0, 0.0, None], [[2, 1], [1, 1], [1]])
    grep = Event(name="UseTool", asked="grep", result="", seconds=0.0, bytes=0)
    for rollout, calls in zip(one.rollouts, (3, 1, 8), strict=True):
        rollout.turns[0] = rollout.turns[0].model_copy(update={"events": [grep] * calls})
    (found,) = Advantages(config.LeaveOneOutAdvantage(by_calls=True)).of([one])
    assert [rollout.advantage for rollout in found.rollouts] == [
        2.0,
        -1.0,
        0.0,
    ]  # (3 + 1) / 2 calls, (1 + 1) / 2
    sample = sample_of(found.rollouts[0], mask_truncated=True)
    assert [float(a) for a, keep in zip(sample.advantages, sample.mask, strict=True) if keep] == [2.0] * 3
    (plain,) = Advantages(config.LeaveOneOutAdvantage()).of([one])
    assert [rollout.advantage for rollout in plain.rollouts] == [1.0, -1.0, 0.0]


def test_an_unscored_play_has_no_turn_advantages() -> None:
    (found,) = Advantages(config.PerTurnAdvantage()).of([group([None, 1.0, 0.0], [[1, 1], [1], [1]])])
    assert [turn.advantage for turn in found.rollouts[0].turns] == [0.0, 0.0]
    assert sum(sample_of(found.rollouts[0], mask_truncated=False).mask) == 0
