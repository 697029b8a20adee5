"""`LabelToolchain`: judges answers that name one of a task's choices. It runs nothing and starts no process.

The rule, for every language: a label follows `Answer:` (any case) at the start of a line, after white space and
Markdown marks (`*`, `_`, `#`, `>`, `-`, back ticks, quotes). It comes first after the colon, and no other choice is on
that line. All such lines must name the same choice. Without such a line, the whole answer must be one choice. Case and
leading zeros do not matter: `cwe-89` is `CWE-089`. Anything else is *no answer*: several labels, a word that is not a
choice, "Answer: CWE-089 or safe", more than `MAX_LINES` such lines.

Threat model: reading takes time linear in the answer (at most `MAX_ANSWER` characters) and uses no pattern that
backtracks. Naming every choice earns nothing. What a constant answer earns depends on the balance of the task set.
"""

import re
import time
from collections.abc import Callable, Sequence
from functools import partial

from strop_verify.core.checks import LabelCheck
from strop_verify.core.errors import VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict

MAX_ANSWER = 1 << 20
"""Maximum characters of an answer; a longer one is *no answer*."""
MAX_LINES = 1000
"""Maximum lines that begin with `Answer:`, since each is compared with every choice; more are *no answer*."""
_MARKS = " \t\r\v\f*_#>-`'\"\u201c\u201d\u2018\u2019"
_KEYWORD = "answer"


class ComparingToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for answers that are only read, by the function `verdict`."""

    batch = 1

    def __init__(self, verdict: Callable[[Task, str], Verdict], settings: object = None) -> None:
        """`settings` are ignored; every toolchain receives them."""
        self._verdict = verdict

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job. Raises VerificationError for a bad task, such as one with ambiguous choices."""
        return [self._verdict(task, answer) for task, answer in jobs]

    def close(self) -> None:
        """Does nothing: there is no process to end."""


def label_of(answer: str, choices: Sequence[str]) -> tuple[str | None, str]:
    """Returns (the choice that an answer names, "") or (None, why it names none), by the rule above.

    Raises VerificationError for fewer than two choices, empty ones, or ones that differ only in case and zeros.
    """
    known = _known(choices)
    if len(answer) > MAX_ANSWER:
        return None, f"the answer is longer than {MAX_ANSWER} characters"
    whole = _plain(answer) if len(answer) <= max(map(len, choices)) * 4 + 100 else ""
    if whole in known:
        return known[whole], ""
    found: set[str] = set()
    lines = 0
    for line in answer.split("\n"):
        after = _after_keyword(line)
        if after is None:
            continue
        lines += 1
        if lines > MAX_LINES:
            return None, f"more than {MAX_LINES} lines begin with 'Answer:'"
        label = _first_label(after, known)
        if label is None:
            return None, "a line that begins with 'Answer:' does not name one choice"
        found.add(label)
    if len(found) == 1:
        return found.pop(), ""
    return None, "several different labels" if found else "no line 'Answer: LABEL'"


def _known(choices: Sequence[str]) -> dict[str, str]:
    known = {_plain(choice): choice for choice in choices}
    if len(known) < max(2, len(choices)) or "" in known:
        shown = f"{list(choices)!r:.200}"
        raise VerificationError(f"the label check's choices {shown} are not two or more different labels")
    return known


def _plain(text: str) -> str:
    """A label without surrounding marks, differences of case and leading zeros."""
    return _even(text.strip().strip(_MARKS + ".,;:!()[]"))


def _even(text: str) -> str:
    return re.sub("[0-9]+", lambda number: number[0].lstrip("0") or "0", text.casefold())


def _after_keyword(line: str) -> str | None:
    start = line.lstrip(_MARKS)
    if start[: len(_KEYWORD)].lower() != _KEYWORD:
        return None
    rest = start[len(_KEYWORD) :].lstrip(_MARKS)
    return rest[1:].lstrip(_MARKS + "([") if rest[:1] == ":" else None


def _first_label(text: str, known: dict[str, str]) -> str | None:
    """The choice that the text begins with (the longest match), if it contains no other."""
    even = _even(text)
    fitting = [plain for plain in known if even.startswith(plain) and _ends(even, len(plain))]
    if not fitting:
        return None
    longest = max(fitting, key=len)
    rest = even[len(longest) :]
    return None if any(_contains(rest, plain) for plain in known if plain != longest) else known[longest]


def _ends(text: str, position: int) -> bool:
    """Whether a word ends at the position; `-` before another word joins: `safe-ish` is not `safe`."""
    after = text[position : position + 2]
    joined = after[:1] == "-" and after[1:].isalnum()
    return not (after[:1].isalnum() or after[:1] == "_" or joined)


def _contains(text: str, label: str) -> bool:
    at = text.find(label)
    while at >= 0:
        before = text[at - 1 : at] if at else ""
        if not (before.isalnum() or before == "_") and _ends(text, at + len(label)):
            return True
        at = text.find(label, at + len(label))
    return False


def _judge(task: Task, answer: str) -> Verdict:
    began, check = time.monotonic(), task.check.only(LabelCheck)
    if check.expected not in check.choices:
        raise VerificationError(f"the label check expects {check.expected!r}, not one of its choices")
    label, why = label_of(answer, check.choices)
    right = label == check.expected
    outcome = Outcome.PASSED if right else Outcome.NO_ANSWER if label is None else Outcome.FAILED
    detail = "" if right else why or "another label is right"
    seconds = time.monotonic() - began
    result = TestResult(id="label", outcome=outcome, message=detail, seconds=seconds)
    stage = Stage(name="test", passed=right, seconds=seconds)
    return Verdict(outcome=outcome, stages=[stage], tests=[result], detail=detail, seconds=seconds)


LabelToolchain = partial(ComparingToolchain, _judge)
