"""The `transformers` engine: continuous batching for any causal language model that transformers loads.

At the start it finds the fastest decoder that gives the model's own log-probabilities (`policies.proof`). A group's
prompt is prefilled once, new rows join while others decode, finished rows are dropped, and each row has its own stop
strings. What a row samples depends on its prompt, its seed and the weights; the batch around it, which depends only on
the order of `submit` and `work`, changes only the last bits of floating point. When another thread cancels the last
future, computing stops before the next layer, or in a prefill before the next matrix.
"""

import copy
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from importlib.util import find_spec

import torch
from transformers import PreTrainedModel

from strop.policies.decode_batch import DecodedRow, Decoder, NobodyWaits
from strop.policies.decoding import Contexts
from strop.policies.guided import Guides
from strop.policies.proof import Proof, decoder_of, turns
from strop.policies.tokenizer import HubTokenizer
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Completion, FinishReason

_ROOM = 0.25
"""Requests join when this share of max_rows is free (or there is room for all of them) and their number is this share
of the rows in flight: each join costs a prefill and copies the keys and values of all rows."""
_HOLD = 16
"""Maximum number of tokens that a request waits for others to join with it."""


class TransformersPolicy:
    """Samples from a transformers model, or from a copy of it in a faster type that `update` refreshes.

    own_copy  always keep a copy, so that rows can be sampled while the model is trained
    max_rows  maximum number of rows in the batch
    max_tokens_held  maximum tokens (prompts plus max_tokens of each row) in the key-value cache; bounds memory. The
                     same number again may be kept for plays between two turns.
    longest   tokens of the longest prompt and completion expected; longer ones are checked when they arrive
    proof     how it decodes, and how close that is to the model's plain forward pass
    Raises UserError if no decoder reproduces the model's own log-probabilities.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: HubTokenizer,
        *,
        name: str = "model",
        dtype: torch.dtype | None = None,
        own_copy: bool = False,
        max_rows: int = 128,
        max_tokens_held: int = 1 << 18,
        longest: int = 0,
    ) -> None:
        self.name, self.version, self.tokenizer = name, 0, tokenizer
        self.context: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        """Number of positions of the model; None if unknown."""
        self.max_rows, self.max_tokens_held = max_rows, max_tokens_held
        dtype = dtype or model.dtype
        self._shares_weights = dtype == model.dtype and not own_copy
        self._model = model if self._shares_weights else copy.deepcopy(model).to(dtype)
        if not self._shares_weights:
            self._model.requires_grad_(False)
        self._decoder: Decoder
        self.proof: Proof
        self._prove(longest)
        self._contexts = Contexts(max_tokens_held)
        self._free()
        self.follows_grammars = find_spec("llguidance") is not None
        """Whether requests may have a grammar."""
        self._guides = Guides(tokenizer, model.config.get_text_config().vocab_size)
        self._waiting: list[tuple[Request, Future[Completion]]] = []
        self._futures: dict[DecodedRow, Future[Completion]] = {}
        self._held = 0
        """Number of steps for which requests have waited for others to join with them."""

    @torch.no_grad()
    def update(self, version: int, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """See `core.protocols.Trainable`; reads weights only to refresh a copy. Raises StropError while sampling."""
        if self._futures or self._waiting:
            remedy = "wait for them or cancel them"
            raise StropError(f"weights cannot change while rows are being sampled; {remedy}")
        self.version = version
        self._contexts.clear()
        if not self._shares_weights:
            ours = dict(self._model.named_parameters())
            for name, weight in weights:
                ours[name].copy_(weight)

    def submit(self, request: Request) -> Future[Completion]:
        """See `core.protocols.Policy`. Raises UserError for a grammar that cannot be followed."""
        if request.grammar:
            self._guides.guide(request.grammar)
        if (tokens := len(request.prompt) + request.params.max_tokens) > self._proven:
            self._prove(tokens)
        future: Future[Completion] = Future()
        self._waiting.append((request, future))
        return future

    def can_follow(self, grammar: str) -> bool:
        """Whether completions can be made to fit this grammar."""
        try:
            return self.follows_grammars and bool(self._guides.guide(grammar))
        except UserError:
            return False

    def work(self, seconds: float) -> None:
        """Samples one token per row; see `core.protocols.Policy`. An exception cancels all requests."""
        try:
            self._work()
        except BaseException:
            self._give_up()
            raise

    def _work(self) -> None:
        self._drop_cancelled()
        if not self._futures and not self._waiting:
            if self._batch.rows:  # they were cancelled
                self._free()
            return
        was_training = self._model.training
        if was_training:
            self._model.eval()
        try:
            self._step()
        finally:
            if was_training:
                self._model.train()
        if not self._futures:
            self._free()

    def _give_up(self) -> None:
        """Cancels all requests: after an interrupted step the state of the batch is unknown."""
        futures = [*self._futures.values(), *(future for _, future in self._waiting)]
        self._futures, self._waiting = {}, []
        for future in futures:
            future.cancel()
        self._free()

    def _prove(self, longest: int) -> None:
        """Finds a decoder for texts of up to `longest` tokens. Rows in flight keep the one they started with."""
        known = getattr(self, "_proven", None)
        if known is None or turns(self._model, longest) != turns(self._model, known):
            self._decoder, self.proof = decoder_of(self._model, self.tokenizer.pad_id, longest=longest)
        self._proven = longest

    def _free(self) -> None:
        """Frees the cache when all rows have ended; an update needs the memory."""
        self._batch, self._batch_by = self._decoder(self._model, self.tokenizer.pad_id), self._decoder

    def _step(self) -> None:
        self._admit()
        if not self._futures:
            return
        for row in self._batch.choose():
            text, reason = self._ending(row)
            if reason is not None:
                self._finish(row, text, reason)
            elif row.request.heard is not None:
                row.request.heard(text, row.tokens, row.logprobs)
        with suppress(NobodyWaits):
            self._batch.forward(lambda: all(future.cancelled() for future in self._futures.values()))

    def _drop_cancelled(self) -> None:
        self._waiting = [(request, future) for request, future in self._waiting if not future.cancelled()]
        alone = len(self._futures) == 1  # a client that asks one at a time will ask for nearly the same again
        for row in [row for row, future in self._futures.items() if future.cancelled()]:
            if alone:
                self._keep(row)
            del self._futures[row]
            self._batch.drop(row)

    def _admit(self) -> None:
        """Lets waiting requests join, shortest prompts first, within `max_rows` and `max_tokens_held`."""
        live, waiting = len(self._futures), len(self._waiting)
        if self._batch_by is not self._decoder:  # waiting requests need another decoder
            if live:
                return
            self._free()
        full = self.max_rows - live < min(waiting, _ROOM * self.max_rows)
        few = waiting < _ROOM * live and self._held < _HOLD
        if not waiting or (live and (full or few)):
            self._held = self._held + 1 if waiting else 0
            return
        self._held, free = 0, self.max_rows - live
        order = sorted(
            range(len(self._waiting)),
            key=lambda i: (len(self._waiting[i][0].prompt), tuple(self._waiting[i][0].prompt), i),
        )
        inside = [row.request for row in self._batch.live]
        held = {tuple(request.prompt) for request in inside}
        tokens = sum(request.params.max_tokens for request in inside) + sum(map(len, held))
        taken: list[int] = []
        for number in order:
            request = self._waiting[number][0]
            prompt = tuple(request.prompt)
            cost = request.params.max_tokens + (0 if prompt in held else len(prompt))
            if (inside or taken) and (len(taken) == free or tokens + cost > self.max_tokens_held):
                break
            taken.append(number)
            held.add(prompt)
            tokens += cost
        if not taken:
            return
        joining = [self._waiting[number][0] for number in taken]
        futures = [self._waiting[number][1] for number in taken]
        known = [self._contexts.take(request.play, request.prompt) for request in joining]
        try:
            rows = self._batch.join(joining, known, lambda: all(future.cancelled() for future in futures))
        except NobodyWaits:
            for request, context in zip(joining, known, strict=True):
                if context and request.play:
                    self._contexts.keep(request.play, context)
            return
        for row in rows:
            row.guide = self._guides.guide(row.request.grammar) if row.request.grammar else None
        self._futures |= zip(rows, futures, strict=True)
        joined = set(taken)
        self._waiting = [pair for number, pair in enumerate(self._waiting) if number not in joined]

    def _finish(self, row: DecodedRow, text: str, reason: FinishReason) -> None:
        request = row.request
        if self._contexts.has_room(len(request.prompt) + len(row.tokens)):
            self._keep(row)
        self._batch.drop(row)
        numbers = {"token_ids": row.tokens, "logprobs": row.logprobs, "entropies": row.entropies}
        done = Completion(**numbers, text=text, finish_reason=reason, policy_version=self.version)
        with suppress(InvalidStateError):  # cancelled meanwhile
            self._futures.pop(row).set_result(done)

    def _keep(self, row: DecodedRow) -> None:
        """Keeps a row's computed tokens for its play's next turn."""
        if row.request.play and (context := self._batch.context(row)):
            self._contexts.keep(row.request.play, context)

    def _ending(self, row: DecodedRow) -> tuple[str, FinishReason | None]:
        request, params, token = row.request, row.request.params, row.tokens[-1]
        ended, full = token in self.tokenizer.eos_ids, len(row.tokens) == params.max_tokens
        if not (ended or full or request.ends or request.heard or self._may_stop(token, params.stop)):
            return "", None  # the text is not needed; decoding takes as long as a step of a small model
        text = self.tokenizer.decode(row.tokens[:-1] if ended else row.tokens, after=request.prompt)
        if ended:
            return text, "eos"
        if (before := params.before_stop(text)) is not None:
            return before, "stop"
        if request.ends and request.ends(text):
            return text, "stop"
        return text, "length" if full else None

    def _may_stop(self, token: int, stop: Sequence[str]) -> bool:
        """Whether a token can complete one of these strings: it may add its last character."""
        piece = self.tokenizer.piece(token) if stop else ""
        return "\ufffd" in piece or any(one[-1:] in piece or "\ufffd" in one for one in stop)
