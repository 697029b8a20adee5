"""Compares Rust verdicts in batches with the published recipe on the same answers.

The recipe: for each completion three fresh project folders, then `cargo build`, `cargo clippy` and `cargo test` in
sequence, without a jail. Ours: `RustToolchain`, jailed, `--batch` answers at a time, with `--verdict` cargo, which
decides like the recipe, or strict. Both run in turn on small slices; CPU time is that of all processes of a side, wall
time is the caller's wait. Answers that do not end are not timed, since their cost depends on limits (10 s of CPU time
here, a minute in the recipe).

    python benchmarks/verify_rust.py --json FILE                        # about 3 minutes
    python benchmarks/verify_rust.py --compare 600 [--exercism FILE]    # only: are the verdicts the same?
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from rust_answers import answers, builtin, source_of

from strop.tasks import load_tasks
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox import Limits
from strop_verify.verification.rust import RustToolchain

STEPS = ("build", "clippy", "test")
Pair = tuple[Task, str]
Signals = tuple[bool, bool, bool]


def recipe(task: Task, answer: str) -> Signals:
    """The three signals as in the published recipe; a step that takes a minute has failed."""
    signals = []
    for step in STEPS:
        folder = Path(tempfile.mkdtemp(prefix="recipe-"))
        try:
            write_package(folder, task, answer)
            signals.append(_cargo(folder, step))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return (signals[0], signals[1], signals[2])


def write_package(folder: Path, task: Task, answer: str) -> None:
    """A library crate with the answer as src/lib.rs, its tests below it or beside it."""
    check = task.check
    assert isinstance(check, RustCheck)
    crates = "".join(f'{name} = "*"\n' for name in check.crates)
    (folder / "src").mkdir()
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{check.crate or "answer"}"\nversion = "0.1.0"\nedition = "{check.edition}"\n\n'
        f"[dependencies]\n{crates}"
    )
    beside = bool(check.crate and check.tests)
    (folder / "src/lib.rs").write_text(answer if beside or not check.tests else f"{answer}\n{check.tests}")
    if beside:
        (folder / "tests").mkdir()
        (folder / f"tests/{check.crate}.rs").write_text(check.tests)


def _cargo(folder: Path, step: str) -> bool:
    process = subprocess.Popen(
        ["cargo", step, "--quiet", "--offline"], cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait(20) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)  # cargo's test program would go on
        process.wait()


def signals_of(verdict: Verdict) -> Signals:
    """Build, lint and test of one of our verdicts."""
    build, lint, test = (s.passed for s in verdict.stages)
    return (build, lint, test)


def _cpu() -> float:
    return sum(
        u.ru_utime + u.ru_stime
        for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def ending(pairs: list[Pair], count: int) -> list[Pair]:
    """The first `count` answers that end."""
    toolchain = RustToolchain(
        verdict="cargo", limits=Limits(cpu_seconds=1.0, wall_seconds=5.0, memory_bytes=2 << 30)
    )
    kept: list[Pair] = []
    for start in range(0, len(pairs), toolchain.batch):
        part = pairs[start : start + toolchain.batch]
        kept += [
            p for p, v in zip(part, toolchain.judge(part), strict=True) if v.outcome is not Outcome.TIMED_OUT
        ]
        if len(kept) >= count:
            break
    toolchain.close()
    return kept[:count]


def toolchain_of(verdict: str) -> RustToolchain:
    """Ours."""
    return RustToolchain(verdict="strict" if verdict == "strict" else "cargo")


def measure(pairs: list[Pair], batch: int, slices: int, verdict: str) -> dict[str, object]:
    """Both sides in turn: a slice by the recipe, then a batch by us, until all answers are done.

    One jail process serves the whole run. Its CPU time, with that of all its children, is known when it is reaped at
    the end, so `cpu_ms` is a mean over all turns, start included; `wall_ms` is the median turn.
    """
    warm = toolchain_of(verdict)
    warm.judge(pairs[:1])  # compilers into the file cache, with lints
    warm.close()
    recipe_cpu = recipe_wall = our_cpu = 0.0
    walls, differences, passed, judged = [], [], 0, 0
    toolchain = toolchain_of(verdict)
    for start in range(0, len(pairs), batch):
        part = pairs[start : start + batch]
        step = -(-len(part) // slices)
        expected: list[Signals] = []
        verdicts: list[Verdict] = []
        for number in range(slices):
            before, began = _cpu(), time.monotonic()
            expected += [recipe(*pair) for pair in part[number * step : (number + 1) * step]]
            recipe_cpu, recipe_wall = recipe_cpu + _cpu() - before, recipe_wall + time.monotonic() - began
            before, began = _cpu(), time.monotonic()
            verdicts = toolchain.judge(part)
            our_cpu, judged = our_cpu + _cpu() - before, judged + len(part)
            walls.append((time.monotonic() - began) / len(part))
        found = [signals_of(v) for v in verdicts]
        passed += sum(all(s) for s in found)
        differences += _differences(part, found, expected)
    before = _cpu()
    toolchain.close()
    our_cpu += _cpu() - before
    times = {
        "recipe_cpu_ms": 1000 * recipe_cpu / len(pairs), "recipe_wall_ms": 1000 * recipe_wall / len(pairs),
        "cpu_ms": 1000 * our_cpu / judged, "wall_ms": 1000 * statistics.median(walls),
    }  # fmt: skip
    return {
        "cpu_ratio": times["recipe_cpu_ms"] / times["cpu_ms"],
        "wall_ratio": times["recipe_wall_ms"] / times["wall_ms"],
        "differences": len(differences), "which": differences,
        "answers": len(pairs), "batch": batch, "passed": passed, **times,
    }  # fmt: skip


def _differences(pairs: list[Pair], ours: list[Signals], cargo: list[Signals]) -> list[dict[str, object]]:
    return [
        {"task": task.id, "ours": mine, "cargo": other, "answer": answer}
        for (task, answer), mine, other in zip(pairs, ours, cargo, strict=True)
        if mine != other
    ]


def compare(pairs: list[Pair], verdict: str) -> dict[str, object]:
    """Judges every answer by both, without timing."""
    toolchain = toolchain_of(verdict)
    differences = []
    for start in range(0, len(pairs), toolchain.batch):
        part = pairs[start : start + toolchain.batch]
        ours = [signals_of(v) for v in toolchain.judge(part)]
        differences += _differences(part, ours, [recipe(*pair) for pair in part])
        print(f"{start + len(part)} of {len(pairs)}: {len(differences)} differences", flush=True)
    toolchain.close()
    return {"answers": len(pairs), "differences": len(differences), "which": differences}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="?", type=Path, default=Path("../shared/data/humaneval-rust.jsonl"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--answers", type=int, default=96)
    parser.add_argument("--slices", type=int, default=4, help="turns that each side takes per batch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", type=int, default=0, metavar="N")
    parser.add_argument("--verdict", choices=("cargo", "strict"), default="cargo")
    parser.add_argument(
        "--exercism", type=Path, help="compare: the examples of this file, then varied answers to it"
    )
    given = parser.parse_args()
    count = given.compare or given.answers + 32
    if given.exercism:
        source = source_of(given.exercism, exercism=True)
        pairs = [(task, task.reference) for task in load_tasks(source)]
        pairs += answers(source, max(0, count - len(pairs)), given.seed)
    elif given.data.exists():
        pairs = answers(source_of(given.data, exercism=False), count, given.seed)
    else:
        print(f"{given.data} is missing: using a few built-in tasks instead")
        pairs = builtin(count, given.seed)
    result = (
        compare(pairs, given.verdict)
        if given.compare
        else measure(ending(pairs, given.answers), given.batch, given.slices, given.verdict)
    )
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))
    print(json.dumps({k: v for k, v in result.items() if k != "which"}, indent=1))


if __name__ == "__main__":
    main()
