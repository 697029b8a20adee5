"""Rust tasks out of Python ones: the statement and the cases of `python-functions` with a Rust function of ours.

A topic file in `tasksets/rust_from_python` is plain Rust: one public function a task, named as the Python entry
point. A doc comment above it, where there is one, is the statement in the place of the Python task's. Examples and
hidden tests are made from the task's cases and the types of the function's signature.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from strop.tasks.rust_prompts import documented
from strop_tasks.curation.rust_build.cases import call, literal, parse_head, rust_tests
from strop_verify.core.checks import CasesCheck, RustCheck
from strop_verify.core.task import Task
from tasksets.read_rust import EDITION

FOLDER = Path(__file__).with_name("rust_from_python")
_ITEM = re.compile(r"^((?:///[^\n]*\n)*)(pub fn (\w+)\b.*?^\}\n)", re.M | re.S)


def topics() -> list[str]:
    """Names of the topic files, sorted."""
    return sorted(file.stem for file in FOLDER.glob("*.rs"))


def load(python: Iterable[Task]) -> list[Task]:
    """Every task, by topic and in the order of its file, from those of `python-functions`.

    Raises ValueError, naming the task, for a wrong form.
    """
    originals: dict[str, dict[str, Task]] = {}
    for task in python:
        if name := task.check.function:
            originals.setdefault(task.topic, {})[name] = task
    return [task for topic in topics() for task in read_topic(topic, originals.get(topic, {}))]


def read_topic(topic: str, originals: Mapping[str, Task]) -> Iterator[Task]:
    """The tasks of one topic file. `originals` are the Python tasks by entry point."""
    text = (FOLDER / f"{topic}.rs").read_text(encoding="utf-8")
    for comment, code, name in _ITEM.findall(text):
        try:
            if name not in originals:
                raise ValueError("python-functions has no such task in this topic")
            yield _task(topic, name, comment, code, originals[name])
        except ValueError as error:
            raise ValueError(f"{FOLDER.name}/{topic}.rs: {name}: {error}") from error


def _task(topic: str, name: str, comment: str, code: str, original: Task) -> Task:
    check = original.check.only(CasesCheck)
    statement = " ".join(line[3:].strip() for line in comment.splitlines()) or " ".join(
        original.statement.split()
    )
    if check.any_order or check.checker:
        raise ValueError("a case is more than a value to equal")
    head = code.partition("{")[0].rstrip()
    _, parameters, result = parse_head(head)
    shown = [case for case in check.cases if case.shown]
    examples = [
        f"{call(name, parameters, case, plain=True)} == {literal(case.expected, result, plain=True)}"
        for case in shown
    ]
    return Task(
        language="rust",
        statement=statement,
        signature=head,
        reference=code,
        check=RustCheck(tests=rust_tests(head, check.cases), edition=EDITION),
        topic=topic,
        level=original.level,
        source=f"rust-from-python/{topic}/{name}",
        prompt=f"{documented(head, statement, examples)} {{",
        metadata={"examples": examples},
    )
