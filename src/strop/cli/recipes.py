"""`strop recipes`: lists the packaged recipes or prints one."""

from typing import Annotated

from typer import Argument


def recipes(
    name: Annotated[
        str | None, Argument(help="a recipe to print, with the commands that make its tasks")
    ] = None,
) -> None:
    """List the packaged recipes with their needs, time and results, or print one."""
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
            print(f"    compared with  {facts['controls']}")
    print("\nOverlays with rewards, as in `strop train rust-laptop rubrics/rust-strict`:")
    for name in recipe_names("rubrics"):
        print(f"rubrics/{name}: {facts_of(RECIPES / 'rubrics' / f'{name}.yaml')['what']}")
    print("\nTrain with one: strop train demo [KEY=VALUE...]. Start your own: strop init DIR")
