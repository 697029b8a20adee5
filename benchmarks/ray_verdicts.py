"""Compares verdicts of actors on two Ray nodes with the local pool's; then one of the nodes is killed.

    python benchmarks/ray_verdicts.py [--json FILE] [--verdicts 2000] [--rounds 10]

Both nodes are on this machine, with one core each; the local pool has two workers. First both judge the answers in
turns, a round each. Then all of them go to new actors, and after a third of the verdicts a node is killed (SIGKILL to
all of its processes) and later replaced. Written and printed:

    throughput           verdicts per second on Ray as a share of the local pool's, the median over the rounds
    lost, doubled        answers that got no verdict, or two, when the node was killed
    different            those whose outcome or tests differ from the local pool's
    errors               those that are *error*
    moved                failed calls whose answers were judged elsewhere
    rejoined             whether the lost node's actor judges on the replacement
    left_behind          processes that remain after everything is closed

The exit code is 1 if an answer is lost, doubled, different or *error*, or a process is left behind.
"""

import argparse
import ctypes
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_on_ray, open_verifier

LIMITS = Limits(cpu_seconds=1, wall_seconds=20)
TASK = Task(
    statement="Double it.",
    check=CasesCheck(entry_point="f", cases=[Case(args=[n], expected=2 * n) for n in range(5)]),
)
ANSWERS = (
    "def f(x): return 2 * x  # {}",
    "def f(x): return x  # {}",
    "import math\ndef f(x): return math.prod([x, 2])  # {}",
    "def f(x):\n    raise ValueError({})",
    "def f(  # {}",
)
LOOP = "def f(x):\n    while True: pass  # {}"
EVERY = 200
"""One in this many answers never ends."""


def answers(first: int, number: int) -> list[str]:
    """Distinct answers of all kinds."""
    numbers = range(first, first + number)
    return [(LOOP if n % EVERY == EVERY - 1 else ANSWERS[n % len(ANSWERS)]).format(n) for n in numbers]


def judged(verifier: Any, texts: list[str]) -> tuple[list[Verdict], float]:
    """The verdicts, and the seconds that they took."""
    began = time.monotonic()
    futures = [verifier.submit(TASK, text) for text in texts]
    return [future.result(600) for future in futures], time.monotonic() - began


def told(verdict: Verdict) -> Any:
    """The parts that must be the same everywhere."""
    return verdict.outcome.value, [(test.id, test.outcome.value) for test in verdict.tests]


def side_by_side(number: int, rounds: int) -> tuple[list[Any], dict[str, Any]]:
    """The local pool's verdicts on all answers, and the speed of both."""
    found: list[Any] = []
    seconds: dict[str, list[float]] = {"local": [], "ray": []}
    with open_verifier(workers=2, limits=LIMITS) as here, open_on_ray(limits=LIMITS) as there:
        judged(here, answers(10**6, 20))
        judged(there, answers(10**6, 20))
        size = -(-number // rounds)
        for first in range(0, number, size):
            texts = answers(first, min(size, number - first))
            verdicts, spent = judged(here, texts)
            seconds["local"].append(spent)
            found += map(told, verdicts)
            seconds["ray"].append(judged(there, texts)[1])
    ratios = [here / there for here, there in zip(seconds["local"], seconds["ray"], strict=True)]
    rates = {f"{name}_per_second": round(number / sum(each), 1) for name, each in seconds.items()}
    return found, {"throughput": round(median(ratios), 3), **rates}


def both_up(verifier: Any) -> Any:
    """Waits until both actors judge, two minutes at most; the counters."""
    deadline = time.monotonic() + 120
    while verifier.stats()["workers_up"] < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    return verifier.stats()


def with_a_kill(cluster: Any, lost: Any, wanted: list[Any]) -> dict[str, Any]:
    """All answers, while a node is killed."""
    settled: Counter[int] = Counter()
    with open_on_ray(limits=LIMITS) as there:
        both_up(there)
        futures = [there.submit(TASK, text) for text in answers(0, len(wanted))]
        for number, future in enumerate(futures):
            future.add_done_callback(lambda _, number=number: settled.update([number]))
        while len(settled) < len(wanted) / 3:
            time.sleep(0.01)
        cluster.remove_node(lost, allow_graceful=False)
        verdicts = [future.result(600) for future in futures]
        cluster.add_node(num_cpus=1)
        stats = both_up(there)
    return {
        "lost": len(wanted) - len(settled),
        "doubled": sum(count > 1 for count in settled.values()),
        "different": sum(told(verdict) != one for verdict, one in zip(verdicts, wanted, strict=True)),
        "errors": stats["errors"],
        "moved": stats["lost"],
        "rejoined": stats["workers_up"] == 2,
    }


def left_behind() -> list[str]:
    """Command lines of our remaining descendants, including orphans (see main)."""
    deadline = time.monotonic() + 30
    while True:
        found = []
        for task in Path("/proc/self/task").iterdir():
            for pid in (task / "children").read_text().split():
                words = Path(f"/proc/{pid}/cmdline")
                found += [words.read_bytes().decode(errors="replace")] if words.exists() else []
        found = [words for words in found if words]  # a zombie has none
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--verdicts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become our children
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}  # as the local pool, not 15
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    lost = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    try:
        wanted, row = side_by_side(given.verdicts, given.rounds)
        print(row, flush=True)
        row |= with_a_kill(cluster, lost, wanted)
    finally:
        ray.shutdown()
        cluster.shutdown()
    behind = left_behind()
    row |= {"verdicts": given.verdicts, "left_behind": len(behind)}
    print(*(f"{key:20} {value}" for key, value in row.items()), sep="\n")
    print(*behind, sep="\n", end="" if not behind else "\n")
    if given.json:
        given.json.write_text(json.dumps(row, indent=1) + "\n")
    sys.exit(any(row[key] for key in ("lost", "doubled", "different", "errors", "left_behind")))


if __name__ == "__main__":
    main()
