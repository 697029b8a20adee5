"""KodCode and ClassEval: functions and classes that a suite of pytest or unittest judges.

KodCode (CC BY-NC 4.0): data sets KodCode/KodCode-V1 and its kin; Xu et al. 2025, arXiv:2503.02951. Rows: style, subset,
question_id, question, solution, test (pytest, `from solution import NAME`), test_info (a list of objects with
function_name, function_declaration, parameter_list, docstring), gpt_difficulty, and more.

ClassEval (MIT): github.com/FudanSELab/ClassEval; Du et al. 2023, arXiv:2308.01861. Rows: task_id, skeleton, test
(unittest), solution_code, import_statement, class_description, class_name, test_classes, class_constructor, fields,
methods_info.

1. The suite's ids are read from its source; a suite with parametrised tests is left out, and its line says so.
2. The imports of a ClassEval row stand above its solution and its skeleton, and above the tests.
3. Answer and tests run in different processes (docs/formats.md, "pytest suites"): tests that hand over objects of their
   own, or patch what the answer uses, cannot pass.
"""

from collections.abc import Iterator
from typing import Any

from strop.code.python.source import UNPARSABLE, tree_of
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks import mapped_tests
from strop.tasks.adapters import Adapter
from strop.tasks.levels import level_of
from strop.tasks.rows import Row
from strop_formats import solutions
from strop_formats.fields import has, items, text, texts, whole_row, with_original


def _suite(test: str, entry: str, reference: str, where: str) -> Any:
    try:
        tree = tree_of(test)
    except UNPARSABLE as error:
        raise UserError(f"{where}: the tests are no Python: {' '.join(str(error).split())[:100]}") from error
    return mapped_tests.suite(test, tree, entry, where, reference)


def _read_kodcode(row: Row, where: str) -> Iterator[Task]:
    name, solution = text(row, "question_id", where), text(row, "solution", where)
    about = [one for one in items(row, "test_info", where, default=[]) if isinstance(one, dict)]
    named = [str(one["function_name"]) for one in about if one.get("function_name")]
    entry, level = (named or [""])[0], text(row, "gpt_difficulty", where, default="")
    declared = "\n".join(str(one.get("function_declaration") or "") for one in about).strip()
    task = Task(
        id=f"kodcode/{name}",
        statement=text(row, "question", where),
        signature=solutions.signature("", solution, entry) or declared if entry else "",
        reference=solution,
        check=_suite(text(row, "test", where), entry, solution, where),
        topic=text(row, "subset", where, default=""),
        level=level_of(level) or 0,
        source=f"kodcode/{name}",
    )
    yield with_original(task, row, ())


KODCODE = Adapter(
    name="kodcode",
    about="KodCode: questions, solutions and pytest suites",
    read=_read_kodcode,
    fits=lambda row: has(row, question_id=str, question=str, solution=str, test=str),
    write=lambda task: whole_row(task, "test"),
)


def _read_classeval(row: Row, where: str) -> Iterator[Task]:
    name, solution = text(row, "task_id", where), text(row, "solution_code", where)
    skeleton = text(row, "skeleton", where)
    lines = [line for line in texts(row, "import_statement", where, default=[]) if line.strip()]
    above = "".join(f"{line}\n" for line in lines if line not in solution)
    test = "".join(f"{line}\n" for line in lines) + text(row, "test", where)
    whole = above + solution
    task = Task(
        id=name,
        family="exercise",
        statement=text(row, "class_description", where, default="").strip() or f"Write the class {name}.",
        reference=whole,
        check=_suite(test, text(row, "class_name", where, default=""), whole, where),
        source=f"classeval/{name}",
        metadata={"stub": "".join(f"{line}\n" for line in lines if line not in skeleton) + skeleton},
    )
    yield with_original(task, row, ())


CLASSEVAL = Adapter(
    name="classeval",
    about="ClassEval: classes to write, with unittest suites",
    read=_read_classeval,
    fits=lambda row: has(row, task_id=str, skeleton=str, test=str, solution_code=str),
    write=lambda task: whole_row(task, "test"),
)
