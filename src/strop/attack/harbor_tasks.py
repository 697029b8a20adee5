"""Cheats against the tasks of a Harbor folder: scripts in place of an agent's work, judged by the task's own tests.

Each script runs in its own jailed machine (`strop_verify.verification.terminal`), then the task's tests run. The names
under which a script plants files and modules come from the texts of the task and its tests.
"""

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from strop_verify.attacks.cheats import Cheat, PaidTask
from strop_verify.code.python.source import module_of
from strop_verify.core.bounded_map import Work, bounded_map
from strop_verify.core.checks import TerminalCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.verification.terminal import plan_of, with_image

_ENDINGS = (
    "py|sh|m?js|ts|c|cpp|cc|h|rs|go|java|rb|pl|txt|jsonl?|csv|md|html|css|ya?ml|toml|xml|sql|log|out|conf"
)
_NAMED = re.compile(rf"(?<![\w./@-])(?:\./)?(\w[\w-]*(?:/[\w-][\w.-]*)*\.(?:{_ENDINGS}))(?![\w/])")
"""A relative path with a file extension."""
WINDOW = 4
"""Tasks in progress at a time."""


def attacked(
    tasks: Iterable[Task], verifier: Verifier, cheats: Sequence[Cheat], images: Path | None = None
) -> Iterator[PaidTask]:
    """One row per task, in order. `images`: a folder of images on disk, for tasks that name one."""
    yield from bounded_map((_attack(task, verifier, cheats, images) for task in tasks), WINDOW)


def _attack(task: Task, verifier: Verifier, cheats: Sequence[Cheat], images: Path | None) -> Work[PaidTask]:
    row = PaidTask(task.id)
    try:
        check = with_image(task.check, images) if images else task.check
        if not isinstance(check, TerminalCheck):
            row.not_judged = "Strop judges it, not its own tests; `strop attack` tries that grader"
            return row
        known = facts(task, check)
    except (UserError, VerificationError) as error:
        row.not_judged = str(error)
        return row
    task = task.model_copy(update={"check": check})
    if task.reference.strip():
        first = verifier.submit(task, task.reference)
        yield [first]
        _told(row, first.result())
    texts = {cheat.name: cheat.filled(known) for cheat in cheats}
    if not row.not_judged:
        tried = {name: verifier.submit(task, text) for name, text in texts.items() if text is not None}
        yield list(tried.values())
        verdicts = {name: future.result() for name, future in tried.items()}
        row.rewards = {name: one.score if one.scored else None for name, one in verdicts.items()}
        row.notes |= {name: one.detail for name, one in verdicts.items() if not one.scored}
        if not task.reference.strip() and all(reward is None for reward in row.rewards.values()):
            row.not_judged = next(iter(row.notes.values()), "no cheat fits it")
    return row


def _told(row: PaidTask, verdict: Verdict) -> None:
    """Records the verdict on the task's own solution, in words."""
    if not verdict.scored:
        row.not_judged = verdict.detail or "its solution got no verdict"
        return
    row.solution = verdict.score
    if not verdict.passed:
        printed = verdict.output.strip().rpartition("\n")[2]
        row.failed = f"{verdict.detail}: {printed}"[:200] if printed else verdict.detail


def facts(task: Task, check: TerminalCheck) -> dict[str, str]:
    """What cheats may know about a task, as shell words: the FILES that it names and the MODULES that its tests import.
    Raises VerificationError for a task that no jail here can play.
    """
    plan = plan_of(check)
    workdir = check.workdir or plan.workdir or "/app"
    tests = {
        path.removeprefix("tests/"): text for path, text in check.files.items() if path.startswith("tests/")
    }
    told = "\n".join((task.statement, task.reference))
    absolute = re.compile(rf"{re.escape(workdir.rstrip('/'))}/(\w[\w./-]*\w)")
    named = {*_NAMED.findall(told), *absolute.findall("\n".join((told, *tests.values())))}
    beside = (path.removeprefix("environment/") for path in check.files if path.startswith("environment/"))
    modules = _imported(tests, "\n".join((told, *beside)))
    own = {name for path in tests for name in (path, PurePosixPath(path).name)}
    files = sorted({*named, *modules} - own)
    return {"FILES": shlex.join(files), "MODULES": shlex.join(f for f in files if f.endswith(".py"))}


def _imported(tests: Mapping[str, str], told: str) -> set[str]:
    """Files of the modules that Python tests import and these texts name, as a file or a folder."""
    names: set[str] = set()
    for node in (
        node for path, text in tests.items() if path.endswith(".py") for node in ast.walk(module_of(text))
    ):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {
        name.replace(".", "/") + ".py"
        for name in names
        if re.search(rf"\b{re.escape(name.partition('.')[0])}(\.py\b|/)", told)
    }
