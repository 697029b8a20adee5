"""EvalPlus: HumanEval+ and MBPP+, the original problems with many more tests, in both published forms.

Reference: github.com/evalplus/evalplus; Liu et al. 2023, arXiv:2305.01210. Rows of the releases (JSONL): task_id,
prompt, entry_point, canonical_solution, base_input, plus_input, atol, contract. Rows on the Hub
(evalplus/humanevalplus, evalplus/mbppplus): HumanEval's or MBPP's fields with `test`, code with inputs and results.

1. One input is one test: a top-level `assert strop_agrees(...)`. Base inputs come first; `metadata.base_tests` counts
   them. The Hub's rows do not say where they end, but MBPP+ has them as `test_list`.
2. The releases have no expected values: the trusted test code runs the canonical solution beside the answer.
3. Values are compared as in EvalPlus, but without numpy: test code has only the standard library (below).
4. Inputs of MBPP+ are stored as JSON; if the function takes tuples, sets or complex numbers, they are converted back.
5. The conversions of each problem are in evalplus/data/mbpp.py, `mbpp_deserialize_inputs`.

The tests of the Hub's rows are read as a syntax tree without being run. A row's test code assigns lists to `inputs` and
`results`, in a function `check(candidate)` or at the top, and loops over both; some problems have the reference as
`ref_func` instead of results (tools/*/to_original_fmt.py of evalplus).

The comparison uses the standard library only and follows evalplus/eval/__init__.py of github.com/evalplus/evalplus
(`unsafe_execute`): equal values agree. Otherwise, with an absolute tolerance (1e-6 if floats are expected and
none is set), values of the same type agree when each number differs by at most `atol` + 1e-7 of the expected one. Some
problems have their own rules, by entry point. Deviation: a test's tolerance does not carry over to later tests.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_tasks.formats.fields import has, items, name_of, text
from strop_verify.code.python import source as pysource
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.checks import AssertsCheck
from strop_verify.core.errors import UserError
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Task

_OURS = ("is_floats", "assertion", "check", "_poly", "_surface_Area", "_digit_distance_nums")


def _parsed_tests(code: str, where: str) -> tuple[str, list[tuple[str, str]], float, str]:
    """(entry point, cases, tolerance, helpers) of a row's `test`. Raises UserError for code in another form,
    SyntaxError for code that is not Python.

    The entry point is the function that the loop calls; `candidate` if it is the argument of `check`. A case is the
    source of the list of arguments and of the expected value. Helpers are the code that the expected values need:
    `ref_func` and its imports, or "".
    """
    tree = syntax_tree(code)
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
    return entry, list(zip(args, expected, strict=True)), atol, helpers


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
    if solution and entry in _PRESENCE:  # only whether a value is returned counts
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


_TAKEN = ("exec", "inf", "nan")
_RELEASE = ("task_id", "prompt", "entry_point", "canonical_solution")


def _read(row: Row, where: str) -> Iterator[Task]:
    try:
        yield _release(row, where) if "base_input" in row else _hub(row, where)
    except UNPARSABLE as error:
        raise UserError(f"{where}: solution or tests are not valid Python: {error}") from error


def _release(row: Row, where: str) -> Task:
    name, prompt, entry, solution = (text(row, field, where) for field in _RELEASE)
    base = items(row, "base_input", where)
    plus = items(row, "plus_input", where, default=[]) if row.get("plus_input") != {} else []
    atol = row.get("atol", 0)
    if isinstance(atol, bool) or not isinstance(atol, int | float):
        raise UserError(f"{where}: field 'atol' must hold a number, not {atol!r:.60}")
    whole = _joined(prompt, solution)
    _require(whole, entry, where)
    lines = []
    for number, args in enumerate([*base, *plus], start=1):
        if not isinstance(args, list):
            raise UserError(f"{where}: input {number} must be a list of arguments, not {type(args).__name__}")
        lines.append(f"assert strop_agrees({entry}, {literal(name, args)})")
    if not lines:
        raise UserError(f"{where}: the task has no tests: base_input and plus_input are empty")
    code = "\n".join([preamble(entry, atol, solution=whole), *lines]) + "\n"
    return _task(name, prompt, whole, entry, code, len(base))


def _hub(row: Row, where: str) -> Task:
    form = "code" if "code" in row else "canonical_solution"
    prompt, solution, test = (text(row, field, where) for field in ("prompt", form, "test"))
    name = name_of(row.get("task_id"), "")
    whole = solution if form == "code" else _joined(prompt, solution)
    called, cases, atol, helpers = _parsed_tests(test, where)
    entry = text(row, "entry_point", where, default="") or called
    _require(whole, entry, where)
    base = row.get("test_list")
    lines = [f"assert strop_agrees({entry}, {args}, {expected})" for args, expected in cases]
    code = "\n".join([preamble(entry, atol, extra=helpers), *lines]) + "\n"
    return _task(
        f"Mbpp/{name}" if form == "code" else name, prompt, whole, entry, code,
        min(len(base), len(lines)) if isinstance(base, list) else None,
    )  # fmt: skip


def _task(name: str, prompt: str, whole: str, entry: str, code: str, base: int | None) -> Task:
    node = pysource.find_function(syntax_tree(whole), entry)
    doc = ast.get_docstring(node) if node is not None else None
    continued = whole.startswith(prompt) and f"def {entry}" in prompt
    stated = doc if continued else prompt.strip().strip("\"'").strip()
    return Task(
        id=name,
        statement=stated or doc or "",
        signature=pysource.signature_of(whole, entry),
        reference=whole,
        check=AssertsCheck(entry_point=entry, code=code),
        source=f"evalplus/{name}",
        prompt=prompt if continued else None,
        metadata={} if base is None else {"base_tests": base},
    )


def _joined(prompt: str, solution: str) -> str:
    """The whole program: a prompt of MBPP+ is only a docstring, followed by a separate solution."""
    return (
        prompt + solution if prompt.endswith("\n") or solution.startswith("\n") else f"{prompt}\n{solution}"
    )


def _require(whole: str, entry: str, where: str) -> None:
    if entry in _TAKEN or entry.startswith("strop_"):
        raise UserError(f"{where}: an entry point named {entry!r} would hide what the test code needs")
    if not entry.isidentifier() or pysource.find_function(syntax_tree(whole), entry) is None:
        raise UserError(f"{where}: the canonical solution does not define {entry!r}")


def _fits(row: Row) -> bool:
    if has(row, base_input=list, canonical_solution=str, entry_point=str):
        return True
    test = row.get("test")
    return isinstance(test, str) and "inputs = " in test and ("canonical_solution" in row or "code" in row)


EVALPLUS = Adapter(
    name="evalplus",
    about="EvalPlus: HumanEval+ and MBPP+, releases and Hub form, base and plus tests",
    read=_read,
    fits=_fits,
    as_json=("base_input", "plus_input"),
)


Shape = Callable[[list[Any]], Any]


def _deep(value: Any, levels: int) -> Any:
    """The value with lists at the `levels`-th level as tuples and those above unchanged; 1 is the value itself."""
    if not isinstance(value, list):
        return value
    return tuple(value) if levels == 1 else [_deep(item, levels - 1) for item in value]


def _all_tuples(value: Any) -> Any:
    return tuple(_all_tuples(item) for item in value) if isinstance(value, list) else value


def _arguments(*levels: int) -> Shape:
    """Argument i with its lists at level levels[i] as tuples; 0 and further arguments: unchanged."""

    def shape(args: list[Any]) -> list[Any]:
        given = (*levels, *[0] * len(args))
        return [_deep(arg, level) if level else arg for arg, level in zip(args, given, strict=False)]

    return shape


def _every(level: int) -> Shape:
    return lambda args: [_deep(arg, level) for arg in args]


_BY_SHAPE: list[tuple[Shape, tuple[int, ...]]] = [
    (_every(1), (
        2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809,
    )),
    (_every(2), (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780)),
    (_arguments(2), (75, 413, 444, 753)),
    (_arguments(0, 1), (106, 750)),
    (_arguments(1), (250, 405, 446, 617, 720, 763, 808, 307)),
    (lambda args: [tuple(_deep(arg, 2)) for arg in args], (259, 401, 445)),
    (lambda args: [tuple(_deep(item, 1) for item in arg) for arg in args], (278,)),
    (lambda args: [{k: _deep(v, 1) for k, v in args[0].items()}, *args[1:]], (722,)),
    (lambda args: [[set(item) if isinstance(item, list) and item else {} for item in args[0]]], (115,)),
    (lambda args: [float(args[0]), complex(args[1])], (124,)),
    (lambda args: [complex(args[0])], (252,)),
    (lambda args: list(_all_tuples(args)), (580, 615, 791)),
]  # fmt: skip
_SHAPES = {number: shape for shape, numbers in _BY_SHAPE for number in numbers}


def literal(task_id: str, args: list[Any]) -> str:
    """The arguments of one call as a Python list. Raises ValueError if they do not have their problem's shape."""
    family, _, number = task_id.partition("/")
    shape = _SHAPES.get(int(number)) if family.lower() == "mbpp" and number.isdecimal() else None
    if shape is None:
        return repr(args)
    try:
        return repr(shape(args))
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"an input of {task_id} has an unexpected shape: {error}") from error
