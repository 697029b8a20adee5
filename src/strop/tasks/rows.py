"""Turns one row of a data set into a task: Strop's own task lines, and other rows by a column mapping."""

import ast
import json
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from strop.code.python import source as pysource
from strop.core.checks import AssertsCheck, Case, CasesCheck, Check, StdioCase, StdioCheck
from strop.core.errors import UserError
from strop.core.task import Task

Row = Mapping[str, Any]

COLUMNS = (
    "id", "statement", "signature", "reference", "tests", "setup", "entry_point", "prompt", "topic", "level", "language"
)  # fmt: skip
"""What a column mapping may name. `tests` holds assert statements, or a list of them; or cases with `args` and
`expected`; or `stdin` and `stdout` (also called `input` and `output`). `setup` is test code that comes first."""


def suggestion(word: str, known: list[str] | tuple[str, ...]) -> str:
    """ " (did you mean 'x'?)" when a known word is close, else an empty string."""
    close = get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def unknown(what: str, word: str, known: Collection[str]) -> UserError:
    """The error for a word that is none of those known."""
    return UserError(f"unknown {what} {word!r}{suggestion(word, list(known))}: one of {', '.join(known)}")


def own_task(row: Row, where: str) -> Task:
    """The task of one of Strop's task lines. `statement` may be missing where tasks are only verified."""
    fields = tuple(Task.model_fields)
    for key in row:
        if key not in fields:
            hint = (
                suggestion(key, fields) or "; a foreign file needs a column mapping, such as statement=prompt"
            )
            raise UserError(f"{where}: unknown field {key!r}{hint}")
    if "check" not in row:
        raise UserError(f"{where}: the task has no tests: add the field 'check' (see docs/formats.md)")
    return _validated({"statement": "", **row}, where)


def mapped_task(row: Row, columns: Mapping[str, str], where: str) -> Task:
    """The task of a foreign row: `columns` says which of its columns holds which part (see `COLUMNS`)."""
    given: dict[str, Any] = {}
    for name, column in columns.items():
        if column not in row:
            raise UserError(f"{where}: no column {column!r} for {name!r}{suggestion(column, list(row))}")
        given[name] = row[column]
    prompt, reference = str(given.get("prompt") or ""), str(given.get("reference") or "")
    signature = str(given.get("signature") or "")
    tests = _decoded(given.get("tests"))
    setup = _joined(given.get("setup"))
    if not tests:
        raise UserError(f"{where}: the task has no tests: column {columns.get('tests')!r} is empty")
    entry_point = str(given.get("entry_point") or "") or _entry_point(signature, reference, prompt, tests)
    if prompt and reference and entry_point and entry_point not in _defined(reference):
        reference = prompt + reference
    if entry_point and not signature:
        signature = _signature(prompt, entry_point) or _signature(reference, entry_point)
    level = given.get("level")
    fields = {
        "id": str(given.get("id") or ""),
        "statement": str(given.get("statement") or prompt),
        "signature": signature,
        "reference": reference,
        "check": _check(tests, setup, entry_point, where),
        "prompt": prompt or None,
        "topic": str(given.get("topic") or ""),
        "level": level if isinstance(level, int) else 0,
        "language": str(given.get("language") or "python").lower(),
        "source": where,
    }
    return _validated(fields, where)


def check_columns(columns: Mapping[str, str]) -> None:
    """Raises UserError for a mapping that names unknown parts or leaves out the tests."""
    for name in columns:
        if name not in COLUMNS:
            raise unknown("column name", name, COLUMNS)
    if "tests" not in columns:
        raise UserError(
            "the column mapping has no 'tests': add tests=COLUMN, the column that holds the tests"
        )


def _validated(fields: dict[str, Any], where: str) -> Task:
    try:
        task = Task.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        spot = ".".join(str(part) for part in first["loc"]) or "the task"
        value = repr(first.get("input"))
        shown = value if len(value) <= 60 else value[:57] + "..."
        raise UserError(f"{where}: {spot}: {first['msg']} (got {shown})") from error
    except (ValueError, TypeError) as error:
        raise UserError(f"{where}: the task has no id and none can be computed: {error}") from error
    if task.untested:
        raise UserError(f"{where}: the task has no tests: its check is empty")
    return task


def _decoded(tests: Any) -> Any:
    """Tests that were stored as JSON text, as lists or mappings; anything else unchanged."""
    if isinstance(tests, str) and tests.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(tests)
        except ValueError:
            return tests
    return tests


def _joined(code: Any) -> str:
    return "\n".join(map(str, code)) if isinstance(code, list) else str(code or "")


def _check(tests: Any, setup: str, entry_point: str, where: str) -> Check:
    if isinstance(tests, Mapping):  # {"inputs": [...], "outputs": [...]}
        pairs = zip(tests.get("inputs") or [], tests.get("outputs") or [], strict=False)
        tests = [{"stdin": i, "stdout": o} for i, o in pairs]
    if isinstance(tests, list) and tests and all(isinstance(t, Mapping) for t in tests):
        if all("expected" in t for t in tests):
            cases = [
                Case(args=t.get("args", []), kwargs=t.get("kwargs", {}), expected=t["expected"])
                for t in tests
            ]
            return CasesCheck(entry_point=_known(entry_point, where), cases=cases)
        stdio = [(t.get("stdin", t.get("input")), t.get("stdout", t.get("output"))) for t in tests]
        if all(isinstance(i, str) and isinstance(o, str) for i, o in stdio):
            return StdioCheck(cases=[StdioCase(stdin=i, stdout=o) for i, o in stdio])
    if isinstance(tests, str) or (isinstance(tests, list) and all(isinstance(t, str) for t in tests)):
        code = "\n".join(filter(None, [setup, _joined(tests)]))
        name = _known(entry_point, where)
        if "def check(" in code and "\ncheck(" not in code:
            code += f"\ncheck({name})\n"
        return AssertsCheck(entry_point=name, code=code)
    raise UserError(
        f"{where}: tests of an unknown form: wanted assert statements, or cases with args and expected, "
        "or cases with stdin and stdout"
    )


def _known(entry_point: str, where: str) -> str:
    if not entry_point:
        raise UserError(f"{where}: cannot tell which function the tests call: map a column to 'entry_point'")
    return entry_point


def _defined(source: str) -> list[str]:
    return pysource.defined(source, ast.FunctionDef, ast.AsyncFunctionDef)


def _entry_point(signature: str, reference: str, prompt: str, tests: Any) -> str:
    """The function of the signature; else the last one of the reference that the tests name."""
    header = _defined(signature.rstrip() + " ..." if signature else "")
    if header:
        return header[-1]
    text = _joined(tests) if isinstance(tests, str | list) else ""
    names = _defined(prompt + reference) or _defined(reference) or _defined(prompt)
    mentioned = [n for n in names if n in text]
    return (mentioned or names or [""])[-1]


def _signature(source: str, entry_point: str) -> str:
    try:
        return pysource.signature_of(source, entry_point)
    except (SyntaxError, ValueError):
        return ""
