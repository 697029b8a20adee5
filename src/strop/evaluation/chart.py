"""A bar chart of several models: one SVG, or the same in a page. No script, no font, no external resources."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from strop.core.text import printable
from strop.evaluation.models import COLOURS, Rate

_HEIGHT, _TOP, _LEFT, _BAR, _GAP = 240, 48, 48, 34, 40
"""Of the plot, above it, left of it; of a bar, and between groups; in pixels."""

_CSP = "default-src 'none'"


def svg(groups: Mapping[str, Sequence[Rate]], *, title: str, note: str) -> str:
    """Groups of bars from 0 to 100 %, each with its interval as a whisker and its rate above. One colour a model."""
    models = [rate.model for rate in next(iter(groups.values()), [])]
    group = len(models) * _BAR + _GAP
    right = _LEFT + max(len(groups), 1) * group
    texts = [title, note, *(f"   {model}" for model in models)]
    width = max(right + 16, 24 + 8 * max(len(printable(text)) for text in texts))
    bottom = _TOP + _HEIGHT
    height = bottom + 44 + 20 * len(models) + (24 if note else 8)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>{_safe(title)}</title>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(16, 24, title, size=15),
    ]
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#dddddd"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{percent} %", anchor="end", fill="#666666"))
    for number, (name, rates) in enumerate(groups.items()):
        left = _LEFT + _GAP / 2 + number * group
        parts.append(_text(left + len(models) * _BAR / 2, bottom + 18, name, anchor="middle", size=13))
        parts += [_bar(left + at * _BAR, rate, COLOURS[at % len(COLOURS)]) for at, rate in enumerate(rates)]
    for at, model in enumerate(models):
        y = bottom + 36 + 20 * at
        parts.append(f'<rect x="16" y="{y}" width="12" height="12" fill="{COLOURS[at % len(COLOURS)]}"/>')
        parts.append(_text(34, y + 10, model))
    if note:
        parts.append(_text(16, height - 10, note, fill="#666666", size=11))
    return "\n".join([*parts, "</svg>"]) + "\n"


def html(picture: str, *, title: str) -> str:
    """A page that shows an SVG of ours."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}"><title>{_safe(title)}</title></head>\n'
        f"<body>\n{picture}</body></html>\n"
    )


def _bar(x: float, rate: Rate, colour: str) -> str:
    """The bar, its interval and its rate in percent; a dash where there is none."""
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
