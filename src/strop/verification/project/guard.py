"""Notices that a project's code has changed the test machinery: pytest, pluggy, unittest's cases, builtins.

Runs in the same process as that code, so it stops the cheap ways only. Standard library only.
"""

import builtins
import sys
import types
from typing import Any

_WATCHED = ("_pytest", "pytest", "pluggy", "unittest.case", "unittest.suite", "unittest.loader")
_PLAIN = (types.FunctionType, types.BuiltinFunctionType, type, classmethod, staticmethod, property)


class Guard:
    """Remembers every function and class of the machinery as it is when made; see `changed`."""

    def __init__(self) -> None:
        self._members: list[tuple[Any, str, Any]] = []
        self._spaces: list[tuple[Any, frozenset[str]]] = []
        self._codes: list[tuple[types.FunctionType, types.CodeType]] = []
        self._legacy: list[object] = []
        """What pytest itself puts in place of others for the time of a session."""
        self._remember(builtins)
        for name, module in list(sys.modules.items()):
            if name.startswith(("_pytest.", "pluggy.")) or name in _WATCHED:
                self._remember(module)
            if name == "_pytest.legacypath":
                self._legacy = [f for f in vars(module).values() if isinstance(f, types.FunctionType)]

    def changed(self) -> str:
        """The name of something that is no longer what it was, or an empty text."""
        for space, name, value in self._members:
            if (now := space.get(name)) is not value and not self._is_legacy(now):
                return name
        for space, names in self._spaces:
            if len(space) != len(names):
                for name in space.keys() - names:
                    if isinstance(space[name], _PLAIN) and not self._is_legacy(space[name]):
                        return str(name)
        for function, code in self._codes:
            if function.__code__ is not code:
                return function.__qualname__
        return ""

    def _is_legacy(self, value: object) -> bool:
        inner = value.fget if isinstance(value, property) else value
        return any(inner is known for known in self._legacy)

    def _remember(self, module: types.ModuleType) -> None:
        space = vars(module)
        for name, value in list(space.items()):
            if not isinstance(value, _PLAIN):
                continue
            self._members.append((space, name, value))
            if isinstance(value, types.FunctionType):
                self._codes.append((value, value.__code__))
            elif isinstance(value, type) and value.__module__ == module.__name__ != "builtins":
                self._remember_class(value)

    def _remember_class(self, kind: type) -> None:
        space = kind.__dict__
        self._spaces.append((space, frozenset(space)))
        for name, value in list(space.items()):
            if isinstance(value, _PLAIN):
                self._members.append((space, name, value))
            inner = getattr(value, "__func__", value)
            if isinstance(inner, types.FunctionType):
                self._codes.append((inner, inner.__code__))
