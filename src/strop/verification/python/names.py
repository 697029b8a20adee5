"""Names that trusted test code binds at its top, which no name of an answer may hide. Standard library only."""

import ast


def bound_names(body: list[ast.stmt]) -> set[str]:
    """Names that the statements may bind outside functions and classes."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        waiting += ast.iter_child_nodes(node)
    return names
