"""Finds rollouts in a run folder for the terminal: of a step, of an evaluation, of a task over the run, by id.

Lines of other tasks are not decoded, so a task's history in a long run takes seconds. Files
that cannot be read are left out and named in `unreadable`.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from strop.reports.page.rollout_data import NO_ROLLOUT, load_vocabulary, numbered, row_of
from strop.reports.rollout_files import RolloutFile, evaluation_file, found_in, step_file
from strop.reports.rollout_files import lines as lines_of
from strop.reports.run_folder import RunFolder
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

_TASK = re.compile(rb'\{(?:"step": \d+, "group": \d+, )?"task_id": "([^"\\]*)"')
_SHOWN = 4
"""Maximum candidates to name if a word fits several."""


@dataclass(frozen=True)
class FoundRollout:
    """One rollout: its line, its file, and its short row."""

    line: dict[str, Any]
    place: RolloutFile
    row: dict[str, Any]


@dataclass
class RolloutFinder:
    """Finds rollouts in one run folder."""

    folder: Path
    unreadable: list[str] = field(default_factory=list)
    """One line per file that could not be read completely."""

    def steps(self) -> list[int]:
        """Training steps that have rollouts."""
        return RunFolder(self.folder).rollout_steps()

    def places(self) -> list[RolloutFile]:
        """Every file of rollouts, in the order of training: before, the steps, evaluations during and after."""
        found = list(found_in(self.folder).values())
        steps = [place for place in reversed(found) if place.step is not None]
        evaluations = [place for place in found if place.step is None]
        early = [place for place in evaluations if place.evaluation.startswith(("before", "warm"))]
        return [*early, *steps, *(place for place in evaluations if place not in early)]

    def of_step(self, step: int, group: int | None) -> list[FoundRollout]:
        """The rollouts of a step, or of one of its groups. Raises UserError if there are none."""
        if step not in (steps := self.steps()):
            which = f"it has those of steps {steps[0]} to {steps[-1]}" if steps else "it has none yet"
            raise UserError(f"{self.folder} has no rollouts of step {step}: {which}")
        found = list(self.read(step_file(self.folder, step)))
        groups = sorted({f.row["group"] for f in found})
        if group is not None and group not in groups:
            most = f"its groups are 0 to {groups[-1]}" if groups else "it has none"
            raise UserError(f"step {step} has no group {group}: {most}")
        return [f for f in found if group in (None, f.row["group"])]

    def of_evaluation(self, name: str) -> list[FoundRollout]:
        """The rollouts of an evaluation. Raises UserError for an unknown one."""
        known = [place.evaluation for place in self.places() if place.evaluation]
        if name not in known:
            raise UserError(f"{self.folder} has no evaluation {name!r}: it has {', '.join(known) or 'none'}")
        return list(self.read(evaluation_file(self.folder, name)))

    def of_task(self, word: str, places: list[RolloutFile] | None) -> list[FoundRollout]:
        """Every play of the task with that id, else of the one whose id begins with `word`, in the order of training.
        Raises UserError if no task matches, or more than one.
        """
        places = self.places() if places is None else places
        ids = {task for place in places for task in self._tasks(place)}
        task = pick(word, ids, f"task of {self.folder}")
        return [found for place in places for found in self.read(place, lambda id: id == task)]

    def by_id(self, word: str) -> FoundRollout:
        """The rollout of an id such as t.12.3.1 or e.before.TASK.0; TASK may be abbreviated. Raises UserError."""
        if match := re.fullmatch(r"t\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})", word):
            step, group, index = map(int, match.groups())
            members = self.of_step(step, group)
        elif word.startswith("e."):
            return self._in_evaluation(word.removeprefix("e."))
        else:
            raise UserError(
                f"--id {word!r:.80} is not a rollout id; ids look like t.12.3.1 (step, group, index) or "
                "e.before.TASK.0 (evaluation, task, index)"
            )
        same = [found for found in members if found.row["index"] == index]
        if not same:
            raise UserError(
                f"step {step}, group {group} has no rollout {index}: it has 0 to {len(members) - 1}"
            )
        return same[0]

    def _in_evaluation(self, word: str) -> FoundRollout:
        """The rollout NAME.TASK.INDEX; a name may contain dots."""
        known = [place.evaluation for place in self.places() if place.evaluation]
        name = max(
            (one for one in known if word.startswith(f"{one}.")), key=len, default=word.partition(".")[0]
        )
        members = {f.row["id"].removeprefix(f"e.{name}."): f for f in self.of_evaluation(name)}
        rest = word.removeprefix(f"{name}.")
        task, dot, index = rest.rpartition(".")
        if dot and rest not in members and (index == "g" or index.isdecimal()):
            tasks = {f.row["task"] for f in members.values()}
            rest = f"{pick(task, tasks, f'task of evaluation {name}')}.{index}"
        return members[pick(rest, set(members), f"rollout of evaluation {name}")]

    @cached_property
    def vocabulary(self) -> list[str]:
        """The text of each token id, empty if the run has none."""
        return load_vocabulary(self.folder)

    def _tasks(self, place: RolloutFile) -> Iterator[str]:
        try:
            for text in lines_of(place.path):
                match = _TASK.match(text)
                line = None if match else self._line(text, place)
                if match:
                    yield match[1].decode("utf-8", "replace")
                elif line:  # an id with characters that JSON escapes
                    yield line["task_id"]
        except UserError:
            return  # reported when it is read

    def read(self, place: RolloutFile, wanted: Callable[[str], bool] | None = None) -> Iterator[FoundRollout]:
        """The rollouts of a file; with `wanted` only those of tasks for which it is true."""
        lines = self._lines(place, wanted)
        for line in numbered(lines) if place.evaluation else lines:
            yield FoundRollout(line, place, row_of(line, place))

    def _lines(self, place: RolloutFile, wanted: Callable[[str], bool] | None) -> Iterator[dict[str, Any]]:
        bad = 0
        try:
            for text in lines_of(place.path):
                match = _TASK.match(text)
                if wanted and match and not wanted(match[1].decode("utf-8", "replace")):
                    continue
                line = self._line(text, place)
                if line is None:
                    bad += 1
                elif wanted is None or wanted(line["task_id"]):
                    yield line
        except UserError as error:
            self.unreadable.append(str(error))
        if bad:
            self.unreadable.append(f"{place.path}: {bad} lines are not rollouts and are left out")

    @staticmethod
    def _line(text: bytes, place: RolloutFile) -> dict[str, Any] | None:
        try:
            line: dict[str, Any] = json.loads(text)
            row_of(line, place)
        except NO_ROLLOUT:
            return None
        return line


def pick(word: str, known: set[str], what: str) -> str:
    """The one of `known` that is `word` or begins with it. Raises UserError for none and for several."""
    if word in known:
        return word
    fits = sorted(one for one in known if one.startswith(word))
    if len(fits) == 1:
        return fits[0]
    shown = ", ".join(fits[:_SHOWN]) + (f" and {len(fits) - _SHOWN} more" if len(fits) > _SHOWN else "")
    if fits:
        raise UserError(
            printable(f"{word!r:.80} is the beginning of more than one {what}: {shown}; give more of it")
        )
    raise UserError(printable(f"no {what} has an id that begins with {word!r:.80}"))
