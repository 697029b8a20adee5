"""The split: stable, content-based, near-duplicates on one side, and no pair missed."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.tasks import assign_splits, load_tasks
from strop.tasks.splits import alike_statements, clusters, code_shingles, near_duplicates, similar_pairs
from strop_verify.core.checks import AssertsCheck
from strop_verify.core.task import Task

sets = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=8), max_size=25)


def task(statement: str, reference: str = "", split: str | None = None) -> Task:
    check = AssertsCheck(entry_point="f", code=f"assert f() == {len(statement)}")
    return Task.model_validate(
        {"statement": statement, "reference": reference, "check": check, "split": split}
    )


words = st.lists(st.sampled_from(["red", "green", "blue", "one", "two"]), min_size=1, max_size=5).map(
    " ".join
)
task_lists = st.lists(words, max_size=12, unique=True).map(lambda ws: [task(w) for w in ws])


@given(sets, st.sampled_from([0.1, 0.34, 0.5, 0.6, 0.85, 1.0]))
def test_similar_pairs_finds_what_comparing_all_pairs_finds(items, threshold):
    expected = {
        (a, b)
        for a, b in combinations(range(len(items)), 2)
        if items[a] and items[b] and len(items[a] & items[b]) >= threshold * len(items[a] | items[b])
    }
    found = list(similar_pairs(items, threshold))
    assert set(found) == expected and len(found) == len(expected)


@given(task_lists, st.integers(0, 3))
def test_near_duplicates_are_on_one_side_and_order_does_not_matter(tasks, seed):
    split = {t.id: t.split for t in assign_splits(tasks, 0.5, seed)}
    for a, b in near_duplicates(tasks):
        assert split[tasks[a].id] == split[tasks[b].id]
    assert {t.id: t.split for t in assign_splits(tasks[::-1], 0.5, seed)} == split
    assert [t.id for t in assign_splits(tasks, 0.5, seed)] == [t.id for t in tasks]


@given(task_lists, words)
def test_a_new_task_moves_only_the_clusters_that_it_joins(tasks, words):
    new = task(words + " and more words that are new")
    before = {t.id: t.split for t in assign_splits(tasks, 0.5)}
    after = assign_splits([*tasks, new], 0.5)
    joined = next(c for c in clusters([*tasks, new]) if len(tasks) in c)
    for i, one in enumerate(after[:-1]):
        assert i in joined or one.split == before[one.id]


@given(task_lists)
def test_fractions_at_the_ends(tasks):
    assert {t.split for t in assign_splits(tasks, 0.0)} <= {"train"}
    assert {t.split for t in assign_splits(tasks, 1.0)} <= {"held-out"}


def test_a_declared_split_stays_and_draws_its_near_duplicates():
    text = "Return the sum of all even numbers of the list"
    tasks = [
        task(text, split="held-out"),
        task(text + "."),
        task("Something else entirely, with no likeness"),
    ]
    assert [t.split for t in assign_splits(tasks, 0.0)] == ["held-out", "held-out", "train"]


def test_code_is_compared_without_the_authors_names_and_constants():
    one = "def f(numbers):\n    total = 0\n    for n in numbers:\n        total += n * 2\n    return total\n"
    other = "def g(xs: list[int]) -> int:\n    s = 5\n    for x in xs:\n        s += x * 3\n    return s\n"
    assert code_shingles(one) == code_shingles(other)
    assert code_shingles(one) != code_shingles(one.replace("*", "-"))
    assert code_shingles("def f(") == frozenset()


def test_small_code_is_compared_with_its_constants():
    assert code_shingles("def f(x):\n    return x[0]") != code_shingles("def f(x):\n    return x[-1]")


def test_python_functions_are_split_near_the_fraction_in_small_clusters():
    tasks = load_tasks("python-functions", held_out_fraction=0.35)
    share = sum(t.split == "held-out" for t in tasks) / len(tasks)
    assert share == pytest.approx(0.35, abs=0.06)
    assert max(map(len, clusters(tasks))) < 12
    train = {t.reference.partition("\n")[2] for t in tasks if t.split == "train"}
    held_out = {t.reference.partition("\n")[2] for t in tasks if t.split == "held-out"}
    assert not train & held_out  # no body that was trained on solves a held-out task


@given(st.lists(st.sampled_from(["p", "q", "r", None]), max_size=10), st.integers(0, 3))
def test_declared_pairs_are_on_one_side(pairs, seed):
    alphabet = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
    tasks = [
        task(alphabet[i] * 2).model_copy(update={"metadata": {} if pair is None else {"pair": pair}})
        for i, pair in enumerate(pairs)
    ]
    split = assign_splits(tasks, 0.5, seed)
    for a, b in combinations(range(len(tasks)), 2):
        if pairs[a] is not None and pairs[a] == pairs[b]:
            assert split[a].split == split[b].split
    assert len(clusters(tasks)) == len({p for p in pairs if p}) + pairs.count(None)


def test_a_declared_split_moves_the_pair():
    tasks = [task("red").model_copy(update={"metadata": {"pair": "p"}, "split": "held-out"})]
    tasks += [task("blue").model_copy(update={"metadata": {"pair": "p"}})]
    assert [t.split for t in assign_splits(tasks, 0.0)] == ["held-out", "held-out"]


@given(st.integers(0, 30), st.integers(1, 30))
def test_a_template_makes_no_statements_alike(first, count):
    told = [
        f"Implement `f{n}` in part_{n}.py: write its body, so that it does what is said." for n in range(60)
    ]
    tasks = [task(statement) for statement in told]
    assert {one.split for one in assign_splits(tasks)} == {"train", "held-out"}
    assert alike_statements(tasks[first : first + count], tasks[:first] + tasks[first + count :]) == []
    assert alike_statements(tasks[:count], [*reversed(tasks)]) == [*range(count)]


def test_few_statements_have_no_template():
    tasks = [task(f"Return the sum of all even numbers of the list, times {n}.") for n in range(10)]
    assert alike_statements(tasks[:5], tasks[5:]) == [*range(5)]
