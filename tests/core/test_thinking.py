"""Thoughts of every kind are left out alike, and of gpt-oss's channels only the final one is the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop_verify.core.text import THOUGHTS, without_thinking

PARTS = ["<think>", "</think>", "\n", " ", "a", "```\n", "'", "# ", "def f(x):\n"]


@given(st.lists(st.sampled_from(PARTS), max_size=10).map("".join), st.sampled_from(THOUGHTS))
def test_every_kind_of_thought_is_read_like_the_first(text: str, kind: tuple[str, str]) -> None:
    def renamed(given: str) -> str:
        return given.replace("<think>", kind[0]).replace("</think>", kind[1])

    assert without_thinking(renamed(text)) == renamed(without_thinking(text))


@pytest.mark.parametrize("kind", THOUGHTS, ids=str)
def test_a_thought_that_does_not_end_leaves_nothing(kind: tuple[str, str]) -> None:
    assert without_thinking(f"{kind[0]}\nI would write `x = 1`.") == ""


def test_tags_in_angle_brackets_count_in_any_case() -> None:
    assert without_thinking("<Think>no</THINK>\nx = '<THOUGHT>'") == "x = '<THOUGHT>'"


ANALYSIS = "<|channel|>analysis<|message|>x = 1?"
CALL = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}'
FINAL = "<|channel|>final<|message|>x = 2"


@pytest.mark.parametrize(
    "between", ["<|end|><|start|>assistant", "assistant"], ids=["whole", "without markers"]
)
@pytest.mark.parametrize("end", ["", "<|return|>", "<|end|>\n"])
def test_the_final_channel_is_the_answer(between: str, end: str) -> None:
    for text in (
        f"{ANALYSIS}{between}{FINAL}{end}",
        f"<|start|>assistant{FINAL}{end}",
        f"x = 1?{between}{FINAL}{end}",  # the prompt began the thought
        f"{ANALYSIS}{between}{CALL}<|call|>{between}{FINAL}{end}",
    ):
        assert without_thinking(text) == "x = 2", text
    assert without_thinking(ANALYSIS) == without_thinking(f"{ANALYSIS}{between}") == ""
    assert without_thinking(f"{ANALYSIS}{between}{CALL}").endswith(CALL)


def test_code_may_hold_what_heads_a_channel() -> None:
    for code in (f"x = '<|start|>assistant{FINAL}'", f"x = '{FINAL}'", f'split("assistant{FINAL}")'):
        assert without_thinking(code) == code
    assert (
        without_thinking(f"{ANALYSIS}<|end|><|start|>assistant{FINAL}\ny = '{FINAL}'")
        == f"x = 2\ny = '{FINAL}'"
    )


@pytest.mark.parametrize(
    "part",
    [
        "<|channel|>",
        "assistant",
        "assistant<|channel|>analysis",
        "<Think>",
        "[/THINK]",
        "<channel|>\n",
        "<|end|> ",
    ],
)
def test_hostile_text_takes_time_linear_in_its_length(part: str) -> None:
    assert isinstance(without_thinking(part * 60_000), str)
