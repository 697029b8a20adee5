"""A drawn repository: its modules, their functions, and the values that these return."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from strop_tasks.generators.toy_repositories.domains import DOMAINS, Domain
from strop_tasks.generators.toy_repositories.functions import FunctionTemplate, Words

_SEPARATORS = ("-", "_", ":", "/", "+", ", ", " ", ";")
_CONSTANTS = ("BONUS", "EXTRA", "FEE", "LIMIT", "RATE", "STEP")
_FOLDERS = ("", "", "src/", "lib/")


@dataclass(frozen=True, eq=False)
class ToyFunction:
    """A template with the words that fill it, and the name of its module."""

    template: FunctionTemplate
    words: Words
    module: str

    @cached_property
    def source(self) -> str:
        """The function's source without the bug."""
        return self.template.filled(self.words)

    @cached_property
    def name(self) -> str:
        """The function's name."""
        return self.source[len("def ") : self.source.index("(")]

    @property
    def constants(self) -> set[str]:
        """Names of the settings that the correct or a faulty version may read."""
        used = "$CONSTANT" in self.template.text
        return {self.words["CONSTANT"], self.words["WRONG"]} if used else set()


@dataclass(frozen=True)
class ToyModule:
    """One module file of the package."""

    name: str
    about: str
    functions: tuple[ToyFunction, ...]

    def text(self, package: str, broken: tuple[ToyFunction, str] | None = None) -> str:
        """The module's source; `broken` gives another source for one of its functions."""
        constants = sorted(set().union(*(function.constants for function in self.functions)))
        imports = [f"from {package}.settings import {', '.join(constants)}\n"] if constants else []
        of = dict([broken]) if broken else {}
        first = "\n".join([f'"""{self.about}"""\n', *imports])
        return "\n\n".join([first, *(of.get(function, function.source) for function in self.functions)])


@dataclass(frozen=True)
class ToyRepository:
    """A package in `folder`, which is "" or ends in a slash."""

    domain: Domain
    folder: str
    package: str
    constants: dict[str, int]
    modules: tuple[ToyModule, ...]

    def path(self, module: str) -> str:
        """The path of a module's file."""
        return f"{self.folder}{self.package}/{module}.py"

    @property
    def settings(self) -> str:
        """The source of the constants."""
        return "".join(f"{name} = {value}\n" for name, value in self.constants.items())

    def files(self) -> dict[str, str]:
        """All files except the tests, in their correct form."""
        return {
            "pytest.ini": f"[pytest]\npythonpath = {self.folder.rstrip('/') or '.'}\n",
            self.path("__init__"): f'"""The {self.domain.name}."""\n',
            self.path("settings"): f'"""Numbers of the {self.package}."""\n\n{self.settings}',
            **{self.path(module.name): module.text(self.package) for module in self.modules},
        }

    def called(self, source: str, function: ToyFunction) -> Callable[[Sequence[Any]], tuple[Any, str]]:
        """Compiles a generated source; returns a function from arguments to (value, text of the error or "")."""
        space: dict[str, Any] = {}
        exec(compile(self.settings + source, "<toy>", "exec"), space)

        def call(arguments: Sequence[Any]) -> tuple[Any, str]:
            try:
                return space[function.name](*arguments), ""
            except Exception as error:
                return None, f"{type(error).__name__}: {error}"

        return call


def drawn_repository(
    r: Random, wanted: FunctionTemplate, templates: Sequence[FunctionTemplate]
) -> ToyRepository:
    """A repository of 2 to 5 modules in which the wanted template is one function among others."""
    domain = r.choice(DOMAINS)
    names = r.sample(_CONSTANTS, 3)
    constants = dict(zip(names, r.sample(range(2, 60), 3), strict=True))
    sizes = [r.randint(2, 3) for _ in range(r.randint(2, 5))]
    others = [template for template in templates if template is not wanted]
    chosen = [wanted, *r.sample(others, sum(sizes) - 1)]
    r.shuffle(chosen)
    modules: list[ToyModule] = []
    for name, size in zip(r.sample(domain.modules, len(sizes)), sizes, strict=True):
        words = _words(r, domain, constants)
        parts, chosen = chosen[:size], chosen[size:]
        about = f"{name.capitalize()} of the {domain.name}."
        modules.append(
            ToyModule(name, about, tuple(ToyFunction(template, words, name) for template in parts))
        )
    return ToyRepository(domain, r.choice(_FOLDERS), r.choice(domain.packages), constants, tuple(modules))


def _words(r: Random, domain: Domain, constants: dict[str, int]) -> Words:
    (thing, things), (field, other) = r.choice(domain.things), r.sample(domain.fields, 2)
    n, m = r.sample(range(3, 11), 2)
    sep, bad = r.sample(_SEPARATORS, 2)
    right, wrong = r.sample(list(constants), 2)
    return {
        "thing": thing, "things": things, "field": field, "other": other, "n": n, "m": m, "sep": sep, "bad": bad,
        "CONSTANT": right, "WRONG": wrong, "limit": constants[right],
    }  # fmt: skip
