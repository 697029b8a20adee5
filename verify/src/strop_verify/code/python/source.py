"""Reading Python source by its syntax tree: functions, signatures, names, and what a function needs to run."""

import ast
import builtins
import contextlib
import io
import re
import symtable
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from strop_verify.core.syntax import syntax_tree

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of statements that hold statements."""


class Unreadable(Exception):
    """The text cannot be used as source of a task; the message is one of a few fixed reasons."""


@dataclass(frozen=True)
class PythonFunction:
    """One function of a file; lines count from 1."""

    node: Function
    name: str
    qualified_name: str
    """The name with enclosing classes and functions: `Stack.push`."""
    outermost: bool
    """Whether it is not nested in a function."""

    @property
    def docstring(self) -> str:
        """As `inspect.getdoc` shows it; empty = none."""
        return ast.get_docstring(self.node) or ""

    @property
    def first(self) -> int:
        """First line, decorators included."""
        return min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])

    @property
    def last(self) -> int:
        """Its last line."""
        return self.node.end_lineno or self.node.lineno


UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Exceptions of `ast.parse` and `compile`."""


def tree_of(text: str | bytes) -> ast.Module:
    """The syntax tree of a source text, without warnings. Raises one of `UNPARSABLE`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return syntax_tree(text)


def parse(text: str) -> ast.Module:
    """The syntax tree of a source text.

    Raises Unreadable for syntax errors, too deep nesting, and line ends that Python and editors count differently
    (a `\\r` without `\\n`).
    """
    if re.search(r"\r(?!\n)", text):
        raise Unreadable("a lone carriage return")
    try:
        return tree_of(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError) as error:
        raise Unreadable("syntax error") from error
    except (RecursionError, MemoryError) as error:
        raise Unreadable("too deep") from error


def functions(tree: ast.Module) -> list[PythonFunction]:
    """Every function in file order, methods and nested ones included."""
    return sorted(_found(tree), key=lambda f: (f.first, f.node.col_offset))


def _found(tree: ast.Module) -> Iterator[PythonFunction]:
    stack: list[tuple[ast.AST, str, bool]] = [(tree, "", True)]
    while stack:
        node, scope, outermost = stack.pop()
        if isinstance(node, Function):
            yield PythonFunction(node, node.name, scope + node.name, outermost)
            outermost = False
        inner = scope + node.name + "." if isinstance(node, Function | ast.ClassDef) else scope
        stack += [(child, inner, outermost) for name in _BLOCKS for child in getattr(node, name, ())]


def find_function(tree: ast.Module, name: str) -> Function | None:
    """The last top-level function of that name, or None."""
    found = [n for n in tree.body if isinstance(n, Function) and n.name == name]
    return found[-1] if found else None


def module_of(code: str | bytes) -> ast.Module:
    """The syntax tree of a text; an empty one if it does not parse."""
    try:
        return tree_of(code)
    except UNPARSABLE:
        return ast.Module([], [])


def statements(code: str) -> list[ast.stmt]:
    """The top-level statements of a text; none if it does not parse."""
    return module_of(code).body


def defined(code: str, *kinds: type[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]) -> list[str]:
    """Names of the top-level definitions of these kinds, in order; none if the text does not parse."""
    return [node.name for node in statements(code) if isinstance(node, kinds)]


def lines_of(source: str) -> list[str]:
    """The lines as Python counts them, without their ends: a form feed or U+2028 ends none."""
    return io.StringIO(source, newline=None).read().split("\n")


def segment(source_lines: list[str], node: ast.stmt) -> str:
    """The source lines of a statement, without its decorators."""
    return "\n".join(source_lines[node.lineno - 1 : node.end_lineno])


def header(source_lines: list[str], node: Function) -> str:
    """`def name(args) -> type:` as written, possibly over several lines."""
    first = node.body[0]
    if first.lineno == node.lineno:  # the body follows the colon
        return source_lines[node.lineno - 1][: first.col_offset].rstrip()
    lines = source_lines[node.lineno - 1 : first.lineno - 1]
    while len(lines) > 1 and not lines[-1].split("#")[0].rstrip().endswith(":"):
        lines.pop()  # comments and blank lines between the colon and the body
    return "\n".join(lines)


def used_names(*nodes: ast.AST | None) -> set[str]:
    """Every name that the nodes mention."""
    return {n.id for node in nodes if node is not None for n in ast.walk(node) if isinstance(n, ast.Name)}


def bound_names(node: ast.stmt) -> set[str]:
    """The names that a top-level import, assignment, function or class binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    if isinstance(node, Function | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return used_names(*node.targets)
    return used_names(node.target) if isinstance(node, ast.AnnAssign) else set()


def made_names(text: str) -> set[str]:
    """Names that a text makes at its top level, imports aside; for a class `Solution` also those of its methods.

    Raises one of `UNPARSABLE`.
    """
    table = symtable.symtable(text, "<text>", "exec")
    names = {s.get_name() for s in table.get_symbols() if s.is_assigned()}
    for node in tree_of(text).body:
        if isinstance(node, ast.ClassDef) and node.name == "Solution":
            names |= {inner.name for inner in node.body if isinstance(inner, Function)}
    return names


def missing_names(text: str) -> set[str]:
    """Names that a text uses and that neither it nor Python's builtins define. Raises one of `UNPARSABLE`."""
    used: set[str] = set()
    bound = set(dir(builtins))
    tables = [symtable.symtable(text, "<text>", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (top or symbol.is_global()):
                used.add(symbol.get_name())
            if (symbol.is_assigned() or symbol.is_imported()) and (top or symbol.is_declared_global()):
                bound.add(symbol.get_name())
    return used - bound


def below(preamble: str, code: str) -> str:
    """The code with the preamble above it; see `under`."""
    return _above(preamble.rstrip(), code) if preamble else code


def under(head: str, code: str) -> str:
    """The head above the code; imports from `__future__`, which must come first, stay above both."""
    return _above(f"{head}\n\n", code)


def _above(text: str, code: str) -> str:
    future = [
        node.end_lineno or node.lineno
        for node in (statements(code) if "__future__" in code else [])
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    lines, at = code.split("\n"), future[-1] if future else 0
    return "\n".join([*lines[:at], text, *lines[at:]])


def signature_of(source: str, entry_point: str) -> str:
    """The entry point's header and everything above it, or "" when the source does not define it.

    The source need not have a body after the docstring. Raises SyntaxError when it cannot be parsed.
    """
    node = find_function(syntax_tree(source), entry_point)
    if node is None:
        return ""
    lines = lines_of(source)
    above = "\n".join(lines[: node.lineno - 1 - len(node.decorator_list)]).strip("\n")
    return f"{above}\n\n\n{header(lines, node)}" if above else header(lines, node)


def statement_ends(text: str) -> list[int]:
    """Offsets after the line break of each statement, or of the line that begins a compound one; as far as the text can
    be read as Python.
    """
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found: list[int] = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                found.append(min(len(text), starts[token.end[0] - 1] + token.end[1]))
    return found
