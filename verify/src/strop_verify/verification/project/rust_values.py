"""Alters literal values in the text of a Rust test."""

import random
import re
from collections.abc import Callable, Sequence

from strop_verify.code.trees import Node, text_of

_MAKERS = {
    "vec", "Some", "Ok", "Err", "None", "String", "from", "to_string", "to_owned", "into", "Box", "new", "Vec",
    "as_str",
}  # fmt: skip
"""Names that may be part of a value besides literals: none belongs to the code under test."""
_INTEGER = re.compile(r"(0x[0-9a-fA-F_]+|0b[01_]+|0o[0-7_]+|[0-9][0-9_]*)([iu](?:8|16|32|64|128|size))?")
_FLOAT = re.compile(r"([0-9][0-9_]*)(\.[0-9_]*(?:f32|f64)?)")
_MOST = 4
_SMALL = 118
"""Numbers below this may become greater, whatever their type."""


def altered(tokens: Sequence[Node], rng: random.Random) -> list[str]:
    """Up to four variants of a value, each with one literal changed; none if it is made of more than literals."""
    found: list[Node] = []
    if not all(_plain(token, found) for token in tokens):
        return []
    choices = [(node, others) for node in found if (others := _OTHERS[node.type](text_of(node), rng))]
    if not choices:
        return []
    chosen = choices * _MOST if len(choices) == 1 else rng.sample(choices, min(_MOST, len(choices)))
    start, data = tokens[0].start_byte, spanned(tokens).encode()
    texts = []
    for node, others in chosen[:_MOST]:
        if others:
            new = others.pop(0).encode()
            texts.append((data[: node.start_byte - start] + new + data[node.end_byte - start :]).decode())
    rng.shuffle(texts)
    return texts


def spanned(tokens: Sequence[Node]) -> str:
    """The text from the first token to the last, with spaces between tokens."""
    data = b""
    for token in tokens:
        data += b" " * (token.start_byte - tokens[0].start_byte - len(data)) + text_of(token).encode()
    return data.decode()


def _plain(token: Node, found: list[Node]) -> bool:
    """Whether a token is part of a value made of literals; appends its literals to `found`."""
    if token.type in _OTHERS:
        found.append(token)
        return True
    if token.type == "token_tree":
        return all([_plain(child, found) for child in token.children])
    if token.type in ("identifier", "type_identifier"):
        return text_of(token) in _MAKERS
    return not token.is_named and not text_of(token)[:1].isalpha()


def _integers(text: str, rng: random.Random) -> list[str]:
    whole = _INTEGER.fullmatch(text)
    if whole is None:
        return []
    value = int(whole[1], 0 if whole[1][1:2].isalpha() else 10)
    return [f"{n}{whole[2] or ''}" for n in _numbers(value, rng)]


def _floats(text: str, rng: random.Random) -> list[str]:
    whole = _FLOAT.fullmatch(text)
    return [f"{n}{whole[2]}" for n in _numbers(int(whole[1]), rng)] if whole else []


def _numbers(value: int, rng: random.Random) -> list[int]:
    """Other numbers, near and far; the first two differ by an odd and by an even number."""
    near = [n for n in range(max(0, value - 3), value) if n >= 0]
    near += range(value + 1, value + 4) if value < _SMALL else []
    odd, even = ([n for n in near if (n - value) % 2 == rest] for rest in (1, 0))
    first = [rng.choice(some) for some in (odd, even) if some]
    far = [n for n in (value // 2, rng.randrange(value + 1)) if value > 8 and n != value]
    rest = list(dict.fromkeys(n for n in (*far, *rng.sample(near, len(near))) if n not in first))
    rng.shuffle(first)
    return [*first, *rest][:_MOST]


def _texts(text: str, rng: random.Random) -> list[str]:
    if not text.startswith('"'):
        return []
    inner = text[1:-1]
    found = [f'"{inner}{rng.choice("qxz")}"', f'"{rng.choice("qxz")}{inner}"']
    if "\\" not in inner:
        found.append(f'"{inner[:-1]}"')
    rng.shuffle(found)
    return [one for one in dict.fromkeys(found) if one != text]


def _characters(text: str, rng: random.Random) -> list[str]:
    others = [c for c in "aAb1 z" if c != text[1:-1]]
    return [f"'{c}'" for c in rng.sample(others, 2)] if len(text) == 3 else []


_OTHERS: dict[str, Callable[[str, random.Random], list[str]]] = {
    "integer_literal": _integers,
    "float_literal": _floats,
    "string_literal": _texts,
    "boolean_literal": lambda text, _: ["false" if text == "true" else "true"],
    "char_literal": _characters,
}
