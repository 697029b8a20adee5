"""How EvalPlus compares: test code for the tester, of the standard library alone.

As in evalplus/eval/__init__.py of github.com/evalplus/evalplus (`unsafe_execute`): equal values agree. Else, with an
absolute tolerance (1e-6 where the expected value is floats and none is set), values of the same type agree when each
number differs by at most `atol` + 1e-7 of the expected one. Some problems have rules of their own, by entry point.
Deviation: the tolerance of one test does not stay for those after it.
"""

from strop.core.errors import UserError

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

    extra   code of the tests' own that expected values need
    The rules stand in a namespace of their own: an entry point may be named like a builtin (`sum`) or like one of ours.
    Raises UserError for tests that need numpy.
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
    """Any zero of the polynomial will do."""
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
