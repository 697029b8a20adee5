"""Takes a step's groups: now, or in a thread beside the update of the step before.

Which weights play a step does not depend on the clock: those of the step before, or with `beside` those of one step
earlier. A step that was played ahead is part of the checkpoint, so a resumed run goes on with the same groups.
"""

import gzip
import json
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from strop.config.run_stages import RunStage
from strop.core.rollout import Group
from strop.policies import release_memory
from strop.rollouts.groups import fill_step
from strop.rollouts.streams import Stream
from strop.training.shared_play import SharedPlay

AHEAD = "ahead.jsonl.gz"
"""File of a checkpoint with the next step's groups, where they were played ahead."""


@dataclass(frozen=True)
class Taken:
    """A step's groups.

    learnt  those to learn from, all among `played`
    sampling, verifying, rollouts  wall seconds: of sampling, of waiting for verdicts alone, of both and the rest
    """

    learnt: list[Group]
    played: list[Group]
    sampling: float = 0.0
    verifying: float = 0.0
    rollouts: float = 0.0

    def save(self, folder: Path) -> None:
        """Writes the groups to a checkpoint."""
        place = {id(group): number for number, group in enumerate(self.played)}
        with gzip.open(folder / AHEAD, "wt", encoding="utf-8", compresslevel=3) as file:
            file.write(json.dumps([place[id(group)] for group in self.learnt]) + "\n")
            file.writelines(group.model_dump_json() + "\n" for group in self.played)

    @classmethod
    def load(cls, folder: Path) -> "Taken | None":
        """What a checkpoint has, if it has a step."""
        if not (folder / AHEAD).is_file():
            return None
        with gzip.open(folder / AHEAD, "rt", encoding="utf-8") as file:
            places: list[int] = json.loads(next(file))
            played = [Group.model_validate_json(line) for line in file]
        return cls([played[place] for place in places], played)


class Taker:
    """Plays steps from the task stream. One at a time: a second may begin when the first is there."""

    def __init__(self, play: SharedPlay, stream: Stream) -> None:
        self._play, self._stream = play, stream

    def now(self, stage: RunStage, number: int) -> Taken:
        """The groups of step `number`, from 1, with the weights as published last."""
        recipe, started = stage.recipe, time.perf_counter()
        learnt, played = fill_step(
            lambda tasks, params, round: self._play.groups(
                tasks, recipe.grpo.group_size, params, seed=recipe.seed, step=number - 1, round=round
            ),
            self._stream,
            recipe,
            number,
        )
        sampling, verifying = self._play.player.clock.take()
        return Taken(learnt, played, sampling, verifying, time.perf_counter() - started)

    def beside(self, stage: RunStage, number: int) -> "Future[Taken]":
        """The same in a thread. The published weights must be no part of the model that is trained meanwhile."""
        future: Future[Taken] = Future()

        def work() -> None:
            try:
                future.set_result(self.now(stage, number))
            except BaseException as error:  # raised again where the groups are asked for
                future.set_exception(error)

        release_memory()
        Thread(target=work, name=f"step {number}", daemon=True).start()
        return future
