"""Many completions at once, as they come: for whoever asks and does nothing else meanwhile."""

from collections.abc import Iterator, Sequence

from strop.core.protocols import Policy, Request
from strop.core.rollout import Completion, SamplingParams

_WAIT = 1.0
"""Seconds that one call to `work` may wait."""


def answers(
    policy: Policy, prompts: Sequence[Sequence[int]], seeds: Sequence[int], params: SamplingParams
) -> Iterator[tuple[int, Completion]]:
    """Yields (row, completion) as rows finish, every row once. Closing the iterator cancels the others.

    The first row that fails for good ends it with its error.
    """
    waiting = {
        row: policy.submit(Request(prompt, seed, params))
        for row, (prompt, seed) in enumerate(zip(prompts, seeds, strict=True))
    }
    try:
        while waiting:
            for row in [row for row, future in waiting.items() if future.done()]:
                yield row, waiting.pop(row).result()
            if waiting:
                policy.work(_WAIT)
    finally:
        for future in waiting.values():
            future.cancel()
        policy.work(0)
