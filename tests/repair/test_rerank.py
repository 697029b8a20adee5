"""Each rule of the reranking decides where those before it do not."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from strop.repair.record import RULES, Edit, passes, rerank, scored, why_not_most


def edit(group, samples, *, broken=None, reproduced=None, size=2):
    return Edit(
        group=group, samples=list(samples), diff=group, size=size, broken=broken, reproduced=reproduced
    )


def best(*edits):
    order, _, decided = rerank(edits)
    return order[0].group, decided


def test_fewest_broken_tests_win_over_everything_else():
    wins = edit("a", [9], broken=["t1"], reproduced=[], size=50)
    many = edit("b", range(8), broken=["t1", "t2"], reproduced=["r1", "r2"], size=1)
    assert best(many, wins) == ("a", "regression tests")


def test_then_the_reproduction_score():
    wins = edit("a", [9], broken=[], reproduced=["r1", "r2", "r3"], size=50)
    many = edit("b", range(8), broken=[], reproduced=["r1"], size=1)
    assert [e.score for e in scored([wins, many])] == [1 * 9, 8 * 1]
    assert best(many, wins) == ("a", "reproduction tests")


def test_the_score_counts_samples_that_agree_on_the_tests():
    alone = edit("a", [0, 1], broken=[], reproduced=["r1", "r2"])
    pair = [
        edit("b", [2], broken=[], reproduced=["r3", "r4"]),
        edit("c", [3, 4], broken=[], reproduced=["r4", "r3"]),
    ]
    assert {e.group: e.score for e in scored([alone, *pair])} == {"a": 2 * 4, "b": 3 * 4, "c": 3 * 4}
    assert best(alone, *pair) == ("c", "majority")
    # an edit that breaks more lends no votes
    worse = edit("d", range(5, 9), broken=["t"], reproduced=["r1", "r2"])
    assert next(e.score for e in scored([alone, worse, *pair]) if e.group == "a") == 8


def test_why_another_than_the_edit_that_passes_most_is_chosen():
    many = edit("a", range(5), broken=[], reproduced=["r1", "r2"])
    most = edit("b", [9], broken=[], reproduced=["r1", "r2", "r3"])
    order, _, decided = rerank([most, many])
    assert (order[0].group, decided) == ("a", "reproduction tests")
    assert passes(order[0]) == ", which passes 2 reproduction tests"
    said = why_not_most(order)
    assert (
        "another edit passes 3" in said and "5 x 2² = 20 for the chosen" in said and "1 x 3² = 9 for" in said
    )
    assert why_not_most([most, many]) == why_not_most([edit("c", [1])]) == passes(edit("c", [1])) == ""


def test_then_the_majority():
    assert best(edit("a", [0], size=1), edit("b", [1, 2], size=9)) == ("b", "majority")


def test_then_the_smaller_edit():
    assert best(edit("a", [0], size=3), edit("b", [1], size=2)) == ("b", "smaller edit")


def test_then_the_first_sample():
    assert best(edit("a", [1]), edit("b", [0])) == ("b", "first sampled")


def test_one_edit_needs_no_rule():
    order, steps, decided = rerank([edit("a", [0])])
    assert (order[0].group, steps, decided) == ("a", [], "the only edit")


EDITS = st.lists(
    st.tuples(
        st.integers(1, 4), st.sets(st.sampled_from("tuv")), st.sets(st.sampled_from("rsq")), st.integers(1, 4)
    ),
    min_size=1,
    max_size=7,
)


@given(EDITS, st.randoms())
def test_the_order_of_the_edits_does_not_matter(raw, random):
    numbers = itertools.count()
    edits = [
        edit(f"g{i}", [next(numbers) for _ in range(n)], broken=sorted(b), reproduced=sorted(r), size=s)
        for i, (n, b, r, s) in enumerate(raw)
    ]
    order, steps, decided = rerank(edits)
    shuffled = list(edits)
    random.shuffle(shuffled)
    assert rerank(shuffled) == (order, steps, decided)
    for (
        name,
        measure,
    ) in RULES:  # the best is never worse than another by the first rule that tells them apart
        assert measure(order[0]) <= min(measure(e) for e in order)
        if name == decided or decided == "the only edit":
            break
        order = [e for e in order if measure(e) == measure(order[0])]
    # the score by its definition, written a second time
    for one in scored(edits):
        same = [
            e for e in edits if len(e.broken) == len(one.broken) and set(e.reproduced) == set(one.reproduced)
        ]
        assert one.score == sum(len(e.samples) for e in same) * len(one.reproduced) ** 2
