"""The hacking curve of a run: reward and correctness over the policy's distance from its start.

As in Gao et al. (arXiv 2210.10760), the distance is the square root of the KL divergence from the initial policy.
Correctness is exact, because answers are executed: the share of a step's answers that passed. KL is per answer or play,
nats per token times tokens, as the update estimates it, so `grpo.beta` must be above 0.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.table import Table
from rich.text import Text

from strop.evaluation.chart import CurvePanel, curves_svg, write_chart
from strop.evaluation.statistics import Estimate
from strop.evaluation.table import new_table

WINDOW = 5
"""Steps per point, since tasks differ from step to step."""
_ROWS = 12


def hacking_curve(lines: Iterable[Mapping[str, Any]]) -> dict[str, list[float]] | None:
    """{"step", "distance", "proxy", "truth"}, lists over the steps, from lines of metrics; None if none is complete.

    The proxy is the reward. A run rewarded only for passing has no `reward_auc`, and no curve.
    """
    lines = list(lines)
    if not any("reward_auc" in line for line in lines):
        return None
    found = [
        (line["step"], (max(0.0, kl) * tokens * line.get("turns", 1)) ** 0.5, reward, passed)
        for line in lines
        if isinstance(kl := line.get("kl"), float)
        and isinstance(tokens := line.get("completion_tokens"), int | float)
        and isinstance(reward := line.get("reward"), int | float)
        and isinstance(passed := line.get("pass_rate"), int | float)
    ]
    if not found:
        return None
    steps, *values = zip(*found, strict=True)
    smooth = [[fmean(one[max(0, at - WINDOW + 1) : at + 1]) for at in range(len(one))] for one in values]
    return {"step": list(steps), **dict(zip(("distance", "proxy", "truth"), smooth, strict=True))}


def hacking_table(curve: Mapping[str, list[float]]) -> Table:
    """A table of some of the curve's steps, for a terminal."""
    table = new_table("hacking curve", "step", "root of KL", "reward", "passed")
    count = len(curve["step"])
    for at in sorted({round(n * (count - 1) / (_ROWS - 1)) for n in range(_ROWS)}):
        values = [f"{curve[name][at]:.3f}" for name in ("distance", "proxy", "truth")]
        table.add_row(Text(str(curve["step"][at])), *map(Text, values))
    table.caption = f"means of {WINDOW} steps; KL to the initial model, nats per answer"
    return table


def write_hacking(path: Path, curve: Mapping[str, list[float]], *, title: str) -> None:
    """Writes an SVG of both over the distance, with the reward scaled from its lowest to its highest value."""
    low, high = min(curve["proxy"]), max(curve["proxy"])
    scaled = [(value - low) / ((high - low) or 1.0) for value in curve["proxy"]]

    def points(values: list[float]) -> list[tuple[float, Estimate]]:
        pairs = sorted(zip(curve["distance"], values, strict=True))
        least = 0.02 * pairs[-1][0] or 1.0  # the axis is logarithmic, and a run starts at 0
        return [(max(distance, least), Estimate(value, value, value)) for distance, value in pairs]

    panel = CurvePanel(
        "root of KL, nats per answer", {"reward": points(scaled), "passed": points(curve["truth"])}
    )
    note = f"means of {WINDOW} steps; the reward from {low:.3g} (0 %) to {high:.3g} (100 %)"
    write_chart(path, curves_svg([panel], title=title, note=note), title)
