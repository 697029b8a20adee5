"""A loss and an advantage that a package adds; they have their own module because losses import torch."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from strop.algorithms.losses import Terms, Tokens
from strop_verify.core.rollout import Group


def softened(tokens: Tokens, *, most: Annotated[float, Field(gt=0)] = 1.0) -> Terms:
    """-A times the log of the ratio to the old policy, squashed to (-most, most). `grpo.loss: softened`."""
    gap = (tokens.logps - tokens.old) / most
    return -tokens.advantages * most * gap.tanh(), gap.abs() > 1, "tokens"


class BestSoFar:
    """The reward minus the best reward of earlier steps. `grpo.advantage: best-so-far`."""

    def __init__(self, *, start: float = 0.0) -> None:
        self._best = start

    def __call__(self, groups: Sequence[Group]) -> list[list[float]]:
        """One number per rollout; 0 for rollouts that were not scored."""
        rewards = [group.rewards for group in groups]
        found = [[0.0 if reward is None else reward - self._best for reward in each] for each in rewards]
        self._best = max([self._best, *(reward for each in rewards for reward in each if reward is not None)])
        return found

    def state(self) -> dict[str, Any]:
        """The state that a resumed run needs."""
        return {"best": self._best}

    def load(self, state: dict[str, Any]) -> None:
        """Restores what `state` returned."""
        self._best = state["best"]
