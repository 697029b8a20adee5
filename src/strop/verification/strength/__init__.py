"""How much a Rust answer's own tests are worth: counted by parse tree, measured by mutation.

`measure` does all of it for one answer. To verify many answers in one batch: `mutants`, run them, `judge`; then
`controls` of `killers`, run them, `witnessed`, `conclude`.

Needs tree-sitter and its grammar of Rust (extra `strength`); without them each function raises UserError.
"""

from strop.verification.strength.measure import (
    controls,
    count_assertions,
    judge,
    killed,
    killers,
    measure,
    own_tests_hold,
    witnessed,
)

__all__ = [
    "controls",
    "count_assertions",
    "judge",
    "killed",
    "killers",
    "measure",
    "own_tests_hold",
    "witnessed",
]
