"""The questions to the model, the keys that identify paid responses, and an estimate of the cost.

A prompt costs one call to be rewritten for Rust, and one for each answer. The estimate assumes four characters per
token, 60 more tokens for a rewritten prompt, and 500 tokens for a solution with its tests.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from strop.policies.connection import Prices, Usage
from strop_tasks.curation.engine.paid_calls import Question, messages, template
from strop_tasks.curation.rust_build import RustBuildSettings
from strop_verify.core.ids import content_hash, derive_seed

STAGES = ("rewrite", "solve")
MOST_OUTPUT = 3_000  # characters of compiler output shown to the model
CHARACTERS_PER_TOKEN = 4
REWRITE_EXTRA_TOKENS, SOLUTION_TOKENS = 60, 500


class FailedAnswer(NamedTuple):
    """An answer that was not kept, and why, for the model."""

    answer: str
    """The whole response."""
    reason: str
    output: str


_template = partial(template, "rust_build")


def templates_hash() -> str:
    """A hash of all templates."""
    return content_hash(list(map(_template, ("rewrite", "solve", "repair"))))


def rewrite(settings: RustBuildSettings, prompt_id: str, statement: str) -> Question:
    """Asks for the prompt, rewritten for Rust."""
    asked = messages(_template("rewrite"), {"statement": statement})
    return _question(settings, "rewrite", 1, prompt_id, asked, "")


def solve(
    settings: RustBuildSettings, prompt_id: str, statement: str, faults: list[FailedAnswer]
) -> Question:
    """Asks for a function and tests; after `faults`, the newest last, for another answer.

    The key depends on the wrong answers, but not on compilers' output, which may differ between machines.
    """
    asked = messages(_template("solve"), {"statement": statement})
    for fault in faults[-1:]:
        asked.append({"role": "assistant", "content": fault.answer})
        asked += messages(_template("repair"), {"reason": fault.reason, "output": fault.output[:MOST_OUTPUT]})
    earlier = content_hash([fault.answer for fault in faults]) if faults else ""
    return _question(settings, "solve", len(faults) + 1, prompt_id, asked, earlier)


def _question(
    settings: RustBuildSettings,
    stage: str,
    attempt: int,
    prompt_id: str,
    asked: list[dict[str, str]],
    earlier: str,
) -> Question:
    seed = derive_seed(settings.seed, stage, prompt_id, attempt) % 2**31
    first: Any = asked[:2]
    parts = [settings.model, settings.temperature, settings.max_tokens, seed, stage, attempt, first, earlier]
    return Question(content_hash(parts, length=32), stage, attempt, prompt_id, seed, asked)


@dataclass(frozen=True)
class CostEstimate:
    """The cost of a whole build, if all first answers pass."""

    rows: int
    """Prompts of the source."""
    prompts: int
    """Prompts that are asked."""
    calls: int
    tokens_in: int
    tokens_out: int
    most_calls: int
    """Calls if every answer before the last attempt fails."""

    @classmethod
    def of(cls, rows: int, prompts: int, characters: int, attempts: int) -> "CostEstimate":
        """From the numbers of all and of asked prompts, and the characters in the statements of the asked ones."""
        statement = characters / CHARACTERS_PER_TOKEN
        frame = sum(len(_template(stage)) / CHARACTERS_PER_TOKEN for stage in STAGES)
        rewritten = statement + prompts * REWRITE_EXTRA_TOKENS
        tokens_in = round(prompts * frame + statement + rewritten)
        tokens_out = round(rewritten + prompts * SOLUTION_TOKENS)
        return cls(rows, prompts, 2 * prompts, tokens_in, tokens_out, (1 + attempts) * prompts)

    def lines(self, paid: Usage, prices: Prices) -> list[str]:
        """The estimate as lines for the user."""
        more = f", at most {self.most_calls:,} with repeated attempts" if self.most_calls > self.calls else ""
        lines = [
            f"estimate: {self.prompts:,} prompts, {self.calls:,} calls{more}; about {self.tokens_in:,} tokens in and "
            f"{self.tokens_out:,} out (four characters a token, {SOLUTION_TOKENS} tokens a solution)"
        ]
        if prices.known:
            cost = prices.of(self.tokens_in, self.tokens_out)
            lines.append(f"estimated cost: {cost:.2f} at the given prices")
        else:
            lines.append("cost: not known without --price-in and --price-out (per million tokens)")
        if paid.calls.total():
            spent = f", {paid.cost(prices):.2f} spent" if prices.known else ""
            lines.append(f"already paid and kept: {paid.calls.total():,} calls{spent}")
        return lines
