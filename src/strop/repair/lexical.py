"""BM25 over code: which texts share the rare words of an issue. This is the ranking if a policy names nothing."""

import math
import re
from collections import Counter
from collections.abc import Mapping

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_K1, _B = 1.2, 0.75
"""Saturation of a word's count and weight of the text's length, the usual values (Robertson and Zaragoza, 2009)."""


def words(text: str) -> Counter[str]:
    """Lower-case names of a text and the parts of those written in snake or camel case."""
    found: Counter[str] = Counter()
    for name, count in Counter(_WORD.findall(text)).items():
        whole = name.lower()
        found[whole] += count
        for part in {p.lower() for p in _PART.findall(name)} - {whole}:
            if len(part) > 1:
                found[part] += count
    return found


def bm25(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Key -> score of its text for the query, at least 0. The keys count as text too, three times."""
    bags = {key: words(f"{key} {key} {key}\n{text}") for key, text in texts.items()}
    lengths = {key: sum(bag.values()) for key, bag in bags.items()}
    mean = sum(lengths.values()) / max(1, len(lengths)) or 1.0
    scores = dict.fromkeys(texts, 0.0)
    for word in words(query):
        having = [key for key, bag in bags.items() if word in bag]
        rarity = math.log(1 + (len(bags) - len(having) + 0.5) / (len(having) + 0.5))
        for key in having:
            count = bags[key][word]
            scores[key] += rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[key] / mean))
    return scores


def ranked(query: str, texts: Mapping[str, str]) -> list[str]:
    """The keys, best first; equal ones in their order."""
    scores = bm25(query, texts)
    return sorted(texts, key=lambda key: -scores[key])
