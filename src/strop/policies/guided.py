"""Completions that fit a grammar: what it does not let a text go on with is taken out of the distribution.

llguidance says what that is, of grammars in its dialect of Lark (`policies.grammars`). A token's log-probability and
the entropy are those of what is left, renormalised: it is what was sampled from.
"""

from functools import cached_property

import numpy as np
import torch

from strop.policies.tokenizer import HubTokenizer
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require

_NEVER = 1e30
"""What is subtracted from nothing: a logit of minus so much has probability 0, and no infinity gets into sums."""


class Guides:
    """Makes guides for one tokenizer.

    size  of the vocabulary, as the model's logits have it
    """

    def __init__(self, tokenizer: HubTokenizer, size: int) -> None:
        self._tokenizer, self._size = tokenizer, size

    def guide(self, grammar: str) -> "Guide":
        """A guide by a grammar. Raises UserError for one that can't be followed."""
        vocabulary = self._vocabulary
        from llguidance import LLMatcher

        matcher = LLMatcher(vocabulary, grammar, log_level=0)
        if matcher.is_error():
            cause = matcher.get_error().splitlines()[0]
            raise UserError(f"what the answer is to fit can't be followed: {cause:.200}")
        return Guide(matcher, self._size)

    @cached_property
    def _vocabulary(self) -> object:
        require("llguidance", package="llguidance", extra="guided", purpose="an answer that fits a grammar")
        from llguidance import LLTokenizer

        backend = getattr(self._tokenizer.inner, "backend_tokenizer", None)
        if backend is None:
            raise UserError("this model's tokenizer is written in Python; no grammar can be followed")
        return LLTokenizer(backend.to_str(), n_vocab=self._size, eos_token=sorted(self._tokenizer.eos_ids))


class Guide:
    """What one completion may go on with."""

    def __init__(self, matcher: object, size: int) -> None:
        self._matcher, self._size = matcher, size

    def masked(self, logits: torch.Tensor) -> torch.Tensor:
        """(V,) the logits of its next token, in float32, in which what does not fit has probability 0."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)  # type: ignore[attr-defined]
        fits = torch.from_numpy(np.unpackbits(bits, count=self._size, bitorder="little").astype(bool))
        return logits.float().masked_fill(~fits.to(logits.device), -_NEVER)

    def took(self, token: int) -> None:
        """It goes on with that token."""
        self._matcher.consume_token(token)  # type: ignore[attr-defined]
