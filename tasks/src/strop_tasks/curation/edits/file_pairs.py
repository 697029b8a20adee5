"""Tasks from files before and after an edit (`edit_task`), taken from commits or rows with a patch."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from strop.tasks.edit_prompts import reference
from strop.tasks.edit_tasks import TOLERANCE
from strop_tasks.curation.edits import EditSettings, history
from strop_tasks.curation.edits.programs import same_program
from strop_tasks.curation.edits.repository import Commit, Repository
from strop_tasks.curation.engine.tally import LeftOut, Tally
from strop_verify.core.checks import EditCheck, WorkspaceCheck
from strop_verify.core.errors import UserError
from strop_verify.core.ids import content_hash
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS, EditError, Tolerance, apply_answer
from strop_verify.edits.languages import language_of
from strop_verify.edits.lines import split


def edit_task(
    family: str,
    statement: str,
    before: Mapping[str, str],
    after: Mapping[str, str | None],
    format: str,
    **fields: Any,
) -> Task:
    """A task that the oracle's files solve. `after`: changed files' new texts, None = deleted. Raises LeftOut.

    Verified: applying the reference, the oracle's edit in its format, gives the oracle's files.
    """
    placed = format in ("search-replace", "unified-diff")
    files, oracle = dict(sorted(before.items())), dict(sorted(after.items()))
    check = EditCheck(format=format, files=files, oracle=oracle, tolerance=TOLERANCE if placed else [])
    text = reference(check)
    wanted = {path: t for path, t in {**before, **after}.items() if t is not None}
    try:
        tolerance = Tolerance.of(*check.tolerance)
        solved = text and apply_answer(text, check.files, check.format, tolerance) == wanted
    except EditError:
        solved = False
    if not solved:
        raise LeftOut(f"no edit of format {format} can express it")
    return Task(family=family, statement=statement, reference=text, check=check, **fields)


def of_history(
    repository: Repository, commits: Iterable[Commit], family: str, settings: EditSettings, tally: Tally
) -> Iterator[Task]:
    """One task per commit: family "patch" takes the message as an instruction, "swe-rl" as a report."""
    for commit in commits:
        made = tally.one(partial(_of_commit, repository, commit, family, settings))
        yield from map(tally.keep, made)


def of_rows(tasks: Iterable[Task], clones: Path, settings: EditSettings, tally: Tally) -> Iterator[Task]:
    """One task of family "swe-rl" per row of SWE-bench, SWE-smith or similar sets, with files from local clones."""
    opened: dict[str, Repository | None] = {}
    for task in tasks:
        yield from map(tally.keep, tally.one(partial(_of_row, task, clones, opened, settings)))


def _of_commit(repository: Repository, commit: Commit, family: str, settings: EditSettings) -> Task:
    message = history.says_enough(commit)
    if not commit.parent:
        raise LeftOut("the first commit")
    if family == "swe-rl":
        history.names_a_bug(message)
    chosen = history.mended_programs if family == "swe-rl" else history.only_programs
    changes = chosen(repository.changes(commit))
    if len(changes) > settings.max_files:
        raise LeftOut("changes too many files")
    old = [c.path for c in changes if c.status != "A"]
    new = [c.path for c in changes if c.status != "D"]
    before, texts = repository.texts(commit.parent, old), repository.texts(commit.id, new)
    if len(before) < len(old) or len(texts) < len(new):
        raise LeftOut("changes files that are not text")
    if not before:
        raise LeftOut("changes no existing program")
    after = {c.path: texts.get(c.path) for c in changes}
    where = {"repository": repository.folder.resolve().name, "commit": commit.id, "date": commit.date}
    return _shown(repository, commit.parent, family, message, before, after, settings, where)


def _of_row(task: Task, clones: Path, opened: dict[str, Repository | None], settings: EditSettings) -> Task:
    check = task.check.maybe(WorkspaceCheck)
    if check is None or not check.repository or not task.reference.strip():
        raise LeftOut("no issue of a repository with a patch")
    if not task.statement.strip():
        raise LeftOut("says nothing")
    if check.repository not in opened:
        opened[check.repository] = clone_of(clones, check.repository)
    repository = opened[check.repository]
    if repository is None:
        raise LeftOut(f"no clone of {check.repository}")
    commit = repository.resolve(check.commit)
    if not commit:
        raise LeftOut(f"its commit is not in the clone of {check.repository}")
    patch = FORMATS["unified-diff"].parse(task.reference)
    before = repository.texts(commit, {change.path for change in patch.changes if change.path})
    try:
        solved = FORMATS["unified-diff"].apply(patch, before)
    except EditError as error:
        raise LeftOut(f"its patch does not apply ({error.code})") from error
    changed = {p: solved.get(p) for p in (before | solved) if before.get(p) != solved.get(p)}
    if len(changed) > settings.max_files:
        raise LeftOut("changes too many files")
    where = {"repository": check.repository, "commit": commit, "original": task.id}
    where |= {name: task.metadata[name] for name in ("date",) if name in task.metadata}
    made = _shown(repository, commit, "swe-rl", task.statement, before, changed, settings, where)
    kept = {name: getattr(task, name) for name in ("topic", "source", "split")}
    return made.model_copy(update={"id": f"{task.id}:{settings.format}", **kept})


def _hunks(before: str, after: str) -> str:
    old, new = ([line.removesuffix("\n") for line in split(text)] for text in (before, after))
    lines = difflib.unified_diff(old, new, lineterm="")
    return "\n".join(list(lines)[2:])


def _shown(
    repository: Repository,
    commit: str,
    family: str,
    statement: str,
    before: dict[str, str],
    after: Mapping[str, str | None],
    settings: EditSettings,
    where: dict[str, Any],
) -> Task:
    """The task, with context files. Raises LeftOut if it is empty or too large."""
    room = settings.max_chars - sum(map(len, before.values()))
    if room < 0 or sum(len(text or "") for text in after.values()) > 2 * settings.max_chars:
        raise LeftOut("has files that are too long")
    patch = "".join(
        f"+++ b/{path}\n{_hunks(before.get(path, ''), text or '')}\n" for path, text in sorted(after.items())
    )
    lines = sum(line[:1] in "+-" and line[:4] != "+++ " for line in patch.split("\n") if line)
    if not lines:
        raise LeftOut("changes nothing")
    if lines > history.MOST_LINES:
        raise LeftOut("changes too many lines")
    if all(same_program(path, before.get(path), text) for path, text in after.items()):
        raise LeftOut("changes only comments, docstrings or layout")
    more: dict[str, str] = {}
    if settings.context and family == "swe-rl":
        known = {path: before.get(path, "") for path in after}
        paths = repository.paths(commit)
        names = history.akin(paths, known, statement, settings.context, room, settings.seed, where["commit"])
        more = repository.texts(commit, names)
    return edit_task(
        family, statement, {**before, **more}, after, settings.format,
        id=content_hash([family, settings.format, where["repository"], where["commit"], sorted(after), sorted(more)]),
        language=language_of(patch),
        topic=where["repository"],
        source=f"{where['repository']}@{where['commit'][:12]}",
        metadata={**where, "unchanged": sorted(more)},
    )  # fmt: skip


def clone_of(folder: Path, name: str) -> Repository | None:
    """The clone of OWNER/NAME in a folder: OWNER/NAME, OWNER__NAME, OWNER--NAME or NAME, also with `.git` if bare."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\\" in name or "\0" in name:
        return None
    spelt = ["/".join(parts), "__".join(parts), "--".join(parts), parts[-1]]
    for path in (folder / f"{one}{end}" for one in spelt for end in ("", ".git")):
        if path.is_dir():
            try:
                return Repository(path)
            except UserError:
                continue
    return None
