"""Named things of one kind: the built-in ones, and those that installed packages add by entry points.

A package adds to a group such as `strop.rewards` or `strop.formats` (docs/api.md), as `strop-tasks` does.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar, cast

from strop_verify.core.errors import UserError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """One kind's names. A package is imported when one of its names is looked up, not before.

    group     the entry points' group, without "strop."
    builtin   what Strop brings itself; "module:name" for what is imported, as of a package, when it is looked up
    reserved  names that mean something else in the same place, so that no package may take them
    fits      whether a loaded thing can be one
    """

    def __init__(
        self,
        group: str,
        builtin: Mapping[str, T | str],
        *,
        reserved: Collection[str] = (),
        fits: Callable[[Any], bool] = callable,
    ) -> None:
        self._group, self._fits = group, fits
        self._builtin = builtin
        self._reserved = reserved

    def __contains__(self, name: object) -> bool:
        return name in self._builtin or name in added(self._group)

    def __len__(self) -> int:
        return len({*self._builtin, *added(self._group)})

    def __iter__(self) -> Iterator[str]:
        """Every name, the built-in ones first."""
        yield from dict.fromkeys((*self._builtin, *added(self._group)))

    def __getitem__(self, name: str) -> T:
        """What has the name. KeyError where nothing has.

        Raises UserError, one line with package and entry point, where the name is also another's, and where what a
        package adds does not load or cannot be called; and what is raised so while it loads.
        """
        found = added(self._group).get(name, ())
        taken = name in self._builtin or name in self._reserved
        if len(found) > 1 or (found and taken):
            owners = ", ".join(sorted(map(_shown, found)))
            other = " has the name of a built-in one" if taken else " share a name"
            raise UserError(f"strop.{self._group}: {owners}{other}; uninstall one or have it renamed")
        if found:
            return self._loaded(found[0])
        own = self._builtin[name]
        return self._loaded(EntryPoint(name, own, f"strop.{self._group}")) if isinstance(own, str) else own

    def _loaded(self, point: EntryPoint) -> T:
        try:
            loaded = point.load()
        except UserError:
            raise
        except Exception as error:
            said = " ".join(str(error).split())
            raise UserError(
                f"{_shown(point)} does not load: {type(error).__name__}: {said}; repair or uninstall the package"
            ) from error
        if not self._fits(loaded):
            wrong = "cannot be called" if self._fits is callable else f"does not belong to {point.group}"
            raise UserError(f"{_shown(point)} is {loaded!r:.60}, which {wrong}; see docs/api.md")
        return cast("T", loaded)


def added(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """{name: entry points} that installed packages add to the group `strop.<group>`; nothing is imported."""
    return _added(group, tuple(sys.path))


@cache
def _added(group: str, _path: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=f"strop.{group}"), key=lambda point: point.name):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def _shown(point: EntryPoint) -> str:
    package = point.dist.name if point.dist else "?"
    return f"package {package!r}, entry point {point.group}: {point.name} = {point.value}"
