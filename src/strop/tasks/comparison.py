"""Toolchains that run nothing: they compare a suggested edit, named places or tool calls with the known answer.

Next edits: a simulated user, who knows the final text, judges a suggestion. There are three users, each with a rule for
acceptance:

    nearer  it saves more keystrokes than reading it costs
    kept    at least KEPT_SHARE of the characters that it inserts or deletes agree with the final text
    exact   it is the person's next edit, except for white space at the ends of lines

Keystrokes are characters inserted and deleted (the indel distance) between the window now and after all edits. Reading
costs READ keystrokes and READ_LINE more for each changed line. An answer that changes nothing or cannot be parsed would
not be shown and counts as silence; a text that cannot be parsed is *no answer*. A suggestion passes if the first or the
last user accepts it, and silence passes where it is right.

Places: the score is the mean of F0.5 over files and over lines (`strop_verify.core.ranges`), and the answer passes if
it is 1. A text that names no places or cannot be parsed is *no answer*. Time is linear in the answer.

Calls are replayed in the initial world; its final state decides, not the text. A test is a part of the state that the
goal names; a change to any other part is one more failed test.
"""

import time
from collections import Counter
from collections.abc import Sequence
from functools import partial

from rapidfuzz.distance import Indel

from strop.tasks.next_edit import edited
from strop.tasks.tool_worlds import WORLDS
from strop.tasks.tool_worlds.world import changes, parts, read_calls, replayed
from strop_verify.core.checks import NextEditCheck, RetrievalCheck, WorldCheck
from strop_verify.core.checks.comparison import HALVES
from strop_verify.core.errors import VerificationError
from strop_verify.core.ranges import read_ranges, score
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict
from strop_verify.edits.lines import opcodes
from strop_verify.verification.label import ComparingToolchain

READ, READ_LINE = 2, 2
"""In keystrokes; at 90 words a minute one takes an eighth of a second."""
KEPT_SHARE = 0.8
THRESHOLD = 0.25
"""Utility in an evaluation: accepted suggestions minus this per shown one, as in Cursor's Tab: .75, -.25 and 0."""
MAX_EDIT = 1 << 14
"""Maximum characters of an answer; a longer one counts as none."""


def accepted_by(check: NextEditCheck, after: Sequence[str]) -> dict[str, float]:
    """{rule: whether its user accepts the window after a suggestion}, and `saved`, the keystrokes that it saves."""
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


def line_agreement(check: NextEditCheck, after: Sequence[str]) -> float:
    """F1 of the lines that a suggestion deletes and inserts, compared with those of the next edit as bags, without
    white space at their ends; `exact_lines_match` of Zed's edit_prediction_metrics. 0 if nothing is in common.
    """
    wanted, found = _line_bag(check.window, check.next), _line_bag(check.window, after)
    common = (wanted & found).total()
    return 2 * common / (wanted.total() + found.total()) if common else 0.0


def _line_bag(before: Sequence[str], after: Sequence[str]) -> Counter[tuple[bool, str]]:
    """(inserted or deleted, line) of a change."""
    runs = [code for code in opcodes(before, after) if not code[0]]
    out = Counter((False, line.rstrip()) for _, i, j, _, _ in runs for line in before[i:j])
    return out + Counter((True, line.rstrip()) for _, _, _, n, m in runs for line in after[n:m])


def _accepted(task: Task, answer: str) -> Verdict:
    check = task.check.only(NextEditCheck)
    began = time.monotonic()
    why, after = "", check.window
    try:
        if len(answer) > MAX_EDIT:
            raise ValueError(f"the answer is longer than {MAX_EDIT} characters")
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
        "lines": line_agreement(check, after),
        "wrong": float(shown) - found["nearer"],
        "silent": float(not shown),
        "saved": found["saved"],
    }
    cost = THRESHOLD * shown
    for name, rule in (("utility", "nearer"), ("utility-kept", "kept"), ("utility-exact", "exact")):
        numbers[name] = found[rule] - cost
    right = bool(found["nearer"] or found["exact"]) or not (shown or check.due)
    failed = "not accepted" if shown else "silent, but an edit was expected"
    return Verdict(
        outcome=Outcome.NO_ANSWER if why else Outcome.PASSED if right else Outcome.FAILED,
        detail=why or ("" if right else failed),
        seconds=time.monotonic() - began,
        numbers=numbers,
    )


MAX_PLACES = 1 << 16
"""Maximum characters of an answer; a longer one counts as none."""


def _named(task: Task, answer: str) -> Verdict:
    check = task.check.only(RetrievalCheck)
    began = time.monotonic()
    try:
        if len(answer) > MAX_PLACES:
            raise ValueError(f"the answer is longer than {MAX_PLACES} characters")
        found = read_ranges(answer)
        why = "" if found else "the answer names no place"
    except ValueError as error:
        found, why = {}, str(error)
    agreed = score(found, check.truth)
    right = agreed.mean == 1
    outcome = Outcome.NO_ANSWER if why else Outcome.PASSED if right else Outcome.FAILED
    detail = why or ("" if right else f"F0.5 of files {agreed.files:.3f}, of lines {agreed.lines:.3f}")
    seconds = time.monotonic() - began
    return Verdict(
        outcome=outcome,
        stages=[Stage(name="test", passed=right, seconds=seconds)],
        tests=[TestResult(id="places", outcome=outcome, message=detail, seconds=seconds)],
        detail=detail,
        seconds=seconds,
        score=agreed.mean,
        numbers=dict(zip(HALVES, agreed, strict=True)),
    )


_BESIDE = "nothing else"


def _left(task: Task, answer: str) -> Verdict:
    check = task.check.only(WorldCheck)
    if check.world not in WORLDS:
        raise VerificationError(f"there is no world {check.world!r:.40}; there are {', '.join(WORLDS)}")
    began = time.monotonic()
    try:
        calls = read_calls(answer.strip())
    except ValueError as error:
        return Verdict(outcome=Outcome.NO_ANSWER, detail=str(error))
    world = WORLDS[check.world](check.start)
    list(replayed(world, calls))
    end, changed = parts(world.state), changes(check.start, world.state, check.free)
    results = []
    for goal in check.goals:
        met = {path: end.get(path) == value for path, value in goal.items()}
        strayed = sorted(changed.keys() - goal.keys())
        results.append(met | ({_BESIDE: False} if strayed else {}))
    best = max(results, key=lambda met: sum(met.values()) / len(met))
    right, outcomes = all(best.values()), {True: Outcome.PASSED, False: Outcome.FAILED}
    detail = "" if right else f"not as asked: {', '.join(path for path, held in best.items() if not held)}"
    seconds = time.monotonic() - began
    return Verdict(
        outcome=outcomes[right],
        stages=[Stage(name="test", passed=right, seconds=seconds)],
        tests=[
            TestResult(id=path, outcome=outcomes[held], message="" if held else "not as asked")
            for path, held in best.items()
        ],
        detail=detail[:300],
        seconds=seconds,
    )


NextEditToolchain = partial(ComparingToolchain, _accepted)
RetrievalToolchain = partial(ComparingToolchain, _named)
WorldToolchain = partial(ComparingToolchain, _left)
