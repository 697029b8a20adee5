"""What calls cost: counted from what the server reports."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Usage:
    """Calls and tokens by stage."""

    calls: Counter[str] = field(default_factory=Counter)
    tokens_in: Counter[str] = field(default_factory=Counter)
    tokens_out: Counter[str] = field(default_factory=Counter)
    counted: int = 0
    """Calls whose tokens were counted here, because the server does not report them."""

    def add(self, line: Mapping[str, Any]) -> None:
        """Counts one line of the journal."""
        stage = line["stage"]
        self.calls[stage] += 1
        self.tokens_in[stage] += line["prompt_tokens"]
        self.tokens_out[stage] += line["completion_tokens"]
        self.counted += "counted" in line

    def cost(self, prices: "Prices") -> float:
        """In the currency of the prices."""
        return prices.of(self.tokens_in.total(), self.tokens_out.total())

    def summary(self, stages: Iterable[str]) -> dict[str, Any]:
        """Calls and tokens of each stage, as manifests have them."""
        found: dict[str, Any] = {
            stage: {
                "calls": self.calls[stage],
                "prompt_tokens": self.tokens_in[stage],
                "completion_tokens": self.tokens_out[stage],
            }
            for stage in stages
        }
        return {**found, "calls_counted_by_characters": self.counted}


@dataclass(frozen=True)
class Prices:
    """Per million tokens; both None when not known."""

    tokens_in: float | None = None
    tokens_out: float | None = None

    @property
    def known(self) -> bool:
        """Whether a cost can be computed."""
        return self.tokens_in is not None

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """Their cost; 0 when prices are not known."""
        return (tokens_in * (self.tokens_in or 0.0) + tokens_out * (self.tokens_out or 0.0)) / 1e6
