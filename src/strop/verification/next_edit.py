"""`NextEditToolchain`: a simulated user, who knows where the text went, looks at a suggested edit. Nothing is run.

Three users, each a rule by which a suggestion is accepted:

    nearer  the keys that are left to type become fewer by more than reading the suggestion costs
    kept    of the characters that it puts in or takes out, at least KEPT_SHARE are as they are in the end
    exact   it is what the person did next, but for white space at the ends of lines

Keys are characters put in and taken out (the indel distance) between the window now and when everything is done.
Reading costs READ keys and READ_LINE more for each line that changes. An answer that changes nothing, or that cannot be
read, would not be shown, and counts as silence; a text that cannot be read is *no answer*. What the first user or the
last accepts has passed, and so has silence where it is right.
"""

import time
from collections.abc import Sequence

from rapidfuzz.distance import Indel

from strop.core.checks import NextEditCheck
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.edits.lines import opcodes
from strop.tasks.next_edit import edited

READ, READ_LINE = 2, 2
"""Keys; at 90 words a minute one takes an eighth of a second."""
KEPT_SHARE = 0.8
THRESHOLD = 0.25
"""Of the utility in an evaluation: accepted suggestions minus this for each that is shown, as Cursor's Tab is
rewarded: .75, -.25 and 0."""
MAX_ANSWER = 1 << 14
"""Characters of an answer; a longer one is none."""


class NextEditToolchain:
    """Implements `strop.core.protocols.Toolchain` for checks of kind next-edit."""

    batch = 1

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict a job."""
        return [_judged(task.check.only(NextEditCheck), answer) for task, answer in jobs]

    def close(self) -> None:
        """Nothing to end."""


def accepted_by(check: NextEditCheck, after: Sequence[str]) -> dict[str, float]:
    """By rule whether its user accepts what a suggestion makes of the window; and `saved`, the keys that are saved."""
    now, then, goal = ("\n".join(lines) for lines in (check.window, after, check.goal))
    gain = Indel.distance(now, goal) - Indel.distance(then, goal)
    size = Indel.distance(now, then)
    lines = sum(max(j - i, n - m) for equal, i, j, m, n in opcodes(check.window, after) if not equal)
    cost = READ + READ_LINE * lines
    nearer = gain > cost
    return {
        "nearer": float(nearer),
        "kept": float(size > 0 and (size + gain) / (2 * size) >= KEPT_SHARE),
        "exact": float(check.due and [*map(str.rstrip, after)] == [*map(str.rstrip, check.next)]),
        "saved": float(gain - cost if nearer else -cost),
    }


def _judged(check: NextEditCheck, answer: str) -> Verdict:
    began = time.monotonic()
    why, after = "", check.window
    try:
        if len(answer) > MAX_ANSWER:
            raise ValueError(f"the answer is longer than {MAX_ANSWER} characters")
        after = edited(check.window, answer)
    except ValueError as error:
        why = str(error)
    shown = after != check.window
    found = accepted_by(check, after) if shown else dict.fromkeys(("nearer", "kept", "exact", "saved"), 0.0)
    numbers = {
        "shown": float(shown),
        "accepted": found["nearer"],
        "kept": found["kept"],
        "exact": found["exact"],
        "wrong": float(shown) - found["nearer"],
        "silent": float(not shown),
        "saved": found["saved"],
    }
    cost = THRESHOLD * shown
    for name, rule in (("utility", "nearer"), ("utility-kept", "kept"), ("utility-exact", "exact")):
        numbers[name] = found[rule] - cost
    right = bool(found["nearer"] or found["exact"]) or not (shown or check.due)
    failed = "not accepted" if shown else "silent, where an edit was due"
    return Verdict(
        outcome=Outcome.NO_ANSWER if why else Outcome.PASSED if right else Outcome.FAILED,
        detail=why or ("" if right else failed),
        seconds=time.monotonic() - began,
        numbers=numbers,
    )
