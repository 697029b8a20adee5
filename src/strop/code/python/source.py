"""Reading Python source: signatures, and what a function needs to run."""

import ast

from strop.code.python.functions import UNPARSABLE

Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_function(tree: ast.Module, name: str) -> Function | None:
    """The last top-level function of that name, or None."""
    found = [n for n in tree.body if isinstance(n, Function) and n.name == name]
    return found[-1] if found else None


def statements(code: str) -> list[ast.stmt]:
    """The top-level statements of a text; none if it does not parse."""
    try:
        return ast.parse(code).body
    except UNPARSABLE:
        return []


def defined(code: str, *kinds: type[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]) -> list[str]:
    """Names of the top-level definitions of these kinds, in order; none if the text does not parse."""
    return [node.name for node in statements(code) if isinstance(node, kinds)]


def segment(source_lines: list[str], node: ast.stmt) -> str:
    """The source lines of a statement, without its decorators."""
    return "\n".join(source_lines[node.lineno - 1 : node.end_lineno])


def header(source_lines: list[str], node: Function) -> str:
    """`def name(args) -> type:` as written, possibly over several lines."""
    first = node.body[0]
    if first.lineno == node.lineno:  # the body stands behind the colon
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
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return used_names(*targets)


def signature_of(source: str, entry_point: str) -> str:
    """The entry point's header and everything above it, or "" when the source does not define it.

    The source need not have a body after the docstring. Raises SyntaxError when it cannot be parsed.
    """
    node = find_function(ast.parse(source), entry_point)
    if node is None:
        return ""
    lines = source.splitlines()
    above = "\n".join(lines[: node.lineno - 1 - len(node.decorator_list)]).strip("\n")
    return f"{above}\n\n\n{header(lines, node)}" if above else header(lines, node)
