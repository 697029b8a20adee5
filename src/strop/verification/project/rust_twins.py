"""False twins of Rust tests: the same test under its own name, with one thing changed so that it must fail.

A number, text or truth value that an assertion compares with becomes another one; where there is none, an assertion of
ours that fails stands at the test's end (at its beginning where it may end before). A test that should panic returns.
"""

import random
from collections.abc import Collection, Mapping

from strop.code.rust.items import attributes
from strop.code.trees import Node, parse, text_of, walk

_LITERALS = ("integer_literal", "string_literal", "boolean_literal")
_DIGITS = "0123456789"


def false_twins(
    tree: Mapping[str, bytes], tests: Collection[str], rng: random.Random, *, literals: bool
) -> tuple[dict[str, str], set[str]]:
    """Files of the tree in which these tests are false, and which tests those are: a name that stands there once.

    literals: change those; else only put assertions of ours into the tests
    """
    found: dict[str, list[tuple[str, Node]]] = {}
    wanted = {test.rpartition("::")[2]: test for test in tests}
    for path, data in tree.items():
        if path.endswith(".rs") and b"test" in data:
            for node in walk(parse(data.decode("utf-8", "replace"))):
                name = text_of(node.child_by_field_name("name")) if node.type == "function_item" else ""
                if name and "#[test]" in attributes(node):
                    found.setdefault(name, []).append((path, node))
    changes: dict[str, list[tuple[int, int, str]]] = {}
    done = set()
    for name, test in wanted.items():
        places = found.get(name, [])
        if len(places) == 1 and (change := _change(places[0][1], rng, literals)):
            changes.setdefault(places[0][0], []).append(change)
            done.add(test)
    texts = {}
    for path, cuts in changes.items():
        data = tree[path].decode("utf-8", "replace").encode()
        for start, end, new in sorted(cuts, reverse=True):
            data = data[:start] + new.encode() + data[end:]
        texts[path] = data.decode()
    return texts, done


def _change(function: Node, rng: random.Random, literals: bool) -> tuple[int, int, str] | None:
    body = function.child_by_field_name("body")
    if body is None:
        return None
    number = rng.randrange(1000, 9000)
    start = body.start_byte + 1
    if any("should_panic" in one for one in attributes(function)):
        return start, start, f" if ::std::hint::black_box({number}u64) > 9 {{ return; }}"
    leaves = any(node.type in ("return_expression", "try_expression") for node in walk(body))
    sites = [] if leaves or not literals else [new for one in body.named_children for new in _sites(one)]
    if sites:
        return rng.choice(sites)
    fails = f" assert_eq!(::std::hint::black_box({number}u64) % 97, {number % 97 + 1 + rng.randrange(60)});"
    last = body.named_children[-1] if body.named_children else None
    ends = last is None or (text_of(last).endswith((";", "}")) and last.type.endswith("statement"))
    if leaves or not ends or function.child_by_field_name("return_type") is not None:
        return start, start, fails
    return body.end_byte - 1, body.end_byte - 1, fails


def _sites(statement: Node) -> list[tuple[int, int, str]]:
    """Literals that an `assert_eq!` at the top of a test's body compares with, each with another in its place."""
    inner = statement.named_children[0] if statement.type == "expression_statement" else statement
    if inner.type != "macro_invocation" or text_of(inner.child_by_field_name("macro")) != "assert_eq":
        return []
    tokens = next((child for child in inner.children if child.type == "token_tree"), None)
    parts: list[list[Node]] = [[]]
    for child in tokens.children[1:-1] if tokens is not None else ():
        if child.type == ",":
            parts.append([])
        else:
            parts[-1].append(child)
    alone = [part[0] for part in parts[:2] if len(part) == 1 and part[0].type in _LITERALS]
    return [(one.start_byte, one.end_byte, _other(text_of(one))) for one in alone[:1] if len(parts) > 1]


def _other(literal: str) -> str:
    if literal in ("true", "false"):
        return "false" if literal == "true" else "true"
    if literal.endswith('"'):
        return literal[:-1] + 'q"'
    at = 0
    while (
        at + 1 < len(literal)
        and literal[at + 1] in _DIGITS + "_"
        and not literal.startswith(("0x", "0b", "0o"))
    ):
        at += 1
    if literal.startswith(("0x", "0b", "0o")):
        at = 2
    while literal[at] == "_":
        at -= 1
    digit = literal[at]
    return literal[:at] + ("1" if digit == "0" else "0" if at else str(int(digit) - 1)) + literal[at + 1 :]
