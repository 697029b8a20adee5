"""Contamination: evaluation tasks that a model may have seen in training, as known from its Strop run or the user.

Two signs are reported, without correction: tasks published before the end of the model's training data
(`model.cutoff`), with separate rates before and after that day, as in LiveCodeBench (arXiv 2403.07974, section 4);
and tasks whose statement is a near-duplicate of one that Strop trained on.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from strop.config.load import load_recipe
from strop.config.schema import Recipe
from strop.evaluation.result import Contamination
from strop.tasks.sources import load_tasks
from strop.tasks.splits import alike_statements
from strop.tasks.task_sets import sources_of, task_sets
from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.task import Task

_PROMPT = ("style", "template", "answer")
"""Settings of `tasks` that affect prompts."""
_DEPTH = 3
"""A run's models are in RUN, RUN/final and RUN/checkpoints/NAME."""


def run_of(name: str) -> Path | None:
    """The run folder that a model's folder belongs to; None for other models."""
    folder = Path(name)
    return next((p for p in [folder, *folder.parents][:_DEPTH] if (p / "recipe.yaml").is_file()), None)


def _trained_by(recipe: Recipe, name: str) -> Path | None:
    return run_of(name) if recipe.policy.has_weights else None


def other_prompts(recipe: Recipe, name: str) -> str | None:
    """The prompt settings of a run's recipe that differ from `recipe`, as overrides; None if none differ."""
    run = _trained_by(recipe, name)
    if run is None:
        return None
    try:
        known = load_recipe([run / "recipe.yaml"]).tasks
    except (UserError, ConfigError):
        return None
    if isinstance(known, list):  # no single prompt style
        return None
    asked = recipe.task_set
    given = {key: getattr(known, key) for key in _PROMPT if getattr(known, key) != getattr(asked, key)}
    words = (f"tasks.{key}={'null' if value is None else value}" for key, value in given.items())
    return " ".join(words) or None


def seen(
    recipe: Recipe, name: str, tasks: Sequence[Task], trained_on: str | None, say: Callable[[str], None]
) -> Contamination | None:
    """The tasks that a model may have seen; None if nothing is known.

    recipe      the evaluation's for this model; its model.cutoff takes precedence over the run's
    name        the model's name: a run, or a model in one, tells what it was trained on
    trained_on  a whole task set, in place of the run's training tasks
    say         gets a line if the run's training tasks cannot be read; a bad `trained_on` raises UserError
    """
    cutoff, source, training = recipe.model.cutoff, "", None
    if (run := _trained_by(recipe, name)) is not None:
        try:
            known = load_recipe([run / "recipe.yaml"])
            cutoff = cutoff or known.model.cutoff
            if trained_on is None:
                source = sources_of(known)
                training = [task for one in task_sets(known) for task in one.train]
        except (UserError, ConfigError) as error:
            say(f"the training tasks of {run} cannot be read, so near-duplicates are not counted: {error}")
    if trained_on is not None:
        source, training = trained_on, load_tasks(trained_on)
    return contamination(tasks, cutoff=cutoff, training=training, source=source)


def contamination(
    tasks: Sequence[Task], *, cutoff: str | None, training: Sequence[Task] | None = None, source: str = ""
) -> Contamination | None:
    """The contamination of an evaluation on `tasks`; None if neither a cutoff nor training tasks are known.

    Near-duplicates are those of `alike_statements`.
    """
    if cutoff is None and training is None:
        return None
    close = alike_statements(tasks, training or ())
    return Contamination(
        cutoff=cutoff,
        source=None if training is None else source,
        compared=len(training or ()),
        similar=sorted(tasks[at].id for at in close),
    )
