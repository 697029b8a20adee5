"""The curves of a run as Vega-Lite specs, built by altair without data: the page fills that in.

Every spec draws the data set "points". Each row is one line of metrics and one series:

    x, step          where on the axis (step, or time since the start), and the step
    value, mean      the number, and its rolling mean
    series, run      what makes one line, the run's name
    colour, dash     how it looks, as CSS colour and dash pattern
    low, high        of evaluations: the interval; `shape` is the sign, `label` the evaluation's name
    x0, x1, part     of stacked parts: the step's left and right end, the part's name; low and high are its ends

`usermeta` says which number of metrics.jsonl a spec shows and how: a `Curve`. Frames are drawn in `currentColor`,
so that a chart follows the page's theme.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from strop.core.optional_packages import require
from strop.reports.page.curves import CURVES, Curve

POINTS = "points"
_HEIGHT = 170


@cache
def charts() -> dict[str, dict[str, Any]]:
    """{name: Vega-Lite spec} of all curves, a few hundred bytes each. Raises UserError when altair is not installed.

    altair's own validation takes seconds; the tests validate what comes out.
    """
    alt = require("altair", package="altair", extra="report", purpose="drawing charts")
    with alt.utils.schemapi.debug_mode(False):
        return {name: _spec(alt, curve) for name, curve in CURVES.items()}


def _spec(alt: Any, curve: Curve) -> dict[str, Any]:
    draw = {"evaluation": _evaluation, "parts": _parts}.get(curve.kind, _lines)
    chart = alt.layer(*draw(alt, curve), data=alt.NamedData(name=POINTS)).properties(
        width="container",
        height=_HEIGHT,
        background="transparent",
        description=f"{curve.title}. {curve.description}",
        usermeta=asdict(curve),
    )
    text = {"labelColor": "currentColor", "titleColor": "currentColor", "titleFontWeight": "normal"}
    axis = {"domainColor": "currentColor", "tickColor": "currentColor", "gridColor": "currentColor"}
    faint = {"gridOpacity": 0.12, "domainOpacity": 0.4, "tickOpacity": 0.4}
    chart = chart.configure(
        font="system-ui, sans-serif", axis={**text, **axis, **faint}, view={"stroke": None}
    )
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return spec


def _lines(alt: Any, curve: Curve) -> Sequence[Any]:
    """Raw points, faint, and the rolling mean as a line."""
    points = (
        alt.Chart()
        .mark_circle(size=18, opacity=0.5, aria=False)
        .encode(
            x=_x(alt),
            y=_y(alt, curve, "value"),
            color=_as_is(alt.Color, "colour"),
            detail="series:N",
            tooltip=_tooltip(alt, curve, value="value", mean="rolling mean"),
        )
    )
    line = (
        alt.Chart()
        .mark_line(strokeWidth=1.8, aria=False)
        .encode(
            x=_x(alt),
            y=_y(alt, curve, "mean"),
            color=_as_is(alt.Color, "colour"),
            strokeDash=_as_is(alt.StrokeDash, "dash"),
            detail="series:N",
        )
    )
    return points, line


def _evaluation(alt: Any, curve: Curve) -> Sequence[Any]:
    """A sign with its interval for every evaluation, joined by a faint line."""
    look = {"color": _as_is(alt.Color, "colour"), "detail": "series:N"}
    line = alt.Chart().mark_line(strokeWidth=1, opacity=0.6, aria=False)
    interval = alt.Chart().mark_rule(strokeWidth=1.5, opacity=0.7, aria=False)
    sign = alt.Chart().mark_point(size=60, filled=True, opacity=1, aria=False)
    value = _y(alt, curve, "value")
    return (
        line.encode(x=_x(alt), y=value, order="order:Q", **look),
        interval.encode(x=_x(alt), y=_y(alt, curve, "low"), y2="high:Q", **look),
        sign.encode(
            x=_x(alt),
            y=value,
            shape=_as_is(alt.Shape, "shape"),
            tooltip=[
                alt.Tooltip("label:N", title="evaluation"),
                *_tooltip(alt, curve, value="value", low="from", high="to"),
            ],
            **look,
        ),
    )


def _parts(alt: Any, curve: Curve) -> Sequence[Any]:
    """A bar for every step, its parts on top of each other from `low` to `high`."""
    bars = alt.Chart().mark_rect(aria=False, stroke=None)
    return (
        bars.encode(
            x=_x(alt, "x0"),
            x2="x1:Q",
            y=_y(alt, curve, "low"),
            y2="high:Q",
            color=_as_is(alt.Color, "colour"),
            tooltip=[alt.Tooltip("part:N", title="part"), *_tooltip(alt, curve, value="seconds")],
        ),
    )


def _x(alt: Any, field: str = "x") -> Any:
    axis = alt.Axis(tickMinStep=1, grid=False)
    return alt.X(f"{field}:Q", title="step", axis=axis, scale=alt.Scale(zero=False, nice=False, padding=6))


def _y(alt: Any, curve: Curve, field: str) -> Any:
    axis = alt.Axis(tickCount=5, **({"format": "~%"} if curve.format == "percent" else {}))
    return alt.Y(f"{field}:Q", title=None, axis=axis, scale=alt.Scale(zero=curve.zero))


def _as_is(channel: Any, field: str) -> Any:
    """The row's own value is what is drawn: no scale, no legend."""
    return channel(f"{field}:N", scale=None)


def _tooltip(alt: Any, curve: Curve, **fields: str) -> list[Any]:
    style = ".1%" if curve.format == "percent" else ".4~g"
    numbers = [alt.Tooltip(f"{name}:Q", title=title, format=style) for name, title in fields.items()]
    return [alt.Tooltip("run:N", title="run"), alt.Tooltip("step:Q", title="step"), *numbers]
