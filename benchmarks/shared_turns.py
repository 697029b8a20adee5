"""One update on the plays of a run with shared beginnings computed once, compared with shared prompts only and no
sharing.

    python benchmarks/shared_turns.py RUN [--step 1] [--plays 32] [--json FILE]

Forward and backward passes of RUN's own model over the plays of a step, three ways in turn: `tree` shares the plays'
common beginnings, `prompts` only the prompt (each play's first sampled token is replaced), `apart` nothing (rows one by
one). `speedup` is CPU time of `prompts` over `tree`; `difference` is the largest difference between the
log-probabilities of `tree` and `apart`.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from strop.config.load import load_recipe
from strop.policies.attention import prefix_tree
from strop.policies.loading import load_model
from strop.reports.run_folder import RunFolder
from strop.training.batch import sample_of
from strop.training.logps import micro_batches, token_logps
from strop_verify.core.rollout import Sample


def parted(sample: Sample, number: int) -> Sample:
    """The same after its prompt, except for a unique first token."""
    ids = list(sample.ids)
    ids[sample.prompt] = 1000 + number
    return replace(sample, ids=ids)


def timed(
    model: Any, samples: list[Sample], limit: int, logps: Callable[[list[Sample]], torch.Tensor]
) -> dict[str, Any]:
    """CPU and wall seconds of an update, and each sample's log-probabilities."""
    cpu, wall, found = time.process_time(), time.perf_counter(), dict[int, torch.Tensor]()
    for part in micro_batches(samples, limit):
        values = logps(part)
        values.sum().backward()
        for one, own in zip(part, values.detach().split([sample.tokens for sample in part]), strict=True):
            found[id(one)] = own
    model.zero_grad()
    return {
        "cpu_seconds": time.process_time() - cpu,
        "wall_seconds": time.perf_counter() - wall,
        "logps": torch.cat([found[id(sample)] for sample in samples]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--plays", type=int, default=32)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    recipe = load_recipe([str(args.run / "recipe.yaml")])
    groups = RunFolder.read(args.run).iter_groups(args.step)
    plays = islice((rollout for group in groups for rollout in group.rollouts), args.plays)
    samples = [sample_of(rollout, mask_truncated=False) for rollout in plays]
    apart = [parted(sample, number) for number, sample in enumerate(samples)]
    model = load_model(recipe.model.name, dtype=torch.float32)
    head, limit = model.get_output_embeddings(), recipe.optim.micro_batch_tokens
    model.get_input_embeddings().requires_grad_(recipe.model.train_embeddings)
    model.train()

    def rows(part: list[Sample]) -> torch.Tensor:
        return torch.cat(
            [token_logps(model, [one], head=head, temperature=1.0, way="rows")[0] for one in part]
        )

    def tree(part: list[Sample]) -> torch.Tensor:
        return token_logps(model, part, head=head, temperature=1.0)[0]

    found = {"apart": timed(model, samples, limit, rows)}
    found |= {
        "prompts": timed(model, apart, limit, tree),
        "tree": timed(model, samples, limit, tree),
    }
    logps = {name: one.pop("logps") for name, one in found.items()}
    tokens = {
        name: sum(
            len(prefix_tree([one.ids for one in part], "cpu")[0].ids) for part in micro_batches(some, limit)
        )
        for name, some in (("prompts", apart), ("tree", samples))
    }
    result = {
        **found,
        "tokens": {"apart": sum(len(sample.ids) for sample in samples), **tokens},
        "speedup": found["prompts"]["cpu_seconds"] / found["tree"]["cpu_seconds"],
        "difference": float((logps["apart"] - logps["tree"]).abs().max()),
    }
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
