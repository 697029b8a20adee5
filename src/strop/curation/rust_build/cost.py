"""What calls cost: counted from what the server reports, estimated before it has reported anything.

The estimate takes four characters for a token, a rewritten prompt for as long as the original with 60 tokens more, and
500 tokens for a solution with its tests. Once calls are in, their averages take the place of these.
"""

from dataclasses import dataclass

from strop.curation.rust_build.questions import STAGES, template
from strop.policies.paid.connection import Prices, Usage

CHARACTERS_PER_TOKEN = 4
REWRITE_EXTRA_TOKENS, SOLUTION_TOKENS = 60, 500


@dataclass(frozen=True)
class CostEstimate:
    """Of a whole build whose first answers all pass."""

    rows: int
    """Prompts of the source."""
    prompts: int
    """Those that are asked."""
    calls: int
    tokens_in: int
    tokens_out: int
    most_calls: int
    """When every answer but the last attempt's fails."""

    @classmethod
    def of(cls, rows: int, prompts: int, characters: int, attempts: int) -> "CostEstimate":
        """From the number of prompts, of those that are asked, and the characters of the statements of these."""
        statement = characters / CHARACTERS_PER_TOKEN
        frame = {stage: len(template(stage)) / CHARACTERS_PER_TOKEN for stage in STAGES}
        rewritten = statement + prompts * REWRITE_EXTRA_TOKENS
        return cls(
            rows=rows,
            prompts=prompts,
            calls=2 * prompts,
            tokens_in=round(prompts * sum(frame.values()) + statement + rewritten),
            tokens_out=round(rewritten + prompts * SOLUTION_TOKENS),
            most_calls=(1 + attempts) * prompts,
        )

    def refined(self, usage: Usage, prices: Prices) -> float:
        """The cost of the whole, from the averages of the calls that are in; as estimated where there are too few."""
        if min(usage.calls[stage] for stage in STAGES) < min(20, self.prompts):
            return prices.of(self.tokens_in, self.tokens_out)
        rewrite, solve = (
            prices.of(usage.tokens_in[stage], usage.tokens_out[stage]) / usage.calls[stage]
            for stage in STAGES
        )
        solves_each = max(1.0, usage.calls["solve"] / usage.calls["rewrite"])
        return max(self.prompts * (rewrite + solves_each * solve), usage.cost(prices))

    def lines(self, paid: Usage, prices: Prices) -> list[str]:
        """For people, before anything is sent."""
        more = f", at most {self.most_calls:,} with repeated attempts" if self.most_calls > self.calls else ""
        lines = [
            f"estimate: {self.prompts:,} prompts, {self.calls:,} calls{more}; about {self.tokens_in:,} tokens in and "
            f"{self.tokens_out:,} out (four characters a token, {SOLUTION_TOKENS} tokens a solution)"
        ]
        if prices.known:
            lines.append(
                f"estimated cost: {prices.of(self.tokens_in, self.tokens_out):.2f} at the given prices"
            )
        else:
            lines.append("cost: not known without --price-in and --price-out (per million tokens)")
        if paid.calls.total():
            spent = f", {paid.cost(prices):.2f} spent" if prices.known else ""
            lines.append(f"already paid and kept: {paid.calls.total():,} calls{spent}")
        return lines
