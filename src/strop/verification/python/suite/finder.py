"""Serves the answer's module to the tests' imports, under every name that the file at its path could have."""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any

from strop.verification.python.suite.proxies import RemoteModule
from strop.verification.python.suite.session import Session


class AnswerFinder(MetaPathFinder, Loader):
    """Gives the answer's module under every name by which the file at `path` could be imported."""

    def __init__(self, path: str, session: Session, hidden: frozenset[str]) -> None:
        self.names = module_names(path)
        self.module = RemoteModule(self.names[0], session, hidden)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The spec of the answer's module; None for any other."""
        return spec_from_loader(fullname, self) if fullname in self.names else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The one proxy."""
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: the candidate has loaded it."""


def module_names(path: str) -> list[str]:
    """Dotted names for a file: the whole path first, then without its leading folders."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    names = [".".join(parts[n:]) for n in range(len(parts))]
    return [n for n in names if n == names[0] or n not in sys.stdlib_module_names]
