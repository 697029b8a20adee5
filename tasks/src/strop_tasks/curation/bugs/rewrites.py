"""Bugs written by a model, which rewrites a given function with one subtle bug.

Function and kind of bug depend on the seed alone. As with any other bug, the tests decide whether it is kept.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strop.tasks.answers import extract_code
from strop_tasks.curation.bugs.server import Server
from strop_tasks.curation.faults.body_replacement import NoFault, fitted, shown
from strop_tasks.curation.faults.draw import Fault, RustFunction
from strop_tasks.curation.faults.routines import Routine, parsed, routines, shape
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.code.trees import Node, Source
from strop_verify.core.ids import rng

if TYPE_CHECKING:
    from strop_tasks.curation.engine.paid_calls import Response

OPERATOR = "rewrite"
MOST_REWRITES = 10  # maximum requests for one function of a project; for tasks the number of bugs limits them
MOST_SHOWN = 8_000  # longest function shown to a model, in characters
MOST_ANSWER = 40_000  # maximum characters of an answer; longer ones are rejected
KINDS = (
    "a boundary that is one off",
    "a condition that is too wide or too narrow",
    "an edge case that is forgotten, such as something empty, zero, negative or absent",
    "the wrong one of two similar variables or attributes",
    "a step that is left out or done at the wrong place",
    "a value that is not kept or not reset between rounds of a loop",
    "a call of a library whose behaviour differs in a detail",
    "an early return, break or continue that comes too soon or too late",
    "a sign, a unit, an order or a rounding that is wrong",
    "data that is changed though others still use it",
)


@dataclass(frozen=True)
class Subject:
    """A function that can be rewritten."""

    name: str
    language: str
    code: str
    """The function as the model sees it."""
    placed: Callable[[str], Fault]
    """Turns a response into the bug. Raises NoFault."""


class RequestedFault:
    """A bug requested from a model."""

    def __init__(
        self, server: Server, response: "Future[Response]", subject: Subject, seen: set[str]
    ) -> None:
        self._server, self.future, self._subject, self._seen = server, response, subject, seen

    def fault(self) -> Fault:
        """Waits for the bug. Raises NoFault, and UserError if the server fails for good."""
        text = self._server.text(self.future)
        if text is None:
            raise NoFault("the server refuses it")
        if not text.strip():
            raise NoFault("the answer is empty")
        fault = self._subject.placed(text)
        if fault.shape in self._seen:
            raise NoFault("it equals another bug")
        self._seen.add(fault.shape)
        return fault


Offer = Fault | RequestedFault  # a bug, or a requested one


class Rewriter:
    """Asks one model for bugs. `share`: the model's share of the tried bugs."""

    def __init__(self, server: Server, share: float, seed: int) -> None:
        self._server, self._share, self._seed = server, share, seed

    def offers(
        self, subject: Subject | None, key: str, others: Iterator[Fault], most: int = MOST_REWRITES
    ) -> Iterator[Offer]:
        """Bugs of a function from the model and from operators, mixed by the seed until both run out.

        subject  the model is not asked if it is None or longer than `MOST_SHOWN`
        key      identifies the function in the build
        """
        random = rng("bugs", self._seed, key, "turns")
        seen: set[str] = set()
        requested = self._requested(subject, key, seen, most)
        if self._share >= 1:
            yield from requested
            return
        while True:
            first, second = (requested, others) if random.random() < self._share else (others, requested)
            offer: Offer | None = next(first, None) or next(second, None)
            if offer is None:
                return
            if isinstance(offer, Fault):
                if offer.shape in seen:
                    continue
                seen.add(offer.shape)
            yield offer

    def _requested(self, subject: Subject | None, key: str, seen: set[str], most: int) -> Iterator[Offer]:
        if subject is None or len(subject.code) > MOST_SHOWN:
            return
        kinds = list(KINDS)
        rng("bugs", self._seed, key, "kinds").shuffle(kinds)
        tag, language = subject.language, subject.language.capitalize()
        for number in range(1, most + 1):
            kind = kinds[(number - 1) % len(kinds)]
            values = {"language": language, "tag": tag, "code": subject.code, "kind": kind}
            response = self._server.ask("rewrite", key, number, self._seed, values)
            yield RequestedFault(self._server, response, subject, seen)


def python_subject(routine: Routine) -> Subject | None:
    """A Python function to rewrite; None if it is unusable."""
    if not routine.usable or routine.node is None:
        return None
    node = routine.node

    def placed(response: str) -> Fault:
        data, first, last = _rewritten(routine.source, node, response)
        try:
            spelt = shape(parsed(data.decode("utf-8", "surrogatepass")))
        except UNPARSABLE:
            raise NoFault("the answer does not compile") from None
        if spelt == shape(routine.tree):
            raise NoFault("the answer changes nothing")
        lines = routine.line(first), routine.line(last)
        return Fault((OPERATOR,), routine.name, lines, routine.changed(data), spelt)

    return Subject(routine.name, "python", shown(routine.source, node), placed)


def subject_of_text(text: str, name: str) -> Subject | None:
    """The function of this name in a Python text, else its last function; None if there are none."""
    found = [r for r in routines(text) if r.usable]
    named = [r for r in found if r.name == name]
    return python_subject((named or found)[-1]) if found else None


def rust_subject(text: str, function: RustFunction) -> Subject | None:
    """A function of a Rust file to rewrite; None if its span holds no function."""
    source = Source(text, "rust")
    start, end = function.span
    found = [n for n in source.all("function_item") if (n.start_byte, n.end_byte) == (start, end)]
    if not found:
        return None

    def placed(response: str) -> Fault:
        data, first, last = _rewritten(source, found[0], response)
        text = data.decode("utf-8", "surrogatepass")
        changed = Source(text, "rust")
        if changed.root.has_error:
            raise NoFault("the answer does not parse")
        if changed.tokens(changed.root) == source.tokens(source.root):
            raise NoFault("the answer changes nothing")
        lines = source.line(first), source.line(last)
        inner = data[start : end + len(data) - len(source.data)].decode("utf-8", "surrogatepass")
        return Fault((OPERATOR,), function.name, lines, text, "".join(inner.split()))

    return Subject(function.name, "rust", shown(source, found[0]), placed)


def _rewritten(source: Source, node: Node, response: str) -> tuple[bytes, int, int]:
    """(the text with a response's body in a function, the byte span of the old text that differs). Raises NoFault."""
    if len(response) > MOST_ANSWER:
        raise NoFault("the answer is too long")
    start, end, body = fitted(source, node, extract_code(response, source.language))
    old = source.data
    new = old[:start] + body.encode("utf-8", "surrogatepass") + old[end:]
    same = min(len(old), len(new))
    first = next((n for n in range(same) if old[n] != new[n]), same)
    behind = next((n for n in range(same - first) if old[-1 - n] != new[-1 - n]), same - first)
    return new, first, max(first, len(old) - behind - 1)
