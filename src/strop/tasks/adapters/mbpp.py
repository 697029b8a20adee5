"""MBPP (CC BY 4.0): short Python problems with three asserts each, in the full and the sanitised form.

Reference: github.com/google-research/google-research/tree/master/mbpp; Austin et al. 2021, arXiv:2108.07732. Rows:
task_id, code, test_list, and text, test_setup_code, challenge_test_list (full) or prompt, source_file, test_imports
(sanitised). The challenge tests come after the others; `metadata.base_tests` counts the others.

The statement is the text with the first test, as in the paper's prompt: without it the function's name is unknown.
"""

from collections.abc import Iterator
from typing import Any

from strop.code.python import source as pysource
from strop.core.checks import AssertsCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters.assert_lists import check_of, count, statements
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, name_of, text, texts
from strop.tasks.adapters.leftovers import original, with_original
from strop.tasks.rows import Row

FIELDS = ("task_id", "text", "prompt", "code")
_KEPT = ("test_list", "test_setup_code", "challenge_test_list", "test_imports")


def _read(row: Row, where: str) -> Iterator[Task]:
    number = name_of(row.get("task_id"), "")
    if not number:
        raise UserError(
            f"{where}: field 'task_id' must hold a number or text, not {row.get('task_id')!r:.60}"
        )
    form = "text" if "text" in row else "prompt"
    asked, code = text(row, form, where).strip(), text(row, "code", where)
    base = texts(row, "test_list", where)
    more = texts(row, "challenge_test_list", where, default=[])
    setup = [text(row, "test_setup_code", where, default=""), *texts(row, "test_imports", where, default=[])]
    check = check_of([*base, *more], "\n".join(filter(None, setup)), code, where)
    entry = check.function
    task = Task(
        id=f"mbpp/{number}",
        statement=f"{asked}\nYour code should pass this test:\n{base[0] if base else more[0]}",
        signature=_signature(code, entry),
        reference=code,
        check=check,
        source=f"mbpp/{number}",
        metadata={"base_tests": count(base) if entry else len(base), form: row[form]},
    )
    kept = {name: row[name] for name in _KEPT if row.get(name) is not None}
    if not isinstance(row.get("task_id"), int):
        kept["task_id"] = number
    yield with_original(task, row, (*FIELDS, *_KEPT), **kept)


def _signature(code: str, entry: str) -> str:
    try:
        return pysource.signature_of(code, entry) if entry else ""
    except (SyntaxError, ValueError, RecursionError):
        return ""


def _fits(row: Row) -> bool:
    return has(row, code=str, test_list=list) and "task_id" in row and "test" not in row


def _write(task: Task) -> dict[str, Any]:
    kept = original(task)
    if "test_list" not in kept:
        kept |= _tests(task)
    form = "prompt" if "prompt" in task.metadata else "text"
    number = task.id.removeprefix("mbpp/")
    return {
        "task_id": int(number) if number.isdecimal() and "task_id" not in kept else task.id,
        form: task.metadata.get(form, task.statement),
        "code": task.reference,
        **kept,
    }


def _tests(task: Task) -> dict[str, Any]:
    check = task.check.maybe(AssertsCheck)
    if check is None or task.language != "python":
        raise UserError(
            f"task {task.id!r}: MBPP holds Python tasks that assert statements judge, not {task.check.kind}"
        )
    setup, tests = statements(check.code)
    if not tests:
        raise UserError(f"task {task.id!r}: its test code has no assert statement of its own at the top")
    base = int(task.metadata.get("base_tests") or len(tests))
    return {"test_list": tests[:base], "test_setup_code": setup, "challenge_test_list": tests[base:]}


ADAPTER = Adapter(
    name="mbpp",
    about="MBPP (Google), full and sanitised: short functions with asserts",
    read=_read,
    fits=_fits,
    write=_write,
)
