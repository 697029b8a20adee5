"""The report: one self-contained HTML file about one or more runs; it opens from disk without a network."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from strop.reports.page.charts import charts
from strop.reports.page.page_run import PageRun
from strop.reports.page.rollout_data import MOST_TEXT
from strop.reports.page.rollout_index import Row
from strop.reports.page.run_data import tell_apart
from strop.reports.run_state import check_run
from strop.reports.static.sample import (
    Cut,
    Picked,
    body,
    first_cut,
    interleaved,
    rank,
    sample,
    smaller,
    stored,
    thin_metrics,
)
from strop_verify.core import files
from strop_verify.core.errors import UserError

VERSION = 1
MOST_BYTES = 3_000_000
MOST_GROUPS, MOST_LINES = 20_000, 4_000
"""Maximum groups, and maximum lines of metrics, of all runs together."""
_LIVE = ("index", "epoch", "notice", "stamp", "flags")
"""Data that only a live page needs."""
_TOKENS_OUT = "tokens are left out to keep the file small"


@dataclass(frozen=True)
class WrittenReport:
    """Facts about a written report."""

    path: Path
    size: int
    """Size of the file in bytes."""
    embedded: int
    """Number of rollouts in the file, out of `rollouts` in the runs."""
    rollouts: int
    problems: list[str]


def report(
    folders: Sequence[Path],
    target: Path,
    *,
    rollouts: int = 1000,
    seed: int = 0,
    seen: Callable[[int], None] = lambda count: None,
) -> WrittenReport:
    """Writes the report of the runs in `folders` atomically, smaller than `MOST_BYTES`.

    rollouts  maximum rollouts to embed, of all runs together;  `seed` draws them;  `seen` gets the number read
    Raises UserError for a folder that is not a run, and for a target that cannot be written.
    """
    from strop.reports.page import document, packed

    for folder in folders:
        check_run(folder)
    try:
        files.check_writable(target)
    except UserError as error:
        raise UserError(f"{error}; choose another file with -o") from error
    runs: list[PageRun] = []
    pages: list[dict[str, Any]] = []
    for number, folder in enumerate(folders):
        before = sum(page["total_rollouts"] for page in pages)
        runs.append(PageRun(folder, str(number), _after(before, seen)))
        pages.append(runs[-1].page(math.inf))
    tell_apart(pages)
    page = _Page(runs, pages, rollouts, seed)
    titles = {"runs": [{"name": one["name"]} for one in pages]}
    room = MOST_BYTES - len(document(titles).encode()) + len(packed(titles))
    text = document(page.fitted(room, packed))
    with files.atomic(target) as file:
        file.write(text.encode())
    named = [(one["folder"], problem) for one in pages for problem in one["state"]["problems"]]
    problems = [problem if folder in problem else f"{folder}: {problem}" for folder, problem in named]
    return WrittenReport(target, len(text.encode()), page.embedded, page.rollouts, problems)


def _after(before: int, seen: Callable[[int], None]) -> Callable[[int], None]:
    return lambda count: seen(before + count)


class _Page:
    def __init__(
        self, runs: Sequence[PageRun], pages: Sequence[dict[str, Any]], rollouts: int, seed: int
    ) -> None:
        self._pages, self._seed = pages, seed
        each = rollouts // max(1, len(runs))
        samples = [
            sample(run.index, page["evaluations"], each, seed) for run, page in zip(runs, pages, strict=True)
        ]
        units = interleaved(samples)
        wanted = list(_cut_to(units, rollouts))
        picked = []
        for number, (run, page) in enumerate(zip(runs, pages, strict=True)):
            rows = [row for at, unit in wanted if at == number for row in unit]
            picked.append(_picked(run, rows, page["state"]["problems"]))
        found = [
            (at, [picked[at][row["id"]] for row in unit if row["id"] in picked[at]]) for at, unit in wanted
        ]
        self._units = [(str(at), unit) for at, unit in found if unit]
        self._first_is_cut = bool(units) and len(units[0][1]) > rollouts
        self._groups, self._lines = MOST_GROUPS // max(1, len(runs)), MOST_LINES // max(1, len(runs))
        self.rollouts = sum(page["total_rollouts"] for page in pages)
        self.embedded = 0

    def fitted(self, room: int, packed: Any) -> dict[str, Any]:
        """The largest page within `room` bytes of the file."""
        while (size := len(packed(self._build(Cut(0, 0))))) > room // 2 and self._lines > 50:
            self._groups, self._lines = self._groups // 2, self._lines // 2
        rows = stored([files.json_line([p.row for p in unit]) for _, unit in self._units])
        cut = first_cut(self._units, room - size - (rows[-1] if rows else 0))
        while True:
            page = self._build(cut)
            if len(packed(page)) <= room:
                return page
            if not cut.units:
                raise UserError(f"the runs alone are larger than {MOST_BYTES} bytes; report fewer of them")
            cut = smaller(cut)

    def _build(self, cut: Cut) -> dict[str, Any]:
        self.embedded = sum(len(unit) for _, unit in self._units[: cut.units])
        return {
            "version": VERSION,
            "mode": "static",
            "sampling": self._selection(cut),
            "runs": [self._run(page, cut) for page in self._pages],
            "charts": charts(),
        }

    def _run(self, page: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
        mine = [
            (at, p)
            for at, (owner, unit) in enumerate(self._units[: cut.units])
            for p in unit
            if owner == page["id"]
        ]
        groups = self._thinned(page["groups"])
        shown = {group[2] for group in groups} | {p.row["task"] for _, p in mine}
        return {
            **{key: value for key, value in page.items() if key not in _LIVE},
            "metrics": thin_metrics(page["metrics"], self._lines),
            "groups": groups,
            "tasks": {task: about for task, about in page["tasks"].items() if task in shown},
            "rollouts": sorted((p.row for _, p in mine), key=_order),
            "details": {p.row["id"]: _detail(p, cut, at < cut.tokens) for at, p in mine},
        }

    def _thinned(self, groups: list[list[Any]]) -> list[list[Any]]:
        """As many rows as the table of groups has room for, drawn by the seed."""
        drawn = sorted(groups, key=lambda group: rank(self._seed, "table", *group[:2]))[: self._groups]
        return groups if len(groups) <= self._groups else sorted(drawn, key=lambda group: group[:2])

    def _selection(self, cut: Cut) -> str:
        """Describes how rollouts were chosen, and what did not fit."""
        total = self.rollouts
        wanted = sum(len(unit) for _, unit in self._units)
        if not total:
            return "There are no rollouts on disk."
        sentences = [f"All {total:,} rollouts are in this file."]
        if self.embedded < total:
            sentences = [
                f"{self.embedded:,} of {total:,} rollouts are in this file{self._rule() if self.embedded else ''}."
            ]
        if wanted and self._first_is_cut:
            sentences.append("The first group alone is larger and is cut.")
        if cut.tokens < cut.units:
            with_tokens = sum(len(unit) for _, unit in self._units[: cut.tokens])
            sentences.append(f"To keep the file small, {with_tokens:,} of them come with their tokens.")
        if self.embedded < wanted:
            sentences.append(f"{wanted:,} were requested and do not fit.")
        if cut.text < MOST_TEXT:
            sentences.append(f"Texts are cut to {cut.text:,} characters.")
        return " ".join([*sentences, *self._tables()])

    def _rule(self) -> str:
        trained = any(page["steps"] for page in self._pages)
        evaluated = any(page["evaluations"] for page in self._pages)
        rules = [
            "whole groups of steps evenly spaced from the first to the last" if trained else "",
            "all answers to some tasks of the evaluations, the same tasks in each" if evaluated else "",
        ]
        return f": {', and '.join(filter(None, rules))}; groups and tasks are drawn with seed {self._seed}"

    def _tables(self) -> Iterator[str]:
        every = sum(len(page["groups"]) for page in self._pages)
        groups = sum(min(len(page["groups"]), self._groups) for page in self._pages)
        if groups < every:
            yield f"The tables hold {groups:,} of {every:,} groups, drawn with seed {self._seed}."
        longest = max(len(page["metrics"]) for page in self._pages)
        if longest > self._lines:
            yield f"{self._lines:,} of {longest:,} lines of metrics are in this file, evenly spaced."


def _picked(run: PageRun, rows: Sequence[Row], problems: list[str]) -> dict[str, Picked]:
    """The complete rollouts of these rows by id; unreadable ones are left out and named."""
    found: dict[str, Picked] = {}
    ids = {row["id"] for row in rows}
    names = (f"e.{row['evaluation']}" if row["step"] is None else f"t.{row['step']}" for row in rows)
    for name in dict.fromkeys(names):
        block = run.index.block(name)
        try:
            for row, detail in run.details(block, ids) if block else ():
                tokens = [files.json_line(turn.pop("tokens")) for turn in detail["turns"]]
                found[row["id"]] = Picked(row, detail, tokens)
        except UserError as error:
            problems.append(str(error))
    return found


def _detail(picked: Picked, cut: Cut, with_tokens: bool) -> dict[str, Any]:
    detail = body(picked, cut.text)
    tokens = [json.loads(text) if with_tokens else [] for text in picked.tokens]
    left_out = "; ".join(filter(None, (detail["left_out"], "" if with_tokens else _TOKENS_OUT)))
    turns = [{**turn, "tokens": some} for turn, some in zip(detail["turns"], tokens, strict=True)]
    return {**detail, "turns": turns, "left_out": left_out}


def _cut_to(units: Sequence[tuple[int, list[Row]]], most: int) -> Iterator[tuple[int, list[Row]]]:
    """The first units with at most `most` rollouts together; a first group with more is cut."""
    for number, (run, unit) in enumerate(units):
        if len(unit) > most:
            if number == 0 and most:
                yield run, unit[:most]
            return
        most -= len(unit)
        yield run, unit


def _order(row: dict[str, Any]) -> Any:
    trained = row["kind"] != "train", row["step"] or 0, row["group"] or 0
    return *trained, *itemgetter("evaluation", "task", "greedy", "index")(row)
