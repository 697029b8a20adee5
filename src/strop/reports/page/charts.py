"""The curves of a run as Vega-Lite specs without data, which the page fills in.

Every spec draws the data set "points". Each row is one line of metrics and one series:

    x, step          position on the axis (step, or time since the start), and the step
    value, mean      the number, and its rolling mean
    series, run      the line that it belongs to, the run's name
    colour, dash     the line's look, as CSS colour and dash pattern
    low, high        of evaluations: the interval; `shape` is the sign, `label` the evaluation's name
    x0, x1, part     of stacked parts: the step's left and right end, the part's name; low and high are its ends

`usermeta` holds the `Curve`: the number in metrics.jsonl and how to show it. Frames are drawn in `currentColor`, so a
chart follows the page's theme.
"""

from dataclasses import asdict
from typing import Any

from strop.reports.page.curves import CURVES, Curve

POINTS = "points"
_HEIGHT = 170
_CONFIG = {
    "font": "system-ui, sans-serif",
    "axis": {
        **dict.fromkeys(
            ("labelColor", "titleColor", "domainColor", "tickColor", "gridColor"), "currentColor"
        ),
        "titleFontWeight": "normal",
        "gridOpacity": 0.12,
        "domainOpacity": 0.4,
        "tickOpacity": 0.4,
    },
    "view": {"stroke": None},
}
_SERIES = {"field": "series", "type": "nominal"}
_X = {
    "field": "x",
    "type": "quantitative",
    "title": "step",
    "axis": {"tickMinStep": 1, "grid": False},
    "scale": {"zero": False, "nice": False, "padding": 6},
}


def charts() -> dict[str, dict[str, Any]]:
    """{name: Vega-Lite spec} of all curves, a few hundred bytes each; the tests validate them."""
    return {name: _spec(curve) for name, curve in CURVES.items()}


def _spec(curve: Curve) -> dict[str, Any]:
    draw = {"evaluation": _evaluation, "parts": _parts}.get(curve.kind, _lines)
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": _HEIGHT,
        "background": "transparent",
        "description": f"{curve.title}. {curve.description}",
        "usermeta": asdict(curve),
        "config": _CONFIG,
        "data": {"name": POINTS},
        "layer": draw(curve),
    }


def _lines(curve: Curve) -> list[dict[str, Any]]:
    """Raw points, faint, and the rolling mean as a line."""
    tooltip = _tooltip(curve, value="value", mean="rolling mean")
    look = {"color": _as_is("colour"), "detail": _SERIES}
    return [
        _layer("circle", size=18, opacity=0.5, x=_X, y=_y(curve, "value"), tooltip=tooltip, **look),
        _layer("line", strokeWidth=1.8, x=_X, y=_y(curve, "mean"), strokeDash=_as_is("dash"), **look),
    ]


def _evaluation(curve: Curve) -> list[dict[str, Any]]:
    """A symbol with its interval for every evaluation, joined by a faint line."""
    look = {"x": _X, "y": _y(curve, "value"), "color": _as_is("colour"), "detail": _SERIES}
    interval = look | {"y": _y(curve, "low"), "y2": {"field": "high"}}
    tooltip = [_told("label", "evaluation"), *_tooltip(curve, value="value", low="from", high="to")]
    sign = look | {"shape": _as_is("shape"), "tooltip": tooltip}
    order = {"field": "order", "type": "quantitative"}
    return [
        _layer("line", strokeWidth=1, opacity=0.6, order=order, **look),
        _layer("rule", strokeWidth=1.5, opacity=0.7, **interval),
        _layer("point", size=60, filled=True, opacity=1, **sign),
    ]


def _parts(curve: Curve) -> list[dict[str, Any]]:
    """A bar for every step, its parts on top of each other from `low` to `high`."""
    place = {
        "x": {**_X, "field": "x0"},
        "x2": {"field": "x1"},
        "y": _y(curve, "low"),
        "y2": {"field": "high"},
    }
    tooltip = [_told("part"), *_tooltip(curve, value="seconds")]
    return [_layer("rect", stroke=None, color=_as_is("colour"), tooltip=tooltip, **place)]


def _layer(mark: str, **given: Any) -> dict[str, Any]:
    """A mark with its look (plain values) and its encoding (the other values)."""
    encoding = {name: value for name, value in given.items() if isinstance(value, dict | list)}
    look = {name: value for name, value in given.items() if name not in encoding}
    return {"mark": {"type": mark, "aria": False, **look}, "encoding": encoding}


def _y(curve: Curve, field: str) -> dict[str, Any]:
    axis = {"tickCount": 5, **({"format": "~%"} if curve.format == "percent" else {})}
    return {
        "field": field,
        "type": "quantitative",
        "title": None,
        "axis": axis,
        "scale": {"zero": curve.zero},
    }


def _as_is(field: str) -> dict[str, Any]:
    """Draws the row's value directly: no scale, no legend."""
    return {"field": field, "type": "nominal", "scale": None}


def _told(field: str, title: str = "", kind: str = "nominal") -> dict[str, Any]:
    return {"field": field, "type": kind, "title": title or field}


def _tooltip(curve: Curve, **fields: str) -> list[dict[str, Any]]:
    style = ".1%" if curve.format == "percent" else ".4~g"
    numbers = [{**_told(name, title, "quantitative"), "format": style} for name, title in fields.items()]
    return [_told("run"), _told("step", kind="quantitative"), *numbers]
