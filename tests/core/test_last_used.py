"""The memory of the last results, against a list that is searched."""

from hypothesis import given
from hypothesis import strategies as st

from strop_verify.core.last_used import LastUsed


@given(st.integers(1, 4), st.lists(st.integers(0, 6)))
def test_the_results_used_last_are_kept(most: int, asked: list[int]) -> None:
    known, made, recent = LastUsed[int, str](most), list[int](), list[int]()

    def make(key: int) -> str:
        made.append(key)
        return f"result {key}"

    for key in asked:
        before = len(made)
        assert known.get(key, lambda key=key: make(key)) == f"result {key}"
        assert (len(made) == before) == (key in recent)
        recent = [*(one for one in recent if one != key), key][-most:]


def test_what_fails_is_asked_again() -> None:
    known = LastUsed[str, int](2)
    for _ in range(2):
        try:
            known.get("a", lambda: 1 // 0)
        except ZeroDivisionError:
            continue
        raise AssertionError("the error was lost")
    assert known.get("a", lambda: 3) == known.get("a", lambda: 4) == 3
