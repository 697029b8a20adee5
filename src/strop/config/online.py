"""Recipe section `online`: learning from what became of suggested edits (`strop online`)."""

from typing import Literal

from pydantic import Field

from strop.config.section import Section


class OnlineConfig(Section):
    """One round: suggestions that the served model made, one update, a comparison, deployed or not."""

    events: str | None = Field(default=None, min_length=1)
    """Folder of the event log that `strop serve-edits --log` writes; null is RUN/events."""
    user: Literal["log", "nearer", "kept", "exact", "always", "never", "coin"] = "log"
    """Who decides: people, whose events are waited for; or a simulated user, for whom training tasks are played. Those
    that accept always, never or by a coin show that a round cannot harm."""
    batch: int = Field(default=64, ge=1)
    """Suggestions, silence among them, in one update."""
    margin: float = Field(default=0.05, ge=0, lt=1)
    """What a model may lose, by its interval, in reward on held-out tasks, or gain in suggestions that are not
    accepted, against the served model and against the first one, and still be deployed."""
    quiet: float = Field(default=0.02, ge=0, lt=1)
    """Share of suggestions that are not silence, below which an alarm rings."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Seconds between looks at the log."""
