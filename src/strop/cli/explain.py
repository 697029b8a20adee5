"""`strop explain`: explains recipe keys."""

from typing import Annotated

from typer import Argument


def explain(
    names: Annotated[
        list[str] | None,
        Argument(metavar="[KEY...]", help="such as grpo.beta, beta or a section; without any: the sections"),
    ] = None,
) -> None:
    """Explain recipe keys: meaning, type, allowed values, unit, default."""
    from strop.config.explain import explain as keys_named
    from strop.config.schema import Recipe

    if not names:
        for section in Recipe.model_fields:
            print(f"{section:<12}{keys_named(section)[0].text}")
    for name in names or ():
        found = keys_named(name)
        for key in found:
            under = key.name != name and found[0].section
            only = f"  (only with {key.only})" if key.only and key.only != found[0].only else ""
            print(f"  {key.name:<36}{key.default}{only}" if under else key)
