"""Operators on values: constants, defaults, first values, indices, slices and ranges."""

from collections.abc import Iterator

from strop_tasks.curation.faults.operators import PYTHON, Edit, replace
from strop_tasks.curation.faults.routines import Routine
from strop_verify.code.trees import Node, having

_LARGEST = 10**6
_SIMPLE = frozenset({"identifier", "integer", "call", "attribute", "subscript", "parenthesized_expression"})
_FIRST = {
    "0": ("1", "-1"), "1": ("0",), "True": ("False",), "False": ("True",), "-1": ("0",), "''": ("' '",),
    '""': ('" "',), "float('inf')": ("0",), 'float("inf")': ("0",), "float('-inf')": ("0",), 'float("-inf")': ("0",),
    "math.inf": ("0",), "-math.inf": ("0",), "None": ("0",), "[]": ("[0]",), "0.0": ("1.0",), "1.0": ("0.0",),
}  # fmt: skip


# `def f(a=0)` becomes `def f(a=1)`; `best = 0` becomes `best = 1`, `best = a[0]` becomes `best = 0`
PYTHON.words(
    "other-default", others=_FIRST,
    at="[(default_parameter value: (_) @at) (typed_default_parameter value: (_) @at)]",
)  # fmt: skip
PYTHON.words("other-first-value", at="(assignment left: (identifier) right: (_) @at)", others=_FIRST)
PYTHON.rule(
    "other-first-value", to="0",
    at='(assignment left: (identifier) right: (subscript) @at (#match? @at "\\\\[0\\\\]$"))',
)  # fmt: skip


@PYTHON.add("one-more-or-less")
def _one_more_or_less(routine: Routine) -> Iterator[Edit]:
    """`2` becomes `3` or `1`."""
    for node in routine.all("integer"):
        text = routine.string(node)
        if text.isdecimal() and int(text) <= _LARGEST and not _is_default(routine, node):
            yield replace(node, str(int(text) + 1))
            if int(text) > 0:
                yield replace(node, str(int(text) - 1))


@PYTHON.add("other-float")
def _other_float(routine: Routine) -> Iterator[Edit]:
    """`2.5` becomes `3.5`."""
    for node in routine.all("float"):
        text = routine.string(node)
        whole, dot, rest = text.partition(".")
        if dot and whole.isdecimal() and rest.isdecimal():
            yield replace(node, f"{int(whole) + 1}.{rest}")


@PYTHON.add("opposite-constant")
def _opposite_constant(routine: Routine) -> Iterator[Edit]:
    """`True` becomes `False`."""
    for node in routine.all("true", "false"):
        if not _is_default(routine, node):
            yield replace(node, "False" if node.type == "true" else "True")


@PYTHON.add("other-text")
def _other_text(routine: Routine) -> Iterator[Edit]:
    """`" "` becomes `""`, `"abc"` becomes `"ab"` or `"ABC"`."""
    for node in routine.all("string"):
        parts = [child for child in node.children if child.type == "string_content"]
        plain = len(node.children) in (2, 3) and not any(c.type == "interpolation" for c in node.children)
        if not plain or routine.source.within(node, frozenset({"raise_statement"})) is not None:
            continue
        quote = node.children[-1].start_byte
        if not parts:
            yield quote, quote, " "
            continue
        text = routine.string(parts[0])
        if "\\" not in text:
            yield replace(parts[0], text[:-1])
            if text.swapcase() != text:
                yield replace(parts[0], text.swapcase())


@PYTHON.add("range-end")
def _range_end(routine: Routine) -> Iterator[Edit]:
    """`range(n)` becomes `range(n - 1)` or `range(n + 1)`."""
    for given in _ranges(routine):
        yield from _shifted(routine, given[min(1, len(given) - 1)])


@PYTHON.add("range-start")
def _range_start(routine: Routine) -> Iterator[Edit]:
    """`range(a, b)` becomes `range(a + 1, b)` or `range(b)`; `range(n)` becomes `range(1, n)`."""
    for given in _ranges(routine):
        if len(given) == 1:
            yield given[0].start_byte, given[0].start_byte, "1, "
            continue
        yield from _shifted(routine, given[0])
        if len(given) == 2:
            yield given[0].start_byte, given[1].start_byte, ""


@PYTHON.add("range-step")
def _range_step(routine: Routine) -> Iterator[Edit]:
    """`range(a, b, c)` becomes `range(a, b)`."""
    for given in _ranges(routine):
        if len(given) == 3:
            yield given[1].end_byte, given[2].end_byte, ""


@PYTHON.add("other-index")
def _other_index(routine: Routine) -> Iterator[Edit]:
    """`a[i]` becomes `a[i + 1]` or `a[i - 1]`, `a[0]` becomes `a[-1]`, `a[-1]` becomes `a[0]`."""
    counted = _counted(routine)
    for node in routine.all("subscript"):
        for index in node.children_by_field_name("subscript"):
            text = routine.string(index)
            if text in ("0", "-1"):
                yield replace(index, "-1" if text == "0" else "0")
            elif index.type == "binary_operator" or text in counted:
                yield from _shifted(routine, index)


@PYTHON.add("slice-bound")
def _slice_bound(routine: Routine) -> Iterator[Edit]:
    """`a[i:j]` becomes `a[i + 1:j]`, `a[i:]` or `a[:j]`; `a[::-1]` becomes `a[::1]`."""
    for node in routine.all("slice"):
        for bound in node.named_children:
            if bound.type == "comment":
                continue
            text = routine.string(bound)
            if text == "-1":
                yield replace(bound, "1")
            elif not text.isdecimal():
                yield from _shifted(routine, bound)
            yield replace(bound, "")


def _counted(routine: Routine) -> set[str]:
    """Names that look like numbers: operands of arithmetic and comparisons, and loop variables over a `range`."""
    found: set[str] = set()
    for node in routine.all("binary_operator", "augmented_assignment", "comparison_operator"):
        found |= {routine.string(n) for n in node.named_children if n.type == "identifier"}
    for given in _ranges(routine):
        loop = routine.source.within(given[0], frozenset({"for_statement", "for_in_clause"}))
        found |= {routine.string(loop.child_by_field_name("left"))} if loop is not None else set()
    return found


def _ranges(routine: Routine) -> Iterator[list[Node]]:
    """The arguments of each `range`, plain ones only."""
    for _, function, arguments in having(routine.all("call"), "function", "arguments"):
        if routine.string(function) != "range":
            continue
        given = [n for n in arguments.named_children if n.type != "comment"]
        if 1 <= len(given) <= 3 and not any(n.type in ("list_splat", "generator_expression") for n in given):
            yield given


def _shifted(routine: Routine, node: Node) -> Iterator[Edit]:
    """The number plus one and minus one; one that ends in `+ 1` or `- 1` only loses that."""
    text = routine.string(node)
    if text.lstrip("-").isdecimal():
        yield replace(node, str(int(text) + 1))
        yield replace(node, str(int(text) - 1))
        return
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if node.type == "binary_operator" and left and right and sign and sign.type in ("+", "-"):
        if routine.string(right) == "1":
            yield left.end_byte, right.end_byte, ""
            return
    elif node.type not in _SIMPLE:
        return
    yield node.end_byte, node.end_byte, " + 1"
    yield node.end_byte, node.end_byte, " - 1"


def _is_default(routine: Routine, node: Node) -> bool:
    around = routine.source.parent(node)
    return around is not None and around.type in ("default_parameter", "typed_default_parameter")
