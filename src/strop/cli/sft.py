"""`strop sft`: a supervised warm start on reference solutions."""

from pathlib import Path
from typing import Annotated

import typer


def sft(
    recipe: Annotated[
        list[str], typer.Argument(metavar="[RECIPE.yaml...] [KEY=VALUE...]", help="recipes, then overrides")
    ],
    plain: Annotated[bool, typer.Option("--plain", help="one line per update, no live view")] = False,
) -> None:
    """Warm up a model on reference solutions before reinforcement learning."""
    from strop.config.load import load_recipe
    from strop.reports.run_folder import RunFolder
    from strop.reports.terminal.live import LiveView

    settings = load_recipe(
        [Path(word) for word in recipe if "=" not in word], [w for w in recipe if "=" in w]
    )
    RunFolder.check_free(settings.run.folder, overwrite=settings.run.overwrite)
    from strop.training.sft import sft as warm_up

    with LiveView(0, plain=plain or None, title=str(settings.run.folder)) as view:
        target = warm_up(settings, say=view.note, show=view.update)
    print(f"the warmed-up model is in {target}; train it with: model.name={target}")
