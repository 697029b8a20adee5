"""The cost of logging in training: the run folder's own writes, `strop.log_reward`, and commits of the data.

    python benchmarks/logging_cost.py [--tokens 500] [--steps 20] [--run RUN] [--json FILE]

`step`: seconds to write one step of 128 synthetic rollouts (16 groups of 8, each with log-probabilities and entropies)
of --tokens tokens: `write_rollouts`, `append_metrics` (both with their fsync), and a log of three rewards' calls.
Medians over --steps. `percent_of_seconds`: its share of a step of that many seconds; it must be below 2.

`calls_per_second`: a reward that compares two numbers, plain, decorated without a run, and decorated in a run, with
the writing of its lines; `microseconds`: the additional cost per call.

`commit`: wall and CPU seconds of git for the data of one more step, committed and pushed to a folder. It runs
concurrently with training, in a thread that waits for it.

With --run, a real run's rollouts are written again, and the time is compared with the wall seconds of its steps.
"""

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import strop
from strop.reports.run_folder import RunFolder
from strop.reports.sinks.data_repository import DataRepository
from strop_verify.core.rollout import Group

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
REWARDS = 3


@strop.log_reward(name="one")
def logged(task: object, rollout: Any, verdict: Any) -> float:
    return float(rollout.index > 3)


def plain(task: object, rollout: Any, verdict: Any) -> float:
    return float(rollout.index > 3)


def write(run: RunFolder, step: int, groups: list[Group], metrics: dict[str, Any]) -> dict[str, float]:
    """Seconds for each part of writing one step."""
    started = time.perf_counter()
    run.write_rollouts(step, groups)
    rollouts = time.perf_counter()
    run.append_metrics({**metrics, "step": step})
    lines = time.perf_counter()
    with strop.logging_to(run.path) as log:
        log.step = step
        for _ in range(REWARDS):
            for group in groups:
                for rollout in group.rollouts:
                    logged(None, rollout, rollout.verdict)
    calls = time.perf_counter()
    parts = {"rollouts": rollouts - started, "metrics": lines - rollouts, "calls": calls - lines}
    return {**parts, "all": calls - started}


def medians(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(part[name] for part in found) for name in found[0]}


def made_step(folder: Path, tokens: int, steps: int) -> dict[str, Any]:
    from tests.reports.made_runs import make_run

    source = RunFolder.read(
        make_run(folder / "made", steps=2, groups=16, size=8, tokens=tokens, evaluations=())
    )
    groups, metrics = list(source.iter_groups(2)), next(source.iter_metrics())
    with RunFolder.create(folder / "run", recipe="seed: 1\n", versions={}) as run:
        seconds = medians([write(run, step, groups, metrics) for step in range(1, steps + 1)])
        size = run.rollout_file(1).stat().st_size
        commit = committed(run, steps, groups, metrics, folder)
    return {
        "rollouts": sum(len(group.rollouts) for group in groups),
        "tokens": tokens,
        "packed_kb": size / 1e3,
        "seconds": seconds,
        "percent_of_seconds": {str(wall): 100 * seconds["all"] / wall for wall in (10, 20, 40, 80)},
        "commit": commit,
    }


def committed(
    run: RunFolder, done: int, groups: list[Group], metrics: dict[str, Any], folder: Path
) -> dict[str, float]:
    """Wall and CPU seconds of git for one more step, the median of five."""
    repository = DataRepository(run.path, remote=str(folder / "data.git"), branch="run", run="run")
    found = []
    for step in range(done, done + 6):
        write(run, step + 1, groups, metrics)
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        repository.commit(f"step {step}")
        repository.push()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append({"seconds": time.perf_counter() - started, "cpu_seconds": cpu})
    repository.close()
    return medians(found[1:])


def calls(folder: Path, count: int) -> dict[str, Any]:
    from tests.reports.made_runs import make_run

    source = RunFolder.read(make_run(folder / "few", steps=1, groups=1, size=8, tokens=500, evaluations=()))
    rollout = next(source.iter_groups(1)).rollouts[0]

    def rate(function: Any) -> float:
        started = time.perf_counter()
        for _ in range(count):
            function(None, rollout, rollout.verdict)
        return time.perf_counter() - started

    bare = min(rate(plain) for _ in range(3))
    without = min(rate(logged) for _ in range(3))
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        with strop.logging_to(folder / "log"):
            rate(logged)
        seconds.append(time.perf_counter() - started)
    taken = {"plain": bare, "decorated": without, "logged": min(seconds)}
    return {
        "calls_per_second": {name: count / value for name, value in taken.items()},
        "microseconds": {
            name: 1e6 * (value - bare) / count for name, value in taken.items() if name != "plain"
        },
    }


def real(folder: Path, run: Path) -> dict[str, Any]:
    """A real run's rollouts, written again, compared with the seconds of the steps that made them."""
    source = RunFolder.read(run)
    lines = {line["step"]: line for line in source.iter_metrics()}
    wrote, wall, count = 0.0, 0.0, 0
    with RunFolder.create(folder / "again", recipe="seed: 1\n", versions={}) as again:
        for step in source.rollout_steps():
            if step in lines:
                groups = list(source.iter_groups(step))
                wrote += write(again, step, groups, lines[step])["all"]
                wall += lines[step]["seconds"]
                count += sum(len(group.rollouts) for group in groups)
    return {"rollouts": count, "write_seconds": wrote, "step_seconds": wall, "percent": 100 * wrote / wall}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=500)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--run", type=Path, help="a real run folder, which is only read")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found: dict[str, Any] = {"step": made_step(folder, options.tokens, options.steps)}
        found["log_reward"] = calls(folder, options.calls)
        if options.run:
            found["run"] = real(folder, options.run)
    text = json.dumps(found, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
