"""The curves of `strop scale` as tables for a terminal, and as a chart."""

from collections.abc import Mapping
from functools import partial

from rich.text import Text

from strop.evaluation.chart import CurvePanel, curves_svg
from strop.evaluation.scaling import Scaling
from strop.evaluation.selectors import ORACLE, RANDOM, SHOWN
from strop.evaluation.self_debug import Rounds
from strop.evaluation.statistics import Differences
from strop.evaluation.table import TableColumn, difference_text, estimate_text, show_columns
from strop_verify.core.text import printable


def show_scaling(results: Mapping[str, Scaling], *, title: str) -> None:
    """Prints one table per model."""
    for name, found in results.items():
        left_out = "".join(f"; {count} left out: {why}" for why, count in found.left_out.items())
        lines = [
            f"{found.tasks} tasks, {found.samples} samples each{left_out}; {found.confidence:.0%} intervals over "
            "tasks; first: no other is sampled; oracle: any that passes",
            f"the last columns are at k = {found.samples}; false positives: chosen, passes the shown tests, fails "
            "others; CPU s: of sampling and of the runs for the choice, per task",
            *found.notes,
        ]
        show_columns(partial(_columns, found), f"{title}: {name}", printable("\n".join(lines)))
        if found.rounds is not None:
            said = (
                f"{found.rounds.tasks} tasks; resampled: single answers until they have as many tokens; both take the "
                "first answer that passes the shown tests"
            )
            show_columns(partial(_rounds, found.rounds), f"rounds: {name}", said)


def show_paired(paired: Mapping[str, Mapping[str, Differences]], first: str) -> None:
    """Prints the differences of the later models from the first, of each selector at the largest k."""
    for name, found in paired.items():
        print(f"\n{printable(name)} minus {printable(first)}, on the same tasks, at the largest k:")
        for selector, differences in found.items():
            print(f"  {selector:<16}{difference_text(differences.at(-1)).plain}")


def scaling_chart(results: Mapping[str, Scaling], *, title: str) -> str:
    """An SVG: accuracy by samples and by CPU seconds, of every selector of every model."""
    curves = {
        f"{model}: {name}" if len(results) > 1 else name: curve
        for model, found in results.items()
        for name, curve in found.selectors.items()
    }
    panels = [
        CurvePanel(
            axis,
            {
                label: [(float(x), curve.accuracy.at(at)) for at, x in enumerate(getattr(curve, spent))]
                for label, curve in curves.items()
            },
        )
        for axis, spent in (("samples per task", "samples"), ("CPU seconds per task", "cpu_seconds"))
    ]
    tasks = next(iter(results.values()))
    return curves_svg(
        panels, title=title, note=f"{tasks.tasks} tasks; {tasks.confidence:.0%} intervals over tasks"
    )


def _rounds(found: Rounds, gap: str) -> list[TableColumn]:
    rounds = range(len(found.tokens))
    tokens = zip(found.tokens, found.resampled_tokens, strict=True)
    return [
        TableColumn("after rounds", [Text(str(at + 1)) for at in rounds]),
        TableColumn("self-debug", [estimate_text(found.debugged.at(at), gap) for at in rounds]),
        TableColumn("resampled", [estimate_text(found.resampled.at(at), gap) for at in rounds]),
        TableColumn("difference", [difference_text(found.differences.at(at), gap) for at in rounds]),
        TableColumn("tokens", [Text(f"{mine:.0f}, {other:.0f}") for mine, other in tokens]),
    ]


def _columns(found: Scaling, gap: str) -> list[TableColumn]:
    n, curves = found.samples, found.selectors
    shown = sorted({n, *(k for k in (1, 2, 4, 8, 16, 32, 64) if k < n)})
    columns = [TableColumn("selector", [Text(name) for name in curves])]
    for k in shown:
        cells = [estimate_text(one.accuracy.at(k - 1), gap) for one in curves.values()]
        columns.append(TableColumn(f"k = {k}", cells))
    for other in (RANDOM, SHOWN):
        if other in curves:
            ends = (one.differences.get(other) for one in curves.values())
            cells = [
                difference_text(differences.at(-1) if differences else None, gap) for differences in ends
            ]
            columns.append(TableColumn(f"minus {other}", cells))
    if SHOWN in curves:
        wrong = {name: None if name == ORACLE else one.false_positives.at(-1) for name, one in curves.items()}
        columns.append(TableColumn("false positives", [estimate_text(one, gap) for one in wrong.values()]))
    columns.append(TableColumn("CPU s", [Text(f"{one.cpu_seconds[-1]:.3g}") for one in curves.values()]))
    return columns
