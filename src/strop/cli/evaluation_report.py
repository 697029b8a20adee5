"""The output of `strop eval`: tables, a file of numbers, a chart."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strop.evaluation.result import Evaluation
    from strop_verify.core.task import Task


class EvaluationReport:
    """The results so far; the files are rewritten after every model."""

    def __init__(
        self, head: Mapping[str, Any], tasks: "list[Task]", output: Path | None, chart: Path | None
    ) -> None:
        self.head, self._output, self._chart = dict(head), output, chart
        self._labels = {"lint": "clippy"} if {task.language for task in tasks} == {"rust"} else {}
        self._models: dict[str, Any] = {}
        self._paired: dict[str, Any] = {}
        self.results: dict[str, Evaluation] = {}
        self.failed: dict[str, str] = {}

    @property
    def title(self) -> str:
        """A short title of the job."""
        window = self.head.get("window")
        days = f", {window['from'] or '...'} to {window['to'] or '...'}" if window else ""
        return f"{self.head['tasks']}, {self.head['style']}{days}"

    def add(self, name: str, engine: str, result: "Evaluation") -> None:
        """Adds a finished model and compares it with the first one."""
        from strop.evaluation.result import compare

        self.results[name] = result
        self._models[name] = {"engine": engine, **result.as_json()}
        first = next(iter(self.results))
        if name != first:
            self._paired[name] = compare(self.results[first], result)
        self._write()

    def summary(self) -> dict[str, Any]:
        """The numbers for the run's summary, without those of each task."""
        models = {
            name: {k: v for k, v in one.items() if k != "per_task"} for name, one in self._models.items()
        }
        return {"evaluation": {**self._numbers(), "models": models}}

    def fail(self, name: str, line: str) -> None:
        """Records that a model could not be evaluated."""
        self.failed[name] = line
        self._write()

    def show(self) -> None:
        """Prints the non-empty tables."""
        from strop.evaluation.models import show_all

        if self.results:
            window = self.head.get("window", {})
            footer = [f"left out by the window: {window['left_out']}"] if window.get("left_out") else []
            show_all(self.results, title=self.title, labels=self._labels, footer=footer)

    def _numbers(self) -> dict[str, Any]:
        from strop.evaluation.result import paired_json

        differences = {name: paired_json(found) for name, found in self._paired.items()}
        report = {**self.head, "models": self._models, "failed": self.failed}
        if self.results:
            report |= {"first": next(iter(self.results)), "differences": differences}
        if len(differences) == 1:
            report["paired"] = next(iter(differences.values()))
        return report

    def _write(self) -> None:
        from strop.evaluation.chart import svg, write_chart
        from strop.evaluation.models import caption, stage_rates
        from strop_verify.core import files

        if self._output is not None:
            files.write_json(self._output, self._numbers())
        if self._chart is not None and self.results:
            groups = {self._labels.get(stage, stage): r for stage, r in stage_rates(self.results).items()}
            picture = svg(groups, title=self.title, note=caption(self.results, {}))
            write_chart(self._chart, picture, self.title)
