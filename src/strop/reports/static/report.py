"""The report: one self-contained HTML file about one or more runs; it opens from disk without a network."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strop.core import files
from strop.core.errors import UserError
from strop.reports.page.charts import charts
from strop.reports.page.colours import runs_of
from strop.reports.page.rollout_data import MOST_TEXT
from strop.reports.page.run_data import run_data, tell_apart
from strop.reports.run_state import check_run
from strop.reports.static.fit import Cut, Unit, body, first_cut, smaller, stored, thin_metrics
from strop.reports.static.sample import RunSample, SamplePlan, Seen, sample

VERSION = 1
MOST_BYTES = 3_000_000
MOST_GROUPS, MOST_LINES = 20_000, 4_000
"""Groups, and lines of metrics, of all runs together."""
_TOKENS_OUT = "tokens are left out to keep the file small"


@dataclass(frozen=True)
class WrittenReport:
    """What was written."""

    path: Path
    size: int
    """Bytes."""
    embedded: int
    """Rollouts in the file; `rollouts` were looked at."""
    rollouts: int
    problems: list[str]


def report(
    folders: Sequence[Path],
    target: Path,
    *,
    rollouts: int = 1000,
    seed: int = 0,
    seen: Seen = lambda count: None,
) -> WrittenReport:
    """Writes the report of the runs in `folders`, whole or not at all, under `MOST_BYTES`.

    rollouts  how many to embed at most, of all runs together;  `seed` draws them;  `seen` gets how many were read
    Raises UserError for a folder that is no run, and for a target that cannot be written.
    """
    from strop.reports.page import document, packed

    for folder in folders:
        check_run(folder)
    try:
        files.check_writable(target)
    except UserError as error:
        raise UserError(f"{error}; choose another file with -o") from error
    runs = [run_data(folder, str(number)) for number, folder in enumerate(folders)]
    tell_apart(runs)
    plan = SamplePlan(rollouts // max(1, len(runs)), MOST_GROUPS // max(1, len(runs)), seed)
    samples: list[RunSample] = []
    for folder, run in zip(folders, runs, strict=True):
        samples.append(sample(folder, run, plan, _after(sum(found.rollouts for found in samples), seen)))
        run["state"]["problems"] += samples[-1].problems
    page = _Page(runs, samples, rollouts, seed)
    titles = {"runs": [{"name": run["name"]} for run in runs]}
    room = MOST_BYTES - len(document(titles).encode()) + len(packed(titles))
    text = document(page.fitted(room, packed))
    with files.atomic(target) as file:
        file.write(text.encode())
    named = [(run["folder"], problem) for run in runs for problem in run["state"]["problems"]]
    problems = [problem if folder in problem else f"{folder}: {problem}" for folder, problem in named]
    return WrittenReport(
        target, len(text.encode()), page.embedded, sum(s.rollouts for s in samples), problems
    )


def _after(before: int, seen: Seen) -> Seen:
    return lambda count: seen(before + count)


class _Page:
    def __init__(
        self, runs: list[dict[str, Any]], samples: list[RunSample], rollouts: int, seed: int
    ) -> None:
        self._runs, self._samples, self._seed = runs, samples, seed
        units = _interleaved(samples)
        self._units = list(_cut_to(units, rollouts))
        self._first_is_cut = bool(units) and len(units[0][1]) > rollouts
        self._groups, self._lines = MOST_GROUPS // max(1, len(runs)), MOST_LINES // max(1, len(runs))
        self.embedded = 0
        for _, unit in self._units:
            for picked in unit:
                picked.detail["colours"] = runs_of(picked.detail["answer"], picked.detail["language"])

    def fitted(self, room: int, packed: Any) -> dict[str, Any]:
        """The largest page that takes at most `room` bytes of the file."""
        while (size := stored([files.json_line(self._build(Cut(0, 0)))])) > room // 2 and self._lines > 50:
            self._groups, self._lines = self._groups // 2, self._lines // 2
        rows = stored([files.json_line([p.row for p in unit]) for _, unit in self._units])
        cut = first_cut(self._units, room - size - rows)
        while True:
            page = self._build(cut)
            if len(packed(page)) <= room:
                return page
            if not cut.units:
                raise UserError(f"the runs alone are larger than {MOST_BYTES} bytes; report fewer of them")
            cut = smaller(cut)

    def _build(self, cut: Cut) -> dict[str, Any]:
        self.embedded = sum(len(unit) for _, unit in self._units[: cut.units])
        runs = []
        for run, found in zip(self._runs, self._samples, strict=True):
            found.thin(self._groups, self._seed)
            found.groups.sort(key=lambda group: (group[0], group[1]))
            runs.append(self._run(run, found, cut))
        return {
            "version": VERSION,
            "mode": "static",
            "sampling": self._selection(cut),
            "runs": runs,
            "charts": charts(),
        }

    def _run(self, run: dict[str, Any], found: RunSample, cut: Cut) -> dict[str, Any]:
        mine = [
            (at, p)
            for at, (owner, unit) in enumerate(self._units[: cut.units])
            for p in unit
            if owner == run["id"]
        ]
        shown = {group[2] for group in found.groups} | {p.row["task"] for _, p in mine}
        evaluations = [{k: v for k, v in e.items() if k != "task_ids"} for e in run["evaluations"]]
        return {
            **run,
            "metrics": thin_metrics(run["metrics"], self._lines),
            "evaluations": evaluations,
            "groups": found.groups,
            "tasks": {task: found.tasks[task] for task in found.tasks if task in shown},
            "total_rollouts": found.rollouts,
            "rollouts": sorted((p.row for _, p in mine), key=_order),
            "details": {p.row["id"]: _detail(p, cut, at < cut.tokens) for at, p in mine},
        }

    def _selection(self, cut: Cut) -> str:
        """The rule by which rollouts were chosen, and what did not fit."""
        total = sum(found.rollouts for found in self._samples)
        wanted = sum(len(unit) for _, unit in self._units)
        if not total:
            return "There are no rollouts on disk."
        sentences = [f"All {total:,} rollouts are in this file."]
        if self.embedded < total:
            sentences = [
                f"{self.embedded:,} of {total:,} rollouts are in this file{self._rule() if self.embedded else ''}."
            ]
        if wanted and self._first_is_cut:
            sentences.append("The first group alone has more: it is cut.")
        if cut.tokens < cut.units:
            with_tokens = sum(len(unit) for _, unit in self._units[: cut.tokens])
            sentences.append(f"To keep the file small, {with_tokens:,} of them come with their tokens.")
        if self.embedded < wanted:
            sentences.append(f"{wanted:,} were asked for and do not fit.")
        if cut.text < MOST_TEXT:
            sentences.append(f"Texts are cut to {cut.text:,} characters.")
        return " ".join([*sentences, *self._tables()])

    def _rule(self) -> str:
        trained = any(run["steps"] for run in self._runs)
        evaluated = any(run["evaluations"] for run in self._runs)
        rules = [
            "whole groups of steps evenly spaced from the first to the last" if trained else "",
            "all answers to some tasks of the evaluations, the same tasks in each" if evaluated else "",
        ]
        return f": {', and '.join(filter(None, rules))}; groups and tasks are drawn with seed {self._seed}"

    def _tables(self) -> Iterator[str]:
        groups, every = (
            sum(n) for n in zip(*((len(f.groups), f.all_groups) for f in self._samples), strict=True)
        )
        if groups < every:
            yield f"The tables hold {groups:,} of {every:,} groups, drawn with seed {self._seed}."
        longest = max(len(run["metrics"]) for run in self._runs)
        if longest > self._lines:
            yield f"Of {longest:,} lines of metrics {self._lines:,} are here, evenly spaced."


def _detail(picked: Any, cut: Cut, with_tokens: bool) -> dict[str, Any]:
    detail = body(picked, cut.text)
    tokens = [json.loads(text) if with_tokens else [] for text in picked.tokens]
    left_out = "; ".join(filter(None, (detail["left_out"], "" if with_tokens else _TOKENS_OUT)))
    turns = [{**turn, "tokens": some} for turn, some in zip(detail["turns"], tokens, strict=True)]
    return {**detail, "turns": turns, "left_out": left_out}


def _interleaved(samples: Sequence[RunSample]) -> list[Unit]:
    """The units of all runs in turn, so that the beginning of the list is fair to each."""
    ranked = [
        (at / len(found.units), number, unit)
        for number, found in enumerate(samples)
        for at, unit in enumerate(found.units)
    ]
    return [(str(number), unit) for _, number, unit in sorted(ranked, key=lambda item: item[:2])]


def _cut_to(units: Sequence[Unit], most: int) -> Iterator[Unit]:
    """The first units with at most `most` rollouts together; a group that alone has more is cut."""
    for number, (run, unit) in enumerate(units):
        if len(unit) > most:
            if number == 0 and most:
                yield run, unit[:most]
            return
        most -= len(unit)
        yield run, unit


def _order(row: dict[str, Any]) -> Any:
    return (
        row["kind"] != "train",
        row["step"] or 0,
        row["group"] or 0,
        row["evaluation"],
        row["task"],
        row["greedy"],
        row["index"],
    )
