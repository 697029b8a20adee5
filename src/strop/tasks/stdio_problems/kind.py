"""What a kind of problem is, and the list of all kinds, found in the topic modules."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

TOPICS = "strop.tasks.stdio_problems.topics"


@dataclass(frozen=True)
class Problem:
    """A kind with its parameters drawn. Everything but the phrasing and the inputs follows from `parameters`."""

    parameters: dict[str, int | str]
    say: Sequence[str]
    """Phrasings of what is asked; one of them is used. Every one, with `reads` and `prints`, is complete."""
    reads: str
    """The input's format, as a noun phrase."""
    prints: str
    """The output's format, as a noun phrase."""
    program: str
    """The reference: a complete program. Its outputs are the expected ones."""
    draw: Callable[[Random], str]
    """A random input, in the format of `reads`."""
    edges: Sequence[str] = ()
    """Inputs at the limits of the problem; they become hidden tests."""

    @property
    def statements(self) -> list[str]:
        """The whole statement in every phrasing."""
        return [f"{say}\n\nInput: {self.reads}.\nOutput: {self.prints}." for say in self.say]


@dataclass(frozen=True)
class ProblemKind:
    """A problem with parameters: `make` draws them."""

    name: str
    """Lower case with hyphens, unique."""
    topic: str
    level: int
    """1 (one line) to 5 (dynamic programming, graphs, simulations)."""
    about: str
    make: Callable[[Random], Problem]


def kind(level: int) -> Callable[[Callable[[Random], Problem]], ProblemKind]:
    """Makes a function a kind; its name, module and docstring are the kind's name, topic and description."""

    def wrap(make: Callable[[Random], Problem]) -> ProblemKind:
        return ProblemKind(
            name=make.__name__.replace("_", "-"),
            topic=make.__module__.rpartition(".")[2].replace("_", "-"),
            level=level,
            about=(make.__doc__ or "").strip(),
            make=make,
        )

    return wrap


@cache
def all_kinds() -> tuple[ProblemKind, ...]:
    """Every kind, by topic and then in the order of the source. Raises ValueError when two share a name."""
    package = importlib.import_module(TOPICS)
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{TOPICS}.{name}") for name in names]
    kinds = [value for module in modules for value in vars(module).values() if isinstance(value, ProblemKind)]
    if len({k.name for k in kinds}) < len(kinds):
        raise ValueError("two kinds of problems share a name")
    return tuple(kinds)
