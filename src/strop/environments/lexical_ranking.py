"""Ranks texts by relevance to a plain-language question, without a model: BM25 over files and their chunks.

    files = ranked("where are prices rounded", bags, lambda path: chunk_bags(path, texts[path]))
    files[0].path, files[0].spans          # the best file and the lines of its best chunks

The score of a file is its kind's factor times the sum of its own BM25, its best chunk's, and its name's score. Each
BM25 is multiplied by coverage^COVERED.

- BM25 in Lucene's variant: idf * c / (c + K1 (1 - B + B L / mean L)), with c the count of `code_words`, L the number of
  words in the text, and idf = log(1 + (N - n + .5) / (n + .5)) for a word in n of N files. N, n and mean L are computed
  for each question, since files change. The package bm25s precomputes scores and would have to rebuild its index after
  each change; tests compare our scores with its own.
- A word of the question and its kin (`code_words.kin`) are treated as one word with the sum of their counts.
- Coverage is the share of the question's total idf whose words are in the text.
- The name's score is the idf, among names, of the words that the question shares with a file's name and two folders.
- Only the CANDIDATES files that rank best without chunks are cut into chunks. Chunks use the idf of files.

K1 and B: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009. Lucene's variant:
Kamphuis et al., Which BM25 Do You Mean?, ECIR 2020. The other numbers are ours (experiments/LOG.md).
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Generic, TypeVar

from strop.environments.code_words import Bag, bag_of, is_program, kin, language_at, stems_of, terms, words_of
from strop_verify.code.chunks import chunks
from strop_verify.core.ranges import Range

Key = TypeVar("Key")

K1, B = 1.2, 0.75
COVERED = 0.5
NAMED, IN_FOLDER = 0.9, 0.25
"""Weight of a file's name, divided by the square root of its number of words, and of its folders' names."""
GLUED = 4
"""Minimum length of a word that may match the beginning or end of a name's word, as `cache` in `dircache`."""
CANDIDATES = 20
WHOLE, PART, WEAK = 2.0, 1.0, 0.2
"""Weights of a question's words: an identifier, each of its parts, and words that occur in any question."""
MOST_WORDS = 200
"""Maximum number of a question's words that count."""
FACTORS = {"test": 0.3, "document": 0.4, "data": 0.3, "declaration": 0.75}
"""Factors on the scores of each kind of file. Third-party, generated and hidden files count as documents; anything that
is not source code is data; declarations are files such as exceptions.py and __init__.py.
"""
SECOND = 0.6
"""A file's second chunk is shown if it reaches this share of the best chunk's score."""
_STOP = """
a about above after all also am an and any are as at be because been before being below between both but by can
could did do does doing done down during each else few find for from further had has have having he her here hers
him his how i if in into is it its itself just look looking me more most my no nor not of off on once one only or
other our out over own place places please same she should show so some such tell than that the their them then
there these they this those through to too under until up very was we were what when where which while who whom
whose why will with would you your code
"""
_WEAK = """
call called calls class classes come comes decide decided define defined defines definition file files function
functions get gets give given got handle handled handles happen happens implement implementation implemented
implements keep kept made make makes making method methods module part put puts responsible see set take taken
takes use used uses using way work works
"""
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "testdata", "__tests__", "spec", "specs", "fixtures"})
_OTHER_FOLDERS = frozenset({
    "bench", "benchmark", "benchmarks", "demo", "doc", "docs", "downstream", "example", "examples", "extra", "misc",
    "node_modules", "perf", "samples", "scripts", "third_party", "tools", "vendor", "_vendor", "vendored",
})  # fmt: skip
_TEST_NAME = re.compile(r"test_|conftest\.|tests?\.rs$|.*[._](?:test|spec)\.\w+$")
_MADE = re.compile(r".*(?:\.min\.\w+|_pb2(?:_grpc)?\.pyi?|\.generated\.\w+)$")
_DECLARES = re.compile(
    r"_*(?:__init__|exceptions?|errors?|types?|typing|constants?|warnings?|version|compat)_*\.\w+$"
)
_DOCUMENTS = re.compile(
    r"(?i)\b(?:docs?|documentation|documented|readme|examples?|benchmarks?|scripts?|changelog)\b"
)
_ASKED = {
    "test": re.compile(r"(?i)\b(?:tested|unit tests?|test cases?|which tests?|tests? (?:for|of))\b"),
    "document": _DOCUMENTS,
    "data": _DOCUMENTS,
    "declaration": re.compile(
        r"(?i)exception|error|warning|raise|\btyp(?:e|es|ing)\b|constant|version|compat|export"
    ),
}
"""Patterns in a question that ask for files of each kind."""
_FILE_NAME = re.compile(r"[\w./-]*\w\.\w{1,5}\b")


@dataclass(frozen=True, slots=True)
class WantedWord:
    """A word of a question: its weight, and the terms that count for it, with their shares."""

    weight: float
    terms: Mapping[str, float]
    weak: bool = False


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file with its score (above 0) and line ranges, best first.

    spans   of its best one or two chunks
    chunks  of all its chunks, each with its score, at least 0
    """

    path: str
    score: float
    spans: tuple[Range, ...]
    chunks: tuple[tuple[float, Range], ...] = ()


@dataclass(frozen=True)
class LexicalScores(Generic[Key]):
    """Scores of texts by their keys.

    bm25      at least 0
    coverage  0 to 1
    idfs      the idf of each wanted word
    holding   the number of texts that hold each wanted word
    """

    bm25: Mapping[Key, float]
    coverage: Mapping[Key, float]
    idfs: Sequence[float]
    holding: Sequence[int]

    def covered(self) -> dict[Key, float]:
        """BM25 times the root of the coverage."""
        return {key: score * self.coverage[key] ** COVERED for key, score in self.bm25.items()}


def wanted(question: str) -> list[WantedWord]:
    """The words of a question that count, at most MOST_WORDS. Identifiers weigh more than prose and have no kin."""
    found: list[WantedWord] = []
    for word in words_of(question):
        stems = terms(word)
        if word.lower() in _listed(_STOP) or not stems:
            continue
        if len(stems) > 1:
            found.append(WantedWord(WHOLE, {stems[-1]: 1.0}))
            found += [WantedWord(PART, {one: 1.0}) for one in stems[:-1]]
        else:
            weak = word.lower() in _listed(_WEAK)
            found.append(WantedWord(WEAK if weak else 1.0, {stems[0]: 1.0, **kin(stems[0])}, weak))
    once = {tuple(one.terms): one for one in reversed(found)}
    return [one for one in found if once[tuple(one.terms)] is one][:MOST_WORDS]


def words_asked(question: str) -> list[str]:
    """The distinctive words of a question, identifiers whole, each once."""
    known = _listed(_STOP) | _listed(_WEAK)
    return [word for word in dict.fromkeys(words_of(question)) if word.lower() not in known and terms(word)]


@cache
def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


def scored(
    words: Sequence[WantedWord], bags: Mapping[Key, Bag], idfs: Sequence[float] | None = None
) -> LexicalScores[Key]:
    """BM25 of each bag, with the given idfs or those of these bags."""
    mean = sum(bag.length for bag in bags.values()) / max(1, len(bags)) or 1.0
    norms = {key: K1 * (1 - B + B * bag.length / mean) for key, bag in bags.items()}
    bm25, held = dict.fromkeys(bags, 0.0), dict.fromkeys(bags, 0.0)
    used, holding, total = list[float](), list[int](), 0.0
    for number, word in enumerate(words):
        counts = {key: count for key, bag in bags.items() if (count := _count(word, bag))}
        idf = _idf(len(counts), len(bags)) if idfs is None else idfs[number]
        used.append(idf)
        holding.append(len(counts))
        total += word.weight * idf if counts else 0.0
        for key, count in counts.items():
            bm25[key] += word.weight * idf * count / (count + norms[key])
            held[key] += word.weight * idf
    return LexicalScores(
        bm25, {key: one / total if total else 0.0 for key, one in held.items()}, used, holding
    )


def _count(word: WantedWord, bag: Bag) -> float:
    return sum(share * bag.counts[term] for term, share in word.terms.items() if term in bag.counts)


def _idf(holding: int, of: int) -> float:
    return math.log(1 + (of - holding + 0.5) / (holding + 0.5))


def closest(question: str, bags: Mapping[Key, Bag]) -> list[Key]:
    """The keys of the texts, best match first; ties keep their order."""
    scores = scored(wanted(question), bags).covered()
    return sorted(bags, key=lambda key: -scores[key])


def file_scores(question: str, bags: Mapping[str, Bag]) -> tuple[dict[str, float], Sequence[float]]:
    """(path -> score of the whole file, at least 0; the idf of each wanted word).

    All scores are 0 if the question has distinctive words but no file holds any of them and no name matches.
    """
    words = wanted(question)
    scores = scored(words, bags)
    names = _name_scores(words, bags)
    mentioned = _mentioned(question, bags)
    strong = [held for held, word in zip(scores.holding, words, strict=True) if not word.weak]
    if strong and not any(strong) and not any(names.values()) and not mentioned:
        return dict.fromkeys(bags, 0.0), scores.idfs
    most = sum(word.weight * idf for word, idf in zip(words, scores.idfs, strict=True))
    whole = {
        path: (score + names[path] + most * (path in mentioned)) * demotion(path, question)
        for path, score in scores.covered().items()
    }
    return whole, scores.idfs


def ranked(
    question: str, bags: Mapping[str, Bag], chunks_of: Callable[[str], Mapping[Range, Bag]]
) -> list[RankedFile]:
    """The files that a question may be about, best first, at most CANDIDATES; ties are ordered by path.

    bags       path -> bag of the file
    chunks_of  gives, for a path, line range -> bag of each chunk; empty for a file that is gone
    """
    whole, idfs = file_scores(question, bags)
    best = sorted((path for path in whole if whole[path] > 0), key=lambda path: (-whole[path], path))
    best = best[:CANDIDATES]
    pieces = {(path, span): bag for path in best for span, bag in chunks_of(path).items()}
    spans: dict[str, list[tuple[float, Range]]] = {path: [] for path in best}
    for (path, span), score in scored(wanted(question), pieces, idfs).covered().items():
        spans[path].append((score, span))
    files = [_ranked_file(path, whole[path], spans[path], demotion(path, question)) for path in best]
    return sorted(files, key=lambda file: (-file.score, file.path))


def _ranked_file(path: str, score: float, found: list[tuple[float, Range]], factor: float) -> RankedFile:
    best = sorted(found, key=lambda one: (-one[0], one[1]))
    top = best[0][0] if best else 0.0
    shown = [span for one, span in best[:2] if one >= SECOND * top]
    chunks = tuple((factor * one, span) for one, span in best)
    return RankedFile(path, score + factor * top, tuple(shown[: 2 if top else 1]), chunks)


def best_chunks(files: Sequence[RankedFile], most: int) -> dict[str, list[Range]]:
    """Path -> line ranges of at most `most` chunks, best first.

    Half of them are the best chunks of the best files, one each; the rest are the best of all chunks that hold a word
    of the question, by their own score and their file's.
    """
    heads = [(file.path, span) for file in files[: (most + 1) // 2] for _, span in file.chunks[:1]]
    every = [(file.score + one, file.path, span) for file in files for one, span in file.chunks if one > 0]
    rest = [(path, span) for _, path, span in sorted(every, key=lambda one: -one[0])]
    found: dict[str, list[Range]] = {}
    for path, span in [*dict.fromkeys([*heads, *rest])][:most]:
        found.setdefault(path, []).append(span)
    return found


def chunk_bags(path: str, text: str) -> dict[Range, Bag]:
    """Line range -> bag of each chunk of a file."""
    lines = text.split("\n")
    return {(a, b): bag_of(path, "\n".join(lines[a - 1 : b])) for a, b in chunks(text, language_at(path))}


def _name_scores(words: Sequence[WantedWord], paths: Mapping[str, object]) -> dict[str, float]:
    out = dict.fromkeys(paths, 0.0)
    for word in words:
        shares = {path: share for path in paths if (share := _named(word, *_names(path)))}
        idf = _idf(len(shares), len(out))
        for path, share in shares.items():
            out[path] += word.weight * idf * share
    return out


def _named(word: WantedWord, name: frozenset[str], folders: frozenset[str]) -> float:
    inside = [
        NAMED * share / math.sqrt(len(name))
        for term, share in word.terms.items()
        if term in name
        or (len(term) >= GLUED and any(one.startswith(term) or one.endswith(term) for one in name))
    ]
    above = [IN_FOLDER * share for term, share in word.terms.items() if term in folders]
    return max([*inside, *above], default=0.0)


@lru_cache(maxsize=1 << 17)
def _names(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of a file's name (of its folder's, for names such as `__init__`), and of the two folders above it."""
    *folders, last = path.split("/")
    name = last.partition(".")[0]
    if name in ("__init__", "mod", "index") and folders:
        name = folders[-1]
    return stems_of([name]), stems_of(folders[-2:])


def _mentioned(question: str, paths: Mapping[str, object]) -> set[str]:
    """The paths that a question mentions, in full or by their last parts: `cart.py`, `shop/cart.py`."""
    names = {name.removeprefix("./") for name in _FILE_NAME.findall(question)}
    return {path for path in paths if names and any(f"/{path}".endswith(f"/{name}") for name in names)}


def demotion(path: str, question: str = "") -> float:
    """The factor on a file's score: the product of FACTORS of its kinds that the question does not ask for, else 1."""
    return math.prod(FACTORS[kind] for kind in _kinds(path) - _kinds_asked(question))


@lru_cache(maxsize=16)
def _kinds_asked(question: str) -> frozenset[str]:
    return frozenset(kind for kind, asks in _ASKED.items() if asks.search(question))


@lru_cache(maxsize=1 << 17)
def _kinds(path: str) -> frozenset[str]:
    *folders, name = path.lower().split("/")
    above = set(folders)
    hidden = any(folder.startswith(".") for folder in folders)
    found = {
        "test": above & _TEST_FOLDERS or _TEST_NAME.match(name),
        "document": hidden or above & _OTHER_FOLDERS or _MADE.match(name),
        "data": not is_program(name),
        "declaration": _DECLARES.match(name),
    }
    return frozenset(kind for kind, it_is in found.items() if it_is)
