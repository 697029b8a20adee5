"""Learned rewards: `model:PATH` in a recipe. torch is imported when the first answer is scored."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from strop.policies.model_files import ModelFiles
from strop.tasks.preferences import reward_prompt
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import JudgedRollout, batched

FINAL = "final"
"""The model's folder in a run."""


def model_folder(place: str) -> str:
    """The reward model at `place`: a folder, a run (its `final`) or a Hub id. Raises UserError if there is none."""
    folder = Path(place).expanduser()
    if (folder / FINAL).is_dir():
        folder = folder / FINAL
    name = str(folder) if folder.is_dir() else place
    if not folder.is_dir() and (place.startswith((".", "/", "~", "runs/")) or place.count("/") > 1):
        raise UserError(f"reward model:{place}: no such folder; make a model with strop train-reward")
    try:
        files = ModelFiles.read(name)
    except UserError as error:
        raise UserError(str(error).replace("model.name=", "reward model:", 1)) from None
    heads = [str(one) for one in files.config.get("architectures") or []] if files else []
    if not any(one.endswith("ForSequenceClassification") for one in heads):
        what = ", ".join(heads) or "no architecture"
        raise UserError(
            f"reward model:{place}: it holds {what}, not a reward model; train one with strop train-reward"
        )
    return name


class LearnedReward:
    """A reward model as a batch-wise reward: its score of each answer, an unbounded number; higher is better."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._model: Any = None
        batched(self)

    def __call__(self, rollouts: Sequence[JudgedRollout]) -> list[float]:
        """One score per rollout, from its task and its verified answer."""
        if self._model is None:
            from strop.judges.reward_model import loaded

            self._model = loaded(self.name)
        pairs = [(reward_prompt(one.task), one.rollout.answer) for one in rollouts]
        scores: list[float] = self._model.score(pairs)
        return scores
