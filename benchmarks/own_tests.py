"""How well the strength of an answer's own tests distinguishes real tests from sham ones: HumanEval in Rust, with rustc
in the jail.

    python benchmarks/own_tests.py DATA.jsonl [--json FILE] [--most 40]

DATA has one Rust task per line: `prompt`, `canonical_solution` and `test` together are an answer with its own tests.
Each that passes is measured unchanged (`honest`), and with every assertion replaced by one that evaluates the same
values and cannot fail: `constant` (visible in the parse tree) and `hollow` (only found by mutation). For each: the
number refused, by which check, and the scores; and the number of mutants that compiled.
"""

import argparse
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from strop_verify.code.mutate.mutants import mutants
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, Verdict
from strop_verify.sandbox import Limits, run_command
from strop_verify.verification import open_verifier
from strop_verify.verification.rust.own_tests import MUTANTS
from strop_verify.verification.strength import judge, own_tests_hold
from strop_verify.verification.strength.measure import neutral
from strop_verify.verification.verifier import OpenVerifier

NO_BUILD = 77
LIMITS = Limits(
    cpu_seconds=20, wall_seconds=120, memory_bytes=4 * 2**30, file_bytes=64 * 2**20, open_files=256
)
TASK = Task(statement="s", language="rust", check=RustCheck())
LOOKS = re.compile(r"let _ = (.*?); \}\}")
HOLLOW = r"let r = \1; assert!(std::mem::size_of_val(&r) < 99); }}"
CONSTANT = r"let _ = \1; assert!(true); }}"


def _verify(text: str) -> Verdict:
    """Builds a text with `rustc --test` and runs its tests."""
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
    """The answer with assertions that evaluate their values and always hold."""
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


def summary(answers: list[str], verifier: OpenVerifier) -> dict[str, Any]:
    """Counts over answers of one kind."""
    counts: Counter[str] = Counter()
    scores: list[float] = []
    for answer in answers:
        held = verifier.verify(TASK, answer).passed
        made = mutants(answer, "rust", seed=0, limit=MUTANTS)
        strength = judge(made, [_verify(mutant.text) for mutant in made])
        by_text = own_tests_hold(answer) is not None
        counts["refused by text"] += by_text
        counts["refused by mutation"] += not held and not by_text
        counts["held"] += held
        counts["mutants"] += strength.made
        counts["compiled"] += strength.compiled
        if strength.score is not None:
            scores.append(strength.score)
    mean = sum(scores) / len(scores) if scores else None
    return {"answers": len(answers), **counts, "mean_score": mean}


def main() -> None:
    """Prints one line per kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--most", type=int, default=40)
    asked = parser.parse_args()
    if shutil.which("rustc") is None:
        raise SystemExit("rustc is needed")
    with open_verifier(rust_verdict="cargo") as verifier:
        found = {kind: summary(answers, verifier) for kind, answers in kinds(asked.data, asked.most).items()}
    for kind, counts in found.items():
        print(kind, counts)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
