"""A task as a folder of files, and the changes in that folder as an answer.

1. Hidden tests (tests that judge and are not public, `strop.tasks.public_tests`) are not in the folder. A file is left
   out if it holds a hidden test that fails before the edit, or if all its judging tests are hidden. If a task does not
   list its public tests, every file with a test that fails before the edit is left out. Unit tests in Rust's source
   stay.
2. The answer is the difference between the text files. Changes to tests, their settings (`is_protected`), modules that
   shadow installed ones, caches, builds, hidden and binary files do not count: the verdict undoes them.
3. An edit of a project can't delete a file that its task does not name; an edit of one file changes nothing else.
4. A task that asks for code, not for an edit, is one file, and the answer is its text.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from strop.tasks.edit_tasks import solution_of
from strop.tasks.public_tests import public_task
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.errors import UserError
from strop_verify.core.play import JailedFolder
from strop_verify.core.task import Task
from strop_verify.edits import FORMATS, EditError, edit_in
from strop_verify.edits.paths import check_path
from strop_verify.verification.project.layout import is_protected, layout_of, shadows
from strop_verify.verification.project.needs import needs_of
from strop_verify.verification.project.snapshot import MAX_FILE_BYTES, is_made, load_snapshot, locate_packages

PACKAGES = ".packages"
Tree = Mapping[str, bytes]
"""Relative path to content."""
_NOT_THOUGHT = "There is no <think> in front of this edit.\n\n"
"""Precedes an edit that contains `</think>`, so that the tag is not read as the end of the model's thinking."""
_NO_FILES = ("label", "patch", "places", "calls")
"""Kinds of answers that are not files, except in edits."""


def project_of(task: Task) -> ProjectCheck | None:
    """The project's tests by which an edit is judged; None for other tasks."""
    return task.edit.judge.maybe(ProjectCheck) if task.edit and task.edit.judge else None


def tree_of(task: Task) -> dict[str, bytes]:
    """The folder's initial files. Raises UserError for a task without files, VerificationError without its project."""
    edit, project = task.edit, project_of(task)
    if edit is None:
        if task.check.answer in _NO_FILES or task.check.rewards_alone:
            raise UserError(
                f"task {task.id} has no files: its answer is a {task.check.answer}; play it in one turn"
            )
        return {solution_of(task): _begun(task).encode()}
    if project is None:
        return _encoded(edit.files)
    tree = {**load_snapshot(project), **_encoded(project.files), **_encoded(edit.files)}
    gone = {path for path in project.removed if path not in edit.files} | _hidden(task, project, tree)
    return {path: data for path, data in tree.items() if path not in gone}


def packages_of(task: Task) -> dict[str, bytes]:
    """The packages that the project's tests import, except the project itself. They lie in the folder below PACKAGES
    and are not part of the answer. Raises VerificationError if they are missing.
    """
    project = project_of(task)
    if project is None or not project.packages:
        return {}
    given = needs_of(tree_of(task), locate_packages(project.packages)).given
    assert given is not None
    found = {}
    for folder, _, names in os.walk(given.packages, followlinks=True):
        for path in (Path(folder, name) for name in names if not name.endswith(".pyc")):
            found[f"{PACKAGES}/{path.relative_to(given.packages).as_posix()}"] = path.read_bytes()
    return dict(sorted(found.items()))


def answer_in(task: Task, before: Tree, folder: JailedFolder) -> str:
    """The answer in a folder whose initial files were `before`. Raises ValueError, SandboxError."""
    after: dict[str, bytes] = {}
    for path, size in folder.files().items():
        if path in before or (size <= MAX_FILE_BYTES and not is_made(path)):
            after[path] = folder.read(path, limit=MAX_FILE_BYTES)
    return edit_from(task, before, after)


def edit_from(task: Task, before: Tree, after: Tree) -> str:
    """The answer that turns `before` into `after` (path -> content); "" if no change counts."""
    if (edit := task.edit) is None:
        return after.get(solution_of(task), b"").decode(errors="replace")
    old = dict(edit.files)
    new = dict(old)
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path) or not _counts(task, edit, path, before):
            continue
        if path not in after:
            new.pop(path, None)
        elif (text := _text(after[path])) is not None:
            new[path] = text
    try:
        answer = FORMATS[edit.format].render(old, new)
    except EditError:
        return ""
    return answer if edit_in(answer) == answer else _NOT_THOUGHT + answer


def _counts(task: Task, edit: EditCheck, path: str, before: Tree) -> bool:
    """Whether a change of this file is part of the answer."""
    try:
        check_path(path)
    except EditError:
        return False
    if project_of(task) is None:
        return path == edit.path if edit.judge else path in edit.files
    if is_protected(path, task.language):
        return False
    if path in before:
        return True
    layout = layout_of(before)
    project = project_of(task)
    packages = project.packages if project else ""
    taken = task.language == "python" and shadows(path, layout.own, layout.roots, packages)
    return not taken and not is_made(path) and path not in _hidden(task, project, {path: b""})


def _hidden(task: Task, project: ProjectCheck | None, tree: Tree) -> set[str]:
    """The files of the tree that are left out because of hidden tests (rule 1 in the module's docstring)."""
    public = project_of(public_task(task))
    if project is None or public is None:
        return set()
    shown = {*public.failing, *public.passing} if "public_tests" in task.metadata else {*public.passing}
    files = {name: _file(name, task.language) for name in (*project.failing, *project.passing)}
    failing = {files[name] for name in project.failing if name not in shown}
    others = {files[name] for name in project.passing if name not in shown} - {files[name] for name in shown}
    return (failing | others) & tree.keys()


def _file(test: str, language: str) -> str:
    """A test's file by its id, for pytest and for Rust's integration tests."""
    first = test.partition("::")[0]
    return f"tests/{first}.rs" if language == "rust" else first


def _begun(task: Task) -> str:
    """The file's initial text: the broken program, or the signature with an empty body."""
    broken = task.metadata.get("broken")
    if isinstance(broken, str) and broken.strip():
        return broken if broken.endswith("\n") else broken + "\n"
    if not task.signature:
        return ""
    return (
        f"{task.signature} {{\n    todo!()\n}}\n"
        if task.language == "rust"
        else f"{task.signature}\n    ...\n"
    )


def _encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}


def _text(data: bytes) -> str | None:
    """The file's text; None if it is binary."""
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None
