"""Samples from a policy: makes prompts fit, derives seeds from (seed, stage, sample), returns answers as texts."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from importlib import resources

from strop.policies.open import answers
from strop.tasks import templates
from strop_verify.core.ids import derive_seed
from strop_verify.core.protocols import Policy
from strop_verify.core.rollout import Message, SamplingParams

PolicyOf = Callable[[str, Sequence[int]], Policy]
"""(stage, prompt ids) -> policy; for scripted policies, which need the prompt."""

_CUT = "\n[... cut ...]\n"


class Asker:
    """A policy with a seed and a bound on its prompts. Style "continue" sends messages as text, without a template."""

    def __init__(
        self,
        policy: Policy,
        *,
        seed: int,
        style: str = "chat",
        max_prompt_tokens: int = 6000,
        policy_of: PolicyOf | None = None,
    ) -> None:
        self.policy = policy
        self.max_prompt_tokens = max_prompt_tokens
        self._seed, self._style, self._policy_of = seed, style, policy_of

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a prompt."""
        if self._style == "chat":
            return self.policy.tokenizer.encode_chat(messages)
        return self.policy.tokenizer.encode_text("\n\n".join([*(m.content for m in messages), "Answer:"]))

    def fits(self, messages: Sequence[Message]) -> bool:
        """Whether a prompt is within the bound."""
        return len(self.encode(messages)) <= self.max_prompt_tokens

    def most(self, make: Callable[[int], Sequence[Message]], count: int) -> int:
        """The largest k up to `count` for which the prompt make(k) fits, 0 if none does. Prompts must grow with k."""
        return bisect_left(range(1, count + 1), True, key=lambda k: not self.fits(make(k)))

    def clipped(self, text: str, share: float) -> str:
        """The text, cut in its middle if it takes more than `share` of the prompt's bound."""
        ids = self.policy.tokenizer.encode(text)
        room = max(16, int(self.max_prompt_tokens * share))
        if len(ids) <= room:
            return text
        decode = self.policy.tokenizer.decode
        return decode(ids[: room // 2]) + _CUT + decode(ids[len(ids) - room // 2 :])

    def ask(
        self,
        stage: str,
        messages: Sequence[Message],
        samples: int,
        *,
        temperature: float,
        max_tokens: int,
        on_answer: Callable[[], None] = lambda: None,
    ) -> list[str]:
        """The texts of `samples` answers, in the order of their seeds."""
        ids = self.encode(messages)
        policy = self._policy_of(stage, ids) if self._policy_of else self.policy
        seeds = [derive_seed(self._seed, "repair", stage, number) for number in range(samples)]
        params = SamplingParams(temperature=temperature, max_tokens=max_tokens)
        texts = [""] * samples
        for row, completion in answers(policy, [ids] * samples, seeds, params):
            texts[row] = completion.text
            on_answer()
        return texts


def prompt(name: str, values: Mapping[str, str]) -> list[Message]:
    """The messages of a template in the folder `templates`, filled with the values."""
    file = resources.files("strop.repair").joinpath("templates", f"{name}.txt")
    return templates.messages(file.read_text(encoding="utf-8"), values)
