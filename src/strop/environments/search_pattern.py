"""Globs, for the tool `glob` and the option `among`; and the words of a request with which a search starts."""

import fnmatch
import re
from collections.abc import Iterable, Sequence

LONGEST = 500
"""Maximum length of a pattern in characters."""
MOST_BRACES = 64
"""Maximum number of patterns that one pattern with `{a,b}` may expand to."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,60}")
_CODE = re.compile(r"_|[a-z][A-Z]|[A-Za-z][0-9]")
_COMMON = """
the and for not that this with from into when are was has have but can now its use used uses using add added
adds adding fix fixed fixes fixing make makes made more less some all any new old issue issues bug bugs change
changes changed remove removed support see also which should would does doesn instead only than then them they
there one two two via per pull request merge closes resolves test tests code file files update updated improve
improved
"""


def words(text: str) -> list[str]:
    """The distinct identifiers of a text without common words: those that look like code first, then the longest."""
    common = _COMMON.split()
    found = [word for word in dict.fromkeys(_WORD.findall(text)) if word.lower() not in common]
    return sorted(found, key=lambda word: (not _CODE.search(word), -len(word)))


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """The paths that match a glob: `*`, `?`, `[a-z]` inside a name, `**` for any folders, `{a,b}`; one without a slash
    matches a name in any folder. Raises ValueError for a glob that is empty, too long or expands to too many.
    """
    if not pattern.strip() or len(pattern) > LONGEST:
        raise ValueError(f"write a pattern of 1 to {LONGEST} characters, such as **/*.py")
    asked = [one.removeprefix("./").rstrip("/").split("/") for one in _unbraced(pattern.strip())]
    wanted = [["**", *names] if len(names) == 1 else names for names in asked]
    return [path for path in paths if any(_fits(path.split("/"), names) for names in wanted)]


def selected(patterns: Sequence[str], paths: Iterable[str]) -> set[str]:
    """The paths that match one of the globs (all, if there is none), except those that match a glob after `!`."""
    there = set(paths)
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    found = {path for pattern in wanted for path in matching(pattern, there)} if wanted else set(there)
    return found.difference(*(matching(one[1:], there) for one in patterns if one.startswith("!")))


def _fits(names: list[str], wanted: list[str]) -> bool:
    """Whether the names of a path match those of a pattern. Time is proportional to the product of their numbers."""
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
            raise ValueError(f"the pattern expands to more than {MOST_BRACES}; write a simpler one")
        one = waiting.pop()
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if braces is None:
            found.append(one)
        else:
            waiting += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
    return found
