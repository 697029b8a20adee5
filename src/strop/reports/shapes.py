"""The expected shape of a run's JSON: values of another type are removed and named.

A shape takes (value, its position, names of removed values) and returns the value to show, or `OUT`. Unknown names are
kept unchanged, except numbers too large to compute with.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

OUT: Any = object()
HUGE = 1e300
"""Numbers from this size count as damage; JSON has integers that no float can hold."""
Shape = Callable[[Any, str, list[str]], Any]


def is_number(value: Any) -> bool:
    """Whether a value is a number of usable size, or one that is not finite; booleans are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < HUGE or (isinstance(value, float) and not math.isfinite(value))


def is_count(value: Any) -> bool:
    """Whether a value is a whole number of at least 0 that JavaScript holds exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def number(value: Any, at: str, out: list[str]) -> Any:
    """The shape of a number; null if missing or not finite."""
    if value is None or is_number(value):
        return value if value is None or math.isfinite(value) else None
    return _out(at, out)


def text(value: Any, at: str, out: list[str]) -> Any:
    """The shape of a text."""
    return value if isinstance(value, str) else _out(at, out)


def items(of: Shape) -> Shape:
    """The shape of a list of such values; other entries are removed."""

    def shape(value: Any, at: str, out: list[str]) -> Any:
        if not isinstance(value, list):
            return _out(at, out)
        found = [of(item, f"{at}.{place}", out) for place, item in enumerate(value)]
        return [item for item in found if item is not OUT]

    return shape


def sequence(*of: Shape) -> Shape:
    """The shape of a list of exactly these values; the list is removed if one of them is."""

    def shape(value: Any, at: str, out: list[str]) -> Any:
        if not isinstance(value, list) or len(value) != len(of):
            return _out(at, out)
        found = [one(item, at, []) for one, item in zip(of, value, strict=True)]
        return _out(at, out) if OUT in found else found

    return shape


def table(of: Shape) -> Shape:
    """The shape of an object whose values have one shape."""
    return fields({}, of)


def fields(known: Mapping[str, Shape], others: Shape | None = None) -> Shape:
    """The shape of an object with these fields, each of which may be missing or null."""

    def shape(value: Any, at: str, out: list[str]) -> Any:
        if not isinstance(value, dict):
            return _out(at, out)
        kept: dict[str, Any] = {}
        for name, item in value.items():
            of = known.get(name, others or _any)
            found = None if item is None else of(item, f"{at}.{name}" if at else name, out)
            if found is not OUT and (found is not None or of in (number, _any)):
                kept[name] = found
        return kept

    return shape


def _any(value: Any, at: str, out: list[str]) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value, at, out)
    return value


def _out(at: str, out: list[str]) -> Any:
    out.append(at)
    return OUT


def _numbers(*names: str) -> dict[str, Shape]:
    return dict.fromkeys(names, number)


_RESULT: dict[str, Shape] = {
    **_numbers("tasks", "samples", "confidence", "tokens_mean", "truncated_rate", "seconds", "error_rate"),
    "intervals": table(sequence(number, number)),
    "outcomes": table(number),
    "unscored_tasks": table(number),
    "contamination": fields({"note": text, "similar_tasks": items(text)}),
    "per_task": items(fields({"task_id": text})),
    "by_turn": fields({"passed": items(number), "repeated": number}),
}
_PAIRED = table(fields(_numbers("delta", "low", "high")))
_CONTROL = {"tokens_mean": number, "intervals": _RESULT["intervals"], "difference": _PAIRED}
RESULT = fields({**_RESULT, "topics": table(fields(_RESULT)), "controls": table(fields(_CONTROL))})
"""Shape of an evaluation's result."""

METRICS = fields(
    {
        **_numbers(
            "reward", "pass_rate", "completion_tokens", "truncated", "duplicates", "refused", "error_rate",
            "groups_played", "groups_with_signal", "rollouts", "disagreements", "entropy", "sampling_surprise", "loss",
            "grad_norm", "clip_ratio", "kl", "learning_rate", "seconds", "seconds_sampling", "seconds_verifying",
            "teacher_kl", "seconds_rewards", "seconds_update", "seconds_sampler_idle", "seconds_update_idle", "steps",
            "rewards_failed", "updates_not_finite", "turns", "effects", "turns_with_effects", "seconds_effects",
            "seconds_cpu", "seconds_starting", "seconds_tools",
        ),
        "rewards": table(number),
        "stages": table(number),
        "stops": table(number),
        "held_out": RESULT,
    }
)  # fmt: skip
"""Shape of a line of metrics.jsonl."""

_SET: dict[str, Shape] = {"paired": _PAIRED, "paired_after_warm_start": _PAIRED}
_AUDIT = fields(
    {
        **_numbers("answers", "flagged"),
        "kinds": table(number),
        "flagged_answers": items(sequence(text, number)),
    }
)
SUMMARY = fields(
    {
        **_numbers("steps", "wall_seconds", "peak_rss_bytes"),
        "name": text,
        "time_split": table(number),
        "hack_audit": _AUDIT,
        "controls": table(fields({**_CONTROL, "took": table(number)})),
        "evaluation": fields({**_SET, "extra": table(fields(_SET)), "differences": table(_PAIRED)}),
    }
)
"""Shape of summary.json."""

ASKED = fields({"models": table(fields({"word": text, "engine": text}))})
"""Shape of eval.json."""

_RATES = fields({"value": items(number), "interval": items(sequence(number, number))})
_DELTAS = fields({"delta": items(number), "interval": items(sequence(number, number))})
_CURVE = fields(
    {
        **dict.fromkeys(("accuracy", "false_positives"), _RATES),
        **dict.fromkeys(("samples", "cpu_seconds"), items(number)),
        "differences": table(_DELTAS),
    }
)
SCALING = fields(
    {
        **_numbers("tasks", "samples", "confidence"),
        "left_out": table(number),
        "notes": items(text),
        "selectors": table(_CURVE),
        "rounds": fields(
            {
                "tasks": number,
                **dict.fromkeys(("tokens", "resampled_tokens"), items(number)),
                **dict.fromkeys(("debugged", "resampled"), _RATES),
                "differences": _DELTAS,
            }
        ),
    }
)
"""Shape of scaling/NAME.json."""

VERSIONS = fields({"git": fields({})})
"""Shape of versions.json."""


def checked_rollout(line: dict[str, Any], *, grouped: bool) -> dict[str, Any]:
    """The line of a rollout, of training if `grouped`, after checking the types of fields that the page counts, sorts
    and filters by. Raises TypeError, KeyError or AttributeError for wrong ones.
    """
    verdict = line.get("verdict") or {}
    stages, scores, flags = verdict.get("stages") or (), line.get("scores") or (), line.get("flags") or ()
    lists = [line["turns"], stages, scores, flags]
    texts = [line["task_id"], verdict.get("outcome") or "", *flags, *(s["name"] for s in (*stages, *scores))]
    counts = [line["index"], line["group"]] if grouped else [line["index"]]
    numbers = [line.get("reward"), line.get("advantage"), *(score["value"] for score in scores)]
    wrong = [
        *(value for value in lists if not isinstance(value, list | tuple)),
        *(value for value in texts if not isinstance(value, str)),
        *(value for value in counts if not is_count(value)),
        *(value for value in numbers if value is not None and not is_number(value)),
    ]
    if wrong:
        raise TypeError(f"{wrong[0]!r:.60} has an unexpected type")
    return line
