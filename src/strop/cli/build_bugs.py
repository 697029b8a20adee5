"""`strop build bugs`: repair tasks from code that has tests."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from typer import Argument

from strop.cli.build_bugs_run import AskedModels, BugMaking, OfProject, OfTasks, from_project, from_tasks
from strop.cli.build_output import File, Output, Verifying, edit_format
from strop.cli.options import grouped, say
from strop.core.errors import UserError

PER_TASK = 6
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "PKG-INFO", "Cargo.toml")


@grouped
def bugs(
    source: Annotated[
        str, Argument(help="a project (folder or sdist .tar.gz), or Python tasks: a name or a file")
    ],
    output: File,
    making: BugMaking,
    of_project: OfProject,
    of_tasks: OfTasks,
    models: AskedModels,
    verifying: Verifying,
) -> None:
    """Make repair tasks: put faults into code and keep those that its tests catch.

    Also writes OUTPUT.manifest.json, with counts and reasons. A model's answers are kept in OUTPUT.calls, so running
    the same command again pays for nothing twice. See docs/bugs.md.
    """
    from strop.curation.bugs import LAYOUT
    from strop.curation.bugs.from_tasks import BugWish
    from strop.curation.bugs.models import Asking, open_models
    from strop.curation.engine.tally import Tally, listed
    from strop.policies.paid.connection import Connection

    file, tally = Output(output), Tally(LAYOUT)
    at_once, format = making.at_once(), edit_format(making.format)
    connection = Connection(
        models.rewrite_url, concurrency=models.concurrency, timeout_seconds=models.timeout,
        api_key_env=models.api_key_env,
    )  # fmt: skip
    asking = Asking(connection, models.rewrite_model, models.issue_model, models.rewrite_share)
    asking.check()
    settings: dict[str, Any] = {"source": source, **asdict(making)}
    if models.rewrite_model or models.issue_model:
        settings |= {
            name: getattr(models, name) for name in ("rewrite_model", "rewrite_share", "issue_model")
        }
    project = _is_project(source)
    _refuse_others(project, of_project, of_tasks)
    with open_models(asking, output.with_name(f"{output.name}.calls"), making.seed, tally, say) as asked:
        if project:
            from_project(source, file, making, at_once, of_project, verifying, asked, tally)
            settings |= asdict(of_project)
        else:
            limits: dict[str, Any] = {"min_passing": of_tasks.min_passing, "max_lines": of_tasks.max_lines}
            wish = BugWish(
                seed=making.seed,
                per_task=making.per_task or PER_TASK,
                at_once=at_once,
                format=format,
                **limits,
            )
            from_tasks(source, of_tasks.filters(), file, wish, verifying, asked, tally)
            settings |= {"per_task": wish.per_task, **limits, **of_tasks.filters()}
    operators = sum(1 for row in tally.manifest()["operators"].values() if row["kept"])
    file.finish(
        {"settings": settings, **tally.manifest(), **asked.manifest()},
        f"{tally.tasks} repair tasks from {tally.originals} originals in {{seconds}}, by {operators} operators; "
        f"left out: {listed(tally.manifest()['unusable']) or 'none'}",
    )


def _is_project(source: str) -> bool:
    """Whether the source is a project, as a folder or packed, rather than tasks."""
    path = Path(source)
    if path.is_dir():
        return any((path / mark).exists() for mark in _MARKS)
    return source.endswith((".tar.gz", ".tgz"))


def _refuse_others(project: bool, of_project: OfProject, of_tasks: OfTasks) -> None:
    """Raises UserError for an option that belongs to the other kind of source."""
    why = "for tasks, not for a project" if project else "for a project, not for tasks"
    given, kind = (of_tasks, OfTasks) if project else (of_project, OfProject)
    for name, value in asdict(given).items():
        if name != "count" and value != getattr(kind, name):
            raise UserError(f"--{name.replace('_', '-')} is {why}: leave it out")
