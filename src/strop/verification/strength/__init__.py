"""How much an answer's own tests are worth: counted by parse tree, measured by mutation.

`measure` does all of it for one answer. To verify many answers in one batch: `mutants`, run them, `judge`; then
`controls` of `killers`, run them, `witnessed`, `conclude`.

Needs tree-sitter and its grammars of Rust and Python (extra `strength`); without them each function raises UserError.
"""

from strop.verification.strength.measure import (
    controls,
    count_assertions,
    find_tests,
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
    "find_tests",
    "judge",
    "killed",
    "killers",
    "measure",
    "own_tests_hold",
    "witnessed",
]
