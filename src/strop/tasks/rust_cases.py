"""Cases of a Python function, arguments and expected value, as tests of a Rust function with a typed signature."""

import re
from collections.abc import Sequence

from strop.core.checks import Case
from strop.tasks.rust_values import FLOATS, RustType, literal, parse_type

TESTS = 4
"""Most hidden tests of a task; its hidden cases are dealt out to them."""
_HEAD = re.compile(r"pub fn (\w+)\((.*?)\)(?:\s*->\s*(.*?))?\s*\{", re.S)


def rust_tests(signature: str, cases: Sequence[Case]) -> str:
    """Rust test code for the cases: `examples` for those that are shown, then hidden ones.

    Raises ValueError when a case does not fit the types of the signature.
    """
    name, parameters, result = parse_head(signature)
    lines = [(case.shown, _assertion(name, parameters, result, case)) for case in cases]
    hidden = [line for shown, line in lines if not shown]
    count = min(TESTS, len(hidden))
    named = {"examples": [line for shown, line in lines if shown]}
    named |= {f"hidden_{i + 1}": hidden[i::count] for i in range(count)}
    tests = "\n".join(_test(title, body) for title, body in named.items() if body)
    return f"#[cfg(test)]\nmod tests {{\n    use super::*;\n\n{tests}}}\n"


def parse_head(signature: str) -> tuple[str, list[RustType], RustType]:
    """(name, types of the parameters, type of the result) of a function's head, with or without its brace."""
    match = _HEAD.search(signature.rstrip(" {") + " {")
    if match is None:
        raise ValueError(f"{signature!r} is no head of a function")
    parameters = _split(" ".join(match[2].split()))
    return match[1], [parse_type(p.partition(":")[2]) for p in parameters], parse_type(match[3] or "()")


def call(name: str, parameters: Sequence[RustType], case: Case, *, plain: bool = False) -> str:
    """The call with the case's arguments, `plain` as in `rust_values.literal`. Raises ValueError for a wrong count."""
    if case.kwargs or len(case.args) != len(parameters):
        raise ValueError(f"{len(parameters)} parameters do not fit the case {case.args} {case.kwargs}")
    inside = ", ".join(
        literal(value, kind, plain=plain) for value, kind in zip(case.args, parameters, strict=True)
    )
    return f"{name}({inside})"


def _split(parameters: str) -> list[str]:
    """The parameters, which are parted by the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in parameters:
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _assertion(name: str, parameters: Sequence[RustType], result: RustType, case: Case) -> str:
    text, expected = call(name, parameters, case), literal(case.expected, result)
    if result.name in FLOATS:
        # The type is stated, so that an answer cannot bring one of its own to the comparison.
        margin = repr(1e-9 * max(1.0, abs(case.expected)))
        close = f"(found - {_operand(expected)}).abs() <= {margin}"
        return f'let found: {result.name} = {text};\nassert!({close}, "found {{found}}");'
    return f"assert_eq!({text}, {expected});"


def _operand(number: str) -> str:
    return f"({number})" if number.startswith("-") else number


def _test(title: str, body: Sequence[str]) -> str:
    lines = "".join(f"        {line}\n" for part in body for line in part.splitlines())
    return f"    #[test]\n    fn {title}() {{\n{lines}    }}\n"
