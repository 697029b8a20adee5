"""Rows that are sampled side by side: what every way of decoding has in common."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from strop.core.protocols import Request
from strop.policies.contexts import PlayContext
from strop.policies.decoding import choose, uniforms

PREFILL_TOKENS = 2048 if not torch.cuda.is_available() else 1 << 16
"""Prompt tokens computed at once. What a CPU computes should fit into its cache: more at a time is slower."""
MASKED = 1 << 26
"""Places of a mask at once, which prompts of unlike length need: it has their longest length squared for each."""

COMPACT = 0.85
"""Finished rows are computed along until the others are at most this share, or FEW."""
FEW = 4


class NobodyWaits(Exception):
    """All requests of a computation that goes on were cancelled."""


@dataclass(eq=False)
class DecodedRow:
    """One completion while it is being sampled."""

    request: Request
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)


class Decoder(Protocol):
    """Makes an empty batch of rows of a model."""

    def __call__(self, model: PreTrainedModel, pad_id: int) -> "DecodedRows":
        """The batch."""


class DecodedRows:
    """Base of the ways of decoding. `rows` has None for a row that is finished and still computed along."""

    def __init__(self, model: PreTrainedModel, pad_id: int) -> None:
        self._model, self._pad_id = model, pad_id
        self._device = next(model.parameters()).device
        self._layers = [one for one in model.modules() if isinstance(one, GradientCheckpointingLayer)]
        self.rows: list[DecodedRow | None] = []
        self._draws: list[torch.Tensor] = []
        self.logits: torch.Tensor
        """(R, V) of each row's next token."""
        self._tokens: torch.Tensor
        """(R,) those just chosen."""

    @property
    def live(self) -> list[DecodedRow]:
        """Rows that are not finished."""
        return [row for row in self.rows if row is not None]

    def drop(self, row: DecodedRow) -> None:
        """Takes a row out."""
        self.rows[self.rows.index(row)] = None

    def context(self, row: DecodedRow) -> PlayContext | None:
        """A copy of what is computed of a row: its prompt and its tokens, but for the last, which was just chosen; None
        where the model's own cache holds it.
        """
        return None

    def join(
        self,
        requests: Sequence[Request],
        contexts: Sequence[PlayContext | None],
        unwanted: Callable[[], bool] = lambda: False,
    ) -> list[DecodedRow]:
        """Computes the requests' prompts and adds a row for each, which it returns in their order.

        contexts  what is computed of each prompt already
        unwanted  is asked before each matrix; raises NobodyWaits where it says so, and all is as it was
        """
        raise NotImplementedError

    def forward(self, unwanted: Callable[[], bool] = lambda: False) -> None:
        """Computes what follows the tokens just chosen, for the rows that go on.

        unwanted  where rows are few, is asked before each layer; raises NobodyWaits where it says so: all rows must be
                  dropped then
        """
        raise NotImplementedError

    def choose(self) -> Iterator[DecodedRow]:
        """Samples a token for each row, then yields the rows."""
        pairs = zip(self.rows, self._draws, strict=True)
        drawn = torch.stack([draws[len(row.tokens) if row else 0] for row, draws in pairs])
        tokens, logprobs, entropies = self._chosen(drawn.to(self._device))
        self._tokens = tokens
        choices = zip(self.rows, tokens.tolist(), logprobs.tolist(), entropies.tolist(), strict=True)
        for row, token, logprob, entropy in list(choices):
            if row is not None:
                row.tokens.append(token)
                row.logprobs.append(logprob)
                row.entropies.append(round(entropy, 4))
                yield row

    def _chosen(self, drawn: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """`choose` with each row's own temperature and nucleus."""
        kinds: dict[tuple[float, float], list[int]] = {}
        for number, row in enumerate(self.rows):
            if row is not None:
                params = row.request.params
                kinds.setdefault((params.temperature, params.top_p), []).append(number)
        if len(kinds) == 1:
            ((temperature, top_p),) = kinds
            return choose(self.logits, drawn, temperature=temperature, top_p=top_p)
        tokens = torch.zeros(len(self.rows), dtype=torch.long, device=self._device)
        logprobs = torch.zeros(len(self.rows), device=self._device)
        entropies = torch.zeros_like(logprobs)
        for (temperature, top_p), numbers in kinds.items():
            here = torch.tensor(numbers, device=self._device)
            found = choose(self.logits[here], drawn[here], temperature=temperature, top_p=top_p)
            tokens[here], logprobs[here], entropies[here] = found
        return tokens, logprobs, entropies

    def _add(self, requests: Iterable[Request]) -> list[DecodedRow]:
        added = [DecodedRow(request) for request in requests]
        self.rows += added
        self._draws += [uniforms([row.request.seed], row.request.params.max_tokens)[0] for row in added]
        return added


@contextmanager
def asking(modules: Iterable[torch.nn.Module], unwanted: Callable[[], bool]) -> Iterator[None]:
    """Before each layer and each matrix product of those modules: of a long prompt a layer takes a while."""

    def look(*_: Any) -> None:
        if unwanted():
            raise NobodyWaits

    kinds = (GradientCheckpointingLayer, torch.nn.Linear)
    hooks = [one.register_forward_pre_hook(look) for one in modules if isinstance(one, kinds)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def slices(numbers: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Prompts to compute side by side: of rising length, up to PREFILL_TOKENS with the padding, and MASKED."""
    part: list[int] = []
    for number in numbers:
        rows, longest = len(part) + 1, lengths[number]
        masked = part and lengths[part[0]] < longest
        if part and (longest * rows > PREFILL_TOKENS or (masked and longest**2 * rows > MASKED)):
            yield part
            part = []
        part.append(number)
    if part:
        yield part
