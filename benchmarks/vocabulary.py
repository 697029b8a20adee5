"""The cost of a large vocabulary: log-probabilities with their gradients, and choosing tokens, compared with plain
torch.

    python benchmarks/vocabulary.py [--words 151936] [--size 896] [--tokens 1500] [--rows 96] [--json FILE]

CPU seconds of one thread: the head of the update (`training.head`) compared with whole logits, and `decoding.choose`
with softmax and multinomial, which give neither log-probabilities nor entropies.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from strop.policies.decoding import choose, uniforms
from strop.training.head import head_selects


def seconds(run: Callable[[], Any], times: int) -> float:
    """CPU seconds of one call, after a warm-up call."""
    run()
    started = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - started) / times


def updates(words: int, size: int, tokens: int) -> tuple[float, float]:
    """(ours, plain): forward and backward, weights in float32 that are trained, computed in bfloat16."""
    torch.manual_seed(0)
    head = torch.nn.Linear(size, words, bias=False)
    hidden = torch.randn(1, tokens, size, requires_grad=True)
    targets, weights = torch.randint(words, (tokens,)), torch.randn(tokens)

    def ours() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16), head_selects(head, targets, 1.0):
            values = head(hidden)[0, :, 0]
        (values * weights).sum().backward()

    def plain() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = head(hidden)[0]
        values = logits.float().log_softmax(dim=-1).gather(1, targets[:, None])[:, 0]
        (values * weights).sum().backward()

    return seconds(ours, 2), seconds(plain, 2)


def choices(words: int, rows: int) -> tuple[float, float]:
    """(ours, plain): choosing a token for each row."""
    torch.manual_seed(0)
    logits, draws = (3 * torch.randn(rows, words)).bfloat16(), uniforms(range(rows), 1)[:, 0]
    return (
        seconds(lambda: choose(logits, draws, temperature=0.8), 8),
        seconds(lambda: torch.multinomial((logits.float() / 0.8).softmax(dim=-1), 1), 8),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("words", 151_936), ("size", 896), ("tokens", 1500), ("rows", 96)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    (update, plain), (choice, drawn) = (
        updates(given.words, given.size, given.tokens),
        choices(given.words, given.rows),
    )
    found = {
        "update_seconds": update, "update_plain_seconds": plain, "update_ratio": update / plain,
        "choose_seconds": choice, "choose_plain_seconds": drawn, "choose_ratio": choice / drawn,
    }  # fmt: skip
    print("\n".join(f"{name:22} {value:.3f}" for name, value in found.items()))
    if given.json:
        given.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
