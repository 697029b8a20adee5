"""Stage 2: chooses lines of the files. Skipped if the whole files fit into the prompt.

The policy sees an outline (heads of definitions, with line numbers) and names definitions or ranges of lines. Its
samples vote, and the places with the most votes are shown as long as they fit, with `AROUND` lines on both sides.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from strop.environments.code_words import bag_of
from strop.environments.lexical_ranking import closest
from strop.repair.asking import Asker, prompt
from strop.repair.files_stage import named
from strop.repair.outline import Piece, grown, numbered
from strop_verify.core.rollout import Message
from strop_verify.core.text import without_thinking
from strop_verify.edits.fenced_sections import fenced
from strop_verify.edits.lines import split

AROUND = 10
"""Lines shown above and below a place, as in Agentless."""

Ranges = Mapping[str, Sequence[tuple[int, int]] | None]
"""Path -> ranges of shown lines, counted from 1, both ends included; None = the whole file."""
Place = tuple[str, int, int]

_MOST_LINES, _LONGEST_LINE, _MOST_PLACES = 400, 400, 100
_RANGE = re.compile(r"(?<![\w.])(\d{1,7})\s*(?:-|\u2013|to|:)\s*(\d{1,7})(?![\w.])")
_LINE = re.compile(r"\blines?\b\W{0,3}(\d{1,7})(?![\w.])", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:function|method|class|fn|def|struct)\b\W{0,4}([A-Za-z_][\w.]*)", re.IGNORECASE)


def outline_prompt(
    asker: Asker, issue: str, files: Mapping[str, str], found: Mapping[str, Sequence[Piece]]
) -> list[Message]:
    """The prompt with the heads of as many pieces as fit, those closest to the issue first."""
    order = by_words(issue, files, found)

    def make(count: int) -> list[Message]:
        heads: dict[str, set[int]] = {}
        for path, number in order[:count]:
            heads.setdefault(path, set()).update(found[path][number].heads)
        parts = [f"### {p}\n{fenced(numbered(files[p], sorted(heads[p])))}" for p in files if p in heads]
        return prompt("lines", {"issue": issue, "files": "\n".join(parts)})

    return make(max(1, asker.most(make, len(order))))


def by_words(
    issue: str, files: Mapping[str, str], found: Mapping[str, Sequence[Piece]]
) -> list[tuple[str, int]]:
    """(path, index of the piece) of all pieces, in the order of their BM25 scores for the issue."""
    lines = {path: split(text) for path, text in files.items()}
    bags = {}
    for path in files:
        for number, piece in enumerate(found[path]):
            text = "".join(lines[path][piece.first - 1 : piece.last])
            bags[path, number] = bag_of(path, f"{piece.name}\n{text}")
    return closest(issue, bags)


def places(answer: str, files: Mapping[str, str], found: Mapping[str, Sequence[Piece]]) -> list[Place]:
    """The distinct places that an answer names; lines and names that the files do not have are ignored."""
    out: dict[Place, None] = {}
    path = next(iter(files)) if len(files) == 1 else ""
    for line in without_thinking(answer)[:50_000].splitlines()[:_MOST_LINES]:
        line = line[:_LONGEST_LINE]
        path = next(iter(named(line, files)), path)
        if not path:
            continue
        total = len(split(files[path]))
        spans = [(int(a), int(b)) for a, b in _RANGE.findall(line)]
        spans += [(int(n), int(n)) for n in _LINE.findall(line)] if not spans else []
        for name in _NAMED.findall(line):
            spans += [(p.first, p.last) for p in found[path] if p.name and f".{p.name}".endswith(f".{name}")]
        out |= {(path, a, min(b, total)): None for a, b in spans if 1 <= a <= b and a <= total}
    return list(out)[:_MOST_PLACES]


def choose(
    answers: Sequence[str],
    issue: str,
    files: Mapping[str, str],
    found: Mapping[str, Sequence[Piece]],
    fits: Callable[[Ranges], bool],
) -> tuple[dict[str, list[tuple[int, int]]], int]:
    """(lines of each file, number of places that the policy named): by votes, or by words if none is named, as they
    fit.
    """
    votes = Counter(place for answer in answers for place in places(answer, files, found))
    wanted = [place for place, _ in votes.most_common()]
    if not wanted:
        wanted = [(p, found[p][n].first, found[p][n].last) for p, n in by_words(issue, files, found)]
    totals = {path: len(split(text)) for path, text in files.items()}
    taken: dict[str, list[tuple[int, int]]] = {}
    for path, first, last in wanted:
        new = {**taken, path: grown([*taken.get(path, ()), (first, last)], totals[path])}
        shown = {p: grown(r, totals[p], AROUND) for p, r in new.items()}
        if fits(shown):
            taken = new
        elif taken:
            break
    return {p: grown(r, totals[p], AROUND) for p, r in taken.items()}, len(votes)


def view(files: Mapping[str, str], ranges: Ranges, *, numbers: bool = False) -> str:
    """The files for a prompt: `### path` and the text in a fence, with notes where lines are left out."""
    return "\n".join(
        f"### {path}\n{fenced(_shown(files[path], spans, numbers))}" for path, spans in ranges.items()
    )


def _shown(text: str, spans: Sequence[tuple[int, int]] | None, numbers: bool) -> str:
    lines = split(text)
    if spans is None:
        spans = [(1, len(lines))] if lines else []
    if numbers:
        return numbered(text, [n for a, b in spans for n in range(a, b + 1)])
    out, at = [], 1
    for first, last in spans:
        if first > at:
            out.append(_gap(at, first - 1))
        out += lines[first - 1 : last]
        at = last + 1
    if out and not out[-1].endswith("\n"):
        out.append("\n")
    return "".join([*out, *([_gap(at, len(lines))] if at <= len(lines) else [])])


def _gap(first: int, last: int) -> str:
    return f"[lines {first}-{last} are not shown]\n"
