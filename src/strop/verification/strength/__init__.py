"""How much an answer's own tests are worth: counted by parse tree, measured by mutation.

Needs tree-sitter and its grammars of Rust and Python (extra `strength`); without them each function raises UserError.
"""

from strop.verification.strength.hold import count_assertions, find_tests, own_tests_hold
from strop.verification.strength.measure import Strength, judge, killed, measure
from strop.verification.strength.mutants import Mutant, mutants
from strop.verification.strength.suite import Test

__all__ = [
    "Mutant",
    "Strength",
    "Test",
    "count_assertions",
    "find_tests",
    "judge",
    "killed",
    "measure",
    "mutants",
    "own_tests_hold",
]
