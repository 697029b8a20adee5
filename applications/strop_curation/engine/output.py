"""What the commands of `strop build` share: options, the file of tasks, the manifest beside it, and the last line."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from strop.cli.options import AllowUnsafe, Side
from strop.core.errors import UserError
from strop.core.text import printable

if TYPE_CHECKING:
    from strop.core.task import Task
    from strop.reports.terminal.progress import Progress
    from strop.verification.settings import Settings
    from strop_curation.engine.tally import Tally

File = Annotated[Path, Option("--output", "-o", help="file of task lines to write; .gz compresses")]


@dataclass(frozen=True)
class Verifying:
    """How what is made is verified."""

    workers: Annotated[
        int | None, Option(min=1, help="batches verified at a time; one per core by default")
    ] = None
    allow_unsafe: AllowUnsafe = False

    def verifying(self) -> dict[str, Any]:
        """As `open_verifier` takes them."""
        return {"workers": self.workers, "allow_unsafe": self.allow_unsafe}

    def jail(self) -> "Settings":
        """As runs of projects take them."""
        from strop.verification.settings import Settings

        return Settings(allow_unsafe=self.allow_unsafe)

    @property
    def many(self) -> int:
        """Runs of projects at a time."""
        return self.workers or min(16, len(os.sched_getaffinity(0)))


@dataclass(frozen=True)
class ChosenTasks:
    """Which tasks of a source are taken."""

    limit: Annotated[int | None, Option(min=1, help="read only this many tasks of the source")] = None
    topic: Annotated[list[str] | None, Option("--topic", help="only this topic; repeatable")] = None
    level: Annotated[list[int] | None, Option("--level", help="only this level; repeatable")] = None
    split: Side = None

    def filters(self) -> dict[str, Any]:
        """As `load_tasks` takes them and manifests name them."""
        return {"limit": self.limit, "topics": self.topic, "levels": self.level, "split": self.split}


class Output:
    """One build's file of tasks, refused early where it cannot be written. Raises UserError."""

    def __init__(self, path: Path, *beside: Path, manifest: Path | None = None) -> None:
        """`beside`: further files that the build writes. The manifest's name is PATH.manifest.json by default."""
        from strop.core import files

        if not path.name.endswith((".jsonl", ".jsonl.gz")):
            raise UserError(f"--output {path}: name a file that ends in .jsonl or .jsonl.gz")
        self.path = path
        self._manifest = manifest or path.with_name(f"{path.name}.manifest.json")
        for each in (path, self._manifest, *beside):
            files.check_writable(each)
        self._started = time.monotonic()

    def write(self, made: "Iterable[Task]", tally: "Tally", nothing: str, otherwise: str) -> None:
        """Writes the tasks. Raises UserError where there is none: `nothing`, and the reasons or `otherwise`."""
        from strop.tasks import write_tasks

        write_tasks(tally.some(made, nothing, otherwise), self.path)

    @property
    def seconds(self) -> float:
        """Since the build began."""
        return time.monotonic() - self._started

    def finish(self, manifest: Mapping[str, Any], line: str) -> None:
        """Writes the manifest and prints `line`, with the seconds taken in place of `{seconds}`."""
        from strop.core import files

        files.write_json(self._manifest, manifest)
        print(printable(f"{line.replace('{seconds}', f'{self.seconds:.0f} s')}; {self.path}"))


def originals_shown(progress: "Progress", total: int, tally: "Tally", what: str) -> Callable[[int], None]:
    """A callback that takes the tasks made from each original and shows progress."""
    seen = [0, 0]

    def done(kept: int) -> None:
        seen[0] += 1
        seen[1] += kept > 0
        progress.at(seen[0], seen[1], total, f"{tally.tasks} {what} made")

    return done


def edit_format(name: str) -> str:
    """The name of an edit format. Raises UserError."""
    from strop.edits import FORMATS
    from strop.tasks.rows import suggestion

    if name not in FORMATS:
        raise UserError(
            f"--format {name!r}: unknown{suggestion(name, list(FORMATS))}; there are {', '.join(FORMATS)}"
        )
    return name
