"""Retrieval tasks from functions with a docstring, and from bugs introduced into a project."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from strop_tasks.curation.edits.history import is_packaging, is_test
from strop_tasks.curation.edits.repository import Repository, SourceHistory
from strop_tasks.curation.engine.tally import LeftOut, Tally
from strop_tasks.curation.retrieval import FAMILY
from strop_tasks.curation.retrieval.commits import names_file, not_blank
from strop_verify.code.python.source import PythonFunction, Unreadable, functions, parse
from strop_verify.core.checks import ProjectCheck, RetrievalCheck
from strop_verify.core.ids import rng
from strop_verify.core.ranges import Range, merged, write_ranges
from strop_verify.core.task import Task
from strop_verify.edits.lines import opcodes, split

_FEWEST_CHARACTERS, _FEWEST_LINES, _MOST_LINES = 60, 4, 150
"""Limits on the length of a docstring, and of the function that it describes."""
_WHERE = re.compile(r"\AFix the bug in .*\.(?:\n|$)")  # the first line of a statement of `strop build bugs`


def of_docstrings(
    repository: Repository, history: SourceHistory, store: str, most: int, seed: int, tally: Tally
) -> Iterator[Task]:
    """At most `most` functions of the newest tree, chosen by the seed: the docstring is the request and is removed
    from the tree; the function's lines are relevant.
    """
    commit = repository.resolve(history.ref)
    date = repository.commits(1, history.ref)[0].date
    paths = [path for path in repository.paths(commit) if path.endswith(".py")]
    texts = repository.texts(commit, [path for path in paths if not (is_test(path) or is_packaging(path))])
    found = [
        (path, function) for path, text in sorted(texts.items()) for function in _documented(text, tally)
    ]
    rng("retrieval", seed, history.name).shuffle(found)
    made = 0
    for path, function in found:
        if made == most:
            return
        tally.considered += 1
        with tally.leaving_out("left_out"):
            text, spans = _without_docstring(texts[path], function)
            if function.docstring.split("\n")[0].strip() in text:
                raise LeftOut("the docstring also occurs elsewhere")
            made += 1
            yield Task(
                family=FAMILY,
                statement=function.docstring.strip(),
                reference=write_ranges({path: spans}),
                check=RetrievalCheck(tree=store, commit=commit, files={path: text}, truth={path: spans}),
                topic=history.name,
                source=f"{history.name}/{path}#{function.qualified_name}",
                metadata={"kind": "docstring", "repository": history.name, "commit": commit, "date": date},
            )


def _documented(text: str, tally: Tally) -> list[PythonFunction]:
    try:
        return [one for one in functions(parse(text)) if one.docstring]
    except Unreadable as error:
        tally.skipped[str(error)] += 1
        return []


def _without_docstring(text: str, function: PythonFunction) -> tuple[str, list[Range]]:
    """The file without the docstring, and where the function then is. Raises LeftOut."""
    node, lines = function.node, split(text)
    docstring = node.body[0]
    first, last = function.first, function.last
    begins, ends = docstring.lineno, docstring.end_lineno or docstring.lineno
    if len(function.docstring) < _FEWEST_CHARACTERS:
        raise LeftOut("a short docstring")
    if len(node.body) < 2 or node.body[1].lineno <= ends or begins <= first:
        raise LeftOut("nothing but a docstring, or on one line with it")
    kept = last - (ends - begins + 1)
    if not _FEWEST_LINES <= kept - first + 1 <= _MOST_LINES:
        raise LeftOut("a function that is too short or too long")
    if len(function.name) > 3 and function.name.strip("_") in function.docstring:  # a trivial request
        raise LeftOut("the docstring names its function")
    return "".join([*lines[: begins - 1], *lines[ends:]]), [(first, kept)]


def of_bugs(tasks: Iterable[Task], file: Path, tally: Tally) -> Iterator[Task]:
    """One task per bug of a project (`strop build bugs`): its description is the request, and the lines that the repair
    changes are relevant.
    """
    for task in tasks:
        yield from tally.one(partial(_of_bug, task, file))


def _of_bug(task: Task, file: Path) -> Task:
    edit = task.edit
    judge = edit.judge.maybe(ProjectCheck) if edit and edit.judge else None
    if edit is None or judge is None or not edit.oracle:
        raise LeftOut("no bug of a project")
    if judge.removed:
        raise LeftOut("removes files")
    truth = {
        path: not_blank(edit.files[path].split("\n"), spans)
        for path, text in sorted(edit.oracle.items())
        if path in edit.files and (spans := changed(edit.files[path], text or ""))
    }
    said = request_of_bug(task.statement)
    if any(names_file(said, path) for path in truth):
        raise LeftOut("the message names a file that matters")
    name = Path(judge.project).name
    there, repository = file.parent / name, task.topic or name.removesuffix(".project.tar.gz")
    return Task(
        family=FAMILY,
        language=task.language,
        statement=said,
        reference=write_ranges(truth),
        check=RetrievalCheck(
            tree=name if there.is_file() else judge.project,
            digest=judge.digest,
            files={**judge.files, **edit.files},
            truth=truth,
        ),
        topic=repository,
        source=task.source,
        metadata={"kind": "bug", "repository": repository, "original": task.id},
    )


def request_of_bug(statement: str) -> str:
    """A repair task's description of its bug, without the function and the names of files. Raises LeftOut if nothing
    else is left.
    """
    said = re.sub(r"`[^`\s]+\.(?:py|rs)::", "`", _WHERE.sub("", statement)).strip()
    if not said:
        raise LeftOut("says too little")
    return said


def changed(before: str, after: str) -> list[Range]:
    """The lines of `before` that `after` replaces; for an insertion, the line before it."""
    found = opcodes(split(before), split(after))
    return merged((i + 1, j) if j > i else (max(1, i), max(1, i)) for equal, i, j, _, _ in found if not equal)
