"""A reward that needs Ruff (pip install ruff): how little it has to say of an answer. Nothing of the answer is run."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import strop
from strop.core.protocols import JudgedRollout

RULES = "E4,E7,E9,F"
"""Ruff's own default rules: imports, statements, syntax, names."""
SECONDS = 60


@strop.batched
def ruff(rollouts: Sequence[JudgedRollout]) -> list[float]:
    """1 / (1 + findings), 0 for no answer and what does not parse. Alone it pays for short answers: weigh it low."""
    answers = [one.rollout.answer for one in rollouts]
    with tempfile.TemporaryDirectory() as folder:
        for number, answer in enumerate(answers):
            Path(folder, f"{number}.py").write_text(answer, encoding="utf-8", errors="replace")
        found = _findings(folder)
    counted = Counter(name for name, _ in found)
    broken = {name for name, code in found if code in (None, "invalid-syntax")}
    return [
        0.0 if not answer.strip() or f"{number}.py" in broken else 1 / (1 + counted[f"{number}.py"])
        for number, answer in enumerate(answers)
    ]


def _findings(folder: str) -> list[tuple[str, str | None]]:
    """(name of the file, rule) of every finding; comments in answers cannot silence one."""
    options = ["--isolated", "--no-cache", "--ignore-noqa", "--exit-zero", "--quiet", f"--select={RULES}"]
    words = [sys.executable, "-m", "ruff", "check", *options, "--output-format=json", folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        cause = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise RuntimeError(f"ruff cannot be run ({cause}); pip install ruff")
    return [(Path(one["filename"]).name, one["code"]) for one in json.loads(done.stdout)]
