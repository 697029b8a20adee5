"""Learns how confident a model must be for a suggestion to be shown, from suggestions whose outcome is known.

The learnt value is the least confidence (`edit_model.confidence`) that maximizes the sum of utilities: .75 for an
accepted suggestion, -.25 for any other, 0 for silence (`tasks.comparison.THRESHOLD`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from strop.serve.edit_model import EditModel, confidence
from strop.serve.edit_prompt import EditState
from strop.tasks.comparison import THRESHOLD, accepted_by
from strop.tasks.sources import load_tasks
from strop_verify.core.checks import NextEditCheck
from strop_verify.core.edit_events import read_events, read_suggestions
from strop_verify.core.errors import UserError
from strop_verify.core.files import read_jsonl

FEWEST = 20
"""Minimum number of suggestions with a known outcome to learn from."""


@dataclass(frozen=True)
class JudgedEdit:
    """A suggestion's confidence `sure` and its outcome `accepted`, which is None for silence."""

    sure: float
    accepted: bool | None


@dataclass(frozen=True)
class LearntConfidence:
    """The learnt confidence. Utilities are means over all states, including silent ones.

    least     confidence required to show a suggestion: 0 shows everything, 1 nothing
    shown     number of suggestions that have it
    accepted  how many of these were accepted
    utility   of showing only these
    all       utility of showing every suggestion
    other     cross-validated utility: each half of the states, with the confidence learnt from the other half
    """

    least: float
    shown: int
    accepted: int
    utility: float
    all: float
    other: float


def learn(judged: Sequence[JudgedEdit]) -> LearntConfidence:
    """The best confidence to require. Raises UserError for fewer than FEWEST suggestions with a known outcome."""
    said = [one for one in judged if one.accepted is not None]
    if len(said) < FEWEST:
        raise UserError(f"{len(said)} suggestions with a known outcome; at least {FEWEST} are needed")
    least, halves = _best(judged), (judged[::2], judged[1::2])
    shown = [one for one in said if one.sure >= least]
    other = sum(_sum(halves[at], _best(halves[1 - at])) for at in (0, 1))
    return LearntConfidence(
        least,
        len(shown),
        sum(one.accepted is True for one in shown),
        _sum(judged, least) / len(judged),
        _sum(judged, 0) / len(judged),
        other / len(judged),
    )


def judged_from(source: Path, model: EditModel, checkpoint: str) -> list[JudgedEdit]:
    """Suggestions with their outcomes: this checkpoint's in a log or folder of logs, or the model's own on next-edit
    tasks, judged by the simulated user `nearer`. Raises UserError.
    """
    if source.is_dir() or "check" not in next(iter(read_jsonl(source)), {}):
        return list(_in_log(source, checkpoint))
    checks = [task.check for task in load_tasks(str(source))]
    return list(_in_tasks(model, [check for check in checks if isinstance(check, NextEditCheck)]))


def _in_log(log: Path, checkpoint: str) -> Iterator[JudgedEdit]:
    for one in read_suggestions(read_events(log)).labelled(checkpoint):
        assert one.served.completion is not None
        yield JudgedEdit(
            confidence(one.served.completion), None if one.why == "silent" else one.why == "accepted"
        )


def _in_tasks(model: EditModel, checks: Iterable[NextEditCheck]) -> Iterator[JudgedEdit]:
    for check in checks:
        text = "\n".join([*check.window, ""])
        at = sum(len(line) + 1 for line in check.window[: check.cursor + 1]) - 1
        made = model.suggest(EditState(text, at, check.path, tuple(check.history))).result()
        accepted = None
        if made.edit:
            start, end, new = made.edit
            after = text[:start] + new + text[end:]
            accepted = bool(accepted_by(check, after.removesuffix("\n").split("\n"))["nearer"])
        yield JudgedEdit(confidence(made.completion), accepted)


def _best(judged: Sequence[JudgedEdit]) -> float:
    """The confidence with the largest sum, rounded down to two digits; 1 if no sum is above 0."""
    best, least = 0.0, 1.0
    for sure in sorted({math.floor(100 * one.sure) / 100 for one in judged if one.accepted is not None}):
        if (here := _sum(judged, sure)) > best:
            best, least = here, sure
    return least


def _sum(judged: Iterable[JudgedEdit], least: float) -> float:
    return sum(one.accepted - THRESHOLD for one in judged if one.accepted is not None and one.sure >= least)
