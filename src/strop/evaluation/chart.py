"""Charts as SVG, or a page with one: bars of several models, curves over cost. No script, no font, no external
resources.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from strop.evaluation.models import COLOURS, Rate
from strop.evaluation.statistics import Estimate
from strop_verify.core import files
from strop_verify.core.text import printable

_HEIGHT, _TOP, _LEFT, _BAR, _GAP = 240, 48, 48, 34, 40
"""In pixels: the plot's height, the space above and left of it; a bar's width and the gap between groups."""
_PLOT = 340
"""Width of a plot of curves."""

_CSP = "default-src 'none'"


def svg(groups: Mapping[str, Sequence[Rate]], *, title: str, note: str) -> str:
    """Groups of bars from 0 to 100 %, each with its interval as a whisker and its rate above; one colour per model."""
    models = [rate.model for rate in next(iter(groups.values()), [])]
    group = len(models) * _BAR + _GAP
    right = _LEFT + max(len(groups), 1) * group
    texts = [title, note, *(f"   {model}" for model in models)]
    width = max(right + 16, 24 + 8 * max(len(printable(text)) for text in texts))
    bottom = _TOP + _HEIGHT
    height = bottom + 44 + 20 * len(models) + (24 if note else 8)
    parts = [_frame(width, height, title)]
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#dddddd"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{percent} %", anchor="end", fill="#666666"))
    for number, (name, rates) in enumerate(groups.items()):
        left = _LEFT + _GAP / 2 + number * group
        parts.append(_text(left + len(models) * _BAR / 2, bottom + 18, name, anchor="middle", size=13))
        parts += [_bar(left + at * _BAR, rate, COLOURS[at % len(COLOURS)]) for at, rate in enumerate(rates)]
    return _finished(parts, models, bottom + 36, note, height)


class CurvePanel(NamedTuple):
    """One plot of several curves over a cost."""

    axis: str
    """Label of the cost axis."""
    curves: Mapping[str, Sequence[tuple[float, Estimate]]]
    """(cost, rate) of each point, in order, by name; all panels have the same names."""


def curves_svg(panels: Sequence[CurvePanel], *, title: str, note: str) -> str:
    """Plots side by side, from 0 to the highest rate over the logarithm of the cost; intervals are bands."""
    names = list(panels[0].curves)
    rates = [rate for panel in panels for points in panel.curves.values() for _, rate in points]
    most = min(1.0, math.ceil(10 * max(0.01, *(rate.high for rate in rates))) / 10)
    across = _LEFT + _PLOT + 24
    width = max(len(panels) * across, 24 + 8 * max(len(printable(text)) for text in (title, note)))
    bottom = _TOP + _HEIGHT
    height = bottom + 52 + 20 * len(names) + (24 if note else 8)
    parts = [_frame(width, height, title)]
    for number, panel in enumerate(panels):
        parts += _panel(panel, number * across + _LEFT, most)
    return _finished(parts, names, bottom + 48, note, height)


def _finished(parts: list[str], names: Sequence[str], top: float, note: str, height: float) -> str:
    """The SVG with a legend of its colours from `top` down, and the note at its foot."""
    for at, name in enumerate(names):
        y = top + 20 * at
        parts.append(f'<rect x="16" y="{y}" width="12" height="12" fill="{COLOURS[at % len(COLOURS)]}"/>')
        parts.append(_text(34, y + 10, name))
    if note:
        parts.append(_text(16, height - 10, note, fill="#666666", size=11))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: CurvePanel, left: float, most: float) -> list[str]:
    spent = [x for points in panel.curves.values() for x, _ in points if x > 0]
    low, high = (min(spent), max(spent)) if spent else (1.0, 2.0)
    span = math.log(high / low) or 1.0
    bottom = _TOP + _HEIGHT

    def place(x: float, rate: float) -> str:
        across = max(0.0, math.log(max(x, low) / low)) / span
        return f"{left + _PLOT * across:.1f} {bottom - _HEIGHT * rate / most:.1f}"

    parts = []
    for step in range(6):
        y = bottom - _HEIGHT * step / 5
        parts.append(f'<path d="M{left} {y:.1f}h{_PLOT}" stroke="#dddddd"/>')
        parts.append(_text(left - 6, y + 4, f"{100 * most * step / 5:.0f} %", anchor="end", fill="#666666"))
    for share in (0.0, 0.5, 1.0):
        label = f"{low * math.exp(span * share):.3g}"
        parts.append(_text(left + _PLOT * share, bottom + 16, label, anchor="middle", fill="#666666"))
    parts.append(_text(left + _PLOT / 2, bottom + 34, panel.axis, anchor="middle"))
    for at, (name, points) in enumerate(panel.curves.items()):
        colour, last = COLOURS[at % len(COLOURS)], points[-1][1]
        tip = f"<title>{_safe(f'{name}: {last.value:.1%} [{last.low:.1%}, {last.high:.1%}]')}</title>"
        band = [place(x, rate.high) for x, rate in points] + [place(x, rate.low) for x, rate in points[::-1]]
        parts.append(f'<path d="M{"L".join(band)}z" fill="{colour}" opacity=".1"/>')
        line = "L".join(place(x, rate.value) for x, rate in points)
        if len({x for x, _ in points}) == 1:
            across, down = place(points[-1][0], last.value).split()
            parts.append(f'<circle cx="{across}" cy="{down}" r="3" fill="{colour}">{tip}</circle>')
        else:
            parts.append(f'<path d="M{line}" stroke="{colour}" stroke-width="2" fill="none">{tip}</path>')
    return parts


def write_chart(path: Path, picture: str, title: str) -> None:
    """Writes an SVG, or a page with it for a .html name, whole or not at all."""
    text = html(picture, title=title) if path.suffix == ".html" else picture
    with files.atomic(path) as file:
        file.write(text.encode("utf-8"))


def html(picture: str, *, title: str) -> str:
    """A page with an SVG."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}"><title>{_safe(title)}</title></head>\n'
        f"<body>\n{picture}</body></html>\n"
    )


def _frame(width: float, height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>{_safe(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + _text(16, 24, title, size=15)
    )


def _bar(x: float, rate: Rate, colour: str) -> str:
    """The bar, its interval and its rate in percent; a dash if missing."""
    middle = x + _BAR / 2 - 2
    if rate.estimate is None:
        return _text(middle, _y(0) - 6, "-", anchor="middle", fill="#666666")
    value, low, high = rate.estimate
    tip = f"{rate.model}: {value:.1%} [{low:.1%}, {high:.1%}]"
    return (
        f'<rect x="{x:.1f}" y="{_y(value):.1f}" width="{_BAR - 4}" height="{_HEIGHT * value:.1f}" fill="{colour}">'
        f"<title>{_safe(tip)}</title></rect>"
        f'<path d="M{middle:.1f} {_y(low):.1f}V{_y(high):.1f}m-4 0h8M{middle - 4:.1f} {_y(low):.1f}h8" '
        'stroke="#222222" fill="none"/>'
        + _text(middle, _y(high) - 5, f"{100 * value:.0f}", anchor="middle", size=11)
    )


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", fill: str = "#222222", size: int = 12
) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" font-size="{size}">{_safe(text)}</text>'


def _y(share: float) -> float:
    return _TOP + _HEIGHT * (1 - share)


def _safe(text: str) -> str:
    return escape(" ".join(printable(text).split()), {'"': "&quot;"})
