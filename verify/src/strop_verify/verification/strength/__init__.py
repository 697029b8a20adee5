"""How much a Rust answer's own tests are worth: counted by parse tree, measured by mutation.

`mutants` of an answer are run, and `judge` says what that shows; then `controls` of `killers` are run, and `witnessed`
says whether an assertion noticed a fault (`verification.rust.own_tests` does all of it).

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

__all__ = [
    "controls",
    "count_assertions",
    "judge",
    "killed",
    "killers",
    "own_tests_hold",
    "witnessed",
]
