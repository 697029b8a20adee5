"""The learning rate as a function of the update: nothing to save, nothing to resume."""

import math

from strop.config.run_stages import RunStage


def learning_rate(stage: RunStage, done: int) -> float:
    """The rate of the next update when `done` were made, both counted over the whole run, with the stage's peak.

    It rises linearly from 0 for `warmup_updates`, then follows optim.schedule to the end of the run, as transformers'
    schedules of these names do.
    """
    optim, warmup = stage.recipe.optim, stage.warmup_updates
    if done < warmup:
        return optim.learning_rate * done / max(1, warmup)
    part = (done - warmup) / max(1, stage.all_updates - warmup)
    shape = {
        "constant": 1.0,
        "linear": max(0.0, 1 - part),
        "cosine": max(0.0, 0.5 * (1 + math.cos(math.pi * part))),
    }
    return optim.learning_rate * shape[optim.schedule]
