"""CPU seconds per training step: Strop compared with a plain TRL script in one run.

The same model (SmolLM2-135M-Instruct), prompts, group size, completion limit, loss and optimiser settings; no stop
strings on either side, since TRL's generate supports none, so that lengths are similar; part of the reward depends on
length, so that every group has signal and Strop leaves none out of the update. The contestants, in sequence:

    trl        TRL's defaults: gradient checkpointing, float32 weights, bfloat16 autocast in the update
    trl-best   no checkpointing, frozen embedding
    trl-bf16   the same with weights in bfloat16, so that TRL also samples in it; without float32 masters, small updates
               are lost to rounding
    strop      demo

    python benchmarks/step_time.py [--steps 3] [--tasks 8] [--model FOLDER] [--against trl-best]

Prints medians over steps after the first, and the ratios. `--model`: another model than the demo's, on both sides. All
run on a GPU if there is one (`benchmarks/gpu.py` has the wall time there). Without fast bfloat16, TRL's update is in
float32, as Strop's is.
"""

import argparse
import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from strop.config.load import load_recipe
from strop.policies.loading import EMBEDDED

GROUP, TOKENS = 16, 44
CONTESTANTS = ("trl", "trl-best", "trl-bf16", "strop")
DEMO = load_recipe(["demo"]).tasks
REWARDS = (
    f"rewards=[{{name: passed, weight: 1.0}}, {{name: '{Path(__file__).resolve()}:length', weight: 1.0}}]"
)
STYLE, TEMPLATE, TOPICS = DEMO.style, DEMO.template, DEMO.topics


def cpu_seconds() -> float:
    """User and system time of this process and its ended children."""
    return sum(
        u.ru_utime + u.ru_stime
        for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def worker_seconds() -> float:
    """CPU time of living descendants: the verifiers' processes."""
    ticks, total = os.sysconf("SC_CLK_TCK"), 0
    for pid in subprocess.run(
        ["pgrep", "-P", str(os.getpid())], capture_output=True, text=True
    ).stdout.split():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(fields[i]) for i in (11, 12, 13, 14))
    return total / ticks


def length(task: Any, rollout: Any, verdict: Any) -> float:
    """A reward that differs within every group."""
    return sum(len(turn.completion.text) for turn in rollout.turns) / 1000


def mark() -> tuple[float, float]:
    """(CPU seconds, wall seconds) so far."""
    return cpu_seconds() + worker_seconds(), time.perf_counter()


def between(marks: list[tuple[float, float]]) -> dict[str, list[float]]:
    """Seconds of each step except the first, whose start is unknown."""
    pairs = list(itertools.pairwise(marks))
    return {name: [b[at] - a[at] for a, b in pairs] for at, name in enumerate(("cpu", "wall"))}


def run_trl(steps: int, count: int, kind: str, tokens: int = TOKENS, name: str = EMBEDDED) -> dict[str, Any]:
    """A plain TRL script with Strop's verdicts as its reward."""
    import torch
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    import strop.policies  # noqa: F401 - the same process settings for both
    from strop.policies.loading import has_fast_bfloat16, load_model, load_tokenizer
    from strop.tasks import load_tasks, render
    from strop_verify.verification import open_verifier

    best = kind != "trl"
    dtype = torch.bfloat16 if kind == "trl-bf16" else torch.float32
    tokenizer, model = load_tokenizer(name), load_model(name, dtype=dtype)
    chosen = load_tasks("python-functions", split="train", topics=TOPICS)
    tasks = {t.id: t for t in random.Random(0).sample(chosen, count * 8)}
    prompts = {i: render(t, STYLE, TEMPLATE) for i, t in tasks.items()}
    rows = [
        {
            "prompt": tokenizer.apply_chat_template(
                [m.model_dump() for m in p.messages], tokenize=False, add_generation_prompt=True
            ),
            "task_id": i,
        }
        for i, p in prompts.items()
    ]
    if best:
        model.get_input_embeddings().requires_grad_(False)
    marks: list[tuple[float, float]] = []
    verifier = open_verifier()

    def passed(
        prompts_: list[str], completions: list[str], task_id: list[str], **_: Any
    ) -> list[float | None]:
        futures = [
            verifier.submit(tasks[i], prompts[i].assemble(c))
            for i, c in zip(task_id, completions, strict=True)
        ]
        lengths = [len(c) / 1000 for c in completions]
        return [float(f.result().passed) + length for f, length in zip(futures, lengths, strict=True)]

    def reward(**given: Any) -> list[float | None]:
        return passed(given["prompts"], given["completions"], given["task_id"])

    class Mark(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            marks.append(mark())

    options: dict[str, Any] = {"gradient_checkpointing": False} if best else {}
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder, per_device_train_batch_size=16, gradient_accumulation_steps=count * GROUP // 16,
            num_generations=GROUP, max_completion_length=tokens, temperature=0.8, beta=0.0, loss_type="dapo",
            learning_rate=4e-5, max_steps=steps, save_strategy="no", report_to="none",
            use_cpu=not torch.cuda.is_available(), bf16=has_fast_bfloat16(),
            logging_steps=1, disable_tqdm=True, remove_unused_columns=False,
            **options,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=model, args=config, reward_funcs=reward, train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer, callbacks=[Mark()],
        )  # fmt: skip
        trainer.train()
        lengths = [
            h["completions/mean_length"] for h in trainer.state.log_history if "completions/mean_length" in h
        ]
    verifier.close()
    return {
        **between(marks),
        "tokens": statistics.mean(lengths),
    }


def run_strop(steps: int, count: int, tokens: int = TOKENS, name: str = EMBEDDED) -> dict[str, Any]:
    """The demo's recipe without stop strings and evaluations."""
    from strop.training.run import train

    marks: list[tuple[float, float]] = []
    metrics: list[dict[str, Any]] = []

    def show(line: dict[str, Any]) -> None:
        marks.append(mark())
        metrics.append(line)

    with tempfile.TemporaryDirectory() as folder:
        words = [
            f"run.dir={folder}/run", "run.save_every=1000", f"optim.steps={steps + 1}", "evaluation.before=false",
            "evaluation.room=1",
            "evaluation.after=false", 'sampling.stop=["\\u0001"]', f"grpo.group_size={GROUP}",
            f"grpo.tasks_per_step={count}", f"sampling.max_tokens={tokens}", f"model.name={name}",
            REWARDS,
        ]  # fmt: skip
        train(load_recipe(["demo"], words), say=lambda text: None, show=show)
    split = {
        part: statistics.median(m[f"seconds_{part}"] for m in metrics[1:])
        for part in ("sampling", "verifying", "update")
    }
    # The last step is left out: the final checkpoint is written before its mark.
    return {
        **between(marks),
        "signal": sum(m["groups_learnt"] for m in metrics) / (count * len(metrics)),
        "grad_norm": metrics[-1]["grad_norm"],
        "tokens": statistics.mean(m["completion_tokens"] for m in metrics),
        "wall_split": split,
    }


def main() -> None:
    """Runs the contestants in sequence, each in a separate process."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=8, help="tasks a step, 16 answers each")
    parser.add_argument("--model", default=EMBEDDED, help="a folder or an id on the Hub")
    parser.add_argument("--against", nargs="+", choices=CONTESTANTS[:-1], default=CONTESTANTS[:-1])
    parser.add_argument("--only", choices=CONTESTANTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        result = (
            run_strop(args.steps, args.tasks, name=args.model)
            if args.only == "strop"
            else run_trl(args.steps, args.tasks, args.only, name=args.model)
        )
        print("RESULT " + json.dumps(result))
        return
    medians = {}
    for name in (*args.against, "strop"):
        options = {"--only": name, "--steps": args.steps, "--tasks": args.tasks, "--model": args.model}
        command = [sys.executable, __file__, *(str(word) for pair in options.items() for word in pair)]
        out = subprocess.run(command, capture_output=True, text=True)
        lines = [line for line in out.stdout.splitlines() if line.startswith("RESULT ")]
        if not lines:
            sys.exit(f"{name} failed:\n{out.stderr[-3000:]}")
        result = json.loads(lines[0].removeprefix("RESULT "))
        medians[name] = statistics.median(result["cpu"])
        print(f"{name:9} {medians[name]:7.1f} CPU s per step (of {len(result['cpu'])}), {result}", flush=True)
    for other in args.against:
        print(f"strop / {other}: {medians['strop'] / medians[other]:.2f}")


if __name__ == "__main__":
    main()
