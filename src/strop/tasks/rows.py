"""Turns a row of a data set into a task: Strop's own task lines, and other rows through a column mapping."""

import ast
import json
import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from strop.tasks import mapped_tests
from strop.tasks.row_limits import parse_json
from strop_verify.code.python import source as pysource
from strop_verify.core.checks import CHECKS, Case, CommandStep, StdioCase
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task, language_named

Row = Mapping[str, Any]

COLUMNS = (
    "id", "statement", "signature", "reference", "tests", "setup", "entry_point", "prompt", "topic", "level", "language"
)  # fmt: skip
"""Parts of a task that a column mapping may name. `tests` holds assert statements, or a list of them; or cases with
`args` and `expected`, or with `stdin` and `stdout` (also called `input` and `output`); or a unittest or pytest suite.
`setup` is test code that comes first. `level` is 0 to 5 or a word (see `LEVELS`)."""
LEVELS = {
    1: "trivial, very easy, very_easy, beginner, school, basic, 8 kyu, 7 kyu",
    2: "easy, introductory, intro, simple, low, novice, 6 kyu",
    3: "medium, moderate, normal, interview, intermediate, mid, 5 kyu",
    4: "hard, difficult, medium_hard, medium hard, competition, advanced, high, 4 kyu",
    5: "very hard, very_hard, expert, extreme, insane, challenge, 3 kyu, 2 kyu, 1 kyu",
}
"""Levels of difficulty, 1 to 5, and the words for them in data sets and on sites."""
_LEVEL_OF = {word: level for level, words in LEVELS.items() for word in words.split(", ")}


def level_of(value: Any) -> int | None:
    """The level of a number 0 to 5, of its text, or of a word in any case; 0 if missing, None for anything else."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return 0
    if isinstance(value, str):
        text = value.strip().casefold()
        if (known := _LEVEL_OF.get(text)) is not None:
            return known
        try:
            value = float(text)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(6):
        return None
    return int(value)


def suggestion(word: str, known: list[str] | tuple[str, ...]) -> str:
    """ " (did you mean 'x'?)" if a known word is close, else an empty string."""
    close = get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def unknown(what: str, word: str, known: Collection[str]) -> UserError:
    """The error for a word that is not among the known ones."""
    return UserError(f"unknown {what} {word!r}{suggestion(word, list(known))}: one of {', '.join(known)}")


def own_task(row: Row, where: str) -> Task:
    """The task of one of Strop's task lines. `statement` may be missing if tasks are only verified."""
    fields = tuple(Task.model_fields)
    for key in row:
        if key not in fields:
            hint = (
                suggestion(key, fields)
                or "; of a foreign file say the columns: -c statement=COLUMN -c tests=COLUMN (docs/data-sets.md)"
            )
            raise UserError(f"{where}: unknown field {key!r}{hint}")
    if "check" not in row:
        raise UserError(f"{where}: the task has no tests: add the field 'check' (see docs/formats.md)")
    return _validated({"statement": "", **row}, where)


def mapped_task(row: Row, columns: Mapping[str, str], where: str) -> Task:
    """The task of a foreign row: `columns` maps parts of the task (see `COLUMNS`) to its columns."""
    given: dict[str, Any] = {}
    for name, column in columns.items():
        given[name] = _cell(row, name, column, where)
    prompt, reference = str(given.get("prompt") or ""), str(given.get("reference") or "")
    signature = str(given.get("signature") or "")
    tests = mapped_tests.decoded(given.get("tests"))
    setup = mapped_tests.joined(given.get("setup"))
    if not tests:
        raise UserError(f"{where}: the task has no tests: column {columns.get('tests')!r} is empty")
    entry_point = str(given.get("entry_point") or "") or _entry_point(signature, reference, prompt, tests)
    if prompt and reference and entry_point and entry_point not in _defined(reference):
        reference = prompt + reference
    if entry_point and not signature:
        signature = _signature(prompt, entry_point) or _signature(reference, entry_point)
    language = language_named(str(given.get("language") or "python"))
    level, starter = level_of(given.get("level")), str(given.get("signature") or "")
    fields = {
        "id": str(given.get("id") or ""),
        "statement": str(given.get("statement") or prompt),
        "signature": signature,
        "reference": reference,
        "check": mapped_tests.check_of(
            tests, setup, entry_point, where, language=language, reference=reference, starter=starter
        ),
        "prompt": prompt or None,
        "topic": str(given.get("topic") or ""),
        "level": given["level"] if level is None and not isinstance(given["level"], str) else level or 0,
        "language": language,
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
        raise UserError(f"{where}: {_fault(error)}") from error
    except (ValueError, TypeError) as error:
        raise UserError(f"{where}: the task has no id and none can be computed: {error}") from error
    if task.untested:
        raise UserError(f"{where}: the task has no tests: its check is empty")
    return task


_PARTS: dict[str, list[type[BaseModel]]] = {"cases": [Case], "stdio": [StdioCase], "command": [CommandStep]}
"""{kind of check: classes of the items in its lists}."""


def _fault(error: ValidationError) -> str:
    """One line about an invalid task; an unknown key comes first, because it may be a misspelt missing one."""
    found = error.errors()
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    place = [str(part) for part in first["loc"]]
    owners: list[type[BaseModel]] = [Task]
    if (
        place[0] == "check" and len(place) > 2 and place[1] in CHECKS
    ):  # pydantic's location names the kind of a built-in check, but not of one that a package adds
        kind = place.pop(1)
        owners = [CHECKS[kind], *_PARTS.get(kind, ())]
    if first["type"] == "extra_forbidden":
        known = [key for owner in owners for key in owner.model_fields]
        return f"{'.'.join(place)}: unknown key{suggestion(place[-1], known)}"
    value = repr(first.get("input"))
    shown = value if len(value) <= 60 else value[:57] + "..."
    text = "needs a value" if first["type"] == "missing" else f"{first['msg']} (got {shown})"
    return f"{'.'.join(place) or 'the task'}: {text}"


def _cell(row: Row, name: str, column: str, where: str) -> Any:
    """A column's value; for `A+B`, unless a column has that name, the texts of both below each other."""
    if column in row:
        return row[column]
    several = [part.strip() for part in column.split("+")]
    for part in several:
        if part not in row:
            raise UserError(f"{where}: no column {part!r} for {name!r}{suggestion(part, list(row))}")
    return "\n".join(str(row[part]) for part in several if row[part])


def _defined(source: str) -> list[str]:
    return pysource.defined(source, ast.FunctionDef, ast.AsyncFunctionDef)


def _entry_point(signature: str, reference: str, prompt: str, tests: Any) -> str:
    """The function of the signature, else the last of the reference that the tests mention, else their most called."""
    header = _defined(signature.rstrip() + " ..." if signature else "")
    if header:
        return header[-1]
    text = mapped_tests.joined(tests) if isinstance(tests, str | list) else ""
    names = _defined(prompt + reference) or _defined(reference) or _defined(prompt)
    mentioned = [n for n in names if n in text]
    return (mentioned or names or [mapped_tests.called_most(text)])[-1]


def _signature(source: str, entry_point: str) -> str:
    try:
        return pysource.signature_of(source, entry_point)
    except (SyntaxError, ValueError):
        return ""


def counted(name: str, rest: str, default: int, most: int) -> tuple[int, int]:
    """(count, seed) of a source `NAME:COUNT[@SEED]`; by default `default` and 0. Raises UserError."""
    found = re.fullmatch(r"(\d{1,9})(?:@(\d{1,18}))?", rest or str(default), re.ASCII)
    if not found:
        raise UserError(f"bad task source {f'{name}:{rest}'!r}: write {name}:COUNT or {name}:COUNT@SEED")
    count = int(found[1])
    if not 1 <= count <= most:
        raise UserError(f"bad task source '{name}:{rest}': COUNT is {count}; it must be 1 to {most}")
    return count, int(found[2] or 0)


def decoded(row: Row, name: str, where: str) -> Any:
    """The value of a field that holds it directly or as JSON text; None if missing or blank. Raises UserError."""
    value = row.get(name)
    if isinstance(value, str):
        return parse_json(value, f"{where}: field {name!r}") if value.strip() else None
    return value


def plain(value: Any) -> Any:
    """The value after a round trip through JSON."""
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (ValueError, RecursionError):
        return str(value)
