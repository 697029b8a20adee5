"""Where a run's data goes besides its folder: the log of users' functions, experiment trackers, commits.

None of them can delay or fail training; each reports a problem once, in one line.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
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


@contextmanager
def open_sinks(
    recipe: Recipe, run: RunFolder, say: Callable[[str], None], *, step: int, writing: bool
) -> "Iterator[Sinks]":
    """The sinks of a run, open while it trains.

    step     the run continues after it; trackers get nothing that the folder holds of later steps
    writing  False in processes of a distributed run that write nothing
    """
    sinks, commit = Sinks(), recipe.run.commit
    with ExitStack() as stack:  # the log of calls is whole before the last commit
        if writing and commit.remote is not None:
            sinks.commits = stack.enter_context(
                DataCommits(
                    run.path,
                    remote=commit.remote,
                    branch=_branch(recipe),
                    every=commit.every,
                    run=recipe.run.name,
                    say=say,
                )
            )
        if writing and recipe.run.report_to:
            sinks.trackers = stack.enter_context(Trackers(recipe, run, say))
            sinks.trackers.begin(step)
        if writing:
            sinks.calls = stack.enter_context(logging_to(run.path, warn=say))
        yield sinks


@dataclass
class Sinks:
    """Those of a run that are in use."""

    calls: CallLog | None = None
    trackers: Trackers | None = None
    commits: DataCommits | None = None

    def playing(self, step: int) -> None:
        """The answers of a step (from 1) are about to be sampled and scored."""
        if self.calls is not None:
            self.calls.step = step

    def measured(self, metrics: Mapping[str, Any]) -> None:
        """A step is over; its rollouts and its line of metrics are on disk."""
        if self.calls is not None:
            self.calls.flush()
        if self.trackers is not None:
            self.trackers.measured(metrics)
        if self.commits is not None:
            self.commits.step(int(metrics["step"]), f"reward {float(metrics.get('reward') or 0):.3f}")

    def evaluated(self, name: str, result: Mapping[str, Any]) -> None:
        """An evaluation is on disk, under its name there."""
        if self.trackers is not None:
            self.trackers.evaluated(name, result)


def _branch(recipe: Recipe) -> str:
    return recipe.run.commit.branch or recipe.run.name
