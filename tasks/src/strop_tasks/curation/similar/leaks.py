"""Finds tasks that come from a benchmark.

For: the same statement; a share of the item's word runs (13 words: Brown et al., "Language Models are Few-Shot
Learners", 2020, appendix C; 10 words: Touvron et al., "Llama 2", 2023, appendix A.6); a share of its three-word runs,
which survive small edits; the same solution except for names and layout, or most of it; the same tests.
Against: tests that contradict the item's, a solution that differs only in a constant, different numbers in the
statement.

An inverted index over hashes gives the grams that each task shares with each item. Grams of many items, or of many
tasks that share little else with the item, are ignored: common wording or code proves nothing. Only the items are in
memory; each task is read twice.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import Field

from strop_tasks.curation.similar import form as code
from strop_tasks.curation.similar.hashes import Hashes, hash_text, set_of, shared, shingles, words
from strop_tasks.curation.similar.table import Tests, agreement, numbers_of, prose_of, statement_of, tests_of
from strop_verify.core.section import Complaint, Section
from strop_verify.core.task import Task

COPY = 0.5
"""A task with at least this share of an item's grams may be a copy, so it does not make them common."""


class Overlap(NamedTuple):
    """The grams that a task shares with one item, without common ones."""

    item: int
    shared: int
    of_item: float
    """Share of the item's grams."""
    of_task: float
    """Share of the task's grams."""


class Grams:
    """The items' grams. First `see` those of every task, then `settle`, then call `overlaps`."""

    def __init__(self, items: Sequence[Hashes]) -> None:
        self._owners = _index((gram, number) for number, item in enumerate(items) for gram in item.tolist())
        self._sizes = [len(item) for item in items]
        self._seen: Counter[int] = Counter()
        self.rare: Counter[int] = Counter()  # grams of each item that count

    def see(self, grams: Hashes) -> None:
        """Counts the grams of a task."""
        found = [gram for gram in grams.tolist() if gram in self._owners]
        copied = {item for item, both in self._shared(found).items() if both >= COPY * self._sizes[item]}
        self._seen.update(gram for gram in found if copied.isdisjoint(self._owners[gram]))

    def settle(self, common_tasks: int, common_items: int) -> None:
        """Ends counting; ignores grams of more than `common_tasks` tasks or more than `common_items` items."""
        self._owners = {
            gram: items
            for gram, items in self._owners.items()
            if self._seen[gram] <= common_tasks and len(items) <= common_items
        }
        self.rare = self._shared(self._owners)

    def overlaps(self, grams: Hashes) -> list[Overlap]:
        """The items that a task shares counted grams with, the largest share first."""
        rows = [
            Overlap(item, both, both / self.rare[item], both / len(grams))
            for item, both in self._shared(grams.tolist()).items()
        ]
        return sorted(rows, key=lambda row: (-row.of_item, row.item))

    def _shared(self, grams: Iterable[int]) -> Counter[int]:
        """Item to its number of these grams."""
        return Counter(item for gram in grams for item in self._owners.get(gram, ()))


SHORT_RUN = 3
FEWEST = 5  # minimum word runs of an item, without common ones, for a share of them to count
FEWEST_LABELS = 16  # the same for runs of labels of its solution


class Item(NamedTuple):
    """The compared features of a task or of an item of a benchmark."""

    name: str
    text: int
    """Hash of the prose's words; 0 if there are none."""
    length: int
    grams: Hashes
    """Runs of n words."""
    short: Hashes
    """Runs of three words."""
    numbers: Hashes
    entry: str
    """Name of the function, if it is distinctive."""
    form: code.Form
    language: str
    tests: Tests


class DecontaminateConfig(Section):
    """Settings of the step `decontaminate`."""

    against: str | tuple[str, ...] = ("humaneval",)
    """Benchmarks: any task source (humaneval, livecodebench:PATH, mbpp:PATH, a file), or a .txt file of statements
    that are separated by lines of dashes or else by empty lines."""
    n: int = Field(default=10, ge=4, le=50)
    """Words in an n-gram: 13 in the GPT-3 paper, 10 in the Llama 2 paper."""
    share: float = Field(default=0.3, gt=0, le=1)
    """Share of an item's word n-grams above which the task is a copy."""
    edited: float = Field(default=0.5, gt=0, le=1)
    """Minimum share of an item's three-word runs for the task to count as an edited copy; six tenths of it are enough
    if the function's name or the tests match the item's."""
    code: float = Field(default=0.8, gt=0, le=1)
    """Minimum share of the four-label runs of an item's solution that a task's solution holds if it is a copy."""
    common: int = Field(default=20, ge=1)
    """Ignore runs that occur in more than this many tasks; tasks that may be copies do not count."""
    short: int = Field(default=6, ge=1)
    """Statements with fewer words than this are not enough by themselves."""
    small: int = Field(default=24, ge=1)
    """Solutions with fewer labels than this are not enough by themselves."""
    bits: float = Field(default=8.0, ge=0)
    """Bits of information that equal outputs of tests must hold to be enough by themselves."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that at least one benchmark is named."""
        if not self.against:
            yield "against", "no benchmark is named: write against: [humaneval]"

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """`against` as a tuple, also if it is one name."""
        return (self.against,) if isinstance(self.against, str) else self.against


class Leak(NamedTuple):
    """A finding about a task."""

    item: int
    reason: str
    """"statement", "word runs", "edited statement", "code" or "tests"."""
    share: float


def items_of(task: Task, n: int) -> Iterator[Item]:
    """A benchmark's task by the prose of its statement, and a second time with its examples, if it has some."""
    text = statement_of(task)
    prose = prose_of(text)
    yield _item(task, n, prose, [prose])
    if words(prose) != words(text):
        yield _item(task, n, text, [text])


def searched(task: Task, n: int) -> Item:
    """A task to compare with a benchmark, by its statement, examples and prompt together."""
    text = statement_of(task)
    return _item(task, n, prose_of(text), [text, prose_of(text), task.prompt or ""])


def _item(task: Task, n: int, prose: str, texts: list[str]) -> Item:
    split = [words(text) for text in dict.fromkeys(texts)]
    entry = task.check.function
    own = words(prose)
    return Item(
        name=task.id,
        text=hash_text(" ".join(own)) if own else 0,
        length=len(own),
        grams=_union([shingles(one, n) for one in split if len(one) >= n]),
        short=_union([shingles(one, SHORT_RUN) for one in split]),
        numbers=set_of(map(hash_text, numbers_of(statement_of(task)))),
        entry=entry if len(entry) >= 8 or "_" in entry.strip("_") else "",
        form=code.form(task.reference, task.language), language=task.language, tests=tests_of(task),
    )  # fmt: skip


def _union(sets: list[Hashes]) -> Hashes:
    return np.unique(np.concatenate([*sets, np.empty(0, np.uint64)]))


class Benchmark:
    """The items of all benchmarks. First `see` every task, then `settle`, then call `leak`."""

    def __init__(self, items: Sequence[Item], limits: DecontaminateConfig) -> None:
        self.items = items
        self.limits = limits
        self.long = Grams([i.grams for i in items])
        self.short = Grams([i.short for i in items])
        self.code = Grams([i.form.shingles for i in items])
        self._by_text = _index((i.text, n) for n, i in enumerate(items) if i.text)
        self._by_code = _index((i.form.exact, n) for n, i in enumerate(items) if i.form.size)
        self._by_input = _index((key, n) for n, i in enumerate(items) for key in i.tests.inputs.tolist())

    def see(self, task: Item) -> None:
        """Counts the grams of the next task."""
        self.long.see(task.grams)
        self.short.see(task.short)
        self.code.see(task.form.shingles)

    def settle(self) -> None:
        """Ends counting. Grams of more than `limits.common` tasks that are not copies are ignored."""
        items = max(4, len(self.items) // 50)
        for grams in (self.long, self.short, self.code):
            grams.settle(self.limits.common, items)

    def leak(self, task: Item) -> Leak | None:
        """The benchmark's item that a seen task comes from; None if there is none."""
        return next(self._leaks(task), None)

    def _leaks(self, task: Item) -> Iterator[Leak]:
        limits = self.limits
        short = {o.item: o for o in self.short.overlaps(task.short)}
        for at in self._by_text.get(task.text, ()) if task.text else ():
            if task.length >= limits.short or self._agrees(at, task):
                yield Leak(at, "statement", 1.0)
        for at in self._by_code.get(task.form.exact, ()) if task.form.size else ():
            if self._same_code(at, task, short.get(at)):
                yield Leak(at, "code", 1.0)
        for over in self.long.overlaps(task.grams):
            if self.long.rare[over.item] < FEWEST or over.of_item < limits.share:
                continue
            if over.shared >= 3 and not self._against(over.item, task):
                yield Leak(over.item, "word runs", over.of_item)
        for over in short.values():
            if self._edited(over, task) and not self._against(over.item, task):
                yield Leak(over.item, "edited statement", max(over.of_item, over.of_task))
        for over in self.code.overlaps(task.form.shingles):
            enough = self.code.rare[over.item] >= FEWEST_LABELS and over.of_item >= limits.code
            if enough and not self._against(over.item, task):
                yield Leak(over.item, "code", over.of_item)
        for at in sorted({n for key in task.tests.inputs.tolist() for n in self._by_input.get(key, ())}):
            found = agreement(self.items[at].tests, task.tests)
            if found.share >= 0.5 and found.tells(limits.bits) and not self._against(at, task):
                yield Leak(at, "tests", found.share)

    def _edited(self, over: Overlap, task: Item) -> bool:
        """Whether the task has enough of the item's short runs, or fewer together with other evidence."""
        limits = self.limits
        enough = self.short.rare[over.item] >= FEWEST and over.shared >= FEWEST
        within = over.of_task >= limits.edited and task.length >= 2 * FEWEST
        if enough and (over.of_item >= limits.edited or within):
            return True
        supported = over.of_item >= 0.6 * limits.edited or over.shared >= 2 * FEWEST
        return supported and self._agrees(over.item, task)

    def _same_code(self, at: int, task: Item, over: Overlap | None) -> bool:
        item = self.items[at]
        if item.language != task.language or agreement(item.tests, task.tests).contradict:
            return False
        alike = over is not None and max(over.of_item, over.of_task) >= 0.6 * self.limits.edited
        return item.form.size >= self.limits.small or alike or self._agrees(at, task)

    def _agrees(self, at: int, task: Item) -> bool:
        """Whether the function's name or tests match."""
        item = self.items[at]
        found = agreement(item.tests, task.tests)
        named = bool(item.entry) and item.entry == task.entry
        return not found.contradict and (named or found.agreeing >= 2)

    def _against(self, at: int, task: Item) -> bool:
        item = self.items[at]
        if item.form.size and item.form.shape == task.form.shape and item.form.exact != task.form.exact:
            return True
        if agreement(item.tests, task.tests).contradict:
            return True
        both = shared(item.numbers, task.numbers)
        return both < len(item.numbers) and both < len(task.numbers)


def _index(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for key, number in pairs:
        found.setdefault(key, []).append(number)
    return found
