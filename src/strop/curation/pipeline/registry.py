"""Which steps there are: the modules of `strop.curation.steps`, imported when they are asked for."""

import importlib
import inspect
import pkgutil
from typing import Any, NamedTuple

from strop.config.section import Section
from strop.curation.pipeline.step import Step

PACKAGE = "strop.curation.steps"


class Kind(NamedTuple):
    """One kind of step."""

    name: str
    config: type[Section]
    step: type[Step[Any]]

    @property
    def about(self) -> str:
        """What it does, in one line."""
        return (inspect.getdoc(self.step) or "").partition("\n")[0]


def step_names() -> list[str]:
    """The names of all steps, sorted."""
    package = importlib.import_module(PACKAGE)
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    return sorted(name.replace("_", "-") for name in modules if not name.startswith("_"))


def step_kind(name: str) -> Kind:
    """The step of that name, one of `step_names`: a class such as MinTests, whose settings are MinTestsConfig."""
    module = importlib.import_module(f"{PACKAGE}.{name.replace('-', '_')}")
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Step) and value.__module__ == module.__name__
    ]
    if len(own) != 1:
        raise TypeError(f"{module.__name__} must define one Step, it has {len(own)}")
    return Kind(name, getattr(module, f"{own[0].__name__}Config"), own[0])
