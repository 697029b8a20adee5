"""Turns cases of a Python function, arguments and expected value, into tests of a typed Rust function.

Types are those of plain function signatures: numbers, bool, char, &str, String, references, slices, arrays, Vec,
tuples, Option, and the maps and sets of std::collections. Anything else raises ValueError.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from strop_verify.code.trees import Node, having, parse, text_of
from strop_verify.core.checks import Case
from strop_verify.core.records import Record

INTEGERS = {f"{sign}{bits}" for sign in "iu" for bits in ("8", "16", "32", "64", "128", "size")}
FLOATS = {"f32", "f64"}
_MAPS = {"HashMap", "BTreeMap"}
_SETS = {"HashSet", "BTreeSet"}


class RustType(Record):
    """A type: its last name, or "&", "[]", "[N]", "()", and its parts."""

    name: str
    of: list["RustType"] = Field(default_factory=list)
    text: str
    """As the signature writes it."""

    def holds(self, names: set[str]) -> bool:
        """Whether the type is or contains one of these."""
        return self.name in names or any(part.holds(names) for part in self.of)


def parse_type(text: str) -> RustType:
    """The type in a text. Raises ValueError for an unsupported one."""
    root = parse(f"type T = {text};")
    if root.has_error or len(root.children) != 1:
        raise ValueError(f"type {text!r} is not covered")
    return _type(root.children[0].child_by_field_name("type"))


def literal(value: Any, kind: RustType, *, plain: bool = False) -> str:
    """The value as an expression of the type. Raises ValueError if it has none. `plain`, for readers: strings
    without `String::from`, and empty vectors as `vec![]`."""
    name, of = kind.name, kind.of
    if name in INTEGERS and isinstance(value, int) and not isinstance(value, bool):
        return _integer(value, name)
    if name in FLOATS and isinstance(value, int | float) and not isinstance(value, bool):
        return repr(float(value))
    if name == "bool" and isinstance(value, bool):
        return str(value).lower()
    if name == "char" and isinstance(value, str) and len(value) == 1:
        return "'\\''" if value == "'" else "'\"'" if value == '"' else f"'{_quoted(value)[1:-1]}'"
    if name == "str" and isinstance(value, str):
        return _quoted(value)
    if name == "String" and isinstance(value, str):
        return _quoted(value) if plain else f"String::from({_quoted(value)})"
    if name == "Option":
        return "None" if value is None else f"Some({literal(value, of[0], plain=plain)})"
    if name == "&":
        return _reference(value, of[0], plain)
    if name == "()" and isinstance(value, list | tuple) and len(value) == len(of):
        inner = ", ".join(literal(v, t, plain=plain) for v, t in zip(value, of, strict=True))
        return f"({inner},)" if len(of) == 1 else f"({inner})"
    if name in _MAPS and isinstance(value, dict):
        pairs = [
            f"({literal(k, of[0], plain=plain)}, {literal(v, of[1], plain=plain)})" for k, v in value.items()
        ]
        return _collection(kind, name, pairs)
    if isinstance(value, list | tuple | set):
        return _items(list(value), kind, plain)
    raise ValueError(f"{value!r} is not a value of {kind.text}")


def _items(values: list[Any], kind: RustType, plain: bool) -> str:
    inner = [literal(value, kind.of[0], plain=plain) for value in values] if kind.of else []
    if kind.name == "Vec":
        return f"vec![{', '.join(inner)}]" if inner or plain else f"Vec::<{kind.of[0].text}>::new()"
    if kind.name in ("[]", "[N]"):
        return f"[{', '.join(inner)}]"
    if kind.name in _SETS:
        return _collection(kind, kind.name, inner)
    raise ValueError(f"{values!r} is not a value of {kind.text}")


def _reference(value: Any, inner: RustType, plain: bool) -> str:
    text = literal(value, inner, plain=plain)
    if inner.name == "str":
        return text
    if inner.name == "[]" and not value and not plain:
        return f"(&[] as &[{inner.of[0].text}])"
    return f"&{text}"


def _collection(kind: RustType, name: str, inner: Sequence[str]) -> str:
    made = f"std::collections::{name}"
    if not inner:
        return f"{made}::<{', '.join(part.text for part in kind.of)}>::new()"
    return f"{made}::from([{', '.join(inner)}])"


def _integer(value: int, name: str) -> str:
    bits = 64 if name.endswith("size") else int(name[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if name[0] == "i" else (0, (1 << bits) - 1)
    if not low <= value <= high:
        raise ValueError(f"{value} is out of the range of {name}")
    return str(value)


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    escaped = re.sub(r"\\u([0-9a-f]{4})", lambda m: f"\\u{{{m[1]}}}", escaped)
    return escaped.replace("\\b", "\\u{8}").replace("\\f", "\\u{c}") if "\\" in escaped else escaped


def _type(node: Node | None) -> RustType:
    """The type of a node. Raises ValueError for an unsupported one."""
    if node is None:
        raise ValueError("a type is missing")
    head, parts = node, list[RustType]()
    match node.type:
        case "reference_type" if "mutable_specifier" not in [child.type for child in node.children]:
            inner = _type(node.child_by_field_name("type"))
            return RustType(name="&", of=[inner], text=f"&{inner.text}")
        case "array_type":
            inner, length = _type(node.child_by_field_name("element")), node.child_by_field_name("length")
            if length is None:
                return RustType(name="[]", of=[inner], text=f"[{inner.text}]")
            if length.type in ("integer_literal", "identifier"):
                return RustType(name="[N]", of=[inner], text=f"[{inner.text}; {text_of(length)}]")
        case "tuple_type" | "unit_type":
            parts = list(map(_type, node.named_children))
            inside = ", ".join(part.text for part in parts) + ("," if len(parts) == 1 else "")
            return RustType(name="()", of=parts, text=f"({inside})")
        case "generic_type":
            [(_, head, arguments)] = having([node], "type", "type_arguments")
            parts = list(map(_type, arguments.named_children))
    first = text_of(head)
    name = first.rpartition("::")[2]
    if _ARITY.get(name) != len(parts):
        raise ValueError(f"type {first!r} is not covered")
    inside = f"<{', '.join(part.text for part in parts)}>" if parts else ""
    return RustType(name=name, of=parts, text=first + inside)


_ARITY = (
    dict.fromkeys(INTEGERS | FLOATS | {"bool", "char", "str", "String"}, 0)
    | dict.fromkeys({"Vec", "Option"} | _SETS, 1)
    | dict.fromkeys(_MAPS, 2)
)


TESTS = 4  # maximum hidden tests of a task, among which its hidden cases are distributed
_HEAD = re.compile(r"pub fn (\w+)\((.*?)\)(?:\s*->\s*(.*?))?\s*\{", re.S)


def rust_tests(signature: str, cases: Sequence[Case]) -> str:
    """Rust tests: `examples` for shown cases, then hidden ones. Raises ValueError for a case that does not fit."""
    name, parameters, result = parse_head(signature)
    lines = [(case.shown, _assertion(name, parameters, result, case)) for case in cases]
    hidden = [line for shown, line in lines if not shown]
    count = min(TESTS, len(hidden))
    named = {"examples": [line for shown, line in lines if shown]}
    named |= {f"hidden_{i + 1}": hidden[i::count] for i in range(count)}
    tests = "\n".join(_test(title, body) for title, body in named.items() if body)
    return f"#[cfg(test)]\nmod tests {{\n    use super::*;\n\n{tests}}}\n"


def parse_head(signature: str) -> tuple[str, list[RustType], RustType]:
    """(name, parameter types, result type) of a function's head, with or without its brace."""
    match = _HEAD.search(signature.rstrip(" {") + " {")
    if match is None:
        raise ValueError(f"{signature!r} is not the head of a function")
    parameters = parse(f"fn f({match[2]});").children[0].child_by_field_name("parameters")
    if parameters is None or parameters.has_error:
        raise ValueError(f"{match[2]!r} are not the parameters of a function")
    types = [_type(one.child_by_field_name("type")) for one in parameters.named_children]
    return match[1], types, parse_type(match[3] or "()")


def call(name: str, parameters: Sequence[RustType], case: Case, *, plain: bool = False) -> str:
    """The call with the case's arguments, `plain` as in `literal`. Raises ValueError for a wrong count."""
    if case.kwargs or len(case.args) != len(parameters):
        raise ValueError(f"{len(parameters)} parameters do not fit the case {case.args} {case.kwargs}")
    inside = ", ".join(
        literal(value, kind, plain=plain) for value, kind in zip(case.args, parameters, strict=True)
    )
    return f"{name}({inside})"


def _assertion(name: str, parameters: Sequence[RustType], result: RustType, case: Case) -> str:
    text, expected = call(name, parameters, case), literal(case.expected, result)
    if result.name in FLOATS:
        # The type is stated, so that an answer cannot compare with its own type.
        margin = repr(1e-9 * max(1.0, abs(case.expected)))
        operand = f"({expected})" if expected.startswith("-") else expected
        close = f"(found - {operand}).abs() <= {margin}"
        return f'let found: {result.name} = {text};\nassert!({close}, "found {{found}}");'
    return f"assert_eq!({text}, {expected});"


def _test(title: str, body: Sequence[str]) -> str:
    lines = "".join(f"        {line}\n" for part in body for line in part.splitlines())
    return f"    #[test]\n    fn {title}() {{\n{lines}    }}\n"
