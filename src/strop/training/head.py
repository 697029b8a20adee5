"""The head: log-probabilities of given tokens from hidden states, a chunk of tokens at a time.

The logits of a step (tokens x vocabulary, float32) are by far its largest tensors: 1600 tokens of a model with 49k
words make 300 MB, several times over. Only one number per token is needed, so each chunk's logits are computed, reduced
and dropped, and the gradient with respect to the hidden states is computed along with them (as in fused linear cross
entropy: Liger Kernel, arXiv 2410.10989, section 3.2).

Many models change the logits: they add a bias, scale them (Granite, Cohere) or cap them with a tanh (Gemma 2).
`Head.of` finds out from a forward pass; for models that do anything else, all logits are computed at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

CHUNK, _WORDS = (256, 4096) if not torch.cuda.is_available() else (1024, 16384)
"""Tokens and words per tile: on a CPU its logits fit the cache; on a GPU larger tiles were not measured."""
CAPS = ("final_logit_softcapping", "logits_soft_cap", "output_logit_soft_cap")
"""Keys that model configurations use for the bound of a tanh."""
_LOGITS = 1 << 21
"""Logits per tile of the gradient with respect to the weights."""
UNCAPPED = 1e20
"""A cap so large that it changes no logit."""
CLOSE = 2e-3
"""Maximum relative difference at which two factors count as equal, since bfloat16 rounds."""
NEAR = 1e-4
"""Maximum difference of logits in float32, relative to the largest logit; in shorter types, eight roundings."""


@dataclass(frozen=True)
class Head:
    """The form of the logits: z = scale * (hidden @ weight.T + bias), or cap * tanh(z / cap)."""

    scale: float = 1.0
    cap: float | None = None
    cap_name: str = ""
    """The key of the model's configuration that holds the cap."""

    @classmethod
    @torch.no_grad()
    def of(cls, model: Any) -> "Head | None":
        """The head of a transformers model, from a forward pass of a few tokens; None for logits of another form."""
        head = model.get_output_embeddings()
        if type(head) is not torch.nn.Linear:
            return None
        found: list[torch.Tensor] = []
        with head.register_forward_hook(lambda _module, _inputs, out: found.append(out)):
            words = min(
                len(head.weight), getattr(model.config.get_text_config(), "vocab_size", len(head.weight))
            )
            ids = torch.linspace(3, words - 1, 24, device=head.weight.device).long()
            logits = model(input_ids=ids[None], use_cache=False).logits.double()
        if len(found) != 1 or found[0].shape != logits.shape:
            return None
        plain = found[0].double()
        near = max(NEAR, 8 * torch.finfo(found[0].dtype).eps) * float(logits.abs().max())
        config = model.config.get_text_config()
        for name in (name for name in CAPS if getattr(config, name, None)):
            cap = float(getattr(config, name))
            flat = cap * torch.atanh((logits / cap).clamp(-0.99, 0.99))
            scale = _factor_in(config, plain, flat, logits.abs() < 0.5 * cap)  # where tanh is nearly linear
            if (cap * torch.tanh(scale * plain / cap) - logits).abs().max() <= near:
                return cls(scale, cap, name)
        scale = _factor_in(config, plain, logits, torch.ones_like(logits, dtype=torch.bool))
        return cls(scale) if (scale * plain - logits).abs().max() <= near else None


def _factor_in(config: Any, plain: torch.Tensor, changed: torch.Tensor, where: torch.Tensor) -> float:
    """changed / plain by least squares, made exact if it is close to 1 or to a number in the configuration."""
    one, other = plain[where], changed[where]
    if not one.any():  # all logits are 0
        return 1.0
    ratio = float((one * other).sum() / (one * one).sum().clamp(min=1e-30))
    known = [float(value) for value in vars(config).values() if type(value) in (int, float) and value]
    exact = (number for value in [1.0, *known] for number in (value, 1 / value))
    return next((number for number in exact if abs(ratio / number - 1) < CLOSE), ratio)


class _SelectedLogps(torch.autograd.Function):
    """hidden (N, D), weight (V, D), bias (V,) or None, targets (N,) -> log-probabilities, entropies: float32 (N,)."""

    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None,
        targets: torch.Tensor, after: Head, temperature: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
        logps, entropies, tops, totals = (
            hidden.new_empty(len(hidden), dtype=torch.float32) for _ in range(4)
        )
        factor, cap = _factor(after, temperature), after.cap
        slope = torch.empty_like(hidden, dtype=dtype) if ctx.needs_input_grad[0] else None
        with torch.autocast(kind, enabled=False):
            h, w = hidden.to(dtype) * factor, weight.to(dtype)
            shift = None if bias is None else bias.float() * factor
            # Reused buffers stay in the processor's cache; new ones would page-fault each time.
            size = min(CHUNK, len(h)) * min(_WORDS, len(w))
            wide, shares, narrow = (
                h.new_empty(size, dtype=of) for of in (torch.float32, torch.float32, dtype)
            )
            for part in _slices(len(h), CHUNK):
                sums = _Sums(targets[part], hidden if slope is not None else None)
                for words in _slices(len(w), _WORDS):
                    z, p, short = (
                        one[: len(h[part]) * len(w[words])].view(-1, len(w[words]))
                        for one in (wide, shares, narrow)
                    )
                    z.copy_(torch.mm(h[part], w[words].T, out=short))
                    if shift is not None:
                        z += shift[words]
                    steep = None
                    if cap is not None:
                        z.div_(cap / temperature).tanh_()
                        steep = 1 - z * z
                        z *= cap / temperature
                    sums.add(z, p, short, w[words], words.start, steep)
                logps[part], entropies[part], tops[part], totals[part] = sums.numbers()
                if slope is not None:
                    slope[part] = sums.slope().mul_(factor)
        ctx.after, ctx.temperature, ctx.dtype = after, temperature, dtype
        ctx.save_for_backward(hidden, weight, bias, targets, slope, tops[:, None], totals[:, None])
        ctx.mark_non_differentiable(entropies)
        return logps, entropies

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        hidden, weight, bias, targets, slope, tops, totals = ctx.saved_tensors
        grad, cap, temperature = grads[0], ctx.after.cap, ctx.temperature
        by_hidden = None if slope is None else (slope * grad[:, None].to(slope.dtype)).to(hidden.dtype)
        if not any(ctx.needs_input_grad[1:3]):
            return by_hidden, None, None, None, None, None
        by_weight = torch.empty_like(weight)
        by_bias = None if bias is None else torch.empty_like(bias)
        factor = _factor(ctx.after, temperature)
        with torch.autocast(hidden.device.type, enabled=False):
            plain, w = hidden.to(ctx.dtype), weight.to(ctx.dtype)
            h, slopes = plain * factor, grad[:, None] * factor
            shares = slopes / -totals
            # Chunks of words, not of tokens: each row of the weight's gradient is written once, never added to.
            for words in _slices(len(w), max(256, _LOGITS // max(1, len(h)))):
                short = torch.mm(h, w[words].T)
                z, steep = short.float(), None
                if bias is not None:
                    z += bias[words].float() * factor
                if cap is not None:
                    z.div_(cap / temperature).tanh_()
                    steep = 1 - z * z
                    z *= cap / temperature
                error = z.sub_(tops).exp_().mul_(shares)
                here = ((targets >= words.start) & (targets < words.stop)).nonzero()[:, 0]
                error[here, targets[here] - words.start] += slopes[here, 0]
                if steep is not None:
                    error *= steep
                short.copy_(error)
                by_weight[words] = torch.mm(short.T, plain)
                if by_bias is not None:
                    by_bias[words] = error.sum(dim=0).to(by_bias.dtype)
        return by_hidden, by_weight, by_bias, None, None, None


def _factor(after: Head, temperature: float) -> float:
    return after.scale / temperature


class _Sums:
    """Sums over the words, a chunk at a time, for N tokens: online softmax (Milakov and Gimelshein, arXiv 1805.02867).

    top      (N, 1) the largest logit so far, subtracted in the sums
    total    (N, 1) of exp(z - top);  mean  (N, 1) of (z - top) exp(z - top)
    chosen   (N, 1) the target's logit
    own, by  (N, D) the target's weights, and the sum of exp(z - top) times each word's weights, both times the slope of
             a cap; None if the hidden states need no gradient
    """

    def __init__(self, targets: torch.Tensor, hidden: torch.Tensor | None) -> None:
        self.targets = targets
        shape = (len(targets), 1)
        self.top = torch.full(shape, -torch.inf, device=targets.device)
        self.total, self.mean, self.chosen = (self.top.new_zeros(shape) for _ in range(3))
        self.own = self.by = None
        if hidden is not None:
            self.own, self.by = (self.top.new_zeros(len(targets), hidden.shape[-1]) for _ in range(2))

    def add(
        self, z: torch.Tensor, p: torch.Tensor, short: torch.Tensor, weights: torch.Tensor, start: int,
        steep: torch.Tensor | None,
    ) -> None:  # fmt: skip
        """Adds the logits z (N, W) of the words from `start`; overwrites z and the scratch buffers `p` and `short`."""
        here = ((self.targets >= start) & (self.targets < start + len(weights))).nonzero()[:, 0]
        goal = self.targets[here] - start
        self.chosen[here, 0] = z[here, goal]
        top = torch.maximum(self.top, z.amax(dim=-1, keepdim=True))
        fall = self.top - top
        shrink = fall.exp()
        torch.exp(z.sub_(top), out=p)
        before = self.total * fall.masked_fill(self.total == 0, 0.0)  # top was -inf before the first words
        self.mean = (self.mean + before) * shrink + torch.bmm(p[:, None], z[:, :, None])[:, 0]
        self.total = self.total * shrink + p.sum(dim=-1, keepdim=True)
        self.top = top
        if self.own is not None and self.by is not None:
            own = weights[goal].float()
            if steep is not None:
                own, p = own * steep[here, goal][:, None], p.mul_(steep)
            self.own[here] = own
            self.by.mul_(shrink).add_(torch.mm(short.copy_(p), weights))

    def numbers(self) -> tuple[torch.Tensor, ...]:
        """(N,) each: log-probabilities of the targets, entropies, largest logits, sums."""
        norm = self.total.log()
        found = (self.chosen - self.top - norm, norm - self.mean / self.total, self.top, self.total)
        return tuple(one[:, 0] for one in found)

    def slope(self) -> torch.Tensor:
        """(N, D) the gradient of the log-probabilities with respect to the hidden states, without the factor."""
        assert self.own is not None and self.by is not None
        return self.own - self.by / self.total


def _slices(size: int, each: int) -> Iterator[slice]:
    return (slice(start, min(size, start + each)) for start in range(0, size, each))


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
    """Makes the model return (1, N, 2) as "logits": log-probability of targets (N,), entropy (without gradient).

    places  (N,) indices of the hidden states to take, in all rows end to end; None for all
    after   what the model does with the head's output; `config`: its configuration, for a cap
    The work is done inside the head's own call, where wrappers (FSDP, DeepSpeed) have its weights ready.
    """

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        chosen = hidden.reshape(-1, hidden.shape[-1])
        chosen = chosen if places is None else chosen[places]
        values = _SelectedLogps.apply(chosen, head.weight, head.bias, targets, after, temperature)
        return torch.stack(values, dim=-1)[None] / after.scale  # the model multiplies by it

    head.forward = forward
    if after.cap_name:  # a cap that leaves the values alone
        setattr(config, after.cap_name, UNCAPPED)
    try:
        yield
    finally:
        del head.forward
        if after.cap_name:
            setattr(config, after.cap_name, after.cap)
