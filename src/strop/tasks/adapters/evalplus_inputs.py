"""Inputs of EvalPlus as Python literals; those of MBPP+ lost tuples, sets and complex numbers when stored as JSON.

Which problem takes what: evalplus/data/mbpp.py of github.com/evalplus/evalplus, `mbpp_deserialize_inputs`.
"""

from collections.abc import Callable
from typing import Any

Shape = Callable[[list[Any]], Any]


def _deep(value: Any, levels: int) -> Any:
    """Lists at the `levels`-th level as tuples, those above them as they are; 1: the value itself."""
    if not isinstance(value, list):
        return value
    return tuple(value) if levels == 1 else [_deep(item, levels - 1) for item in value]


def _all_tuples(value: Any) -> Any:
    return tuple(_all_tuples(item) for item in value) if isinstance(value, list) else value


def _arguments(*levels: int) -> Shape:
    """Argument i with its lists at level levels[i] as tuples; 0 and arguments beyond: unchanged."""

    def shape(args: list[Any]) -> list[Any]:
        given = (*levels, *[0] * len(args))
        return [_deep(arg, level) if level else arg for arg, level in zip(args, given, strict=False)]

    return shape


def _every(level: int) -> Shape:
    return lambda args: [_deep(arg, level) for arg in args]


_BY_SHAPE: list[tuple[Shape, tuple[int, ...]]] = [
    (_every(1), (
        2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809,
    )),
    (_every(2), (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780)),
    (_arguments(2), (75, 413, 444, 753)),
    (_arguments(0, 1), (106, 750)),
    (_arguments(1), (250, 405, 446, 617, 720, 763, 808, 307)),
    (lambda args: [tuple(_deep(arg, 2)) for arg in args], (259, 401, 445)),
    (lambda args: [tuple(_deep(item, 1) for item in arg) for arg in args], (278,)),
    (lambda args: [{k: _deep(v, 1) for k, v in args[0].items()}, *args[1:]], (722,)),
    (lambda args: [[set(item) if isinstance(item, list) and item else {} for item in args[0]]], (115,)),
    (lambda args: [float(args[0]), complex(args[1])], (124,)),
    (lambda args: [complex(args[0])], (252,)),
    (lambda args: list(_all_tuples(args)), (580, 615, 791)),
]  # fmt: skip
_SHAPES = {number: shape for shape, numbers in _BY_SHAPE for number in numbers}


def literal(task_id: str, args: list[Any]) -> str:
    """The arguments of one call as a Python list. Raises ValueError where they have not the shape of their problem."""
    family, _, number = task_id.partition("/")
    shape = _SHAPES.get(int(number)) if family.lower() == "mbpp" and number.isdecimal() else None
    if shape is None:
        return repr(args)
    try:
        return repr(shape(args))
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"an input of {task_id} has another shape: {error}") from error
