"""The faults of Rust programs, and of one function of a file: drawn by the seed, kinds and operators in their turns."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from strop.code.mutate.sites import Change, applied
from strop.code.rust.items import RustItems
from strop.code.trees import Source, Span, span, well_formed
from strop.core.ids import rng
from strop_curation.faults.draw import Fault, Pool
from strop_curation.faults.operators import BEHAVIOUR, KINDS, Kind
from strop_curation.faults.rust import OPERATORS


class Faults:
    """The faults of one program, in an order that depends on the program, its task's id and the seed only."""

    def __init__(self, program: str, *, seed: int, task_id: str, kinds: Collection[Kind] = KINDS) -> None:
        self._source = Source(program, "rust")
        usable = not (self._source.too_long or self._source.root.has_error)
        wanted = [op for op in OPERATORS.values() if usable and not set(op.kinds).isdisjoint(kinds)]
        self._pool = Pool(self._source, wanted, rng("rust-fix", seed, task_id), kinds)
        self.made = self._pool.made

    def drawn(self) -> Iterator[tuple[Change, str]]:
        """(fault, the program that has it), each of which parses and differs from the others and from the program."""
        seen = {_spelt(self._source.text)}
        for fault in self._pool.drawn():
            data = applied(self._source.data, [fault])
            text = data.decode("utf-8", "surrogatepass")
            if _spelt(text) not in seen and well_formed(data, "rust"):
                seen.add(_spelt(text))
                yield fault, text


@dataclass(frozen=True)
class RustFunction:
    """One `fn` with a body, outside of tests."""

    name: str
    """With the modules around it: `module::name`."""
    span: Span
    """In bytes."""
    first: int
    """Its first line, from 1."""


def rust_functions(text: str) -> list[RustFunction]:
    """The outermost functions of a file, tests excluded; empty for a file that is too long or broken."""
    source = Source(text, "rust")
    if source.too_long or source.root.has_error:
        return []
    return [
        RustFunction("::".join([*f.path, f.name]), span(f.node), source.line(f.node.start_byte))
        for f in RustItems(source).functions
        if not (f.nested or f.in_tests or f.is_test)
    ]


def rust_faults(text: str, function: RustFunction, *, seed: int, key: str) -> Iterator[Fault]:
    """One fault each that builds, as far as can be seen, in an order that depends on the function, `seed` and `key`."""
    data = text.encode("utf-8", "surrogatepass")
    start, end = function.span
    inner = data[start:end].decode("utf-8", "surrogatepass")
    drawn = Faults(inner, seed=seed, task_id=f"{key}:{function.name}:{start}", kinds=BEHAVIOUR)
    for fault, program in drawn.drawn():
        above = (data[start : start + place].count(b"\n") for place in (fault.start, fault.end))
        first, last = (function.first + lines for lines in above)
        whole = data[:start] + program.encode("utf-8", "surrogatepass") + data[end:]
        file = whole.decode("utf-8", "surrogatepass")
        yield Fault((fault.operator,), function.name, (first, last), file, _spelt(program))


def _spelt(text: str) -> str:
    """The text without its white space, by which programs count as the same."""
    return "".join(text.split())
