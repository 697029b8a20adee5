"""Recipe section `play`: how tasks of any number of turns are played side by side."""

from typing import Literal

from pydantic import Field

from strop.config.section import Section

Stop = Literal["end", "mask", "drop"]
Told = Literal["feedback", "end", "mask", "drop"]


class StopsConfig(Section):
    """What becomes of a play that ended without an answer, by the reason.

    end: it is scored as no answer. mask: the same, but its tokens carry no loss. drop: it is not scored. feedback: the
    policy is told what was wrong, and the play goes on. A play that ended by our fault is always dropped.
    """

    no_call: Told = "end"
    """A turn called no tool where one had to be called."""
    malformed: Told = "end"
    """A turn could not be read."""
    max_turns: Stop = "end"
    """The environment allows no more turns, or play.max_turns is reached."""
    context: Stop = "end"
    """No room was left for another turn."""
    deadline: Stop = "drop"
    """The play's time was up. Time depends on the machine, so anything but drop is at your own risk."""


class FolderConfig(Section):
    """Bounds of the folder that lasts as long as a play, for environments whose tools use one."""

    disk_mb: int = Field(default=64, ge=1)
    """All its files together, in MiB."""
    file_mb: int = Field(default=16, ge=1)
    """Largest file, in MiB."""
    processes: int = Field(default=64, ge=1)
    """Processes of a program."""
    read: list[str] = Field(default=[])
    """Paths outside that its programs may read, such as the folder of a toolchain."""


class PlayConfig(Section):
    """Limits and order of plays. A task of one turn needs none of it."""

    order: Literal["deterministic", "as-ready"] = "deterministic"
    """deterministic: results of tools are taken after a fixed number of decoding steps, so that on a CPU the same seeds
    give the same bits whatever tools take. as-ready: as soon as they are there."""
    patience: int = Field(default=16, ge=1)
    """Decoding steps after which a result is taken in the order deterministic."""
    at_once: int = Field(default=1024, ge=1)
    """Plays in flight at the same time."""
    max_turns: int = Field(default=10, ge=1)
    """Turns of a play, however many its environment would take."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of a whole play, prompts and answers; null: as many as the model takes."""
    seconds: float | None = Field(default=None, gt=0)
    """Wall seconds of a play from its turn on, sampling and tools; null: no limit."""
    setups: int = Field(default=8, ge=1)
    """Environments that are set up ahead of their plays."""
    setup_seconds: float = Field(default=120.0, gt=0)
    """Wall seconds for setting an environment up; one that takes longer has failed by our fault."""
    close_seconds: float = Field(default=30.0, gt=0)
    """Wall seconds for closing an environment, after which nobody waits for it."""
    feedback: int = Field(default=3, ge=0)
    """Times that a play is told why its turn did not count, where stops say feedback."""
    folder: FolderConfig = FolderConfig()
    """Bounds of a play's own folder."""
    stops: StopsConfig = StopsConfig()
    """What becomes of plays without an answer."""
