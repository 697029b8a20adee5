"""`strop online`: learns from the fate of suggested edits while the model is served."""

from pathlib import Path
from typing import Annotated

from typer import Option

from strop.cli.options import AnyRecipes, Plain
from strop.cli.train import train
from strop_verify.core.errors import UserError

ALWAYS = (
    "feed=edit-events",
    "run.save_every=1",
    "run.keep_optimizer=true",
    "grpo.loss={type: reinforce, average: constant}",
    "grpo.advantage={type: running-baseline}",
    "grpo.group_size=1",
    "grpo.refill=false",
    "grpo.mask_truncated=false",
    "sft.warm_start=false",
    "evaluation.before=true",
)
"""Settings of a round's update: one answer per context, each with its own reward."""


def online(
    recipe: AnyRecipes = None,
    resume: Annotated[Path | None, Option(help="run folder to resume")] = None,
    plain: Plain = False,
) -> None:
    """Learn from the events of served suggestions, round by round: collect, update, compare, deploy or roll back.

    RUN/served always names the model to serve: strop serve-edits --model RUN/served --log RUN/events. With
    online.user=nearer a simulated user replaces people. optim.steps is the number of rounds. See docs/next-edit.md.
    """
    if not recipe and resume is None:
        raise UserError(
            "no recipe given; try: strop online next-edit-laptop model.name=runs/next-edit-laptop/final"
        )
    train([*(recipe or []), *(ALWAYS if resume is None else ())], resume=resume, plain=plain)
