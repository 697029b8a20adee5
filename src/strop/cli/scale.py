"""`strop scale`: how far more samples go, and which way of choosing among them gets there at what cost."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.eval import SampleOptions
from strop.cli.options import EngineOptions, grouped, say
from strop.core.errors import StropError, UserError

if TYPE_CHECKING:
    from strop.cli.evaluation_job import EvaluationJob
    from strop.core.task import Task
    from strop.evaluation.scaling import Scaling


@grouped
def scale(
    asked: SampleOptions,
    answering: EngineOptions,
    models: Annotated[
        list[str] | None,
        Argument(metavar="MODEL... [KEY=VALUE...]", help="as for strop eval"),
    ] = None,
    inputs: Annotated[int, Option(min=1, max=48, help="public inputs on which functions are compared")] = 16,
    output: Annotated[Path | None, Option("--output", "-o", help="JSON file for the numbers")] = None,
    chart: Annotated[Path | None, Option(help="chart of the curves: a .svg or .html file")] = None,
    resume: Annotated[
        Path | None, Option(help="run folder of strop eval or strop scale, whose answers are taken")
    ] = None,
) -> None:
    """Compare ways of choosing one of k samples: expected accuracy at every k up to -n, with intervals and costs.

    Samples once and runs every answer once, kept in a run folder as by strop eval; --resume goes on there.
    No way of choosing but the oracle knows the hidden tests.
    """
    from strop.cli.eval import check_places, evaluate_model, new_job, prepared
    from strop.cli.evaluation_job import EvaluationJob
    from strop.core import files
    from strop.evaluation.chart import write_chart
    from strop.evaluation.scaling import compare_scaling, scaling_json
    from strop.evaluation.scaling_table import scaling_chart, show_paired, show_scaling

    if resume is not None:
        if models or asked != SampleOptions() or answering != EngineOptions():
            raise UserError(
                "--resume takes the answers of the run folder; leave out models, options and overrides"
            )
        job = EvaluationJob.resumed(resume, None, None, "scale")
    else:
        job = new_job(models or [], asked, answering, None, None, "scale")
    samples = next(iter(job.recipes.values())).evaluation.samples
    if samples < 1:
        raise UserError("there is nothing to choose from: ask for samples with -n")
    check_places(output, chart)
    with job:
        tasks, seen, report = prepared(job)
        results: dict[str, Scaling] = {}
        try:
            for word, recipe in job.recipes.items():
                found = job.done(word) or evaluate_model(job, word, recipe, tasks, seen[word])
                report.add(word, recipe.policy.engine, found)
                results[word] = _curves(job, word, tasks, inputs)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(job.remedy) from None
        except StropError:
            if job.run is not None:
                say(f"what was answered is kept; {job.remedy}")
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


def _curves(job: "EvaluationJob", word: str, tasks: "Sequence[Task]", inputs: int) -> "Scaling":
    """The curves of a model whose answers are kept; what they do without hidden tests is kept beside them."""
    from strop.core import files
    from strop.core.journal import Appender, scan
    from strop.evaluation.public_runs import PublicRun, public_runs
    from strop.evaluation.scaling import judged_candidates, scaling
    from strop.reports.run_folder import SCALING
    from strop.reports.terminal.progress import Progress
    from strop.verification import open_configured

    assert job.run is not None
    recipe, name = job.recipes[word], job.name_of(word)
    samples, by_id = recipe.evaluation.samples, {task.id: task for task in tasks}
    path = job.run.path / SCALING / f"{name}.jsonl"
    with files.writing(path.parent):
        path.parent.mkdir(exist_ok=True)
    runs = {run.key: run for _, line in scan(path) if (run := PublicRun.model_validate(line))}
    rollouts = [one for one in job.run.folder.iter_evaluation_rollouts(name) if one.task_id in by_id]
    with (
        closing(Appender(path)) as log,
        open_configured(recipe.sandbox, recipe.verifier) as verifier,
        Progress(f"running the answers of {word}") as progress,
    ):
        answers = ((by_id[one.task_id], one.answer) for one in rollouts)
        for found in public_runs(verifier, answers, inputs=inputs, known=runs):
            if found is not None:
                log.append(found.model_dump(mode="json"))
                runs[found.key] = found
            progress.step(found is not None and all(found.shown))
    judged, left_out = judged_candidates(tasks, rollouts, runs, samples=samples, inputs=inputs)
    if not judged:
        raise StropError(f"no task of {word} has all its {samples} samples judged: {left_out}")
    done = job.done(word)
    spent, sampled = done.cpu_seconds if done else 0.0, sum(one.tokens.sum() for one in judged)
    return scaling(
        judged,
        samples=samples,
        left_out=left_out,
        sampling_cpu=spent / max(1.0, float(sampled)),
        resamples=recipe.evaluation.bootstrap,
        confidence=recipe.evaluation.confidence,
    )
