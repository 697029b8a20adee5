"""`strop show`: prints a run's headline numbers and its rollouts in the terminal."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from strop.cli.options import grouped, newest_run
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from strop.reports.terminal.find import FoundRollout, RolloutFinder


@dataclass(frozen=True)
class RolloutQuery:
    """Which rollouts to show, and how much of them."""

    task: Annotated[
        str | None, Option(help="history of a task over training; the beginning of its id is enough")
    ] = None
    step: Annotated[int | None, Option(min=1, help="rollouts of this step")] = None
    group: Annotated[int | None, Option(min=0, help="rollouts of this group of the step")] = None
    evaluation: Annotated[
        str | None, Option(help="rollouts of an evaluation: before, after, step-000010, ...")
    ] = None
    id: Annotated[
        str | None, Option("--id", help="one rollout: t.STEP.GROUP.INDEX or e.EVALUATION.TASK.INDEX")
    ] = None
    failed: Annotated[bool, Option("--failed", help="only answers that did not pass")] = False
    passed: Annotated[bool, Option("--passed", help="only answers that passed")] = False
    limit: Annotated[int, Option(min=1, help="maximum number of answers to show")] = 5
    full: Annotated[bool, Option("--full", help="show every prompt, output and test in full")] = False

    def check(self) -> None:
        """Raises UserError for options that contradict each other."""
        if self.failed and self.passed:
            raise UserError("--failed and --passed leave nothing to show; leave one of them out")
        if self.group is not None and self.step is None:
            raise UserError(f"--group {self.group} needs --step: groups are numbered within their step")
        if self.evaluation is not None and self.step is not None:
            raise UserError("--evaluation and --step exclude each other; an evaluation is not part of a step")
        if self.id is not None and any(o is not None for o in (self.task, self.step, self.evaluation)):
            raise UserError("--id names one rollout; leave out --task, --step, --group and --evaluation")


@grouped
def show(
    query: RolloutQuery,
    run: Annotated[Path | None, Argument(help="run folder", show_default="the newest run")] = None,
) -> None:
    """Show a run's headline numbers; with options, its rollouts: prompt, answer, verdict by stage, scores, advantage.

    --failed and --passed alone show the newest step. Works for runs in progress and for stopped or damaged runs.
    """
    from strop.reports.run_state import check_run
    from strop.reports.terminal.consoles import console
    from strop.reports.terminal.find import RolloutFinder

    run = run or newest_run()
    check_run(run)
    query.check()
    out, finder = console(), RolloutFinder(run)
    if query.id is not None:
        _print(out, finder, finder.by_id(query.id), full=True)
    elif query.task is not None:
        _task(out, finder, query.task, query)
    elif query.evaluation is not None:
        _some(out, finder, finder.of_evaluation(query.evaluation), query)
    elif query.step is not None or query.failed or query.passed:
        step = query.step if query.step is not None else max(finder.steps(), default=1)
        _some(out, finder, finder.of_step(step, query.group), query)
    else:
        _overview(out, finder)
    for problem in finder.unreadable:
        _note(out, problem)


def _print(out: "Console", finder: "RolloutFinder", found: "FoundRollout", *, full: bool) -> None:
    from strop.reports.page.rollout_data import detail_of, task_of
    from strop.reports.terminal import rollouts as terminal

    language = task_of(found.line)["language"]
    vocabulary = finder.vocabulary if full or len(found.line["turns"]) > 1 else []
    detail = detail_of(found.line, found.place, vocabulary, language, colours=False)
    doubt = terminal.doubt_of(found.line)
    out.print(*terminal.rollout(found.row, detail, full=full, doubt=doubt), sep="\n")


def _some(
    out: "Console",
    finder: "RolloutFinder",
    found: "list[FoundRollout]",
    query: RolloutQuery,
    *,
    newest: bool = False,
) -> None:
    """Shows up to `limit` of the rollouts that `failed` and `passed` select."""
    left = found
    if query.failed or query.passed:
        left = [f for f in found if (f.row["outcome"] == "passed") is query.passed]
    shown = left[-query.limit :] if newest else left[: query.limit]
    for one in shown:
        _print(out, finder, one, full=query.full)
        out.print()
    kind = " that passed" if query.passed else " that did not pass" if query.failed else ""
    which = "the newest " if newest and len(shown) < len(left) else ""
    more = f"; --limit {len(left)} shows all" if len(shown) < len(left) else ""
    _note(out, f"{which}{len(shown)} of {len(left)} rollouts{kind}{more}")


def _task(out: "Console", finder: "RolloutFinder", word: str, query: RolloutQuery) -> None:
    """Prints the task's history, one line per group, then its newest answers."""
    from rich.text import Text

    from strop.reports.page.rollout_data import task_of
    from strop.reports.terminal.rollouts import history

    places, step, evaluation = finder.places(), query.step, query.evaluation
    if step is not None or evaluation is not None:
        places = [p for p in places if (p.step, p.evaluation) == (step, evaluation or "")]
        if not places:
            which = f"of step {step}" if step is not None else f"of an evaluation {evaluation!r}"
            raise UserError(printable(f"{finder.folder} has no rollouts {which}"))
    found = finder.of_task(word, places)
    task = found[0].row["task"] if found else word
    label = task_of(found[0].line)["label"] if found else ""
    out.print(Text(f"task {printable(task)}  {printable(label)}", style="bold"))
    for line in history([one.row for one in found]):
        out.print(line)
    out.print()
    _some(out, finder, found, query, newest=True)


def _overview(out: "Console", finder: "RolloutFinder") -> None:
    from rich.text import Text

    from strop.reports.page.run_data import run_data
    from strop.reports.terminal.rollouts import comparison
    from strop.reports.terminal.run_list import reward_ends

    run = run_data(finder.folder, "")
    out.print(Text(printable(f"{run['name']}  {run['state']['text']}"), style="bold"))
    for problem in run["state"]["problems"]:
        _note(out, problem)
    first, last = reward_ends(run["metrics"])
    if first is not None:
        out.print(f"reward {first:.3f} -> {last:.3f} (means of the first and last steps, at most ten each)")
    for line in _numbers(run):
        out.print(Text(printable(line)))
    if run["kind"] == "evaluation":
        _models(finder.folder, run)
    if run["comparison"]:
        out.print(*comparison(run["comparison"], out), sep="\n")
    for alarm in run["alarms"]:
        text = printable(f"alarm {alarm['when']}: {alarm['name']}: {alarm['text']}")
        out.print(Text(text, style="yellow"))
    if run["kind"] == "evaluation" and (names := [p.evaluation for p in finder.places() if p.evaluation]):
        _note(out, f"answers: strop show {finder.folder} --evaluation {names[0]} --failed")
    if steps := finder.steps():
        more = f"strop show {finder.folder} --step {steps[-1]} --failed"
        _note(out, f"rollouts of steps {steps[0]} to {steps[-1]}: {more}")


def _models(folder: Path, run: dict[str, Any]) -> None:
    """Prints the numbers of `strop eval`, and the command that shows its answers."""
    from strop.evaluation.models import show_all
    from strop.evaluation.result import Evaluation
    from strop.reports.run_folder import record_file

    records = {one["label"]: record_file(folder, one["file"]) for one in run["evaluations"]}
    found = {
        label: Evaluation.model_validate_json(path.read_bytes())
        for label, path in records.items()
        if path.is_file()
    }
    if found:
        show_all(found, title=f"{run['settings'].get('tasks.source')}, {run['settings'].get('tasks.style')}")


def _numbers(run: dict[str, Any]) -> list[str]:
    from strop.reports.terminal.live import clock

    found = []
    if run["metrics"]:
        last = run["metrics"][-1]
        names = ("pass_rate", "completion_tokens", "turns", "effects", "seconds_effects", "entropy", "truncated",
                 "duplicates", "error_rate", "loss")  # fmt: skip
        shown = [
            f"{n.replace('_', ' ')} {last[n]:.3g}" for n in names if isinstance(last.get(n), int | float)
        ]
        found.append(f"step {last['step']}: {', '.join(shown)}")
        if stops := last.get("stops"):
            ends = sorted(stops.items(), key=lambda item: -item[1])
            found.append(f"plays ended: {', '.join(f'{reason} {share:.1%}' for reason, share in ends)}")
    summary = run["summary"] or {}
    if isinstance(summary.get("wall_seconds"), int | float):
        split = summary.get("time_split") or {}
        parts = ", ".join(f"{name.replace('_', ' ')} {clock(s)}" for name, s in split.items() if s)
        found.append(f"time {clock(summary['wall_seconds'])}" + (f" ({parts})" if parts else ""))
    return found


def _note(out: "Console", text: str) -> None:
    from rich.text import Text

    out.print(Text(printable(text), style="dim"))
