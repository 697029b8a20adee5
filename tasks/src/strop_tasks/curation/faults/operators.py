"""Kinds of faults that people write, and one table per language of the operators that make them.

An operator is a function from a parsed text to edits, each of which makes one fault, or a set of rules "replace what
this tree-sitter query finds". An edit replaces one span; the rest stays byte for byte. A Rust operator names the kinds
of error that its faults may cause; the compiler's first error says which it was; for kinds without codes, tests do.
Python faults have no kinds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Generic, Literal, TypeVar, get_args

from strop_tasks.curation.faults.routines import Routine
from strop_verify.code.mutate.sites import Change
from strop_verify.code.trees import Node, Source, found_by

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
"""rustc's error codes by kind. Faults of the other kinds build and fail a test."""
BEHAVIOUR: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind not in CODES)


Text = TypeVar("Text", Routine, Source)
Edit = tuple[int, int, str]  # start and end of a span in bytes, and its replacement
Finder = Callable[[Text], Iterator[Edit]]


@dataclass(frozen=True, slots=True)
class Operator(Generic[Text]):
    """A kind of fault and how to make it."""

    name: str
    kinds: tuple[Kind, ...]
    """Error kinds that its faults may cause, the most likely first."""
    find: Finder[Text]

    @property
    def builds(self) -> bool:
        """Whether tests, not the compiler, find its faults."""
        return self.kinds[0] in BEHAVIOUR

    def changes(self, text: Text) -> list[Change]:
        """Every fault of this kind in a text, by position."""
        found = {Change(self.name, *edit) for edit in self.find(text)}
        changing = (c for c in found if text.data[c.start : c.end] != c.after.encode())
        return sorted(changing, key=lambda c: (c.start, c.end, c.after))

    def kind_of(self, code: str) -> Kind | None:
        """The kind of an error with this code; None if this operator should not cause it."""
        return next((kind for kind in self.kinds if code in CODES.get(kind, ())), None)


class OperatorTable(dict[str, Operator[Text]]):
    """Operators by name."""

    def add(self, name: str, *kinds: Kind) -> Callable[[Finder[Text]], Finder[Text]]:
        """Registers a finder under a name, with the kinds of error that its faults may cause, the likeliest first."""

        def register(find: Finder[Text]) -> Finder[Text]:
            assert name not in self, name
            self[name] = Operator(name, kinds, find)
            return find

        return register

    def rule(
        self, name: str, *kinds: Kind, at: str, cut: str = "at", to: str = "", line: bool = False
    ) -> None:
        """Registers a rule of an operator, which may have several.

        at   a tree-sitter query
        cut  what is replaced: a capture, or a span such as "^at a$", from the start of `at` to the end of `a`
        to   its replacement; {a}: the text of the capture `a`
        line whether to remove the rest of the line too, if nothing else is on it
        """
        first, last = cut.split() if " " in cut else (f"^{cut}", f"{cut}$")

        def find(text: Text) -> Iterator[Edit]:
            for found in matches(text, at):
                start, end = _position(found, first), _position(found, last)
                if line:
                    start, end = whole_line(text.data, start, end)
                new = to.format_map({capture: text.string(node) for capture, node in found.items()})
                yield start, end, new

        self._extend(name, kinds, find)

    def words(self, name: str, *kinds: Kind, at: str, others: Mapping[str, str | tuple[str, ...]]) -> None:
        """Registers a rule that replaces the text of the capture `at` by each of its `others`."""

        def find(text: Text) -> Iterator[Edit]:
            for found in matches(text, at):
                other = others.get(text.string(found["at"]), ())
                yield from (
                    replace(found["at"], one) for one in ([other] if isinstance(other, str) else other)
                )

        self._extend(name, kinds, find)

    def swap(self, name: str, *kinds: Kind, at: str) -> None:
        """Registers a rule that swaps the captures `a` and `b`."""
        self._extend(
            name, kinds, lambda text: (swapped(text, one["a"], one["b"]) for one in matches(text, at))
        )

    def _extend(self, name: str, kinds: tuple[Kind, ...], find: Finder[Text]) -> None:
        before = self.get(name)
        finders = [find] if before is None else [before.find, find]
        self[name] = Operator(name, kinds, lambda text: chain.from_iterable(one(text) for one in finders))


def _position(found: Mapping[str, Node], place: str) -> int:
    """The byte at a place such as "^at" or "at$"."""
    node = found[place.strip("^$")]
    return node.start_byte if place[0] == "^" else node.end_byte


def matches(text: Routine | Source, query: str) -> Iterator[dict[str, Node]]:
    """The captures of each match of a query; in a routine, of matches whose `at` may be changed."""
    source, top = (text.source, text.node) if isinstance(text, Routine) else (text, text.root)
    for found in found_by(query, top, source.language) if top is not None else ():
        if not isinstance(text, Routine) or text.is_open(found["at"]):
            yield found


PYTHON: OperatorTable[Routine] = OperatorTable()
"""Operators on Python functions. Filled by the modules of `python/`: import it from there."""
RUST: OperatorTable[Source] = OperatorTable()
"""Operators on Rust programs. Filled by the modules of `rust/`: import it from there."""


def replace(node: Node, text: str) -> Edit:
    """The node replaced by a text."""
    return node.start_byte, node.end_byte, text


def swapped(source: Routine | Source, left: Node, right: Node) -> Edit:
    """The two nodes swapped, with the text between them kept."""
    between = source.data[left.end_byte : right.start_byte].decode("utf-8", "surrogatepass")
    return left.start_byte, right.end_byte, f"{source.string(right)}{between}{source.string(left)}"


def indent_of(source: Source, node: Node) -> str:
    """The indentation of the line on which a node starts."""
    start = source.data.rfind(b"\n", 0, node.start_byte) + 1
    line = source.data[start : node.start_byte]
    return line[: len(line) - len(line.lstrip())].decode()


def whole_line(data: bytes, start: int, end: int) -> tuple[int, int]:
    """A span with the rest of its line, if nothing else is on it."""
    head, foot = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", end)
    alone = not data[head:start].strip() and foot >= 0 and not data[end:foot].strip()
    return (head, foot + 1) if alone else (start, end)
