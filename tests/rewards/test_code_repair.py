"""The published rewards of CodeRepairRL against a plain reading of their definitions; each of their bugs by name."""

import random
import re
import time
from difflib import SequenceMatcher

import pytest
from tests.rewards.edit_pairs import edited, made_text, real_pairs

from strop_tasks.published import code_repair as cr
from strop_tasks.published.blocks import published_blocks

ONE = "<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE"
TWO = ONE + "\n\n" + ONE.replace("a", "b").replace("SEbRCH", "SEARCH").replace("REPLbCE", "REPLACE")


def partial(text: str) -> float:
    score = 0.0
    for tag in ("<think>\n", "\n</think>\n", "\n<answer>\n", "\n</answer>"):
        score += 0.25 * (text.count(tag) == 1)
    if text.count("<think>\n") == 1:
        score -= 0.001 * len(text.split("<think>\n")[0])
    if text.count("\n</answer>") == 1:
        score -= 0.001 * len(text.split("\n</answer>")[1])
    return max(score, 0.0)


def strict(text: str) -> float:
    expression = r"^<think>\n([\s\S]+?)\n</think>\n<answer>\n([^\n]+)\n</answer>\s*$"
    return float(re.match(expression, text) is not None)


def blocks_mean(made: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> float:
    if not made and not wanted:
        return 1.0
    if not made or not wanted:
        return 0.0
    total = 0.0
    for index in range(max(len(made), len(wanted))):
        a = made[index] if index < len(made) else ("", "")
        b = wanted[index] if index < len(wanted) else ("", "")
        total += sum(SequenceMatcher(None, a[k].splitlines(), b[k].splitlines()).ratio() for k in (0, 1)) / 2
    return total / max(len(made), len(wanted))


def quality(text: str) -> float:
    """The graded format as defined; two blocks or more do not parse, which is bug 3."""
    if not text:
        return 0.0
    score = 1 - 0.4 * ("SEARCH" not in text) - 0.4 * ("REPLACE" not in text)
    score -= 0.2 * ("=======" not in text and "DIVIDER" not in text)
    if score < 0.5:
        return max(0.0, score)
    searches, replaces, dividers = (text.count(word) for word in ("SEARCH", "REPLACE", "======="))
    perfect = r"<<<<<<< SEARCH\n.*?\n=======\n.*?\n>>>>>>> REPLACE"
    if re.search(perfect, text, re.S) and searches == replaces == 1:
        return 1.0
    costs = {
        0.1: [
            "<<<<<<< SEARCH" not in text and re.search(r"<<+\s*SEARCH", text),
            ">>>>>>> REPLACE" not in text and re.search(r">>+\s*REPLACE", text),
            re.search(r"<< SEARCH|>> REPLACE", text),
            re.search(r"SEARCH[^\n]|REPLACE[^\n]", text),
        ],
        0.05: [re.search(r"SEARCH\s+[^\n]", text), re.search(r"REPLACE\s+[^\n]", text), re.search(r"=+\s+\n", text)],
        0.15: [searches > 1 and searches != dividers, replaces > 1 and replaces != dividers],
        0.3: [re.search(r"REPLACE.*?SEARCH", text, re.S) and not re.search(r"SEARCH.*?REPLACE", text, re.S)],
    }  # fmt: skip
    score -= sum(cost * sum(map(bool, faults)) for cost, faults in costs.items())
    if searches and replaces:
        standard = r"<<<+\s*SEARCH\s*>*\n(.*?)\n=+\n(.*?)\n>>>+\s*REPLACE\s*<*"
        if not published_blocks(text):
            score -= 0.2
        elif not re.search(standard, text, re.S):
            score -= 0.1
    return min(1.0, max(0.0, score))


def unified(oracle: str, made: str) -> float:
    def files(text: str) -> dict[str, str]:
        parts = [part.strip() for part in re.split(r"(?m)(?=^diff --git)", text)]
        found = {}
        for part in filter(None, parts):
            name = re.search(r"diff --git a/(.*) b/", part.splitlines()[0])
            found[name[1] if name else ""] = part
        return found

    a, b = files(oracle), files(made)
    return sum(SequenceMatcher(None, a[p], b[p]).ratio() for p in a if p in b) / (max(len(a), len(b)) or 1)


def test_reasoning_on_made_texts() -> None:
    rng = random.Random(1)
    tags = ["<think>", "</think>", "<answer>", "</answer>", "x", "", "y z", "\t"]
    seen = 0.0
    for _ in range(2_500):
        text = "".join(
            rng.choice(tags) + rng.choice(["\n", "\n", "\n", ""]) for _ in range(rng.randint(0, 9))
        )
        if rng.random() < 0.5:
            inner = [rng.choice(["x\ny", "x", "", "\n"]) for _ in range(2)]
            text = (
                f"<think>\n{inner[0]}\n</think>\n<answer>\n{inner[1]}\n</answer>{rng.choice(['', ' ', 'x'])}"
            )
        assert cr.partial_reasoning(text) == pytest.approx(partial(text), abs=1e-9), text
        assert cr.strict_reasoning(text) == strict(text), text
        seen += strict(text)
    assert seen > 100


def test_similarity_of_blocks() -> None:
    rng = random.Random(2)

    def blocks() -> list[tuple[str, str]]:
        return [(made_text(rng, 6), made_text(rng, 6)) for _ in range(rng.randint(0, 3))]

    for _ in range(2_500):
        wanted = blocks()
        made = blocks() if rng.random() < 0.3 else [(a, edited(rng, b)) for a, b in wanted]
        assert cr.sr_similarity(made, wanted) == pytest.approx(blocks_mean(made, wanted), abs=1e-9)


def test_single_blocks_through_their_text() -> None:
    """Texts without blank lines or outer indentation, which the published parser reads as they are meant."""
    rng = random.Random(3)

    def part() -> str:
        lines = [rng.choice(["x = 1", "return y", "a", "b"]) for _ in range(rng.randint(1, 5))]
        return "\n".join(lines)

    for _ in range(2_000):
        made, wanted = [(part(), part())], [(part(), part())]
        score = cr.published_sr_similarity(cr.blocks_text(made), cr.blocks_text(wanted))
        assert score == pytest.approx(blocks_mean(made, wanted), abs=1e-9)
        said = f"<think>\nx\n</think>\n<answer>\n```python\n{cr.blocks_text(made)}\n```\n</answer>"
        assert published_blocks(cr.answer_of(said)) == made


WORDS = [
    "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "<< SEARCH", "<<<SEARCH", "<<<< SEARCH >>",
    ">> REPLACE", ">>>REPLACE",
    ">>>> REPLACE <<", "====", "======= ", "DIVIDER", "a = 1", "    b", "", "missing divider", "SEARCH", "REPLACE",
    "<<<<<<< SEARCH ", ">>>>>>> REPLACE ", "\r", "<", "> ",
]  # fmt: skip


def made_format(rng: random.Random) -> str:
    text = "\n".join(rng.choice(WORDS) for _ in range(rng.randint(0, 12)))
    return rng.choice([text, text, ONE, TWO, ONE + "\n" + text, text + "\n" + ONE])


def test_format_of_made_texts() -> None:
    rng = random.Random(4)
    for _ in range(3_000):
        text = made_format(rng)
        assert cr.sr_format(text) == pytest.approx(quality(text), abs=1e-9), text


def test_unified_diffs() -> None:
    rng = random.Random(5)
    lines = [
        "diff --git a/x b/x",
        "diff --git a/y b/y",
        "diff --git a/z",
        "-a",
        "+b",
        " c",
        "",
        "@@ -1 +1 @@",
    ]
    lines.append(" diff --git a/x b/x")
    for _ in range(2_000):
        a, b = ("\n".join(rng.choices(lines, k=rng.randint(0, 25))) for _ in range(2))
        assert cr.unified_diff_similarity(a, b) == pytest.approx(unified(a, b), abs=1e-9), (a, b)
    assert cr.unified_diff_similarity("", "") == 0.0
    assert cr.unified_diff_similarity("diff --git a/x b/x\n+a", "diff --git a/x b/x\n+a") == 1.0


def test_oracle_blocks_of_real_pairs() -> None:
    pairs = real_pairs()
    for before, after in pairs[:120]:
        blocks = cr.blocks_between(before, after)
        known = {line.rstrip() for line in (*before.splitlines(), *after.splitlines(), "")}
        assert bool(blocks) == (before != after)
        assert {line.rstrip() for a, b in blocks for line in (*a.split("\n"), *b.split("\n"))} <= known
        assert cr.sr_similarity(blocks, blocks) == 1.0


def test_context_of_oracle_blocks() -> None:
    before, after = "a\nb  \nc\nd\n", "a\nb\nx\nd\n"
    assert cr.blocks_between(before, after) == [("c", "x")]
    assert cr.blocks_between(before, after, 1) == [("b\nc\nd", "b\nx\nd")]
    assert cr.blocks_between("a\n", "a\n ") == [("", " ")] and cr.blocks_between("a", "a \n") == [
        ("a", "a \n")
    ]
    assert cr.blocks_between("", "a") == [("", "a")] and cr.blocks_between("a", "a") == []


def test_answers() -> None:
    assert cr.answer_of("no tags") == "N/A"
    assert cr.answer_of("<answer> open end ") == "open end"
    assert cr.answer_of("<answer>\n```py\nx\n```\n```\ny\n```\n</answer>\nz") == "x\n"
    assert cr.answer_of("<answer>\n```py\nx\n</answer>") == "```py\nx"


def test_bug_strict_reasoning_never_pays_an_edit() -> None:
    one, many = (f"<think>\nx\n</think>\n<answer>\n{a}\n</answer>" for a in ("CWE-79", f"```\n{ONE}\n```"))
    assert (cr.strict_reasoning(one), cr.strict_reasoning(many)) == (1.0, 0.0)


def test_bug_two_blocks_are_none() -> None:
    assert len(published_blocks(ONE)) == 1 and published_blocks(TWO) == []
    assert cr.published_sr_similarity(TWO, TWO.replace("2", "3")) == 1.0
    assert cr.published_sr_similarity(ONE, TWO) == 0.0
    assert cr.sr_format(ONE) == 1.0 and cr.sr_format(TWO) == pytest.approx(0.6)


def test_bug_blank_lines_cut_blocks() -> None:
    assert published_blocks(ONE.replace("a = 1", "a = 1\n\nb = 1")) == []


def test_bug_the_first_indentation_is_lost() -> None:
    indented = ONE.replace("a = ", "    a = ")
    assert published_blocks(indented) == [("a = 1", "a = 2")]
    assert cr.published_sr_similarity(indented, ONE) == 1.0


def test_bug_a_string_of_the_tests_is_special() -> None:
    assert published_blocks("<<<<<<< SEARCH\na\nb\n>>>>>>> REPLACE") == [("a", "b")]
    assert published_blocks("<<<<<<< SEARCH\nmissing divider\nb\n>>>>>>> REPLACE") == []


def test_hostile_text_takes_little_time() -> None:
    started = time.monotonic()
    units = [
        "<",
        "<<<SEARCH\n",
        "\n=\n",
        "REPLACE",
        "SEARCH ",
        ">>>> REPLACE\n",
        "SEARCH\n \n",
        "diff --git a/",
        "= ",
        "\n",
    ]
    for unit in units:
        text = unit * (300_000 // len(unit))
        for hostile in (
            text,
            "<<<<<<< SEARCH" + text + "=======\n>>>>>>> REPLACE",
            "<<<SEARCH\n=====" + text,
        ):
            cr.sr_format(hostile)
            cr.published_sr_similarity(hostile, ONE)
            cr.unified_diff_similarity(ONE, hostile)
            cr.partial_reasoning(hostile), cr.strict_reasoning(hostile), cr.answer_of("<answer>" + hostile)
    assert time.monotonic() - started < 100
