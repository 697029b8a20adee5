"""EvalPlus's tests: those of the Hub's rows, read as a syntax tree without being run, and the rules of comparison.

A row's test code assigns lists to `inputs` and `results`, in a function `check(candidate)` or at the top, and loops
over both; some problems have the reference as `ref_func` instead of results (tools/*/to_original_fmt.py of evalplus).

The rules are test code of the standard library alone, as in evalplus/eval/__init__.py of github.com/evalplus/evalplus
(`unsafe_execute`): equal values agree. Else, with an absolute tolerance (1e-6 where the expected value is floats and
none is set), values of the same type agree when each number differs by at most `atol` + 1e-7 of the expected one. Some
problems have their own rules, by entry point. Deviation: a test's tolerance does not stay for those after it.
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
        match node:
            case ast.Assign([ast.Name(target), *_], ast.List() as value) if target == name:
                return value
    return None


def _reference(tree: ast.Module) -> str:
    """The top-level code except the comparison, its numpy, inputs and the loop."""
    body = [node for node in tree.body if not isinstance(node, ast.Assign | ast.For)]
    kept = [n for n in body if not (isinstance(n, ast.FunctionDef) and n.name in _OURS)]
    return "\n".join(code for code in map(ast.unparse, kept) if "numpy" not in code)


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


_SETS = (
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum", "intersection_array",
    "find_dissimilar", "Diff",
)  # fmt: skip
_PRESENCE = ("check_str", "text_match_three", "text_starta_endb")

_CLOSE = """\
def floats(value):
    if isinstance(value, (list, tuple)) and value:
        return all(isinstance(item, float) for item in value)
    return isinstance(value, float)


def close(out, expected, atol):
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(out, (list, tuple))
            and len(out) == len(expected)
            and all(close(o, e, atol) for o, e in zip(out, expected))
        )
    if not isinstance(out, (int, float, complex)) or not isinstance(expected, (int, float, complex)):
        return False
    return out == expected or abs(out - expected) <= atol + 1e-7 * abs(expected)
"""
_RULES = {
    "are_equivalent": "same = True",
    "sum_div": "same = out == expected or out == 0",
    "surface_Area": "same = out == expected or abs(out - surface(*args)) <= ATOL",
    "digit_distance_nums": "same = out == expected or out == distance(*args)",
    **dict.fromkeys(_SETS, "same = set(out) == set(expected)"),
    **dict.fromkeys(
        _PRESENCE, "same = out == expected if isinstance(out, bool) else expected == (out is not None)"
    ),
}
_HELPERS = {
    "surface_Area": """\
def surface(edge, height):
    slant = math.sqrt((edge / 2) ** 2 + height**2)
    return round(edge**2 + 2 * edge * slant)


""",
    "digit_distance_nums": """\
def distance(first, second):
    width = max(len(str(first)), len(str(second)))
    pairs = zip(str(first).zfill(width), str(second).zfill(width))
    return sum(abs(int(a) - int(b)) for a, b in pairs)


""",
}


def preamble(entry: str, atol: float, *, solution: str = "", extra: str = "") -> str:
    """Test code up to the first test: `strop_agrees(function, args)`, and `expected` where there is no `solution`.

    extra  the tests' own code that expected values need. Raises UserError for tests that need numpy.
    The rules have their own namespace: an entry point may be named like a builtin (`sum`) or like one of ours.
    """
    if "numpy" in extra:
        raise UserError("the tests need numpy, which test code does not have")
    expected = "expected" if not solution else "solution(*deepcopy(args))"
    if solution and entry in _PRESENCE:  # all that counts is whether something comes back
        expected += " is not None"
    signature = "function, args, expected" if not solution else "function, args"
    if entry == "find_zero":
        judge = _find_zero(signature, atol)
    else:
        judge = _agrees(signature, expected, _RULES.get(entry, "same = out == expected"), atol)
    rules = "import math\nfrom copy import deepcopy\n\n\n" + _HELPERS.get(entry, "") + f"{_CLOSE}\n\n{judge}"
    parts = [
        "from math import inf, nan\n",
        *([extra] if extra else []),
        "strop_rules = {'__name__': 'rules'}",
    ]
    if solution:
        parts.append(f"strop_reference = {{'__name__': 'reference'}}\nexec({solution!r}, strop_reference)")
        parts.append(f"strop_rules['solution'] = strop_reference[{entry!r}]")
    parts.append(f"exec('''\\\n{rules}''', strop_rules)\nstrop_agrees = strop_rules['agrees']\n")
    return "\n".join(parts)


def _find_zero(signature: str, atol: float) -> str:
    return f"""\
def agrees({signature}{"=None" if signature.endswith("expected") else ""}):
    out = function(*args)
    return abs(sum(factor * math.pow(out, power) for power, factor in enumerate(*args))) <= {atol!r}
"""


def _agrees(signature: str, expected: str, rule: str, atol: float) -> str:
    given = "" if expected == "expected" else f"    expected = {expected}\n"
    return f"""\
def agrees({signature}):
{given}    out = function(*args)
    {rule.replace("ATOL", repr(atol))}
    atol = {atol!r} or (1e-6 if floats(expected) else 0)
    if same or not atol:
        return same
    return type(out) is type(expected) and close(out, expected, atol)
"""
