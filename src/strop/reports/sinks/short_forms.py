"""Values of any kind as small JSON values, to log a function's arguments and results.

Runs no code of the value's own class: numbers, texts and Python containers are copied up to a limit, dataclasses
and pydantic models become their stored fields, arrays and tensors their kind and shape, anything else its type's name.
"""

import dataclasses
import hashlib
import math
import traceback
from collections.abc import Mapping
from enum import Enum
from types import TracebackType
from typing import Any

ITEMS = 16
"""Maximum entries of a container; one more gives the number left out."""
SCORES = 256
"""`ITEMS` for a result, which may hold a score for every answer of a batch."""
DEPTH = 4
"""Maximum levels of nested containers."""
FRAMES = 6
"""Maximum frames of a traceback, the innermost ones."""


def short(value: Any, chars: int, items: int = ITEMS, depth: int = DEPTH) -> Any:
    """The value as JSON. Texts are cut to `chars` characters, containers to `items` entries and `depth` levels."""
    if isinstance(value, Enum):
        return short(value.value, chars, items, depth)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return (
            int(value) if abs(value) < 1 << 63 else cut(str(value) if abs(value) < 10**100 else "int", chars)
        )
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, str):
        return cut(str.__str__(value), chars)
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    kind = type(value).__name__
    if depth == 0:
        return f"<{kind}>"
    if isinstance(value, Mapping) and type(value).__module__ in ("builtins", "collections"):
        return _mapping(dict(value), chars, items, depth)
    if isinstance(value, list | tuple | set | frozenset):
        rest = len(value) - items
        kept = [short(item, chars, items, depth - 1) for item, _ in zip(value, range(items), strict=False)]
        return [*kept, f"... {rest} more"] if rest > 0 else kept
    fields = _fields(value)
    if fields is not None:
        return {"type": kind, **_mapping(fields, chars, items, depth)}
    return _opaque(value)


def subject(values: Mapping[str, Any], chars: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(facts about the judged rollout among the arguments, the other arguments).

    For a task its id; for a rollout also index, seed, the answer cut to `chars` and its hash; for a verdict the
    outcome.
    """
    found: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in values.items():
        match type(value).__module__, type(value).__name__:
            case "strop_verify.core.task", "Task":
                found.setdefault("task_id", value.id)
            case "strop_verify.core.rollout", "Rollout":
                found |= {"task_id": value.task_id, "index": value.index, "seed": value.seed}
                found |= {"answer": cut(value.answer, chars), "answer_hash": text_hash(value.answer)}
            case "strop_verify.core.verdict", "Verdict":
                found["outcome"] = str(value.outcome)
            case _:
                others[name] = value
    return found, others


def score_of(value: Any) -> float | None:
    """The number in a result: itself, a score's value, `score` or `reward` of a dict, the mean of a list of numbers."""
    if (type(value).__module__, type(value).__name__) == ("strop_verify.core.rollout", "Score"):
        value = value.value
    if isinstance(value, dict):
        value = value.get("score", value.get("reward"))
    if isinstance(value, list | tuple):
        numbers = [number for item in value if (number := _number(item)) is not None]
        plain = len(numbers) == sum(item is not None for item in value)
        return math.fsum(numbers) / len(numbers) if numbers and plain else None
    return _number(value)


def failure(error: BaseException) -> dict[str, Any]:
    """An exception: type, message, and the innermost frames of its traceback without that of the caller."""
    try:
        message = str(error)
    except Exception as broken:
        message = f"<its text cannot be made: {type(broken).__name__}>"
    return {
        "type": type(error).__name__,
        "message": cut(message, 1000),
        "traceback": _frames(error.__traceback__),
    }


def text_hash(text: str) -> str:
    """A digest of a text, 16 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cut(text: str, chars: int) -> str:
    """The first `chars` characters, with the number left out."""
    return text if len(text) <= chars else f"{text[:chars]}... {len(text) - chars} more characters"


def _mapping(value: dict[Any, Any], chars: int, items: int, depth: int) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, item in list(value.items())[:items]:
        kept[str(short(key, 100, items, 1))] = short(item, chars, items, depth - 1)
    if len(value) > items:
        kept["..."] = f"{len(value) - items} more"
    return kept


def _fields(value: Any) -> dict[Any, Any] | None:
    """The stored fields of a dataclass or a pydantic model; None for anything else."""
    kind = type(value)
    if dataclasses.is_dataclass(kind) or "__pydantic_fields__" in vars(kind):
        try:
            return dict(object.__getattribute__(value, "__dict__"))
        except AttributeError:  # it has slots
            return None
    return None


def _opaque(value: Any) -> str:
    kind = type(value)
    if kind.__module__.partition(".")[0] in ("torch", "numpy", "jax", "pandas", "polars"):
        shape = getattr(value, "shape", None)
        if shape is not None:
            return f"<{kind.__module__.partition('.')[0]}.{kind.__name__} {tuple(shape)}>"
    return f"<{kind.__module__}.{kind.__qualname__}>"


def _number(value: Any) -> float | None:
    """A finite number, also from numpy or torch; None for anything else."""
    if getattr(value, "ndim", None) == 0 and callable(getattr(value, "item", None)):
        value = value.item()
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _frames(trace: TracebackType | None) -> list[str]:
    if trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return [
        f"{frame.filename}:{frame.lineno} in {frame.name}: {cut(frame.line or '', 200)}"
        for frame in traceback.extract_tb(trace)[-FRAMES:]
    ]
