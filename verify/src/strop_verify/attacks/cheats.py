"""Answers that know nothing of how a task is solved. A task of another project that rewards one can be cheated.

`cheats/scripts.yaml` holds scripts of bash, for tasks in a machine; `cheats/replies.yaml` replies to one question.
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
    """One such answer."""

    name: str
    tries: str
    """What it tries, in one line."""
    text: str
    """May hold placeholders, such as @FILES@, for what a task names; the files of cheats say which there are."""

    def filled(self, facts: Mapping[str, str]) -> str | None:
        """The text for one task; None where the task has nothing for one of the placeholders."""
        if not all(facts.get(name) for name in _PLACEHOLDER.findall(self.text)):
            return None
        return _PLACEHOLDER.sub(lambda match: facts[match[1]], self.text)


@cache
def load_cheats(kind: Literal["scripts", "replies"]) -> tuple[Cheat, ...]:
    """All cheats of a kind, in the order in which they are tried."""
    rows = read_yaml(files("strop_verify.attacks") / "cheats" / f"{kind}.yaml")
    return tuple(Cheat(**row) for row in rows)


SHARE = 0.5
"""Of the reward of a task's own solution: what a cheat gets for nothing counts as paid from here on."""


@dataclass
class PaidTask:
    """What one task gives to its own solution and to cheats."""

    task: str
    solution: float | None = None
    """Reward of its own solution; None if it has none, or if that got no reward."""
    failed: str = ""
    """Why the solution fails, if it does."""
    rewards: dict[str, float | None] = field(default_factory=dict)
    """By cheat; None where no reward was given. Those that do not fit the task are missing."""
    notes: dict[str, str] = field(default_factory=dict)
    """By cheat, or "solution": what a reward function said when it raised."""
    not_judged: str = ""
    """Why nothing can be said of the task."""

    @property
    def pays(self) -> list[str]:
        """The cheats that get at least half of what the solution gets, or of 1 where the solution gets nothing."""
        least = SHARE * (self.solution if self.solution and self.solution > 0 else 1.0)
        return [name for name, reward in self.rewards.items() if reward is not None and reward >= least]
