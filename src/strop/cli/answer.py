"""`strop answer`: samples your own task n times; prints the chosen answer on stdout, the reasons on stderr."""

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.options import EngineOptions, RecipeOptions, grouped, of_recipe, say
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop.config.schema import Recipe
    from strop_verify.core.rollout import Rollout
    from strop_verify.core.task import Task


@dataclass(frozen=True)
class AnswerOptions(RecipeOptions):
    """Options for sampling the answers to one task."""

    tasks: Annotated[
        str | None, of_recipe("tasks.source", help="task set in which to look up TASK, as for strop eval")
    ] = None
    samples: Annotated[int, Option("--samples", "-n", min=1, help="sampled answers")] = 16
    temperature: Annotated[
        float | None,
        of_recipe("evaluation.temperature", "--temperature", "-t", min=0.001, help="sampling temperature"),
    ] = None

    def given(self) -> dict[str, object]:
        """The given options, including those of this class."""
        return {
            **super().given(),
            "evaluation.samples": self.samples,
            "evaluation.k": "[1]",
            "evaluation.temperature": self.temperature,
        }


@grouped
def answer(
    asked: AnswerOptions,
    answering: EngineOptions,
    words: Annotated[
        list[str],
        Argument(
            metavar="TASK [RECIPE.yaml...] [KEY=VALUE...]",
            help="a file of one task (a Python function with doctests, or a task line), or the id or number of one of "
            "--tasks; then recipes and overrides",
        ),
    ],
    model: Annotated[
        str | None,
        Option("--model", "-m", help="model, written as for strop eval; by default the recipe's"),
    ] = None,
    select: Annotated[
        str | None,
        Option(
            help="how the answer is chosen: first, random, log-prob, log-prob-mean, majority, codet, shown, "
            "shown-majority, or a reward, such as model:PATH; by default the last one that the task supports"
        ),
    ] = None,
    inputs: Annotated[int, Option(min=1, max=48, help="public inputs on which functions are compared")] = 16,
) -> None:
    """Sample your own task n times and print the answer that a selector chooses; the reasons go to stderr.

    Only shown tests are run. `strop scale` measures the selectors for a model.
    """
    from strop.cli.models import chosen_task
    from strop.evaluation.answering import chosen_answer, selector_for
    from strop.evaluation.selectors import FIRST, RANDOM
    from strop_verify.verification import open_configured

    recipe, task = chosen_task("answer", words, asked.overrides(), answering, model)
    name, selector = selector_for(select, task, inputs)
    began = time.monotonic()
    rollouts = _sampled(recipe, task, 1 if name in (FIRST, RANDOM) else recipe.evaluation.samples)
    sampled = time.monotonic()
    with open_configured(recipe.sandbox, recipe.verifier) as verifier:
        found = chosen_answer(name, selector, task, rollouts, verifier, inputs)
    ended = time.monotonic()
    for line in found.reasons():
        say(line)
    say(f"{ended - began:.1f} s: {sampled - began:.1f} to load and sample, {ended - sampled:.1f} to choose")
    if found.fails:
        say("warning: it fails a shown test; more samples (-n) or another model may do better")
    text = found.text if found.text.endswith("\n") else f"{found.text}\n"
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def _sampled(recipe: "Recipe", task: "Task", samples: int) -> "list[Rollout]":
    """Rollouts in the order of their indices, unjudged: those of `strop scale` with the same seed."""
    from contextlib import ExitStack

    from strop.environments.registry import played_by
    from strop.evaluation.answering import Unjudged
    from strop.evaluation.contamination import other_prompts
    from strop.policies.open import open_policy
    from strop.reports.terminal.progress import Progress
    from strop.rollouts.dispatcher_factory import dispatcher_of
    from strop_verify.core.rollout import SamplingParams

    if trained := other_prompts(recipe, recipe.model.name):
        say(f"note: the model was trained on other prompts; to use the prompts of its training: {trained}")
    params = SamplingParams(temperature=recipe.evaluation.temperature, max_tokens=recipe.sampling.max_tokens)
    with ExitStack() as stack:
        policy = open_policy(recipe, prompts=lambda tokenizer: {task.id: ()})
        stack.callback(getattr(policy, "close", lambda: None))
        player = dispatcher_of(recipe, policy, Unjudged(), played_by(recipe, kind="single-turn"))
        player.check_prompts([task])
        progress = stack.enter_context(Progress("sampled", samples))
        rollouts = []
        for rollout in player.play([task], samples, params, seed=recipe.seed, tag="evaluation.sampled"):
            rollouts.append(rollout)
            progress.at(len(rollouts), None, samples)
    return sorted(rollouts, key=lambda one: one.index)
