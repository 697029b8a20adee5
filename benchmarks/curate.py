"""Measures curation: near-duplicates compared with datasketch, and the faults in a corpus that `strop curate` finds.

    python benchmarks/curate.py --near 20000                # both searches on the same shingles, in turn
    python benchmarks/curate.py --pipeline 2000 [--seed 7]  # recall of each planted class, wrongly dropped, memory
    python benchmarks/curate.py --near 100000 --pipeline 100000 --json FILE

Near-duplicates: statements of the corpus, a fifth of them copies with one to four words changed. Both sides get each
statement's three-word runs (datasketch as bytes, as in its documentation, and also as ready-made hashes), the same
number of permutations and threshold, and both confirm their proposals by the exact Jaccard index. The truth is an exact
search, which takes minutes from about ten thousand statements. One thread per side (RAYON_NUM_THREADS=1); times are CPU
seconds of the process, the median of the runs.
"""

import argparse
import gc
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("RAYON_NUM_THREADS", "1")

import numpy as np
from corpus_parts import problem, statement
from curate_pipeline import pipeline, report
from datasketch import MinHash, MinHashLSH

from strop.tasks.splits import similar_pairs
from strop_tasks.curation.similar.hashes import Hashes, jaccard, shingled, shingles, words
from strop_tasks.curation.similar.minhash import near, rows_of
from strop_tasks.curation.similar.store import Store

WIDTH = 3
Pairs = set[tuple[int, int]]


def texts(count: int, seed: int) -> Iterator[list[str]]:
    """The words of statements; every fifth is an earlier one, edited."""
    r = random.Random(seed)
    made: list[list[str]] = []
    for number in range(count):
        if number % 5 == 4:
            text = list(made[r.randrange(max(0, number - 2000), number)])
            for _ in range(r.randint(1, 4)):
                text[r.randrange(len(text))] = f"other{r.randrange(1000)}"
        else:
            text = words(statement(problem(r), r) + " " + statement(problem(r), r))
        made.append(text)
        yield text


def ours(texts: list[list[str]], threshold: float, permutations: int) -> tuple[float, Pairs]:
    """CPU seconds from words to confirmed pairs, and the pairs."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        store = Store(Path(folder) / "shingles")
        for first in range(0, len(texts), 1000):
            store.extend(*shingled(texts[first : first + 1000], WIDTH))
        found = {(p.a, p.b) for p in near(store.seal(), threshold, permutations)}
        return time.process_time() - start, found


def ours_hashed(sets: list[Hashes], threshold: float, permutations: int) -> tuple[float, Pairs]:
    """The same from hashes on."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        store = Store(Path(folder) / "shingles")
        for one in sets:
            store.append(one)
        found = {(p.a, p.b) for p in near(store.seal(), threshold, permutations)}
        return time.process_time() - start, found


def theirs(
    texts: list[list[str]], sets: list[Hashes], threshold: float, permutations: int, equal: bool
) -> tuple[float, Pairs]:
    """datasketch from words to pairs: shingles as bytes, hashed by its default. `equal`: bands for our recall."""
    start = time.process_time()
    shingled = (
        {" ".join(text[i : i + WIDTH]).encode() for i in range(max(1, len(text) - WIDTH + 1))}
        for text in texts
    )
    hashes = MinHash.generator(shingled, num_perm=permutations)
    found = _lsh(hashes, sets, threshold, permutations, equal)
    return time.process_time() - start, found


def theirs_hashed(
    sets: list[Hashes], threshold: float, permutations: int, equal: bool
) -> tuple[float, Pairs]:
    """datasketch from 32-bit hashes on, so that hashing costs nothing."""
    start = time.process_time()
    given = ((one & np.uint64(0xFFFFFFFF)).tolist() for one in sets)
    hashes = MinHash.generator(given, num_perm=permutations, hashfunc=lambda value: value)
    found = _lsh(hashes, sets, threshold, permutations, equal)
    return time.process_time() - start, found


def _lsh(
    hashes: Iterator[MinHash], sets: list[Hashes], threshold: float, permutations: int, equal: bool
) -> Pairs:
    rows = rows_of(threshold, permutations)
    index = MinHashLSH(threshold, permutations, params=(permutations // rows, rows) if equal else None)
    found: Pairs = set()
    for b, one in enumerate(hashes):
        found.update((a, b) for a in index.query(one) if jaccard(sets[a], sets[b]) >= threshold)
        index.insert(b, one, check_duplication=False)
    return found


def compare(count: int, seed: int, runs_made: int, threshold: float, permutations: int) -> dict[str, object]:
    """Runs both sides in turn and returns the measurements."""
    made = list(texts(count, seed))
    sets = [shingles(text, WIDTH) for text in made]
    truth = set(similar_pairs([frozenset(one.tolist()) for one in sets], threshold))
    sides: dict[str, Callable[[], tuple[float, Pairs]]] = {
        "strop": lambda: ours(made, threshold, permutations),
        "datasketch": lambda: theirs(made, sets, threshold, permutations, False),
        "datasketch, bands for equal recall": lambda: theirs(made, sets, threshold, permutations, True),
        "strop, hashes given": lambda: ours_hashed(sets, threshold, permutations),
        "datasketch, hashes given": lambda: theirs_hashed(sets, threshold, permutations, False),
        "datasketch, hashes given, bands for equal recall": lambda: theirs_hashed(
            sets, threshold, permutations, True
        ),
    }
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    found: dict[str, Pairs] = {}
    for at in range(runs_made):
        for name, side in sides.items():
            gc.collect()
            print(f"run {at + 1}/{runs_made}: {name} ...", file=sys.stderr)
            spent, found[name] = side()
            seconds[name].append(spent)
    result: dict[str, object] = {
        "statements": count, "pairs": len(truth), "threshold": threshold, "permutations": permutations, "threads": 1,
    }  # fmt: skip
    for name in sides:
        result[name] = {
            "cpu_seconds": round(statistics.median(seconds[name]), 3),
            "recall": round(len(found[name] & truth) / max(1, len(truth)), 4),
            "false_pairs": len(found[name] - truth),
        }
    for name in [n for n in sides if n.startswith("datasketch")]:
        own = seconds["strop, hashes given" if "given" in name else "strop"]
        result[f"ratio to {name}"] = round(
            statistics.median(t / o for o, t in zip(own, seconds[name], strict=True)), 1
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--near", type=int, metavar="N", help="compare the searches on N statements")
    parser.add_argument("--pipeline", type=int, metavar="N", help="curate a corpus of N tasks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--permutations", type=int, default=128)
    parser.add_argument("--workers", type=int, help="of strop curate")
    parser.add_argument("--steps", help="YAML list of steps instead of all")
    parser.add_argument("--keep", type=Path, help="folder for corpus and result; else a temporary one")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if not (given.near or given.pipeline):
        parser.error("nothing to do: give --near N or --pipeline N")
    result: dict[str, object] = {}
    if given.near:
        result["near"] = compare(given.near, given.seed, given.runs, given.threshold, given.permutations)
        print(json.dumps(result["near"], indent=2))
    if given.pipeline:
        result["pipeline"] = pipeline(given.pipeline, given.seed, given.keep, given.workers, given.steps)
        print(report(result["pipeline"]))
    if given.json:
        given.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
