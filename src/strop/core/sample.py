"""What an update consumes: samples, one a rollout, and the batch they make."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One rollout as the update sees it. The five lists have one length L: the prompt and all that followed.

    ids         L  tokens
    mask        L  1 for sampled tokens that carry loss, 0 for the prompt, the environment's tokens and what is masked
    logprobs    L  natural log-probability when it was sampled; 0 for tokens that were not
    advantages  L  0 for tokens that were not sampled
    versions    L  updates that the policy had seen when it sampled the token; 0 for tokens that were not
    prompt      tokens before the first sampled one; the samples of a group that share them are neighbours in a batch
    weight      what the sample counts for, times its advantages; 1 unless a rollout is represented by several samples
    """

    ids: Sequence[int]
    mask: Sequence[int]
    logprobs: Sequence[float]
    advantages: Sequence[float]
    versions: Sequence[int]
    prompt: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        lengths = {len(x) for x in (self.ids, self.mask, self.logprobs, self.advantages, self.versions)}
        if len(lengths) != 1 or not 0 < self.prompt <= len(self.ids):
            raise ValueError(f"a sample's lists have the lengths {sorted(lengths)}, its prompt {self.prompt}")

    @property
    def tokens(self) -> int:
        """How many tokens carry loss."""
        return sum(self.mask)

    @property
    def moves(self) -> bool:
        """Whether a token that carries loss has an advantage other than 0."""
        return any(keep and advantage for keep, advantage in zip(self.mask, self.advantages, strict=True))


@dataclass(frozen=True)
class Batch:
    """The samples of a step, group after group, divided into minibatches of whole groups."""

    minibatches: tuple[tuple[Sample, ...], ...]

    @property
    def samples(self) -> list[Sample]:
        """All of them."""
        return [sample for part in self.minibatches for sample in part]
