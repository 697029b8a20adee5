"""The published filters written a second time, from their description, with nothing shared with the first."""

import ast
import inspect
import re

WORDS = "SELECT|FROM|WHERE|JOIN|GROUP BY|ORDER BY|HAVING|UNION|INSERT|UPDATE|DELETE|CREATE TABLE"


class Variables(ast.NodeVisitor):
    """Names that count as variables."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            for one in getattr(target, "elts", [target]):
                self.names += [one.id] if type(one) is ast.Name else []
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign | ast.For) -> None:
        if type(node.target) is ast.Name:
            self.names.append(node.target.id)
        self.generic_visit(node)

    visit_For = visit_AnnAssign

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if type(item.optional_vars) is ast.Name:
                self.names.append(item.optional_vars.id)
        self.generic_visit(node)


def refused(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The first filter that refuses a function; "" = it stays, "none" = it has no docstring."""
    text = inspect.cleandoc(node.body[0].value.value) if ast.get_docstring(node, clean=False) else ""
    if not text:
        return "none"
    if len(text) < 50 or len(re.sub("^[\"' \t\n]+|[\"' \t\n]+$", "", text)) < 40:
        return "docstring-length"
    if len([line for line in text.split("\n") if line.split()]) < 2:
        return "docstring-lines"
    if re.search("# noqa|:rtype:|Gets the|Sets the", text):
        return "boilerplate"
    if type(node) is ast.FunctionDef:
        if "property" in [ast.unparse(decorator) for decorator in node.decorator_list]:
            return "property"
        if len(node.body) in (1, 2):
            return "short-body"
    low = text.lower()
    headings = ("args:", "arguments:", "parameters:", "params:", "returns:", "yields:", "raises:", "example")
    pieces = [piece for piece in re.findall("[^.!?]+", text) if len(piece.strip()) >= 11]
    if not any(heading in low for heading in headings) and len(pieces) < 3:
        return "undescribed"
    for inner in ast.walk(node):
        if type(inner) is ast.Constant and type(inner.value) is str and re.search(WORDS, inner.value.upper()):
            return "sql"
    visitor = Variables()
    visitor.visit(node)
    if len({*visitor.names, *(arg.arg for arg in node.args.args)}) >= 16:
        return "variables"
    flow = {type(statement) for statement in node.body} & {ast.If, ast.For, ast.While}
    return "simple" if len(node.body) in (1, 2, 3) and not flow else ""
