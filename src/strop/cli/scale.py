"""`strop scale`: measures what more samples gain, for each way of choosing among them, and at what cost."""

import gc
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.eval import SampleOptions
from strop.cli.options import EngineOptions, grouped, say
from strop_verify.core.errors import StropError, UserError

if TYPE_CHECKING:
    from strop.cli.evaluation_job import EvaluationJob
    from strop.config.schema import Recipe
    from strop.evaluation.public_runs import PublicRun
    from strop.evaluation.scaling import Scaling
    from strop_verify.core.rollout import Rollout
    from strop_verify.core.task import Task

INPUTS = 16


@grouped
def scale(
    asked: SampleOptions,
    answering: EngineOptions,
    models: Annotated[
        list[str] | None,
        Argument(metavar="MODEL... [KEY=VALUE...]", help="as for strop eval"),
    ] = None,
    inputs: Annotated[
        int | None,
        Option(min=1, max=48, help=f"public inputs on which functions are compared; by default {INPUTS}"),
    ] = None,
    reward: Annotated[
        list[str] | None,
        Option(
            "--reward",
            help="a reward to choose samples by, such as model:PATH or file.py:function; it sees no hidden test; "
            "may be repeated",
        ),
    ] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="JSON file for the numbers")] = None,
    chart: Annotated[Path | None, Option(help="chart of the curves: a .svg or .html file")] = None,
    resume: Annotated[
        Path | None, Option(help="run folder of strop eval or strop scale whose answers to use")
    ] = None,
) -> None:
    """Compare ways of choosing one of k samples: expected accuracy at every k up to -n, with intervals and costs.

    Samples once, runs every answer once, and keeps both in a run folder like strop eval; --resume continues it, with
    the earlier options unless new ones are given. Only the oracle knows the hidden tests. With --environment feedback,
    its rounds are compared with blind resampling of as many tokens.
    """
    from strop.cli.eval import check_places, evaluate_model, job_of, prepared
    from strop.evaluation.chart import write_chart
    from strop.evaluation.scaling import compare_scaling, scaling_json
    from strop.evaluation.scaling_table import scaling_chart, show_paired, show_scaling
    from strop.policies import release_memory
    from strop.rewards.rubric import find_reward
    from strop_verify.core import files

    for name in reward or []:
        find_reward(name)
    job = job_of(models or [], asked, answering, None, None, resume, "scale")
    samples = next(iter(job.recipes.values())).evaluation.samples
    if samples < 1:
        raise UserError("there is nothing to choose from: ask for samples with -n")
    check_places(output, chart)
    places = {name: path and str(path.resolve()) for name, path in (("output", output), ("chart", chart))}
    wanted = job.keep_scaling({"inputs": inputs, "rewards": reward, **places})
    inputs, rewards = wanted.get("inputs", INPUTS), wanted.get("rewards", [])
    output, chart = (Path(wanted[name]) if name in wanted else None for name in places)
    with job:
        tasks, seen, report = prepared(job)
        results: dict[str, Scaling] = {}
        try:
            for word, recipe in job.recipes.items():
                found = job.done(word) or evaluate_model(job, word, recipe, tasks, seen[word])
                report.add(word, recipe.policy.engine, found)
                gc.collect()
                release_memory()
                results[word] = _curves(job, word, tasks, inputs, rewards)
        except StropError:
            if job.run is not None:
                say(f"the answers so far are kept; {job.remedy}")
            raise
        first, *others = results
        paired = {other: compare_scaling(results[first], results[other]) for other in others}
        show_scaling(results, title=report.title)
        show_paired(paired, first)
        if output is not None:
            files.write_json(output, {**report.head, **scaling_json(results, paired), "inputs": inputs})
        if chart is not None:
            write_chart(chart, scaling_chart(results, title=report.title), report.title)
        job.finish(report.summary())


def _curves(
    job: "EvaluationJob", word: str, tasks: "Sequence[Task]", inputs: int, rewards: Sequence[str]
) -> "Scaling":
    """The curves of a model with kept answers; keeps the results without hidden tests next to them."""
    from strop.evaluation.scaling import judged_candidates, scaling
    from strop.evaluation.self_debug import rounds
    from strop.reports.rollout_files import CONTROL
    from strop.reports.run_folder import SCALING
    from strop_verify.core import files

    done = job.done(word)
    assert job.run is not None and done is not None
    recipe, name, folder = job.recipes[word], job.name_of(word), job.run
    config, by_id = recipe.evaluation, {task.id: task for task in tasks}
    path = folder.path / SCALING / f"{name}.jsonl"
    with files.writing(path.parent):
        path.parent.mkdir(exist_ok=True)
    plays = [one for one in folder.iter_evaluation_rollouts(name) if one.task_id in by_id]
    beside = "resampled" in done.controls
    control = list(folder.iter_evaluation_rollouts(f"{name}{CONTROL}")) if beside else []
    runs = _public_runs(path, recipe, by_id, plays, control, inputs, rewards)
    judged, left_out = judged_candidates(tasks, plays, runs, samples=config.samples, inputs=inputs)
    if not judged:
        raise StropError(f"no task of {word} has all its {config.samples} samples judged: {left_out}")
    found = scaling(
        judged,
        samples=config.samples,
        left_out=left_out,
        sampling_cpu=done.cpu_seconds / max(1.0, sum(float(one.tokens.sum()) for one in judged)),
        rewards=rewards,
        resamples=config.bootstrap,
        confidence=config.confidence,
    )
    if control:
        both = rounds(done, tasks, plays, control, runs, inputs=inputs, resamples=config.bootstrap)
        found = found.model_copy(update={"rounds": both})
    files.write_json(path.with_suffix(".json"), found.as_json())
    return found


def _public_runs(
    path: Path,
    recipe: "Recipe",
    tasks: "Mapping[str, Task]",
    plays: "Sequence[Rollout]",
    control: "Sequence[Rollout]",
    inputs: int,
    rewards: Sequence[str],
) -> "dict[str, PublicRun]":
    """Results of the answers without hidden tests, and values of rewards: read from the file, or computed and
    added."""
    from strop.evaluation.public_runs import PublicRun, key_of, public_runs, with_rewards
    from strop.reports.terminal.progress import Progress
    from strop_verify.core.journal import Appender, scan
    from strop_verify.verification import open_configured

    runs = {run.key: run for _, line in scan(path) if (run := PublicRun.model_validate(line))}
    with closing(Appender(path)) as log:

        def keep(run: PublicRun) -> None:
            log.append(run.model_dump(mode="json"))
            runs[run.key] = run

        with (
            open_configured(recipe.sandbox, recipe.verifier) as verifier,
            Progress("answers run") as progress,
        ):
            answers = ((tasks[one.task_id], one.answer) for one in [*plays, *control])
            for found in public_runs(verifier, answers, inputs=inputs, known=runs):
                if found is not None:
                    keep(found)
                progress.step(found is not None and all(found.shown))
        keyed = {key_of(tasks[one.task_id], one.answer, inputs): one for one in plays}
        for reward in rewards:
            left = [
                (tasks[one.task_id], one, runs[key])
                for key, one in keyed.items()
                if key in runs and reward not in runs[key].rewards_cpu
            ]
            for run in with_rewards(reward, left):
                keep(run)
    return runs
