"""Source files -> tasks of family `implement`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from strop.code.python.source import PythonFunction, Unreadable, functions, parse
from strop.core.checks import EditCheck
from strop.core.ids import content_hash, rng, unit_interval
from strop.core.task import Split, Task
from strop.curation.engine.tally import Tally
from strop.curation.implement.filters import FILTERS
from strop.curation.implement.mask import Mask, Masked, masked
from strop.curation.implement.sources import SourceFile
from strop.edits import HOLE
from strop.edits.lines import split
from strop.tasks.edit_prompts import reference

FAMILY = "implement"


@dataclass(frozen=True)
class MaskOptions:
    """How tasks are made."""

    format: str = "search-replace"
    """Name of an edit format."""
    mask: Mask = "body"
    filters: Sequence[str] = ()
    """Names of `FILTERS`."""
    per_file: int | None = None
    """Most tasks of one file, chosen by the seed; None = all."""
    held_out: float = 0.35
    """Share of files whose tasks are held out."""
    seed: int = 0


def tasks(files: Iterable[SourceFile], options: MaskOptions, tally: Tally) -> Iterator[Task]:
    """The tasks of some files, in their order; what is left out is counted.

    All tasks of one text are on one side of the split, which a hash of the text decides. A task that was made before
    is not made again.
    """
    ids: set[str] = set()
    for file in files:
        for task in _tasks_of(file, options, tally):
            if task.id in ids:
                tally.unusable["made before"] += 1
                continue
            ids.add(task.id)
            yield task


def _tasks_of(file: SourceFile, options: MaskOptions, tally: Tally) -> list[Task]:
    try:
        found = functions(parse(file.text))
    except Unreadable as error:
        tally.skipped[str(error)] += 1
        return []
    tally.files += 1
    lines, made = split(file.text), list[Task]()
    for function in found:
        if not function.docstring:
            continue
        tally.functions += 1
        refused = next((name for name in options.filters if not FILTERS[name](function)), "")
        if refused:
            tally.filtered[refused] += 1
            continue
        try:
            made.append(_task(file, function, masked(file.text, lines, function, options.mask), options))
        except Unreadable as error:
            tally.unusable[str(error)] += 1
    if options.per_file is not None and len(made) > options.per_file:
        tally.unusable["more than --per-file"] += len(made) - options.per_file
        some = rng("implement", options.seed, file.path, content_hash(file.text))
        made = [made[i] for i in sorted(some.sample(range(len(made)), options.per_file))]
    return made


def _task(file: SourceFile, function: PythonFunction, mask: Masked, options: MaskOptions) -> Task:
    if options.format == "infill" and HOLE in file.text:
        raise Unreadable(f"the file says {HOLE}")
    try:
        function.docstring.encode()
    except UnicodeEncodeError as error:
        raise Unreadable("half of a surrogate pair in the docstring") from error
    check = EditCheck(
        format=options.format,
        files={file.path: mask.holed if options.format == "infill" else mask.text},
        oracle={file.path: file.text},
    )
    return Task(
        family=FAMILY,
        statement=_statement(file, function, mask, options),
        reference=reference(check),
        check=check,
        split=_split(file, options),
        source=f"{file.origin}/{file.path}#{function.qualified_name}",
        metadata={
            "function_name": function.name,
            "qualified_name": function.qualified_name,
            "docstring": function.docstring,
            "implementation": mask.implementation,
            "start_line": mask.first,
            "end_line": mask.last,
            "mask": options.mask,
            **file.about,
        },
    )


def _statement(file: SourceFile, function: PythonFunction, mask: Masked, options: MaskOptions) -> str:
    place = HOLE if options.format == "infill" else f"the line `{mask.comment}`"
    if options.mask == "body":
        return (
            f"Implement `{function.qualified_name}` in {file.path}: write its body, in the place of {place}, so that "
            "the function does what its docstring says."
        )
    kind = "async function" if type(function.node).__name__ == "AsyncFunctionDef" else "function"
    return (
        f"Implement the {kind} `{function.qualified_name}` in {file.path}: write all of it, in the place of {place}. "
        f"Its docstring is:\n\n{function.docstring}"
    )


def _split(file: SourceFile, options: MaskOptions) -> Split:
    share = unit_interval("implement", options.seed, content_hash(file.text))
    return "held-out" if share < options.held_out else "train"
