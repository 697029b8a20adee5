"""Patterns of `grep` and `glob`: what the policy may write, and that it means the same to ripgrep and to Python.

`grep` takes the regular expressions that both read alike: characters, `.`, `^`, `$`, classes, groups, `|`, `*`, `+`,
`?`, `{2,5}`, lazy ones too, `\\b`, `\\d`, `\\w`, `\\s` and their opposites, and `(?i)` in front. Letters are those of
ASCII to `\\w`, `\\b` and `(?i)`. Whatever else it is given, such as `def total(`, is looked for as a text.
"""

import fnmatch
import re
from collections.abc import Iterable, Sequence

LONGEST = 500
"""Characters of a pattern."""
MOST_REPEATED = 200
"""Of `{n}`, those inside each other multiplied: ripgrep unrolls them."""
MOST_NESTED = 50
"""Groups inside each other."""
MOST_BRACES = 64
"""Patterns that one with `{a,b}` stands for."""
_CLASSES, _BOUNDARIES = "dDwWsS", "bB"
_QUANTIFIER = re.compile(r"(?:[*+?]|\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\})\??")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,60}")
_CODE = re.compile(r"_|[a-z][A-Z]|[A-Za-z][0-9]")
_COMMON = """
the and for not that this with from into when are was has have but can now its use used uses using add added
adds adding fix fixed fixes fixing make makes made more less some all any new old issue issues bug bugs change
changes changed remove removed support see also which should would does doesn instead only than then them they
there one two two via per pull request merge closes resolves test tests code file files update updated improve
improved
"""
_META = frozenset("\\.+*?()|[]{}^$#&-~")
_MEMBER = re.compile(r"\\[dDwWsSt]|(?:\\[^\w\s]|[^\\\[\]^&~\-])(?:-(?:\\[^\w\s]|[^\\\[\]^&~\-]))?|-")


class _NoPattern(Exception):
    """The text is no regular expression that both engines read alike."""


def expression(pattern: str) -> tuple[str, bool]:
    """(the regular expression that is looked for, whether the pattern is none and is looked for as a text).

    Raises ValueError for an empty one, one that is too long, or of more than one line.
    """
    if not pattern.strip() or len(pattern) > LONGEST or not pattern.isprintable():
        raise ValueError(f"write a pattern of one line, of 1 to {LONGEST} characters")
    caseless = pattern.startswith("(?i)")
    head, text = ("(?i)", pattern[4:]) if caseless else ("", pattern)
    try:
        return head + _Reader(text).all(), False
    except _NoPattern:
        return head + literal(text), True


def literal(text: str) -> str:
    """The expression for a text itself."""
    return "".join(_character(one) for one in text)


def _character(one: str) -> str:
    if one.isascii():
        return f"\\{one}" if one in _META else one
    return "(?:" + "".join(f"\\x{byte:02x}" for byte in one.encode()) + ")"


class _Reader:
    """Reads one expression and writes it again, so that a byte of UTF-8 is a byte."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._nested = text, 0, 0

    def all(self) -> str:
        found, repeated = self._alternatives()
        if self._at < len(self._text) or repeated > MOST_REPEATED:
            raise _NoPattern
        return found

    def _alternatives(self) -> tuple[str, int]:
        """The expression up to a bracket that ends it, and how often its parts may be repeated by numbers."""
        parts, repeated = [""], 1
        while self._at < len(self._text) and self._text[self._at] != ")":
            if self._text[self._at] == "|":
                self._at += 1
                parts.append("")
                continue
            piece, times = self._piece()
            parts[-1] += piece
            repeated = max(repeated, times)
        if len(parts) > 1 and not all(parts):
            raise _NoPattern
        return "|".join(parts), repeated

    def _piece(self) -> tuple[str, int]:
        begun = self._at
        atom, repeated = self._atom()
        match = _QUANTIFIER.match(self._text, self._at)
        if match is None:
            return atom, repeated
        if self._text[begun] in "^$" or self._text[begun : begun + 2] in ("\\b", "\\B"):
            raise _NoPattern
        self._at = match.end()
        if match[1]:
            least, most = int(match[1]), int(match[3] or match[1])
            if most < least:
                raise _NoPattern
            repeated *= max(1, most)
        if _QUANTIFIER.match(self._text, self._at):
            raise _NoPattern
        return f"(?:{atom}){match[0]}" if len(atom) > 2 else atom + match[0], repeated

    def _atom(self) -> tuple[str, int]:
        one, self._at = self._text[self._at], self._at + 1
        if one == "(":
            return self._group()
        if one == "[":
            return self._class(), 1
        if one == "\\":
            return self._escape(), 1
        if one in "*+?{}])":
            raise _NoPattern
        return (one if one in ".^$" else _character(one)), 1

    def _group(self) -> tuple[str, int]:
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._text.startswith("?", self._at):
            raise _NoPattern
        self._nested += 1
        if self._nested > MOST_NESTED:
            raise _NoPattern
        inner, repeated = self._alternatives()
        if not inner or not self._text.startswith(")", self._at):
            raise _NoPattern
        self._nested -= 1
        self._at += 1
        return f"(?:{inner})", repeated

    def _escape(self) -> str:
        one = self._text[self._at : self._at + 1]
        self._at += 1
        if one in ("", *"0123456789") or (one.isalnum() and one not in _CLASSES + _BOUNDARIES + "t"):
            raise _NoPattern
        return f"\\{one}" if one.isalnum() else _character(one)

    def _class(self) -> str:
        end = re.compile(r"\^?(?:\\.|[^\]\\])+\]").match(self._text, self._at)
        if end is None or not end[0].isascii():
            raise _NoPattern
        inner = end[0][:-1]
        negated = inner.startswith("^")
        members, at = inner[negated:], 0
        while at < len(members):
            member = _MEMBER.match(members, at)
            if member is None or (member[0] == "-" and 0 < at < len(members) - 1):
                raise _NoPattern
            first, _, last = (
                member[0].replace("\\", "").partition("-") if len(member[0]) > 2 else ("", "", "")
            )
            if last and first > last:
                raise _NoPattern
            at = member.end()
        self._at = end.end()
        return f"[{'^' * negated}{members}]"


def words(text: str) -> list[str]:
    """Different identifiers of a text, those that look like code first, then the longest."""
    common = _COMMON.split()
    found = [word for word in dict.fromkeys(_WORD.findall(text)) if word.lower() not in common]
    return sorted(found, key=lambda word: (not _CODE.search(word), -len(word)))


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """The paths that a glob names: `*`, `?`, `[a-z]` inside a name, `**` for any folders, `{a,b}`; without a slash it
    is a name in any folder. Raises ValueError for one that is empty, too long or stands for too many.
    """
    if not pattern.strip() or len(pattern) > LONGEST:
        raise ValueError(f"write a pattern of 1 to {LONGEST} characters, such as **/*.py")
    asked = [one.removeprefix("./").rstrip("/").split("/") for one in _unbraced(pattern.strip())]
    wanted = [["**", *names] if len(names) == 1 else names for names in asked]
    return [path for path in paths if any(_fits(path.split("/"), names) for names in wanted)]


def selected(patterns: Sequence[str], paths: Iterable[str]) -> set[str]:
    """The paths that one of some globs names, all if there is none, but for those that a glob behind `!` names."""
    there = set(paths)
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    found = {path for pattern in wanted for path in matching(pattern, there)} if wanted else set(there)
    return found.difference(*(matching(one[1:], there) for one in patterns if one.startswith("!")))


def _fits(names: list[str], wanted: list[str]) -> bool:
    """Whether names of a path fit a pattern's; in time that is the product of their numbers."""
    fitting = {0}
    for one in wanted:
        if one == "**":
            fitting = set(range(min(fitting), len(names) + 1))
        else:
            fitting = {at + 1 for at in fitting if at < len(names) and fnmatch.fnmatchcase(names[at], one)}
        if not fitting:
            return False
    return len(names) in fitting


def _unbraced(pattern: str) -> list[str]:
    found, waiting = list[str](), [pattern]
    while waiting:
        if len(found) + len(waiting) > MOST_BRACES:
            raise ValueError(f"the pattern stands for more than {MOST_BRACES}; write a simpler one")
        one = waiting.pop()
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if braces is None:
            found.append(one)
        else:
            waiting += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
    return found
