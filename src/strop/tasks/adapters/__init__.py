"""Adapters of data sets. `ADAPTERS` maps names to adapters and imports a module when its name is asked for.

A module defines each of its adapters as a constant that is called like it: `SWE_BENCH` is `swe-bench`.
"""

import importlib
from collections.abc import Iterator, Mapping

from strop.tasks.adapters.base import Adapter

__all__ = ["ADAPTERS", "Adapter", "Adapters"]

_MODULES = {
    "apps": ("apps", "taco"),
    "assert_rows": ("acecode", "mbpp"),
    "evalplus": ("evalplus",),
    "exercism": ("exercism-python", "exercism-rust"),
    "harbor": ("harbor",),
    "humaneval": ("humaneval", "infilling"),
    "humaneval_rust": ("humaneval-rust",),
    "livecodebench": ("livecodebench",),
    "multipl_e": ("multipl-e",),
    "prime": ("prime",),
    "quixbugs": ("quixbugs",),
    "swe": ("swe-bench", "swe-smith"),
    "task_lines": ("strop", "trl"),
    "verl": ("verl",),
    "vulnerability": ("primevul", "sven", "vulnerability"),
}
_MODULE_OF = dict(sorted((name, module) for module, names in _MODULES.items() for name in names))


class Adapters(Mapping[str, Adapter]):
    """Adapters by name, in alphabetical order."""

    def __getitem__(self, name: str) -> Adapter:
        """The adapter of that name. Raises KeyError."""
        module = importlib.import_module(f"{__name__}.{_MODULE_OF[name]}")
        adapter: Adapter = getattr(module, name.replace("-", "_").upper())
        return adapter

    def __iter__(self) -> Iterator[str]:
        """The names of all."""
        return iter(_MODULE_OF)

    def __len__(self) -> int:
        return len(_MODULE_OF)


ADAPTERS = Adapters()
