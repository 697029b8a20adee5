"""The words of code for BM25: identifiers are split, and each part counts by its stem.

    terms("parse_args")                      # ("pars", "arg", "parse_args")
    bag_of("shop/cart.py", "x = parse(y)")   # Bag(counts={"x": 4, "pars": 1, "y": 1}, length=3)

An identifier is split at underscores, changes of case and digits. The whole identifier is also a word, so exact names
match best. Stems come from Snowball's English stemmer (package snowballstemmer), after conversion to American spelling.
Words weigh more in definitions, comments and docstrings.
"""

import re
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from strop_verify.edits.languages import LANGUAGES

DEFINED, PROSE, OPENING = 3, 1, 3
"""Weight of an occurrence beyond 1: as a definition, in a comment or docstring, and in the text's first docstring."""
_WORD = re.compile(r"[^\W\d]\w*")
_LONGEST_WORD = 80
"""In characters. Longer words are treated as data and ignored."""
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HASHED = re.compile(r'"""[\s\S]*?(?:"""|\Z)|' + r"'''[\s\S]*?(?:'''|\Z)|(?:^|(?<=\s))#[^\n]*")
_SLASHED = re.compile(r"/\*[\s\S]*?(?:\*/|\Z)|//[^\n]*")
"""Comments and docstrings. An unclosed one runs to the end of the text, which keeps matching linear in time."""
_DEFINED = re.compile(
    r"\b(?:def|class|fn|func|function|struct|enum|trait|impl|interface|type|mod|module|namespace)\s+(\w+)"
    r"|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]{0,100})?=(?!=)",
    re.MULTILINE,
)
_FUNCTIONS_AS_VALUES = re.compile(
    r"(?:^|[\s.])(\w+)[ \t]*[:=]\s*(?:async\s*)?(?:function\b|\([\w\s,]{0,200}\)\s*=>)", re.MULTILINE
)
"""In JavaScript and TypeScript: `res.redirect = function`, `redirect: (url) =>`."""
_MORE_PROGRAMS = """
bash bat cjs clj cu cuh cxx dart ex exs f90 fs hs hxx jl lua m mjs ml mm pl pm ps1 r sh sql svelte vb vue zig
"""
"""File extensions of programs, besides those in LANGUAGES."""
_ABBREVIATED = """
arg argument | param parameter | config configuration settings | cli command | dir directory folder | env
environment | auth authentication authorization | tmp temp temporary | init initialize | msg message | str string |
num number | func fn function | err error exception | len length | max maximum | min minimum | req request | res
resp response | ctx context | conn connection | addr address | doc documentation | lib library | pkg package | fmt
format | cmd command | attr attribute | prop property | iter iterate | exec execute run | repo repository | sync
synchronize | async asynchronous coroutine | cert certificate
"""
"""Groups of related words: abbreviations in code, and the words that questions use for them."""


@dataclass(frozen=True, slots=True)
class Bag:
    """A text's words: word -> its weighted count, at least 1; and the number of words in the text."""

    counts: dict[str, int]
    length: int


def bag_of(path: str, text: str) -> Bag:
    """The bag of a text. The extension of `path` determines the syntax of comments."""
    words = Counter(_WORD.findall(text))
    counts: dict[str, int] = {}
    _add(counts, words, 1)
    _add(counts, Counter(_defined(path, text)), DEFINED)
    prose = _prose(path, text)
    _add(counts, Counter(_WORD.findall("\n".join(prose))), PROSE)
    _add(counts, Counter(_WORD.findall("".join(prose[:1]))), OPENING)
    return Bag(counts, words.total())


def _add(counts: dict[str, int], words: Counter[str], weight: int) -> None:
    for word, times in words.items():
        for term in terms(word):
            counts[term] = counts.get(term, 0) + weight * times


def _defined(path: str, text: str) -> Iterator[str]:
    for match in _DEFINED.finditer(text):
        yield match[match.lastindex or 0]
    if language_at(path) in ("javascript", "typescript"):
        yield from _FUNCTIONS_AS_VALUES.findall(text)


def _prose(path: str, text: str) -> list[str]:
    """Comments and docstrings of a program; none for other files, which are entirely prose or data."""
    if not (language := language_at(path)):
        return []
    return (_HASHED if language in ("python", "ruby") else _SLASHED).findall(text)


def is_program(path: str) -> bool:
    """Whether a file is source code, judged by its extension."""
    return path.rpartition(".")[2].lower() in _MORE_PROGRAMS.split() or bool(language_at(path))


def language_at(path: str) -> str:
    """The language of a file by its extension; "" if it is not in LANGUAGES."""
    return LANGUAGES.get(path.rpartition(".")[2].lower(), "")


@lru_cache(maxsize=1 << 18)
def terms(word: str) -> tuple[str, ...]:
    """The stems of a word's parts; if there are several, the whole word in lower case comes last."""
    if len(word) > _LONGEST_WORD:
        return ()
    parts = _PARTS.findall(word) if word.isascii() else [*filter(None, word.split("_"))]
    stems = [stem(part.lower()) for part in parts if len(part) > 1 or len(parts) == 1]
    whole = [word.lower()] if len(parts) > 1 else []
    return tuple(map(sys.intern, dict.fromkeys([*stems, *whole])))


_STEMMING = threading.Lock()
"""The stemmer stores its current word, so concurrent threads would get each other's stems, or an error."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word; `normalised` and `normalize` have the same one."""
    word = re.sub(r"(?<=[a-z]{3})is(e|ed|er|es|ing|ation|ations)$", r"iz\1", word)
    word = re.sub(r"(?<=[a-z]{2})our(|s|ed|ing)$", r"or\1", word)
    with _STEMMING:
        return str(_stemmer().stemWord(word))


def kin(stem_: str) -> dict[str, float]:
    """Related words (`parse`: `parser`; `argument`: `arg`), each with the weight of its count, below 1."""
    agents = [f"{stem_}{ending}" for ending in ("er", "or", "e")]
    if stem_.endswith("er") and len(stem_) > 5:
        agents.append(stem(stem_[:-2]))
    found = dict.fromkeys(_abbreviations().get(stem_, ()), 0.5) | dict.fromkeys(agents, 0.7)
    found.pop(stem_, None)
    return found


@cache
def _abbreviations() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in _ABBREVIATED.split("|"):
        same = [stem(word) for word in line.split()]
        for one in same:
            found.setdefault(one, []).extend(other for other in same if other != one)
    return found


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def words_of(text: str) -> list[str]:
    """The distinct words and numbers of a question, in order."""
    return list(dict.fromkeys(re.findall(r"[^\W\d]\w*|\d+", text)))


def stems_of(names: Iterable[str]) -> frozenset[str]:
    """The terms of all the names."""
    return frozenset(term for name in names for word in _WORD.findall(name) for term in terms(word))
