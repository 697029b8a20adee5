"""Shared by the commands of `strop build`: options, the task file, its manifest and the last line of output."""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from typer import Option

from strop.cli.options import AllowUnsafe, Side
from strop_tasks.curation.engine.tally import Tally, TallyLayout, split_of
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop.config.model import ModelConfig
    from strop.reports.terminal.progress import Progress
    from strop_verify.core.task import Task
    from strop_verify.verification.settings import Settings

T = TypeVar("T", bound=str)
File = Annotated[Path, Option("--output", "-o", help="file of task lines to write; .gz compresses")]
Issues = Annotated[
    list[str] | None,
    Option(
        metavar="REPOSITORY=FILE.json",
        help="its issues, as gh issue list --json number,title,body writes them; a commit that closes one uses its "
        "text instead of the message; repeatable",
    ),
]


@dataclass(frozen=True)
class Verifying:
    """Options for verifying answers in the jail."""

    workers: Annotated[int | None, Option(min=1, help="batches verified at a time; default: cores")] = None
    allow_unsafe: AllowUnsafe = False

    def jail(self) -> "Settings":
        """The jail's settings for runs of projects."""
        from strop_verify.verification.settings import Settings

        return Settings(allow_unsafe=self.allow_unsafe)

    @property
    def many(self) -> int:
        """Number of concurrent runs of projects."""
        return self.workers or min(16, len(os.sched_getaffinity(0)))


@dataclass(frozen=True)
class ChosenTasks:
    """Selection of a source's tasks."""

    limit: Annotated[int | None, Option(min=1, help="read only this many tasks of the source")] = None
    topic: Annotated[list[str] | None, Option("--topic", help="only this topic; repeatable")] = None
    level: Annotated[list[int] | None, Option("--level", help="only this level; repeatable")] = None
    split: Side = None

    def filters(self) -> dict[str, Any]:
        """The arguments for `load_tasks`, under the names that manifests use."""
        return {"limit": self.limit, "topics": self.topic, "levels": self.level, "split": self.split}


@dataclass(frozen=True)
class HeldOut:
    """Selection of held-out tasks."""

    held_out: Annotated[list[str] | None, Option(help="hold out this repository; repeatable")] = None
    newest_share: Annotated[
        float,
        Option(min=0.0, max=1.0, help="share of the newest commits of each other repository to hold out"),
    ] = 0.2

    def sides(self, tasks: "Sequence[Task]") -> "list[Task]":
        """The tasks with their splits. Raises UserError for a repository that has no task."""
        return list(split_of(tasks, self.held_out or [], self.newest_share)) if tasks else []


@dataclass(frozen=True)
class PromptLimit:
    """The limit on prompt length."""

    max_prompt_tokens: Annotated[
        int | None, Option(min=1, help="leave out tasks whose chat prompt has more tokens, by --tokenizer")
    ] = None
    tokenizer: Annotated[
        str | None, Option(metavar="MODEL", help="model or folder whose tokenizer --max-prompt-tokens uses")
    ] = None

    def fits(self) -> "Callable[[Task], bool] | None":
        """A test of whether a task's prompt is short enough; None without a limit. Raises UserError."""
        most, name = self.max_prompt_tokens, self.tokenizer
        if most is None and name is None:
            return None
        if most is None or name is None:
            raise UserError("--max-prompt-tokens N and --tokenizer MODEL belong together: give both")
        from strop.config.model import ModelConfig

        count = token_counter(ModelConfig(name=name))
        return lambda task: count(task) <= most


class Build:
    """One build: its counts, its file of tasks and its manifest. Raises UserError if these cannot be written."""

    def __init__(
        self,
        path: Path,
        layout: TallyLayout,
        prompts: PromptLimit,
        *beside: Path,
        manifest: Path | None = None,
    ) -> None:
        """`beside`: further files that the build writes. The manifest's name is PATH.manifest.json by default."""
        from strop_verify.core import files

        if not path.name.endswith((".jsonl", ".jsonl.gz")):
            raise UserError(f"--output {path}: name a file that ends in .jsonl or .jsonl.gz")
        self.path, self.tally = path, Tally(layout)
        self._manifest = manifest or path.with_name(f"{path.name}.manifest.json")
        for each in (path, self._manifest, *beside):
            files.check_writable(each)
        self._prompts, self._fits = prompts, prompts.fits()
        self.too_long: set[str] = set()  # ids of the tasks whose prompts were too long
        self._started = time.monotonic()

    def write(self, made: "Iterable[Task]", nothing: str, otherwise: str) -> None:
        """Writes the tasks, without those whose prompts are too long. Raises UserError if none is left; its
        text is `nothing` and the counted reasons, or `otherwise`.
        """
        from strop.tasks import write_tasks

        write_tasks(self._fitting(made, nothing, otherwise), self.path)

    def _fitting(self, made: "Iterable[Task]", nothing: str, otherwise: str) -> "Iterator[Task]":
        for task in made:
            if self._fits is None or self._fits(task):
                yield task
            else:
                self.too_long.add(task.id)
                self.tally.take_back(task, "too long")
        if not self.tally.tasks:
            raise UserError(f"{nothing}: {self.tally.reasons() or otherwise}")

    def shown(self, progress: "Progress", originals: int) -> Callable[[int], None]:
        """A callback that takes the number of tasks made from each original and shows progress."""
        seen = [0, 0]

        def done(kept: int) -> None:
            seen[0] += 1
            seen[1] += kept > 0
            progress.at(seen[0], seen[1], originals, f"{self.tally.tasks} repair tasks made")

        return done

    def seconds(self) -> float:
        """Seconds since the build began."""
        return time.monotonic() - self._started

    def finish(self, settings: Mapping[str, Any], line: str, **more: Any) -> None:
        """Writes settings, counts and `more` to the manifest, and prints a line."""
        from strop_verify.core import files

        told = {**settings, **(asdict(self._prompts) if self._fits else {})}
        files.write_json(self._manifest, {"settings": told, **self.tally.manifest(), **more})
        print(printable(f"{line}; {self.path}"))


def known(what: str, names: Iterable[str], choices: Collection[T]) -> list[T]:
    """The named choices, in the order of `choices`. Raises UserError for an unknown name."""
    from strop.tasks.rows import unknown

    named = list(names)
    for name in named:
        if name not in choices:
            raise unknown(what, name, choices)
    return [one for one in choices if one in named]


def edit_format(name: str) -> str:
    """The name of an edit format. Raises UserError."""
    from strop_verify.edits import FORMATS

    return known("--format", [name], FORMATS)[0]


def token_counter(
    model: "ModelConfig", style: str = "chat", template: str | None = None
) -> "Callable[[Task], int]":
    """Counts the tokens of a task's prompt, with what the model's chat template adds. Raises UserError."""
    from strop.config.schema import Recipe
    from strop.policies.open import tokenizer_of
    from strop.rollouts.encoding import opening_ids
    from strop.tasks.prompts import render
    from strop_verify.core.play import Opening

    tokenizer = tokenizer_of(Recipe(model=model))

    def count(task: "Task") -> int:
        asked = render(task, style, template)
        opening = Opening(asked.text, tuple(asked.messages), asked.prefill, sections=asked.sections)
        return len(opening_ids(opening, tokenizer))

    return count
