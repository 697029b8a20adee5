"""Control tests in Rust: a false one with a test's own name, which must fail, and the true one beside it, renamed.

A false control compares with values other than the test's: each number, string, character and boolean that an assertion
expects is replaced by several others, and the control passes if one of them compares equal. Without such values, a
failing assertion is added at the test's end (at its start if it may return early). A test that should panic returns.
"""

import random
from collections.abc import Collection, Iterator, Mapping

from strop_verify.code.rust.items import attributes
from strop_verify.code.trees import Node, parse, text_of, walk
from strop_verify.verification.controls import ControlTests
from strop_verify.verification.project.names import Names
from strop_verify.verification.project.rust_values import altered, spanned
from strop_verify.verification.rust.trusted_tests import edited

_AROUND = {
    "expression_statement", "block", "for_expression", "if_expression", "else_clause", "unsafe_block",
    "while_expression", "loop_expression",
}  # fmt: skip
"""Node types that may enclose a changed assertion in a test's body."""
_Cut = tuple[int, int, str]


def rust_controls(
    tree: Mapping[str, bytes], tests: Collection[str], rng: random.Random, *, literals: bool
) -> ControlTests:
    """Files of the tree with these tests made false, each with its true control beside it.

    Skips tests whose name is not unique in the tree. `literals`: change expected values; otherwise only add assertions.
    """
    made = ControlTests()
    found: dict[str, list[tuple[str, Node]]] = {}
    wanted = {test.rpartition("::")[2]: test for test in tests}
    for path, data in tree.items():
        if path.endswith(".rs") and b"test" in data:
            for node in walk(parse(data.decode("utf-8", "replace"))):
                name = text_of(node.child_by_field_name("name")) if node.type == "function_item" else ""
                if name and "#[test]" in attributes(node):
                    found.setdefault(name, []).append((path, node))
    cuts: dict[str, list[_Cut]] = {}
    names: dict[str, Names] = {}
    for name, test in wanted.items():
        places = found.get(name, [])
        if len(places) != 1 or not (changes := _changes(places[0][1], rng, literals)):
            continue
        path, node = places[0]
        new = names.setdefault(path, Names(tree[path].decode("utf-8", "replace"), rng)).new()
        cuts.setdefault(path, []).extend([*changes, (node.end_byte, node.end_byte, _renamed(node, new))])
        made.add(test, test, passes=False)
        made.add(test[: -len(name)] + new, test, passes=True)
    made.files = {
        path: edited(tree[path].decode("utf-8", "replace"), chosen) for path, chosen in cuts.items()
    }
    return made


def _renamed(function: Node, name: str) -> str:
    """A copy of the function with its attributes under another name, on separate lines."""
    lines: list[str] = []
    before = function.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        if before.type == "attribute_item":
            lines.insert(0, text_of(before))
        before = before.prev_named_sibling
    old = function.child_by_field_name("name")
    assert old is not None
    text, at = text_of(function).encode(), old.start_byte - function.start_byte
    whole = text[:at] + name.encode() + text[at + old.end_byte - old.start_byte :]
    return "\n\n" + "\n".join([*lines, whole.decode()]) + "\n"


def _changes(function: Node, rng: random.Random, literals: bool) -> list[_Cut]:
    body = function.child_by_field_name("body")
    if body is None:
        return []
    number = rng.randrange(1000, 9000)
    start = body.start_byte + 1
    if any("should_panic" in one for one in attributes(function)):
        return [(start, start, f" if ::std::hint::black_box({number}u64) > 9 {{ return; }}")]
    leaves = any(node.type in ("return_expression", "try_expression") for node in walk(body))
    written = [child for child in body.named_children if not child.type.endswith("comment")]
    last = written[-1] if written else None
    ends = (
        last is None
        or last.type in ("macro_invocation", "let_declaration")
        or last.type.endswith("statement")
    )
    early = leaves or not ends or function.child_by_field_name("return_type") is not None
    end = body.end_byte - 1
    stop = " " if last is None or text_of(last).endswith((";", "}")) else "; "
    held, seen = f"held_{number}", f"seen_{number}"
    if literals and not early:
        sites = [new for one in _assertions(body) if (new := _site(one, held, seen, rng))]
        if sites:
            return [
                (start, start, f" let mut {held} = false;"),
                *sites,
                (end, end, f"{stop}assert!({held}); "),
            ]
    fails = f"assert_eq!(::std::hint::black_box({number}u64) % 97, {number % 97 + 1 + rng.randrange(60)});"
    return [(start, start, f" {fails}") if early else (end, end, f"{stop}{fails}")]


def _assertions(block: Node) -> Iterator[Node]:
    """The assertions that the test's own function executes."""
    for child in block.named_children:
        if child.type == "macro_invocation" and text_of(child.child_by_field_name("macro")) in (
            "assert_eq",
            "assert",
        ):
            yield child
        elif child.type in _AROUND:
            yield from _assertions(child)


def _site(assertion: Node, held: str, seen: str, rng: random.Random) -> _Cut | None:
    """An assertion that expects a literal value, rewritten to compare with others; None for any other assertion."""
    left, right = _sides(assertion)
    for expected, other, form in ((right, left, "*{0} == {1}"), (left, right, "{1} == *{0}")):
        if expected and other and (values := altered(expected, rng)):
            said = " || ".join(form.format(seen, value) for value in values)
            new = f"match &({spanned(other)}) {{ {seen} => {held} |= {said} }}"
            return assertion.start_byte, assertion.end_byte, new
    return None


def _sides(assertion: Node) -> tuple[list[Node], list[Node]]:
    """Tokens of both sides of a comparison; empty if the assertion is not a comparison."""
    tokens = next((child for child in assertion.children if child.type == "token_tree"), None)
    arguments: list[list[Node]] = [[]]
    for token in tokens.children[1:-1] if tokens is not None else ():
        if token.type == ",":
            arguments.append([])
        else:
            arguments[-1].append(token)
    if text_of(assertion.child_by_field_name("macro")) == "assert_eq":
        return (arguments[0], arguments[1]) if len(arguments) > 1 else ([], [])
    first = arguments[0]
    signs = [at for at, token in enumerate(first) if text_of(token) in ("==", "&&", "||")]
    if len(signs) != 1 or text_of(first[signs[0]]) != "==":
        return [], []
    return first[: signs[0]], first[signs[0] + 1 :]
