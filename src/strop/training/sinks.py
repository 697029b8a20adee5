"""Where a run's data goes besides its folder: the log of users' functions, experiment trackers, commits.

None of them can delay training or make it fail; each reports a problem once. Trackers (`run.report_to`) get the
run's numbers under the names of docs/report.md: train/..., time/... (seconds of a step), evaluation/...

A resumed run starts a new run in the tracker and sends it everything that the run folder holds up to that point;
TensorBoard hides the earlier data. A tracker that fails is dropped, and training continues.
"""

import contextlib
import importlib
import importlib.util
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strop.config.load import dump_recipe
from strop.config.schema import Recipe
from strop.reports.call_log import CallLog, logging_to
from strop.reports.run_folder import EVALUATION, RunFolder
from strop.reports.sinks.data_repository import DataCommits, check_remote
from strop_verify.core.errors import UserError

_RATES = {"tokens_mean": "completion_tokens", "truncated_rate": "truncated", "error_rate": "error_rate"}


def check_sinks(recipe: Recipe) -> None:
    """Raises UserError for a tracker or a remote that cannot work; call it before a model is loaded."""
    check_trackers(recipe.run.report_to)
    if recipe.run.commit.remote is not None:
        check_remote(recipe.run.commit.remote, _branch(recipe))


@contextlib.contextmanager
def open_sinks(
    recipe: Recipe, run: RunFolder, say: Callable[[str], None], *, step: int, writing: bool
) -> "Iterator[Sinks]":
    """The sinks of a run, open while it trains.

    step     the step after which the run continues; trackers get nothing from later steps
    writing  False in all ranks but 0
    """
    sinks, commit = Sinks(), recipe.run.commit
    with contextlib.ExitStack() as stack:
        if writing and commit.remote is not None:
            where = {"remote": commit.remote, "branch": _branch(recipe), "run": recipe.run.name}
            sinks.commits = stack.enter_context(DataCommits(run.path, every=commit.every, say=say, **where))
        if writing and recipe.run.report_to:
            sinks.trackers = stack.enter_context(Trackers(recipe, run, say))
            sinks.trackers.begin(step)
        if writing:
            sinks.calls = stack.enter_context(logging_to(run.path, warn=say))
        yield sinks


@dataclass
class Sinks:
    """The sinks that a run uses; None for the others."""

    calls: CallLog | None = None
    trackers: "Trackers | None" = None
    commits: DataCommits | None = None

    def playing(self, step: int) -> None:
        """Called before the answers of a step (counted from 1) are sampled and scored."""
        if self.calls is not None:
            self.calls.step = step

    def measured(self, metrics: Mapping[str, Any]) -> None:
        """Called after a step, when its rollouts and metrics are on disk."""
        if self.trackers is not None:
            self.trackers.measured(metrics)
        if self.commits is not None:
            self.commits.step(int(metrics["step"]), f"reward {float(metrics.get('reward') or 0):.3f}")

    def evaluated(self, name: str, result: Mapping[str, Any]) -> None:
        """Called when the evaluation `name` is on disk."""
        if self.trackers is not None:
            self.trackers.evaluated(name, result)


def _branch(recipe: Recipe) -> str:
    return recipe.run.commit.branch or recipe.run.name


def check_trackers(names: Sequence[str]) -> None:
    """Raises UserError for a tracker that is not installed, or that would ask for a password."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            remedy = f"install it with: pip install {name}, or leave it out"
            raise UserError(f"run.report_to: {name} is not installed; {remedy}")
    if "wandb" in names:
        os.environ.setdefault("WANDB_SILENT", "true")  # otherwise it would write over the live view
        import wandb

        online = wandb.setup().settings.mode in ("online", "shared")
        if online and not wandb.login(prompt=False, verify=False):
            remedy = "log in with: wandb login, or stay offline with: WANDB_MODE=offline"
            raise UserError(f"run.report_to: wandb has no API key; {remedy}")


class Trackers:
    """The trackers of one run, as a context manager; `say` gets a line when one fails."""

    def __init__(self, recipe: Recipe, run: RunFolder, say: Callable[[str], None]) -> None:
        self._recipe, self._run, self._say = recipe, run, say
        self._open: dict[str, Any] = {}

    def begin(self, step: int) -> None:
        """Opens the trackers and sends what the run folder holds up to `step`."""
        for name in self._recipe.run.report_to:
            with self._guarded(name), _no_output():
                self._open[name] = _open(name, self._recipe, self._run.path)
        if not self._open:
            return
        for evaluation, result in _evaluations(self._run.path, ("before", "warm")):
            self.evaluated(evaluation, result)
        for line in self._run.iter_metrics():
            if line["step"] <= step:
                self.measured(line)
        for evaluation, result in _evaluations(self._run.path, ("after",)):
            self.evaluated(evaluation, result)

    def measured(self, metrics: Mapping[str, Any]) -> None:
        """Sends a line of metrics."""
        self._send(dict(_numbers(metrics)), int(metrics["step"]))

    def evaluated(self, name: str, result: Mapping[str, Any]) -> None:
        """Sends an evaluation from before or after training; those during training come with the metrics."""
        side, _, what = name.partition("-")
        if side in ("before", "warm", "after"):
            step = self._recipe.optim.steps if side == "after" else 0
            prefix = "/".join(filter(None, ["evaluation", "warm" if side == "warm" else "", what]))
            self._send({f"{prefix}/{key}": value for key, value in _results(result)}, step)

    def __enter__(self) -> "Trackers":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for name, tracker in list(self._open.items()):
            with self._guarded(name), _no_output():
                tracker.finish(failed=kind is not None)

    def _send(self, values: dict[str, float], step: int) -> None:
        for name, tracker in list(self._open.items()):
            with self._guarded(name):
                tracker.log(values, step)

    @contextlib.contextmanager
    def _guarded(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._open.pop(name, None)
            cause = " ".join(str(error).split()) or type(error).__name__
            self._say(f"run.report_to: {name} failed: {cause} (training continues without it)")


class _TensorBoard:
    """Writes events to RUN/tensorboard; hides those of an earlier process."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(str(folder / "tensorboard"), purge_step=0)
        text = "".join(f"    {line}\n" for line in dump_recipe(recipe).splitlines())
        self._writer.add_text("recipe", text, 0)

    def log(self, values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def finish(self, failed: bool) -> None:
        self._writer.close()


class _Service:
    """A run of the project WANDB_PROJECT or TRACKIO_PROJECT, default strop; wandb's files are in RUN/wandb."""

    def __init__(self, name: str, recipe: Recipe, **options: Any) -> None:
        self._module: Any = importlib.import_module(name)
        self._run: Any = self._module.init(
            project=os.environ.get(f"{name.upper()}_PROJECT") or "strop",
            name=recipe.run.name,
            group=recipe.run.name,
            config=recipe.model_dump(mode="json", by_alias=True),
            **options,
        )

    def log(self, values: Mapping[str, float], step: int) -> None:
        self._run.log(dict(values), step=step)

    def finish(self, failed: bool) -> None:
        if self._module.__name__ == "wandb":
            self._run.finish(exit_code=int(failed))
        else:
            self._module.finish()


def _open(name: str, recipe: Recipe, folder: Path) -> _TensorBoard | _Service:
    if name == "tensorboard":
        return _TensorBoard(recipe, folder)
    if name == "wandb":
        import wandb

        quiet = wandb.Settings(silent=True, console="off")
        return _Service(name, recipe, dir=str(folder), settings=quiet)
    return _Service(name, recipe, embed=False)


def _no_output() -> "contextlib.redirect_stdout[io.StringIO]":
    """Hides what trackers print (trackio: where its dashboard is), which would break the live view."""
    return contextlib.redirect_stdout(io.StringIO())


def _numbers(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if name == "held_out":
            yield from ((f"evaluation/during/{key}", number) for key, number in _results(value))
        elif isinstance(value, Mapping):
            numbers = ((key, number) for key, number in value.items() if _plain(number))
            yield from ((f"train/{name}/{key}", float(number)) for key, number in numbers)
        elif _plain(value) and name != "step":
            time = "time/step" if name == "seconds" else f"time/{name.removeprefix('seconds_')}"
            yield (time if name.startswith("seconds") else f"train/{name}"), float(value)


def _results(result: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """An evaluation's numbers: those with an interval, and a few rates."""
    for key, name in [*((key, key) for key in result.get("intervals", {})), *_RATES.items()]:
        if _plain(result.get(key)):
            yield name, float(result[key])


def _plain(value: Any) -> bool:
    """Whether the value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _evaluations(folder: Path, sides: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, result) of the evaluations on disk."""
    for path in sorted((folder / EVALUATION).glob("*.json")):
        name = path.name.removesuffix(".json")
        if not name.endswith(".record") and name.partition("-")[0] in sides:
            yield name, json.loads(path.read_text(encoding="utf-8"))
