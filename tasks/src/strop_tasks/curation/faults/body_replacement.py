"""Replaces a function's body with one that a model wrote.

Head, docstring and decorators stay the original's; name and parameters must match. Indentation is adjusted, and new
comments are dropped because they reveal the bug. Answers are hostile text: they are parsed, never run here.
"""

from textwrap import dedent

from strop_tasks.curation.faults.operators import indent_of
from strop_verify.code.trees import Node, Source

_FUNCTION = {"python": "function_definition", "rust": "function_item"}
_STRINGS = {"python": ("string",), "rust": ("string_literal", "raw_string_literal")}
_COMMENTS = ("comment", "line_comment", "block_comment")


class NoFault(Exception):
    """Why an answer cannot be used, in a few words that do not depend on the answer."""


def shown(source: Source, node: Node) -> str:
    """A function as the model sees it: dedented."""
    return _moved(source, (node.start_byte, node.end_byte), indent_of(source, node), "")


def fitted(source: Source, node: Node, code: str) -> tuple[int, int, str]:
    """The byte span of the original's body, and its replacement. Raises NoFault."""
    code = code.replace("\r\n", "\n")
    if not code.strip():
        raise NoFault("the answer holds no code")
    theirs, function = _function(code, source.language)
    comments = {source.string(comment).strip() for comment in source.all(*_COMMENTS)}
    theirs, function = _function(_without_comments(theirs, comments), source.language)
    for field, what in (("name", "name"), ("parameters", "list of parameters")):
        given = theirs.tokens(function.child_by_field_name(field))
        if given != source.tokens(node.child_by_field_name(field)):
            raise NoFault(f"the answer has another {what}")
    ours, others = _body(source, node), _body(theirs, function)
    if ours is None or others is None:
        raise NoFault("there is no body")
    lead, mine, other = _indents(source, node, ours, theirs, others)
    if source.language == "rust":
        lead, mine, other = "", indent_of(source, node), indent_of(theirs, function)
    text = lead + _moved(theirs, others, other, mine)
    return *ours, text.replace("\n", "\r\n") if b"\r\n" in source.data else text


def _function(code: str, language: str) -> tuple[Source, Node]:
    """The only function of an answer. Raises NoFault."""
    source = Source(dedent(code), language)
    if source.too_long:
        raise NoFault("the answer is too long")
    if source.root.has_error:
        raise NoFault("the answer does not parse")
    found = [n for n in source.root.named_children if n.type not in (*_COMMENTS, "attribute_item")]
    inner = [n.child_by_field_name("definition") if n.type == "decorated_definition" else n for n in found]
    if len(inner) != 1 or inner[0] is None or inner[0].type != _FUNCTION[language]:
        raise NoFault("the answer is not the function alone")
    return source, inner[0]


def _body(source: Source, function: Node) -> tuple[int, int] | None:
    """The span of a function's body: in Python the statements after the docstring, in Rust the block."""
    block = function.child_by_field_name("body")
    if block is None or source.language == "rust":
        return (block.start_byte, block.end_byte) if block is not None else None
    lines = [n for n in block.named_children if n.type not in _COMMENTS]
    if lines and lines[0].type == "expression_statement" and lines[0].named_children:
        lines = lines[lines[0].named_children[0].type in ("string", "concatenated_string") :]
    return (lines[0].start_byte, lines[-1].end_byte) if lines else None


def _indents(
    source: Source, node: Node, ours: tuple[int, int], theirs: Source, others: tuple[int, int]
) -> tuple[str, str, str]:
    """The prefix of the new body, its indentation, and that of the answer's body."""
    mine, other = _white(source, ours[0]), _white(theirs, others[0]) or ""
    if mine is not None or b"\n" not in theirs.data[slice(*others)]:
        return "", mine or "", other
    inner = f"{indent_of(source, node)}    "  # the original is on one line: the new body goes below its head
    return f"\n{inner}", inner, other


def _white(source: Source, offset: int) -> str | None:
    """The indentation before a place; None if there is other text before it on the line."""
    line = source.data[source.data.rfind(b"\n", 0, offset) + 1 : offset]
    return None if line.strip() else line.decode()


def _without_comments(source: Source, kept: set[str]) -> str:
    """The text without comments that are not in `kept`, and without lines that become empty."""
    data = source.data
    for node in sorted(source.all(*_COMMENTS), key=lambda n: n.start_byte, reverse=True):
        said = source.string(node)
        if said.strip() in kept:
            continue
        start, end = node.start_byte, node.end_byte - (len(said) - len(said.rstrip("\n")))
        head = data.rfind(b"\n", 0, start) + 1
        if not data[head:start].strip() and data[end : end + 1] in (b"\n", b""):
            data = data[:head] + data[end + 1 :]
        else:
            data = data[:start].rstrip(b" \t") + data[end:]
    return data.decode("utf-8", "replace")


def _moved(source: Source, span: tuple[int, int], before: str, after: str) -> str:
    """A part of a text reindented; strings stay as they are."""
    (start, end), data = span, source.data
    inside = [(n.start_byte, n.end_byte) for n in source.all(*_STRINGS[source.language])]
    parts, done = [], start
    at = data.find(b"\n", start, end)
    while at >= 0:
        if not any(a < at < b for a, b in inside) and data.startswith(before.encode(), at + 1):
            rest = at + 1 + len(before.encode())
            empty = data[rest : rest + 1] in (b"\n", b"\r")
            parts += [data[done : at + 1], b"" if empty else after.encode()]
            done = rest
        at = data.find(b"\n", at + 1, end)
    return b"".join([*parts, data[done:end]]).decode("utf-8", "replace")
