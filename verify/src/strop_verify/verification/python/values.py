"""Standard-library values that cross between tests and answers, with their exact types, as tagged values.

Dates, range, Fraction, Decimal, bytearray, deque, Counter, OrderedDict, defaultdict, views of dicts, plain named tuples
and builtin classes. Each is rebuilt from plain parts, so its methods are the library's own. A named tuple crosses if
its class has only fields, and no callable field has the name of a plain value's method. An answer's defaultdict keeps
its factory only if that is a builtin class. Standard library only, as `verification.python.codec`.
"""

import builtins
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from strop_verify.verification.python.codec import CODES, Encoder, Malformed

VALUE_METHODS = frozenset(
    name for kind in (str, bytes, int, float, list, tuple, dict, set) for name in dir(kind) if name[0] != "_"
)
"""Names that no callable may have in an object that the tests may take for a plain value."""
MUTABLE = (list, dict, set, deque, bytearray)
"""Types that a call may change in place, visibly to the tests."""
_CLASSES = {kind.__name__: kind for kind in (bool, int, float, complex, str, bytes, list, tuple, dict)}
"""Builtin classes that an answer may return. Others could pass for a value: `set.intersection(expected)`."""
_FACTORIES: dict[str, type] = {**_CLASSES, "set": set}
_DAY, _CLOCK = ("year", "month", "day"), ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
_ATTRIBUTES: dict[type, tuple[str, ...]] = {
    date: _DAY,
    datetime: (*_DAY, *_CLOCK),
    time: _CLOCK,
    timedelta: ("days", "seconds", "microseconds"),
    range: ("start", "stop", "step"),
    Fraction: ("numerator", "denominator"),
}
"""Classes whose values are rebuilt from these attributes."""
_VIEWS: dict[type, str] = {
    type(getattr(of, method)()): method
    for of in (dict[Any, Any](), OrderedDict[Any, Any]())
    for method in ("keys", "values", "items")
}
_MOST_FIELDS = 200
_OF_NAMED_TUPLES = frozenset(vars(namedtuple("_", ""))) | {
    "__replace__", "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__orig_bases__",
}  # fmt: skip
"""Attributes of a named tuple's class besides its fields."""


class ValueEncoder(Encoder):
    """Writes these values too. `answers`: whether they come from an answer; see `made`."""

    codes: ClassVar = {
        kind: code for kind, code in CODES.items() if kind not in (Counter, OrderedDict, defaultdict)
    }
    answers = False

    def beyond(self, value: Any, why: str, depth: int) -> None:
        """Writes a value that is not one of the codec's own. Raises Unencodable."""
        parts = _parts(value, self.answers)
        if parts is None or depth <= 0:
            return self.further(value, why, depth)
        self.tag(parts, depth)

    def further(self, value: Any, why: str, depth: int) -> None:
        """Writes any other value. Raises Unencodable."""
        super().beyond(value, why, depth)


def _parts(value: Any, answers: bool) -> tuple[Any, ...] | None:
    """The tag of a value and its parts; None for a value without a tag."""
    kind = type(value)
    name = kind.__name__
    if (attributes := _ATTRIBUTES.get(kind)) is not None:
        zoned = getattr(value, "tzinfo", None) is not None and type(value.tzinfo) is not timezone
        return None if zoned else (name, *(getattr(value, attribute) for attribute in attributes))
    if kind is Decimal:
        return name, str(value)
    if kind is bytearray:
        return name, bytes(value)
    if kind is deque:
        return name, list(value), value.maxlen
    if kind is Counter or kind is OrderedDict:
        return name, dict(value)
    if kind is defaultdict:
        return name, _factory(value.default_factory, answers), dict(value)
    if kind is timezone:
        return name, *value.__getinitargs__()
    if kind in _VIEWS:
        return "view", _VIEWS[kind], list(value)
    if kind is type:
        known = _CLASSES if answers else vars(builtins)
        class_name = str(value.__name__)
        return ("class", class_name) if known.get(class_name) is value else None
    found = named_tuple_parts(value) if issubclass(kind, tuple) else None
    return ("named", *found) if found else None


def _factory(factory: Any, answers: bool) -> Any:
    """The name of a known class; another factory unchanged if it comes from the tests, else None."""
    name = getattr(factory, "__name__", None)
    if type(factory) is type and _FACTORIES.get(str(name)) is factory:
        return name
    return None if answers else factory


def named_tuple_parts(value: Any) -> tuple[str, tuple[str, ...], tuple[Any, ...]] | None:
    """Name and fields of a plain named tuple's class, and its values; None for other tuples."""
    kind = type(value)
    fields = vars(kind).get("_fields")
    if kind.__bases__ != (tuple,) or type(fields) is not tuple:
        return None
    if not vars(kind).keys() <= _OF_NAMED_TUPLES.union(fields) or _poses(fields, value):
        return None
    try:
        named_tuple(kind.__name__, fields)
    except (ValueError, TypeError):  # renamed fields, for example
        return None
    return kind.__name__, fields, tuple(value)


def _poses(fields: tuple[str, ...], values: Any) -> bool:
    return any(name in VALUE_METHODS and callable(value) for name, value in zip(fields, values, strict=False))


@lru_cache(maxsize=256)
def named_tuple(name: str, fields: tuple[str, ...]) -> type:
    """The class with that name and these fields. Raises ValueError or TypeError for invalid names."""
    if len(fields) > _MOST_FIELDS:
        raise ValueError("too many fields")
    return namedtuple(name, fields, module="named_tuples")


def made(tag: str, parts: list[Any], *, answers: bool) -> Any:
    """The value of a tag; NotImplemented for an unknown tag. Raises Malformed.

    `answers`: the parts come from a hostile answer, none of whose functions may replace a method.
    """
    make, kinds = _MAKE.get(tag, (None, ()))
    if make is None:
        return NotImplemented
    try:
        if len(parts) != len(kinds) and not (tag == "timezone" and len(parts) == 1):
            raise ValueError("wrong number of parts")
        if any(kind is not Any and type(part) not in kind for part, kind in zip(parts, kinds, strict=False)):
            raise TypeError("a part of the wrong type")
        if answers and tag == "class":
            return _CLASSES[parts[0]]
        if answers and tag == "defaultdict" and callable(parts[0]):
            raise TypeError("a function of the answer in a value")
        return make(*parts)
    except Exception as error:
        raise Malformed(f"not a value: {type(error).__name__}") from None


def _default(factory: Any, content: dict[Any, Any]) -> Any:
    return defaultdict(_FACTORIES[factory] if type(factory) is str else factory, content)


def _view(method: str, items: list[Any]) -> Any:
    if method == "keys":
        return dict.fromkeys(items).keys()
    if method == "values":
        return dict(enumerate(items)).values()
    return {"items": dict}[method](items).items()


def _named(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    if set(map(type, fields)) - {str} or _poses(fields, values):
        raise ValueError("a bad named tuple")
    return named_tuple(name, fields)._make(values)  # type: ignore[attr-defined]


_INT, _TEXT, _NONE = (int,), (str,), type(None)
_TIME = (*[_INT] * 4, (timezone, _NONE), _INT)
_MAKE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "date": (date, (_INT,) * 3),
    "datetime": (lambda *p: datetime(*p[:8], fold=p[8]), (*[_INT] * 3, *_TIME)),
    "time": (lambda *p: time(*p[:5], fold=p[5]), _TIME),
    "timedelta": (timedelta, (_INT,) * 3),
    "timezone": (timezone, ((timedelta,), _TEXT)),
    "range": (range, (_INT,) * 3),
    "Fraction": (Fraction, (_INT,) * 2),
    "Decimal": (Decimal, (_TEXT,)),
    "bytearray": (bytearray, ((bytes,),)),
    "deque": (deque, ((list,), (int, _NONE))),
    "Counter": (Counter, ((dict,),)),
    "OrderedDict": (OrderedDict, ((dict,),)),
    "defaultdict": (_default, (Any, (dict,))),
    "view": (_view, (_TEXT, (list,))),
    "class": (lambda name: vars(builtins)[name], (_TEXT,)),
    "named": (_named, (_TEXT, (tuple,), (tuple,))),
}
"""For each tag, the function that makes the value and the exact types that its parts may have."""


def overwrite(old: Any, new: Any) -> None:
    """Makes a mutable container equal to another of its exact type; does nothing to other values."""
    if type(old) is not type(new) or not isinstance(old, MUTABLE):
        return
    if isinstance(old, list | bytearray):
        old[:] = new
        return
    old.clear()
    if isinstance(old, deque):
        old.extend(new)
    else:
        old.update(new)


def changed(args: list[Any], before: list[bytes], encode: Callable[[Any], bytes]) -> list[bytes]:
    """The bytes of arguments after a call; for immutable ones, those before it."""
    return [encode(a) if isinstance(a, MUTABLE) else old for a, old in zip(args, before, strict=True)]
