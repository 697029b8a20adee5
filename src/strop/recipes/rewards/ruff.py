"""A reward that needs Ruff (pip install ruff): how few complaints Ruff has about an answer, read in the jail."""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import strop
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import JudgedRollout
from strop_verify.sandbox import run_command
from strop_verify.sandbox.limits import Limits

RULES = "E4,E7,E9,F"
"""Ruff's own default rules: imports, statements, syntax, names."""
LIMITS = Limits(cpu_seconds=60, wall_seconds=120, memory_bytes=4 << 30, output_bytes=64 << 20)


@strop.batched
def ruff(rollouts: Sequence[JudgedRollout]) -> list[float]:
    """1 / (1 + findings), 0 for no answer and what does not parse. Alone it pays for short answers: weigh it low."""
    files = {f"{number}.py": one.rollout.answer for number, one in enumerate(rollouts)}
    found = _findings(files)
    counted = Counter(name for name, _ in found)
    broken = {name for name, code in found if code in (None, "invalid-syntax")}
    return [
        0.0 if not answer.strip() or name in broken else 1 / (1 + counted[name])
        for name, answer in files.items()
    ]


def _findings(files: dict[str, str]) -> list[tuple[str, str | None]]:
    """(name of the file, rule) of every finding; comments in answers cannot silence one."""
    program = shutil.which("ruff") or shutil.which("ruff", path=Path(sys.executable).parent)
    if program is None:
        raise UserError("the reward ruff needs Ruff: pip install ruff")
    options = ["--isolated", "--no-cache", "--ignore-noqa", "--exit-zero", "--quiet", f"--select={RULES}"]
    words = [program, "check", *options, "--output-format=json", "."]
    texts = {name: answer.encode("utf-8", "replace") for name, answer in files.items()}
    done = run_command(words, files=texts, limits=LIMITS, profile="build", read=[program])
    if done.status or done.truncated:
        what = done.stderr.decode(errors="replace").strip() or done.expired or "it says too much"
        raise RuntimeError(f"ruff did not end well: {what[-200:]}")
    return [(Path(one["filename"]).name, one["code"]) for one in json.loads(done.stdout)]
