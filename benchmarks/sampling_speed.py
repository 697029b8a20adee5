"""Compares the sampling speed of the transformers engine and of vLLM on this machine, with the embedded model.

    python benchmarks/sampling_speed.py [--rows 16 96] [--tokens 48] [--eager]

Both sample the same prompts in groups of 8, without stop strings. A line gives tokens per CPU second and per wall
second; on a busy machine, only the first is reliable.

    python benchmarks/sampling_speed.py --turns 4 [--rows 32]

Plays of that many turns with the transformers engine, which keeps a play's cache for its next turn, and then with the
same engine without a cache: seconds of each and their ratio.
"""

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

from strop.config.model import VllmPolicyConfig as VllmConfig
from strop.policies.loading import (
    EMBEDDED,
    load_model,
    load_tokenizer,
    model_path,
    named_weights,
    resolve_dtype,
)
from strop.policies.open import answers
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.policies.vllm_engine import VllmPolicy
from strop_verify.core.protocols import CacheHandle, Request
from strop_verify.core.rollout import SamplingParams

PROMPT = 'def task_{}(values: list[int]) -> int:\n    """Return the sum of all values above {}, or 0 for none."""\n'


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), cpu_seconds()
    result = work()
    return result, time.perf_counter() - wall, cpu_seconds() - cpu


def measure(name: str, policy: Any, rows: int, tokens: int) -> None:
    prompts = [policy.tokenizer.encode(PROMPT.format(i // 8, i // 8)) for i in range(rows)]
    params = SamplingParams(max_tokens=tokens)
    best = (0.0, 0.0)
    for run in range(3):  # the first turn warms up that shape; the best of the others counts
        seeds = [run * rows + i for i in range(rows)]
        done, wall, cpu = timed(lambda seeds=seeds: list(answers(policy, prompts, seeds, params)))
        count = sum(len(completion.token_ids) for _, completion in done)
        print(
            f"  {name:13} rows {rows:3}  run {run}  {count:5} tokens  {wall:.2f} s wall  {cpu:.2f} s cpu",
            flush=True,
        )
        if run:
            best = max(best, (count / cpu, count / wall))
    print(f"{name:13} rows {rows:3}  {best[0]:6.0f} tokens/CPU s  {best[1]:6.0f} tokens/s", flush=True)


def play(policy: TransformersPolicy, rows: int, turns: int, keep: bool) -> None:
    """Plays like an agent's: a prompt of about 300 tokens, then calls of 16 tokens and results of about 60."""
    params = SamplingParams(max_tokens=16)
    contexts = [policy.tokenizer.encode(PROMPT.format(i // 8, i // 8) * 8) for i in range(rows)]
    result = policy.tokenizer.encode(PROMPT.format(7, 7) * 2)[:60]
    talks = [CacheHandle() if keep else None for _ in range(rows)]
    for turn in range(turns):
        asked = [
            policy.submit(Request(context, rows * turn + i, params, talk))
            for i, (context, talk) in enumerate(zip(contexts, talks, strict=True))
        ]
        while not all(future.done() for future in asked):
            policy.work(0)
        contexts = [
            [*context, *future.result().token_ids, *result]
            for context, future in zip(contexts, asked, strict=True)
        ]


def measure_turns(policy: TransformersPolicy, rows: int, turns: int) -> None:
    spent: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for keep in (True, False, True, False):
        _, wall, cpu = timed(lambda keep=keep: play(policy, rows, turns, keep))
        spent[keep].append((cpu, wall))
    kept, again = min(spent[True]), min(spent[False])
    print(
        f"rows {rows:3}  turns {turns}  kept {kept[1]:.1f} s ({kept[0]:.1f} s cpu)  computed again {again[1]:.1f} s "
        f"({again[0]:.1f} s cpu)  ratio of cpu {again[0] / kept[0]:.2f}, of wall {again[1] / kept[1]:.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[16, 96])
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--dtype", default="auto", choices=["auto", "bfloat16", "float32"])
    parser.add_argument("--eager", action="store_true", help="vLLM without compilation")
    parser.add_argument("--turns", type=int, default=0, help="plays of so many turns, and nothing else")
    options = parser.parse_args()
    dtype = resolve_dtype(options.dtype)
    tokenizer = HubTokenizer(load_tokenizer(EMBEDDED))
    model = load_model(EMBEDDED, device="cpu")
    theirs, wall, cpu = timed(lambda: TransformersPolicy(model, tokenizer, dtype=dtype))
    if options.turns:
        for rows in options.rows:
            measure_turns(theirs, rows, options.turns)
        return
    print(f"transformers  starts in {wall:.1f} s wall, {cpu:.1f} s cpu beside the training model ({dtype})")
    for rows in options.rows:
        measure("transformers", theirs, rows, options.tokens)
    config = VllmConfig(enforce_eager=options.eager, cpu_cache_gib=1, max_num_seqs=max(options.rows))
    ours, wall, cpu = timed(
        lambda: VllmPolicy(model_path(EMBEDDED), tokenizer, config, dtype=dtype, max_model_len=512)
    )
    print(
        f"vllm          starts in {wall:.1f} s wall, {cpu:.1f} s cpu ({'eager' if options.eager else 'compiled'})"
    )
    _, wall, cpu = timed(lambda: ours.update(1, named_weights(model)))
    print(f"vllm          takes new weights in {wall:.2f} s wall, {cpu:.2f} s cpu")
    for rows in options.rows:
        measure("vllm", ours, rows, options.tokens)


if __name__ == "__main__":
    main()
