"""Syntax colours of an answer as runs of (class, length), so the page needs neither a parser nor markup.

Classes: k keyword, s string, c comment, n number, f function name, t type, o operator, "" the rest. Lengths count
characters (code points); together they are the text's length.
"""

from functools import cache
from typing import Any

from strop_verify.core.optional_packages import require

MOST = 6_000
"""Coloured characters of a text; the rest is one run."""
_CLASSES = (
    ("Token.Comment.Preproc", "k"), ("Token.Comment", "c"), ("Token.Literal.String.Doc", "c"),
    ("Token.Literal.String", "s"),
    ("Token.Literal.Number", "n"), ("Token.Keyword.Type", "t"), ("Token.Keyword", "k"), ("Token.Name.Function", "f"),
    ("Token.Name.Class", "t"), ("Token.Name.Builtin", "f"), ("Token.Operator.Word", "k"), ("Token.Operator", "o"),
)  # fmt: skip


def runs_of(text: str, language: str) -> list[list[Any]]:
    """[[class, length], ...] over `text`; no class for an unknown language. Raises UserError without Pygments."""
    lexer = _lexer(language)
    if lexer is None or not text:
        return [["", len(text)]] if text else []
    runs: list[list[Any]] = []
    done = 0
    shown = min(len(text), MOST)
    for _, kind, value in lexer.get_tokens_unprocessed(text[:MOST] + "\n"):  # lexers expect a final newline
        length = min(len(value), shown - done)
        _add(runs, _class(kind) if value.strip() else None, length)
        done += length
    _add(runs, "", len(text) - done)
    return [run for run in runs if run[1]]


def _add(runs: list[list[Any]], name: str | None, length: int) -> None:
    """Extends the last run if the class is the same; white space (None) takes the class before it."""
    if runs and name in (None, runs[-1][0]):
        runs[-1][1] += length
    else:
        runs.append([name or "", length])


@cache
def _lexer(language: str) -> Any:
    if not language:
        return None
    lexers = require("pygments.lexers", package="pygments", extra="report", purpose="colouring syntax")
    try:
        return lexers.get_lexer_by_name(language)
    except ValueError:  # a ClassNotFound: no such language
        return None


@cache
def _class(kind: Any) -> str:
    name = str(kind)
    return next((short for full, short in _CLASSES if name == full or name.startswith(full + ".")), "")
