"""What an evaluated model was trained on, if known: from a Strop run, or because the user says so."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from strop.config.load import load_recipe
from strop.config.schema import Recipe
from strop.core.errors import ConfigError, UserError
from strop.core.task import Task
from strop.evaluation.contamination import Contamination, contamination
from strop.tasks.recipe import split_tasks, tasks_source
from strop.tasks.sources import load_tasks

_PROMPT = ("style", "template", "answer")
"""Settings of `tasks` on which the prompts hang."""
_DEPTH = 3
"""A run's models lie in RUN, RUN/final and RUN/checkpoints/NAME."""


def run_of(name: str) -> Path | None:
    """The run folder that a model's folder belongs to; None for other models."""
    folder = Path(name)
    return next((p for p in [folder, *folder.parents][:_DEPTH] if (p / "recipe.yaml").is_file()), None)


def other_prompts(recipe: Recipe, name: str) -> str | None:
    """What a run's recipe says of prompts where `recipe` says otherwise, as overrides; None where nothing differs."""
    run = run_of(name) if recipe.policy.engine in ("transformers", "vllm") else None
    if run is None:
        return None
    try:
        known = load_recipe([run / "recipe.yaml"]).tasks
    except (UserError, ConfigError):
        return None
    given = {key: getattr(known, key) for key in _PROMPT if getattr(known, key) != getattr(recipe.tasks, key)}
    return (
        " ".join(f"tasks.{key}={'null' if value is None else value}" for key, value in given.items()) or None
    )


def seen_by(
    recipes: Mapping[str, Recipe], tasks: Sequence[Task], trained_on: str | None, say: Callable[[str], None]
) -> dict[str, Contamination | None]:
    """What each model may have seen of `tasks`, by its word; see `seen`."""
    return {word: seen(recipe, recipe.model.name, tasks, trained_on, say) for word, recipe in recipes.items()}


def seen(
    recipe: Recipe, name: str, tasks: Sequence[Task], trained_on: str | None, say: Callable[[str], None]
) -> Contamination | None:
    """What a model may have seen of `tasks`; None when nothing is known.

    recipe      the evaluation's for this model, whose model.cutoff counts first, and then the run's
    name        as the model was named: a run or a model in it tells what it was trained on
    trained_on  a task set, all of it, in place of the run's training tasks
    say         hears why a run's training tasks cannot be compared with. A task set in `trained_on` raises UserError.
    """
    cutoff, source, training = recipe.model.cutoff, "", None
    run = run_of(name) if recipe.policy.engine in ("transformers", "vllm") else None
    if run is not None:
        try:
            known = load_recipe([run / "recipe.yaml"])
            cutoff = cutoff or known.model.cutoff
            if trained_on is None:
                source, training = tasks_source(known), split_tasks(known)[0]
        except (UserError, ConfigError) as error:
            say(f"the training tasks of {run} cannot be read, so near-duplicates are not counted: {error}")
    if trained_on is not None:
        source, training = trained_on, load_tasks(trained_on)
    return contamination(tasks, cutoff=cutoff, training=training, source=source)
