"""Simulated users for `strop online`, who decide by a rule and write the event log that editors would write."""

from collections.abc import Iterator
from pathlib import Path

from strop.config.schema import Recipe
from strop.training.setup import RunParts
from strop_verify.core import files
from strop_verify.core.edit_events import (
    EditAccepted,
    EditDismissed,
    EditEvent,
    EditServed,
    EditSettled,
    EditShown,
)
from strop_verify.core.ids import content_hash, rng, unit_interval
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task

_RULES = {"nearer": "accepted", "kept": "kept", "exact": "exact"}
"""{user: the number in the verdict that decides}."""
_READING = 2.0
"""Seconds until a user decides."""


def play_round(recipe: Recipe, parts: RunParts, number: int, digest: str, log: Path) -> None:
    """Plays a round's tasks with the published weights and writes the users' decisions (`OnlineConfig.user`) as a log.
    Ids, times and decisions come from (seed, round, task) alone, so a repeated round writes the same log.
    """
    seed, tasks = recipe.seed, list(parts.train)
    params = recipe.sampling.params(recipe.sampling.stop)
    rng("online", seed, number).shuffle(tasks)
    known = {task.id: task for task in tasks[: recipe.online.batch]}
    played = parts.play.rollouts([*known.values()], 1, params, seed=seed, tag=f"online.{number}")
    found = {rollout.task_id: rollout for rollout in played}
    with files.atomic(log) as file:
        for at, task in enumerate(known.values()):
            for event in _simulated(recipe, task, found[task.id], digest, number, 1000.0 * at):
                file.write(files.json_line(event.model_dump(mode="json")))


def _simulated(
    recipe: Recipe, task: Task, rollout: Rollout, digest: str, number: int, at: float
) -> Iterator[EditEvent]:
    """The events of one suggestion."""
    seed, user, turn = recipe.seed, recipe.online.user, rollout.turns[0]
    id = content_hash([seed, number, task.id])
    numbers = rollout.verdict.numbers if rollout.verdict else {}
    shown, length = bool(numbers.get("shown")), len(rollout.answer)

    def ids(kind: str, seconds: float) -> dict[str, object]:
        return {"event": content_hash([id, kind]), "id": id, "time": number * 1e8 + at + seconds}

    yield EditServed(
        **ids("served", 0),
        session=f"simulated-{number}",
        client=f"simulated {user}",
        dialect="lsp",
        file=content_hash(task.topic),
        language=task.language,
        checkpoint=digest,
        sampling=recipe.sampling.params(recipe.sampling.stop),
        seed=rollout.seed,
        characters=length if shown else 0,
        prompt_ids=list(turn.prompt_ids),
        completion=turn.completion,
    )
    if not shown:
        return
    yield EditShown(**ids("shown", 0.1), by="client")
    blind = {"always": True, "never": False, "coin": unit_interval("coin", seed, id) < 0.5}
    if not (blind[user] if user in blind else numbers.get(_RULES.get(user, ""))):
        yield EditDismissed(**ids("dismissed", _READING))
        return
    kept = length if numbers.get("kept") else 0
    yield EditAccepted(**ids("accepted", _READING), characters=length)
    yield EditSettled(**ids("settled", 20), kept=kept, discarded=length - kept)
