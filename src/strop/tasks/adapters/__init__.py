"""Adapters of data sets, one module a schema; a module of this folder that defines `ADAPTER` is one.

`ADAPTERS` maps names to adapters and imports a module when its name is asked for.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache

from strop.tasks.adapters.base import Adapter

__all__ = ["ADAPTERS", "Adapter", "Adapters"]


class Adapters(Mapping[str, Adapter]):
    """Adapters by name, in alphabetical order."""

    def __getitem__(self, name: str) -> Adapter:
        """The adapter of that name. Raises KeyError."""
        found = _adapter(name.replace("-", "_")) if name == name.replace("_", "-") else None
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        """The names of all."""
        return (module.replace("_", "-") for module in _modules() if _adapter(module))

    def __len__(self) -> int:
        return sum(1 for _ in self)


ADAPTERS = Adapters()


@cache
def _modules() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


@cache
def _adapter(module: str) -> Adapter | None:
    if module not in _modules():
        return None
    found = getattr(importlib.import_module(f"{__name__}.{module}"), "ADAPTER", None)
    return found if isinstance(found, Adapter) else None
