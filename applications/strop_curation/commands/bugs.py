"""`strop build bugs`: repair tasks from code that has tests."""

import os
import signal
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from strop.cli.options import grouped, say
from strop.core.errors import UserError
from strop_curation.commands.output import ChosenTasks, File, Output, Verifying, edit_format, originals_shown

if TYPE_CHECKING:
    from strop.core.task import Task
    from strop_curation.bugs.from_project import Judging
    from strop_curation.bugs.models import Models
    from strop_curation.engine.tally import Tally

PER_TASK = 6
FUNCTIONS_PER_TASK = 5
"""Functions of a project that are found for each task that is wanted, before the first is made."""
TEST_SECONDS = 2.0
"""CPU seconds that a test of a project may take; slower tests are not used."""
CPU_SECONDS, WALL_SECONDS = 1.0, 12.0
"""For the tests of one program: a bug that makes them run longer makes no task."""
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "PKG-INFO", "Cargo.toml")


@dataclass(frozen=True)
class BugOptions:
    """Which bugs are made."""

    seed: Annotated[int, Option(help="decides which bugs are made")] = 0
    per_task: Annotated[
        int | None,
        Option(min=1, help="maximum bugs from one task (default 6) or one function of a project"),
    ] = None
    faults: Annotated[str, Option(help="faults in one bug: a number, or a range such as 1-2")] = "1"
    format: Annotated[str, Option(help="how the repair must be written")] = "search-replace"

    def at_once(self) -> tuple[int, int]:
        """The least and the most faults of one bug. Raises UserError."""
        least, dash, most = self.faults.partition("-")
        numbers = [least, most if dash else least]
        known = all(n.isdecimal() and n.isascii() for n in numbers)
        if known and 1 <= int(numbers[0]) <= int(numbers[1]) <= 8:
            return int(numbers[0]), int(numbers[1])
        raise UserError(f"--faults {self.faults!r}: write a number from 1 to 8, or two such as 1-2")


@dataclass(frozen=True)
class ProjectOptions:
    """Options for a project."""

    count: Annotated[int, Option(min=1, help="for a project: maximum number of tasks")] = 300
    pairs: Annotated[
        int,
        Option(min=0, help="for a project: and this many tasks, at most, with two of the bugs in one file"),
    ] = 0
    undo: Annotated[
        str | None,
        Option(
            metavar="HISTORY",
            help="for a Python project: no other bugs than fixes of this git repository or bundle, undone one by one",
        ),
    ] = None
    language: Annotated[
        Literal["python", "rust"] | None,
        Option(help="for a project; default: rust if there is a Cargo.toml"),
    ] = None
    max_file_chars: Annotated[
        int | None, Option(min=1, help="for a project: only files of at most this many characters")
    ] = None


@dataclass(frozen=True)
class TaskOptions(ChosenTasks):
    """Options for tasks."""

    min_passing: Annotated[int, Option(min=0, help="minimum number of tests that pass despite the bug")] = 0
    max_lines: Annotated[int | None, Option(min=1, help="only references of at most this many lines")] = None


@dataclass(frozen=True)
class ModelOptions:
    """Models that write bugs and statements, and how they are asked."""

    rewrite_url: Annotated[str, Option(help="OpenAI-compatible server, such as http://127.0.0.1:8000/v1")] = (
        ""
    )
    rewrite_model: Annotated[
        str, Option(help="model that rewrites functions with a bug, named as on the server")
    ] = ""
    rewrite_share: Annotated[
        float, Option(min=0.0, max=1.0, help="share of the tried bugs that the model writes")
    ] = 1.0
    issue_model: Annotated[str, Option(help="model that writes the statements, on the same server")] = ""
    api_key_env: Annotated[str, Option(help="environment variable that holds the server's key")] = (
        "OPENAI_API_KEY"
    )
    concurrency: Annotated[int, Option(min=1, max=1024, help="concurrent calls")] = 16
    timeout: Annotated[float, Option(min=1.0, help="seconds one call may take")] = 600.0


@grouped
def bugs(
    source: Annotated[
        str, Argument(help="a project (folder or sdist .tar.gz), or Python tasks: a name or a file")
    ],
    output: File,
    options: BugOptions,
    project_options: ProjectOptions,
    task_options: TaskOptions,
    model_options: ModelOptions,
    verifying: Verifying,
) -> None:
    """Make repair tasks: put faults into code and keep those that its tests catch.

    Also writes OUTPUT.manifest.json, with counts and reasons. A model's answers are kept in OUTPUT.calls, so running
    the same command again pays for nothing twice. See docs/bugs.md.
    """
    from strop.policies.connection import Connection
    from strop_curation.bugs import LAYOUT
    from strop_curation.bugs.from_project import Judging
    from strop_curation.bugs.models import ModelSettings, open_models
    from strop_curation.engine.tally import Tally, listed

    file, tally = Output(output), Tally(LAYOUT)
    at_once = options.at_once()
    edit_format(options.format)
    connection = Connection(
        model_options.rewrite_url, concurrency=model_options.concurrency, timeout_seconds=model_options.timeout,
        api_key_env=model_options.api_key_env,
    )  # fmt: skip
    model_settings = ModelSettings(
        connection, model_options.rewrite_model, model_options.issue_model, model_options.rewrite_share
    )
    model_settings.check()
    settings: dict[str, Any] = {"source": source, **asdict(options)}
    if model_options.rewrite_model or model_options.issue_model:
        settings |= {
            name: getattr(model_options, name) for name in ("rewrite_model", "rewrite_share", "issue_model")
        }
    judging: Judging | None = None
    project = _is_project(source)
    _refuse_others(project, project_options, task_options)
    if project_options.undo and model_options.rewrite_model:
        raise UserError("--undo takes its bugs from a history: leave out --rewrite-model")
    with open_models(
        model_settings, output.with_name(f"{output.name}.calls"), options.seed, tally, say
    ) as models:
        if project:
            judging = _from_project(source, file, options, at_once, project_options, verifying, models, tally)
            settings |= asdict(project_options)
        else:
            settings |= _from_tasks(source, file, options, at_once, task_options, verifying, models, tally)
    counts = tally.manifest()
    operators = sum(1 for row in counts["operators"].values() if row["kept"])
    told = {"tests_a_task": judging.manifest()} if judging else {}
    left = counts["unusable"] if not project else counts["skipped"]
    file.finish(
        {"settings": settings, **counts, **told, **models.manifest()},
        f"{tally.tasks} repair tasks from {tally.originals} originals in {{seconds}}, by {operators} operators; "
        f"{judging.said() + '; ' if judging else ''}left out: {listed(left) or 'none'}",
    )


def _is_project(source: str) -> bool:
    """Whether the source is a project, as a folder or packed, rather than tasks."""
    path = Path(source)
    if path.is_dir():
        return any((path / mark).exists() for mark in _MARKS)
    return source.endswith((".tar.gz", ".tgz"))


def _refuse_others(project: bool, project_options: ProjectOptions, task_options: TaskOptions) -> None:
    """Raises UserError for an option that belongs to the other kind of source."""
    why = "for tasks, not for a project" if project else "for a project, not for tasks"
    given, kind = (task_options, TaskOptions) if project else (project_options, ProjectOptions)
    for name, value in asdict(given).items():
        if name != "count" and value != getattr(kind, name):
            raise UserError(f"--{name.replace('_', '-')} is {why}: leave it out")


def _from_tasks(
    source: str, file: Output, options: BugOptions, at_once: tuple[int, int], task_options: TaskOptions,
    verifying: Verifying, models: "Models", tally: "Tally",
) -> dict[str, Any]:  # fmt: skip
    """Writes repair tasks made from a source of tasks; what the manifest says of the options. Raises UserError."""
    from strop.reports.terminal.progress import Progress
    from strop.sandbox.limits import Limits
    from strop.tasks import load_tasks
    from strop.verification import open_verifier
    from strop_curation.bugs.from_tasks import BugSettings, bugs_of_tasks

    kept: dict[str, Any] = {"min_passing": task_options.min_passing, "max_lines": task_options.max_lines}
    per_task = options.per_task or PER_TASK
    settings = BugSettings(
        seed=options.seed, per_task=per_task, at_once=at_once, format=options.format, **kept
    )
    tasks = load_tasks(source, **task_options.filters())
    purposes = {task.id: (task.statement or task.prompt or "").strip() for task in tasks}
    limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
    with (
        open_verifier(limits=limits, **asdict(verifying)) as verifier,
        Progress("tasks", len(tasks)) as progress,
    ):
        done = originals_shown(progress, len(tasks), tally, "repair tasks")
        made = bugs_of_tasks(tasks, verifier, tally, settings, rewriter=models.rewriter, done=done)
        _write(file, models.told(made, lambda task: purposes[task.metadata["original"]]), source, tally)
    return {"per_task": per_task, **kept, **task_options.filters()}


def _from_project(
    source: str, file: Output, options: BugOptions, at_once: tuple[int, int], project_options: ProjectOptions,
    verifying: Verifying, models: "Models", tally: "Tally",
) -> "Judging":  # fmt: skip
    """Writes repair tasks made from a project, and its snapshot beside them. Raises UserError."""
    from strop.core import files
    from strop.reports.terminal.progress import Progress
    from strop.verification import open_verifier
    from strop.verification.project import open_project, pack
    from strop.verification.settings import Settings
    from strop_curation.bugs.from_project import Factory, Judging, ProjectPlace
    from strop_curation.bugs.issue import docstring
    from strop_curation.bugs.targets import Targets

    settings = Settings(allow_unsafe=verifying.allow_unsafe)
    many = verifying.workers or min(16, len(os.sched_getaffinity(0)))
    final = file.path.resolve().with_name(
        f"{file.path.name.removesuffix('.gz').removesuffix('.jsonl')}.project.tar.gz"
    )
    files.check_writable(final)
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    judging, wanted = Judging(), project_options.count + project_options.pairs
    say(f"copying {source}")
    try:
        digest = pack(Path(source), part)
        name = Path(source).resolve().name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar")
        place = ProjectPlace(name, str(part), final.name, digest)
        with (
            open_project(
                part, project_options.language or "", settings, workers=many, test_seconds=TEST_SECONDS
            ) as project,
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
                project, options.seed, at_once, tally, project_options.max_file_chars, models.rewriter,
                FUNCTIONS_PER_TASK * project_options.count, project_options.undo or "", tell,
            )  # fmt: skip
            factory = Factory(
                project, place, found, verifier, tally,
                format=options.format, per_function=options.per_task, ahead=models.ahead, done=done,
            )  # fmt: skip
            told = judging.counted(
                models.told(factory.tasks(project_options.count, project_options.pairs), docstring)
            )
            _write(file, _then_in_place(_until_stopped(told), part, final, tally), source, tally)
            if project.lost:
                tally.skipped["files of tests that cannot be collected"] += project.lost
    finally:
        part.unlink(missing_ok=True)
    return judging


def _until_stopped(tasks: "Iterator[Task]") -> "Iterator[Task]":
    """The tasks; Ctrl-C and SIGTERM end them, and those that were made are kept."""
    passed_on = 0
    try:
        for task in tasks:
            passed_on += 1
            yield task
    except (KeyboardInterrupt, SystemExit):
        if not passed_on:
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one, such as a group gets, would lose them
        say(f"stopped: the {passed_on} tasks so far are written")


def _then_in_place(tasks: "Iterator[Task]", part: Path, final: Path, tally: "Tally") -> "Iterator[Task]":
    """The tasks; after the last one the snapshot takes its name, before the file of tasks does."""
    from strop.core import files

    yield from tasks
    if not tally.tasks:
        return
    with files.writing(final):
        part.replace(final)
        files.sync_folder(final.parent)


def _write(file: Output, tasks: "Iterator[Task]", source: str, tally: "Tally") -> None:
    nothing = f"no bug could be made from {source!r}"
    file.write(tasks, tally, nothing, "no tested function has a place for one")
