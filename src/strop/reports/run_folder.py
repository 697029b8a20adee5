"""The run folder: everything that happened in one run, in plain files.

    recipe.yaml                     the resolved recipe
    eval.json                       of `strop eval`: its job (cli/evaluation_run.py)
    versions.json                   code revision and package versions
    vocabulary.json.zst             a JSON list with the text of each token id
    metrics.jsonl                   one line per step, durable when the step is over
    rollouts/step-000012.jsonl.zst  every rollout of a step, one per line, with its `step` and `group`
    calls/NAME.jsonl                calls of a user's function decorated with strop.log_reward, one per line
    evaluation/NAME.json            an evaluation (before, after, ...); its rollouts are in NAME.jsonl.zst next to it
    scaling/NAME.jsonl              of `strop scale`: runs of an evaluation's answers without hidden tests, one per line
    checkpoints/                    checkpoints of the trainer
    code/                           copies of the user's own rewards, environments, templates (training.resume_changes)
    changes.jsonl                   settings that were changed when the run was resumed, one line each time
    error.txt                       causes and traces of errors that ended the run early
    stop                            create it to end the run: it saves a checkpoint after its step, removes this file
                                    and ends
    launch/                         files of `strop launch` for the run: script, recipe, logs of its parts
    card.json                       of `strop train-reward`: the model's report card (evaluation/reward_card.py)
    hacking.svg                     reward and pass rate over the policy's distance from its start, if the reward is not
                                    just passing
    summary.json                    results, written at the end

A writing process holds a lock on the folder. A kill at any moment leaves complete files, and at most an incomplete last
line of metrics.jsonl, which readers skip and `resume` removes.
"""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from strop.config.revision import VERSIONS
from strop.reports import call_log
from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Group, Rollout

RECIPE, METRICS, SUMMARY = "recipe.yaml", "metrics.jsonl", "summary.json"
VOCABULARY = "vocabulary.json.zst"
ROLLOUTS, EVALUATION, CHECKPOINTS = "rollouts", "evaluation", "checkpoints"
CODE, CHANGES, ERROR = "code", "changes.jsonl", "error.txt"
STOP, LAUNCH = "stop", "launch"
_LOCK, _LOOKS = ".lock", 100
_TRACKERS = ("tensorboard", "wandb")
_STEP = "step-"
STEP_FILE = re.compile(r"step-([0-9]{6,12})\.jsonl\.zst")
"""Name of a file with the rollouts of a step."""
DATA = (RECIPE, VERSIONS, VOCABULARY, METRICS, SUMMARY, ROLLOUTS, EVALUATION, CODE, CHANGES, call_log.FOLDER)
"""Files of a run except checkpoints."""
CARD, HACKING = "card.json", "hacking.svg"
ASKED, SCALING = "eval.json", "scaling"
"""File with the job of a run of `strop eval`; folder that `strop scale` adds."""
_OURS = (*DATA, ASKED, SCALING, CARD, HACKING, CHECKPOINTS, *_TRACKERS)


class RunFolder:
    """One run's files, opened by `create`, `resume` or `read`. A context manager that releases the writer's lock."""

    def __init__(self, path: Path | str, lock: int | None = None) -> None:
        self.path = Path(path)
        self._lock = lock

    @classmethod
    def check_free(cls, path: Path | str, *, overwrite: bool) -> None:
        """Raises UserError if `create` would refuse; writes nothing. For checks before a model is loaded."""
        folder = Path(path)
        try:
            taken = any(entry.name not in (_LOCK, LAUNCH, STOP) for entry in folder.iterdir())
        except FileNotFoundError:
            _refuse_unwritable(folder)
            return
        except NotADirectoryError as error:
            raise UserError(f"run folder {folder} is a file; choose another run.dir") from error
        except OSError as error:
            raise UserError(f"cannot read the run folder {folder}: {error.strerror}") from error
        if taken and not overwrite:
            goes_on = "eval" if (folder / ASKED).is_file() else "" if _is_supervised(folder) else "train"
            or_else = f"or resume it with: strop {goes_on} --resume {folder}" if goes_on else "or remove it"
            raise UserError(
                f"run folder {folder} exists and is not empty; choose another run.name or run.dir, replace it with "
                f"run.overwrite=true, {or_else}"
            )
        if absent := [name for name in (RECIPE, VERSIONS) if taken and not (folder / name).is_file()]:
            raise UserError(
                f"run.overwrite=true, but {folder} is not a run folder (it has no {absent[0]}); choose another run.dir"
            )
        _refuse_unwritable(folder)

    @classmethod
    def create(
        cls, path: Path | str, *, recipe: str, versions: Mapping[str, Any], overwrite: bool = False
    ) -> "RunFolder":
        """A new run folder with recipe and versions, locked; `overwrite` removes only the files of an older run. Raises
        UserError, without leaving a new folder, if the folder exists, is in use or cannot be written.
        """
        folder = Path(path)
        cls.check_free(folder, overwrite=overwrite)
        existed = folder.exists()
        with files.writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        run = cls(folder, _locked(folder))
        try:
            run.clear()
            with files.writing(folder):
                for name in (ROLLOUTS, EVALUATION, CHECKPOINTS):
                    (folder / name).mkdir()
            with files.atomic(folder / RECIPE) as file:
                file.write(recipe.encode())
            files.write_json(folder / VERSIONS, versions)
        except BaseException:
            run.close()
            if not existed:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        return run

    @classmethod
    def resume(cls, path: Path | str, *, evaluation: bool = False) -> "RunFolder":
        """An existing run folder, of training or of an `evaluation`, locked for writing. Raises UserError for other
        folders and folders in use.
        """
        run = cls.read(path)
        if not evaluation and (run.path / ASKED).is_file():
            raise UserError(f"{path} is an evaluation: resume it with: strop eval --resume {path}")
        if not evaluation and _is_supervised(run.path):
            raise UserError(
                f"{path} is a run of strop sft or strop train-reward, which cannot be resumed: start it again with "
                f"run.overwrite=true"
            )
        run._lock = _locked(run.path)
        for folder in (run.path, run.path / ROLLOUTS, run.path / EVALUATION):
            files.remove_parts(folder)
        files.drop_torn_line(run.path / METRICS)
        call_log.drop_torn_lines(run.path)
        return run

    @classmethod
    def read(cls, path: Path | str) -> "RunFolder":
        """An existing run folder, for reading. Raises UserError for other folders."""
        folder = Path(path)
        if not (folder / RECIPE).is_file():
            raise UserError(f"{folder} is not a run folder: it has no {RECIPE}")
        return cls(folder)

    def clear(self) -> None:
        """Removes only a run's files, the recipe last, so an interrupted removal can be repeated."""
        with files.writing(self.path):
            for name in reversed(_OURS):
                path = self.path / name
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """Releases the lock. Safe to call twice."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def checkpoints(self) -> Path:
        """The trainer's folder of checkpoints."""
        return self.path / CHECKPOINTS

    def write_vocabulary(self, texts: Sequence[str]) -> None:
        """Writes the text of each token id, in their order."""
        files.write_jsonl_zst(self.path / VOCABULARY, [files.json_line(texts)])

    def append_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Adds one line, durable on return. `metrics` must have an integer "step"; NaN and infinities become null."""
        if not isinstance(metrics.get("step"), int):
            raise ValueError("metrics need an integer 'step'")
        files.append_line(self.path / METRICS, files.json_line(dict(metrics)))

    def iter_metrics(self) -> Iterator[dict[str, Any]]:
        """Every line of metrics.jsonl; none if it does not exist yet."""
        if (self.path / METRICS).exists():
            yield from files.read_jsonl(self.path / METRICS)

    def lost_metrics(self, step: int) -> str:
        """The steps up to this one without a line in metrics.jsonl, as "1 to 4, 7"; "" if none is missing."""
        return spans({*range(1, step + 1)} - {line["step"] for line in self.iter_metrics()})

    def truncate_after(self, step: int) -> None:
        """Removes everything after a step: later metrics, rollouts, evaluations, calls of functions, and the
        summary."""
        call_log.truncate_after(self.path, step)
        kept = [files.json_line(line) for line in self.iter_metrics() if line["step"] <= step]
        with files.atomic(self.path / METRICS) as file:
            file.writelines(kept)
        with files.writing(self.path / ROLLOUTS):
            for later in self.rollout_steps():
                if later > step:
                    self.rollout_file(later).unlink()
            for path in (self.path / EVALUATION).glob(f"{_STEP}*"):
                number = path.name.removeprefix(_STEP).partition(".")[0]
                if number.isdecimal() and int(number) > step:
                    path.unlink()
            (self.path / SUMMARY).unlink(missing_ok=True)

    def rollout_file(self, step: int) -> Path:
        """The file with a step's rollouts."""
        return self.path / ROLLOUTS / f"step-{step:06d}.jsonl.zst"

    def rollout_steps(self) -> list[int]:
        """Steps that have rollouts, in order."""
        names = [path.name for path in (self.path / ROLLOUTS).glob("step-*")]
        return sorted(int(match[1]) for name in names if (match := STEP_FILE.fullmatch(name)))

    def write_rollouts(self, step: int, groups: Iterable[Group]) -> None:
        """Writes every rollout of a step atomically."""
        lines = (
            _rollout_line(
                rollout,
                step=step,
                group=number,
                **({"task_set": group.task_set} if group.task_set else {}),
            )
            for number, group in enumerate(groups)
            for rollout in group.rollouts
        )
        files.write_jsonl_zst(self.rollout_file(step), lines)

    def iter_groups(self, step: int) -> Iterator[Group]:
        """The groups of a step, as they were written."""
        lines = files.read_jsonl(self.rollout_file(step))
        for _, found in groupby(lines, key=itemgetter("group")):
            group = list(found)
            kept = [
                {k: v for k, v in line.items() if k not in ("group", "step", "task_set")} for line in group
            ]
            members = [Rollout.model_validate(line) for line in kept]
            task_set = group[0].get("task_set", "")
            yield Group(task_id=members[0].task_id, step=step, rollouts=members, task_set=task_set)

    def write_rollouts_of(self, name: str, rollouts: Iterable[Rollout]) -> None:
        """Writes the rollouts of an evaluation."""
        files.write_jsonl_zst(self.path / EVALUATION / f"{name}.jsonl.zst", map(_rollout_line, rollouts))

    def write_evaluation(self, name: str, result: Mapping[str, Any], rollouts: Iterable[Rollout]) -> None:
        """Writes an evaluation and its rollouts under a name such as "before"."""
        self.write_rollouts_of(name, rollouts)
        files.write_json(self.path / EVALUATION / f"{name}.json", result)

    def iter_evaluation_rollouts(self, name: str) -> Iterator[Rollout]:
        """The rollouts of an evaluation."""
        for line in files.read_jsonl(self.path / EVALUATION / f"{name}.jsonl.zst"):
            yield Rollout.model_validate(line)

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Writes summary.json atomically."""
        files.write_json(self.path / SUMMARY, summary)


def spans(steps: Iterable[int]) -> str:
    """Distinct steps written as ranges, such as "1 to 4, 7"."""
    runs = groupby(enumerate(sorted(steps)), key=lambda pair: pair[1] - pair[0])
    found = [[step for _, step in run] for _, run in runs]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in found)


def record_file(folder: Path, name: str) -> Path:
    """The file with an evaluation's counts, from which its numbers are computed."""
    return folder / EVALUATION / f"{name}.record.json"


def step_name(step: int) -> str:
    """The name of the evaluation after a step, such as step-000010."""
    return f"{_STEP}{step:06d}"


def _rollout_line(rollout: Rollout, **more: int | str) -> bytes:
    return files.json_line({**more, **rollout.model_dump(mode="json")})


def _is_supervised(folder: Path) -> bool:
    """Whether `strop sft` or `strop train-reward` wrote it: their metrics have the number of `steps`."""
    return "steps" in next(RunFolder(folder).iter_metrics(), {})


def _refuse_unwritable(folder: Path) -> None:
    """Raises UserError if the folder, or its nearest existing parent, cannot be written to."""
    nearest = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    if not nearest.is_dir():
        raise UserError(f"cannot create the run folder {folder}: {nearest} is a file")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UserError(f"cannot write to the run folder {folder}: no permission to write in {nearest}")


def _locked(folder: Path) -> int:
    """A descriptor that holds the folder's lock until it is closed or the process ends."""
    with files.writing(folder):
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _lock(handle)
    except OSError as error:
        os.close(handle)
        raise UserError(
            f"run folder {folder} is in use by another process; wait until it ends, or choose another run.dir"
        ) from error
    return handle


def _lock(handle: int) -> None:
    """Takes the writer's lock. Waits for readers, which briefly hold it shared."""
    for _ in range(_LOOKS):
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)  # fails if a writer has it
            fcntl.flock(handle, fcntl.LOCK_UN)
            time.sleep(0.02)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
