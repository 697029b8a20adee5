"""Every reward of this package by its name in recipes: `strop_tasks.published.rewards.NAME`."""

from strop_tasks.published.edits import BY_DIFFLIB, EDITS
from strop_tasks.published.many_turns import MANY_TURNS
from strop_tasks.published.ratio import PACKAGES, library
from strop_tasks.published.rust import RUST
from strop_verify.core.protocols import Reward

PUBLISHED: dict[str, Reward] = RUST | EDITS | MANY_TURNS


def __getattr__(name: str) -> Reward:
    """The reward of this name. Raises UserError if a package that it needs is not installed."""
    if name not in PUBLISHED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for needed in PACKAGES if name in BY_DIFFLIB else ():
        library(needed, f"the reward {name!r}")
    return PUBLISHED[name]
