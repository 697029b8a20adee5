"""The edit in an answer: thinking and tags go, code that holds tags stays."""

import random
import re

from strop_verify.core.text import without_thinking
from strop_verify.edits import apply_answer, edit_in

BLOCK = "<<<<<<< SEARCH\n<answer>\n=======\n</answer>\n>>>>>>> REPLACE\n"


def test_tags_around_the_edit():
    for answer in (
        f"<answer>\n{BLOCK}</answer>",
        f"<think>\nhm\n</think>\n<answer>\n{BLOCK}</answer>\n",
        f"hm\n</think>\nSo:\n<solution>\n```\n{BLOCK}```\n</solution>\nDone.",
        f"<answer>\r\n{BLOCK}</answer>",
        BLOCK,
        f"```\n{BLOCK}```\n</answer>\n",
    ):
        assert apply_answer(answer, {"x": "<answer>\n"}, "search-replace") == {"x": "</answer>\n"}, answer


def test_the_end_may_be_missing():
    assert edit_in("So:\n<answer>\n```\nx\n") == "```\nx\n"
    assert edit_in("<solution>x") == "x"


def test_tags_in_code_are_code():
    html = "<html>\n<answer>\n42\n</answer>\n</html>\n"
    assert apply_answer(f"Here:\n```html\n{html}```\n", {"x": ""}, "whole-file") == {"x": html}
    assert edit_in("x = '<answer>'") == "x = '<answer>'"


def test_an_unfinished_thought_has_no_edit():
    assert edit_in(f"<think>\n{BLOCK}") == ""


def test_thinking_goes_up_to_its_end():
    def plain(text: str) -> str:
        while text.lstrip().startswith("<think>"):
            text = text.partition("</think>")[2].lstrip(" ").lstrip("\r\n")
        before, close, _ = text.partition("</think>")
        if not close or "<think>" in before:
            return text
        parts = re.split("</think>", re.sub(r"(</think>\s*)+\Z", "", text))
        unopened = [at for at, part in enumerate(parts[:-1]) if "<think>" not in part]
        if not unopened:
            return ""
        rest = "</think>".join(parts[unopened[-1] + 1 :]).lstrip(" ").lstrip("\r\n")
        return plain(rest) if rest.lstrip().startswith("<think>") else rest

    rng = random.Random(1)
    for _ in range(5000):
        text = "".join(
            rng.choice(["<think>", "</think>", "\n", "\r\n", " ", "a"]) for _ in range(rng.randrange(9))
        )
        assert without_thinking(text) == plain(text), repr(text)
