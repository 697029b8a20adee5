"""A teacher on a server: log-probabilities of prompts over HTTP, as vLLM's /v1/completions gives them.

A request sends token ids and asks for one token and `prompt_logprobs`: an entry per id of the prompt, the first null,
each a mapping of ids to {"logprob": ...} that always contains the prompt's own id (vLLM's documentation). They are for
temperature 1. A value that is missing or not finite is an error, never 0.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from strop.config.training import TeacherConfig
from strop.policies.connection import Connection, ModelCaller, explain
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.rollout import Sample

_NAMES = {
    "url": "grpo.teacher.url", "model": "grpo.teacher.name", "api_key_env": "grpo.teacher.api_key_env",
    "timeout": "the server's capacity", "concurrency": "grpo.tasks_per_step",
}  # fmt: skip


class TeacherServer:
    """Gets log-probabilities of samples from a server, with several requests at a time."""

    def __init__(self, config: TeacherConfig) -> None:
        """Connects at the first request. Raises UserError for an invalid address."""
        self._server = Connection(config.url or "", config.name or "", api_key_env=config.api_key_env)
        self._server.check_url("grpo.teacher.url")

    def check(self, text: str, ids: Sequence[int]) -> None:
        """Sends the text, then its ids by the policy's tokenizer. Raises UserError if the server tokenizes the text
        differently or gives no log-probabilities of prompts.
        """
        (of_text,), of_ids = self._ask([text]), self._ask([list(ids)])[0]
        found = self._values(of_ids, ids, 1)
        for place, (entry, one) in enumerate(zip(of_text, ids, strict=False)):
            if place and str(one) not in entry:
                raise UserError(f"{self._named}: it tokenizes a probe differently at token "
                                f"{place}, id {one}; a teacher needs the policy's own tokenizer")  # fmt: skip
        if len(of_text) != len(ids) or len(found) != len(ids) - 1:
            raise UserError(f"{self._named}: it splits a probe into {len(of_text)} tokens, the policy's tokenizer "
                            f"into {len(ids)}; a teacher needs the policy's own tokenizer")  # fmt: skip

    def logps(self, samples: Sequence[Sample]) -> list[list[float]]:
        """Log-probabilities of each sample's tokens in the loss. Raises StropError, UserError for invalid replies."""
        found = []
        for sample, entries in zip(samples, self._ask([list(one.ids) for one in samples]), strict=True):
            first = next(place for place, keep in enumerate(sample.mask) if keep)
            values = self._values(entries, sample.ids, first)
            found.append([v for v, keep in zip(values, sample.mask[first:], strict=True) if keep])
        return found

    @property
    def _named(self) -> str:
        return f"grpo.teacher.url={self._server.url}"

    def _values(self, entries: Sequence[Any], ids: Sequence[int], first: int) -> list[float]:
        """The log-probability of each id from index `first` (at least 1) on."""
        if len(entries) != len(ids):
            raise UserError(f"{self._named}: {len(entries)} entries of prompt_logprobs for {len(ids)} tokens")
        found = []
        for one, entry in zip(ids[first:], entries[first:], strict=True):
            said = entry.get(str(one)) if isinstance(entry, Mapping) else None
            value = said.get("logprob") if isinstance(said, Mapping) else None
            if not isinstance(value, int | float) or not -math.inf < value <= 0:
                raise UserError(f"{self._named}: no log-probability of token {one}, but {str(said)[:80]}")
            found.append(float(value))
        return found

    def _ask(self, prompts: Sequence[Any]) -> list[Sequence[Any]]:
        """`prompt_logprobs` of each text or list of ids."""
        return asyncio.run(self._asked(prompts))

    async def _asked(self, prompts: Sequence[Any]) -> list[Sequence[Any]]:
        caller = ModelCaller(self._server, "grpo.teacher.url")
        slots = asyncio.Semaphore(self._server.concurrency)

        async def one(prompt: Any) -> Sequence[Any]:
            more = {"prompt_logprobs": 0, "add_special_tokens": False}
            async with slots:
                answer = await caller.ask(prompt=prompt, max_tokens=1, temperature=1.0, extra_body=more)
            entries = getattr(answer.choices[0], "prompt_logprobs", None)
            if not isinstance(entries, list):
                raise UserError(f"{self._named}: it gives no prompt_logprobs, unlike vLLM's /v1/completions")
            return entries

        try:
            return await asyncio.gather(*map(one, prompts))
        except caller.failures as error:
            raise StropError(f"grpo.teacher: {explain(error, self._server, _NAMES)}") from error
        finally:
            await caller.close()
