"""Operators on expressions and names: comparisons, arithmetic, logic and operands; wrong variables, attributes and
exceptions.
"""

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterator

from strop_tasks.curation.faults.operators import PYTHON, Edit, replace, swapped
from strop_tasks.curation.faults.routines import Routine
from strop_verify.code.trees import Node, having

_ARITHMETIC = {
    "+": ("-",), "-": ("+",), "*": ("+", "**"), "/": ("//", "*"), "//": ("/", "%"), "%": ("//",), "**": ("*",),
    "&": ("|",), "|": ("&",), "^": ("|",), "<<": (">>",), ">>": ("<<",),
}  # fmt: skip
_BOUNDARY = {"<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",)}
_TURNED = {"<": (">",), ">": ("<",), "<=": (">=",), ">=": ("<=",)}
_OPPOSITE = {
    "==": ("!=",), "!=": ("==",), "in": ("not in",), "not in": ("in",), "is": ("is not",), "is not": ("is",)
}  # fmt: skip
_OPERATIONS = ("binary_operator", "boolean_operator", "not_operator", "unary_operator", "comparison_operator")


_COMPARISON = "(comparison_operator operators: _ @at)"
PYTHON.words("boundary", at=_COMPARISON, others=_BOUNDARY)
PYTHON.words("turned-comparison", at=_COMPARISON, others=_TURNED)
PYTHON.words("opposite-comparison", at=_COMPARISON, others=_OPPOSITE)
PYTHON.words("arithmetic", at="(binary_operator operator: _ @at)", others=_ARITHMETIC)
PYTHON.words("boolean", at="(boolean_operator operator: _ @at)", others={"and": "or", "or": "and"})

# `a - b` becomes `b - a`; also for strings that are added
PYTHON.swap(
    "swapped-operands",
    at='(binary_operator left: (_) @a operator: ["-" "/" "//" "%" "**" "@" "<<" ">>"] right: (_) @b) @at',
)
PYTHON.swap(
    "swapped-operands",
    at='(binary_operator left: [(string) (concatenated_string)] @a operator: "+" right: (_) @b) @at',
)
PYTHON.swap("swapped-operands", at='(binary_operator left: (_) @a operator: "+" right: (string) @b) @at')

# `a + 1` becomes `a`, `a and b` becomes `a` or `b`
PYTHON.rule(
    "lost-operand", at="[(binary_operator left: (_) @a) (boolean_operator left: (_) @a)] @at", cut="a$ at$"
)
PYTHON.rule("lost-operand", at="(boolean_operator right: (_) @b) @at", cut="^at ^b")

# `not a` and `-a` become `a`; `a if c else b` becomes `b if c else a`; `[x for x in a if x]` becomes `[x for x in a]`
PYTHON.rule("lost-not", at="(not_operator argument: (_) @a) @at", cut="^at ^a")
PYTHON.rule("lost-minus", at='(unary_operator ["-" "~"] argument: (_) @a) @at', cut="^at ^a")
PYTHON.swap("swapped-choices", at="(conditional_expression . (_) @a . (_) . (_) @b .) @at")
# `(a + b) * c` becomes `a + b * c`
_INNER = " ".join(f"({kind})" for kind in _OPERATIONS)
for _kind in _OPERATIONS:
    PYTHON.rule(
        "lost-parentheses", at=f"({_kind} (parenthesized_expression . [{_INNER}] @a .) @at)", to="{a}"
    )
PYTHON.rule("lost-filter", at="(_ (_) @before . (if_clause) @at)", cut="before$ at$")


@PYTHON.add("negated-condition")
def _negated_condition(routine: Routine) -> Iterator[Edit]:
    """`if a:` becomes `if not a:`."""
    for node in routine.all("if_statement", "elif_clause", "conditional_expression", "if_clause"):
        condition = condition_of(node)
        if condition is not None and condition.type not in ("not_operator", "comparison_operator"):
            simple = condition.type in ("identifier", "call", "attribute", "subscript")
            text = routine.string(condition)
            yield replace(condition, f"not {text}" if simple else f"not ({text})")


@PYTHON.add("swapped-items")
def _swapped_items(routine: Routine) -> Iterator[Edit]:
    """`return a, b` becomes `return b, a`; also targets, and items of tuples and lists."""
    for node in routine.all("expression_list", "tuple", "pattern_list", "list"):
        items = [child for child in node.named_children if child.type != "comment"]
        if 2 <= len(items) <= 4:
            for left, right in itertools.pairwise(items):
                yield swapped(routine.source, left, right)


def condition_of(node: Node) -> Node | None:
    """The condition of an `if`, `elif`, `while`, conditional expression or filter."""
    if node.type == "conditional_expression":
        parts = [child for child in node.named_children if child.type != "comment"]
        return parts[1] if len(parts) == 3 else None
    if node.type == "if_clause":
        return node.named_children[0] if node.named_children else None
    return node.child_by_field_name("condition")


_MOST_NAMES = 8  # names that are tried in one place
_EXCEPTIONS = {
    "ValueError": ("TypeError", "KeyError"), "KeyError": ("IndexError", "ValueError"), "IndexError": ("KeyError",),
    "TypeError": ("ValueError",), "AttributeError": ("TypeError",), "ZeroDivisionError": ("ValueError",),
    "StopIteration": ("IndexError",), "RuntimeError": ("ValueError",), "NotImplementedError": ("TypeError",),
    "OSError": ("ValueError",), "ImportError": ("OSError",), "LookupError": ("ValueError",), "Exception": ("OSError",),
    "FileNotFoundError": ("PermissionError",), "UnicodeDecodeError": ("LookupError",), "OverflowError": ("KeyError",),
    "AssertionError": ("ValueError",),
}  # fmt: skip


@PYTHON.add("wrong-variable")
def _wrong_variable(routine: Routine) -> Iterator[Edit]:
    """`a` becomes `b`, another variable of the same function."""
    known = _variables(routine.tree)
    for node in _plain_names(routine.tree):
        others = known if node.id in known else []
        place = routine.offset(node.lineno, node.col_offset)
        for other in _nearest(node.id, others):
            yield place, place + len(node.id.encode()), other


@PYTHON.add("wrong-attribute")
def _wrong_attribute(routine: Routine) -> Iterator[Edit]:
    """`self.a` becomes `self.b`, another attribute of the same object."""
    attributes: dict[str, set[str]] = defaultdict(set)
    found = []
    for node, name, owner in having(routine.all("attribute"), "attribute", "object"):
        around = routine.source.parent(node)
        called = around is not None and around.type == "call" and around.children[0] == node
        if owner.type == "identifier" and not called:
            attributes[routine.string(owner)].add(routine.string(name))
            found.append((owner, name))
    for owner, name in found:
        for other in _nearest(routine.string(name), sorted(attributes[routine.string(owner)])):
            yield replace(name, other)


@PYTHON.add("wrong-exception")
def _wrong_exception(routine: Routine) -> Iterator[Edit]:
    """`except KeyError` becomes `except IndexError`; also in `raise`."""
    for around in routine.all("except_clause", "raise_statement"):
        body = next((n for n in around.named_children if n.type == "block"), None)
        end = body.start_byte if body is not None else around.end_byte
        for node in routine.source.inner(around, "identifier"):
            for other in _EXCEPTIONS.get(routine.string(node), ()) if node.end_byte <= end else ():
                yield replace(node, other)


def _variables(tree: ast.Module) -> list[str]:
    """Names that the function binds, `self` and `cls` left out."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return sorted(found - {"self", "cls", "_"})


def _plain_names(tree: ast.Module) -> Iterator[ast.Name]:
    """Names that are read, except in annotations, decorators and f-strings (whose positions are not known)."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
                continue
            children = value if isinstance(value, list) else [value]
            waiting += [child for child in children if isinstance(child, ast.AST)]


def _nearest(name: str, others: list[str]) -> list[str]:
    """The other names, most similar in length first."""
    rest = [other for other in others if other != name]
    return sorted(rest, key=lambda other: (abs(len(other) - len(name)), other))[:_MOST_NAMES]
