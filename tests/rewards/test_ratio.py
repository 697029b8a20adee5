"""The compiled ratio gives difflib's numbers, bit for bit."""

import difflib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rewards.edit_pairs import HOSTILE, edited, made_text, real_pairs
from tests.scale import most

from strop_tasks.published.ratio import changed_lines, lines_ratio, ratio, unified_diff


def slow(a, b, autojunk: bool) -> float:
    return difflib.SequenceMatcher(None, a, b, autojunk=autojunk).ratio()


def slow_diff(a: str, b: str) -> str:
    return "\n".join(list(difflib.unified_diff(a.splitlines(), b.splitlines(), lineterm="", n=3))[2:])


@given(st.text("ab\n \ud800é", max_size=60), st.text("ab\n \ud800é", max_size=60), st.booleans())
def test_small_alphabets(a: str, b: str, autojunk: bool) -> None:
    assert ratio(a, b, autojunk=autojunk) == slow(a, b, autojunk)
    assert lines_ratio(a, b, autojunk=autojunk) == slow(a.splitlines(), b.splitlines(), autojunk)


LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x1f\x84\x85\x86\u2027\u2028\u2029\u202a\t\0 ab"


@given(st.text(LINE_ENDS, max_size=40), st.text(LINE_ENDS, max_size=40), st.booleans())
def test_lines_end_where_splitlines_ends_them(a: str, b: str, autojunk: bool) -> None:
    assert lines_ratio(a, b, autojunk=autojunk) == slow(a.splitlines(), b.splitlines(), autojunk)


@pytest.mark.parametrize("length", [198, 199, 200, 201, 260, 500])
def test_around_the_length_where_autojunk_begins(length: int) -> None:
    rng = random.Random(length)
    for _ in range(20):
        letters = "abcdefghijklmnop \n"[: rng.randint(2, 18)]
        b = "".join(rng.choices(letters, k=length))
        a = edited(rng, b) if rng.random() < 0.5 else "".join(rng.choices(letters, k=rng.randint(0, 300)))
        for autojunk in (True, False):
            assert ratio(a, b, autojunk=autojunk) == slow(a, b, autojunk)


def test_many_texts_and_their_diffs() -> None:
    rng = random.Random(7)
    for _ in range(most(2_000, 400)):
        before = made_text(rng, 12)
        a, b = edited(rng, before), edited(rng, before)
        first, second = unified_diff(before, a), unified_diff(before, b)
        assert (first, second) == (slow_diff(before, a), slow_diff(before, b))
        assert ratio(first, second, autojunk=False) == slow(first, second, False)
        assert ratio(first, second) == slow(first, second, True)


def test_many_lines_where_autojunk_acts_on_lines() -> None:
    rng = random.Random(3)
    for _ in range(10):
        before = "\n".join(rng.choice(["a", "b", f"line {rng.randint(0, 400)}"]) for _ in range(400))
        after = edited(rng, before, 40)
        assert unified_diff(before, after) == slow_diff(before, after)
        old, new = before.splitlines(), after.splitlines()
        codes = difflib.SequenceMatcher(None, old, new).get_opcodes()
        assert changed_lines(old, new) == [tuple(c[1:]) for c in codes if c[0] != "equal"]


@pytest.mark.parametrize("length", [1, 30, 199, 200, 201, 400])
def test_lines_of_few_and_of_many_kinds(length: int) -> None:
    rng = random.Random(length)
    for kinds in (2, 20, 400):
        for _ in range(most(10, 1)):
            b = [f"line {rng.randrange(kinds)}" for _ in range(length)]
            a = [line for line in b if rng.random() < 0.8] + [rng.choice(b)] * rng.randrange(3)
            for autojunk in (True, False):
                text = "\n".join(b)
                assert lines_ratio("\n".join(a), text, autojunk=autojunk) == slow(a, b, autojunk)
                assert lines_ratio(text, text, autojunk=autojunk) == slow(b, b, autojunk)
                assert ratio(text, text, autojunk=autojunk) == slow(text, text, autojunk)


def test_many_kinds_of_lines() -> None:
    a, b = [str(i) for i in range(60_000)], [str(i) for i in range(100, 60_000)]
    assert lines_ratio("\n".join(a), "\n".join(b)) == slow(a, b, True)


def test_real_patches() -> None:
    pairs = real_pairs()
    rng = random.Random(1)
    for before, after in rng.sample(pairs, min(60, len(pairs))):
        first, second = unified_diff(before, edited(rng, before)), unified_diff(before, after)
        assert second == slow_diff(before, after)
        for autojunk in (True, False):
            assert ratio(first[:3000], second[:3000], autojunk=autojunk) == slow(
                first[:3000], second[:3000], autojunk
            )


def test_a_common_prefix_is_not_set_aside() -> None:
    assert ratio("aaa", "abaa", autojunk=False) == pytest.approx(4 / 7)


def test_a_text_that_alternates_is_no_trap() -> None:
    a = "".join(f"{chr(200 + i)}x" for i in range(5_000))
    b = "".join(f"{chr(200 + i)}y" for i in range(5_000))
    assert ratio(a, b, autojunk=False) == 0.5


def test_odd_characters() -> None:
    for odd in HOSTILE:
        assert ratio(odd, odd + "\0", autojunk=False) == slow(odd, odd + "\0", False)
