"""Which answers go together, and which strict mode turns away by their text alone."""

from collections.abc import Sequence

from strop.core.verdict import Outcome
from strop.verification.rust.case import RustAnswer
from strop.verification.rust.crate_use import private_part
from strop.verification.rust.crates import code_name
from strop.verification.rust.layout import TRUSTED
from strop.verification.rust.lifetimes import forgets_lifetimes, swaps_types
from strop.verification.rust.names import trait_methods
from strop.verification.rust.outline import outline
from strop.verification.rust.scan import scan
from strop.verification.rust.touched import stand_in, touch
from strop.verification.rust.trusted import STANDARD_METHODS

TOO_LONG = "too long to be checked"


def groups(cases: Sequence[RustAnswer]) -> list[list[RustAnswer]]:
    """Cases that fit into one crate: of one edition and one kind of tests."""
    groups: dict[tuple[str, bool], list[RustAnswer]] = {}
    for case in cases:
        groups.setdefault((case.check.edition, case.integration), []).append(case)
    return list(groups.values())


def refusal(case: RustAnswer) -> str:
    """Why an answer is turned away wherever its trusted tests run, as far as its text shows."""
    found = case.scan
    if "long" in found.alone:
        return TOO_LONG
    known = [scan(text) for text in (case.check.tests, case.task.reference)]
    if found.world and not any(k.world for k in known):
        return "files, processes or the network, which this task does not need"
    if found.reads_files and not any(k.reads_files for k in known):
        return "files read at build time, which this task does not need"
    if TRUSTED in case.answer:
        return f"the name {TRUSTED}, which is kept for the tests"
    if set(found.extern_crates) - {code_name(entry) for entry in case.check.crates}:
        return "extern crate, which could change what the tests link"
    if case.crates and (name := private_part(case.answer)):
        return f"a private part of a crate: {name}"
    if (name := forgets_lifetimes(case.answer)) and not forgets_lifetimes(case.task.reference):
        return f"a hole of the compiler, by which references dangle (rust-lang#25860): {name}"
    if (name := swaps_types(case.answer)) and not swaps_types(case.task.reference):
        return f"a hole of the compiler, by which values change their type (rust-lang#57893): {name}"
    return ""


def taking_over(case: RustAnswer) -> str:
    """Why an answer could take trusted tests over that share a process with it, as far as its text shows."""
    trusted, found = case.trusted, case.scan
    assert trusted is not None
    mine = trait_methods(case.answer)
    standard_methods = trusted.called if case.task.reference else STANDARD_METHODS & trusted.called
    taken = {m for m in mine if m == "*" or m in standard_methods} - trusted.allowed
    if taken:
        return f"a trait of the answer has a method that the tests call: {min(taken)}"
    standard = {"assert", "assert_eq", "assert_ne", "vec", "format", "panic", "matches"}
    if trusted.uses_own_macros and found.macros & standard:
        return f"the answer redefines the macro {min(found.macros & standard)}"
    hooks = {"set_hook", "take_hook"} & {*found.alone}
    if hooks and not any(hooks & {*scan(text).alone} for text in (case.check.tests, case.task.reference)):
        return f"{min(hooks)}, which could hide panics of the tests"
    if case.task.reference:
        tests = touch(case.check.tests, case.task.reference, case.check.crate)
        return stand_in(outline(case.answer), tests, whole=not found.file_modules)
    return ""


def needs_second_look(case: RustAnswer) -> bool:
    """Whether trusted tests share a process with the answer and may compare objects of its own that hold data."""
    if case.trusted is None or case.calls is not None or not case.task.reference or case.taking_over:
        return False
    tests = touch(case.check.tests, case.task.reference, case.check.crate)
    return tests.opaque or any(tests.reference.holds_data(name) for name in tests.types)


def missing_file(case: RustAnswer) -> str:
    """A file that the answer declares as the task wants it, and that the task lacks; empty when there is none."""
    wanted = {m for text in (case.task.reference, case.task.signature) for m in scan(text).file_modules}
    for name in case.scan.file_modules:
        places = (f"src/{name}.rs", f"src/{name}/mod.rs")
        if name in wanted and not set(places) & set(case.check.files):
            return places[0]
    return ""


def give_up(case: RustAnswer, trouble: str) -> None:
    """A compiler did not come to its end on this answer alone: the answer is to blame."""
    outcomes = {"timed out": Outcome.TIMED_OUT, "out of memory": Outcome.OUT_OF_MEMORY}
    case.fail("build", f"the compiler {trouble}")
    case.outcome, case.detail = outcomes.get(trouble, Outcome.FAILED), f"compiling it {trouble}"
