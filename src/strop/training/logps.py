"""Log-probabilities of given tokens under a model, with gradients: what samples begin with in common once.

Four ways, of which `update_of` takes the first that gives the model's own numbers and gradients:

    tree    all samples as one row, a tree of prefixes (`policies.attention.PrefixTree`): nothing is computed twice and
            nothing padded. Tree attention (SpecInfer, arXiv 2305.09781, section 4.2) applied to the update.
    cache   what samples share is computed once and kept in the model's own cache, with its gradient; the cache is then
            repeated, and rows go on from it. For windows, recurrent layers and latent attention; not under gradient
            checkpointing, which keeps no cache.
    rows    rows padded on the right, where causal layers never look, so they need no mask.
    one     one row after another. For models that compute a row by the longest one beside it (scaled positions).

The head is computed for some tokens at a time in each of them (`training.head`), and memory grows with the tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from strop.core.rollout import Sample
from strop.policies.attention import LEAST, alone, attend_in_groups, common, grouped, prefix_tree
from strop.policies.cohorts import cache_name
from strop.policies.proof import (
    ANSWERS,
    PROMPT,
    Proof,
    Text,
    around,
    at_rest,
    bare,
    first_right,
    plain_logps,
    random_ids,
    turns,
    watch,
)  # fmt: skip
from strop.training.head import Head, head_selects

MASKED = 1024
"""Tokens that may go on from a cache: models mask these by all before, while rows from the start need no mask."""
ROUND = 16
"""Rows have a multiple of so many tokens: few different sizes, so that freed memory fits again."""
Values = tuple[torch.Tensor, torch.Tensor]
"""(log-probabilities, entropies), float32 (N,) each; entropies carry no gradient."""


@dataclass(frozen=True)
class Pass:
    """What one way needs to compute with.

    model        wrapped or not
    inner        the transformers model in it
    head         its output embedding, and `after` what becomes of its result; None for logits of another form
    temperature  of the sampling distribution, whose log-probabilities these are
    """

    model: Any
    inner: PreTrainedModel
    head: Any
    after: Head | None
    temperature: float

    def __call__(self, places: list[int], targets: list[int], **inputs: Any) -> tuple[torch.Tensor, Any]:
        """(N, 2) log-probability and entropy of targets, after the tokens at `places` among all rows end to end, and
        what the model returned.
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
    """(N, 2) of every token with loss, sample after sample."""
    device = call.inner.device
    tree, places = prefix_tree([sample.ids[: _last(sample)] for sample in samples], device)
    wanted: dict[tuple[int, int], int] = {}  # (place of the token before, token) -> which of those computed
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
    """As `by_tree`."""
    return _rows(call, samples, 0)[0]


def by_one(call: Pass, samples: Sequence[Sample]) -> torch.Tensor:
    """As `by_tree`."""
    return torch.cat([by_rows(call, [sample]) for sample in samples])


def by_cache(call: Pass, samples: Sequence[Sample]) -> torch.Tensor:
    """As `by_tree`."""
    found: dict[int, torch.Tensor] = {}
    for numbers in _bunches(samples):
        some = [samples[number] for number in numbers]
        shared = min(common(some[0].ids, one.ids) for one in some)
        shared = min(shared, *(_last(one) - 1 for one in some))
        own = max(_last(one) for one in some) - shared
        if len(some) > 1 and shared >= LEAST and own <= MASKED:
            parts = _behind(call, some, shared)
        else:
            parts = list(by_rows(call, some).split([one.tokens for one in some]))
        found |= zip(numbers, parts, strict=True)
    return torch.cat([found[number] for number in range(len(samples))])


def _bunches(samples: Sequence[Sample]) -> Iterator[list[int]]:
    """Numbers of samples that begin alike, and of those alone in one bunch."""
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
    """For each sample what `by_tree` gives; the first `shared` tokens are computed once."""
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
    """(N, 2) of the tokens with loss behind the `start`-th, by rows padded on the right."""
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
    """Index of its last token with loss: nothing from there on is computed with."""
    return max(at for at, keep in enumerate(sample.mask) if keep)


@dataclass(frozen=True)
class Update:
    """How a model's update computes.

    way    a key of WAYS
    head   what the model makes of its last hidden states
    proof  how near that is to its plain forward pass
    """

    way: str
    head: Head | None
    proof: Proof


WAYS: dict[str, Callable[[Pass, Sequence[Sample]], torch.Tensor]] = {
    "tree": by_tree,
    "cache": by_cache,
    "rows": by_rows,
    "one": by_one,
}
_known: WeakKeyDictionary[Any, Update] = WeakKeyDictionary()
DIRECTIONS = 8
"""In which gradients are compared."""
FAR = 1e-3
"""Relative difference of gradients from the plain pass's in float32, and 200 times that in shorter types."""


def update_of(model: Any, *, ways: Sequence[str] = tuple(WAYS), longest: int = 0) -> Update:
    """The first of the ways that gives a model's own log-probabilities and gradients; found out once a model.

    model    as transformers loaded it, before it is wrapped
    longest  tokens of the longest sample to come
    Raises UserError for a model of which no way is right.
    """
    inner = bare(model)
    if inner not in _known:
        _known[inner] = _found(inner, ways, longest)
    return _known[inner]


def check_head(model: Any) -> None:
    """Raises UserError for a model whose own log-probabilities cannot be learnt with."""
    update_of(model)


def updates_as(model: Any, other: Any) -> None:
    """Has a model of the same architecture computed as the other is."""
    _known[bare(model)] = update = update_of(other)
    if update.way == "tree":
        attend_in_groups(bare(model))


def _found(model: PreTrainedModel, ways: Sequence[str], longest: int) -> Update:
    allowed = {name: WAYS[name] for name in ways if name != "tree" or watch(model) is not None}
    counts = [PROMPT, *around(turns(model, longest))]
    prompts = [random_ids(model, count, count) for count in counts]
    texts = [
        (len(prompt), [*prompt, *random_ids(model, more, more)]) for prompt in prompts for more in ANSWERS
    ]
    samples = [_sample(ids, start) for start, ids in texts]
    plain: list[torch.Tensor] = []

    def tried(way: Callable[[Pass, Sequence[Sample]], torch.Tensor]) -> tuple[list[torch.Tensor], list[Text]]:
        if not known:
            with _embedded(model) as inputs:
                own = [plain_logps(model, ids, start) for start, ids in texts]
                plain.append(_slopes(torch.cat(own), inputs))
            known.extend(Text(ids, start, one.detach()) for (start, ids), one in zip(texts, own, strict=True))
        with _embedded(model) as inputs:
            values = way(call, samples)[:, 0]
            far = (_slopes(values, inputs) - plain[0]).norm() / plain[0].norm().clamp(min=1e-30)
        if not far <= (FAR if values.dtype == model.dtype else 200 * FAR):
            raise ArithmeticError(f"gradients differ by {float(far):.2g} of their size")
        return list(values.detach().split([len(ids) - start for start, ids in texts])), known

    known: list[Text] = []
    with at_rest(model), torch.enable_grad():
        after = Head.of(model)
        call = Pass(model, model, model.get_output_embeddings(), after, 1.0)
        way, proof = first_right(model, allowed, tried, "the update", longest)
    return Update(next(name for name, one in WAYS.items() if one is way), after, proof)


def _sample(ids: list[int], start: int) -> Sample:
    nothing = [0] * len(ids)
    return Sample(ids, [0] * start + [1] * (len(ids) - start), nothing, nothing, nothing, start)


@contextmanager
def _embedded(model: PreTrainedModel) -> Iterator[list[tuple[torch.Tensor, torch.Tensor]]]:
    """Within it (token ids, their embeddings) of every forward pass are gathered, to take gradients by."""
    found: list[tuple[torch.Tensor, torch.Tensor]] = []

    def gather(_module: Any, inputs: tuple[torch.Tensor, ...], out: torch.Tensor) -> torch.Tensor:
        found.append((inputs[0], out.detach().requires_grad_()))
        return found[-1][1] * 1  # some models change it in place

    hook = model.get_input_embeddings().register_forward_hook(gather)
    try:
        yield found
    finally:
        hook.remove()


def _slopes(values: torch.Tensor, inputs: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """(DIRECTIONS,) by how much a weighted sum of values changes with the tokens' embeddings, in several directions."""
    weights = torch.linspace(-1, 1, len(values), device=values.device)
    grads = torch.autograd.grad((values * weights).sum(), [out for _, out in inputs])
    found = values.new_zeros(DIRECTIONS)
    for (ids, _), grad in zip(inputs, grads, strict=True):
        place = torch.arange(grad.shape[-1], device=ids.device)
        for number in range(DIRECTIONS):
            direction = torch.sin((ids[..., None] + 1) * (place + 1) * 0.37 * (number + 1))
            found[number] += (grad.float() * direction).sum()
    return found.detach()


def token_logps(model: Any, samples: Sequence[Sample], *, head: Any, temperature: float) -> Values:
    """Of every token with loss, sample after sample, by the way of `update_of`.

    model  wrapped or not
    head   its output embedding
    temperature  of the sampling distribution, whose log-probabilities these are
    """
    return _computed(model, samples, head, temperature, update_of(model).way)


def row_logps(model: Any, samples: Sequence[Sample], *, head: Any, temperature: float) -> Values:
    """The same by padded rows."""
    return _computed(model, samples, head, temperature, "rows")


def _computed(model: Any, samples: Sequence[Sample], head: Any, temperature: float, way: str) -> Values:
    after = update_of(model).head if type(head) is torch.nn.Linear else None  # an adapter has an own forward
    values = WAYS[way](Pass(model, bare(model), head, after, temperature), samples)
    return values[:, 0], values[:, 1].detach()


def no_dropout(model: Any) -> None:
    """Puts a model into the mode that it samples in, but for the dropout of adapters: what is learnt from is what was
    sampled. Layers that are checkpointed remain so.
    """
    model.eval()
    for module in model.modules():
        if isinstance(adapters := getattr(module, "lora_dropout", None), torch.nn.Module):
            adapters.train()
        if isinstance(module, GradientCheckpointingLayer) and module.gradient_checkpointing:
            module.training = True  # asked before the layer is computed, and again in the backward pass
            if _at_rest not in module._forward_pre_hooks.values():
                module.register_forward_pre_hook(_at_rest)
                module.register_forward_hook(_checkpointed, always_call=True)


def _at_rest(module: torch.nn.Module, _inputs: Any) -> None:
    module.training = False


def _checkpointed(module: torch.nn.Module, _inputs: Any, _out: Any) -> None:
    module.training = True


def micro_batches(samples: Sequence[Sample], limit: int, *, padded: bool = False) -> Iterator[list[Sample]]:
    """Samples that begin alike side by side, whose tokens, what they share counted once, stay within `limit`.

    padded  samples of like length instead, and their tokens as rows of one length
    A sample alone may go beyond.
    """
    if padded:
        yield from _of_like_length(samples, limit)
        return
    part: list[Sample] = []
    held = 0
    for sample in sorted(samples, key=lambda sample: list(sample.ids)):
        shared = common(part[-1].ids, sample.ids) if part else 0
        cost = len(sample.ids) - (shared if shared >= LEAST else 0)
        if part and held + cost > limit:
            yield part
            part, held, cost = [], 0, len(sample.ids)
        part.append(sample)
        held += cost
    if part:
        yield part


def _of_like_length(samples: Sequence[Sample], limit: int) -> Iterator[list[Sample]]:
    part: list[Sample] = []
    for sample in sorted(samples, key=lambda sample: len(sample.ids)):
        if part and len(sample.ids) * (len(part) + 1) > limit:
            yield part
            part = []
        part.append(sample)
    if part:
        yield part
