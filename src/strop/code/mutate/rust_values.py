"""Values of Rust types that can be written without knowing the code around them, and literals changed into others."""

from strop.code.tokens import split
from strop.code.trees import Node, Source

_INTEGERS = ("i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize")
_PLAIN = dict.fromkeys(_INTEGERS, ("0", "1")) | {
    "f32": ("0.0", "1.0"), "f64": ("0.0", "1.0"), "bool": ("false", "true"), "char": ("'x'",),
    "String": ("String::new()",), "()": ("()",),
}  # fmt: skip
_EMPTY = frozenset({"Vec", "String", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "VecDeque", "BinaryHeap"})
_DEEPEST = 4
_MESSAGES = frozenset({"expect", "expect_err", "Err", "ok_or", "map_err", "ok_or_else", "bail", "context"})


def default_value(tokens: list[str], depth: int = 0) -> tuple[str, ...]:
    """Values of the type with these tokens, the plainest first; empty where none is known."""
    tokens = [t for t in tokens if t not in ("'", "static")]
    if not tokens or depth > _DEEPEST:
        return ()
    if len(tokens) == 1:
        return _PLAIN.get(tokens[0], ())
    if tokens[0] == "&" and tokens[-1] == "str":
        return ('""', '"x"')
    if tokens[0] == "(" and tokens[-1] == ")":
        parts = [default_value(part, depth + 1) for part in split(tokens[1:-1], (",",)) if part]
        return ("(" + ", ".join(part[0] for part in parts) + ",)",) if parts and all(parts) else ()
    if tokens[-1] != ">" or "<" not in tokens:
        return ()
    opening = tokens.index("<")
    head, inner = tokens[opening - 1], tokens[opening + 1 : -1]
    if head == "Option":
        return ("None",)
    if head == "Result":
        good = default_value(_first(inner), depth + 1)
        return (f"Ok({good[0]})",) if good else ()
    return ("Default::default()",) if head in _EMPTY else ()


def _first(tokens: list[str]) -> list[str]:
    """The tokens up to the first comma outside of brackets of any kind."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token in "(<[") - (token in ")>]")
        if token == "," and depth == 0:
            return tokens[:place]
    return tokens


def other_constant(source: Source, node: Node, parent: Node) -> str | None:
    """Another literal of the same type, or None where one would not do."""
    text = source.string(node)
    if node.type == "boolean_literal":
        return "false" if text == "true" else "true"
    if node.type == "string_literal":
        call = source.parent(parent) if parent.type == "arguments" else parent
        said = (
            source.tokens(call.child_by_field_name("function"))
            if call and call.type == "call_expression"
            else []
        )
        quiet = not text.startswith('"') or bool(_MESSAGES & set(said)) or _under_message(source, node)
        return None if quiet else ('"x"' if text == '""' else '""')
    if parent.type == "binary_expression" and any(c.type in ("<<", ">>") for c in parent.children):
        return None
    digits = text.rstrip("iusze0123456789_") == "" and text.split("i")[0].split("u")[0]
    if node.type == "float_literal":
        number = text.replace("_", "")
        plain = number.replace(".", "", 1).isdigit() and "." in number
        return repr(float(number) + 1.0) if plain and len(number) < 12 else None
    if not digits or not digits.isdigit() or len(digits) > 6:
        return None
    value = int(digits)
    return str(value + 1 if value < 100 else value - 1) + text[len(digits) :]


def _under_message(source: Source, node: Node) -> bool:
    around = source.within(node, frozenset({"call_expression"}))
    while around is not None and around.type == "call_expression":
        if _MESSAGES & set(source.tokens(around.child_by_field_name("function"))[-1:]):
            return True
        around = source.within(around, frozenset({"call_expression"}))
    return False
