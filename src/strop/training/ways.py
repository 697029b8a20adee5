"""The ways to compute an update's log-probabilities with gradients; the first two compute shared prefixes once.

    tree    all samples as one row, a tree of prefixes (`policies.attention.PrefixTree`): nothing is computed twice or
            padded. Tree attention (SpecInfer, arXiv 2305.09781, section 4.2) applied to the update.
    cache   the common prefix is computed once into the model's own cache, with gradients; the cache is repeated, and
            rows continue from it. For windows, recurrent layers and latent attention; not under gradient checkpointing,
            which keeps no cache.
    rows    rows padded on the right, where causal layers never look, so they need no mask.
    one     one row after another, for models in which a row depends on the longest row in its batch (scaled positions).

All compute the head in chunks of tokens (`training.head`), so memory grows with the number of tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedModel

from strop.policies.attention import LEAST, alone, common, grouped, prefix_tree
from strop.policies.cohorts import cache_name
from strop.training.head import Head, head_selects
from strop_verify.core.rollout import Sample

MASKED = 1024
"""Maximum tokens that continue from a cache: their mask grows with all tokens before; rows from the start need none."""
ROUND = 16
"""Rows are padded to multiples of this many tokens, so that there are fewer sizes and freed memory can be reused."""


@dataclass(frozen=True)
class Pass:
    """What a way computes with.

    model        wrapped or not
    inner        the transformers model in it
    head         its output embedding
    after        how the model turns the head's output into logits; None for another form
    temperature  of the sampling distribution that the log-probabilities describe
    """

    model: Any
    inner: PreTrainedModel
    head: Any
    after: Head | None
    temperature: float

    def __call__(self, places: list[int], targets: list[int], **inputs: Any) -> tuple[torch.Tensor, Any]:
        """((N, 2) log-probability and entropy of each target after the token at its place, the model's output). Places
        count all rows end to end.
        """
        device = inputs["input_ids"].device
        at, goals = (torch.tensor(values, device=device, dtype=torch.long) for values in (places, targets))
        if self.after is not None:
            with head_selects(
                self.head,
                goals,
                self.temperature,
                places=at,
                after=self.after,
                config=self.inner.config.get_text_config(),
            ):
                out = self.model(**inputs)
            return out.logits[0], out
        out = self.model(**inputs)
        logits = out.logits.flatten(0, 1)[at].float() / self.temperature
        logps = torch.log_softmax(logits, dim=-1)
        entropies = -(logps.detach().exp() * logps.detach()).sum(dim=-1)
        return torch.stack([logps.gather(1, goals[:, None])[:, 0], entropies], dim=-1), out


def by_tree(call: Pass, samples: Sequence[Sample]) -> torch.Tensor:
    """(N, 2) log-probability and entropy of every token in the loss, sample after sample."""
    device = call.inner.device
    tree, places = prefix_tree([sample.ids[: _last(sample)] for sample in samples], device)
    wanted: dict[tuple[int, int], int] = {}  # (place of the token before, token) -> index in what is computed
    chosen = [
        wanted.setdefault((place[at - 1], sample.ids[at]), len(wanted))
        for sample, place in zip(samples, places, strict=True)
        for at, keep in enumerate(sample.mask)
        if keep
    ]
    predictors, targets = zip(*wanted, strict=True)
    with grouped():
        values, _ = call(
            list(predictors), list(targets), input_ids=tree.ids[None], position_ids=tree.positions[None],
            prefix_tree=tree, use_cache=False,
        )  # fmt: skip
    return values[torch.tensor(chosen, device=device)]


def by_rows(call: Pass, samples: Sequence[Sample]) -> torch.Tensor:
    """Like `by_tree`, from rows padded on the right."""
    return _rows(call, samples, 0)[0]


def by_one(call: Pass, samples: Sequence[Sample]) -> torch.Tensor:
    """Like `by_tree`, one row after another."""
    return torch.cat([by_rows(call, [sample]) for sample in samples])


def by_cache(call: Pass, samples: Sequence[Sample]) -> torch.Tensor:
    """Like `by_tree`, with common prefixes in the model's own cache."""
    found: dict[int, torch.Tensor] = {}
    for numbers in _bunches(samples):
        some = [samples[number] for number in numbers]
        shared = min(common(some[0].ids, one.ids) for one in some)
        shared = min(shared, *(_last(one) - 1 for one in some))
        own = max(_last(one) for one in some) - shared
        if len(some) > 1 and shared >= LEAST and own <= MASKED and not call.inner.is_gradient_checkpointing:
            parts = _behind(call, some, shared)
        else:
            parts = list(by_rows(call, some).split([one.tokens for one in some]))
        found |= zip(numbers, parts, strict=True)
    return torch.cat([found[number] for number in range(len(samples))])


def _bunches(samples: Sequence[Sample]) -> Iterator[list[int]]:
    """Indices of samples with a common prefix, bunch by bunch; samples that share none come last, in one bunch."""
    order = sorted(range(len(samples)), key=lambda number: list(samples[number].ids))
    alone, bunch = list[int](), order[:1]
    for number in [*order[1:], None]:
        if number is not None and common(samples[bunch[0]].ids, samples[number].ids) >= LEAST:
            bunch.append(number)
            continue
        if len(bunch) > 1:
            yield bunch
        else:
            alone += bunch
        bunch = [] if number is None else [number]
    if alone:
        yield alone


def _behind(call: Pass, samples: Sequence[Sample], shared: int) -> list[torch.Tensor]:
    """The values of `by_tree` per sample; the first `shared` tokens are computed once."""
    device, name = call.inner.device, cache_name(call.inner)
    head = samples[0].ids[:shared]
    wanted: dict[tuple[int, int], int] = {}
    early = [
        [
            wanted.setdefault((at - 1, sample.ids[at]), len(wanted))
            for at, keep in enumerate(sample.mask[: shared + 1])
            if keep
        ]
        for sample in samples
    ]
    places, targets = zip(*wanted, strict=True) if wanted else ((), ())
    ids = torch.tensor([list(head)], device=device)
    with alone(call.inner):
        first, out = call(list(places), list(targets), input_ids=ids, use_cache=True)
    cache = out[name]
    cache.reorder_cache(torch.zeros(len(samples), dtype=torch.long, device=device))
    late, _ = _rows(call, samples, shared, **{name: cache})
    counts = [sum(sample.mask[shared + 1 :]) for sample in samples]
    return [
        torch.cat([first[torch.tensor(one, device=device, dtype=torch.long)], rest])
        for one, rest in zip(early, late.split(counts), strict=True)
    ]


def _rows(call: Pass, samples: Sequence[Sample], start: int, **more: Any) -> tuple[torch.Tensor, Any]:
    """((N, 2) of the tokens in the loss after the `start`-th, the model's output), from rows padded on the right."""
    ends = [max(_last(sample), start + 1) for sample in samples]
    width = -(-(max(ends) - start) // ROUND) * ROUND
    ids = torch.zeros((len(samples), width), dtype=torch.long)
    places, targets = list[int](), list[int]()
    for row, (sample, end) in enumerate(zip(samples, ends, strict=True)):
        ids[row, : end - start] = torch.tensor(list(sample.ids[start:end]))
        for at in range(start + 1, len(sample.ids)):
            if sample.mask[at]:
                places.append(row * width + at - 1 - start)
                targets.append(sample.ids[at])
    with alone(call.inner):
        return call(places, targets, input_ids=ids.to(call.inner.device), use_cache=bool(more), **more)


def _last(sample: Sample) -> int:
    """Index of the last token in the loss; no token from there on is an input."""
    return max(at for at, keep in enumerate(sample.mask) if keep)


WAYS: dict[str, Callable[[Pass, Sequence[Sample]], torch.Tensor]] = {
    "tree": by_tree,
    "cache": by_cache,
    "rows": by_rows,
    "one": by_one,
}
