"""`strop distill`: trains on a teacher's log-probabilities of the policy's own tokens."""

from typing import Annotated, Literal

from typer import Option

from strop.cli.options import DryRun, Plain, Recipes
from strop.cli.train import train
from strop_verify.core.errors import UserError


def distill(
    recipe: Recipes,
    teacher: Annotated[
        str | None,
        Option(
            help="folder or Hub id of a model with the same tokenizer; without it the policy teaches itself"
        ),
    ] = None,
    url: Annotated[
        str | None,
        Option(help="server that serves the teacher, such as vLLM's at http://127.0.0.1:8000/v1"),
    ] = None,
    shows: Annotated[
        Literal["nothing", "reference", "feedback"],
        Option(help="what only the teacher sees: the reference solution, or why the answer failed"),
    ] = "nothing",
    with_rewards: Annotated[
        bool,
        Option(
            "--with-rewards", help="also learn from the recipe's rewards, which are otherwise only logged"
        ),
    ] = False,
    dry_run: DryRun = False,
    plain: Plain = False,
) -> None:
    """Train a recipe's model towards a teacher on its own samples (grpo.teacher)."""
    if teacher is None and (url or shows == "nothing"):
        raise UserError(
            "name a teacher with --teacher, or let the policy teach itself: --shows reference or feedback"
        )
    given = {"shows": shows, "rewards": str(with_rewards).lower(), "name": teacher, "url": url}
    words = [f"grpo.teacher.{key}={value}" for key, value in given.items() if value is not None]
    train([*words, "grpo.refill=false", *recipe], dry_run=dry_run, plain=plain)
