"""`strop train-reward`: trains a reward model on preferences and prints its report card."""

from strop.cli.options import Plain, Recipes, recipe_of


def train_reward(
    recipe: Recipes,
    plain: Plain = False,
) -> None:
    """Learn to score answers from preferences (strop build preferences), then report how far the scores can be
    trusted.

    The report card, on held-out tasks, is printed and saved as card.json in the run folder. Use the model as the reward
    model:RUN. See docs/rewards.md.
    """
    from pathlib import Path

    from strop.evaluation.reward_card import show_card
    from strop.reports.run_folder import RunFolder
    from strop.reports.terminal.live import LiveView
    from strop.tasks.preferences import read_preferences
    from strop_verify.core.errors import UserError
    from strop_verify.core.optional_packages import require

    settings = recipe_of(recipe)
    if settings.reward_model.pairs is None:
        raise UserError(
            "reward_model.pairs names no file; make one with: strop build preferences RUN... -o pairs.jsonl"
        )
    compared = read_preferences(Path(settings.reward_model.pairs))
    RunFolder.check_free(settings.run.folder, overwrite=settings.run.overwrite)
    for package in ("torch", "transformers"):
        require(package, package=package, extra="train", purpose="a reward model")
    with LiveView(0, plain=plain or None, title=str(settings.run.folder)) as view:
        from strop.training.reward_model import train_reward as train

        card = train(settings, compared, say=view.note, show=view.update, status=view.status)
    folder = settings.run.folder
    show_card(card, title=f"report card of {folder}")
    print(
        f"\nThe reward model is in {folder}/final, its card in {folder}/card.json; use it as the reward model:{folder}"
    )
