"""Measures `strop search`: the number of questions with a right file first, and the time of a warm answer.

    python benchmarks/locator.py benchmarks/locator_questions.txt --below FOLDER [--set later] [--model RUN]
    python benchmarks/locator.py --latency FOLDER... [--files 5000] [--json FILE]

A line of questions is `set|repository|question|right files, with commas`; repositories are folders in FOLDER.
Without `--model` the words decide.
`--latency` copies programs of the folders into a new one and times the first question (everything is read), further
ones, the same ones again (warm), and one after a file was added.
"""

import argparse
import json
import resource
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from strop.cli.options import EngineOptions
from strop.cli.search import finder_of
from strop.environments.locator import Locator
from strop.serve.found import Find

QUESTIONS = (
    "where are command line options parsed", "how is the timeout of a request enforced", "where is the cache emptied",
    "how are gradients of a convolution computed", "where are polynomials factored", "how is a matrix inverted",
    "which error is raised for a wrong shape", "where are configuration files read", "how is a graph drawn",
    "where is a process started and waited for", "parse_expr", "torch.nn.functional.linear",
    "TypeError: unsupported operand type(s) for +: 'Tensor' and 'str' in _tensor.py",
)  # fmt: skip


def hits(questions: list[str], below: Path, misses: bool, find: Find) -> dict[str, float]:
    """Numbers of questions with a right file first, in the first two, and in the first three; seconds a question."""
    places: list[int] = []
    seconds: list[float] = []
    for line in questions:
        _, repository, question, right = line.split("|")
        began = time.perf_counter()
        order = list(find(below / repository, question).places)
        seconds.append(time.perf_counter() - began)
        at = next((number for number, path in enumerate(order, 1) if path in right.split(",")), 99)
        places.append(at)
        if misses and at > 2:
            print(f"{repository}: {question}\n    {order}, not {right}", file=sys.stderr)
    first = {f"first {n}": sum(at <= n for at in places) for n in (1, 2, 3)}
    return {"questions": len(places), **first, "p50": statistics.median(seconds), "max": max(seconds)}


def latency(folders: list[Path], files: int) -> dict[str, float]:
    """Seconds; `files` programs of the folders."""
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        found = [(folder, path) for folder in folders for path in sorted(folder.rglob("*.py"))][:files]
        for folder, path in found:
            copy = top / folder.name / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        locator = Locator(seconds=600)
        first = _timed(locator, top, QUESTIONS[0])
        unseen = [_timed(locator, top, question) for question in QUESTIONS]
        warm = sorted(_timed(locator, top, question) for question in QUESTIONS * 4)
        changed = []
        for number in range(10):
            (top / f"new{number}.py").write_text(f"def parse_options{number}(words):\n    return words\n")
            changed.append(_timed(locator, top, QUESTIONS[0]))
        return {
            "files": len(found), "megabytes": round(sum(path.stat().st_size for _, path in found) / 1e6, 1),
            "first": first, "unseen p50": statistics.median(unseen), "unseen max": max(unseen),
            "warm p50": statistics.median(warm), "warm p95": warm[int(0.95 * len(warm))],
            "after a change p50": statistics.median(changed),
            "peak megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        }  # fmt: skip


def _timed(locator: Locator, top: Path, question: str) -> float:
    began = time.perf_counter()
    locator.find(top, question)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path, nargs="?")
    parser.add_argument("--set", default="", help="only questions of this set")
    parser.add_argument("--below", type=Path, default=Path())
    parser.add_argument(
        "--misses", action="store_true", help="print the questions without a right file among two"
    )
    parser.add_argument("--latency", type=Path, nargs="+")
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--model", default="", help="as for strop search")
    args = parser.parse_args()
    out: dict[str, float] = {}
    if args.questions:
        lines = args.questions.read_text(encoding="utf-8").splitlines()
        asked = [line for line in lines if line.startswith(args.set) and not line.startswith("#")]
        with finder_of(args.model, EngineOptions(), [], 600) as finder:
            out |= hits(asked, args.below, args.misses, finder.find)
    if args.latency:
        out |= latency(args.latency, args.files)
    for name, value in out.items():
        print(f"{name:20} {value:.3f}" if isinstance(value, float) else f"{name:20} {value}")
    if args.json:
        args.json.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
