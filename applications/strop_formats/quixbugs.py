"""QuixBugs, Python part (MIT): classic algorithms with one bug each, with the correct version and its tests.

Reference: github.com/jkoppel/QuixBugs; Lin et al. 2017, doi:10.1145/3135932.3135941. Rows: id, name, buggy, correct,
json_cases ([[arguments], expected] each, or null), pytest (the text of a suite, or null), support (path to text).

1. Family `repair`: `metadata.broken` is the buggy program, `reference` the correct one. The statement is what the buggy
   program's docstring says of it, and that there is one bug.
2. JSON cases whose suite compares what the function returns with `==` are a *cases* check. Where the suite does more
   (lists a generator, allows a difference), the suite itself judges, with the cases at hand.
3. The suite is left as it is: the answer is the module that it imports, `conftest.py` says which one it wants, and
   `load_testdata.py` gives the cases, as in the data set's own harness.
4. Classes of support modules (`Node`) are placed above program and reference, because objects of the tests do not cross
   into the answer's process: an answer must keep them. The module's name imports them from the answer.
5. Cases for which the suite skips itself as too slow are left out.
"""

import ast
from collections.abc import Iterator
from typing import Any

from strop.code.python import source as pysource
from strop.code.python.source import UNPARSABLE
from strop.core.checks import Case, CasesCheck, PytestCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_formats.fields import has, items, text
from strop_formats.quixbugs_suite import case_suite, classes_of, is_plain, slow_cases, suite


def _read(row: Row, where: str) -> Iterator[Task]:
    try:
        yield _task(row, where)
    except UNPARSABLE as error:
        raise UserError(f"{where}: program or tests are no Python: {error}") from error


def _task(row: Row, where: str) -> Task:
    name, buggy, correct = (text(row, field, where) for field in ("name", "buggy", "correct"))
    if pysource.find_function(ast.parse(correct), name) is None:
        raise UserError(f"{where}: the correct program does not define {name!r}")
    tests = text(row, "pytest", where, default="")
    cases = _cases(items(row, "json_cases", where, default=[]), where)
    slow = slow_cases(tests)
    cases = [case for case in cases if case[0] not in slow]
    if not cases and not tests.strip():
        raise UserError(f"{where}: the task has no tests: neither json_cases nor pytest")
    support = row.get("support") or {}
    if not isinstance(support, dict) or not all(isinstance(code, str) for code in support.values()):
        raise UserError(f"{where}: field 'support' must map paths to texts")
    above, files = classes_of(support, tests, f"python_programs.{name}")
    check: CasesCheck | PytestCheck
    if cases and is_plain(tests, name, correct):
        check = CasesCheck(entry_point=name, cases=[Case(args=args, expected=value) for args, value in cases])
    elif tests.strip():
        check = suite(name, tests, cases, files)
    else:
        check = case_suite(name, cases)
    return Task(
        id=text(row, "id", where, default="") or f"quixbugs/{name}",
        family="repair",
        statement=_statement(name, buggy),
        signature=above + pysource.signature_of(correct, name),
        reference=above + correct,
        check=check,
        topic="repair",
        source=f"quixbugs/{name}",
        metadata={"broken": above + buggy},
    )


def _cases(rows: list[Any], where: str) -> list[tuple[list[Any], Any]]:
    """(arguments, expected) of each case; one argument that is no list is a list of one, as in the harness."""
    found: list[tuple[list[Any], Any]] = []
    for number, pair in enumerate(rows, start=1):
        if not isinstance(pair, list) or len(pair) != 2:
            raise UserError(f"{where}: json_cases: case {number} is no pair of arguments and expected value")
        found.append((pair[0] if isinstance(pair[0], list) else [pair[0]], pair[1]))
    return found


def _statement(name: str, buggy: str) -> str:
    """The bare strings of the buggy program, and what is asked."""
    notes = [
        node.value.value.strip()
        for node in ast.parse(buggy).body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    asked = f"This program has one bug. Mend it; the function `{name}` must keep its name and arguments."
    return "\n\n".join([*notes, asked])


QUIXBUGS = Adapter(
    name="quixbugs",
    about="QuixBugs, Python part: programs with one bug each",
    read=_read,
    fits=lambda row: has(row, name=str, buggy=str, correct=str) and ("json_cases" in row or "pytest" in row),
    as_json=("json_cases", "support"),
)
