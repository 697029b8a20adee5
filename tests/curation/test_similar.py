"""Shingles, MinHash, the exact search, clusters, normal forms and tests of tasks."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.tasks.splits import joined, similar_pairs
from strop_tasks.curation.similar.form import form
from strop_tasks.curation.similar.hashes import jaccard, set_of, shingled, shingles, words
from strop_tasks.curation.similar.leaks import Grams
from strop_tasks.curation.similar.minhash import near, rows_of
from strop_tasks.curation.similar.store import Store
from strop_tasks.curation.similar.table import agreement, numbers_of, plain_words, prose_of
from strop_tasks.curation.similar.table import tests_of as read_tests
from strop_tasks.curation.steps.split import clusters
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, CommandCheck, CommandStep
from strop_verify.core.task import Task

TOKENS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=9)


@given(st.lists(TOKENS, max_size=6), st.integers(1, 4))
def test_shingles_are_the_runs_of_tokens_and_many_texts_at_once_give_the_same(texts, width) -> None:
    def runs(tokens):
        size = min(width, len(tokens))
        return {tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)} if tokens else set()

    flat, sizes = shingled(texts, width)
    parts = np.split(flat, np.cumsum(sizes)[:-1]) if texts else []
    for text, part in zip(texts, parts, strict=True):
        assert part.tolist() == sorted(set(shingles(text, width).tolist()))
        assert len(part) == len(runs(text))
    for a in texts:
        for b in texts:
            both, either = len(runs(a) & runs(b)), len(runs(a) | runs(b))
            assert jaccard(shingles(a, width), shingles(b, width)) == (both / either if either else 0)


def test_minhash_finds_nearly_all_pairs_and_no_false_one(tmp_path) -> None:
    r = random.Random(0)
    texts: list[list[str]] = []
    for number in range(1500):
        text = [f"w{r.randrange(400)}" for _ in range(r.randint(0, 60))]
        if number % 3 == 2 and len(texts[-1]) > 9:
            text = list(texts[-1])
            for _ in range(r.randint(0, 2)):
                text[r.randrange(len(text))] = "new"
        texts.append(text)
    sets = [shingles(t, 2) for t in texts]
    store = Store(tmp_path / "s")
    for one in sets:
        store.append(one)
    truth = set(similar_pairs([frozenset(s.tolist()) for s in sets], 0.7))
    found = {(p.a, p.b): p.similarity for p in near(store.seal(), 0.7)}
    assert set(found) <= truth
    assert all(found[a, b] == pytest.approx(jaccard(sets[a], sets[b])) for a, b in found)
    assert len(found) >= 0.98 * len(truth) > 300


def test_a_store_of_nothing_has_no_pairs(tmp_path) -> None:
    store = Store(tmp_path / "s")
    for _ in range(3):
        store.append(set_of([]))
    assert list(near(store.seal(), 0.5)) == []
    assert 1 - (1 - 0.8 ** rows_of(0.8)) ** (128 // rows_of(0.8)) >= 0.94


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=14))
def test_joined_are_the_connected_components(edges) -> None:
    found = joined(12, edges)
    reach = {i: {i} for i in range(12)}
    for _ in range(12):
        for a, b in edges:
            both = reach[a] | reach[b]
            for i in both:
                reach[i] = reach[i] | both
    assert found == [min(reach[i]) for i in range(12)]


SAME = [
    (
        "def f(a, b):\n    return a + b if a > b else b\n",
        "def g(x, y):\n    'Doc.'\n    # why\n    return (x + y\n      if y < x else y)\n",
    ),
    (
        "def f(a):\n    s = 0\n    for x in a:\n        s += x\n    return s\n",
        "def f(zz: list) -> int:\n    t: int = 0\n    for q in zz: t = t + q\n    return t",
    ),
    (
        "import math\ndef f(a):\n    return math.sqrt(a)\n",
        "from math import sqrt as root\ndef f(v):\n    return root(v)\n",
    ),
    ("print(int(input()) * 2)", "if __name__ == '__main__':\n    print(int(input()) * 2)\n"),
]
OTHER = [
    ("def f(a):\n    return a > 2\n", "def f(a):\n    return a >= 2\n"),
    ("def f(a):\n    return a - 1\n", "def f(a):\n    return 1 - a\n"),
    ("def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n"),
    ("def f(a):\n    return max(a)\n", "def f(a):\n    return min(a)\n"),
    (
        "def f(a):\n    x = a[0]\n    y = a[1]\n    return x\n",
        "def f(a):\n    x = a[0]\n    y = a[1]\n    return y\n",
    ),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_the_same_program_has_one_form(one, two) -> None:
    assert form(one).exact == form(two).exact != 0


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_another_program_has_another_form(one, two) -> None:
    assert form(one).exact != form(two).exact


def test_a_constant_changes_the_form_and_not_the_shape() -> None:
    one, two = form("def f(a):\n    return a % 7\n"), form("def f(b):\n    return b % 9\n")
    assert one.exact != two.exact
    assert one.shape == two.shape


TOKENS_ONLY = [
    (
        "rust",
        "fn a(x: i64) -> i64 { let mut s = 0; s += x; s } // N",
        "fn b(yy: i64) -> i64 {\n let mut t = 0; /* k */ t += yy; t }",
        ("+=", "-="),
    ),
    (
        "c",
        "int f(int n) { int t = 0; for (int i = 0; i < n; i++) t += i; return t; }",
        "int g(int k)\n{ int acc = 0; for (int j = 0; j < k; j++) acc += j; return acc; }",
        ("<", "<="),
    ),
    (
        "javascript",
        "function f(a, b) { return Math.max(a, b); }",
        "function h(u, v) { // c\n return Math.max(u, v); }",
        ("max", "min"),
    ),
    ("python", "def f(a):\n    print a + 1\n", "def g(b): # python 2\n    print b + 1\n", ("+", "-")),
]


@pytest.mark.parametrize(("language", "one", "two", "change"), TOKENS_ONLY)
def test_tokens_serve_where_there_is_no_tree(language, one, two, change) -> None:
    assert form(one, language).exact == form(two, language).exact
    assert form(one, language).exact != form(two.replace(*change), language).exact


@given(st.text(max_size=200))
def test_any_text_has_a_form(text) -> None:
    for language in ("python", "rust", "c", "elvish"):
        assert form(text, language).size >= 0


def test_hostile_source_takes_no_time_to_speak_of() -> None:
    n = 50_000
    for text in (
        "a" * n,
        "def " * n,
        "a<b " * n,
        "(" * n,
        "x = " + "-" * n + "1",
        "```" * n,
        "f(" * n + ")" * n,
    ):
        for language in ("python", "c"):
            assert form(text, language).size >= 0
        assert prose_of(text)


def test_words_keep_numbers_and_operators() -> None:
    assert words("Sum  a+b, not a-b!\n- item") == ["sum", "a", "+", "b", "not", "a", "-", "b", "item"]
    assert numbers_of("The three values over 5.\nExample: f(9)") == ["3", "5"]
    assert prose_of("Add.\n>>> add(1)\n2").split() == prose_of("Add.\n> add(1)\n2").split() == ["Add."]
    assert plain_words("Write a python function to split a string, using regex.") == ["split", "string"]
    assert plain_words("Write a function to") == ["write", "a", "function", "to"]


def cases(*pairs) -> Task:
    listed = [Case(args=[a], expected=b) for a, b in pairs]
    return Task(statement="", check=CasesCheck(entry_point="f", cases=listed))


def test_commands_with_other_files_do_not_contradict() -> None:
    def command(calls: str, out: str) -> Task:
        step = CommandStep(stage="test", argv=["node", "run.js"], stdout=out)
        return Task(statement="", check=CommandCheck(path="a.js", files={"calls.json": calls}, steps=[step]))

    assert agreement(read_tests(command("f(1)", "1")), read_tests(command("f(1)", "2"))).contradict
    assert not agreement(read_tests(command("f(1)", "1")), read_tests(command("f(2)", "2"))).contradict


def test_tests_agree_contradict_or_say_nothing() -> None:
    many = [(n, n * n) for n in range(8)]
    same = agreement(read_tests(cases(*many)), read_tests(cases(*many)))
    assert (same.shared, same.agreeing, same.bits, same.share) == (8, 8, 24, 1)
    wrong = agreement(read_tests(cases(*many)), read_tests(cases((3, 10), (4, 16))))
    assert wrong.contradict
    dull = agreement(
        read_tests(cases(*((n, True) for n in range(8)))), read_tests(cases((1, True), (2, True)))
    )
    assert dull.bits == 0
    assert agreement(read_tests(cases((1, 2.0))), read_tests(cases((1, 2)))).agreeing == 1
    code = "assert f(1) == 2\nassert not f([3])\nassert f((4,)) is True\nassert abs(f(2) - 1) < 1e-6"
    read = read_tests(Task(statement="", check=AssertsCheck(entry_point="f", code=code)))
    assert len(read.inputs) == 4
    assert agreement(read, read_tests(cases((1, 2), ([3], False), ([4], True)))).agreeing == 3


def test_common_grams_are_not_counted_and_copies_do_not_make_them_common() -> None:
    item = set_of(range(10))
    grams = Grams([item, set_of([100])])
    tasks = [set_of([0, 1, 1000 + n]) for n in range(30)] + [item] * 30
    for task in tasks:
        grams.see(task)
    grams.settle(common_tasks=20, common_items=1)
    assert grams.overlaps(tasks[0]) == []
    (over,) = grams.overlaps(tasks[40])
    assert (over.item, over.shared, over.of_item, over.of_task) == (0, 8, 1.0, 0.8)


def test_clusters_hold_what_is_alike(tmp_path) -> None:
    asked = (
        "Return the sum of all the numbers in the list that are greater than {} and smaller than a thousand."
    )
    tasks = [
        cases((1, 2)).model_copy(update={"id": str(n), "statement": text})
        for n, text in enumerate(
            [asked.format(5), "Something else that has words of its own.", asked.format(6)]
        )
    ]
    assert clusters(lambda: iter(tasks), tmp_path) == [0, 1, 0]
