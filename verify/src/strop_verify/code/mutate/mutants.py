"""Puts small faults into the code under test: the same ones for the same text and seed.

Only code that the tests can reach by name is changed, and never tests, attributes, types, patterns, macro definitions,
messages of panics, or what decides whether a `while` or `loop` ends (such mutants mostly burn time). Equivalent
mutants cannot be distinguished from missed ones, so a score below 1 does not prove weak tests; a score of 0 nearly
does.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from strop_verify.code.mutate import python_sites, rust_sites
from strop_verify.code.mutate.sites import OPERATORS, Change, applied
from strop_verify.code.trees import Source, Span, well_formed


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault, and the whole text with it."""

    operator: str
    span: Span
    """The replaced characters of the original."""
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.operator}, `{_short(self.before)}` to `{_short(self.after)}`"


def mutants(code: str, language: str, *, seed: int, limit: int = 8) -> list[Mutant]:
    """At most `limit` mutants of `code`, spread over operators, functions and lines, in order of position.

    Each differs from `code`, and parses without error if `code` does. Empty if the text is too long or has nothing to
    change. Raises UserError for an unknown language.
    """
    source = Source(code, language)
    if source.too_long:
        return []
    find = rust_sites.sites if language == "rust" else python_sites.sites
    sites = list(dict.fromkeys(find(source)))
    whole = not source.root.has_error
    chosen: list[Mutant] = []
    seen = {source.data}
    for site in islice(_ranked(sites, source, seed), 8 * limit):
        if len(chosen) >= limit:
            break
        data = applied(source.data, [site])
        if data in seen or (whole and not well_formed(data, language)):
            continue
        seen.add(data)
        chosen.append(_mutant(site, source, data))
    return sorted(chosen, key=lambda m: (m.span, m.after))


def _ranked(sites: list[Change], source: Source, seed: int) -> Iterator[Change]:
    """The sites in the order of choice: shuffled, then the least used operator, function and line first."""
    digest = sha256(source.data).hexdigest()
    pool = sorted(sites, key=lambda s: (s.start, s.end, s.operator, s.after))
    random.Random(f"{seed}/{digest}").shuffle(pool)
    preference = {operator: rank for rank, operator in enumerate(OPERATORS)}
    operators: Counter[str] = Counter()
    places: Counter[int] = Counter()
    lines: Counter[int] = Counter()
    by_line = {site: source.line(site.start) for site in pool}
    while pool:
        best = min(
            pool,
            key=lambda s: (operators[s.operator] + places[s.unit], lines[by_line[s]], preference[s.operator]),
        )
        pool.remove(best)
        operators[best.operator] += 1
        places[best.unit] += 1
        lines[by_line[best]] += 1
        yield best


def _mutant(site: Change, source: Source, data: bytes) -> Mutant:
    return Mutant(
        site.operator,
        source.characters(site.start, site.end),
        source.line(site.start),
        source.data[site.start : site.end].decode("utf-8", "surrogatepass"),
        site.after,
        data.decode("utf-8", "surrogatepass"),
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."
