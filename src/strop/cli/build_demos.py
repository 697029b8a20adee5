"""`strop build demos`: demonstrations of many turns for a warm start."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.options import recipe_of, say
from strop.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from strop.config.schema import Recipe
    from strop.tasks.demos import Demo


def demos(
    recipe: Annotated[
        list[str],
        Argument(metavar="NAME|RECIPE.yaml... [KEY=VALUE...]", help="the recipe that will train on them"),
    ],
    output: Annotated[Path, Option("--output", "-o", help="file of demonstrations to write: .jsonl")],
    each: Annotated[int, Option(min=1, help="plays of one task, which differ by chance")] = 1,
    limit: Annotated[int | None, Option(min=1, help="only this many of the training tasks")] = None,
) -> None:
    """Let an environment's own expert play the recipe's training tasks, and keep the plays that pass.

    Each becomes a conversation, one JSON object a line; one that is too long for the recipe is left out. Train on
    them by sft.demos=FILE. See docs/plays.md.
    """
    from strop.core import files
    from strop.core.rollout import Rollout
    from strop.curation.demos import build_demos
    from strop.reports.terminal.progress import Progress
    from strop.tasks.task_sets import task_sets

    if output.suffix != ".jsonl":
        raise UserError(f"--output {output}: name a file that ends in .jsonl")
    files.check_writable(output)
    asked = recipe_of([*recipe, "sft.demos=null"])
    resolved = recipe_of(
        [*recipe, "sft.demos=null", "play.max_tokens=null"]
    )  # an expert's tokens are characters
    if isinstance(resolved.tasks, list):
        raise UserError("strop build demos takes a recipe with one task set; this one has several")
    tasks = task_sets(resolved, say)[0].train[:limit]
    misfit: Callable[[Demo], str] | None = None
    failed: Counter[str] = Counter()
    made = 0
    with Progress("demonstrations", each * len(tasks)) as progress, files.atomic(output) as file:

        def played(rollout: Rollout) -> None:
            passed = rollout.verdict is not None and rollout.verdict.passed
            if not passed:
                failed[rollout.verdict.detail if rollout.verdict else rollout.stop_reason] += 1
            progress.step(passed)

        for demo in build_demos(resolved, tasks, each=each, on_play=played):
            misfit = misfit or _misfit(asked)
            if why := misfit(demo):
                failed[why] += 1
                continue
            file.write(files.json_line(demo.model_dump(mode="json")))
            made += 1
        if not made:
            why = f"; most often: {failed.most_common(1)[0][0]}" if failed else ""
            raise UserError(f"none of the {each * len(tasks)} plays is a demonstration{why}")
    print(f"{made} demonstrations of {len(tasks)} tasks; {output}")
    for reason, count in failed.most_common(3):
        say(f"left out: {count} plays: {reason}")


def _misfit(recipe: "Recipe") -> "Callable[[Demo], str]":
    """Why a demonstration is too long for the recipe, in its model's tokens; "" for one that is not."""
    from strop.core.errors import StropError
    from strop.policies.model_files import ModelFiles
    from strop.policies.open import local_tokenizer
    from strop.rollouts.encoding import demo_misfit

    name = recipe.model.name
    try:
        files = ModelFiles.read(name, recipe.model.revision)
        tokenizer = local_tokenizer(recipe, files) if files else None
    except StropError:
        files = tokenizer = None
    if files is None or tokenizer is None:
        say(f"note: lengths are not looked at, since the tokenizer of {name} is not here")
        return lambda demo: ""
    play = min(filter(None, (recipe.play.max_tokens, files.context)), default=None)
    prompt, answer = recipe.task_set.max_prompt_tokens, recipe.sampling.max_tokens
    return lambda demo: demo_misfit(demo, tokenizer, prompt, answer, play)
