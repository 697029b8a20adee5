"""Completions that fit a grammar: tokens that the grammar does not allow next are removed from the distribution.

llguidance computes the allowed tokens; grammars are in its dialect of Lark (`policies.grammars`). Log-probabilities and
entropies are those of the renormalised distribution, from which tokens are sampled.
"""

from functools import cached_property

import numpy as np
import torch

from strop.policies.tokenizer import HubTokenizer
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require

_NEVER = 1e30
"""Its negative is the logit of a forbidden token: probability 0 without infinities in sums."""


class Guides:
    """Makes guides for one tokenizer. size: the number of the model's logits per token."""

    def __init__(self, tokenizer: HubTokenizer, size: int) -> None:
        self._tokenizer, self._size = tokenizer, size

    def guide(self, grammar: str) -> "Guide":
        """A guide for a grammar. Raises UserError for a grammar that cannot be followed."""
        vocabulary = self._vocabulary
        from llguidance import LLMatcher

        matcher = LLMatcher(vocabulary, grammar, log_level=0)
        if matcher.is_error():
            cause = matcher.get_error().splitlines()[0]
            raise UserError(f"the answer's grammar cannot be followed: {cause:.200}")
        return Guide(matcher, self._size)

    @cached_property
    def _vocabulary(self) -> object:
        require("llguidance", package="llguidance", extra="guided", purpose="an answer that fits a grammar")
        from llguidance import LLTokenizer

        backend = getattr(self._tokenizer.inner, "backend_tokenizer", None)
        if backend is None:
            raise UserError("this model's tokenizer is written in Python and cannot be used with grammars")
        return LLTokenizer(backend.to_str(), n_vocab=self._size, eos_token=sorted(self._tokenizer.eos_ids))


class Guide:
    """Which tokens one completion may continue with."""

    def __init__(self, matcher: object, size: int) -> None:
        self._matcher, self._size = matcher, size

    def masked(self, logits: torch.Tensor) -> torch.Tensor:
        """(V,) the logits of the next token, in float32, with probability 0 for forbidden tokens."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)  # type: ignore[attr-defined]
        fits = torch.from_numpy(np.unpackbits(bits, count=self._size, bitorder="little").astype(bool))
        return logits.float().masked_fill(~fits.to(logits.device), -_NEVER)

    def took(self, token: int) -> None:
        """Advances the grammar by the chosen token."""
        self._matcher.consume_token(token)  # type: ignore[attr-defined]
