"""The published reward of SWE-RL against a plain reading of its definition with difflib and re."""

import difflib
import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rewards.edit_pairs import HOSTILE, block, edited, made_text, real_pairs

from strop_tasks.published import swe_rl
from strop_tasks.published.swe_rl import FormatError, search_replace_reward, unidiff_reward

PATTERN = re.compile(
    r"```.*?\n### (.*)\n<<<<<<< SEARCH\n([\s\S]*?)\n=======\n([\s\S]*?)\n>>>>>>> REPLACE\n```"
)
FILES = {"a.py": "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n"}
ORACLE = {"a.py": "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n"}


def defined(files: dict[str, str], oracle: dict[str, str], output: str) -> float:
    """The definition, step by step."""
    if any(output.count(tag) != 1 for tag in ("<think>", "</think>", "<solution>", "</solution>")):
        return -1.0
    if not output.split("<think>")[1].split("</think>")[0].strip():
        return -1.0
    edits = PATTERN.findall(output.split("<solution>")[1].split("</solution>")[0].strip())
    after: dict[str, str] = {}
    for path, search, replace in edits:
        text = after.get(path, "\n" + files.get(path, ""))
        if search == replace or "\n" + search not in text:
            return -1.0
        after[path] = text.replace("\n" + search, "\n" + replace)
    if not edits:
        return -1.0
    return ratios(files, {path: text[1:] for path, text in after.items()}, oracle)


def ratios(files: dict[str, str], after: dict[str, str], oracle: dict[str, str]) -> float:
    def patches(side: dict[str, str]) -> dict[str, str]:
        made = {}
        for path, text in side.items():
            old, new = files.get(path, "").splitlines(), text.splitlines()
            made[path] = "\n".join(list(difflib.unified_diff(old, new, lineterm="", n=3))[2:])
        return {path: patch for path, patch in made.items() if patch}

    return mean_over_union(patches(after), patches(oracle))


def mean_over_union(made: dict[str, str], wanted: dict[str, str]) -> float:
    union = set(made) | set(wanted)
    if not union:
        return 1.0
    both = [p for p in union if made.get(p) and wanted.get(p)]
    total = sum(difflib.SequenceMatcher(None, made[p], wanted[p], autojunk=False).ratio() for p in both)
    return total / len(union)


def answer(*blocks: str, thought: str = "hm") -> str:
    return f"<think>\n{thought}\n</think>\n<solution>\n{''.join(blocks)}</solution>"


def made_answer(rng: random.Random, files: dict[str, str]) -> str:
    """Mostly well formed and applicable; now and then broken by hostile lines, missing tags or stray text."""
    blocks = []
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        path = rng.choice([*files, *files, "new.py"])
        lines = files.get(path, "").split("\n")
        start = rng.randrange(len(lines))
        search = "\n".join(lines[start : start + rng.randint(1, 3)])
        replace = search if rng.random() < 0.02 else edited(rng, search)
        fence = rng.choice(["```python", "```python", "```", "see ``` py"])
        blocks.append(block(path, search, replace, fence) + rng.choice(["", "\n", "text\n"]))
    text = answer(*blocks, thought=rng.choice(["hm", "hm", "hm", "hm", "", "a\nb"]))
    if rng.random() < 0.15:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(HOSTILE) + rng.choice(["", "\n"]) + text[at:]
    return text if rng.random() < 0.95 else text.replace("</solution>", "")


@pytest.mark.parametrize("seed", range(4))
def test_agrees_on_made_pairs(seed: int) -> None:
    rng = random.Random(seed)
    seen = {"bad": 0, "between": 0}
    for _ in range(700):
        files = {path: made_text(rng, 14) for path in ("a.py", "b.py")}
        oracle = {
            path: edited(rng, files.get(path, "")) for path in rng.sample(["a.py", "b.py", "new.py"], 2)
        }
        output = made_answer(rng, files)
        expected = defined(files, oracle, output)
        assert search_replace_reward(files, oracle, output) == pytest.approx(expected, abs=1e-9), output
        seen["bad"] += expected == -1
        seen["between"] += 0 < expected < 1
    assert seen["bad"] > 50 and seen["between"] > 100, seen


def test_agrees_on_real_pairs() -> None:
    pairs = [(a, b) for a, b in real_pairs() if a != b and len(a) < 4_000]
    rng = random.Random(5)
    for before, after in rng.sample(pairs, min(100, len(pairs))):
        files, oracle = {"src/x.c": before}, {"src/x.c": after}
        lines = before.split("\n")
        start = rng.randrange(len(lines))
        search = "\n".join(lines[start : start + 2])
        output = answer(block("src/x.c", search, edited(rng, search, 1) + " "))
        assert search_replace_reward(files, oracle, output) == pytest.approx(defined(files, oracle, output))
        exact = answer(block("src/x.c", before, after))
        assert search_replace_reward(files, oracle, exact) == defined(files, oracle, exact) == 1.0


@given(
    st.lists(
        st.sampled_from(
            ["```", "```py", "### a.py", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "", "a", "### b"]
        ),
        max_size=40,
    )
)
def test_blocks_are_what_the_expression_finds(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        assert swe_rl.search_replace_blocks(text) == PATTERN.findall(text)
    except FormatError:
        assert not PATTERN.findall(text)


@pytest.mark.parametrize(
    "output",
    [
        "",
        answer(),
        answer(block("a.py", "    return x", "    return x")),
        answer(block("a.py", "return x", "return y")),
        answer(block("b.py", "    return x", "    return y")),
        answer(block("a.py", "    return x", "    return y"), thought=" "),
        answer(block("a.py", "    return x", "    return y")) + "<think>",
        answer(block("a.py", "    return x", "    return y")).replace("### ", "##"),
    ],
)
def test_bad_formats(output: str) -> None:
    assert search_replace_reward(FILES, ORACLE, output) == -1.0


def test_the_whole_search_is_replaced_everywhere() -> None:
    """As published: the second `return x` changes, too, and costs."""
    loose = search_replace_reward(FILES, ORACLE, answer(block("a.py", "    return x", "    return x + 1")))
    precise = block("a.py", "def f(x):\n    return x", "def f(x):\n    return x + 1")
    assert 0 < loose < search_replace_reward(FILES, ORACLE, answer(precise)) == 1.0


def test_no_change_on_both_sides_is_one() -> None:
    assert swe_rl.change_reward(FILES, {}, {}) == 1.0
    assert swe_rl.change_reward(FILES, FILES, FILES) == 1.0
    assert swe_rl.change_reward(FILES, ORACLE, FILES) == 0.0
    extra = {**ORACLE, "b.py": "x = 1\n"}
    assert swe_rl.change_reward(FILES, ORACLE, extra) == 0.5


PATCH = "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
MOVED = (
    "diff --git a/m.py b/n.py\nsimilarity index 50%\nrename from m.py\nrename to n.py\n"
    "--- a/m.py\n+++ b/n.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
)
BINARY = "diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n"


def test_unified_diffs() -> None:
    hunk = "@@ -1,2 +1,2 @@\n a\n-b\n+c"
    moved = f"rename from m.py to n.py\n{hunk}"
    cases = [
        ([PATCH], [PATCH], {"m.py": hunk}, {"m.py": hunk}),
        ([PATCH], [MOVED], {"m.py": hunk}, {"m.py": moved}),
        ([PATCH], [PATCH.replace("m.py", "o.py")], {"m.py": hunk}, {"o.py": hunk}),
        ([PATCH, BINARY], [PATCH.replace("+c", "+d")], {"m.py": hunk}, {"m.py": hunk.replace("+c", "+d")}),
        ([BINARY], [BINARY], {}, {}),
        ([PATCH], ["no patch"], {"m.py": hunk}, {}),
        ([PATCH], ["@@ -1,2 +1,2 @@\n a\n"], {"m.py": hunk}, {}),
        ([], [], {}, {}),
    ]
    for oracle, made, wanted, predicted in cases:
        assert unidiff_reward(oracle, made) == pytest.approx(mean_over_union(predicted, wanted), abs=1e-9)


def test_generated_unified_diffs() -> None:
    rng = random.Random(9)

    def patch(before: dict[str, str], after: dict[str, str]) -> tuple[str, dict[str, str]]:
        text, by_file = "", {}
        for path in before:
            old, new = before[path].split("\n"), after[path].split("\n")
            lines = list(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm=""))
            if lines:
                text += f"diff --git a/{path} b/{path}\n" + "\n".join(lines) + "\n"
                hunks = "\n".join(lines[2:]).split("\n@@ ")
                stripped = [("@@ " if n else "") + hunk for n, hunk in enumerate(hunks)]
                by_file[path] = "\n".join(hunk.strip() for hunk in stripped).strip()
        return text, by_file

    for _ in range(500):
        before = {p: "\n".join(rng.choice("abcdefg") for _ in range(20)) for p in ("a.py", "b.py")}
        sides = [
            {p: edited(rng, t.replace("g", rng.choice("gh"))) for p, t in before.items()} for _ in range(2)
        ]
        (first, wanted), (second, made) = (patch(before, side) for side in sides)
        if any(odd in first + second for odd in ("\x0c", "\r", "\x85", "\ud800", "\\ No")):
            continue
        assert unidiff_reward([first], [second]) == pytest.approx(mean_over_union(made, wanted), abs=1e-9)


def test_an_answer_cannot_make_a_huge_text() -> None:
    bomb = [block("a.py", "", "\n" * 4_000 + str(n)) for n in range(4)]
    started = time.monotonic()
    assert search_replace_reward(FILES, ORACLE, answer(*bomb)) == -1.0
    assert time.monotonic() - started < 30


def test_hostile_solutions_take_linear_time() -> None:
    started = time.monotonic()
    for unit in (
        "```\n### a\n<<<<<<< SEARCH\n",
        "\n=======\n",
        "```",
        "\n### ",
        "```\n### a\n<<<<<<< SEARCH\n\n=======\n",
    ):
        text = unit * (1_000_000 // len(unit))
        assert search_replace_reward(FILES, ORACLE, answer(text)) == -1.0
    assert time.monotonic() - started < 30


def test_hostile_patches_take_little_time() -> None:
    started = time.monotonic()
    for line in (
        "Binary files a and " * 10_000,
        "diff --git ://" + " x" * 100_000,
        "@@ -1" * 10_000,
        "--- a\n" * 10_000,
    ):
        assert unidiff_reward([PATCH], [line]) == 0.0
    assert time.monotonic() - started < 30
