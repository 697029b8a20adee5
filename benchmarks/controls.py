"""Collects the results of `strop train --controls` runs, seed by seed and task by task, and makes the tables.

python benchmarks/controls.py RUN... -o experiments/controls/demo.json    one run per seed; other seeds stay
python benchmarks/controls.py [RUN...] --beside distill=RUN,RUN -o FILE   other runs of the same seeds to compare
python benchmarks/controls.py RUN... --baselines EVAL-RUN -o FILE         scripted baselines: strop eval -n 1 --greedy
python benchmarks/controls.py --table experiments/controls/demo.json      its tables
python benchmarks/controls.py --overview FILE...                          README's table, of *-0.5b.json and demo.json
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from strop.evaluation.result import Evaluation
from strop.evaluation.seeds import Pooled, crossed
from strop.reports.run_folder import RunFolder
from strop.reports.run_state import read_settings
from strop.training.evaluations import CONTROL, read_evaluations

TOLD = {
    "before": "before training",
    "room": "before, four times the tokens",
    "warm": "after the warm start",
    "control_ssd": "ssd: own answers, unverified",
    "control_rft": "rft: own answers that passed",
    "control_warm": "supervised on the references",
    "distill": "a teacher on own answers",
    "resampled": "one turn, as many tokens",
    "scripted-words": "three files by words",
    "scripted-words-first": "one file by words",
    "scripted-bm25-files": "BM25, a file",
    "scripted-bm25-chunks": "BM25, two pieces",
    "scripted-grep": "grep",
    "scripted-random": "a random piece",
    "scripted-repeat": "the last change again",
    "scripted-silent": "silence",
}
RATES = ("pass@1", "greedy", "score", "greedy-score", "utility", "greedy-utility")
STAGES = ("build", "greedy-build")
"""Also kept if answers are linted, as in Rust."""
ANSWERS = {"pass@1": "sampled", "build": "sampled: builds", "greedy-build": "greedy: builds"}


def collected(
    runs: Sequence[Path],
    output: Path,
    beside: Mapping[str, Sequence[Path]] = {},
    baselines: Path | None = None,
) -> dict[str, Any]:
    """The counts of each run's evaluations, by set and task, and the cost of its controls. Each run in `beside` adds a
    control of that name to its seed, also for seeds that the output already has; so does each evaluation in
    `baselines`, on the held-out tasks. Other seeds of the output stay. Raises SystemExit if runs were evaluated on
    different tasks, or if a seed has no run.
    """
    old = json.loads(output.read_text()) if output.is_file() else {"tasks": {}, "runs": []}
    files = sorted((baselines / "evaluation").glob("*.record.json")) if baselines else []
    fixed = {one.name.split(".")[0]: Evaluation.model_validate_json(one.read_text()) for one in files}
    tasks: dict[str, list[str]] = old["tasks"]
    seeds = {run["seed"]: run for run in old["runs"]}
    for run in runs:
        values: dict[str, Any] = {}
        for name, (evaluations, _) in read_evaluations(run).items():
            sides = {**evaluations["after"].controls, **evaluations, **({} if name else fixed)}
            ids = _same_tasks(run, name, tasks, evaluations["after"])
            values[name] = {
                side: _values(one, ids) for side, one in sides.items() if side in TOLD or side == "after"
            }
        summary = json.loads((run / "summary.json").read_text())
        seed = read_settings(run).get("seed")
        seeds[seed] = {
            "seed": seed,
            "wall_seconds": round(summary["wall_seconds"], 1),
            "peak_rss_bytes": summary["peak_rss_bytes"],
            "rewards": [round(line["reward"], 4) for line in RunFolder(run).iter_metrics()],
            "seconds_cpu": round(sum(line["seconds_cpu"] for line in RunFolder(run).iter_metrics()), 1),
            "took": {name: one["took"] for name, one in summary.get("controls", {}).items()},
            "values": values,
        }  # fmt: skip
    for side, other in [(side, other) for side, each in beside.items() for other in each]:
        seed = read_settings(other).get("seed")
        if seed not in seeds:
            raise SystemExit(f"{other}: there is no run of seed {seed} to compare it with")
        for name, (evaluations, _) in read_evaluations(other).items():
            ids = _same_tasks(other, name, tasks, evaluations["after"])
            seeds[seed]["values"][name][side] = _values(evaluations["after"], ids)
        name = side.removeprefix(CONTROL)
        alone, lines = other / "controls" / f"{name}.done.json", [*RunFolder(other).iter_metrics()]
        steps = {"steps": len(lines), "seconds": sum(line["seconds_cpu"] for line in lines)}
        seeds[seed]["took"][name] = json.loads(alone.read_text()) if alone.is_file() else steps
    return {
        "tasks": tasks,
        "controls": sorted({name for run in seeds.values() for name in run["took"]}),
        "runs": [seeds[seed] for seed in sorted(seeds)],
    }


def _same_tasks(run: Path, name: str, tasks: dict[str, list[str]], result: Evaluation) -> list[str]:
    own = [one.task_id for one in result.counts]
    ids = tasks.setdefault(name, own)
    if sorted(own) != sorted(ids):
        raise SystemExit(f"{run}: {name or 'held-out'}: evaluated on other tasks than the earlier seeds")
    return ids


def _values(result: Evaluation, ids: Sequence[str]) -> dict[str, list[Any]]:
    """{rate: its value for each task}."""
    stages = STAGES if "lint" in (name.removeprefix("greedy-") for name in result.stage_keys) else ()
    known = [rate for rate in (*RATES, *stages) if rate in (*result.keys, *result.stage_keys)]
    return {rate: [result.values(rate).get(task) for task in ids] for rate in known}


def packed(data: Mapping[str, Any]) -> str:
    """The data as JSON, one run per line; whole numbers without a decimal point."""
    text = json.dumps(data, separators=(",", ":"))
    return re.sub(r"(?<=[\[,])([01])\.0(?=[,\]])", r"\1", text).replace(',{"seed"', ',\n{"seed"') + "\n"


def rows(data: Mapping[str, Any], on: str = "") -> Iterator[tuple[str, str, float, float, Pooled]]:
    """(side, rate, its mean over seeds, the mean after training, the pooled difference) on a set of tasks, over the
    seeds that have the side.
    """
    for side in TOLD:
        for rate in (*RATES, *STAGES):
            runs = [run["values"][on] for run in data["runs"] if rate in run["values"][on].get(side, {})]
            if not runs:
                continue
            both = [zip(run[side][rate], run["after"][rate], strict=True) for run in runs]
            pairs = list(zip(*both, strict=True))  # by task, then by seed
            known = [pair for pair in pairs if all(None not in one for one in pair)]
            differences = [[pair[seed][1] - pair[seed][0] for pair in known] for seed in range(len(runs))]
            means = [sum(one[at] for pair in known for one in pair) / len(known) / len(runs) for at in (0, 1)]
            yield side, rate, means[0], means[1], crossed(differences)


def table(data: Mapping[str, Any], on: str = "") -> str:
    """The tables in Markdown."""
    count = len(data["runs"])
    lines = [
        f"| GRPO compared with | answers | control | GRPO | difference, {_seeds(count)} | each seed |",
        "|---|---|---|---|---|---|",
    ]
    for side, rate, mean, after, one in rows(data, on):
        each = " ".join(_signed(value) for value in one.seeds)
        cells = [
            TOLD[side],
            ANSWERS.get(rate, rate),
            _plain(mean),
            _plain(after),
            _difference(one, count),
            each,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def overview(files: Sequence[Path]) -> str:
    """A Markdown table of several recipes, each on its largest set of tasks: the start (after a warm start, if any),
    GRPO, and the differences from the start and from the controls at equal compute.
    """
    lines = [
        "| recipe | answers | start | GRPO | GRPO - start | GRPO - ssd | GRPO - rft |",
        "|---|---|---|---|---|---|---|",
    ]
    for file in files:
        data = json.loads(file.read_text())
        on, ids = max(data["tasks"].items(), key=lambda one: len(one[1]))
        count, found = len(data["runs"]), {(side, rate): one for side, rate, *one in rows(data, on)}
        start = "warm" if any(side == "warm" for side, _ in found) else "before"
        name = f"{file.stem}: {len(ids)} tasks, {_seeds(count)}"
        for rate in [rate for side, rate in found if side == start]:
            against = [found.get((side, rate)) for side in (start, "control_ssd", "control_rft")]
            told = [_difference(one[2], count) if one else "not run" for one in against]
            cells = [name, ANSWERS.get(rate, rate), *map(_plain, found[start, rate][:2]), *told]
            lines.append(f"| {' | '.join(cells)} |")
            name = ""
    return "\n".join(lines)


def _difference(one: Pooled, seeds: int) -> str:
    fewer = f" ({_seeds(len(one.seeds))})" if len(one.seeds) < seeds else ""
    return f"{_signed(one.delta)} [{_signed(one.low)}, {_signed(one.high)}]{fewer}"


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count > 1)}"


def _plain(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=RUN,RUN")
    parser.add_argument("--baselines", type=Path, metavar="EVAL-RUN")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--overview", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_intermixed_args()
    beside = {
        name: [*map(Path, runs.split(","))] for name, _, runs in (one.partition("=") for one in given.beside)
    }
    if given.overview:
        return print(overview(given.overview))
    if given.output:
        data = collected(given.runs, given.output, beside, given.baselines)
        given.output.write_text(packed(data))
    data = json.loads((given.table or given.output).read_text())
    print(
        "\n\n".join(
            f"{on or 'held-out'}, {len(ids)} tasks\n{table(data, on)}" for on, ids in data["tasks"].items()
        )
    )


if __name__ == "__main__":
    main()
