"""Samples laid into one row for the update: a group's prompt stands once, its completions attend to it.

The G completions of a task share their prompt. Laid after one copy of it, each attending only to the prompt and itself
(`policies.attention.PrefixGroup`), they give the same log-probabilities and gradients as G padded rows, without padding
and without computing the prompt G times. This is tree attention (SpecInfer, arXiv 2305.09781, section 4.2) applied to
the update.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import torch

from strop.core.sample import Sample
from strop.policies.attention import PrefixGroup


@dataclass
class Packed:
    """A micro-batch as one row of L tokens, group after group; N of them carry loss.

    ids, positions  (L,) positions restart at each prompt; every completion continues its prompt
    predictors  (N,) place of the token that predicts each token with loss, sample after sample
    targets     (N,) those tokens
    """

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    predictors: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    groups: list[PrefixGroup] = field(default_factory=list)

    def add_group(self, prompt: Sequence[int], samples: Sequence[Sample], device: Any) -> None:
        """Appends a prompt and the samples that continue it, each with a token after it."""
        start = len(self.ids)
        self.ids += prompt
        self.positions += range(len(prompt))
        # The last token predicts nothing, so it is not computed.
        longest = max(len(sample.ids) - len(prompt) for sample in samples) - 1
        origin = list(range(len(prompt)))
        places = []
        for number, sample in enumerate(samples):
            first, inner = len(self.ids), list(sample.ids[len(prompt) : -1])
            self.ids += inner
            self.positions += range(len(prompt), len(prompt) + len(inner))
            for at, keep in enumerate(sample.mask[len(prompt) :]):
                if keep:
                    self.predictors.append(first + at - 1 if at else start + len(prompt) - 1)
                    self.targets.append(sample.ids[len(prompt) + at])
            places.append([*range(first, first + len(inner)), *[start] * (longest - len(inner))])
            origin += range(len(prompt) + number * longest, len(prompt) + number * longest + len(inner))
        self.groups.append(
            PrefixGroup(
                prompt=slice(start, start + len(prompt)),
                completions=torch.tensor(places, device=device).reshape(len(places), longest),
                origin=torch.tensor(origin, device=device),
            )
        )


def pack(samples: Sequence[Sample], device: Any) -> Packed:
    """Neighbours with the same prompt share it. Every sample has a token after its prompt."""
    packed = Packed()
    for prompt, group in groupby(samples, key=prompt_of):
        packed.add_group(prompt, list(group), device)
    return packed


def prompt_of(sample: Sample) -> tuple[int, ...]:
    """The tokens before the first sampled one."""
    return tuple(sample.ids[: sample.prompt])


def micro_batches(samples: Sequence[Sample], limit: int) -> Iterator[list[Sample]]:
    """Neighbours whose tokens, each shared prompt counted once, stay within `limit`; a sample alone may go beyond."""
    part: list[Sample] = []
    held = 0
    before: tuple[int, ...] | None = None
    for sample in samples:
        prompt = prompt_of(sample)
        own = len(sample.ids) - len(prompt)
        cost = own if part and prompt == before else own + len(prompt)
        if part and held + cost > limit:
            yield part
            part, held, cost = [], 0, own + len(prompt)
        part.append(sample)
        held += cost
        before = prompt
    if part:
        yield part
