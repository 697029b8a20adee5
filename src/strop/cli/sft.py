"""`strop sft`: a supervised warm start on reference solutions."""

from typing import Annotated

from typer import Option

from strop.cli.options import Recipes, recipe_of


def sft(
    recipe: Recipes,
    plain: Annotated[bool, Option("--plain", help="one line per update, no live view")] = False,
) -> None:
    """Warm up a model on reference solutions before reinforcement learning."""
    from strop.reports.run_folder import RunFolder
    from strop.reports.terminal.live import LiveView

    settings = recipe_of(recipe)
    RunFolder.check_free(settings.run.folder, overwrite=settings.run.overwrite)
    from strop.training.sft import sft as warm_up

    with LiveView(0, plain=plain or None, title=str(settings.run.folder)) as view:
        target = warm_up(settings, say=view.note, show=view.update)
    print(f"the warmed-up model is in {target}; train it with: model.name={target}")
