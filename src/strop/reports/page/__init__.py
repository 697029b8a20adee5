"""The page: one self-contained HTML text, for both the report on disk and the live view.

css/ and js/ hold plain files; there is no build step. Each becomes a separate element, named by its hash in the page's
content security policy, so nothing else can run: no inline handler, no script from an answer, no request (live: only to
the server that sent the page). Data is gzip in base64, which has no `<`, so no text can end its element.

Browsers: those with light-dark() in CSS and DecompressionStream (Firefox 120, Chromium 123, Safari 17.5, or newer).
"""

import base64
import gzip
import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from strop_verify.core import files
from strop_verify.core.cache import kept_dir
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.text import printable

_HERE = Path(__file__).parent
_FIRST, _LAST = ("dom.js", "source.js", "router.js"), ("main.js",)
_CHARTS = "charts-"
_MARK = '<link rel="icon" href="data:,">'  # stops browsers from requesting one


def document(data: Mapping[str, Any] | None, *, charts: bool = True) -> str:
    """The page as HTML. Raises UserError if charts are wanted and their library is not installed.

    data    the page's data, embedded; None makes the live page, which asks its server
    charts  whether the chart library is inlined (0.9 MB)
    """
    styles = "".join(f"<style>{text}</style>\n" for text in _styles())
    scripts = "".join(f"<script>{text}</script>\n" for text in _scripts(charts))
    title = " · ".join([*(str(run.get("name", "")) for run in (data or {}).get("runs", [])), "Strop"])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(data is None, charts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(printable(title))}</title>\n{_MARK}\n{styles}</head>\n"
        "<body>\n<noscript>This page needs JavaScript; everything that it runs is in it.</noscript>\n"
        f'<script type="application/json" id="strop-data">{packed(data)}</script>\n{scripts}</body>\n</html>\n'
    )


def packed(data: Mapping[str, Any] | None) -> str:
    """The text that the page embeds: gzip of strict JSON in base64; "null" for None. Equal data gives equal text."""
    if data is None:
        return "null"
    return base64.b64encode(gzip.compress(files.json_line(data), compresslevel=9, mtime=0)).decode()


def policy(live: bool, charts: bool = True) -> str:
    """The page's content security policy: its own styles and scripts by hash; its server's scripts and answers if live.

    A meta element cannot forbid framing: a server adds `frame-ancestors 'none'`.
    """
    own = "'self' " if live else ""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {own}{_hashes(_scripts(charts))}",
            f"style-src {_hashes(_styles())}",
            "img-src data:",
            "connect-src " + (own.strip() or "'none'"),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


@cache
def _styles() -> tuple[str, ...]:
    return _texts(sorted((_HERE / "css").glob("*.css")))


@cache
def _scripts(charts: bool) -> tuple[str, ...]:
    others = sorted(path.name for path in (_HERE / "js").glob("*.js"))
    names = (*_FIRST, *(name for name in others if name not in _FIRST + _LAST), *_LAST)
    own = _texts(_HERE / "js" / name for name in names)
    return (_safe(chart_library()), *own) if charts else own


def _texts(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(_safe(path.read_text(encoding="utf-8")) for path in paths)


def _safe(text: str) -> str:
    """The text with line ends as a browser's parser normalises them, so that its hash is the one that the browser
    computes."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for bad in ("</script", "</style", "<!--", "<script", "\0"):
        if bad in text.lower():
            raise ValueError(f"{bad!r} in an inlined file would end or change its element")
    return text


@cache
def chart_library() -> str:
    """The chart library as one script, which sets `vegaEmbed`. Raises UserError when it is not installed.

    It is built in seconds, once per version, and cached.
    """
    made = require("vl_convert", package="vl-convert-python", extra="report", purpose="drawing charts")
    kept = kept_dir() / f"{_CHARTS}{made.__version__}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    text = str(made.javascript_bundle(None))  # None: its default snippet
    with suppress(OSError, UserError):
        for old in kept.parent.glob(f"{_CHARTS}*.js"):
            old.unlink()
        with files.atomic(kept) as file:
            file.write(text.encode())
    return text


def _hashes(texts: tuple[str, ...]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
