"""Simulated users of `strop online`: training tasks are played, and what a user decides is written as events are."""

from pathlib import Path

from strop.config.schema import Recipe
from strop.core import files
from strop.core.edit_events import (
    EditAccepted,
    EditDismissed,
    EditEvent,
    EditServed,
    EditSettled,
    EditShown,
)
from strop.core.ids import content_hash, rng, unit_interval
from strop.core.rollout import Rollout, SamplingParams
from strop.core.task import Task
from strop.training.setup import RunParts

_RULES = {"nearer": "accepted", "kept": "kept", "exact": "exact"}
_READING = 2.0
"""Seconds until a user decides."""


def play_users(
    recipe: Recipe, parts: RunParts, number: int, digest: str, params: SamplingParams, log: Path
) -> None:
    """Plays a round's tasks with the weights that are published, and writes the log of them as a whole.

    Ids, times and decisions come from (seed, round, task) alone, so a log that is written again is the same.
    """
    tasks = list(parts.train)
    rng("online", recipe.seed, number).shuffle(tasks)
    known = {task.id: task for task in tasks[: recipe.online.batch]}
    played = parts.play.rollouts(list(known.values()), 1, params, seed=recipe.seed, tag=f"online.{number}")
    found = {rollout.task_id: rollout for rollout in played}
    events = [
        event
        for at, task in enumerate(known.values())
        for event in _events(recipe, task, found[task.id], digest, params, number, 1000.0 * at)
    ]
    with files.atomic(log) as file:
        for event in events:
            file.write(files.json_line(event.model_dump(mode="json")))


def _events(
    recipe: Recipe, task: Task, rollout: Rollout, digest: str, params: SamplingParams, number: int, at: float
) -> list[EditEvent]:
    """What is known of one suggestion."""
    id = content_hash([recipe.seed, number, task.id])
    numbers = rollout.verdict.numbers if rollout.verdict else {}
    shown, length = bool(numbers.get("shown")), len(rollout.answer)
    turn = rollout.turns[0]

    def ids(kind: str, seconds: float) -> dict[str, object]:
        return {"event": content_hash([id, kind]), "id": id, "time": number * 1e8 + at + seconds}

    events: list[EditEvent] = [
        EditServed(
            **ids("served", 0),
            session=f"simulated-{number}",
            client=f"simulated {recipe.online.user}",
            dialect="lsp",
            file=content_hash(task.topic),
            language=task.language,
            checkpoint=digest,
            sampling=params,
            seed=rollout.seed,
            characters=length if shown else 0,
            prompt_ids=list(turn.prompt_ids),
            completion=turn.completion,
        )
    ]
    if not shown:
        return events
    events.append(EditShown(**ids("shown", 0.1), by="client"))
    match recipe.online.user:
        case "always":
            accepts = True
        case "never":
            accepts = False
        case "coin":
            accepts = unit_interval("coin", recipe.seed, id) < 0.5
        case user:
            accepts = bool(numbers.get(_RULES.get(user, "")))
    if not accepts:
        return [*events, EditDismissed(**ids("dismissed", _READING))]
    kept = length if numbers.get("kept") else 0
    return [
        *events,
        EditAccepted(**ids("accepted", _READING), characters=length),
        EditSettled(**ids("settled", 20), kept=kept, discarded=length - kept),
    ]
