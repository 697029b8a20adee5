"""Writes tasks as a package for verifiers 0.4: `strop tasks export --verifiers`.

The package holds data and a few lines of code, which use `strop.neighbours.verifiers` of an installed Strop.
"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from strop.tasks.jsonl import write_tasks
from strop.tasks.lines import Report, fail
from strop.tasks.prompts import render
from strop_verify.core.errors import UserError
from strop_verify.core.files import writing
from strop_verify.core.task import Task

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_INIT = '''"""{name}: {count} tasks, judged by Strop."""

from pathlib import Path

from strop.neighbours.verifiers import OneTurn, taskset_of

Taskset = taskset_of(Path(__file__).with_name("tasks.jsonl"), style={style!r})

__all__ = ["OneTurn", "Taskset"]
'''
_PROJECT = """[project]
name = "{name}"
version = "0.1.0"
description = "{count} code tasks, judged in Strop's jail"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["strop[verifiers]"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["{module}"]
"""
_README = """# {name}

{count} code tasks for verifiers 0.4, written by `strop tasks export {source} --verifiers {name}`. Answers are judged by
Strop's verifier, in its jail, on the machine that runs the environment.

```
pip install -e .
vf-validate {name} --runtime.type subprocess
vf-eval {name} --env.agent.runtime.type subprocess -m MODEL --client.base-url URL/v1
```

`subprocess` only says that verifiers needs no sandbox of its own: no model-written code runs in it.
"""


def write_package(
    tasks: Iterable[Task], name: str, folder: Path, *, source: str, style: str = "chat", report: Report = fail
) -> int:
    """Writes the package atomically and returns the number of tasks.

    A task that cannot be asked and judged in one turn is reported and left out. Raises UserError for an invalid name, a
    folder that is not empty, and if no task is left.
    """
    if not _NAME.fullmatch(name):
        raise UserError(
            f"--verifiers {name}: not a package name; use a-z, 0-9 and single hyphens, such as code-tasks"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} already exists; name another folder with --output, or remove it")
    part, module = folder.with_name(f".{folder.name}.part"), name.replace("-", "_")
    shutil.rmtree(part, ignore_errors=True)
    try:
        with writing(folder):
            (part / module).mkdir(parents=True)
        count = write_tasks(_fit(tasks, style, report), part / module / "tasks.jsonl")
        if not count:
            raise UserError("none of the tasks takes one turn with verifiers: nothing is written")
        facts = {"name": name, "module": module, "count": count, "source": source, "style": style}
        texts = {"pyproject.toml": _PROJECT, "README.md": _README, f"{module}/__init__.py": _INIT}
        with writing(folder):
            for path, text in texts.items():
                (part / path).write_text(text.format(**facts), encoding="utf-8")
            if folder.exists():
                folder.rmdir()
            part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return count


def _fit(tasks: Iterable[Task], style: str, report: Report) -> Iterable[Task]:
    for task in tasks:
        try:
            if task.untested or task.check.rewards_alone:
                raise UserError(f"task {task.id!r} has no tests that judge an answer")
            prompt = render(task, style)
            if not prompt.messages or prompt.prefill:
                raise UserError(
                    f"task {task.id!r}: style {style!r} gives no conversation that a server can answer"
                )
        except UserError as error:
            report(f"{error}: left out")
            continue
        yield task
