"""Recipe section `reward_model`: learning to score answers (`strop train-reward`)."""

from typing import Literal

from pydantic import Field

from strop.config.section import Section
from strop.config.training import Schedule


class RewardModelConfig(Section):
    """A number at the last token, learnt from answers that passed and answers that failed."""

    pairs: str | None = Field(default=None, min_length=1)
    """File of `strop build preferences`; must be given for `strop train-reward`."""
    loss: Literal["bradley-terry", "cross-entropy"] = "bradley-terry"
    """bradley-terry: an answer that passed above each of its task that failed; cross-entropy: each for itself."""
    centering: float = Field(default=0.01, ge=0)
    """Weight of the squared sum of a pair's scores, which keeps them near 0 (arXiv 2312.09244)."""
    each: int = Field(default=4, ge=1)
    """Answers of a task that passed, and that failed, that are compared with each other, at most; drawn by the seed."""
    max_tokens: int = Field(default=1024, ge=1)
    """Tokens of a task and an answer; of longer ones the end counts."""
    epochs: float = Field(default=1.0, gt=0)
    """Passes over the tasks; unused when steps is given."""
    steps: int | None = Field(default=None, ge=1)
    """Updates; null goes by epochs."""
    batch_size: int = Field(default=16, ge=1)
    """Tasks in one update."""
    learning_rate: float = Field(default=1e-5, gt=0, lt=1)
    """Peak learning rate."""
    schedule: Schedule = "cosine"
    """Shape of the learning rate after the warm-up."""
    warmup_steps: int = Field(default=0, ge=0)
    """Updates over which the learning rate rises from 0."""
