"""`strop attack --harbor` and `--verifiers`: finds tasks of other projects that can be cheated."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from strop.cli.options import Workers
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop_verify.attacks.cheats import Cheat, PaidTask


@dataclass(frozen=True)
class ForeignTasks:
    """Tasks of other projects, with tests or rewards of their own."""

    harbor: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="find tasks of a Harbor folder (Terminal-Bench) that can be cheated"),
    ] = None
    verifiers: Annotated[
        str | None,
        Option(
            metavar="PACKAGE",
            help="the same for an environment of verifiers: its module's name or folder",
        ),
    ] = None
    images: Annotated[
        Path | None,
        Option(metavar="STORE", help="folder of images, for tasks of --harbor that name one"),
    ] = None
    limit: Annotated[int | None, Option(min=1, help="at most this many of these tasks")] = None
    workers: Workers = None

    @property
    def asked(self) -> str:
        """The option that was given, or empty."""
        return "--harbor" if self.harbor else "--verifiers" if self.verifiers else ""

    def refuse_mixed(self) -> None:
        """Raises UserError for options that do not go together."""
        if self.harbor and self.verifiers:
            raise UserError("--harbor and --verifiers name different sets of tasks; give one of them")
        for what, value, whose in (
            ("--limit", self.limit, self.asked),
            ("--images", self.images, self.harbor),
            ("--workers", self.workers, self.harbor),
        ):
            if value is not None and not whose:
                belongs = "--harbor FOLDER" + (" or --verifiers PACKAGE" if what == "--limit" else "")
                raise UserError(f"{what} belongs to {belongs}; add that, or remove {what}")


def attack_tasks(
    theirs: ForeignTasks,
    name: str | None,
    jails: list[str] | None,
    place: Path | None,
    json_file: Path | None,
) -> None:
    """Tries the cheats on every task and reports which are rewarded. `name`: only this cheat; `place`: the path of
    verifiers.

    Exit code 1 if a task rewards a cheat or fails its own solution. Raises UserError if no task could be judged.
    """
    from strop.attack.paid_tasks import lines, sums, table, write_json
    from strop.attack.table import console
    from strop.reports.terminal.progress import Progress

    if len(jails or []) > 1:
        raise UserError(f"{theirs.asked} uses one jail; give --jail once")
    jail = jails[0] if jails else "auto"
    found = _of_harbor(theirs, name, jail) if theirs.harbor else _of_package(theirs, name, jail, place)
    rows = []
    with Progress("tasks attacked") as progress:
        for row in found:
            rows.append(row)
            progress.at(len(rows), None, theirs.limit)
    if json_file is not None:
        write_json(rows, json_file)
    if any(not row.not_judged for row in rows):
        console().print(table(rows))
    for line in lines(rows):
        print(line)
    counts = sums(rows)
    if not counts["judged"]:
        raise UserError("no task could be judged; the lines above say why")
    if counts["paying"] or counts["solution_failed"]:
        raise Exit(1)


def _chosen(cheats: "tuple[Cheat, ...]", name: str | None) -> "tuple[Cheat, ...]":
    chosen = tuple(cheat for cheat in cheats if name in (None, cheat.name))
    if not chosen:
        raise UserError(f"no cheat of name {name!r}; known: {', '.join(cheat.name for cheat in cheats)}")
    return chosen


def _of_harbor(theirs: ForeignTasks, name: str | None, jail: str) -> "Iterator[PaidTask]":
    from strop.attack.harbor_tasks import attacked
    from strop.tasks.sources import iter_tasks
    from strop_verify.attacks.cheats import PaidTask, load_cheats
    from strop_verify.verification import open_verifier

    if not Path(str(theirs.harbor)).is_dir():
        raise UserError(f"--harbor {theirs.harbor}: no such folder")
    cheats, left = _chosen(load_cheats("scripts"), name), list[str]()
    tasks = islice(iter_tasks(f"harbor:{theirs.harbor}", on_bad=left.append), theirs.limit)
    with open_verifier(workers=theirs.workers, jail=jail) as verifier:
        yield from attacked(tasks, verifier, cheats, theirs.images)
    for line in left:
        where, _, why = line.partition(": ")
        yield PaidTask(Path(where).name, not_judged=why)


def _of_package(
    theirs: ForeignTasks, name: str | None, jail: str, place: Path | None
) -> "Iterator[PaidTask]":
    from strop_verify.attacks.cheats import load_cheats
    from strop_verify.attacks.environments import attacked

    cheats = _chosen(load_cheats("replies"), name)
    yield from attacked(str(theirs.verifiers), cheats, limit=theirs.limit, place=place, jail=jail)
