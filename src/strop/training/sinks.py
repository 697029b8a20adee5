"""Where a run's data goes besides its folder: the log of users' functions, experiment trackers, commits.

None of them can delay or fail training; each reports a problem once, in one line.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from strop.config.schema import Recipe
from strop.reports.call_log import CallLog, logging_to
from strop.reports.run_folder import RunFolder
from strop.reports.sinks.commits import DataCommits
from strop.reports.sinks.data_repository import check_remote
from strop.training.trackers import Trackers, check_trackers


def check_sinks(recipe: Recipe) -> None:
    """Raises UserError for a tracker or a remote that cannot work; call it before a model is loaded."""
    check_trackers(recipe.run.report_to)
    if recipe.run.commit.remote is not None:
        check_remote(recipe.run.commit.remote, _branch(recipe))


class Sinks:
    """A context manager around the training of one run.

    step     the run continues after it; trackers get nothing that the folder holds of later steps
    writing  False in processes of a distributed run that write nothing
    """

    def __init__(
        self, recipe: Recipe, run: RunFolder, say: Callable[[str], None], *, step: int, writing: bool
    ) -> None:
        self._recipe = recipe
        self._run = run
        self._say = say
        self._step = step
        self._writing = writing
        self._stack = ExitStack()
        self._calls: CallLog | None = None
        self._trackers: Trackers | None = None
        self._commits: DataCommits | None = None

    def __enter__(self) -> "Sinks":
        if not self._writing:
            return self
        with ExitStack() as stack:  # the log of calls is whole before the last commit
            commit = self._recipe.run.commit
            if commit.remote is not None:
                self._commits = stack.enter_context(
                    DataCommits(
                        self._run.path,
                        remote=commit.remote,
                        branch=_branch(self._recipe),
                        every=commit.every,
                        run=self._recipe.run.name,
                        say=self._say,
                    )
                )
            if self._recipe.run.report_to:
                self._trackers = stack.enter_context(Trackers(self._recipe, self._run, self._say))
                self._trackers.begin(self._step)
            self._calls = stack.enter_context(logging_to(self._run.path, warn=self._say))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def playing(self, step: int) -> None:
        """The answers of a step (from 1) are about to be sampled and scored."""
        if self._calls is not None:
            self._calls.step = step

    def measured(self, metrics: Mapping[str, Any]) -> None:
        """A step is over; its rollouts and its line of metrics are on disk."""
        if self._calls is not None:
            self._calls.flush()
        if self._trackers is not None:
            self._trackers.measured(metrics)
        if self._commits is not None:
            self._commits.step(int(metrics["step"]), f"reward {float(metrics.get('reward') or 0):.3f}")

    def evaluated(self, name: str, result: Mapping[str, Any]) -> None:
        """An evaluation is on disk, under its name there."""
        if self._trackers is not None:
            self._trackers.evaluated(name, result)


def _branch(recipe: Recipe) -> str:
    return recipe.run.commit.branch or recipe.run.name
