"""LiveCodeBench, code generation: dated contest problems, solved by stdin/stdout programs or functions.

Reference: github.com/LiveCodeBench/LiveCodeBench; Jain et al. 2024, arXiv:2403.07974. Rows: question_title,
question_content, platform, question_id, contest_id, contest_date (ISO), starter_code, difficulty, public_test_cases
(JSON text), private_test_cases (JSON text, possibly packed), metadata (JSON text with func_name). A test is {"input",
"output", "testtype": "stdin" or "functional"}; a functional one has its arguments as one JSON value per line, and its
output as a JSON value.

1. Public tests come first and are shown; `metadata.base_tests` counts them.
2. The day of `contest_date` is `metadata.date`, for windows by date.
3. As in the original harness (lcb_runner/evaluation/testing_util.py), lines are compared without white space at both
   ends, and lines that are all numbers as decimals: `CHECKER`.
4. A function is found by its name, or as a method of the answer's class `Solution`.
5. As in that harness, the site's imports precede every answer, and the recursion limit is 50,000: `PREAMBLE`. So the
   signature is the starter code with the `typing` imports that it shows; an answer need not repeat them.
"""

import base64
import binascii
import pickletools
from collections.abc import Iterator, Mapping
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.row_limits import inflate, parse_json
from strop.tasks.rows import Row, decoded
from strop_tasks.formats.fields import date_of, has, text
from strop_tasks.formats.solutions import starter_signature
from strop_verify.core.checks import Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

_IMPORTED = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics", "itertools",
    "functools", "operator", "io", "sys", "json", "builtins", "typing",
)  # fmt: skip
"""Modules whose names the harness imports, in its order: for a repeated name the later import wins."""
_BY_NAME = sorted({*_IMPORTED, "time"} - {"builtins", "typing"})
PREAMBLE = "".join(
    [
        *(f"from {name} import *\n" for name in _IMPORTED),
        *(f"import {name}\n" for name in _BY_NAME),
        "sys.setrecursionlimit(50000)\n",
    ]
)
"""Put above an answer, as in the original harness."""
CHECKER = """\
from decimal import Decimal, InvalidOperation


def _decimals(line):
    try:
        return [Decimal(word) for word in line.split()]
    except InvalidOperation:
        return None


def _same(given, wanted):
    if given == wanted:
        return True
    numbers = _decimals(given)
    return numbers is not None and numbers == _decimals(wanted)


def check(stdin, expected, output):
    given, wanted = ([line.strip() for line in text.strip().split("\\n")] for text in (output, expected))
    return len(given) == len(wanted) and all(map(_same, given, wanted))
"""
"""Compares what a program prints, as the original harness does."""
LEVELS = {"easy": 2, "medium": 3, "hard": 4}


def _read(row: Row, where: str) -> Iterator[Task]:
    public = _tests(decoded(row, "public_test_cases", where), f"{where}: public_test_cases")
    private = _private(row, where)
    about = decoded(row, "metadata", where) or {}
    if not isinstance(about, Mapping):
        raise UserError(f"{where}: metadata must be an object, not {type(about).__name__}")
    tests = [(test, True) for test in public] + [(test, False) for test in private]
    if not tests:
        raise UserError(f"{where}: the task has no tests: public and private ones are empty")
    kinds = {test["testtype"] for test, _ in tests}
    if len(kinds) > 1 or not kinds <= {"stdin", "functional"}:
        raise UserError(
            f"{where}: testtype must be 'stdin' or 'functional' throughout, not {', '.join(sorted(kinds))}"
        )
    title, starter, level = (
        text(row, name, where, default="") for name in ("question_title", "starter_code", "difficulty")
    )
    check: StdioCheck | CasesCheck
    if kinds == {"stdin"}:
        cases = [StdioCase(stdin=t["input"], stdout=t["output"], shown=shown) for t, shown in tests]
        check = StdioCheck(cases=cases, checker=CHECKER, preamble=PREAMBLE)
    else:
        check = _functional(tests, about, where)
    yield Task(
        id=text(row, "question_id", where),
        family="program" if kinds == {"stdin"} else "function",
        statement=text(row, "question_content", where),
        signature=starter_signature(starter),
        check=check,
        topic=level,
        level=LEVELS.get(level, 0),
        source=f"livecodebench/{row['question_id']}",
        metadata={"title": title, "base_tests": len(public), **date_of(row.get("contest_date"))},
    )


def _private(row: Row, where: str) -> list[dict[str, str]]:
    value = row.get("private_test_cases")
    if isinstance(value, str) and value.strip() and value.lstrip()[:1] != "[":
        value = parse_json(unpacked(value, where), f"{where}: private_test_cases")
    else:
        value = decoded(row, "private_test_cases", where)
    return _tests(value, f"{where}: private_test_cases")


def _tests(value: Any, where: str) -> list[dict[str, str]]:
    if not isinstance(value, list | None):
        raise UserError(f"{where}: must be a list of tests, not {type(value).__name__}")
    for number, test in enumerate(value or [], start=1):
        if not isinstance(test, Mapping) or not all(
            isinstance(test.get(name), str) for name in ("input", "output", "testtype")
        ):
            raise UserError(f"{where}: test {number} needs input, output and testtype, all of them strings")
    return [{name: test[name] for name in ("input", "output", "testtype")} for test in value or []]


def _functional(tests: list[tuple[dict[str, str], bool]], about: Mapping[str, Any], where: str) -> CasesCheck:
    name = about.get("func_name")
    if not isinstance(name, str) or not name.isidentifier():
        raise UserError(
            f"{where}: functional tests need the function's name in metadata.func_name, not {name!r}"
        )
    cases = []
    for number, (test, shown) in enumerate(tests, start=1):
        spot = f"{where}: functional test {number}"
        args = [parse_json(line, spot) for line in test["input"].split("\n") if line.strip()]
        cases.append(Case(args=args, expected=parse_json(test["output"], spot), shown=shown))
    return CasesCheck(entry_point=name, cases=cases, preamble=PREAMBLE)


LIVECODEBENCH = Adapter(
    name="livecodebench",
    about="LiveCodeBench code generation: contest problems with dates, private tests packed",
    read=_read,
    fits=lambda row: (
        has(row, question_content=str, question_id=str, contest_date=object) and "private_test_cases" in row
    ),
)


_ALLOWED = {
    "PROTO", "FRAME", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "MEMOIZE", "BINPUT", "LONG_BINPUT", "STOP",
}  # fmt: skip
"""Operations in the pickle of one string."""


def unpacked(packed: str, where: str) -> str:
    """The JSON text in base64(zlib(pickle(text))), within limits; the pickle is never executed. Raises UserError."""
    try:
        data = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UserError(f"{where}: private_test_cases is neither JSON nor base64: {error}") from error
    raw = inflate(data, f"{where}: private_test_cases")
    found: list[str] = []
    try:
        for operation, argument, _ in pickletools.genops(raw):
            if operation.name not in _ALLOWED:
                raise ValueError(f"operation {operation.name} does not belong to the pickle of a string")
            if isinstance(argument, str):
                found.append(argument)
    except (ValueError, IndexError, OverflowError, MemoryError) as error:
        cause = " ".join(str(error).split())[:200]
        raise UserError(f"{where}: private_test_cases: the pickle is refused: {cause}") from error
    if len(found) != 1:
        raise UserError(
            f"{where}: private_test_cases: the pickle is refused: it holds {len(found)} texts, not one"
        )
    return found[0]
