"""Log-probabilities of given tokens: what samples begin with in common once, and the head for some tokens at a time.

The completions of a task share their prompt, and its plays often their first turns. Laid out as a tree of prefixes
(`policies.attention.PrefixTree`) they give the same log-probabilities and gradients as padded rows, without padding
and without computing a prefix twice. This is tree attention (SpecInfer, arXiv 2305.09781, section 4.2) applied to the
update.

The logits of a step (tokens x vocabulary, float32) are by far its largest tensors: 1600 tokens of a model with 49k
words make 300 MB, several times over. Only one number per token is needed, so the head is computed for some tokens,
reduced, and dropped; what the backward pass needs from it, the gradient by the hidden state, is computed at once (as in
fused linear cross entropy: Liger Kernel, arXiv 2410.10989, section 3.2).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from strop.core.errors import UserError
from strop.core.rollout import Sample
from strop.policies.attention import LEAST, common, prefix_tree

CHUNK = 64
"""Tokens at a time."""


class _SelectedLogps(torch.autograd.Function):
    """(hidden (N, D), weight (V, D), targets (N,), temperature) -> (log-probabilities, entropies), float32 (N,)."""

    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
        logps, entropies = (hidden.new_empty(len(hidden), dtype=torch.float32) for _ in range(2))
        slope = torch.empty_like(hidden, dtype=dtype) if ctx.needs_input_grad[0] else None
        with torch.autocast(kind, enabled=False):
            h, w = hidden.to(dtype) / temperature, weight.to(dtype)
            # Reused buffers stay in the processor's cache; new ones would be paged in each time.
            wide, shares, narrow = (
                h.new_empty(min(CHUNK, len(h)), len(w), dtype=kind_of)
                for kind_of in (torch.float32, torch.float32, dtype)
            )
            for part in _chunks(len(h)):
                size = len(h[part])
                z, p, short = wide[:size], shares[:size], narrow[:size]
                z.copy_(torch.mm(h[part], w.T, out=short))
                z -= z.amax(dim=-1, keepdim=True)
                torch.exp(z, out=p)
                total = p.sum(dim=-1)
                logps[part] = z.gather(1, targets[part, None])[:, 0] - total.log()
                entropies[part] = total.log() - torch.bmm(p[:, None], z[:, :, None]).flatten() / total
                if slope is not None:
                    mean = torch.mm(short.copy_(p), w).div_(total[:, None])
                    slope[part] = (w[targets[part]] - mean) / temperature
        ctx.temperature, ctx.dtype = temperature, dtype
        ctx.save_for_backward(hidden, weight, targets, slope)
        ctx.mark_non_differentiable(entropies)
        return logps, entropies

    @staticmethod
    def backward(
        ctx: Any, *grads: torch.Tensor
    ) -> tuple[torch.Tensor | None, torch.Tensor | None, None, None]:
        hidden, weight, targets, slope = ctx.saved_tensors
        grad = grads[0]
        by_hidden = None if slope is None else (slope * grad[:, None].to(slope.dtype)).to(hidden.dtype)
        if not ctx.needs_input_grad[1]:
            return by_hidden, None, None, None
        by_weight = torch.zeros_like(weight)
        with torch.autocast(hidden.device.type, enabled=False):
            h, w = hidden.to(ctx.dtype), weight.to(ctx.dtype)
            for part in _chunks(len(h)):
                error = -torch.softmax((h[part] @ w.T).float().div_(ctx.temperature), dim=-1)
                error.scatter_add_(1, targets[part, None], torch.ones_like(error[:, :1]))
                error *= grad[part, None] / ctx.temperature
                by_weight += error.to(ctx.dtype).T @ h[part]
        return by_hidden, by_weight, None, None


def _chunks(rows: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, rows, CHUNK))


def check_head(model: Any) -> None:
    """Raises UserError for a model whose logits are more than a matrix times the last hidden state."""
    head, config = model.get_output_embeddings(), model.config.get_text_config()
    changed = [name for name in ("final_logit_softcapping", "logit_scale") if getattr(config, name, None)]
    if type(head) is not torch.nn.Linear or head.bias is not None or changed:
        raise UserError(
            f"optim.shared_prefix: the head of {type(model).__name__} is not a plain matrix; "
            "set optim.shared_prefix=false"
        )


@contextmanager
def head_selects(head: torch.nn.Linear, targets: torch.Tensor, temperature: float) -> Iterator[None]:
    """Within it, the model's "logits" are (..., N, 2): log-probability of targets (N,), entropy (without gradient).

    The work is done inside the head's own call, where wrappers (FSDP, DeepSpeed) have its weights ready.
    """

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        values = _SelectedLogps.apply(hidden.reshape(-1, hidden.shape[-1]), head.weight, targets, temperature)
        return torch.stack(values, dim=-1).reshape(*hidden.shape[:-1], 2)

    head.forward = forward
    try:
        yield
    finally:
        del head.forward


def token_logps(
    model: Any, samples: Sequence[Sample], *, head: torch.nn.Linear, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """(log-probabilities, entropies), both float32 (N,): of every token with loss, sample after sample.

    model  one that attends in groups (`policies.attention.attend_in_groups`), wrapped or not
    head   its output embedding, a plain matrix (`check_head`)
    temperature  of the sampling distribution, whose log-probabilities these are
    Entropies carry no gradient.
    """
    device = head.weight.device
    lengths = [max(at for at, keep in enumerate(sample.mask) if keep) for sample in samples]
    tree, places = prefix_tree(
        [sample.ids[:length] for sample, length in zip(samples, lengths, strict=True)], device
    )
    wanted: dict[tuple[int, int], int] = {}  # (place of the token before, token) -> which of those computed
    chosen = [
        wanted.setdefault((place[at - 1], sample.ids[at]), len(wanted))
        for sample, place in zip(samples, places, strict=True)
        for at, keep in enumerate(sample.mask)
        if keep
    ]
    predictors, targets = (torch.tensor(values, device=device) for values in zip(*wanted, strict=True))
    with head_selects(head, targets, temperature):
        values = model(
            input_ids=tree.ids[None],
            position_ids=tree.positions[None],
            prefix_tree=tree,
            use_cache=False,
            logits_to_keep=predictors,
        ).logits[0]
    values = values[torch.tensor(chosen, device=device)]
    return values[:, 0], values[:, 1].detach()


def padded_logps(
    model: Any, samples: Sequence[Sample], *, temperature: float, pad_id: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same by padded rows and whole logits, for any causal model."""
    width = max(len(sample.ids) for sample in samples)
    ids = torch.full((len(samples), width), pad_id)
    mask = torch.zeros((len(samples), width), dtype=torch.long)
    chosen = torch.zeros((len(samples), width), dtype=torch.bool)
    for row, sample in enumerate(samples):
        here = slice(0, len(sample.ids))
        ids[row, here], mask[row, here] = torch.tensor(list(sample.ids)), 1
        chosen[row, here] = torch.tensor(list(sample.mask), dtype=torch.bool)
    ids, mask, chosen = ids.to(device), mask.to(device), chosen.to(device)
    logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1]
    logps = torch.log_softmax(logits[chosen[:, 1:]].float() / temperature, dim=-1)
    entropies = -(logps.detach().exp() * logps.detach()).sum(dim=-1)
    return logps.gather(1, ids[chosen][:, None])[:, 0], entropies


def micro_batches(samples: Sequence[Sample], limit: int) -> Iterator[list[Sample]]:
    """Samples that begin alike side by side, whose tokens, what they share counted once, stay within `limit`.

    A sample alone may go beyond.
    """
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
