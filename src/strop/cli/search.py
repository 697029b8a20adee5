"""`strop search`: finds where in a folder something is, by its words or with a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from strop.cli.options import EngineOptions, Overrides, grouped, say
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from strop.serve.finder import PlaceFinder
    from strop.serve.found import Found, LexicalFinder

ModelWord = Annotated[
    str,
    Option(
        "--model",
        "-m",
        help="a model that searches, written as for strop eval: a run, folder, preset or openai:NAME@URL",
        show_default="search by words, without a model",
    ),
]
Seconds = Annotated[float, Option(min=1, help="wall time for one question")]


@grouped
def search(
    answering: EngineOptions,
    folder: Annotated[Path, Argument(help="a repository or any folder of files")],
    question: Annotated[str, Argument(help="the question, in words")],
    model: ModelWord = "",
    overrides: Overrides = None,
    seconds: Seconds = 120.0,
    show: Annotated[bool, Option("--show", help="print the lines as well")] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="print the model's turns")] = False,
) -> None:
    """Find where in a folder something is, and print PATH:FIRST-LAST of each file. Exit code 1 if none is found.

    Searches the current files (in a git checkout, those that git knows) and only reads them.
    """
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}")
    with finder_of(model, answering, overrides or [], seconds) as finder:
        found = _watched(finder, folder, question) if verbose else finder.find(folder, question)
    for place in found.unknown if found.places else ():
        say(f"note: the answer also names {place}, which does not exist")
    if not found.places:
        say(f"no place found: {found.why}")
        raise Exit(1)
    print(found.text(lines=show))


def _watched(finder: "PlaceFinder | LexicalFinder", folder: Path, question: str) -> "Found":
    """The answer, after printing the model's turns."""
    from strop.cli.play import PlayWatch
    from strop.reports.terminal.consoles import console
    from strop.reports.terminal.plays import PlayView
    from strop.serve.finder import PlaceFinder

    if not isinstance(finder, PlaceFinder):
        say("note: this search uses no model, so there are no turns to print; name one with -m")
        return finder.find(folder, question)
    watch = PlayWatch(PlayView(console()))
    found = finder.find(folder, question, watch.on)
    watch.end()
    print()
    return found


def finder_of(
    model: str, answering: EngineOptions, overrides: list[str], seconds: float
) -> "PlaceFinder | LexicalFinder":
    """The finder for a MODEL word; searches by words if there is none. A run searches as it was trained.

    Raises UserError, ConfigError.
    """
    if not model:
        from strop.serve.found import LexicalFinder

        if overrides or answering != EngineOptions():
            raise UserError(
                f"{(overrides or ['the engine'])[0]} is for a model, but none is named; add -m MODEL"
            )
        return LexicalFinder(seconds)
    import json

    from strop.cli.models import read_models, recipe_for, trained_in
    from strop.config.model import POLICIES
    from strop.serve.finder import PlaceFinder

    if model in ("scripted:oracle", "scripted:random"):
        raise UserError(f"{model} only answers tasks whose places are known; name scripted:bm25-chunks")
    trained = trained_in(model, "search")
    environment = {"type": "search", **(trained[1].environment.options if trained else {})}
    options = [f"tasks.environment={json.dumps(environment)}", f"play.seconds={seconds}"]
    (read,) = read_models([model], answering.engine, answering.base_url)
    if "retry_seconds" in POLICIES[read.engine].model_fields:
        options += [f"policy.timeout_seconds={seconds}", f"policy.retry_seconds={seconds}"]
    return PlaceFinder(recipe_for(model, answering, options, overrides))
