"""Registries of named objects: the built-in ones, and those that installed packages add by entry points.

A package adds to a group such as `strop.rewards` or `strop.formats` (docs/api.md), as `strop-tasks` does.
"""

import difflib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar, cast

from strop_verify.core.errors import UserError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """The names of one kind. A package is imported only when one of its names is looked up.

    group     the entry points' group, "strop." left out
    builtin   Strop's own objects; "module:name" for those that are imported only when looked up
    reserved  names that mean something else in the same place, so that no package may take them
    fits      whether a loaded object is of this kind
    """

    def __init__(
        self,
        group: str,
        builtin: Mapping[str, T | str],
        *,
        reserved: Collection[str] = (),
        fits: Callable[[Any], bool] = callable,
    ) -> None:
        self._group, self._fits = _whole(group), fits
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
        """The object of that name. Raises KeyError if there is none.

        Raises UserError, one line with package and entry point, if the name is taken twice or a package's object does
        not load or does not fit. A UserError raised while it loads passes through.
        """
        found = added(self._group).get(name, ())
        taken = name in self._builtin or name in self._reserved
        if len(found) > 1 or (found and taken):
            owners = ", ".join(sorted(map(_shown, found)))
            other = " has the name of a built-in one" if taken else " share a name"
            raise UserError(f"{self._group}: {owners}{other}; uninstall one or have it renamed")
        if found:
            return self._loaded(found[0])
        own = self._builtin[name]
        return self._loaded(EntryPoint(name, own, self._group)) if isinstance(own, str) else own

    def find(self, text: str, place: str, what: str, own: str = "file.py:Class") -> T:
        """The object for a name or `file.py:Name`. `place` is where it is written, such as "rewards", `what` its kind,
        such as "reward", and `own` how users write their own. Raises UserError with a remedy.
        """
        if ":" not in text:
            if text in self:
                return self[text]
            raise UserError(f"{place}: {self.unknown(what, text)} Write your own as {own}")
        from strop_verify.core.user_code import load_named  # it loads pydantic

        found = load_named(text, place)
        if not self._fits(found):
            kind = f"{'an' if what[0] in 'aeio' else 'a'} {what}"
            raise UserError(f"{place}: {found!r:.60} is not {kind}; give a name or {own}")
        return cast("T", found)

    def unknown(self, what: str, name: str) -> str:
        """The message for an unknown name."""
        close = difflib.get_close_matches(name, self, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(self)}."
        return f"no {what} named {name!r}; {hint}"

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
    return _added(_whole(group), tuple(sys.path))


def _whole(group: str) -> str:
    """The full name of the group; one with a dot is already full."""
    return group if "." in group else f"strop.{group}"


@cache
def _added(group: str, _path: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def _shown(point: EntryPoint) -> str:
    package = point.dist.name if point.dist else "?"
    return f"package {package!r}, entry point {point.group}: {point.name} = {point.value}"
