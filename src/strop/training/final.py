"""The trained model, as transformers loads it."""

import shutil
from pathlib import Path

from strop.policies.tokenizer import HubTokenizer
from strop.training.learner import Learner


def save_final(target: Path, learner: Learner, tokenizer: HubTokenizer) -> None:
    """Writes model and tokenizer to a folder, whole or not at all."""
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    learner.save_model(part)
    tokenizer.inner.save_pretrained(part)
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
