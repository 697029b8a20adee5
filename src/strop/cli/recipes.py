"""`strop recipes`: the recipes that come with the package."""

from typing import Annotated

from typer import Argument


def recipes(
    name: Annotated[str | None, Argument(help="a recipe to print, with how its tasks are made")] = None,
) -> None:
    """List the packaged recipes: what each does, needs and takes, and what came of it; or print one."""
    from strop.config.recipes import RECIPES, facts_of, find_recipe, recipe_names

    if name is not None:
        print(find_recipe(name).read_text(encoding="utf-8"), end="")
        return
    known = {name: facts_of(RECIPES / f"{name}.yaml") for name in recipe_names()}
    for name, facts in sorted(known.items(), key=lambda item: item[1]["measured"] == "no"):
        measured = "measured" if facts["measured"] == "yes" else "not measured"
        print(f"{name}: {facts['what']}")
        print(f"    needs   {facts['needs']}\n    time    {facts['time']}")
        print(f"    result  {facts['result']} ({measured})")
        if "controls" in facts:
            print(f"    held against  {facts['controls']}")
    print("\nRewards to lay over them, as in `strop train rust-laptop rubrics/rust-strict`:")
    for name in recipe_names("rubrics"):
        print(f"rubrics/{name}: {facts_of(RECIPES / 'rubrics' / f'{name}.yaml')['what']}")
    print("\nTrain with one: strop train demo [KEY=VALUE...]. Begin one of your own: strop init DIR")
