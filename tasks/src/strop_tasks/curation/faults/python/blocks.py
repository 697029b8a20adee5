"""Operators on statements: dropped, moved, swapped; what a loop or branch does."""

import itertools
from collections.abc import Iterator

from strop_tasks.curation.faults.operators import PYTHON, Edit, indent_of, replace, swapped, whole_line
from strop_tasks.curation.faults.routines import Routine
from strop_verify.code.trees import Node, having

_AUGMENTED = {
    "+=": ("-=", "="), "-=": ("+=", "="), "*=": ("+=", "="), "/=": ("*=", "//="), "//=": ("/=", "%="),
    "%=": ("//=",), "|=": ("&=", "="), "&=": ("|=",), "**=": ("*=",), "^=": ("|=",), "<<=": (">>=",), ">>=": ("<<=",),
}  # fmt: skip
_DROPPED = frozenset({"call", "augmented_assignment", "await", "yield"})
_VALUES = "(list) (dictionary) (string) (integer) (identifier) (tuple)"


PYTHON.words("augmented", at="(augmented_assignment operator: _ @at)", others=_AUGMENTED)
PYTHON.rule("if-for-elif", at='(elif_clause "elif" @at)', to="if")
PYTHON.rule("if-for-while", at='(while_statement "while" @at)', to="if")
# `if a: b else: c` becomes `if a: c else: b`
PYTHON.swap(
    "swapped-branches",
    at="""(if_statement consequence: (_) @a . (comment)* .
          alternative: [(else_clause body: (_) @b) (elif_clause consequence: (_) @b)]) @at""",
)  # fmt: skip
# `return a` and `return []` become `return None`, `return None` becomes `return False`
PYTHON.rule("other-result", at=f"(return_statement . [{_VALUES}] @at)", to="None")
PYTHON.rule("other-result", at="(return_statement . (none) @at)", to="False")


@PYTHON.add("not-augmented")
def _not_augmented(routine: Routine) -> Iterator[Edit]:
    """`a = b` becomes `a += b`, where `a` is bound elsewhere too."""
    bound = [
        routine.string(n.child_by_field_name("left"))
        for n in routine.all("assignment", "augmented_assignment")
    ]
    for node, left, right in having(routine.all("assignment"), "left", "right"):
        again = left.type == "identifier" and bound.count(routine.string(left)) > 1
        if again and "type" not in [child.type for child in node.named_children]:
            yield left.end_byte, right.start_byte, " += "


@PYTHON.add("dropped-statement")
def _dropped_statement(routine: Routine) -> Iterator[Edit]:
    """A call, an assignment to a known name, or a loop left out."""
    bound = [routine.string(n) for n in routine.all("identifier")]
    for node in routine.all("expression_statement"):
        inner = node.named_children[0] if node.named_children else None
        if inner is None:
            continue
        target = inner.child_by_field_name("left") if inner.type == "assignment" else None
        plain = target is None or target.type == "identifier"
        again = target is not None and (not plain or bound.count(routine.string(target)) > 2)
        if inner.type in _DROPPED or again:
            yield _without(routine, node)
    for node in routine.all("delete_statement", "for_statement"):
        yield _without(routine, node)


@PYTHON.add("dropped-guard")
def _dropped_guard(routine: Routine) -> Iterator[Edit]:
    """An `if` left out: a base case, a check of the input, a `continue`."""
    for node in routine.all("if_statement"):
        if not node.children_by_field_name("alternative"):
            yield _without(routine, node)


@PYTHON.add("always")
def _always(routine: Routine) -> Iterator[Edit]:
    """`if a: b` becomes `b`: the condition is forgotten."""
    for node, body in having(routine.all("if_statement"), "consequence"):
        if node.children_by_field_name("alternative") or _rows(node) != _rows(body) + 1:
            continue
        shift = len(_line_indent(routine, body)) - len(indent_of(routine.source, node))
        if _rows(body) == 1 and shift > 0:
            yield replace(node, routine.string(body))


@PYTHON.add("dropped-else")
def _dropped_else(routine: Routine) -> Iterator[Edit]:
    """An `else` or `elif` left out."""
    for node in routine.all("else_clause", "elif_clause"):
        if _alone(routine, node):
            end = node.end_byte + (routine.data[node.end_byte : node.end_byte + 1] == b"\n")
            yield node.start_byte - len(indent_of(routine.source, node)), end, ""


@PYTHON.add("missing-return")
def _missing_return(routine: Routine) -> Iterator[Edit]:
    """`return a` left out, or only its `return`."""
    for node in routine.all("return_statement"):
        value = next(iter(node.named_children), None)
        if value is not None and value.type in ("call", "await"):
            yield node.start_byte, value.start_byte, ""
        elif value is None or not _last_of_function(routine, node):
            yield _without(routine, node)


@PYTHON.add("break-or-continue")
def _break_or_continue(routine: Routine) -> Iterator[Edit]:
    """`break` becomes `continue` or vice versa; or either is left out."""
    for node in routine.all("break_statement", "continue_statement"):
        yield replace(node, "continue" if node.type == "break_statement" else "break")
        yield _without(routine, node)


@PYTHON.add("moved-in")
def _moved_in(routine: Routine) -> Iterator[Edit]:
    """The line after a loop or branch moved into it; early returns included."""
    for node in routine.all("for_statement", "while_statement", "if_statement", "with_statement"):
        body = _body(node)
        behind = node.next_named_sibling
        if body is None or behind is None or _rows(behind) != 1 or node.children_by_field_name("alternative"):
            continue
        ours, inner = indent_of(routine.source, behind), _line_indent(routine, body)
        if len(inner) > len(ours) and inner.startswith(ours) and _alone(routine, behind):
            yield behind.start_byte - len(ours), behind.start_byte, inner


@PYTHON.add("moved-out")
def _moved_out(routine: Routine) -> Iterator[Edit]:
    """The last line of a loop or branch moved out of it."""
    for node in routine.all("for_statement", "while_statement", "if_statement"):
        body = _body(node)
        if body is None or len(body.named_children) < 2 or node.children_by_field_name("alternative"):
            continue
        last, outer = body.named_children[-1], indent_of(routine.source, node)
        inner = indent_of(routine.source, last)
        if _rows(last) == 1 and _alone(routine, last) and inner.startswith(outer) and inner != outer:
            yield last.start_byte - len(inner), last.start_byte, outer


@PYTHON.add("swapped-statements")
def _swapped_statements(routine: Routine) -> Iterator[Edit]:
    """Two neighbouring lines swapped."""
    for block in routine.all("block"):
        lines = [n for n in block.named_children if n.type == "expression_statement" and _rows(n) == 1]
        for first, second in itertools.pairwise(lines):
            if first.next_named_sibling == second and _alone(routine, first) and _alone(routine, second):
                yield swapped(routine.source, first, second)


def _without(routine: Routine, node: Node) -> Edit:
    """The statement removed; `pass` if it is the only one of its block."""
    around = routine.source.parent(node)
    others = [n for n in around.named_children if n.type != "comment"] if around is not None else []
    if len(others) < 2:
        return replace(node, "pass")
    return (*whole_line(routine.data, node.start_byte, node.end_byte), "")


def _body(node: Node) -> Node | None:
    """The block of a loop, branch or `with`."""
    return node.child_by_field_name("body") or node.child_by_field_name("consequence")


def _last_of_function(routine: Routine, node: Node) -> bool:
    around = routine.source.parent(routine.source.parent(node) or node)
    return around is not None and around.type == "function_definition"


def _rows(node: Node) -> int:
    return node.end_point[0] - node.start_point[0] + 1


def _line_indent(routine: Routine, block: Node) -> str:
    """The indentation of a block's first statement; empty if it follows the colon."""
    first = next((n for n in block.named_children if n.type != "comment"), block)
    return indent_of(routine.source, first) if _alone(routine, first) else ""


def _alone(routine: Routine, node: Node) -> bool:
    """Whether the statement is the first on its line."""
    start = routine.data.rfind(b"\n", 0, node.start_byte) + 1
    return not routine.data[start : node.start_byte].strip()
