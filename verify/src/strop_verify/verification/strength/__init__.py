"""Measures the strength of a Rust answer's own tests: counts assertions in the parse tree and runs mutants.

Run `mutants` of an answer and `judge` the verdicts; then run `controls` of `killers`, and `witnessed` tells whether an
assertion noticed a fault (`verification.rust.own_tests` does all of it).

Needs tree-sitter and its grammar of Rust (extra `strength`); without them each function raises UserError.
"""

from strop_verify.verification.strength.measure import (
    controls,
    count_assertions,
    judge,
    killed,
    killers,
    own_tests_hold,
    witnessed,
)

__all__ = ["controls", "count_assertions", "judge", "killed", "killers", "own_tests_hold", "witnessed"]
