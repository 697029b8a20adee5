"""The head: log-probabilities of given tokens out of hidden states, for some tokens at a time.

The logits of a step (tokens x vocabulary, float32) are by far its largest tensors: 1600 tokens of a model with 49k
words make 300 MB, several times over. Only one number per token is needed, so the head is computed for some tokens,
reduced, and dropped; what the backward pass needs from it, the gradient by the hidden state, is computed at once (as in
fused linear cross entropy: Liger Kernel, arXiv 2410.10989, section 3.2).

Many models change what the matrix gives: they add a bias, multiply (Granite, Cohere) or cap it by a tanh (Gemma 2).
`Head.of` finds out by asking the model; one that does something else has its logits computed whole.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

CHUNK = 64
"""Tokens at a time."""
CAPS = ("final_logit_softcapping", "logits_soft_cap", "output_logit_soft_cap")
"""Names that configurations have for the bound of a tanh."""
KEPT = 32 << 20
"""Bytes of probabilities that a forward pass keeps for the backward one; where they are more, it computes them anew."""
UNCAPPED = 1e20
"""A cap that changes no number."""
CLOSE = 2e-3
"""Relative difference of two factors that are one, where bfloat16 has rounded."""
NEAR = 1e-4
"""Largest difference of logits, relative to the largest of them, in float32; of shorter types eight roundings."""


@dataclass(frozen=True)
class Head:
    """The logits: scale * (hidden @ weight.T + bias), or cap * tanh of that / cap."""

    scale: float = 1.0
    cap: float | None = None
    cap_name: str = ""
    """The key of the model's configuration that holds the cap."""

    @classmethod
    @torch.no_grad()
    def of(cls, model: Any) -> "Head | None":
        """Of a transformers model, by a forward pass of a few tokens; None for logits of another form."""
        head = model.get_output_embeddings()
        if type(head) is not torch.nn.Linear:
            return None
        found: list[torch.Tensor] = []
        hook = head.register_forward_hook(lambda _module, _inputs, out: found.append(out))
        try:
            words = min(
                len(head.weight), getattr(model.config.get_text_config(), "vocab_size", len(head.weight))
            )
            ids = torch.linspace(3, words - 1, 24, device=head.weight.device).long()
            logits = model(input_ids=ids[None], use_cache=False).logits.double()
        finally:
            hook.remove()
        if len(found) != 1 or found[0].shape != logits.shape:
            return None
        plain = found[0].double()
        near = max(NEAR, 8 * torch.finfo(found[0].dtype).eps) * float(logits.abs().max())
        config = model.config.get_text_config()
        for name in (name for name in CAPS if getattr(config, name, None)):
            cap = float(getattr(config, name))
            flat = cap * torch.atanh((logits / cap).clamp(-0.99, 0.99))
            scale = _factor_in(config, plain, flat, logits.abs() < 0.5 * cap)  # where it is nearly straight
            if (cap * torch.tanh(scale * plain / cap) - logits).abs().max() <= near:
                return cls(scale, cap, name)
        scale = _factor_in(config, plain, logits, torch.ones_like(logits, dtype=torch.bool))
        return cls(scale) if (scale * plain - logits).abs().max() <= near else None


def _factor_in(config: Any, plain: torch.Tensor, changed: torch.Tensor, where: torch.Tensor) -> float:
    """The factor between two, by least squares: to the last digit where it is 1, or a number of the configuration."""
    one, other = plain[where], changed[where]
    if not one.any():  # a model that says nothing of these tokens
        return 1.0
    ratio = float((one * other).sum() / (one * one).sum().clamp(min=1e-30))
    known = [float(value) for value in vars(config).values() if type(value) in (int, float) and value]
    exact = (number for value in [1.0, *known] for number in (value, 1 / value))
    return next((number for number in exact if abs(ratio / number - 1) < CLOSE), ratio)


class _SelectedLogps(torch.autograd.Function):
    """(hidden (N, D), weight (V, D), bias (V,) or None, targets (N,), Head, temperature) -> (log-probabilities,
    entropies), float32 (N,).
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None,
        targets: torch.Tensor, after: Head, temperature: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
        logps, entropies, totals = (hidden.new_empty(len(hidden), dtype=torch.float32) for _ in range(3))
        factor, cap = _factor(after, temperature), after.cap
        keeps = all(ctx.needs_input_grad[:2]) and cap is None and 4 * len(hidden) * len(weight) <= KEPT
        kept = hidden.new_empty(len(hidden), len(weight), dtype=torch.float32) if keeps else None
        slope = torch.empty_like(hidden, dtype=dtype) if ctx.needs_input_grad[0] and kept is None else None
        with torch.autocast(kind, enabled=False):
            h, w = hidden.to(dtype) * factor, weight.to(dtype)
            shift = None if bias is None else bias.float() * factor
            # Reused buffers stay in the processor's cache; new ones would be paged in each time.
            wide, shares, narrow = (
                h.new_empty(min(CHUNK, len(h)), len(w), dtype=kind_of)
                for kind_of in (torch.float32, torch.float32, dtype)
            )
            for part in _chunks(len(h)):
                size, goal = len(h[part]), targets[part, None]
                z, short = wide[:size], narrow[:size]
                p = shares[:size] if kept is None else kept[part]
                z.copy_(torch.mm(h[part], w.T, out=short))
                if shift is not None:
                    z += shift
                steep = None
                if cap is not None:
                    z.div_(cap / temperature).tanh_()
                    steep = 1 - z * z
                    z *= cap / temperature
                z -= z.amax(dim=-1, keepdim=True)
                torch.exp(z, out=p)
                total = p.sum(dim=-1)
                logps[part] = z.gather(1, goal)[:, 0] - total.log()
                entropies[part] = total.log() - torch.bmm(p[:, None], z[:, :, None]).flatten() / total
                totals[part] = total
                if slope is not None:
                    own = w[targets[part]]
                    if steep is not None:
                        own, p = own * steep.gather(1, goal).to(dtype), p * steep
                    mean = torch.mm(short.copy_(p), w).div_(total[:, None])
                    slope[part] = (own - mean) * factor
        ctx.after, ctx.temperature, ctx.dtype = after, temperature, dtype
        ctx.save_for_backward(hidden, weight, bias, targets, slope, kept, totals)
        ctx.mark_non_differentiable(entropies)
        return logps, entropies

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        hidden, weight, bias, targets, slope, kept, totals = ctx.saved_tensors
        grad, cap, temperature = grads[0], ctx.after.cap, ctx.temperature
        by_hidden = None if kept is None else torch.empty_like(hidden)
        if slope is not None:
            by_hidden = (slope * grad[:, None].to(slope.dtype)).to(hidden.dtype)
        if not any(ctx.needs_input_grad[1:3]):
            return by_hidden, None, None, None, None, None
        by_weight = torch.zeros_like(weight)
        by_bias = None if bias is None else torch.zeros_like(bias)
        factor = _factor(ctx.after, temperature)
        with torch.autocast(hidden.device.type, enabled=False):
            h, w = hidden.to(ctx.dtype), weight.to(ctx.dtype)
            wide, narrow = (
                h.new_empty(min(CHUNK, len(h)), len(w), dtype=kind_of)
                for kind_of in (torch.float32, ctx.dtype)
            )
            for part in _chunks(len(h)):
                size = len(h[part])
                z, short, steep = wide[:size], narrow[:size], None
                if kept is None:
                    z.copy_(torch.mm(h[part], w.T, out=short))
                    z = (z if bias is None else z.add_(bias.float())).mul_(factor)
                    if cap is not None:
                        z.div_(cap / temperature).tanh_()
                        steep = 1 - z * z
                        z *= cap / temperature
                    z.sub_(z.amax(dim=-1, keepdim=True)).exp_()
                slopes = grad[part, None] * factor
                error = torch.mul(z if kept is None else kept[part], slopes / -totals[part, None], out=z)
                error.scatter_add_(1, targets[part, None], slopes)
                if steep is not None:
                    error *= steep
                if kept is not None and by_hidden is not None:
                    by_hidden[part] = torch.mm(short.copy_(error), w)
                if by_weight.dtype == ctx.dtype:
                    by_weight.addmm_(short.copy_(error).T, h[part])
                else:
                    by_weight += short.copy_(error).T @ h[part]
                if by_bias is not None:
                    by_bias += error.sum(dim=0).to(by_bias.dtype)
        return by_hidden, by_weight, by_bias, None, None, None


def _factor(after: Head, temperature: float) -> float:
    return after.scale / temperature


def _chunks(rows: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, rows, CHUNK))


@contextmanager
def head_selects(
    head: torch.nn.Linear,
    targets: torch.Tensor,
    temperature: float,
    *,
    places: torch.Tensor | None = None,
    after: Head = Head(),
    config: Any = None,
) -> Iterator[None]:
    """Within it, the model's "logits" are (1, N, 2): log-probability of targets (N,), entropy (without gradient).

    places  (N,) of the hidden states to take, among those of all rows end to end; None for all
    after   what the model does with the head's result, and `config` its configuration where that is a cap
    The work is done inside the head's own call, where wrappers (FSDP, DeepSpeed) have its weights ready.
    """

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        chosen = hidden.reshape(-1, hidden.shape[-1])
        chosen = chosen if places is None else chosen[places]
        values = _SelectedLogps.apply(chosen, head.weight, head.bias, targets, after, temperature)
        return torch.stack(values, dim=-1)[None] / after.scale  # the model multiplies by it

    head.forward = forward
    if after.cap_name:  # which tanh leaves as they are
        setattr(config, after.cap_name, UNCAPPED)
    try:
        yield
    finally:
        del head.forward
        if after.cap_name:
            setattr(config, after.cap_name, after.cap)
