"""`strop build preferences`: pairs of answers, one passed and one failed, for a reward model."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from strop.cli.options import say
from strop.core.errors import UserError


def preferences(
    runs: Annotated[list[Path], Argument(metavar="RUN...", help="run folders of strop train and strop eval")],
    output: Annotated[Path, Option("--output", "-o", help="file of preferences to write: .jsonl")],
    held_out: Annotated[
        float | None,
        Option(min=0.01, max=0.9, help="hold out this share of the tasks; each run's own split by default"),
    ] = None,
) -> None:
    """Collect what runs have kept: each answer that passed is preferred to each of its task that failed.

    One task a line, with its different answers. Equal ones count once; training and held-out tasks stay apart. Train a
    reward model on them: strop train-reward. See docs/learned-rewards.md.
    """
    from strop.core import files
    from strop.curation.preferences import build_preferences
    from strop.tasks.preferences import on_side

    if output.suffix != ".jsonl":
        raise UserError(f"--output {output}: name a file that ends in .jsonl")
    files.check_writable(output)
    found, counts = build_preferences(runs, held_out=held_out, say=say)
    if not any(one.pair_count for one in found):
        raise UserError("no task has answers that passed and answers that failed; sample more of each task")
    with files.atomic(output) as file:
        file.writelines(files.json_line(one.model_dump(mode="json")) for one in found)
    for side in ("train", "held-out"):
        some = on_side(found, side)
        pairs, both = sum(one.pair_count for one in some), sum(bool(one.pair_count) for one in some)
        answers = sum(len(one.answers) for one in some)
        print(f"{side}: {pairs} pairs of {both} tasks; {answers} different answers to {len(some)} tasks")
    for reason, count in [*counts.left_out.most_common(), *counts.tasks_left_out.items()]:
        what = "tasks" if reason in counts.tasks_left_out else "answers"
        print(f"left out: {count} {what} {reason}")
    print(f"{counts.answers} judged answers read; {output}")
    for side in ("train", "held-out"):
        if not any(one.pair_count for one in on_side(found, side)):
            say(
                f"note: no pair is on the side {side}: add runs with such tasks, or split anew with --held-out .2"
            )
