"""Many prompts through `strop build rust`: its memory does not grow with them."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.scale import most

pytest.importorskip("openai", reason="openai is not installed")
pytestmark = pytest.mark.rust
COUNT = most(1000, 120)
GROWTH_BYTES = 16 * 2**20
"""Of the command, between its first tenth and its end; the prompts, and their rewritten forms, have as much each."""


def resident(pid: int) -> int:
    """Bytes of a process that are in memory; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


@pytest.mark.rust(60)
def test_memory_stays_flat(build, model, tmp_path) -> None:
    source, out = tmp_path / "prompts.jsonl", tmp_path / "out"
    with source.open("w") as file:
        for n in range(COUNT):
            text = f"Write a Python function add_{n} that does number {n}. {f'word{n} ' * 2000}"
            file.write(json.dumps({"text": text}) + "\n")
    few = model.say
    model.say = lambda question, number, stage, attempt: (
        f"Write add_{number}, exercise {number}: " + f"word{number} " * 2000
        if stage == "rewrite"
        else few(question, number % 5, stage, 2)
    )
    process = build(source, out)
    results, seen = out / "results.jsonl", []
    while process.poll() is None:
        done = results.read_bytes().count(b"\n") if results.exists() else 0
        seen.append((done, resident(process.pid)))
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
    said, err = process.communicate()
    assert process.returncode == 0, err
    assert said.startswith(f"{COUNT} of {COUNT} prompts kept: "), said
    assert COUNT != 1000 or ": 909 train, 61 test, 30 eval" in said
    first = max(size for done, size in seen if done <= COUNT // 10)
    most = max(size for _, size in seen)
    print(f"resident: {first >> 20} MiB at a tenth, {most >> 20} MiB at most")
    assert most - first < GROWTH_BYTES
    assert set(model.asked.values()) == {1} and model.asked.total() == 2 * COUNT
