"""Shares of several task sets, step by step."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from strop.config.tasks import TaskSetConfig, WeightPoint
from strop.rollouts.groups import MixedStream, TaskShare
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.task import Task

CHECK = CasesCheck(entry_point="f", cases=[Case(args=[1], expected=1)])


def tasks(name: str, count: int) -> list[Task]:
    return [
        Task(id=f"{name}{number:03}", statement=f"{name} {number}", check=CHECK) for number in range(count)
    ]


@given(
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from([0.0, 0.3, 1.0, 7.0]), min_size=1),
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_every_set_gets_its_share_to_within_a_place(weights: dict[str, float], counts: list[int]) -> None:
    if not any(weights.values()):
        weights["a"] = 1.0
    stream = MixedStream(
        {name: TaskShare(tasks(name, 40), lambda step, w=w: w) for name, w in weights.items()}, seed=1
    )
    drawn = [stream.draw(count, step) for step, count in enumerate(counts, 1)]
    assert [len(some) for some in drawn] == counts
    assert all(len({task.id for task in some}) == len(some) for some in drawn)
    got = Counter(task.id[0] for some in drawn for task in some)
    for name, weight in weights.items():
        assert abs(got[name] - sum(counts) * weight / sum(weights.values())) < len(weights)
        assert weight or not got[name]


def test_a_small_set_leaves_its_places_to_the_others_and_state_resumes() -> None:
    def made() -> MixedStream:
        sources = {
            "few": TaskShare(tasks("few", 2), lambda step: 5.0),
            "many": TaskShare(tasks("many", 30), lambda step: 1.0),
        }
        return MixedStream(sources, seed=3)

    first = made()
    assert Counter(task.id[:3] for task in first.draw(8, 1)) == {"few": 2, "man": 6}
    second = made()
    second.load(first.state())
    assert [t.id for t in first.draw(6, 2)] == [t.id for t in second.draw(6, 2)]


def test_a_schedule_is_a_line_between_its_points() -> None:
    points = [WeightPoint(step=10, weight=1), WeightPoint(step=20, weight=0)]
    one = TaskSetConfig(name="a", schedule=points, weight=9)
    assert [one.weight_at(step) for step in (1, 10, 15, 20, 99)] == [1, 1, 0.5, 0, 0]
    assert TaskSetConfig(name="a", weight=9).weight_at(50) == 9
