"""`strop build bugs`: repair tasks from code that has tests."""

import os
import signal
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from strop.cli.options import grouped, say
from strop_tasks.curation.bugs import LAYOUT, BugModels, BugSettings, ProjectChoice, TaskChoice
from strop_tasks.curation.engine.output import Build, File, PromptLimit, Verifying, edit_format
from strop_tasks.curation.engine.tally import Tally
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop_tasks.curation.bugs.models import Models
    from strop_verify.core.task import Task

FUNCTIONS_PER_TASK = 5  # functions of a project to find per wanted task, before the first one is made
TEST_SECONDS = 2.0  # maximum CPU seconds of a project's test; slower tests are not used
CPU_SECONDS, WALL_SECONDS = 1.0, 12.0
"""Limits of the tests of one program; a bug that exceeds them makes no task."""
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "PKG-INFO", "Cargo.toml")


@grouped
def bugs(
    source: Annotated[
        str, Argument(help="a project (folder or sdist .tar.gz), or Python tasks: a name or a file")
    ],
    output: File,
    settings: BugSettings,
    project_choice: ProjectChoice,
    task_choice: TaskChoice,
    models: BugModels,
    verifying: Verifying,
    prompts: PromptLimit,
) -> None:
    """Make repair tasks: put faults into code and keep those that its tests catch.

    Also writes OUTPUT.manifest.json, with counts and reasons. A model's answers are kept in OUTPUT.calls, so repeating
    the command never pays for an answer twice. See docs/build.md.
    """
    from strop_tasks.curation.bugs.models import open_models
    from strop_tasks.curation.bugs.project_bugs import judging

    build = Build(output, LAYOUT, prompts)
    tally = build.tally
    settings.at_once()
    edit_format(settings.format)
    project = _is_project(source)
    _refuse_others(project, project_choice, task_choice)
    if project_choice.undo and models.rewrite_model:
        raise UserError("--undo takes its bugs from a history: leave out --rewrite-model")
    told: dict[str, Any] = {"source": source, **asdict(settings), **models.told()}
    calls = output.with_name(f"{output.name}.calls")
    with open_models(models, calls, settings.seed, tally) as asked:
        if project:
            _from_project(source, build, settings, project_choice, verifying, asked)
            told |= asdict(project_choice)
        else:
            told |= _from_tasks(source, build, settings, task_choice, verifying, asked)
    operators = sum(1 for row in tally.manifest()["operators"].values() if row["kept"])
    tests, said = judging(tally) if project else ({}, "")
    build.finish(
        told,
        f"{tally.tasks} repair tasks from {tally.originals} originals in {build.seconds():.0f} s, by {operators} "
        f"operators; {said}left out: {tally.told('skipped', 'unusable')}",
        **({"tests_a_task": tests} if tests else {}),
        **asked.manifest(),
    )


def _is_project(source: str) -> bool:
    """Whether the source is a project (a folder or an archive), not tasks."""
    path = Path(source)
    if path.is_dir():
        return any((path / mark).exists() for mark in _MARKS)
    return source.endswith((".tar.gz", ".tgz"))


def _refuse_others(project: bool, project_choice: ProjectChoice, task_choice: TaskChoice) -> None:
    """Raises UserError for an option that belongs to the other kind of source."""
    why = "for tasks, not for a project" if project else "for a project, not for tasks"
    given, kind = (task_choice, TaskChoice) if project else (project_choice, ProjectChoice)
    for name, value in asdict(given).items():
        if name != "count" and value != getattr(kind, name):
            raise UserError(f"--{name.replace('_', '-')} is {why}: leave it out")


def _from_tasks(
    source: str, build: Build, settings: BugSettings, task_choice: TaskChoice,
    verifying: Verifying, models: "Models",
) -> dict[str, Any]:  # fmt: skip
    """Writes repair tasks made from a source of tasks; returns the manifest's options. Raises UserError."""
    from strop.reports.terminal.progress import Progress
    from strop.tasks import load_tasks
    from strop_tasks.curation.bugs.task_bugs import PER_TASK, bugs_of_tasks
    from strop_verify.sandbox.limits import Limits
    from strop_verify.verification import open_verifier

    tasks = load_tasks(source, **task_choice.filters())
    purposes = {task.id: (task.statement or task.prompt or "").strip() for task in tasks}
    limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
    with (
        open_verifier(limits=limits, **asdict(verifying)) as verifier,
        Progress("tasks", len(tasks)) as progress,
    ):
        done = build.shown(progress, len(tasks))
        made = bugs_of_tasks(
            tasks, verifier, build.tally, settings, task_choice, rewriter=models.rewriter, done=done
        )
        _write(build, models.told(made, lambda task: purposes[task.metadata["original"]]), source)
    chosen = {"min_passing": task_choice.min_passing, "max_lines": task_choice.max_lines}
    return {"per_task": settings.per_task or PER_TASK, **chosen, **task_choice.filters()}


def _from_project(
    source: str, build: Build, settings: BugSettings, project_choice: ProjectChoice,
    verifying: Verifying, models: "Models",
) -> None:  # fmt: skip
    """Writes repair tasks made from a project, and its snapshot beside them. Raises UserError."""
    from strop.reports.terminal.progress import Progress
    from strop_tasks.curation.bugs.issue import docstring
    from strop_tasks.curation.bugs.project_bugs import Factory, ProjectPlace
    from strop_tasks.curation.bugs.targets import Targets
    from strop_verify.core import files
    from strop_verify.verification import open_verifier
    from strop_verify.verification.project import open_project, pack

    tally = build.tally
    stem = build.path.name.removesuffix(".gz").removesuffix(".jsonl")
    final = build.path.resolve().with_name(f"{stem}.project.tar.gz")
    files.check_writable(final)
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    wanted = project_choice.count + project_choice.pairs
    say(f"copying {source}")
    try:
        digest = pack(Path(source), part)
        name = Path(source).resolve().name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar")
        place = ProjectPlace(name, str(part), final.name, digest)
        language, jail, many = project_choice.language or "", verifying.jail(), verifying.many
        with (
            open_project(part, language, jail, workers=many, test_seconds=TEST_SECONDS) as project,
            open_verifier(workers=many, allow_unsafe=verifying.allow_unsafe) as verifier,
            Progress("tasks", wanted) as progress,
        ):
            stages: set[str] = set()

            def tell(text: str) -> None:
                stage = text.partition(":")[0]
                progress.at(tally.tasks, None, wanted, text, now=stage not in stages)
                stages.add(stage)

            def done(kept: int) -> None:
                first = bool(kept) and "first" not in stages
                stages.update(["first"] if kept else [])
                note = f"{tally.tried.total()} bugs tried in {tally.originals} functions"
                progress.at(kept, None, wanted, note, now=first)

            found = Targets(
                project, settings.seed, settings.at_once(), tally, project_choice.max_file_chars, models.rewriter,
                FUNCTIONS_PER_TASK * project_choice.count, project_choice.undo or "", tell,
            )  # fmt: skip
            factory = Factory(
                project, place, found, verifier, tally,
                format=settings.format, per_function=settings.per_task, ahead=models.ahead, done=done,
            )  # fmt: skip
            told = models.told(factory.tasks(project_choice.count, project_choice.pairs), docstring)
            _write(build, _then_in_place(_until_stopped(told), part, final, tally), source)
            if project.lost:
                tally.skipped["test files that cannot be collected"] += project.lost
    finally:
        part.unlink(missing_ok=True)


def _until_stopped(tasks: "Iterator[Task]") -> "Iterator[Task]":
    """The tasks; Ctrl-C and SIGTERM end them and keep the finished ones."""
    passed_on = 0
    try:
        for task in tasks:
            passed_on += 1
            yield task
    except (KeyboardInterrupt, SystemExit):
        if not passed_on:
            raise
        # A second signal, such as one sent to the process group, would lose them.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        say(f"stopped: the {passed_on} tasks so far are written")


def _then_in_place(tasks: "Iterator[Task]", part: Path, final: Path, tally: Tally) -> "Iterator[Task]":
    """The tasks; after the last one the snapshot gets its final name, before the task file gets its own."""
    from strop_verify.core import files

    yield from tasks
    if not tally.tasks:
        return
    with files.writing(final):
        part.replace(final)
        files.sync_folder(final.parent)


def _write(build: Build, tasks: "Iterator[Task]", source: str) -> None:
    build.write(tasks, f"no bug could be made from {source!r}", "no tested function has a site for one")
