"""Diffs against `git apply`: what git applies is applied to the same bytes, what it refuses is refused, with two lists.

`STRICTER` and `LENIENT` name what is otherwise by design; docs/edits.md has the same two lists.
"""

import os
import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree

import pytest
from tests.edits.test_round_trip import LINES, PATHS, changed, pair, read, written
from tests.scale import most, seed

from strop_verify.edits import EXACT, FORMATS, Delete, EditError, Tolerance

FORM = FORMATS["unified-diff"]
OFFSET = Tolerance(offset=True)
PLAIN = ["a.py", "b.py", "src/a.py", "src/b/c.rs", "Makefile", "README.md", "x/y.c"]
STRICTER = ["ambiguous", "file-exists", "empty-search", "not-at-end"]
"""Codes of edits that git may apply: at the nearest of several places, or at the file's end, where no context below
the change says otherwise; lines put at a line that nothing shows; a line without its end put in front of another,
which git joins to it."""
WIDER = ("--unidiff-zero",), ("--unidiff-zero", "--recount")
"""With these git too applies hunks at the line that they name whatever their context, and counts their lines."""


def run(command: Sequence[str], folder: Path, text: str | None = None) -> subprocess.CompletedProcess[bytes]:
    settings = {"GIT_CEILING_DIRECTORIES": str(folder.parent), "GIT_CONFIG_GLOBAL": "/dev/null", "TZ": "UTC"}
    names = {
        f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    given = None if text is None else text.encode()
    return subprocess.run(
        command,
        cwd=folder,
        input=given,
        capture_output=True,
        timeout=300,
        env={**os.environ, **settings, **names},
    )


def git(folder: Path, *arguments: str) -> str:
    done = run(["git", "-c", "core.autocrlf=false", *arguments], folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def replaced(folder: Path, tree: dict[str, str]) -> None:
    for path in folder.iterdir():
        if path.name != ".git":
            rmtree(path) if path.is_dir() else path.unlink()
    written(tree, folder)


def patch_of(rng: random.Random, folder: Path, trees: list[dict[str, str]], kind: str, width: int) -> str:
    """The patches that lead through the trees."""
    if kind == "diff":
        for name, tree in zip("ab", trees, strict=False):
            (folder / name).mkdir()
            written(tree, folder / name)
        return run(["diff", "-ruaN", f"-U{max(width, 1)}", "a", "b"], folder).stdout.decode()
    git(folder, "init", "-q")
    for tree in trees:
        replaced(folder, tree)
        git(folder, "add", "-A", "-f", ".")
        git(
            folder,
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "one\n\n--- a file\n+++ more of it\n@@ and a hunk\nFrom here on",
        )
    options = [
        f"-U{width}",
        rng.choice(["-M", "--no-renames"]),
        "--text",
        *rng.sample(["--full-index", "--patience", "--function-context"], 1),
    ]
    if kind == "series":
        return git(folder, "format-patch", "--stdout", *options, f"HEAD~{len(trees) - 1}")
    return git(folder, "diff", *options, "HEAD~1", "HEAD")


def damaged(rng: random.Random, patch: str) -> str:
    """A patch with one thing wrong, or written in another way."""
    lines = patch.split("\n")
    heads = [at for at, line in enumerate(lines) if line.startswith("@@ -")]
    kind = rng.randrange(7)
    if kind < 3 and heads:
        at = rng.choice(heads)
        numbers = re.compile(r"(?<=[-+,])\d+")
        wrong = rng.choice(["start", "count"])
        shift = rng.choice([-2, -1, 1, 3])

        def other(match: re.Match[str]) -> str:
            counts = lines[at][match.start() - 1] == ","
            return str(max(0, int(match[0]) + shift)) if counts == (wrong == "count") else match[0]

        lines[at] = numbers.sub(other, lines[at], count=4)
    elif kind == 3:
        lines = [line if line != " " else "" for line in lines]
    elif kind == 4 and heads:
        inner = [
            at
            for at in range(heads[0] + 1, len(lines))
            if lines[at][:1] in (" ", "-", "+") and lines[at][:4] not in ("--- ", "+++ ")
        ]
        del lines[rng.choice(inner or [0])]
    elif kind == 5:
        return patch.removesuffix("\n")
    elif kind == 6:
        return f"Here it is.\n\n{patch}\nThat is all.\n"
    return "\n".join(lines)


def judged(text: str, before: dict[str, str], tolerance: Tolerance) -> dict[str, str] | str:
    try:
        return FORM.apply(FORM.parse(text), before, tolerance)
    except EditError as error:
        return error.code


def applied_by_git(text: str, before: dict[str, str], folder: Path, *options: str) -> dict[str, str] | None:
    """The tree after the patch; None where git refuses it, or changes nothing."""
    folder.mkdir()
    written(before, folder)
    done = run(["git", "apply", "--whitespace=nowarn", *options, "-"], folder, text)
    after = read(folder) if done.returncode == 0 else None
    return after if after != before else None


def draw(rng: random.Random, folder: Path) -> tuple[str, str, dict[str, str]]:
    """(what was drawn, a patch, the tree that it is tried on)."""
    folder.mkdir()
    kind = rng.choice(["git", "git", "series", "diff"])
    before, after = pair(rng, PLAIN if kind == "diff" else PATHS)
    trees = [before, after]
    for _ in range(rng.randrange(1, 3) if kind == "series" else 0):
        trees.append(
            {path: changed(rng, text) if rng.random() < 0.7 else text for path, text in trees[-1].items()}
        )
    width = rng.choice([0, 1, 2, 3, 3, 3, 6])
    patch = patch_of(rng, folder, trees, kind, width)
    what = f"{kind}, {width} lines around"
    if rng.random() < 0.4:
        patch, what = damaged(rng, patch), f"{what}, damaged"
    if rng.random() < 0.2:
        moved = rng.choice(sorted(before))
        before = {**before, moved: "".join(rng.choice(LINES) + "\n" for _ in range(3)) + before[moved]}
        what += ", moved"
    if rng.random() < 0.15:
        longer = rng.choice(sorted(before))
        before = {**before, longer: before[longer] + "\n" + rng.choice(["", rng.choice(LINES), "\n"])}
        what += ", longer"
    return what, patch, before


@pytest.mark.parametrize("part", range(10))
def test_what_git_applies_is_applied_to_the_same_bytes(tmp_path, part):
    number = most(1_500, 300) // 10
    for index in range(part * number, (part + 1) * number):
        (folder := tmp_path / str(index)).mkdir()
        what, patch, before = draw(random.Random(f"{seed()} git {index}"), folder / "drawn")
        options = WIDER[0] if ", 0 lines" in what else ()
        compared(patch, before, folder, (index, what), *options)
        rmtree(folder)


def test_a_hunk_of_lines_that_are_often_there_goes_where_git_puts_it(tmp_path):
    for index in range(most(3_000, 300)):
        rng = random.Random(f"{seed()} repeated {index}")
        lines = [rng.choice("ab") for _ in range(rng.randrange(2, 9))]
        above, gone, below = rng.randrange(3), rng.randrange(3), rng.randrange(3)
        first = rng.randrange(len(lines) + 1)
        old = lines[first : first + above + gone + below]
        above = min(above, len(old))
        below = max(0, min(below, len(old) - above - gone))
        gone, new = len(old) - above - below, rng.choices("abc", k=rng.randrange(3))
        kinds = [*" " * above, *"-" * gone, *" " * below]
        body = [kind + line for kind, line in zip(kinds, old, strict=True)]
        body[above + gone : above + gone] = [f"+{line}" for line in new]
        stated = max(0, first + 1 + rng.choice([0, 0, -2, -1, 1, 2]))
        head = f"--- a/x\n+++ b/x\n@@ -{stated},{len(old)} +{stated},{len(old) - gone + len(new)} @@\n"
        (folder := tmp_path / str(index)).mkdir()
        patch, before = (
            head + "".join(line + "\n" for line in body),
            {"x": "".join(f"{line}\n" for line in lines)},
        )
        compared(patch, before, folder, (index, patch, lines), *(() if above or below else WIDER[0]))
        rmtree(folder)


def compared(patch: str, before: dict[str, str], folder: Path, what: object, *options: str) -> None:
    """Strop does what git does, but for the two lists."""
    wanted, found = applied_by_git(patch, before, folder / "git", *options), judged(patch, before, OFFSET)
    exact = judged(patch, before, EXACT)
    if wanted is not None:
        assert found == wanted or found in STRICTER, what
        assert exact == wanted or exact in [*STRICTER, "not-found"], what
    elif isinstance(exact, dict):
        assert exact == found and lenient(patch, before, found, folder), what


def lenient(patch: str, before: dict[str, str], found: dict[str, str], folder: Path) -> bool:
    """Whether a patch that git refuses is applied by a rule of docs/edits.md."""
    parsed = FORM.parse(patch)
    if (
        parsed.faults
        or parsed.series
        or any(isinstance(made, Delete) and made.text is None for made in parsed.changes)
    ):
        return True
    patch = patch if patch.endswith("\n") else patch + "\n"
    wider = [applied_by_git(patch, before, folder / f"{len(options)}", *options) for options in WIDER]
    return found in wider
