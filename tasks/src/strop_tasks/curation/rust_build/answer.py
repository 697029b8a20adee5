"""Splits a response into the solution, its tests, and the interface that the tests need.

Responses are hostile text: they are parsed and never run here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from strop.tasks.answers import extract_code, without_thinking
from strop_verify.code.trees import Node, parse, text_of, walk
from strop_verify.verification.rust.scan import LONGEST

_NAMES = ("identifier", "type_identifier", "field_identifier")
_TYPES = ("struct_item", "enum_item", "union_item", "type_item", "trait_item", "const_item", "static_item")
_COMMENTS = ("line_comment", "block_comment")


class NotKept(Exception):
    """Why a response is not kept: the stage that rejected it, one line, and the compiler's output."""

    def __init__(self, stage: str, reason: str, output: str = "") -> None:
        super().__init__(reason)
        self.stage, self.reason, self.output = stage, " ".join(reason.split())[:300], output


class Parts(NamedTuple):
    """The two halves of an answer."""

    code: str
    tests: str
    """One `#[cfg(test)]` module."""

    @property
    def whole(self) -> str:
        """Solution and tests as one file."""
        return f"{self.code}\n{self.tests}"


def statement(text: str, finish: str) -> str:
    """The rewritten prompt of a response. Raises NotKept."""
    words = without_thinking(text).strip()
    if finish == "length":
        raise NotKept("rewrite", "the rewritten prompt was cut: raise --max-tokens")
    if not words:
        raise NotKept("rewrite", "the response is empty")
    if words.strip("`*. \n").upper() == "SKIP":
        raise NotKept("rewrite", "the model says that the prompt makes no sense in Rust")
    if "#[test]" in words or "#[cfg(test)]" in words:
        raise NotKept("rewrite", "the rewritten prompt holds tests")
    return words


def split(text: str, finish: str) -> Parts:
    """Solution and tests of a response. Raises NotKept."""
    code = extract_code(text, "rust")
    if not code.strip():
        raise NotKept("format", "the response holds no Rust block")
    if len(code.encode(errors="replace")) > LONGEST:
        raise NotKept("format", f"the answer is longer than {LONGEST:,} bytes")
    try:
        return parts(code)
    except NotKept as error:
        if finish == "length":
            raise NotKept("format", "the response was cut: raise --max-tokens") from error
        raise


def parts(code: str) -> Parts:
    """Solution and tests of a source file. Raises NotKept."""
    data = code.encode(errors="replace")
    root = parse(data.decode())
    modules = [span for node in root.children if (span := _test_module(node)) is not None]
    if len(modules) != 1:
        raise NotKept("format", f"{len(modules) or 'no'} test modules marked #[cfg(test)]; one is needed")
    start, end = modules[0]
    kept = (data[:start].rstrip() + b"\n" + data[end:].rstrip()).decode().strip() + "\n"
    tests = data[start:end].decode() + "\n"
    if "#[test]" in "".join(kept.split()):
        raise NotKept("format", "there are tests outside the test module")
    return Parts(kept, tests)


def test_count(tests: str) -> int:
    """The number of functions marked `#[test]`."""
    return sum(node.type == "attribute_item" and text_of(node) == "#[test]" for node in walk(parse(tests)))


def signature(found: Parts) -> str:
    """The interface that the tests need: the head of the function that they call, below the types and imports that it
    names; an outline of all heads if they need methods or several functions. Raises NotKept if they need nothing.
    """
    root = parse(found.code)
    wanted = _names(parse(found.tests))
    heads = [_head(n) for n in root.children if n.type == "function_item" and _name(n) in wanted]
    outline = [*heads, *(text for n in root.children if n.type == "impl_item" for text in _impl(n, wanted))]
    if not outline:
        raise NotKept("format", "the tests call nothing of the solution")
    types = _closure(root, wanted | {name for text in outline for name in _names(parse(text))})
    named = {name for text in (*types, *outline) for name in _names(parse(text))}
    imports = [text_of(n) for n in root.children if n.type == "use_declaration" and _names(n) & named]
    if len(outline) == 1 and heads:
        return "\n".join(filter(None, ["\n".join(imports), "\n\n".join(types), heads[0]]))
    closed = [text if text.endswith("}") else f"{text};" for text in outline]
    return "\n".join(filter(None, ["\n".join(imports), "\n\n".join(types), "\n".join(closed)]))


def head_of(code: str, name: str) -> str:
    """The head of the top-level function of that name; empty if there is none."""
    found = (_head(n) for n in parse(code).children if n.type == "function_item" and _name(n) == name)
    return next(found, "")


def _test_module(node: Node) -> tuple[int, int] | None:
    """First and last byte of a `#[cfg(test)]` module, its attributes included."""
    if node.type != "mod_item":
        return None
    above = list(_attributes(node))
    marked = any("".join(text_of(one).split()) == "#[cfg(test)]" for one in above)
    return (above[-1].start_byte, node.end_byte) if marked else None


def _head(function: Node) -> str:
    body = function.child_by_field_name("body")
    end = body.start_byte if body is not None else function.end_byte
    return (function.text or b"")[: end - function.start_byte].decode().strip()


def _impl(node: Node, wanted: set[str]) -> Iterator[str]:
    """The heads of the wanted methods of an `impl`; nothing for an implementation of a trait."""
    body = node.child_by_field_name("body")
    if body is None or node.child_by_field_name("trait") is not None:
        return
    heads = [_head(n) for n in body.children if n.type == "function_item" and _name(n) in wanted]
    if heads:
        first = (node.text or b"")[: body.start_byte - node.start_byte].decode().strip()
        yield "\n".join([f"{first} {{", *(f"    {' '.join(head.split())};" for head in heads), "}"])


def _closure(root: Node, names: set[str]) -> list[str]:
    """The types and constants that these names reach, in the order of the source, with their attributes."""
    items = {_name(n): n for n in root.children if n.type in _TYPES}
    chosen: set[str] = set()
    waiting = [name for name in items if name in names]
    while waiting:
        name = waiting.pop()
        chosen.add(name)
        waiting += [other for other in items if other in _names(items[name]) and other not in chosen]
    found = ([node, *_attributes(node)] for name, node in items.items() if name in chosen)
    return ["\n".join(map(text_of, reversed(nodes))) for nodes in found]


def _attributes(node: Node) -> Iterator[Node]:
    """The attributes above an item, the nearest first; comments may be between them."""
    above = node.prev_sibling
    while above is not None and above.type in ("attribute_item", *_COMMENTS):
        if above.type == "attribute_item":
            yield above
        above = above.prev_sibling


def _name(node: Node) -> str:
    return text_of(node.child_by_field_name("name"))


def _names(node: Node) -> set[str]:
    return {text_of(n) for n in walk(node) if n.type in _NAMES}
