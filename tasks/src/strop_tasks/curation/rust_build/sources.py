"""The prompts of a build: one row at a time from any task source; only the statement is needed.

A row can be read if `columns` names the column of the statement, if it has the fields of AceCode-87K (`id`, `source`,
`question`, `test_cases`), or if it is a Strop task line. Its cases that are plain calls with plain values are kept, to
check the solution at no cost.
"""

import ast
import heapq
import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from strop.tasks import sources
from strop.tasks.rows import Row, suggestion
from strop.tasks.templates import examples
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.ids import content_hash
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Task

_ACECODE = {"id", "source", "question", "test_cases"}
MOST_CHARACTERS = 20_000  # longer statements are dropped without a call


class SourcePrompt(NamedTuple):
    """One prompt of the source."""

    number: int
    """Index in the source, from 0."""
    id: str
    """The row's own id, else a hash of the statement."""
    statement: str
    where: str
    entry_point: str = ""
    cases: tuple[Case, ...] = ()
    """Cases of the function `entry_point`; empty if unknown."""

    @property
    def key(self) -> str:
        """A hash of everything that the result depends on."""
        cases = [case.model_dump() for case in self.cases]
        parts = [self.number, self.id, self.statement, self.where, self.entry_point, cases]
        return content_hash(parts, length=32)


def read(
    source: str, columns: Mapping[str, str], limit: int | None, drawn_by: int | None = None
) -> Iterator[SourcePrompt]:
    """The first `limit` prompts of a source, one row in memory at a time. Raises UserError. With a seed `drawn_by`,
    they are drawn from the whole source, in its order; a larger limit adds to them.
    """
    chosen: set[int] | None = None
    if limit is not None and drawn_by is not None:
        order = random.Random(f"prompts {drawn_by}")
        keys = [(order.random(), number) for number, _ in enumerate(_rows(source, columns))]
        chosen = {number for _, number in heapq.nsmallest(limit, keys)}
    for number, (where, row) in enumerate(_rows(source, columns)):
        if chosen is None and limit is not None and number >= limit:
            return
        if chosen is None or number in chosen:
            yield _prompt(number, where, row, columns)


def _rows(source: str, columns: Mapping[str, str]) -> Iterator[tuple[str, "Row | Task"]]:
    if load := sources.alone(source):
        if columns:
            raise UserError(f"{source!r} takes no column mapping: its tasks are complete")
        for task in load():
            yield task.source, task
        return
    yield from sources.read_rows(source)


def _prompt(number: int, where: str, row: "Row | Task", columns: Mapping[str, str]) -> SourcePrompt:
    if isinstance(row, Task):
        return _from_task(number, where, row)
    if columns:
        for column in columns.values():
            if column not in row:
                raise UserError(f"{where}: no column {column!r}{suggestion(column, list(row))}")
        if "statement" not in columns:
            raise UserError("which column holds the prompt? add --column statement=COLUMN")
        statement, given = row[columns["statement"]], row[columns["id"]] if "id" in columns else None
        return _made(number, where, statement, given)
    if row.keys() >= _ACECODE:
        name, cases = _asserted(row["test_cases"])
        made = _made(number, f"{row['source']}/{row['id']}", row["question"], row["id"])
        return made._replace(entry_point=name, cases=cases)
    if "statement" in row:
        try:
            return _from_task(number, where, Task.model_validate(row))
        except ValueError:
            return _made(number, where, row["statement"], row.get("id"))
    likely = next((name for name in ("prompt", "question", "instruction", "text") if name in row), "COLUMN")
    raise UserError(
        f"{where}: which column holds the prompt? add --column statement={likely} (columns: {', '.join(row)})"
    )


def _made(number: int, where: str, statement: Any, given: Any) -> SourcePrompt:
    if not isinstance(statement, str):
        kind = type(statement).__name__
        raise UserError(f"{where}: the prompt is of type {kind}, not text: name another column")
    return SourcePrompt(number, str(given or content_hash(statement)), statement.strip(), where)


def _from_task(number: int, where: str, task: Task) -> SourcePrompt:
    made = _made(number, task.source or where, _whole_statement(task), task.id)
    check = task.check.maybe(CasesCheck)
    if check is not None and not (check.is_lenient() or check.tolerance):
        return made._replace(entry_point=check.entry_point, cases=tuple(check.cases))
    return made


def _whole_statement(task: Task) -> str:
    """The statement, with the signature and examples that the task's prompts show."""
    parts = [task.statement or task.prompt or ""]
    parts += [f"{title}:\n{text.strip()}" for title, text in (
        ("Signature", task.signature), ("Examples", examples(task))) if text.strip()]  # fmt: skip
    return "\n\n".join(parts)


def _asserted(tests: Any) -> tuple[str, tuple[Case, ...]]:
    """(function, cases) of asserts that compare calls of one function with plain values; ("", ()) if they call several.
    Asserts of another form are skipped.
    """
    texts = (text for text in (tests if isinstance(tests, list) else []) if isinstance(text, str))
    found = [pair for text in texts if (pair := _case(text))]
    names = {name for name, _ in found}
    return (names.pop(), tuple(case for _, case in found)) if len(names) == 1 else ("", ())


def _case(text: str) -> tuple[str, Case] | None:
    try:
        statement = syntax_tree(text.strip()).body[0]
        compared = statement.test if isinstance(statement, ast.Assert) else None
        if not (isinstance(compared, ast.Compare) and len(compared.ops) == 1):
            return None
        call = compared.left
        if not (isinstance(compared.ops[0], ast.Eq | ast.Is) and isinstance(call, ast.Call)):
            return None
        if call.keywords or not isinstance(call.func, ast.Name):
            return None
        values = [ast.literal_eval(node) for node in (*call.args, *compared.comparators)]
        if json.loads(json.dumps(values, allow_nan=False)) != values:
            return None  # JSON has no tuples: their Rust form is not known
    except (ValueError, TypeError, SyntaxError, IndexError, RecursionError, MemoryError):
        return None
    return call.func.id, Case(args=values[:-1], expected=values[-1])
