"""What a format renders is what it applies: over trees made of everything that has ever been mistaken for a marker."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from tests.scale import most

from strop_verify.edits import FORMATS, HOLE, LENIENT, EditError, apply_answer, convert

LINES = [
    "", "", "a", "b", "c", "    x = 1", "\ty", "z  ", "\r", "x\r", "\r\r", "mid\rdle", "\u2028", "a\x85b", "\x0c",
    "\x0b\x1c", "=======", "======= ", "========", "=====", "<<<<<<< SEARCH", "<<<<<<<< SEARCH", ">>>>>>> REPLACE",
    ">>>>>>>> REPLACE", "======= (no newline)", ">>>>>>> REPLACE (no newline)", "<<<<<<< HEAD", "```", "````", "   ```",
    "~~~", "```python", "### a.py", "### a.py (deleted)", '### "q r" (lines 1-2)', "### (lines 1-9)", "(no newline)",
    "\\ No newline at end of file", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "@@ -0,0 +1,2 @@", "diff --git a/x b/x",
    "-- ", "-- x", "++ y", "- x", "+ y", " ", "new file mode 100644", "GIT binary patch", "Binary files a and b differ",
    "</answer>", "<think>", "\u00e9\u6f22", HOLE, "x" * 300,
]  # fmt: skip
PATHS = [
    "a.py", "b.py", "src/a.py", "Makefile", "odd name", "p (new)", "q.txt (deleted)", 'say "hi".py', "\u00fc/\u6f22.c",
    "xx: y", "a*b", "-- x", " lead", "trail ", "#", "`t`", "(lines 1-2)", "c,d.py", "renamed to e.py", "\u2028.py", 
    "a b/c d",
]  # fmt: skip


def text_of(rng: random.Random) -> str:
    pool = LINES if rng.random() < 0.5 else LINES[:8]
    end = rng.choice(["\n", "\n", "\n", "\r\n"])
    text = "".join(rng.choice(pool) + end for _ in range(rng.choice([0, 1, 1, 2, 3, 6, 12])))
    return text if rng.random() < 0.7 else text.removesuffix("\n")


def changed(rng: random.Random, text: str) -> str:
    if rng.random() < 0.1:
        return text_of(rng)
    lines = text.split("\n")
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(lines) + 1)
        new = [rng.choice(LINES) for _ in range(rng.randrange(3))]
        lines[at : at + rng.randrange(3)] = new
    return "\n".join(lines)


def pair(rng: random.Random, names: list[str] = PATHS) -> tuple[dict[str, str], dict[str, str]]:
    """Two versions of a tree that are not equal."""
    paths = rng.sample(names, rng.choice([1, 1, 2, 3, 4]))
    before = {path: text_of(rng) for path in paths}
    after = dict(before)
    while after == before:
        for path in paths:
            kind = rng.random()
            free = [p for p in names if p not in before and p not in after]
            if kind < 0.6:
                after[path] = changed(rng, before[path])
            elif kind < 0.7 and len(paths) > 1:
                after.pop(path, None)
            elif kind < 0.8 and len(paths) > 1 and free:
                text = after.pop(path, before[path])
                after[rng.choice(free)] = text if rng.random() < 0.5 else changed(rng, text)
            elif kind < 0.85:
                after[rng.choice([p for p in names if p not in before])] = text_of(rng)
    return before, after


def check(name: str, seed: str) -> None:
    before, after = pair(random.Random(seed))
    form = FORMATS[name]
    text = form.render(before, after)
    parsed = form.parse(text)
    assert form.apply(parsed, before) == form.apply(parsed, before, LENIENT) == after, (seed, before, text)
    assert not parsed.faults, (seed, parsed.faults, text)


@pytest.mark.parametrize("name", FORMATS)
def test_apply_of_render_gives_the_new_version(name):
    for number in range(most(20_000, 400)):
        check(name, f"{name} {number}")


@pytest.mark.parametrize("name", FORMATS)
def test_prose_around_an_edit_changes_nothing(name):
    form = FORMATS[name]
    for number in range(200):
        before, after = pair(random.Random(f"prose {name} {number}"))
        text = form.render(before, after)
        answer = (
            f"<think>\n```\n<<<<<<< SEARCH\n</think>\nI see.\n\n<answer>\n{text}</answer>\nThat is all.\n"
        )
        assert apply_answer(answer, before, name) == after
        answer = f"# Fixed\n\nThe loop was wrong:\n\n{text}\n- one change\n- no more\n"
        assert apply_answer(answer, before, name) == after


def test_conversions_keep_what_an_edit_does_and_are_idempotent():
    for number in range(60):
        before, after = pair(random.Random(f"convert {number}"))
        for one in FORMATS:
            text = FORMATS[one].render(before, after)
            assert convert(text, before, one, one) == text
            for other in FORMATS:
                there = convert(text, before, one, other)
                assert there == FORMATS[other].render(before, after)
                assert convert(there, before, other, one) == text


@pytest.mark.parametrize("name", FORMATS)
def test_equal_versions_have_no_edit(name):
    with pytest.raises(EditError, match="no-change"):
        FORMATS[name].render({"a.py": "x\n"}, {"a.py": "x\n"})


def written(tree: dict[str, str], folder: Path) -> None:
    for path, text in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="")


def read(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_git_applies_our_diffs(tmp_path):
    for number in range(40):
        before, after = pair(random.Random(f"git {number}"))
        folder = tmp_path / str(number)
        folder.mkdir()
        written(before, folder)
        patch = FORMATS["unified-diff"].render(before, after)
        done = subprocess.run(
            ["git", "apply", "-"], cwd=folder, input=patch.encode(), capture_output=True, timeout=300,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)},
        )  # fmt: skip
        assert done.returncode == 0, (done.stderr, patch)
        assert read(folder) == after, patch
