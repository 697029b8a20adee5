"""Which answers go together, and which strict mode turns away by their text alone."""

from collections.abc import Sequence

from strop.core.verdict import Outcome
from strop.verification.rust.case import Case
from strop.verification.rust.names import trait_methods
from strop.verification.rust.scan import scan
from strop.verification.rust.trusted import STANDARD_METHODS


def groups(cases: Sequence[Case]) -> list[list[Case]]:
    """Cases that fit into one crate: of one edition and one kind of tests."""
    groups: dict[tuple[str, bool], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.check.edition, case.integration), []).append(case)
    return list(groups.values())


def refusal(case: Case) -> str:
    """Why an answer could take the trusted tests over, as far as its text shows."""
    trusted, found = case.trusted, case.scan
    assert trusted is not None
    if "long" in found.alone:
        return "too long to be checked"
    known = [scan(text) for text in (case.check.tests, case.task.reference)]
    if found.world and not any(k.world for k in known):
        return "files, processes or the network, which this task does not need"
    if found.reads_files and not any(k.reads_files for k in known):
        return "files read at build time, which this task does not need"
    if "extern crate" in found.alone:
        return "extern crate, which could change what the tests link"
    mine = trait_methods(case.answer)
    taken = {m for m in mine if m == "*" or (m in STANDARD_METHODS and m in trusted.called)} - trusted.allowed
    if taken:
        return f"a trait of the answer has a method that the tests call: {min(taken)}"
    standard = {"assert", "assert_eq", "assert_ne", "vec", "format", "panic", "matches"}
    if trusted.uses_own_macros and found.macros & standard:
        return f"the answer redefines the macro {min(found.macros & standard)}"
    return ""


def give_up(case: Case, trouble: str) -> None:
    """A compiler did not come to its end on this answer alone: the answer is to blame."""
    outcomes = {"timed out": Outcome.TIMED_OUT, "out of memory": Outcome.OUT_OF_MEMORY}
    case.fail("build", f"the compiler {trouble}")
    case.outcome, case.detail = outcomes.get(trouble, Outcome.FAILED), f"compiling it {trouble}"
