"""Rewards for edits, named as in recipes: numbers in [0, 1], computed from text alone.

The reasoning rewards apply to every task. The others apply to tasks whose check is of kind `edit`; they are None ("not
scored") for any other task, and if they need an oracle that the task lacks. The execution reward of an edit is
`passed`, as for any answer. If the prompt ends in `<think>`, the completion is read as its continuation.

`change_overlap`: how much of the oracle's change an answer makes, as the overlap of two changes to the same files.

With B the files before, O after the oracle's edit, R after the answer's, and d a distance summed over the files,

    overlap = 1 - d(R, O) / (d(B, R) + d(B, O))

d counts the tokens to delete and insert (the LCS or Indel distance, a metric, from rapidfuzz), so by the triangle
inequality the overlap is never negative. It is Dice's coefficient of two changes (Dice 1945, Ecology 26): if the
changes do not touch, d(R, O) equals the denominator, and the overlap is 0. Hence
1. doing nothing scores 0, the oracle's result scores 1, whatever edits led to it and in whatever order;
2. an edit elsewhere scores 0, and lowers the score of one in the right place, in the same file or in another;
3. the right place with wrong text scores something for what was correctly removed.

Tokens are words, numbers and other characters one by one, the width of each line's indentation and its end. White space
inside lines and at their ends, blank lines and kinds of line ends do not count, unless the oracle changes nothing else:
then characters are counted. A file counts one token more than its text, so an empty file differs from a missing one.
"""

import re
from collections.abc import Callable
from functools import lru_cache, wraps

from rapidfuzz.distance import Indel

from strop_verify.core.checks import EditCheck
from strop_verify.core.protocols import Reward
from strop_verify.core.rollout import Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.edits import EditError, Files, Tolerance, apply_answer, edit_in, format_of

UNREADABLE = 0.25
"""Score of a block that is present but unreadable."""
PER_FAULT = 0.1
"""Penalty for each minor format mistake, at most half of the score in all."""
PER_TAG = 0.25
PER_STRAY = 0.001
"""Penalty for each character outside thought and answer, except white space."""

MAX_CHARACTERS = 1_000_000
"""Maximum characters of one file after an answer; with a longer one, the overlap is 0."""
TAB = 8

_THERE = "\0"
_TOKEN = re.compile(r"\w+|[^\w\s]")

Tokens = tuple[str, ...]

_ORDER = ("<think>", "</think>", "<answer>", "</answer>")
_TAG = re.compile(f"({'|'.join(_ORDER)})")

Score = Callable[[EditCheck, str], float]
"""Computes a score from (check, the whole completion)."""


def of_edits(score: Score, *, oracle: bool = True) -> Reward:
    """Makes a reward for edit tasks from a score; with `oracle`, only for tasks that have one."""

    @wraps(score)
    def reward(task: Task, rollout: Rollout, verdict: Verdict) -> float | None:
        check = task.edit
        if check is None or (oracle and not check.oracle):
            return None
        return score(check, said(rollout, task))

    return reward


def of_text(score: Callable[[str], float]) -> Reward:
    """Makes a reward for all tasks from a score of the completion."""

    @wraps(score)
    def reward(task: Task, rollout: Rollout, verdict: Verdict) -> float:
        return score(said(rollout, task))

    return reward


def said(rollout: Rollout, task: Task | None = None) -> str:
    """The last turn's text (for an edit, the whole answer), after a `<think>` if the prompt began it."""
    text = rollout.turns[-1].completion.text if rollout.turns else rollout.answer
    if task is not None and task.edit is not None:
        text = rollout.answer or text
    begun = len(rollout.turns) == 1 and rollout.prompt.rstrip().endswith("<think>")
    if begun and not text.startswith("<think>"):
        return "<think>" + ("" if text.startswith("\n") else "\n") + text
    return text


def edit_similarity(check: EditCheck, text: str) -> float:
    """How much of the oracle's change the answer's edit makes; 0 if it does not apply."""
    after = files_after(check, text)
    return 0.0 if after is None else change_overlap(check.files, after, oracle_of(check))


def edit_applies(check: EditCheck, text: str) -> float:
    """1 if the edit can be read, applies and changes something."""
    return float(files_after(check, text) is not None)


def edit_format(check: EditCheck, text: str) -> float:
    """How well the edit is written: 0 if there is none, 1 if nothing is wrong with it.

    A readable change counts 1, an unreadable one .25; the mean loses .1 for each minor mistake, at most half.
    """
    parsed = format_of(check.format).parse(edit_in(text))
    fatal = [fault for fault in parsed.faults if fault.fatal]
    if any(fault.code == "no-edit" for fault in fatal) or not (parsed.changes or fatal):
        return 0.0
    mean = (len(parsed.changes) + UNREADABLE * len(fatal)) / (len(parsed.changes) + len(fatal))
    return mean * max(0.5, 1 - PER_FAULT * (len(parsed.faults) - len(fatal)))


def files_after(check: EditCheck, text: str) -> dict[str, str] | None:
    """The files after the edit of an answer; None if it cannot be read, does not apply or changes nothing."""
    try:
        return apply_answer(text, check.files, check.format, Tolerance.of(*check.tolerance))
    except EditError:
        return None


def oracle_of(check: EditCheck) -> dict[str, str]:
    """All files after the oracle's edit."""
    return {path: text for path, text in {**check.files, **check.oracle}.items() if text is not None}


def partial_reasoning(text: str) -> float:
    """A quarter for each of `<think>`, `</think>`, `<answer>`, `</answer>` that occurs once, after those before it.

    Each character except white space before the first, between the middle two and after the last costs a thousandth.
    `<solution>` counts as `<answer>`.
    """
    text = _plain(text)
    places = dict.fromkeys(_ORDER, -1)
    for tag in _ORDER:
        if text.count(tag) == 1 and text.index(tag) > max(places.values()):
            places[tag] = text.index(tag)
    think, done, answer, end = places.values()
    stray = text[:think] if think >= 0 else ""
    stray += text[done + len("</think>") : answer] if done >= 0 and answer >= 0 else ""
    stray += text[end + len("</answer>") :] if end >= 0 else ""
    score = PER_TAG * sum(place >= 0 for place in places.values())
    return max(0.0, score - PER_STRAY * len("".join(stray.split())))


def strict_reasoning(text: str) -> float:
    """1 for a thought and an answer of any number of lines in their tags, each once, and nothing else; else 0."""
    parts = _TAG.split(_plain(text))
    if tuple(parts[1::2]) != _ORDER:
        return 0.0
    before, thought, between, answer, behind = (part.strip() for part in parts[::2])
    return float(bool(thought and answer) and not (before or between or behind))


def _plain(text: str) -> str:
    return text.replace("<solution>", "<answer>").replace("</solution>", "</answer>")


def change_overlap(before: Files, after: Files, oracle: Files) -> float:
    """The overlap of two changes to `before`, in [0, 1], 0 if either changes nothing; `after`, `oracle`: all files.

    Time grows with the product of the lengths of changed files, divided by 64.
    """
    paths = sorted(
        p for p in {*before, *after, *oracle} if not before.get(p) == after.get(p) == oracle.get(p)
    )
    if any(len(after.get(path, "")) > MAX_CHARACTERS for path in paths):
        return 0.0
    for by_characters in (False, True):
        wanted = sum(_known_distance(before.get(p), oracle.get(p), by_characters) for p in paths)
        if wanted:
            made = sum(_distance(before.get(p), after.get(p), by_characters) for p in paths)
            left = sum(_distance(after.get(p), oracle.get(p), by_characters) for p in paths)
            return 1 - left / (made + wanted)
    return 0.0


def tokens_of(text: str) -> Tokens:
    """The counted tokens of a text: each line's indentation, its tokens, and its end; none for a blank line."""
    found: list[str] = []
    for line in text.splitlines():
        if words := _TOKEN.findall(line):
            space = line[: len(line) - len(line.lstrip())].expandtabs(TAB)
            found += [f" {len(space)}", *words, "\n"]
    return tuple(found)


_known_tokens = lru_cache(maxsize=128)(tokens_of)
"""Cached, because the rollouts of a group share files and oracle."""


def _distance(a: str | None, b: str | None, by_characters: bool) -> int:
    if a == b:
        return 0
    if by_characters:
        return Indel.distance("" if a is None else _THERE + a, "" if b is None else _THERE + b)
    return Indel.distance(_counted(a), _counted(b))


_known_distance = lru_cache(maxsize=256)(_distance)


def _counted(text: str | None) -> Tokens:
    return () if text is None else (_THERE, *_known_tokens(text))


EDITS: dict[str, Reward] = {
    "edit_similarity": of_edits(edit_similarity),
    "edit_applies": of_edits(edit_applies, oracle=False),
    "edit_format": of_edits(edit_format, oracle=False),
    "partial_reasoning": of_text(partial_reasoning),
    "strict_reasoning": of_text(strict_reasoning),
}
"""{name in a recipe: reward}."""
