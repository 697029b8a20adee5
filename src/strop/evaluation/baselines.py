"""Baselines: answers of a scripted policy that need no model.

Search tasks:
words         what `strop search` answers: up to three files, each with its best one or two functions or classes
words-first   only the first of these files
bm25-files    the whole file that BM25 ranks first for the request
bm25-chunks   the CHUNKS pieces of CHUNK lines that BM25 ranks first
grep          lines around those with the most distinct identifiers of the request, in the files with the most
random        one piece of one file with the ending of a file that matters
oracle        the places themselves: the best possible score

BM25 (bm25s, Lucene's variant, k1 1.5, b .75) and the others index the identifiers in source files and the words in
them.

Next edits:
repeat  the last change again, elsewhere in the window: if an edit replaced words, the same change in the nearest line
        that still has them; else silence
silent  silence, which gains and loses nothing
oracle  the person's next edit

Tool worlds:
oracle  the calls of a known plan that change something
random  RANDOM calls of any tools, with words of the request or names in the world as text arguments
empty   finish at once
"""

import json
import re
import tempfile
import typing
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from rapidfuzz.distance import Postfix, Prefix

from strop.config.schema import Recipe
from strop.environments.locator import FILES, LEAST, ranked_files
from strop.environments.search_pattern import selected, words
from strop.environments.search_tools import SearchTools
from strop.environments.search_tree import SearchTree, tree_of_check
from strop.environments.toolbox import tools_of
from strop.environments.world import world_tools
from strop.policies.tool_calls import CALL_FORMS, ToolCall
from strop.tasks.next_edit import answer_for
from strop.tasks.tool_worlds import WORLDS
from strop.tasks.tool_worlds.world import Call, parts, read_calls, replayed
from strop_verify.core.checks import NextEditCheck, RetrievalCheck, WorldCheck
from strop_verify.core.errors import UserError
from strop_verify.core.ids import rng
from strop_verify.core.optional_packages import require
from strop_verify.core.ranges import Ranges, merged, write_ranges
from strop_verify.core.task import Task
from strop_verify.edits.languages import LANGUAGES

CHUNK, CHUNKS = 20, 2
"""Lines of a piece, and pieces of an answer."""
AROUND = 5
"""Context lines before and after a line that grep finds."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Baseline = Callable[[Task, SearchTree, int], Ranges]
"""(task, its tree, seed) -> the answer."""
Chunk = tuple[str, int, int]
"""(path, first line, last line)"""


_PIECE = re.compile(r"\w+|\s+|.")


def repeat(check: NextEditCheck) -> str:
    """The newest change of a line that can be repeated."""
    for edit in reversed(check.history):
        if len(edit.old) != len(edit.new):
            continue
        for old, new in zip(edit.old, edit.new, strict=True):
            before, after = _changed(old, new)
            if not re.search(r"\w", before):
                continue
            lines = sorted(
                range(len(check.window)), key=lambda at: (at <= check.cursor, abs(at - check.cursor))
            )
            for at in lines:
                line = check.window[at]
                made = _again(line, before, after)
                if made != line and at != check.cursor and after not in line:
                    return answer_for(check.window, [*check.window[:at], made, *check.window[at + 1 :]])
    return ""


EDIT_BASELINES: Mapping[str, Callable[[NextEditCheck], str]] = {
    "repeat": repeat,
    "silent": lambda check: "",
    "oracle": lambda check: answer_for(check.window, check.next),
}
"""Baselines of next edits, by the NAME in `scripted:NAME`."""


def _again(line: str, before: str, after: str) -> str:
    """A line with words replaced, but no parts of longer words."""
    there = rf"(?<!\w){re.escape(before)}(?!\w)" if before[-1].isalnum() else re.escape(before)
    return re.sub(there, lambda _: after, line)


def _changed(old: str, new: str) -> tuple[str, str]:
    """The words in which two lines differ; with the preceding word for pure insertions."""
    a, b = _PIECE.findall(old), _PIECE.findall(new)
    head = Prefix.similarity(a, b)
    tail = Postfix.similarity(a[head:], b[head:])
    while head and not re.search(r"\w", "".join(a[head : len(a) - tail])):
        head -= 1
    return "".join(a[head : len(a) - tail]).strip(), "".join(b[head : len(b) - tail]).strip()


RANDOM = 7
"""Number of calls in a random answer."""


def known_calls(task: Task, r: Random) -> list[Call]:
    """The known calls, without looks."""
    check = task.check.only(WorldCheck)
    return list(replayed(WORLDS[check.world](check.start), read_calls(task.reference)))


def random_calls(task: Task, r: Random) -> list[Call]:
    """Random calls of known tools with arguments of the right types, and of the right part of the world if the name
    says so."""
    check = task.check.only(WorldCheck)
    kind, words = WORLDS[check.world], {*re.findall(r"\w[\w.-]*", task.statement), *_names(check.start)}
    tools = [name for name in tools_of(world_tools(check.world)) if name not in ("look", "finish")]

    def drawn(name: str, hint: Any) -> Any:
        if hint in (int, bool):
            return r.randint(1, 9) if hint is int else r.random() < 0.5
        held = [part for part in check.start if part.startswith(name)]
        return r.choice(sorted(check.start[held[0]] if held else words))

    found = list[Call]()
    for name in r.choices(tools, k=RANDOM):
        hints = typing.get_type_hints(getattr(kind, name))
        found.append((name, {one: drawn(one, hint) for one, hint in hints.items() if one != "return"}))
    return found


def _names(state: Mapping[str, Any]) -> list[str]:
    paths = [name for path in parts(state) for name in path.split("/")[1:]]
    return [*paths, *(str(value) for value in parts(state).values() if isinstance(value, str) and value)]


WORLD_BASELINES: Mapping[str, Callable[[Task, Random], list[Call]]] = {
    "oracle": known_calls,
    "random": random_calls,
    "empty": lambda task, r: [],
}
"""Baselines of tool worlds, by the NAME in `scripted:NAME`."""


def bm25(task: Task, tree: SearchTree, seed: int, *, lines: int | None = None, most: int = 1) -> Ranges:
    """The best pieces of `lines` lines by BM25, or whole files if None. Empty if no word of the request occurs."""
    index, chunks = _index(tree, lines)
    asked = [word for word in tokens(task.statement) if word in index.vocab_dict] if chunks else []
    if not asked:
        return {}
    found, scores = index.retrieve([asked], k=min(most, len(chunks)), show_progress=False)
    return _named([chunks[at] for at, score in zip(found[0], scores[0], strict=True) if score > 0])


def grep(task: Task, tree: SearchTree, seed: int) -> Ranges:
    """Lines around those with the most distinct identifiers of the request, in the file with the most of them."""
    wanted = words(task.statement)[:10]
    looks = {word: re.compile(rf"\b{re.escape(word)}\b").search for word in wanted}
    held: dict[str, Counter[int]] = {}
    kinds: dict[str, set[str]] = {}
    for path in _programs(tree):
        lines = tree.lines(path)
        text = "\n".join(lines)
        for word, look in looks.items():
            if look(text):
                kinds.setdefault(path, set()).add(word)
                held.setdefault(path, Counter()).update(n for n, line in enumerate(lines, 1) if look(line))
    if not kinds:
        return {}
    path = min(kinds, key=lambda one: (-len(kinds[one]), len(held[one]), one))
    best = max(held[path].values())
    spots = [number for number, count in sorted(held[path].items()) if count == best][:3]
    end = len(tree.lines(path))
    return _named([(path, max(1, at - AROUND), min(end, at + AROUND)) for at in spots])


def at_random(task: Task, tree: SearchTree, seed: int) -> Ranges:
    """One piece of one file."""
    endings = {path.rpartition(".")[2] for path in task.check.only(RetrievalCheck).truth}
    paths = [path for path in _programs(tree) if path.rpartition(".")[2] in endings]
    draw = rng("random-baseline", seed, task.id)
    chunks = _chunks(tree, [draw.choice(paths)], CHUNK) if paths else []
    return _named([draw.choice(chunks)]) if chunks else {}


def by_words(task: Task, tree: SearchTree, seed: int, *, most: int = FILES) -> Ranges:
    """The answer of `Locator`, of at most that many files."""
    found = ranked_files(tree, task.statement)[:most]
    return {file.path: merged(file.spans) for file in found if file.score >= LEAST * found[0].score}


BASELINES: Mapping[str, Baseline] = {
    "bm25-files": bm25,
    "bm25-chunks": partial(bm25, lines=CHUNK, most=CHUNKS),
    "grep": grep,
    "words": by_words,
    "words-first": partial(by_words, most=1),
    "random": at_random,
    "oracle": lambda task, tree, seed: task.check.only(RetrievalCheck).truth,
}
"""Baselines of search tasks, by the NAME in `scripted:NAME`."""
NAMES = tuple(dict.fromkeys([*BASELINES, *EDIT_BASELINES, *WORLD_BASELINES]))
"""The names of all baselines, for `scripted:NAME`."""


def with_baseline(recipe: Recipe, tasks: Sequence[Task], stack: ExitStack) -> Recipe:
    """The recipe; if its policy is a baseline, with a temporary file of its answers, removed with the stack.

    Raises UserError for tasks or environments that do not fit the baseline.
    """
    name = recipe.policy.script
    kinds = [] if Path(name).exists() else [kind for kind, (known, *_) in _ANSWERS.items() if name in known]
    environment = recipe.task_set.environment
    if not kinds:
        return recipe
    if environment.type not in kinds:
        raise UserError(
            f"scripted:{name} is a baseline of other environments; add --environment {' or '.join(kinds)}"
        )
    _, kind, answer = _ANSWERS[environment.type]
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="strop-baseline-")))
    answers = folder / "answers.jsonl"
    with answers.open("w", encoding="utf-8") as file:
        for task in tasks:
            if task.check.maybe(kind) is None:
                raise UserError(f"scripted:{name} of {environment.type} cannot answer task {task.id}")
            print(json.dumps({"task_id": task.id, "answer": answer(recipe, name, task)}), file=file)
    return recipe.model_copy(update={"policy": recipe.policy.model_copy(update={"answers": str(answers)})})


def _search(recipe: Recipe, name: str, task: Task) -> str:
    options = recipe.task_set.environment.options
    form = CALL_FORMS[options.get("calls", "tags")]
    with tree_of_check(task.check.only(RetrievalCheck)) as tree:
        if among := options.get("among"):
            there = selected(among, tree.paths)
            sizes = {path: size for path, size in tree.paths.items() if path in there}
            tree = SearchTree(tree.folder, sizes, tree.texts & there)
        named = write_ranges(BASELINES[name](task, tree, recipe.seed))
    return form.write(ToolCall("finish", {"places": named}), tools_of(SearchTools))


def _edit(recipe: Recipe, name: str, task: Task) -> str:
    return EDIT_BASELINES[name](task.check.only(NextEditCheck))


def _world(recipe: Recipe, name: str, task: Task) -> str:
    tools = tools_of(world_tools(task.check.only(WorldCheck).world))
    form = CALL_FORMS[recipe.task_set.environment.options.get("calls", "tags")]
    calls = [*WORLD_BASELINES[name](task, rng(name, recipe.seed, task.id)), ("finish", {})]
    return "\n".join(form.write(ToolCall(tool, dict(given)), tools) for tool, given in calls)


_ANSWERS: Mapping[str, tuple[Container[str], type[Any], Callable[[Recipe, str, Task], str]]] = {
    "search": (BASELINES, RetrievalCheck, _search),
    "next-edit": (EDIT_BASELINES, NextEditCheck, _edit),
    "world": (WORLD_BASELINES, WorldCheck, _world),
}
"""By environment: its baselines, the check of their tasks, and how they answer: (recipe, baseline, task) -> answer."""


def tokens(text: str) -> list[str]:
    """Identifiers in lower case, and the words that they consist of."""
    found = []
    for name in _IDENTIFIER.findall(text):
        parts = [part.lower() for part in _PARTS.findall(name)]
        found += [name.lower(), *(part for part in parts if len(parts) > 1)]
    return found


def _index(tree: SearchTree, lines: int | None) -> tuple[Any, list[Chunk]]:
    """BM25 over the pieces of a tree, cached with the tree."""
    kept: dict[int | None, tuple[Any, list[Chunk]]] = tree.__dict__.setdefault("bm25", {})
    if lines not in kept:
        bm25s = require("bm25s", package="bm25s", extra="search", purpose="the baseline BM25")
        chunks = _chunks(tree, _programs(tree), lines)
        texts = [
            tokens("\n".join(tree.lines(path)[first - 1 : last])) + tokens(path)
            for path, first, last in chunks
        ]
        index = bm25s.BM25()
        if any(texts):
            index.index(texts, show_progress=False)
        kept[lines] = index, chunks if any(texts) else []
    return kept[lines]


def _programs(tree: SearchTree) -> list[str]:
    return [
        path for path in tree.paths if path in tree.texts and path.rpartition(".")[2].lower() in LANGUAGES
    ]


def _chunks(tree: SearchTree, paths: Sequence[str], lines: int | None) -> list[Chunk]:
    found = []
    for path in paths:
        end = len(tree.lines(path))
        step = lines or max(1, end)
        found += [(path, first, min(end, first + step - 1)) for first in range(1, end + 1, step)]
    return found


def _named(chunks: Sequence[Chunk]) -> Ranges:
    found: dict[str, list[tuple[int, int]]] = {}
    for path, first, last in chunks:
        found.setdefault(path, []).append((first, last))
    return {path: merged(spans) for path, spans in found.items()}
