"""`strop build preferences`: pairs of answers, one passed and one failed, for a reward model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.options import say
from strop_verify.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strop_verify.core.rollout import Rollout
    from strop_verify.core.task import Split, Task


def preferences(
    runs: Annotated[list[Path], Argument(metavar="RUN...", help="run folders of strop train and strop eval")],
    output: Annotated[Path, Option("--output", "-o", help="file of preferences to write: .jsonl")],
    held_out: Annotated[
        float | None, Option(min=0.01, max=0.9, help="share of tasks to hold out; default: each run's split")
    ] = None,
    pairs: Annotated[
        Path | None, Option(help="also write the training pairs for TRL, as lines {prompt, chosen, rejected}")
    ] = None,
) -> None:
    """Collect answers of runs: each answer that passed is preferred to each that failed its task.

    One task per line, with its distinct answers. Training and held-out tasks stay apart. Train a
    reward model on them: strop train-reward. See docs/rewards.md.
    """
    from strop.tasks.preferences import on_side
    from strop_tasks.curation.preferences import build_preferences
    from strop_verify.core import files

    if output.suffix != ".jsonl":
        raise UserError(f"--output {output}: name a file that ends in .jsonl")
    for path in filter(None, (output, pairs)):
        files.check_writable(path)
    kept = (one for folder in runs for one in _kept(folder))
    found, counts = build_preferences(_tasks_of(runs), kept, held_out=held_out)
    if not any(one.pair_count for one in found):
        raise UserError("no task has both passing and failing answers; sample more answers per task")
    with files.atomic(output) as file:
        file.writelines(files.json_line(one.model_dump(mode="json")) for one in found)
    if pairs is not None:
        with files.atomic(pairs) as file:
            for one in on_side(found, "train"):
                for good, bad in one.pairs:
                    file.write(
                        files.json_line({"prompt": one.prompt, "chosen": good.text, "rejected": bad.text})
                    )
    sides: tuple[Split, ...] = ("train", "held-out")
    for side in sides:
        some = on_side(found, side)
        count, both = sum(one.pair_count for one in some), sum(bool(one.pair_count) for one in some)
        answers = sum(len(one.answers) for one in some)
        print(f"{side}: {count} pairs of {both} tasks; {answers} different answers to {len(some)} tasks")
    for reason, count in [*counts.left_out.most_common(), *counts.tasks_left_out.items()]:
        what = "tasks" if reason in counts.tasks_left_out else "answers"
        print(f"left out: {count} {what} {reason}")
    print(f"{counts.answers} judged answers read; {output}")
    for side in sides:
        if not any(one.pair_count for one in on_side(found, side)):
            say(
                f"note: no pair on the {side} side: add runs with such tasks, or split again with --held-out .2"
            )


def _tasks_of(runs: list[Path]) -> "Mapping[str, Task]":
    """Every task of the runs' recipes, with its split; tasks that any of them holds out are held out."""
    from strop.config.load import load_recipe
    from strop.reports.run_folder import RECIPE, RunFolder
    from strop.tasks.task_sets import each, tasks_of

    tasks: dict[str, Task] = {}
    for folder in runs:
        RunFolder.read(folder)
        for one in each(load_recipe([folder / RECIPE])).values():
            for task in tasks_of(one):
                if task.id not in tasks or task.split == "held-out":
                    tasks[task.id] = task
    return tasks


def _kept(folder: Path) -> "Iterator[tuple[str, Rollout]]":
    """(where it was sampled, the rollout) of every step and evaluation of a run. If a sampled and a greedy answer of
    an evaluation share an index, the first counts. Unreadable files are reported.
    """
    from strop.reports.rollout_files import WHOLE, evaluation_name, read_whole
    from strop.reports.run_folder import EVALUATION, RunFolder
    from strop_verify.core.rollout import Rollout

    run = RunFolder.read(folder)
    for step in run.rollout_steps():
        try:
            for group in run.iter_groups(step):
                yield from ((f"{folder.name} step {step}", one) for one in group.rollouts)
        except UserError as error:
            say(f"note: {error}")
    for path in sorted((folder / EVALUATION).glob(f"*{WHOLE}")):
        name, seen = evaluation_name(path.name), set[tuple[str, int]]()
        try:
            for line in read_whole(path):
                rollout = Rollout.model_validate(line)
                if (rollout.task_id, rollout.index) not in seen:
                    seen.add((rollout.task_id, rollout.index))
                    yield f"{folder.name} {name}", rollout
        except UserError as error:
            say(f"note: {error}")
