"""Times the tools of the environment `search` on a tree of 5,000 files, concurrently and in sequence.

    python benchmarks/search.py [--files 5000] [--rounds 5] [--json FILE]

A turn is eight greps, each for another word. `cold` is the first turn, in which jails start.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from concurrent.futures import wait
from pathlib import Path
from typing import Any

from strop.environments.search_tools import SearchTools
from strop.environments.search_tree import release
from strop.environments.toolbox import UseTool
from strop.policies.tool_calls import MOST_CALLS
from strop.rollouts.services import PlayServices, Threads
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.task import Task
from strop_verify.sandbox.programs import Programs

LINES = 120
PATTERNS = (
    "w17", r"\bw4\d\d\b", "(?i)W9", r"def f\d+\(w1", "w1 w2", r"w\d+ = w\d+ \+ 7$", "nothing of it", "w[1-3]{2}\\b",
    "return w5", "w777|w888", r"^    w\d", "class", "w1.*w2.*w3", "(w8|w9)+ ", "f(", "x",
)  # fmt: skip


def make(top: Path, files: int) -> None:
    """Writes a tree of programs with made-up words."""
    draw = random.Random(1)
    for number in range(files):
        folder = top / f"p{number % 50:02}" / f"q{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        rows = [f"def f{number}(w{draw.randrange(1000)}):"]
        for _ in range(LINES):
            a, b = draw.randrange(1000), draw.randrange(1000)
            rows.append(f"    w{a} = w{b} + {draw.randrange(10)}")
        (folder / f"m{number}.py").write_text("\n".join([*rows, f"    return w{draw.randrange(1000)}", ""]))


def turn(box: SearchTools, services: PlayServices, patterns: list[str], *, together: bool) -> float:
    """Seconds of one turn."""
    began = time.perf_counter()
    for pattern in [patterns] if together else [[one] for one in patterns]:
        wait([UseTool(box, "grep", {"pattern": one}).start(services) for one in pattern])
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    threads, programs = Threads(), Programs()
    services = PlayServices(None, threads, programs)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), args.files)
        check = RetrievalCheck(tree=folder, truth={"p00/q0/m0.py": [(1, 1)]})
        began = time.perf_counter()
        box = SearchTools(Task(statement="Where?", check=check), services)
        opened = time.perf_counter() - began
        eight = list(PATTERNS[:MOST_CALLS])
        cold = turn(box, services, eight, together=True)
        pairs = [
            (turn(box, services, eight, together=False), turn(box, services, eight, together=True))
            for _ in range(args.rounds)
        ]
        single = []
        for pattern in PATTERNS * 2:
            began = time.perf_counter()
            box.use("grep", {"pattern": pattern})
            single.append(time.perf_counter() - began)
        release(check)
    programs.close()
    threads.close()
    ordered = sorted(single)
    found: dict[str, Any] = {
        "files": args.files,
        "tree_seconds": round(opened, 2),
        "cold_turn_seconds": round(cold, 3),
        "in_turn_seconds": round(statistics.median(one for one, _ in pairs), 3),
        "together_seconds": round(statistics.median(other for _, other in pairs), 3),
        "parallel_speedup": round(statistics.median(one / other for one, other in pairs), 2),
        "tool_p50_ms": round(1000 * statistics.median(single), 1),
        "tool_p95_ms": round(1000 * ordered[int(0.95 * len(ordered))], 1),
    }
    print(json.dumps(found, indent=1))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
