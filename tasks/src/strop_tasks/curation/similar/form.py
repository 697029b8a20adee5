"""The normal form of a solution, its shape and its shingles, by which solutions are compared.

Python is compared by its syntax tree (`strop_verify.code.near.labels`); other languages, and Python that does not
parse, by tokens without comments and layout, with the names that the source declares numbered by first use.
"""

import re
from typing import NamedTuple

from strop_tasks.curation.similar.hashes import Hashes, hash_text, shingles
from strop_verify.code.near.labels import python_labels

WIDTH = 4
_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|\'[^\'\\\n]*\'|\d[\w.]*|\w+|[^\s\w]')
_COMMENT = {
    "slashes": re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL),
    "hashes": re.compile(r'("(?:\\.|[^"\\\n])*")|#[^\n]*'),
    "dashes": re.compile(r'("(?:\\.|[^"\\\n])*")|--[^\n]*'),
}
_STYLE = dict.fromkeys(("python", "ruby", "bash", "sh", "shell", "r", "perl", "julia", "elixir"), "hashes") | {
    "lua": "dashes", "haskell": "dashes", "sql": "dashes", "ada": "dashes"
}  # fmt: skip
_DECLARED = re.compile(
    r"\b(?:fn|let|mut|for|struct|enum|const|var|function|def|func|fun|val|class|static|type|trait)\s+(?:mut\s+)?(\w+)"
    r"|(?<=[(,|{\s&])\b(\w+)\b(?=\s*:[^:=])"  # name: Type
    r"|\b(?!(?:return|new|else|case|goto|throw|await|in|not|and|or|is)\b)[A-Za-z_]\w*(?:<[\w\s,<>]{0,60}>)?"
    r"[\s*&]+(\w+)(?=\s*(?:[=;,)(]|\[))"  # Type name
    r"|\b(\w+)\b(?=\s*:?=[^=])"  # name =, name :=
)
_PARAMETERS = re.compile(
    r"\b(?:function|def|fn|func)\b[^(\n]{0,200}\(([^)]{0,2000})\)|\(([^()]*)\)\s*=>|\b(\w+)\s*=>"
)
_RESERVED = """
    if else while for in of do return break continue match switch case new delete try catch throw finally import
    from as use pub mod impl self this super true false null nil none fn let mut const static struct enum class def
    func var val function type trait where loop move ref async await yield not and or is lambda end then begin int
    long char short float double void bool unsigned signed size_t string vector auto usize isize i8 i16 i32 i64 u8
    u16 u32 u64 f32 f64 str option result vec some ok err main std println print
"""
_KEYWORDS = frozenset(_RESERVED.split())


class Form(NamedTuple):
    """A solution's normal form; all zero or empty if it has none."""

    size: int
    """Number of labels or tokens."""
    exact: int
    """Hash of everything; equal means the same program except for names and layout."""
    shape: int
    """Hash without constants; the same program with another constant has an equal shape and a different `exact`."""
    shingles: Hashes
    """Runs of four labels, with constants."""


EMPTY = Form(0, 0, 0, shingles([], WIDTH))


def form(source: str, language: str = "python") -> Form:
    """The normal form of an answer: bare code, or the last fenced block of a response."""
    if fenced := _FENCE.findall(source):
        source = fenced[-1]
    found = python_labels(source) if language == "python" else None
    labels = found if found is not None else _token_labels(source, language)
    if len(labels) < 3 or not any(label.isidentifier() or label.startswith("=") for label in labels):
        return EMPTY
    own_free = ["own" if label[:3] == "own" and label[3:].isdigit() else label for label in labels]
    return Form(
        size=len(labels),
        exact=hash_text("\n".join(labels)),
        shape=hash_text("\n".join(_kind(label) for label in labels)),
        shingles=shingles(own_free, WIDTH),
    )


def _kind(label: str) -> str:
    """The type of a constant; any other label unchanged."""
    return label.partition(":")[0] if label.startswith("=") and len(label) > 1 else label


def _token_labels(source: str, language: str) -> list[str]:
    """Tokens as labels like those of `python_labels`."""
    source = _COMMENT[_STYLE.get(language, "slashes")].sub(lambda m: m.group(1) or " ", source)
    own = {name for found in _DECLARED.findall(source) for name in found if name}
    for found in _PARAMETERS.findall(source):
        own.update(re.findall(r"(?<![\w:.] )(?<!:)\b[a-zA-Z_]\w*", " ".join(found)))
    own -= _KEYWORDS
    numbers: dict[str, int] = {}
    labels: list[str] = []
    for token in _TOKEN.findall(source):
        if token[0].isdigit():
            labels.append(f"=number:{token}")
        elif token[0] in "\"'" and len(token) > 1:
            labels.append(f"=text:{token}")
        elif token in own:
            labels.append(f"own{numbers.setdefault(token, len(numbers))}")
        else:
            labels.append(token)
    return labels
