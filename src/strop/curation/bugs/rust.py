"""Faults of Rust functions that build: the operators of `rust_fix.behaviour`, one function at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

from strop.code.mutate.python.faults import Fault
from strop.code.mutate.rust.choose import Faults
from strop.code.mutate.rust.faults import BEHAVIOUR
from strop.code.rust.items import RustItems
from strop.code.trees import Source, Span


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
    """The functions of a file that are no tests, outermost ones; empty for a file that is too long or broken."""
    source = Source(text, "rust")
    if source.too_long or source.root.has_error:
        return []
    return [
        RustFunction(
            "::".join([*f.path, f.name]), (f.node.start_byte, f.node.end_byte), source.line(f.node.start_byte)
        )
        for f in RustItems(source).functions
        if not (f.nested or f.in_tests or f.is_test)
    ]


def rust_faults(text: str, function: RustFunction, *, seed: int, key: str) -> Iterator[Fault]:
    """One fault each, in an order that depends on the function, `seed` and `key`. Whether they build is for cargo."""
    data = text.encode("utf-8", "surrogatepass")
    start, end = function.span
    inner = data[start:end].decode("utf-8", "surrogatepass")
    drawn = Faults(inner, seed=seed, task_id=f"{key}:{function.name}:{start}", kinds=BEHAVIOUR)
    for fault, program in drawn.drawn():
        lines = [
            function.first + data[start : start + place].count(b"\n") for place in (fault.start, fault.end)
        ]
        whole = data[:start] + program.encode("utf-8", "surrogatepass") + data[end:]
        yield Fault(
            (fault.operator,),
            function.name,
            (lines[0], lines[1]),
            whole.decode("utf-8", "surrogatepass"),
            "".join(program.split()),
        )
