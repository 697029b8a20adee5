"""Finds wrong answers that tests of published data sets accept, and writes the table of docs/audit.md.

    python benchmarks/audited_sets.py audit humaneval ../shared/data/mbpp.jsonl -o experiments/audits
    python benchmarks/audited_sets.py table experiments/audits --md docs/audit.md

A set is any source that `strop audit` accepts. Each task is audited in the same way, but a small fault that the tests
miss is reported for every task, not only if they miss many. One fault per task is kept: its results differ from the
reference's on inputs made from the task's own. Each set has a file with one line per task: `{"task", "reference",
"tried", "wrong": [{"code", "text", "answer"}]}`; `reference` is whether its own solution passes every time, `tried` the
codes of the answers tried. `--limit`: only the first tasks of each set.
"""

import argparse
import datetime
import io
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import zstandard

from strop.tasks.sources import iter_tasks
from strop_tasks.curation.audit import AuditSettings, audit_tasks, strength
from strop_tasks.curation.audit.answers import probes
from strop_tasks.curation.audit.audit import paired
from strop_verify.core.checks import CasesCheck, StdioCheck
from strop_verify.core.task import Task
from strop_verify.verification import open_verifier
from strop_verify.verification.settings import usual_limits

MARKS = ("<!-- sets: begin -->", "<!-- sets: end -->")
SETTINGS = AuditSettings(runs=3, chance_runs=6, doubt_below=1.0)
KINDS = {
    "empty": ("empty-passes",),
    "a constant, an echo": ("constant-passes",),
    "an early exit": ("exit-passes",),
    "another cheat": ("cheat-passes",),
    "the known bug": ("broken-passes",),
    "a small fault": ("weak-tests",),
}


def rows(source: str, limit: int | None, cpu_seconds: float) -> Iterator[dict[str, Any]]:
    """One row per task of a set."""
    limits = replace(usual_limits(), cpu_seconds=cpu_seconds)
    settings = SETTINGS.model_copy(update={"cpu_seconds": cpu_seconds})
    opened = partial(open_verifier, workers=1, limits=limits)
    tasks = islice(iter_tasks(source, on_bad=print), limit)
    with opened() as verifier:
        audits = partial(
            audit_tasks, verifier=verifier, settings=settings, reseeded=lambda seed: opened(hash_seed=seed)
        )
        for task, audit in paired(tasks, audits):
            sound = audit.trust is not None and not audit.codes & {"flaky", "reference-fails"}
            wrong = [one for one in audit.findings if one.answer is not None]
            yield {
                "task": audit.source or audit.task_id,
                "reference": sound,
                "tried": sorted(tried(task)),
                "wrong": [one.model_dump(exclude={"severity"}) for one in wrong],
            }


def tried(task: Task) -> set[str]:
    """The codes of the wrong answers that an audit tries on a task."""
    found = {"empty-passes", *(probe.code for probe in probes(task))}
    if task.check.maybe(CasesCheck):
        found |= {"constant-passes", "cheat-passes"}
    if task.check.maybe(StdioCheck):
        found |= {"constant-passes", "cheat-passes", "exit-passes"}
    faults = task.language == "python" and not task.check.takes_nothing() and bool(task.reference)
    # A fault counts where it can be shown to change results, as it cannot for tests of a module.
    return found | ({"weak-tests"} if faults and strength.question(task, task.reference) else set())


def audit(given: argparse.Namespace) -> None:
    given.output.mkdir(parents=True, exist_ok=True)
    for source in given.sets:
        began = time.monotonic()
        found = list(rows(source, given.limit, given.cpu_seconds))
        name = Path(source.partition(":")[2] or source).name.removesuffix(".jsonl")
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found)
        place = given.output / f"{name}.jsonl.zst"
        place.write_bytes(zstandard.ZstdCompressor(level=19).compress(text.encode()))
        print(f"{source}: {len(found)} tasks, {time.monotonic() - began:.0f} s", flush=True)


def table(given: argparse.Namespace) -> None:
    heads = ["set", "tasks", "own solution passes", *KINDS, "any of them"]
    out = io.StringIO()
    print(f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), sep="\n", file=out)
    for place in sorted(given.folder.glob("*.jsonl.zst")):
        with zstandard.open(place, "rt", encoding="utf-8") as file:
            mine = [json.loads(line) for line in file]
        sound = [row for row in mine if row["reference"]]
        codes = [{one["code"] for one in row["wrong"]} for row in sound]
        asked = {code for row in sound for code in row["tried"]}
        counts = [
            sum(bool(each & set(kind)) for each in codes) if asked & set(kind) else ""
            for kind in KINDS.values()
        ]
        cells = [
            f"`{place.name.partition('.')[0]}`",
            len(mine),
            len(sound),
            *counts,
            f"**{sum(map(bool, codes))}**",
        ]
        print(f"| {' | '.join(map(str, cells))} |", file=out)
    print(out.getvalue())
    if given.md:
        today = datetime.datetime.now(datetime.UTC).date()
        before, _, rest = given.md.read_text().partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        said = f"Written on {today} by `python benchmarks/audited_sets.py table {given.folder}`."
        given.md.write_text(f"{before}{MARKS[0]}\n{said}\n\n{out.getvalue()}{MARKS[1]}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("audit")
    first.add_argument("sets", nargs="+")
    first.add_argument("-o", "--output", type=Path, required=True)
    first.add_argument("--limit", type=int)
    first.add_argument("--cpu-seconds", type=float, default=5.0)
    first.set_defaults(work=audit)
    second = commands.add_parser("table")
    second.add_argument("folder", type=Path)
    second.add_argument("--md", type=Path)
    second.set_defaults(work=table)
    given = parser.parse_args()
    given.work(given)


if __name__ == "__main__":
    main()
