"""Answers without any knowledge of how to solve a task. A task of another project that rewards one can be cheated.

`cheats/scripts.yaml` holds bash scripts for tasks in a machine; `cheats/replies.yaml` holds replies to one question.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Literal

from strop_verify.attacks.suite import read_yaml
from strop_verify.core.records import Record

_PLACEHOLDER = re.compile(r"@([A-Z]+)@")


class Cheat(Record):
    """One answer made without knowing how to solve its task."""

    name: str
    tries: str
    """What it tries, in one line."""
    text: str
    """May hold placeholders for a task's names, such as @FILES@; the files of cheats list them."""

    def filled(self, facts: Mapping[str, str]) -> str | None:
        """The text for one task; None if the task has nothing for one of the placeholders."""
        if not all(facts.get(name) for name in _PLACEHOLDER.findall(self.text)):
            return None
        return _PLACEHOLDER.sub(lambda match: facts[match[1]], self.text)


@cache
def load_cheats(kind: Literal["scripts", "replies"]) -> tuple[Cheat, ...]:
    """All cheats of a kind, in the order in which they are tried."""
    rows = read_yaml(files("strop_verify.attacks") / "cheats" / f"{kind}.yaml")
    return tuple(Cheat(**row) for row in rows)


SHARE = 0.5
"""Share of the reward of a task's own solution from which a cheat counts as rewarded."""


@dataclass
class PaidTask:
    """One task's rewards for its own solution and for cheats."""

    task: str
    solution: float | None = None
    """Reward of its own solution; None if it has no solution, or no reward was given."""
    failed: str = ""
    """Why the solution fails, if it does."""
    rewards: dict[str, float | None] = field(default_factory=dict)
    """By cheat; None if no reward was given. Cheats that do not fit the task are missing."""
    notes: dict[str, str] = field(default_factory=dict)
    """By cheat, or "solution": the error that a reward function raised."""
    not_judged: str = ""
    """Why the task was not judged."""

    @property
    def pays(self) -> list[str]:
        """The cheats that get at least half of the solution's reward, or of 1 if the solution gets nothing."""
        least = SHARE * (self.solution if self.solution and self.solution > 0 else 1.0)
        return [name for name, reward in self.rewards.items() if reward is not None and reward >= least]
