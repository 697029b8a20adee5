"""The run folder of `strop eval`: an evaluation of one or more models on one task set, kept answer by answer.

    eval.json                   the request: the models by their evaluations' names, and where the numbers go
    evaluation/NAME.jsonl       answers of a running or interrupted evaluation, each durable once it is judged
    evaluation/NAME.json, NAME.jsonl.zst, NAME.record.json     a finished evaluation, as in a training run
    evaluation/NAME.resampled.jsonl, NAME.resampled.jsonl.zst  the answers of the control, if there is one

The other files are the same as in every run; the recipe is that of the first model.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from strop.evaluation.evaluate import SeededPlay
from strop.evaluation.hack_audit import flagged
from strop.reports.rollout_files import CONTROL, LOG
from strop.reports.run_folder import ASKED, EVALUATION
from strop_verify.core.errors import UserError
from strop_verify.core.journal import Appender, scan
from strop_verify.core.rollout import Rollout, SamplingParams
from strop_verify.core.task import Task

Key = tuple[str, int]
"""(task id, index of the answer)."""


class AnswerLog:
    """The answers of one evaluation, written as soon as they are judged, and reused when the evaluation is resumed."""

    def __init__(self, run: Path, name: str, tasks: Mapping[str, Task]) -> None:
        """Reads the answers of an earlier process. `tasks`, by id, are used to find answers that bypass their task.

        Raises UserError for a damaged file.
        """
        self._tasks = tasks
        folder = run / EVALUATION
        self._paths = {False: folder / f"{name}{LOG}", True: folder / f"{name}{CONTROL}{LOG}"}
        self._kept: dict[str, dict[Key, Rollout]] = {}
        self._begun, self.seconds = time.perf_counter(), 0.0
        """Wall time of earlier processes."""
        self._cpu_begun, self.cpu_seconds = time.process_time(), 0.0
        """CPU time of earlier processes."""
        for path in self._paths.values():
            for _, line in scan(path):
                tag, seconds, cpu = line.pop("play"), line.pop("at"), line.pop("cpu", 0.0)
                rollout = Rollout.model_validate(line)
                if rollout.verdict is not None and rollout.verdict.scored:  # retries grader errors
                    self._keep(tag, rollout)
                self.seconds, self.cpu_seconds = max(self.seconds, seconds), max(self.cpu_seconds, cpu)
        self._files: dict[bool, Appender] = {}

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def playing(self, play: SeededPlay) -> SeededPlay:
        """A function that plays only the missing rollouts, without those in `done`; kept ones come first."""

        def resumed(
            tasks: Sequence[Task], samples: int, params: SamplingParams, /, *, seed: int, tag: str
        ) -> Iterator[Rollout]:
            kept = dict(self._kept.get(tag, {}))
            wanted = [(task.id, index) for task in tasks for index in range(samples)]
            yield from (kept[key] for key in wanted if key in kept)
            if all(key in kept for key in wanted):
                return
            for rollout in play(tasks, samples, params, seed=seed, tag=tag, done=kept):
                rollout = flagged(rollout, self._tasks)
                at = self.seconds + time.perf_counter() - self._begun
                cpu = self.cpu_seconds + time.process_time() - self._cpu_begun
                line = {**rollout.model_dump(mode="json"), "play": tag, "at": at, "cpu": cpu}
                self._file(_of_control(tag)).append(line)
                self._keep(tag, rollout)
                yield rollout

        return resumed

    def of_plays(self) -> Iterator[Rollout]:
        """Sampled answers, then greedy ones."""
        for tag in sorted(self._kept, reverse=True):
            if not _of_control(tag):
                yield from self._kept[tag].values()

    def of_control(self) -> Iterator[Rollout]:
        """Answers of the control in the order of tasks, renumbered within each task."""
        numbers: dict[str, int] = {}
        rounds = [tag for tag in self._kept if _of_control(tag)]
        found = [(key[0], tag, key[1], one) for tag in rounds for key, one in self._kept[tag].items()]
        for task, _, _, one in sorted(found, key=lambda item: (item[0], len(item[1]), item[1:3])):
            numbers[task] = numbers.get(task, -1) + 1
            yield one.model_copy(update={"index": numbers[task]})

    def forget(self) -> None:
        """Discards the answers of an earlier process."""
        self.remove()
        self._kept, self.seconds, self.cpu_seconds = {}, 0.0, 0.0

    def remove(self) -> None:
        """Removes the files of the log."""
        self.close()
        for path in self._paths.values():
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Closes the files. Safe to call twice."""
        while self._files:
            self._files.popitem()[1].close()

    def _file(self, of_control: bool) -> Appender:
        if of_control not in self._files:
            self._files[of_control] = Appender(self._paths[of_control])
        return self._files[of_control]

    def _keep(self, tag: str, rollout: Rollout) -> None:
        self._kept.setdefault(tag, {})[rollout.task_id, rollout.index] = rollout


def _of_control(tag: str) -> bool:
    return tag.startswith("evaluation.resampled")


def evaluation_names(words: Iterable[str]) -> dict[str, str]:
    """{name: word}: a short name of letters, digits and . _ + - for the evaluation of each model."""
    found: dict[str, str] = {}
    for word in words:
        short = re.sub(r"@https?://.*|\.jsonl?(\.zst|\.gz)?$", "", word)
        short = "/".join(short.split("/")[-2:])
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", short)[:60].strip(".-") or "model"
        name, number = plain, 1
        while name in found:
            number += 1
            name = f"{plain}-{number}"
        found[name] = word
    return found


def read_asked(folder: Path) -> dict[str, Any]:
    """The request that a `strop eval` folder keeps. Raises UserError for other folders."""
    try:
        asked: dict[str, Any] = json.loads((folder / ASKED).read_bytes())
    except FileNotFoundError:
        cause = (
            "no such folder" if not folder.exists() else f"it has no {ASKED}, so `strop eval` did not make it"
        )
        raise UserError(f"--resume {folder}: {cause}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {folder / ASKED}: {error}") from error
    return asked
