"""What a build is asked to do, and which of it decides about its results."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from strop.core.errors import UserError
from strop.policies.connection import Connection

PARTS = (15000, 1000, 500)
"""Shares of train, test and eval, as published."""


@dataclass(frozen=True, kw_only=True)
class RustBuildSettings(Connection):
    """One build, and the server that it asks.

    The fields of `identity` decide what is asked and kept; the others may change between its runs.
    """

    source: str
    """As `strop.tasks.sources.load_tasks` takes it."""
    folder: Path
    columns: dict[str, str] = field(default_factory=dict)
    """Part to column of foreign rows; only `statement` and `id` are used."""
    temperature: float = 0.7
    max_tokens: int = 2048
    attempts: int = 1
    """Answers asked for at most, each after the first with what was wrong with the one before."""
    seed: int = 0
    limit: int | None = None
    """Prompts taken from the source, the first ones."""
    parts: tuple[int, int, int] = PARTS
    workers: int | None = None
    """Answers verified at a time; None = one a core."""
    jail: str = "auto"
    allow_unsafe: bool = False

    def check(self) -> None:
        """Raises UserError, one line, for what cannot work."""
        if (self.price_in is None) != (self.price_out is None):
            raise UserError("one price alone gives no cost: name both --price-in and --price-out")
        if self.max_cost is not None and self.price_in is None:
            raise UserError("--max-cost needs prices: add --price-in and --price-out, per million tokens")
        if min(self.parts) < 0 or sum(self.parts) == 0:
            given = ",".join(map(str, self.parts))
            raise UserError(f"--parts {given}: three numbers, at least one of them above 0")
        unused = set(self.columns) - {"statement", "id"}
        if unused:
            raise UserError(f"--column {min(unused)}=...: only statement=COLUMN and id=COLUMN are used here")

    def check_server(self) -> None:
        """Raises UserError, one line, where no server or model is named."""
        self.check_url("--url")
        if not self.model:
            raise UserError("no model named: add --model NAME, as the server names it")

    def identity(self, templates: str) -> dict[str, Any]:
        """What two runs must have in common to be one build. `templates`: a hash of the texts that ask."""
        names = ("source", "columns", "model", "temperature", "max_tokens", "attempts", "seed")
        values = asdict(self)
        return {**{name: values[name] for name in names}, "templates": templates}
