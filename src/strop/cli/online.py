"""`strop online`: learn from what became of suggested edits, while the model is served."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from strop.cli.options import AnyRecipes, recipe_of, say
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop.config.schema import Recipe

_ALWAYS = (
    "grpo.loss={type: reinforce, average: constant}",
    "grpo.advantage={type: running-baseline}",
    "grpo.group_size=1",
    "grpo.refill=false",
    "grpo.mask_truncated=false",
    "sft.warm_start=false",
)
"""The update of a round: one answer per context, each with its own reward."""


def online(
    recipe: AnyRecipes = None,
    resume: Annotated[Path | None, Option(help="run folder to resume")] = None,
) -> None:
    """Learn from the events of served suggestions, round by round: collect, update, compare, deploy or roll back.

    RUN/served always names the model to serve: strop serve-edits --model RUN/served --log RUN/events. With
    online.user=nearer a simulated user replaces people. optim.steps is the number of rounds. See docs/next-edit.md.
    """
    resolved = _resumed(resume, recipe or []) if resume else _new(recipe or [])
    from strop.training.online import online

    folder = resolved.run.folder
    try:
        state = online(resolved, resume=resume is not None, say=say, show=_nothing)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"resume with: strop online --resume {shlex.quote(str(folder))}") from None
    print(f"{state.round} rounds; {state.served} is served: {folder / 'served'}")


def _nothing(metrics: dict[str, Any]) -> None:
    """Prints a round line by line."""


def _new(words: list[str]) -> "Recipe":
    if not words:
        raise UserError(
            "no recipe given; try: strop online next-edit-laptop model.name=runs/next-edit-laptop/final"
        )
    return recipe_of([*words, *_ALWAYS])


def _resumed(folder: Path, words: list[str]) -> "Recipe":
    path = folder / "recipe.yaml"
    if not path.is_file():
        raise UserError(f"--resume {folder}: it has no recipe.yaml, so strop online did not make it")
    if unknown := next((word for word in words if not word.startswith("optim.steps=")), ""):
        raise UserError(f"{unknown}: a run resumes with its own recipe; only optim.steps=ROUNDS can change")
    return recipe_of([str(path), f"run.dir={folder}", *words])
