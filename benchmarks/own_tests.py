"""How well the strength of own tests tells tests from their look-alikes: HumanEval in Rust, with rustc in the jail.

    python benchmarks/own_tests.py DATA.jsonl [--json FILE] [--most 40]

DATA has a Rust task a line: `prompt`, `canonical_solution` and `test` together are an answer with tests of its own.
Each that passes is measured as it is (`honest`), and with every assertion replaced by one that evaluates the same
values and cannot fail: `constant` (plain to see in the parse tree) and `hollow` (only mutation can tell). For each: how
many were refused, by what, and the scores; and how many mutants compiled.
"""

import argparse
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from strop.core.verdict import Outcome, Stage, Verdict
from strop.sandbox import Limits, run_command
from strop.verification.strength import measure, own_tests_hold
from strop.verification.strength.measure import neutral

NO_BUILD = 77
LIMITS = Limits(
    cpu_seconds=20, wall_seconds=120, memory_bytes=4 * 2**30, file_bytes=64 * 2**20, open_files=256
)
LOOKS = re.compile(r"let _ = (.*?); \}\}")
HOLLOW = r"let r = \1; assert!(std::mem::size_of_val(&r) < 99); }}"
CONSTANT = r"let _ = \1; assert!(true); }}"


def verify(texts: list[str]) -> list[Verdict]:
    """Builds each text with `rustc --test` and runs its tests."""
    return [_verify(text) for text in texts]


def _verify(text: str) -> Verdict:
    said = subprocess.run(
        ["rustc", "--print", "sysroot"], capture_output=True, text=True, timeout=60, check=True
    )
    root = said.stdout.strip()
    build = (
        f"{root}/bin/rustc --edition 2021 --test -Awarnings -Ccodegen-units=1 lib.rs -o t || exit {NO_BUILD}"
    )
    argv = ["/bin/sh", "-c", f"{build}; ulimit -t 2; ./t --test-threads=1 || exit 1"]
    result = run_command(
        argv,
        files={"lib.rs": text},
        limits=LIMITS,
        profile="build",
        read=[root],
        environment={"PATH": "/usr/bin:/bin"},
    )
    if result.status == NO_BUILD:
        return Verdict(outcome=Outcome.FAILED, stages=[Stage(name="build", passed=False)])
    outcome = Outcome.PASSED if result.status == 0 else Outcome.FAILED
    stages = [Stage(name="build", passed=True), Stage(name="test", passed=result.status == 0)]
    return Verdict(outcome=outcome, stages=stages)


def weakened(answer: str, change: str) -> str:
    """The answer with assertions that evaluate what they look at and hold whatever it is."""
    return LOOKS.sub(change, neutral(answer))


def kinds(path: Path, most: int) -> dict[str, list[str]]:
    """Answers by kind; only those with tests that pass."""
    answers = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        head = f"{row['prompt']}\n{row['canonical_solution']}"
        head += "\n}" * (head.count("{") - head.count("}"))  # some lack their last brace
        if "#[test]" in row["test"]:
            answers.append(f"{head}\n{row['test']}")
    honest = [a for a in answers[:most] if _verify(a).passed]
    return {
        "honest": honest,
        "constant": [weakened(a, CONSTANT) for a in honest],
        "hollow": [weakened(a, HOLLOW) for a in honest],
    }


def summary(answers: list[str]) -> dict[str, Any]:
    """Counts over answers of one kind."""
    counts: Counter[str] = Counter()
    scores: list[float] = []
    for answer in answers:
        strength = measure(answer, verify, seed=0)
        by_text = own_tests_hold(answer) is not None
        counts["refused by text"] += by_text
        counts["refused by mutation"] += not strength.holds and not by_text
        counts["held"] += strength.holds
        counts["mutants"] += strength.made
        counts["compiled"] += strength.compiled
        if strength.score is not None:
            scores.append(strength.score)
    mean = sum(scores) / len(scores) if scores else None
    return {"answers": len(answers), **counts, "mean_score": mean}


def main() -> None:
    """Prints a line a kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most", type=int, default=40)
    asked = parser.parse_args()
    if shutil.which("rustc") is None:
        raise SystemExit("rustc is needed")
    found = {kind: summary(answers) for kind, answers in kinds(asked.data, asked.most).items()}
    for kind, counts in found.items():
        print(kind, counts)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
