"""`WorldToolchain`: calls of tools, made again in the world as it was at first; its state decides, not what was said.

A test is a part of the state that the goal names; where another one has changed, that is a failed test more.
"""

import time
from collections.abc import Sequence

from strop.core.checks import WorldCheck
from strop.core.errors import VerificationError
from strop.core.task import Task
from strop.core.verdict import Outcome, Stage, TestResult, Verdict
from strop.tasks.tool_worlds import WORLDS
from strop.tasks.tool_worlds.world import changes, parts, read_calls, replayed

_BESIDE = "nothing else"


class WorldToolchain:
    """Implements `strop.core.protocols.Toolchain` for checks of kind world."""

    batch = 1

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict a job."""
        return [_judged(task.check.only(WorldCheck), answer) for task, answer in jobs]

    def close(self) -> None:
        """Nothing to end."""


def _judged(check: WorldCheck, answer: str) -> Verdict:
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
