"""Operators on calls: the wrong function or method, arguments swapped or lost, calls left out."""

import itertools
from collections.abc import Iterator

from strop_tasks.curation.faults.operators import PYTHON, Edit, replace, swapped
from strop_tasks.curation.faults.routines import Routine
from strop_verify.code.trees import Node, having

_FUNCTIONS = {
    "min": ("max",), "max": ("min",), "any": ("all",), "all": ("any",), "sum": ("max", "len"), "len": ("sum",),
    "floor": ("ceil",), "ceil": ("floor",), "round": ("int",), "int": ("float", "round"), "float": ("int",),
    "sorted": ("reversed",), "ord": ("int",), "str": ("repr",), "repr": ("str",), "tuple": ("list",), "set": ("list",),
    "list": ("set",), "isinstance": ("issubclass",), "islice": ("takewhile",), "takewhile": ("dropwhile",),
    "dropwhile": ("takewhile",), "filter": ("map",), "divmod": ("pow",), "zip_longest": ("zip",),
}  # fmt: skip
_METHODS = {
    "append": ("extend",), "extend": ("append",), "lstrip": ("strip", "rstrip"), "rstrip": ("strip", "lstrip"),
    "strip": ("lstrip", "rstrip"), "upper": ("lower",), "lower": ("upper",), "find": ("rfind", "index"),
    "rfind": ("find",), "index": ("rindex", "find"), "startswith": ("endswith",), "endswith": ("startswith",),
    "keys": ("values",), "values": ("keys", "items"), "items": ("keys",), "add": ("discard",), "popleft": ("pop",),
    "appendleft": ("append",), "isdigit": ("isalpha",), "isalpha": ("isalnum",), "isalnum": ("isalpha",),
    "isupper": ("islower",), "islower": ("isupper",), "capitalize": ("title", "upper"), "title": ("capitalize",),
    "split": ("rsplit", "splitlines"), "rsplit": ("split",), "partition": ("rpartition",),
    "rpartition": ("partition",), "union": ("intersection",), "intersection": ("union",),
    "difference": ("symmetric_difference",), "issubset": ("issuperset",), "issuperset": ("issubset",),
    "update": ("setdefault",), "ljust": ("rjust",), "rjust": ("ljust",), "floor": ("ceil",), "ceil": ("floor",),
    "match": ("search", "fullmatch"), "search": ("match",), "fullmatch": ("match",), "bisect_left": ("bisect_right",),
    "bisect_right": ("bisect_left",), "swapcase": ("upper",), "removeprefix": ("lstrip",),
    "removesuffix": ("rstrip",), "casefold": ("upper",), "zfill": ("ljust",), "isspace": ("isalpha",),
    "get": ("pop",), "pop": ("get",), "group": ("groups",), "islice": ("takewhile",),
}  # fmt: skip
_AROUND = frozenset({"sorted", "reversed", "set", "list", "abs", "round", "int", "float", "str", "tuple", "dict",
                     "iter", "frozenset", "bool", "len"})  # fmt: skip
_BEHIND = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "copy", "casefold", "title", "capitalize",
                     "reverse", "values", "items", "keys", "split", "encode", "decode"})  # fmt: skip
_ALONE = frozenset({"identifier", "call", "attribute", "subscript", "list", "tuple", "integer", "string"})
_LOOSE = frozenset({"return_statement", "assignment", "argument_list", "for_statement"})
"""Parents whose children need no parentheses."""
_PLAIN = ("keyword_argument", "list_splat", "dictionary_splat")


# `min(a)` becomes `max(a)`, `a.append(b)` becomes `a.extend(b)`
PYTHON.words(
    "wrong-function", at="(call function: (identifier) @at arguments: (argument_list))", others=_FUNCTIONS
)
PYTHON.words(
    "wrong-method", at="(call function: (attribute attribute: (_) @at) arguments: (argument_list))", others=_METHODS
)  # fmt: skip
# `enumerate(a)` becomes `enumerate(a, 1)` or vice versa
_ENUMERATED = '(call function: (identifier) @f arguments: (argument_list . {}) (#eq? @f "enumerate")) @at'
PYTHON.rule("counted-from-one", at=_ENUMERATED.format("(_) @a ."), cut="a$ a$", to=", 1")
PYTHON.rule("counted-from-one", at=_ENUMERATED.format("(_) @a (_) @b ."), cut="a$ b$")


def _calls(routine: Routine) -> Iterator[tuple[Node, Node, list[Node]]]:
    """(call, callee, its arguments without comments)."""
    for node, function, arguments in having(routine.all("call"), "function", "arguments"):
        if arguments.type == "argument_list":
            yield node, function, [n for n in arguments.named_children if n.type != "comment"]


@PYTHON.add("swapped-arguments")
def _swapped_arguments(routine: Routine) -> Iterator[Edit]:
    """`f(a, b)` becomes `f(b, a)`."""
    for _, _, arguments in _calls(routine):
        placed = [n for n in arguments if n.type not in _PLAIN]
        for left, right in itertools.pairwise(placed):
            yield swapped(routine.source, left, right)


@PYTHON.add("lost-argument")
def _lost_argument(routine: Routine) -> Iterator[Edit]:
    """`sorted(a, key=f)` becomes `sorted(a)`, `d.get(a, 0)` becomes `d.get(a)`."""
    for _, _, arguments in _calls(routine):
        for before, lost in itertools.pairwise(arguments):
            if lost.type == "keyword_argument" or lost is arguments[-1]:
                yield before.end_byte, lost.end_byte, ""
        if len(arguments) == 1 and arguments[0].type not in ("list_splat", "generator_expression"):
            yield replace(arguments[0], "")


@PYTHON.add("lost-call")
def _lost_call(routine: Routine) -> Iterator[Edit]:
    """`sorted(a)` becomes `a`, `a.strip()` becomes `a`."""
    for node, function, arguments in _calls(routine):
        if routine.string(function) in _AROUND and arguments and arguments[0].type not in _PLAIN:
            yield replace(node, _kept(routine, node, arguments[0]))
        name = function.child_by_field_name("attribute") if function.type == "attribute" else None
        receiver = function.child_by_field_name("object")
        if name is not None and receiver is not None and routine.string(name) in _BEHIND:
            yield receiver.end_byte, node.end_byte, ""


@PYTHON.add("same-argument")
def _same_argument(routine: Routine) -> Iterator[Edit]:
    """`f(a, b)` becomes `f(a, a)`."""
    for _, _, arguments in _calls(routine):
        placed = [n for n in arguments if n.type == "identifier"]
        for left, right in itertools.pairwise(placed):
            yield replace(right, routine.string(left))
            yield replace(left, routine.string(right))


def _kept(routine: Routine, call: Node, argument: Node) -> str:
    """The text of an argument that replaces its call, in parentheses if needed."""
    text, around = routine.string(argument), routine.source.parent(call)
    if argument.type == "generator_expression" and not text.startswith("("):
        return f"({text})"
    loose = around is not None and around.type in _LOOSE
    return text if argument.type in _ALONE or loose or text.startswith("(") else f"({text})"
