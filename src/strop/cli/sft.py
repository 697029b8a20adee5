"""`strop sft`: runs a supervised warm start on reference solutions."""

from strop.cli.options import Plain, Recipes, recipe_of


def sft(
    recipe: Recipes,
    plain: Plain = False,
) -> None:
    """Warm up a model on reference solutions before reinforcement learning."""
    from strop.reports.terminal.live import LiveView
    from strop.training.preflight import preflight

    settings = recipe_of(recipe)
    with LiveView(0, plain=plain or None, title=str(settings.run.folder)) as view:
        sets = preflight(settings, say=view.note, samples=False).sets(settings, view.note)
        from strop.training.supervised import sft as warm_up

        target = warm_up(settings, sets, say=view.note, show=view.update)
    print(f"the warmed-up model is in {target}; train it with: model.name={target}")
