"""The test code of EvalPlus's Hub rows, read as a syntax tree: inputs, expected values, tolerance. Nothing is run.

The code assigns lists to `inputs` and `results`, in a function `check(candidate)` or at the top, and loops over both;
some problems bring the reference as `ref_func` instead of results. See tools/*/to_original_fmt.py of evalplus.
"""

import ast
from dataclasses import dataclass

from strop.core.errors import UserError

_OURS = ("is_floats", "assertion", "check", "_poly", "_surface_Area", "_digit_distance_nums")


@dataclass(frozen=True)
class EvalPlusTests:
    """What a test code says."""

    entry_point: str
    """The function that the loop calls; `candidate` where it is the argument of `check`."""
    cases: list[tuple[str, str]]
    """Source of the list of arguments and of the expected value, of each test."""
    atol: float
    helpers: str
    """Code that expected values need: `ref_func` and its imports, or nothing."""


def parsed_tests(code: str, where: str) -> EvalPlusTests:
    """The tests of a row's `test`. Raises UserError for code of another form, SyntaxError for what is no Python."""
    tree = ast.parse(code)
    body = next(
        (n.body for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "check"), tree.body
    )
    inputs, results = _assigned(body, "inputs"), _assigned(body, "results")
    loop = next((node for node in body if isinstance(node, ast.For)), None)
    if inputs is None or loop is None:
        raise UserError(f"{where}: field 'test' has no list 'inputs' and a loop over it")
    args = [ast.unparse(item) for item in inputs.elts]
    helpers = ""
    if results is None:
        helpers = _reference(tree)
        expected = [f"ref_func(*{arg})" for arg in args]
        if "def ref_func(" not in helpers:
            raise UserError(f"{where}: field 'test' has neither 'results' nor 'ref_func'")
    else:
        expected = [ast.unparse(item) for item in results.elts]
    if len(args) != len(expected) or not args:
        raise UserError(f"{where}: field 'test' has {len(args)} inputs and {len(expected)} results")
    entry, atol = _call(loop)
    return EvalPlusTests(entry, list(zip(args, expected, strict=True)), atol, helpers)


def _assigned(body: list[ast.stmt], name: str) -> ast.List | None:
    for node in body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.List)
            and ast.unparse(node.targets[0]) == name
        ):
            return node.value
    return None


def _reference(tree: ast.Module) -> str:
    """The top-level code except the comparison, its numpy, inputs and the loop."""
    kept = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in _OURS:
            continue
        if isinstance(node, ast.Assign | ast.For) or "numpy" in ast.unparse(node):
            continue
        kept.append(ast.unparse(node))
    return "\n".join(kept)


def _call(loop: ast.For) -> tuple[str, float]:
    """The called function's name and the last number of the loop's body, which is the tolerance."""
    entry, atol = "", 0.0
    for node in ast.walk(ast.Module(loop.body, [])):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            starred = isinstance(node.args[0], ast.Starred) and ast.unparse(node.args[0].value) == "inp"
            if starred and not node.func.id.startswith("_") and node.func.id != "ref_func":
                entry = node.func.id
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            atol = float(node.value)
    return entry, atol
