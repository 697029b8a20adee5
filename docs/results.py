"""Writes docs/results.md and its pictures out of the raw results in experiments/, so that no figure is typed.

python docs/results.py; a test fails while what is there is older than the results.
"""

import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from strop.config.recipes import RECIPES, facts_of
from strop.evaluation.chart import svg
from strop.evaluation.models import Rate
from strop.evaluation.result import Evaluation
from strop.evaluation.statistics import mean_interval, paired_difference

HERE = Path(__file__).resolve().parent
RAW = HERE.parent / "experiments"
SIDES = {"before": "before", "warm": "after the warm start", "after": "after RL"}
INTRODUCTION = """# Results

<!-- written by docs/results.py; do not edit -->

What the recipes taught, from the raw results in `experiments/`: rates on held-out tasks with 95 % intervals over tasks,
paired differences, and the mean reward of each training step. Where the interval of a difference contains 0, nothing
was shown. Each recipe's head says what it ran on; `experiments/LOG.md` lists the failures too.
"""


def _controls() -> Any:
    spec = importlib.util.spec_from_file_location("controls", HERE.parent / "benchmarks" / "controls.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["controls"] = module
    spec.loader.exec_module(module)
    return module


def evaluation_of(kept: Mapping[str, Any]) -> Evaluation:
    """An evaluation out of what is kept of it."""
    counts = kept["counts"]
    return Evaluation(
        **kept, samples=max(one["n"] for one in counts), temperature=1.0, max_tokens=1, k=[1],
        greedy=any("greedy" in one for one in counts),
    )  # fmt: skip


def signed(value: float) -> str:
    """With its sign, without the zero before the point."""
    return f"{value:+.3f}".replace("0.", ".", 1)


def curve(seeds: Sequence[Sequence[float]], title: str) -> str:
    """An SVG of the mean reward by step, one line per seed."""
    width, height, left, top = 420, 160, 52, 30
    values = [value for seed in seeds for value in seed]
    low, high = min(0.0, *values), max(0.01, *values)
    steps = max(map(len, seeds))

    def place(step: int, value: float) -> str:
        x = left + step / max(1, steps - 1) * (width - left - 16)
        return f"{x:.1f},{top + (high - value) / (high - low) * height:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + height + 34}" width="{width}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>{title}</title>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{left}" y="18">{title}</text>',
    ]
    for value in {low, 0.0, high}:
        y = place(0, value).partition(",")[2]
        parts.append(f'<path d="M{left} {y}H{width - 16}" stroke="#dddddd"/>')
        parts.append(
            f'<text x="{left - 6}" y="{float(y) + 4:.1f}" text-anchor="end" fill="#666666">{value:.2f}</text>'
        )
    for seed, colour in zip(seeds, ("#1f6feb", "#bf3989", "#1a7f37", "#9a6700"), strict=False):
        points = " ".join(place(step, value) for step, value in enumerate(seed))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    parts.append(f'<text x="{left}" y="{top + height + 22}" fill="#666666">step 1 to {steps}</text></svg>')
    return "\n".join(parts) + "\n"


def recipe_section(path: Path) -> Iterator[tuple[str, str]]:
    """(name of a picture, its SVG) of a run of one seed, and last ("", its section of the page)."""
    data = json.loads(path.read_text())
    name = data["recipe"]
    found = {side: evaluation_of(kept) for side, kept in data["evaluations"].items() if side in SIDES}
    rates: dict[str, list[dict[str, float]]] = {}
    for key in (*found["after"].keys, *found["after"].stage_keys):
        if all(key in one.keys + one.stage_keys for one in found.values()):
            rates[key] = [one.values(key) for one in found.values()]
    for measure, sides in data.get("rewards", {}).items():
        for kind, prefix in (("sampled", ""), ("greedy", "greedy-")):
            rates[prefix + measure] = [sides[side][kind] for side in found]
    seen = {key: {value for side in sides for value in side.values()} for key, sides in rates.items()}
    told = [f"{key} {min(values):.0f}" for key, values in seen.items() if len(values) == 1]
    kept: dict[str, list[dict[str, float]]] = {}
    for key, each in rates.items():
        if len(seen[key]) > 1 and each not in kept.values():
            kept[key] = each
    bars = {
        key: [
            Rate(SIDES[side], mean_interval([*one.values()])) for side, one in zip(found, each, strict=True)
        ]
        for key, each in kept.items()
    }
    tasks = len(found["after"].counts)
    title = f"{name}: {tasks} held-out tasks"
    yield f"results-{name}", svg(bars, title=title, note="95 % intervals over tasks")
    rewards = [one["reward"] for one in data["metrics"] if one.get("reward") is not None]
    yield f"results-{name}-reward", curve([rewards], f"{name}: mean reward")
    starts = [*SIDES][: len(found) - 1]
    lines = [
        f"| rate | {' | '.join(SIDES[side] for side in found)} | {' | '.join(f'RL - {SIDES[s]}' for s in starts)} |",
        "|" + "---|" * (1 + len(found) + len(starts)),
    ]
    for key, each in kept.items():
        cells = [f"{rate.estimate.value:.3f}" for rate in bars[key] if rate.estimate]
        for start in each[:-1]:
            one = paired_difference([start[task] for task in each[-1]], [*each[-1].values()])
            cells.append(f"{signed(one.delta)} [{signed(one.low)}, {signed(one.high)}]")
        lines.append(f"| {key} | {' | '.join(cells)} |")
    same = f" The same for every answer: {', '.join(told)}." if told else ""
    minutes = data["wall_seconds"] / 60
    seed = f"One seed, {tasks} held-out tasks, {minutes:.0f} minutes by the clock, sometimes beside other work.{same}"
    yield "", _section(name, seed, lines, 2)


def controlled_section(path: Path) -> Iterator[tuple[str, str]]:
    """The same of runs with several seeds and controls."""
    data, controls, name = json.loads(path.read_text()), _controls(), path.stem
    runs = data["runs"]
    for on, ids in data["tasks"].items():
        sides = [side for side in (*controls.TOLD, "after") if all(side in run["values"][on] for run in runs)]
        groups: dict[str, list[Rate]] = {}
        for rate in (*controls.RATES, *controls.STAGES):
            groups[rate] = [
                Rate(controls.TOLD.get(side, "after RL"), mean_interval(_means(runs, on, side, rate)))
                for side in sides
                if rate in runs[0]["values"][on][side]
            ]
        title = f"{name}: {len(ids)} {on or 'held-out'} tasks, {_seeds(runs)}"
        yield (
            f"results-{name}{'-' * bool(on)}{on}",
            svg(_filled(groups), title=title, note="95 % intervals over tasks"),
        )
    if rewards := [run["rewards"] for run in runs if "rewards" in run]:
        yield f"results-{name}-reward", curve(rewards, f"{name}: mean reward, {_seeds(rewards)}")
    tables = []
    for on, ids in data["tasks"].items():
        tables += [f"{on or 'Held-out'}, {len(ids)} tasks:", "", controls.table(data, on), ""]
    seeds = f"{_seeds(runs)}. {_shares(runs)}"
    yield "", _section(name, seeds, tables[:-1], len(data["tasks"]) + bool(rewards), [*data["tasks"]])


def _seeds(runs: Sequence[Any]) -> str:
    return f"{len(runs)} seed{'s' * (len(runs) > 1)}"


def _shares(runs: Sequence[Mapping[str, Any]]) -> str:
    """What the controls took of their budgets."""
    took = [one for run in runs for one in run["took"].values() if "seconds_budget" in one]
    if not took:
        resampled = all("resampled" in run["values"][""] for run in runs)
        return "Its control is resampling at equal tokens." if resampled else "Its controls are not run yet."
    shares = [(one["seconds_sampling"] + one["seconds_training"]) / one["seconds_budget"] for one in took]
    return f"Controls took {min(shares):.2f} to {max(shares):.2f} of the CPU seconds budgeted for them."


def _means(runs: Sequence[Mapping[str, Any]], on: str, side: str, rate: str) -> list[float]:
    """Of each task, over the seeds."""
    columns = zip(*(run["values"][on][side][rate] for run in runs), strict=True)
    return [sum(one) / len(one) for one in columns if None not in one]


def _filled(groups: Mapping[str, Sequence[Rate]]) -> dict[str, list[Rate]]:
    """Each group that has bars, with those of the fullest; empty where a side has no such rate."""
    names = max(([one.model for one in rates] for rates in groups.values()), key=len)
    known = {rate: {one.model: one.estimate for one in rates} for rate, rates in groups.items()}
    return {rate: [Rate(name, found.get(name)) for name in names] for rate, found in known.items() if found}


def _section(name: str, told: str, table: Sequence[str], pictures: int, sets: Sequence[str] = ("",)) -> str:
    names = [f"results-{name}{'-' * bool(on)}{on}" for on in sets]
    names += [f"results-{name}-reward"] * (pictures > len(sets))
    images = "\n".join(f"![{one}](images/{one}.svg)" for one in names)
    what = facts_of(RECIPES / f"{name}.yaml")["what"]
    return "\n".join([f"## {name}", "", f"{what}. {told}", "", *table, "", images, ""])


def written() -> dict[Path, str]:
    """{file: its text} of the page and its pictures."""
    files: dict[Path, str] = {}
    page = [INTRODUCTION]
    found = [(path, controlled_section) for path in sorted((RAW / "controls").glob("*.json"))]
    found += [(path, recipe_section) for path in sorted((RAW / "recipes").glob("*.json"))]
    for path, section in found:
        for name, text in section(path):
            if name:
                files[HERE / "images" / f"{name}.svg"] = text
            else:
                page.append(text)
    files[HERE / "results.md"] = "\n".join(page)
    return files


if __name__ == "__main__":
    for file, content in written().items():
        file.write_text(content)
