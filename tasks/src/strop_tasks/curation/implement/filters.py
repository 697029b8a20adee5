"""Which functions make tasks: the published filters, one function each, and one additional filter.

Source: CodeRepairRL (ASSERT-KTH), `src/data/stack.py`, the program that made the data set stack-smol-docstrings. The
data set's description leaves these terms open; here they mean what that program does:

1. "docstring >= 50 characters": of the docstring without its indentation (`ast.get_docstring`); 40 of them must remain
   without quotes and blanks at both ends.
2. ">= 2 lines": lines that are not blank.
3. "boilerplate": the four texts anywhere in the docstring, upper and lower case as written.
4. "Args/Returns-like section": `Args:`, `Arguments:`, `Parameters:`, `Params:`, `Returns:`, `Yields:`, `Raises:` or the
   word `Example`, anywhere, in any case; so NumPy's underlined headings do not count.
5. ">= 3 sentences": pieces between `.`, `!` and `?` with more than 10 characters.
6. "no properties": the decorator `property` by that name alone; no setters, no `cached_property`, no `async def`.
7. "no bodies of <= 2 statements": statements directly in the body, the docstring counted; `async def` is ignored.
8. "SQL strings": one of 12 words anywhere in any string of the function, in any case, also as a part of a word. The
   docstring is such a string: one that says "from" or "selected" is rejected.
9. "> 15 variables": different names that are positional parameters, or bound by `=` (also in a tuple or list, one
   level), by an annotated assignment, or as the only name of a `for` or `with`; nested functions are included. Not
   counted: `*args`, keyword-only parameters, `+=`, `:=`, comprehensions, `except`, `async for` and `async with`.
10. "< 4 statements without control flow": statements directly in the body, the docstring counted, and none of them an
    `if`, `for` or `while`.

`sql-statement` is an addition that replaces `sql` in the set "sound": it ignores the docstring, and a string is SQL
when it begins with an SQL statement. The filters run in their order; the first that rejects gives the reason.
"""

import ast
import re
from collections.abc import Callable, Iterator

from strop.tasks.rows import suggestion
from strop_verify.code.python.source import PythonFunction
from strop_verify.core.errors import UserError

Filter = Callable[[PythonFunction], bool]  # whether a function is kept

SHORTEST_DOCSTRING, SHORTEST_CONTENT, FEWEST_LINES = 50, 40, 2
BOILERPLATE = ("# noqa", ":rtype:", "Gets the", "Sets the")
SENTENCES, LONGER_THAN = 3, 10
MOST_VARIABLES = 15
SQL_WORDS = (
    "SELECT", "FROM", "WHERE", "JOIN", "GROUP BY", "ORDER BY", "HAVING", "UNION", "INSERT", "UPDATE", "DELETE",
    "CREATE TABLE",
)  # fmt: skip
_SECTION = re.compile("(?:args|arguments|parameters|params|returns|yields|raises):|example", re.IGNORECASE)
_SQL_STATEMENT = re.compile(
    r"\s*(?:select\b.+\bfrom\b|insert\s+into\b|update\b.+\bset\b|delete\s+from\b|(?:create|alter|drop)\s+table\b"
    r"|with\b.+\bas\s*\(\s*select\b)",
    re.IGNORECASE | re.DOTALL,
)


def _long_docstring(function: PythonFunction) -> bool:
    text = function.docstring
    return len(text) >= SHORTEST_DOCSTRING and len(text.strip("\"' \t\n")) >= SHORTEST_CONTENT


def _no_property(function: PythonFunction) -> bool:
    node = function.node
    return isinstance(node, ast.AsyncFunctionDef) or not any(
        isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in node.decorator_list
    )


def _describes(function: PythonFunction) -> bool:
    pieces = re.split("[.!?]", function.docstring)
    sentences = sum(len(piece.strip()) > LONGER_THAN for piece in pieces)
    return sentences >= SENTENCES or _SECTION.search(function.docstring) is not None


def _no_sql_statement(function: PythonFunction) -> bool:
    body = function.node.body[bool(function.docstring) :]
    return not any(_SQL_STATEMENT.match(text) for statement in body for text in _strings(statement))


def _few_variables(function: PythonFunction) -> bool:
    bound = {name for node in ast.walk(function.node) for name in _bound(node)}
    return len(bound | {arg.arg for arg in function.node.args.args}) <= MOST_VARIABLES


def _not_simple(function: PythonFunction) -> bool:
    body = function.node.body
    return len(body) >= 4 or any(isinstance(statement, ast.If | ast.For | ast.While) for statement in body)


FILTERS: dict[str, Filter] = {
    "docstring-length": _long_docstring,
    "docstring-lines": lambda f: sum(bool(line.strip()) for line in f.docstring.split("\n")) >= FEWEST_LINES,
    "boilerplate": lambda f: not any(text in f.docstring for text in BOILERPLATE),
    "property": _no_property,
    "short-body": lambda f: isinstance(f.node, ast.AsyncFunctionDef) or len(f.node.body) > 2,
    "undescribed": _describes,
    "sql": lambda f: not any(word in text.upper() for text in _strings(f.node) for word in SQL_WORDS),
    "sql-statement": _no_sql_statement,
    "variables": _few_variables,
    "simple": _not_simple,
}
"""The filters by name, in the order in which they run."""

SETS: dict[str, list[str]] = {
    "published": [name for name in FILTERS if name != "sql-statement"],
    "sound": [name for name in FILTERS if name != "sql"],
    "none": [],
}


def chosen(text: str) -> list[str]:
    """The filters in a text: the name of a set, or names of filters separated by commas. Raises UserError."""
    if text in SETS:
        return SETS[text]
    named = [word.strip() for word in text.split(",")]
    for name in named:
        if name not in FILTERS:
            known = [*SETS, *FILTERS]
            raise UserError(
                f"unknown filter {name!r}{suggestion(name, known)}: there are {', '.join(FILTERS)}, "
                f"and the sets {', '.join(SETS)}"
            )
    return [name for name in FILTERS if name in named]


def _strings(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds, of those that filter 9 counts."""
    targets: list[ast.expr | None] = []
    if isinstance(node, ast.Assign):
        for target in node.targets:
            targets += target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    elif isinstance(node, ast.AnnAssign | ast.For):
        targets = [node.target]
    elif isinstance(node, ast.With):
        targets = [item.optional_vars for item in node.items]
    yield from (target.id for target in targets if isinstance(target, ast.Name))
