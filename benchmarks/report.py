"""Measures `strop report` on a large synthetic run: wall seconds, peak memory, size of the file.

The run is seeded and written by RunFolder itself to a temporary folder: answers of about 100 tokens with log-probs and
entropies, verdicts with stages, compiler output and tests. `strop report` then runs as a separate process.

    python benchmarks/report.py --rollouts 50000 --json report.json
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GROUPS, SIZE = 32, 8


def made(folder: Path, rollouts: int, tokens: int, seed: int) -> dict[str, Any]:
    """Makes the run; returns its size and the time that it took."""
    sys.path.insert(0, str(ROOT))
    from tests.reports.made_runs import make_run

    started = time.perf_counter()
    steps = max(1, -(-rollouts // (GROUPS * SIZE)))
    make_run(
        folder, steps=steps, groups=GROUPS, size=SIZE, tokens=tokens, seed=seed, language="rust", tasks=500,
        evaluations=("before", f"step-{steps // 2:06d}", "after"), held_out=50,
    )  # fmt: skip
    packed = sum(path.stat().st_size for path in folder.rglob("*.zst"))
    return {"rollouts": steps * GROUPS * SIZE, "steps": steps, "tokens": tokens, "packed_mb": packed / 1e6,
            "making_seconds": time.perf_counter() - started}  # fmt: skip


def measured(run: Path, target: Path) -> dict[str, Any]:
    """Runs `strop report` and measures its time and peak resident memory."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "strop.cli", "report", str(run), "-o", str(target)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"strop report failed with status {os.waitstatus_to_exitcode(status)}")
    seconds = time.perf_counter() - started
    return {"said": said.strip(), "seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_rss_mb": usage.ru_maxrss / 1024, "file_mb": target.stat().st_size / 1e6}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rollouts", type=int, default=50_000)
    parser.add_argument("--tokens", type=int, default=100, help="of an answer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--keep", type=Path, help="folder for the run and its report; a run that is there is used"
    )
    parser.add_argument("--json", type=Path, help="file for the numbers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary) / "run"
        found: dict[str, Any] = {"cores": os.cpu_count(), "load": os.getloadavg()[0]}
        if not (folder / "recipe.yaml").is_file():
            found |= made(folder, options.rollouts, options.tokens, options.seed)
            print(f"made {found['rollouts']} rollouts in {found['making_seconds']:.0f} s", file=sys.stderr)
        found |= measured(folder, folder / "report.html")
    text = json.dumps(found, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
