"""Faults that people write, their kinds, and the tables of the operators that make them, one a language.

An operator is a function from a parsed text to the edits that would each put one fault there. An edit replaces one
span, all else stays byte for byte. An operator of Rust names the kinds of error that its faults may end in; which one
it was is decided by the compiler's first error, or by the tests for the kinds without codes. Faults of Python have no
kinds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar, get_args

from strop.code.mutate.sites import Change
from strop.code.trees import Node, Source, having, span
from strop_curation.faults.routines import Routine

Kind = Literal[
    "types", "borrows", "moves", "names", "mutability", "lifetimes", "returns", "matches", "off-by-one", "logic"
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)

CODES: dict[Kind, frozenset[str]] = {
    "types": frozenset(
        {"E0029", "E0061", "E0271", "E0277", "E0282", "E0283", "E0308", "E0368", "E0369", "E0600", "E0604"}
        | {"E0605", "E0606", "E0607", "E0608", "E0614", "E0631"}
    ),
    "borrows": frozenset({"E0373", "E0499", "E0502", "E0503", "E0505", "E0506", "E0597", "E0716"}),
    "moves": frozenset({"E0382", "E0507", "E0508"}),
    "names": frozenset({"E0170", "E0405", "E0412", "E0422", "E0423", "E0425", "E0432", "E0433", "E0531"})
    | {"E0599", "E0609"},
    "mutability": frozenset({"E0384", "E0594", "E0596"}),
    "lifetimes": frozenset({"E0106", "E0261", "E0515", "E0621"}),
    "returns": frozenset({"E0069", "E0277", "E0308", "E0317"}),
    "matches": frozenset({"E0004", "E0023", "E0026", "E0027", "E0063"}),
}
"""Codes of rustc that make up a kind. Kinds that are not here build, and fail a test."""
BEHAVIOUR: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind not in CODES)


class _Parsed(Protocol):
    @property
    def data(self) -> bytes: ...
    def all(self, *kinds: str) -> list[Node]: ...


Text = TypeVar("Text", bound=_Parsed)
Edit = tuple[int, int, str]
"""Start, end (bytes) and what takes the place of that span."""
Finder = Callable[[Text], Iterator[Edit]]


@dataclass(frozen=True, slots=True)
class Operator(Generic[Text]):
    """A way to go wrong."""

    name: str
    kinds: tuple[Kind, ...]
    """What its faults may end in, the likeliest first."""
    find: Finder[Text]

    @property
    def builds(self) -> bool:
        """Whether its faults are for the tests to find, not for the compiler."""
        return self.kinds[0] in BEHAVIOUR

    def changes(self, text: Text) -> list[Change]:
        """Every fault of this kind in a text, by position."""
        found = {Change(self.name, *edit) for edit in self.find(text)}
        changing = (c for c in found if text.data[c.start : c.end] != c.after.encode())
        return sorted(changing, key=lambda c: (c.start, c.end, c.after))

    def kind_of(self, code: str) -> Kind | None:
        """The kind that an error with this code is, None for one that this operator is not to cause."""
        return next((kind for kind in self.kinds if code in CODES.get(kind, ())), None)


class OperatorTable(dict[str, Operator[Text]]):
    """Operators by name."""

    def add(self, name: str, *kinds: Kind) -> Callable[[Finder[Text]], Finder[Text]]:
        """Registers a finder under a name, with the kinds that its faults may end in, the likeliest first."""

        def register(find: Finder[Text]) -> Finder[Text]:
            assert name not in self, name
            self[name] = Operator(name, kinds, find)
            return find

        return register

    def each(
        self, name: str, *kinds: Kind, at: str, of: tuple[str, ...] = (), edit: Callable[..., Edit]
    ) -> None:
        """Registers an operator with one fault a node of type `at`: `edit(text, node, *its fields)`.

        Nodes that lack one of the fields `of` have none.
        """
        self.add(name, *kinds)(lambda text: (edit(text, *found) for found in having(text.all(at), *of)))

    def signs(self, name: str, at: str, field: str, others: Mapping[str, tuple[str, ...]]) -> None:
        """Registers an operator that writes other signs for those in a field of nodes of type `at`."""

        @self.add(name)
        def _find(text: Text) -> Iterator[Edit]:
            for node in text.all(at):
                for sign in node.children_by_field_name(field):
                    for other in others.get(sign.type, ()):
                        yield replace(sign, other)


PYTHON: OperatorTable[Routine] = OperatorTable()
"""Operators on Python functions. Filled by the modules of `python/`: import it from there."""
RUST: OperatorTable[Source] = OperatorTable()
"""Operators on Rust programs. Filled by the modules of `rust/`: import it from there."""


def replace(node: Node, text: str) -> Edit:
    """The node replaced by a text."""
    return node.start_byte, node.end_byte, text


def swapped(source: Source, left: Node, right: Node) -> Edit:
    """The two nodes in each other's place, with what is between them kept."""
    between = source.data[left.end_byte : right.start_byte].decode("utf-8", "surrogatepass")
    return left.start_byte, right.end_byte, f"{source.string(right)}{between}{source.string(left)}"


def indent_of(source: Source, node: Node) -> str:
    """The indentation of the line on which a node starts."""
    start = source.data.rfind(b"\n", 0, node.start_byte) + 1
    line = source.data[start : node.start_byte]
    return line[: len(line) - len(line.lstrip())].decode()


def line_span(source: Source, node: Node) -> tuple[int, int]:
    """The node with the rest of its line, if nothing else is on it."""
    start, end = span(node)
    head = source.data.rfind(b"\n", 0, start) + 1
    foot = source.data.find(b"\n", end)
    alone = not source.data[head:start].strip() and foot >= 0 and not source.data[end:foot].strip()
    return (head, foot + 1) if alone else (start, end)


def cut(_: object, node: Node) -> Edit:
    """The node left out, with the space before it."""
    return (node.prev_sibling or node).end_byte, node.end_byte, ""
