"""Source files -> tasks of family `implement`.

A function is masked in its file: one comment replaces whole lines, and everything else stays byte for byte.

`# MASKED: NAME function (lines A-B)` replaces lines A to B. Deviations from the published form, which is
mask "function":

1. Mask "body", the default, keeps decorators, signature and docstring, and masks the rest, so that the request is
   clear. The published mask takes the whole function, and puts its docstring into the statement.
2. Line endings, a byte order mark and a missing final newline stay; the published program rejoins all lines with `\\n`,
   and counts form feeds and other separators as line endings.
3. The comment is indented like the lines that it replaces; the published one is in the first column.
4. Mask "body" also takes comments after the last statement that are indented like the body: they are often old code.
5. A file that would not parse with the comment makes no task, such as a class that holds only the function.
6. In format `infill` the hole `<FILL>` takes the comment's place; the last masked line's end is not part of it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from strop.tasks.edit_prompts import reference
from strop_tasks.curation.engine.tally import Tally, once
from strop_tasks.curation.implement import ImplementSettings, Mask
from strop_tasks.curation.implement.filters import FILTERS, chosen
from strop_tasks.curation.implement.sources import SourceFile
from strop_verify.code.python.source import PythonFunction, Unreadable, functions, parse
from strop_verify.core.checks import EditCheck
from strop_verify.core.ids import content_hash, rng, unit_interval
from strop_verify.core.task import Task
from strop_verify.edits import HOLE
from strop_verify.edits.lines import split


@dataclass(frozen=True)
class Masked:
    """A masked file and the masked lines; lines count from 1."""

    text: str
    """The file with the comment."""
    holed: str
    """The file with `<FILL>` in its place."""
    comment: str
    """`# MASKED: ...`, without indentation and line ending."""
    implementation: str
    """The masked lines, without the last one's line ending."""
    first: int
    last: int


def masked(text: str, lines: list[str], function: PythonFunction, kind: Mask) -> Masked:
    """The file, whose lines are `lines`, with one function masked. Raises Unreadable if it cannot be masked."""
    first, last = _span(lines, function, kind)
    before, behind = "".join(lines[: first - 1]), "".join(lines[last:])
    taken = text[len(before) : len(text) - len(behind)]
    end = "\r\n" if taken.endswith("\r\n") else "\n" if taken.endswith("\n") else ""
    indent = _indent(lines[(function.node.body[0].lineno if kind == "body" else first) - 1])
    comment = f"# MASKED: {function.name} function (lines {first}-{last})"
    new = f"{before}{indent}{comment}{end}{behind}"
    if comment in text:
        raise Unreadable("the file already contains the comment")
    if kind == "function" or _goes_on(lines[first - 2]) or _goes_on(lines[last - 1]):
        try:
            parse(new)
        except Unreadable as error:
            raise Unreadable("the masked file does not parse") from error
    return Masked(new, f"{before}{HOLE}{end}{behind}", comment, taken.removesuffix(end), first, last)


def _span(lines: list[str], function: PythonFunction, kind: Mask) -> tuple[int, int]:
    """The first and the last line that are masked."""
    if kind == "function":
        return function.first, function.last
    docstring, *rest = function.node.body
    if not rest:
        raise Unreadable("nothing but a docstring")
    behind = docstring.end_lineno or docstring.lineno
    if rest[0].lineno == behind:
        raise Unreadable("the body begins on the docstring's line")
    return behind + 1, _with_comments(lines, function.last, _indent(lines[docstring.lineno - 1]))


def _with_comments(lines: list[str], last: int, indent: str) -> int:
    """The last line of the body, or of comments after it at its indentation."""
    end, width = last, len(indent.expandtabs())
    for number, line in enumerate(lines[last:], start=last + 1):
        content = line.strip()
        if content and not (content.startswith("#") and len(_indent(line).expandtabs()) >= width):
            break
        end = number if content else end
    return end


def _goes_on(line: str) -> bool:
    """Whether a line may continue on the next one, so that a comment in place of one of them may break the file."""
    return line.rstrip("\r\n").endswith("\\")


def _indent(line: str) -> str:
    found = re.match(r"[ \t\f]*", line)
    return found.group() if found else ""


FAMILY = "implement"


def tasks(files: Iterable[SourceFile], settings: ImplementSettings, tally: Tally) -> Iterator[Task]:
    """The tasks of the files, in order and each once; what is left out is counted.

    A hash of a file's text decides the side of all its tasks.
    """
    filters = chosen(settings.filters)
    yield from once((task for file in files for task in _tasks_of(file, settings, filters, tally)), tally)


def _tasks_of(
    file: SourceFile, settings: ImplementSettings, filters: Sequence[str], tally: Tally
) -> list[Task]:
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
        refused = next((name for name in filters if not FILTERS[name](function)), "")
        if refused:
            tally.filtered[refused] += 1
            continue
        try:
            made.append(_task(file, function, masked(file.text, lines, function, settings.mask), settings))
        except Unreadable as error:
            tally.unusable[str(error)] += 1
    if settings.per_file is not None and len(made) > settings.per_file:
        tally.unusable["more than --per-file"] += len(made) - settings.per_file
        some = rng("implement", settings.seed, file.path, content_hash(file.text))
        made = [made[i] for i in sorted(some.sample(range(len(made)), settings.per_file))]
    return made


def _task(file: SourceFile, function: PythonFunction, mask: Masked, settings: ImplementSettings) -> Task:
    if settings.format == "infill" and HOLE in file.text:
        raise Unreadable(f"the file contains {HOLE}")
    try:
        function.docstring.encode()
    except UnicodeEncodeError as error:
        raise Unreadable("half of a surrogate pair in the docstring") from error
    files = {file.path: mask.holed if settings.format == "infill" else mask.text}
    check = EditCheck(format=settings.format, files=files, oracle={file.path: file.text})
    share = unit_interval("implement", settings.seed, content_hash(file.text))
    return Task(
        family=FAMILY,
        statement=_statement(file, function, mask, settings),
        reference=reference(check),
        check=check,
        split="held-out" if share < settings.held_out else "train",
        source=f"{file.origin}/{file.path}#{function.qualified_name}",
        metadata={
            "function_name": function.name,
            "qualified_name": function.qualified_name,
            "docstring": function.docstring,
            "implementation": mask.implementation,
            "start_line": mask.first,
            "end_line": mask.last,
            "mask": settings.mask,
            **file.about,
        },
    )


def _statement(file: SourceFile, function: PythonFunction, mask: Masked, settings: ImplementSettings) -> str:
    place = HOLE if settings.format == "infill" else f"the line `{mask.comment}`"
    if settings.mask == "body":
        return (
            f"Implement `{function.qualified_name}` in {file.path}: write its body, in the place of {place}, so that "
            "the function does what its docstring says."
        )
    kind = "async function" if type(function.node).__name__ == "AsyncFunctionDef" else "function"
    return (
        f"Implement the {kind} `{function.qualified_name}` in {file.path}: write all of it, in the place of {place}. "
        f"Its docstring is:\n\n{function.docstring}"
    )
