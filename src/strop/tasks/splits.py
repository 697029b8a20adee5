"""Finds near-duplicates, and splits tasks into train and held-out so that they stay on the same side.

Similarity is the exact Jaccard index over shingles, found through an inverted index with the prefix filter of Bayardo,
Ma and Srikant, "Scaling up all pairs similarity search", 2007: no pair is missed and no randomness enters.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.ids import unit_interval
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Split, Task

STATEMENT_THRESHOLD = 0.6
CODE_THRESHOLD = 0.85
SMALL_CODE = 14
"""References with fewer syntax nodes than this are compared including constants: `x[::2]` is not `x[::-1]`."""
TEMPLATE = 20
"""A run of words belongs to a template if at least this many statements, and half of all, contain it."""


SMALL_RUST = 40
"""`SMALL_CODE` for Rust, in tokens, including the signature."""
_RUST_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|\w+|[^\s\w]')
_RUST_BINDING = re.compile(r"\b(?:fn|let|mut|for|struct|enum)\s+(\w+)|(?<=[(,|{\s&])(\w+)(?=\s*:[^:])")


def assign_splits(tasks: Sequence[Task], held_out_fraction: float = 0.35, seed: int = 0) -> list[Task]:
    """The tasks, in order, each with a split; near-duplicates are on the same side.

    A hash of a cluster's smallest id decides its side, so adding a task later moves no other one unless it joins
    clusters (or turns words into a template, see `_told_shingles`). A split that a task already has stays, and its
    cluster follows it; held-out wins over train.
    """
    result = list(tasks)
    if all(task.split for task in tasks):
        return result
    for cluster in clusters(tasks):
        declared = {tasks[i].split for i in cluster}
        side: Split
        if "held-out" in declared:
            side = "held-out"
        elif "train" in declared:
            side = "train"
        else:
            side = side_of(min(tasks[i].id for i in cluster), held_out_fraction, seed)
        for i in cluster:
            if tasks[i].split is None:
                result[i] = tasks[i].model_copy(update={"split": side})
    return result


def side_of(smallest: str, held_out_fraction: float, seed: int = 0) -> Split:
    """The split of the cluster with this smallest id."""
    return "held-out" if unit_interval("split", seed, smallest) < held_out_fraction else "train"


def clusters(tasks: Sequence[Task]) -> list[list[int]]:
    """Groups of positions: near-duplicates, also indirect ones, and tasks with the same `metadata["pair"]`."""
    groups: dict[int, list[int]] = defaultdict(list)
    for i, first in enumerate(joined(len(tasks), (*declared_pairs(tasks), *near_duplicates(tasks)))):
        groups[first].append(i)
    return list(groups.values())


def joined(count: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Connected components: for each of `count` nodes, the smallest member. Union by smaller root, path halving."""
    parent = list(range(count))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in pairs:
        x, y = root(a), root(b)
        parent[max(x, y)] = min(x, y)
    return [root(i) for i in range(count)]


def declared_pairs(tasks: Sequence[Task]) -> Iterator[tuple[int, int]]:
    """Pairs of positions of tasks that declare that they belong together, by the text `metadata["pair"]`."""
    first: dict[str, int] = {}
    for i, task in enumerate(tasks):
        pair = task.metadata.get("pair")
        if isinstance(pair, str) and pair and first.setdefault(pair, i) != i:
            yield first[pair], i


def near_duplicates(tasks: Sequence[Task]) -> Iterator[tuple[int, int]]:
    """Pairs of positions with similar statements or similar references."""
    yield from similar_pairs(_told_shingles(tasks), STATEMENT_THRESHOLD)
    yield from similar_pairs([code_shingles(t.reference, t.language) for t in tasks], CODE_THRESHOLD)


def similar_pairs(sets: Sequence[frozenset[str]], threshold: float) -> Iterator[tuple[int, int]]:
    """Every pair (a, b), a < b, of non-empty sets with a Jaccard index of at least `threshold` > 0."""
    counts = Counter(item for s in sets for item in s)
    index: dict[str, list[int]] = defaultdict(list)
    for b, current in enumerate(sets):
        prefix = _rarest(current, counts, threshold)
        candidates = sorted({a for item in prefix for a in index[item]})
        for a in candidates:
            less, more = sorted((len(current), len(sets[a])))
            shared = len(current & sets[a]) if less >= threshold * more else 0
            if shared and shared >= threshold * (len(current) + len(sets[a]) - shared):
                yield a, b
        for item in prefix:
            index[item].append(b)


def similar_across(
    sets: Sequence[frozenset[str]], others: Sequence[frozenset[str]], threshold: float
) -> list[int]:
    """Positions in `sets` with a Jaccard index of at least `threshold` > 0 with one of `others`."""
    counts = Counter(item for some in (sets, others) for s in some for item in s)
    index: dict[str, list[int]] = defaultdict(list)
    for number, other in enumerate(others):
        for item in _rarest(other, counts, threshold):
            index[item].append(number)
    found = []
    for position, current in enumerate(sets):
        candidates = {
            number for item in _rarest(current, counts, threshold) for number in index.get(item, ())
        }
        if any(len(current & others[n]) >= threshold * len(current | others[n]) for n in candidates):
            found.append(position)
    return found


def _rarest(items: frozenset[str], counts: Counter[str], threshold: float) -> list[str]:
    """The rarest items of a set: two sets that reach the threshold share at least one of these."""
    rare_first = sorted(items, key=lambda item: (counts[item], item))
    return rare_first[: len(items) - ceil(threshold * len(items)) + 1]


def alike_statements(tasks: Sequence[Task], others: Sequence[Task]) -> list[int]:
    """Positions of the tasks whose statement is a near-duplicate of one in `others`."""
    told = _told_shingles([*tasks, *others])
    return similar_across(told[: len(tasks)], told[len(tasks) :], STATEMENT_THRESHOLD)


def _told_shingles(tasks: Sequence[Task]) -> list[frozenset[str]]:
    """The shingles of each statement, without those of a template that many share ("Implement NAME in FILE: write its
    body ..."); if none is left, one for the whole statement, so that equal statements match.
    """
    sets = [statement_shingles(task.statement) for task in tasks]
    counts = Counter(item for one in sets for item in one)
    least = max(TEMPLATE, len(sets) / 2)
    template = {item for item, count in counts.items() if count >= least}
    return [one - template or (one and frozenset({" ".join(sorted(one))})) for one in sets]


def statement_shingles(statement: str) -> frozenset[str]:
    """Runs of three lower-case words; the whole text if it is shorter."""
    return _shingles(re.findall(r"\w+", statement.lower()), 3)


def code_shingles(source: str, language: str = "python") -> frozenset[str]:
    """Runs of four nodes of Python's syntax tree or of four Rust tokens, without the author's names; else empty."""
    if language == "rust":
        return _shingles(_rust_labels(source), 4)
    if language != "python":
        return frozenset()
    try:
        tree = syntax_tree(source)
        tree.body = [n for n in tree.body if not isinstance(n, ast.Import | ast.ImportFrom)]
        if not tree.body:
            return frozenset()
        nodes = list(ast.walk(tree))
        labels = list(_labels(tree, _own_names(nodes), keep_constants=len(nodes) < SMALL_CODE))
    except UNPARSABLE:
        return frozenset()
    return _shingles(labels, 4)


def _rust_labels(source: str) -> list[str]:
    """The tokens of Rust source without the names that it binds itself; short code keeps its constants."""
    tokens = _RUST_TOKEN.findall(re.sub(r"//[^\n]*", "", source))
    own = {name for found in _RUST_BINDING.findall(source) for name in found} - {"", "mut"}
    keep = len(tokens) < SMALL_RUST
    return [
        "own" if t in own else t if keep or not (t[0].isdigit() or t[0] in "\"'") else "constant"
        for t in tokens
    ]


def _shingles(items: list[str], width: int) -> frozenset[str]:
    if len(items) < width:
        return frozenset([" ".join(items)] if items else [])
    return frozenset(" ".join(items[i : i + width]) for i in range(len(items) - width + 1))


def _own_names(nodes: list[ast.AST]) -> set[str]:
    """Names that the source binds itself: arguments, variables, functions."""
    own: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
    return own


def _labels(node: ast.AST, own: set[str], keep_constants: bool) -> Iterator[str]:
    """One label per node, parents first; annotations and decorators are left out."""
    if isinstance(node, ast.Name):
        yield "own" if node.id in own else node.id
    elif isinstance(node, ast.Attribute):
        yield f".{node.attr}"
    elif isinstance(node, ast.Constant):
        yield repr(node.value) if keep_constants else type(node.value).__name__
    else:
        yield type(node).__name__
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "ctx"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _labels(child, own, keep_constants)
