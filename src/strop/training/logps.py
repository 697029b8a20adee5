"""Log-probabilities of given tokens under a model, with gradients, by the first way that is correct for this model.

`update_of` tries the ways (`training.ways`) once per model, on answers to a prompt of random tokens, and compares them
with values and gradients of the plain forward pass.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from strop.policies.attention import LEAST, attend_in_groups, common
from strop.policies.proof import (
    ANSWERS,
    PROMPT,
    Proof,
    Text,
    Yardstick,
    around,
    at_rest,
    bare,
    first_right,
    plain_logps,
    random_ids,
    turns,
    watch,
)  # fmt: skip
from strop.training.head import Head
from strop.training.ways import WAYS, Pass
from strop_verify.core.rollout import Sample

Values = tuple[torch.Tensor, torch.Tensor]
"""(log-probabilities, entropies), float32 (N,) each; entropies carry no gradient."""


@dataclass(frozen=True)
class Update:
    """How a model's update is computed.

    way     a key of WAYS
    head    how the model turns its last hidden states into logits
    proof   how close that is to its plain forward pass
    tried   the ways that were allowed
    places  lengths at which the model computes differently, so that longer texts were tried too
    """

    way: str
    head: Head | None
    proof: Proof
    tried: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def padded(self) -> bool:
        """Whether samples are computed as padded rows, without sharing their common prefix."""
        return self.way in ("rows", "one")

    def serves(self, ways: Sequence[str], places: Sequence[int]) -> bool:
        """Whether a new search among these ways, for texts beyond these places, would find the same way."""
        if self.way not in ways or not {*places} <= {*self.places}:
            return False
        return {*ways[: ways.index(self.way)]} <= {*self.tried}


_known: WeakKeyDictionary[Any, Update] = WeakKeyDictionary()
DIRECTIONS = 8
"""Number of projections of the gradients that are compared."""
FAR = 1e-3
"""Maximum relative difference from the plain pass's gradients in float32; 200 times that in shorter types."""


def update_of(model: Any, *, ways: Sequence[str] | None = None, longest: int = 0) -> Update:
    """The first of the ways that gives the model's own log-probabilities and gradients; cached per model.

    model    as transformers loaded it, before it is wrapped
    ways     the ways allowed from now on; None uses what was found before, or tries all
    longest  tokens of the longest sample to come
    Raises UserError if no way is right.
    """
    inner = bare(model)
    known, places = _known.get(inner), turns(inner, longest)
    if known is None or (ways is not None and not known.serves(ways, places)):
        _known[inner] = known = _found(inner, tuple(ways or WAYS), longest)
    return known


def updates_as(model: Any, other: Any) -> None:
    """Makes `model` compute like `other`, which has the same architecture."""
    _known[bare(model)] = update = update_of(other)
    if update.way == "tree":
        attend_in_groups(bare(model))


def _found(model: PreTrainedModel, ways: tuple[str, ...], longest: int) -> Update:
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
        if not far <= (FAR if Yardstick(model).exact else 200 * FAR):
            raise ArithmeticError(f"gradients differ by {float(far):.2g} of their size")
        return list(values.detach().split([len(ids) - start for start, ids in texts])), known

    known: list[Text] = []
    with at_rest(model), torch.enable_grad():
        after = Head.of(model)
        call = Pass(model, model, model.get_output_embeddings(), after, 1.0)
        way, proof = first_right(model, allowed, tried, "the update", longest)
    name = next(name for name, one in WAYS.items() if one is way)
    return Update(name, after, proof, ways, tuple(turns(model, longest)))


def _sample(ids: list[int], start: int) -> Sample:
    nothing = [0] * len(ids)
    return Sample(ids, [0] * start + [1] * (len(ids) - start), nothing, nothing, nothing, start)


@contextmanager
def _embedded(model: PreTrainedModel) -> Iterator[list[tuple[torch.Tensor, torch.Tensor]]]:
    """Collects (token ids, their embeddings) of every forward pass, to take gradients with respect to them."""
    found: list[tuple[torch.Tensor, torch.Tensor]] = []

    def gather(_module: Any, inputs: tuple[torch.Tensor, ...], out: torch.Tensor) -> torch.Tensor:
        found.append((inputs[0], out.detach().requires_grad_()))
        return found[-1][1] * 1  # some models change it in place

    with model.get_input_embeddings().register_forward_hook(gather):
        yield found


def _slopes(values: torch.Tensor, inputs: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """(DIRECTIONS,) projections of the gradient of a weighted sum of `values` w.r.t. the tokens' embeddings."""
    weights = torch.linspace(-1, 1, len(values), device=values.device)
    grads = torch.autograd.grad((values * weights).sum(), [out for _, out in inputs])
    found = values.new_zeros(DIRECTIONS)
    for (ids, _), grad in zip(inputs, grads, strict=True):
        place = torch.arange(grad.shape[-1], device=ids.device)
        for number in range(DIRECTIONS):
            direction = torch.sin((ids[..., None] + 1) * (place + 1) * 0.37 * (number + 1))
            found[number] += (grad.float() * direction).sum()
    return found.detach()


def token_logps(
    model: Any, samples: Sequence[Sample], *, head: Any, temperature: float, way: str | None = None
) -> Values:
    """Log-probabilities and entropies of every token in the loss, sample after sample.

    model  wrapped or not
    head   its output embedding
    temperature  of the sampling distribution that these describe
    way    a key of WAYS; None for that of `update_of`
    """
    update = update_of(model)
    after = update.head if type(head) is torch.nn.Linear else None  # an adapter has its own forward
    values = WAYS[way or update.way](Pass(model, bare(model), head, after, temperature), samples)
    return values[:, 0], values[:, 1].detach()


def no_dropout(model: Any) -> None:
    """Puts a model into eval mode, as for sampling, but keeps adapters' dropout and layers' checkpointing."""
    model.eval()
    for module in model.modules():
        if isinstance(adapters := getattr(module, "lora_dropout", None), torch.nn.Module):
            adapters.train()
        if isinstance(module, GradientCheckpointingLayer) and module.gradient_checkpointing:
            module.training = True  # read before the forward pass, and again in the backward pass
            if _at_rest not in module._forward_pre_hooks.values():
                module.register_forward_pre_hook(_at_rest)
                module.register_forward_hook(_as_before, always_call=True)


_modes: WeakKeyDictionary[torch.nn.Module, bool] = WeakKeyDictionary()
"""{checkpointed layer: whether it was called in training mode}."""


def _at_rest(module: torch.nn.Module, _inputs: Any) -> None:
    _modes[module], module.training = module.training, False


def _as_before(module: torch.nn.Module, _inputs: Any, _out: Any) -> None:
    module.training = _modes[module]


def micro_batches(samples: Sequence[Sample], limit: int, *, padded: bool = False) -> Iterator[list[Sample]]:
    """Groups samples with common prefixes into micro-batches of at most `limit` tokens, counting shared ones once, or
    of one longer sample.

    padded  groups samples of similar length instead, and counts padded rows
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
