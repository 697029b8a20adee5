"""Static facts about an answer's own tests: how many, what they claim, why they cannot count."""

from strop.code.trees import MOST_BYTES, Source
from strop.verification.strength.python_suite import python_suite
from strop.verification.strength.rust_suite import rust_suite
from strop.verification.strength.suite import Suite, Test


def read_suite(code: str, language: str) -> Suite | None:
    """The tests of a text; None when it is too long to be read. Raises UserError for an unknown language."""
    source = Source(code, language)
    if source.too_long:
        return None
    return rust_suite(source) if language == "rust" else python_suite(source)


def find_tests(code: str, language: str) -> list[Test]:
    """The test functions of a text, in order. Tests that macros make are not seen.

    Empty for a text beyond `MOST_BYTES`. Raises UserError for an unknown language.
    """
    suite = read_suite(code, language)
    return sorted(suite.tests, key=lambda test: test.span) if suite else []


def count_assertions(code: str, language: str) -> int:
    """How many assertions of the tests that run can fail because of the code under test.

    Constant ones, unreachable ones and repetitions within one test do not count; see `rust_suite` and `python_suite`
    for what does. 0 for a text beyond `MOST_BYTES`. Raises UserError for an unknown language.
    """
    suite = read_suite(code, language)
    return sum(suite.real_claims().values()) if suite else 0


def own_tests_hold(answer: str, language: str) -> str | None:
    """One line why these tests cannot count, or None when they may. Raises UserError for an unknown language."""
    suite = read_suite(answer, language)
    if suite is None:
        return f"the answer is longer than {MOST_BYTES} bytes"
    if suite.faults:
        return suite.faults[0]
    if suite.generated:
        return None  # tests made by a macro are not seen; running them has to tell
    if not suite.tests:
        return "there is no test"
    live = suite.live()
    if not live:
        cut = any(test.removed for test in suite.tests)
        return "every test is ignored" + (" or taken out by a cfg" if cut else "")
    touched = suite.touched()
    if all(scope.names.isdisjoint(touched) for scope in live):
        return "no test calls the code under test"
    if not any(suite.real_claims().values()):
        return "no assertion depends on the code under test"
    return None
