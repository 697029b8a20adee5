"""Log-probabilities of given tokens: the head for some tokens at a time, and a group's prompt once.

The logits of a step (tokens x vocabulary, float32) are by far its largest tensors: 1600 tokens of a model with 49k
words make 300 MB, several times over. Only one number per token is needed, so the head is computed for some tokens,
reduced, and dropped; what the backward pass needs from it, the gradient by the hidden state, is computed at once (as in
fused linear cross entropy: Liger Kernel, arXiv 2410.10989, section 3.2).

The G completions of a task share their prompt. Concatenated after one copy of it, each attending only to the prompt and
itself (`policies.attention.PrefixGroup`), they give the same log-probabilities and gradients as G padded rows, without
padding and without computing the prompt G times. This is tree attention (SpecInfer, arXiv 2305.09781, section 4.2)
applied to the update.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from strop.core.errors import UserError
from strop.policies.attention import PrefixGroup

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


@dataclass
class Packed:
    """A micro-batch as one row of L tokens, group after group; N completion tokens are predicted.

    ids, positions  (L,) positions restart at each prompt; every completion continues its prompt
    predictors  (N,) place of the token that predicts each completion token
    targets     (N,) the completion tokens
    rows, columns  (N,) where each belongs in the (rows, longest completion) result
    """

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    predictors: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    groups: list[PrefixGroup] = field(default_factory=list)

    def add_group(self, prompt: list[int], completions: list[tuple[int, list[int]]], device: Any) -> None:
        """Appends a prompt and its (row, tokens) completions."""
        start = len(self.ids)
        self.ids += prompt
        self.positions += range(len(prompt))
        # The last completion token predicts nothing, so it is not computed.
        longest = max(len(tokens) for _, tokens in completions) - 1
        origin = list(range(len(prompt)))
        places = []
        for number, (row, tokens) in enumerate(completions):
            first, inner = len(self.ids), tokens[:-1]
            self.ids += inner
            self.positions += range(len(prompt), len(prompt) + len(inner))
            self.predictors += [start + len(prompt) - 1, *range(first, first + len(inner))]
            self.targets += tokens
            self.rows += [row] * len(tokens)
            self.columns += range(len(tokens))
            places.append([*range(first, first + len(inner)), *[start] * (longest - len(inner))])
            origin += range(len(prompt) + number * longest, len(prompt) + number * longest + len(inner))
        self.groups.append(
            PrefixGroup(
                prompt=slice(start, start + len(prompt)),
                completions=torch.tensor(places, device=device).reshape(len(places), longest),
                origin=torch.tensor(origin, device=device),
            )
        )


def pack(input_ids: torch.Tensor, attention_mask: torch.Tensor, keep: int, rows: list[int]) -> Packed:
    """Packs the given rows of a padded batch; neighbouring rows with the same prompt share it.

    input_ids, attention_mask  (B, P + keep): prompts padded on the left, completions on the right
    """
    ids_B, mask_B = input_ids.tolist(), attention_mask.tolist()
    groups: list[tuple[list[int], list[tuple[int, list[int]]]]] = []
    for row in rows:
        tokens = [t for t, m in zip(ids_B[row], mask_B[row], strict=True) if m]
        split = sum(mask_B[row][:-keep])
        prompt, completion = tokens[:split], tokens[split:]
        if not completion:
            continue
        if not groups or groups[-1][0] != prompt:
            groups.append((prompt, []))
        groups[-1][1].append((row, completion))
    packed = Packed()
    for prompt, completions in groups:
        packed.add_group(prompt, completions, input_ids.device)
    return packed


def shared_prefix_logps(
    model: Any,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    keep: int,
    *,
    head: torch.nn.Linear,
    rows: list[int] | None,
    temperature: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(log-probabilities, entropies), both (B, keep) float32, zero where there is no completion token.

    model  one that attends in groups (`policies.attention.attend_in_groups`), wrapped or not
    head   its output embedding, a plain matrix (`check_head`)
    rows   which rows to compute; the others come out zero without a gradient. None = all.
    temperature  of the sampling distribution, whose log-probabilities these are
    Entropies carry no gradient.
    """
    packed = pack(input_ids, attention_mask, keep, list(range(len(input_ids))) if rows is None else rows)
    out = torch.zeros(len(input_ids), keep, device=input_ids.device)
    if not packed.targets:
        return out.requires_grad_(), torch.zeros_like(out)

    def tensor(values: list[int]) -> torch.Tensor:
        return torch.tensor(values, device=input_ids.device)

    with head_selects(head, tensor(packed.targets), temperature):
        values = model(
            input_ids=tensor(packed.ids)[None],
            position_ids=tensor(packed.positions)[None],
            prefix_groups=packed.groups,
            use_cache=False,
            logits_to_keep=tensor(packed.predictors),
        ).logits[0]
    where = (tensor(packed.rows), tensor(packed.columns))
    entropies = torch.zeros_like(out).index_put(where, values[:, 1].detach())
    return out.index_put(where, values[:, 0]), entropies
