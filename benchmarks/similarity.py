"""Compares the similarity rewards of edits with difflib: the same numbers, and the speedup.

Pairs are made from real programs, the buggy and the correct ones of QuixBugs and SVEN (../shared/data, or STROP_DATA)
or this project's own sources if those are missing: the oracle is the correct version, the answer a seeded edit of the
correct or of the buggy one. Each form is timed on the same pairs with difflib and with Strop's implementation, in
turns, by CPU time; a value that differs ends the run with status 1. Caches are off, so every pair is computed.

    python benchmarks/similarity.py --pairs 10000 --rounds 3 --json similarity.json
"""

# ruff: noqa: E402
import argparse
import difflib
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.rewards.edit_pairs import edited, real_pairs

from strop.rewards.edits import change_overlap
from strop_tasks.published import code_repair, ratio


class Pair(NamedTuple):
    """A file before, after the oracle and after an answer, with the unified diffs to both."""

    before: str
    oracle: str
    answer: str
    wanted: str
    made: str


Form = Callable[[Pair], float]


def pairs(seed: int) -> Iterator[Pair]:
    """Endless pairs, each source in turn."""
    rng = random.Random(seed)
    sources = [(a, b) for a, b in real_pairs() if a != b]
    if not sources:
        texts = [path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))]
        sources = [(edited(rng, text), text) for text in texts if text.strip()]
    while True:
        for before, oracle in sources:
            answer = edited(rng, oracle if rng.random() < 0.5 else before)
            yield Pair(before, oracle, answer, _diff(before, oracle), _diff(before, answer))


def _diff(a: str, b: str) -> str:
    lines = difflib.unified_diff(a.splitlines(), b.splitlines(), lineterm="", n=3)
    return "\n".join(list(lines)[2:])


def _quick_diff(a: str, b: str) -> str:
    return ratio.unified_diff.__wrapped__(a, b)


def _slow_blocks(p: Pair) -> float:
    before = slow(p.before.splitlines(), p.before.splitlines(), True)
    return (before + slow(p.answer.splitlines(), p.oracle.splitlines(), True)) / 2


def _quick_blocks(p: Pair) -> float:
    return code_repair.sr_similarity([(p.before, p.answer)], [(p.before, p.oracle)])


def slow(a: Sequence[str], b: Sequence[str], autojunk: bool) -> float:
    """The ratio by difflib."""
    return difflib.SequenceMatcher(None, a, b, autojunk=autojunk).ratio()


FORMS: dict[str, tuple[Form, Form]] = {
    "SWE-RL, two patches": (
        lambda p: slow(p.made, p.wanted, False),
        lambda p: ratio.ratio(p.made, p.wanted, autojunk=False),
    ),
    "SWE-RL, files to reward": (
        lambda p: slow(_diff(p.before, p.answer), _diff(p.before, p.oracle), False),
        lambda p: ratio.ratio(
            _quick_diff(p.before, p.answer), _quick_diff(p.before, p.oracle), autojunk=False
        ),
    ),
    "unified diff, autojunk": (
        lambda p: slow(p.wanted, p.made, True),
        lambda p: ratio.ratio(p.wanted, p.made),
    ),
    "blocks of lines, autojunk": (_slow_blocks, _quick_blocks),
}
"""Name -> (by difflib, by Strop)."""


def seconds(form: Form, sample: list[Pair]) -> tuple[float, list[float]]:
    """CPU seconds of a form on all pairs, and its values."""
    started = time.process_time()
    values = [form(pair) for pair in sample]
    return time.process_time() - started, values


def measured(name: str, sample: list[Pair], rounds: int) -> dict[str, Any]:
    """Both ways in turns; medians over the rounds. Ends the run if a value differs."""
    before, after = FORMS[name]
    slow_seconds, quick_seconds = [], []
    for _ in range(rounds):
        spent, expected = seconds(before, sample)
        slow_seconds.append(spent)
        spent, values = seconds(after, sample)
        quick_seconds.append(spent)
        if different := sum(a != b for a, b in zip(expected, values, strict=True)):
            raise SystemExit(f"{name}: {different} of {len(sample)} values differ from difflib's")
    difflib_seconds, strop_seconds = statistics.median(slow_seconds), statistics.median(quick_seconds)
    return {"form": name, "pairs": len(sample), "difflib_seconds": difflib_seconds, "strop_seconds": strop_seconds,
            "times": difflib_seconds / strop_seconds, "mean_value": statistics.fmean(values)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    sample = list(islice(pairs(args.seed), args.pairs))
    lengths = [
        statistics.median(len(text) for text in texts)
        for texts in ([p.wanted for p in sample], [p.made for p in sample])
    ]
    print(
        f"{len(sample)} pairs; characters of a patch, median: oracle {lengths[0]:.0f}, answer {lengths[1]:.0f}"
    )
    print(f"{'form':26} {'difflib s':>10} {'strop s':>10} {'times':>7}")
    rows = []
    for name in FORMS:
        rows.append(measured(name, sample, args.rounds))
        row = rows[-1]
        print(
            f"{name:26} {row['difflib_seconds']:10.2f} {row['strop_seconds']:10.2f} {row['times']:7.1f}",
            flush=True,
        )
    spent, values = seconds(
        lambda p: change_overlap({"f": p.before}, {"f": p.answer}, {"f": p.oracle}), sample
    )
    print(
        f"{'overlap of changes':26} {'':10} {spent:10.2f}   (another number: mean {statistics.fmean(values):.3f})"
    )
    if args.json:
        args.json.write_text(json.dumps({"rows": rows, "overlap_seconds": spent}, indent=2) + "\n")


if __name__ == "__main__":
    main()
