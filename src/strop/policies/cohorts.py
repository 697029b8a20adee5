"""Decoding with only the model's own code and cache: rows that joined together form a cohort with one cache.

For models that cannot share prompts (`decode_batch`): windows, recurrent and convolutional layers, latent attention. A
prompt is computed once; then the cache, which holds whatever the layers need, is repeated for its rows.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from inspect import signature
from itertools import groupby
from typing import Any, Literal

import torch
from transformers import PreTrainedModel

from strop.policies.attention import alone
from strop.policies.decode_batch import COMPACT, FEW, DecodedRow, DecodedRows, asking, slices
from strop.policies.decoding import PlayContext
from strop_verify.core.protocols import Request

Kind = Literal["padded", "even", "uncached"]
"""How cohorts are computed: left-padded, only prompts of one length together, or all recomputed for each token."""


@dataclass
class _Cohort:
    """R rows that joined together.

    count  R, including finished rows that are not yet removed
    ids    (R, T) their prompts and tokens, padded on the left
    mask   (R, T) bool, False for padding; None if there is none
    cache  the model's cache; None without one
    """

    count: int
    ids: torch.Tensor
    mask: torch.Tensor | None
    cache: Any

    def select(self, rows: torch.Tensor) -> None:
        """Keeps or repeats the rows with these indices."""
        self.count = len(rows)
        self.ids = self.ids[rows]
        self.mask = None if self.mask is None else self.mask[rows]
        if self.cache is not None:
            self.cache.reorder_cache(rows)

    def extend(self, tokens: torch.Tensor) -> None:
        """Appends a token to each row."""
        self.ids = torch.cat([self.ids, tokens[:, None]], dim=1)
        if self.mask is not None:
            self.mask = torch.nn.functional.pad(self.mask, (0, 1), value=True)


class CohortBatch(DecodedRows):
    """Decodes in cohorts; see the module's docstring. `rows` holds the cohorts' rows, one cohort after another."""

    def __init__(self, model: PreTrainedModel, pad_id: int, *, kind: Kind = "padded") -> None:
        super().__init__(model, pad_id)
        self._kind = kind
        self._takes = signature(model.forward).parameters
        self._name = cache_name(model)
        self._cohorts: list[_Cohort] = []

    @torch.no_grad()
    def join(
        self,
        requests: Sequence[Request],
        contexts: Sequence[PlayContext | None],
        unwanted: Callable[[], bool] = lambda: False,
    ) -> list[DecodedRow]:
        """Adds a cohort for each part of the prompts; see `DecodedRows`."""
        askers: dict[tuple[int, ...], list[int]] = {}
        for number, request in enumerate(requests):
            askers.setdefault(tuple(request.prompt), []).append(number)
        made: list[tuple[_Cohort, torch.Tensor]] = []
        order: list[int] = []
        with asking(self._model.modules(), unwanted):
            for part in self._parts(list(askers)):
                cohort = self._cohort(part)
                logits = self._compute(cohort, cohort.ids)
                index = [at for at, prompt in enumerate(part) for _ in askers[prompt]]
                rows = torch.tensor(index, device=self._device)
                cohort.select(rows)
                made.append((cohort, logits[rows]))
                order += [number for prompt in part for number in askers[prompt]]
        logits = [*([self.logits] if self.rows else []), *(one for _, one in made)]
        self.logits = torch.cat(logits)
        self._cohorts += [cohort for cohort, _ in made]
        added = dict(zip(order, self._add([requests[number] for number in order]), strict=True))
        return [added[number] for number in range(len(requests))]

    def _parts(self, prompts: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
        """Groups prompts that can be computed together."""
        lengths = [len(prompt) for prompt in prompts]
        order = sorted(range(len(prompts)), key=lengths.__getitem__)
        for _, numbers in groupby(order, key=lambda number: self._kind == "padded" or lengths[number]):
            for part in slices(list(numbers), lengths):
                yield [prompts[number] for number in part]

    def _cohort(self, prompts: Sequence[Sequence[int]]) -> _Cohort:
        longest = max(map(len, prompts))
        ids = torch.full((len(prompts), longest), self._pad_id)
        mask = torch.zeros((len(prompts), longest), dtype=torch.bool)
        for row, prompt in enumerate(prompts):
            ids[row, longest - len(prompt) :] = torch.tensor(prompt)
            mask[row, longest - len(prompt) :] = True
        padded = None if bool(mask.all()) else mask.to(self._device)
        return _Cohort(len(prompts), ids.to(self._device), padded, None)

    def _compute(self, cohort: _Cohort, ids: torch.Tensor) -> torch.Tensor:
        """(R, V) logits after `ids` (R, T), the cohort's newest tokens."""
        arguments: dict[str, Any] = {"input_ids": ids, "use_cache": self._kind != "uncached"}
        if cohort.mask is not None:
            arguments["attention_mask"] = cohort.mask.long()
        if "position_ids" in self._takes:
            shown = torch.ones_like(cohort.ids) if cohort.mask is None else cohort.mask.long()
            arguments["position_ids"] = (shown.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        if cohort.cache is not None:
            arguments[self._name] = cohort.cache
        if "logits_to_keep" in self._takes:  # an index: for a slice the head copies its weights per row
            arguments["logits_to_keep"] = torch.tensor([ids.shape[1] - 1], device=self._device)
        with alone(self._model):
            out = self._model(**arguments)
        if self._kind != "uncached":
            cohort.cache = out[self._name]
        logits: torch.Tensor = out.logits[:, -1]
        return logits

    @torch.no_grad()
    def forward(self, unwanted: Callable[[], bool] = lambda: False) -> None:
        """Computes the next logits, cohort by cohort; see `DecodedRows`."""
        self._compact()
        if not self.live:
            self.rows, self._draws, self._cohorts = [], [], []
            return
        found = []
        with asking(self._layers, unwanted) if len(self.rows) <= FEW else nullcontext():
            for cohort, tokens in zip(
                self._cohorts, self._tokens.split([one.count for one in self._cohorts]), strict=True
            ):
                cohort.extend(tokens)
                new = cohort.ids if self._kind == "uncached" else tokens[:, None]
                found.append(self._compute(cohort, new))
        self.logits = torch.cat(found)

    def _compact(self) -> None:
        """Removes finished rows if that saves time."""
        start, kept, cohorts = 0, list[int](), list[_Cohort]()
        for cohort in self._cohorts:
            live = [n for n in range(cohort.count) if self.rows[start + n] is not None]
            if len(live) <= COMPACT * cohort.count or len(live) <= FEW:
                kept += [start + n for n in live]
                start += cohort.count
                if live and len(live) < cohort.count:
                    cohort.select(torch.tensor(live, device=self._device))
            else:
                kept += range(start, start + cohort.count)
                start += cohort.count
            cohorts += [cohort] if live else []
        if len(kept) < len(self.rows):
            self._cohorts = cohorts
            self._tokens = self._tokens[torch.tensor(kept, dtype=torch.long, device=self._device)]
            self.rows = [self.rows[number] for number in kept]
            self._draws = [self._draws[number] for number in kept]


def cache_name(model: PreTrainedModel) -> str:
    """Name of the argument and output of a model's forward that hold its cache."""
    takes = signature(model.forward).parameters
    return next((name for name in ("cache_params", "state") if name in takes), "past_key_values")
