"""Prepares an answer: scans its text, makes the task's tests safe, and finds faults of the task itself.

This decides which answers share a crate, and which ones strict mode refuses by their text alone. These include answers
with the shape of known soundness holes of the compiler, by which safe code gets dangling references (rust-lang#25860)
or values of another type (rust-lang#57893). The first needs a function with a parameter or result whose type names two
lifetimes, which implies that one outlives the other, and a use of that function as a value, where the compiler forgets
this; or a bound for all lifetimes, with two lifetimes, on a trait that the text defines, which its supertrait forgets
(rust-lang#84591). The other needs a trait that is implemented for all types, and a trait object of it that binds an
associated type to another type.
"""

from collections.abc import Sequence
from itertools import pairwise, takewhile

from strop_verify.code.trees import Node, TooCostly, bounded, parse, walk
from strop_verify.core.checks import RustCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.rust.calls import calls_of, plan
from strop_verify.verification.rust.case import RustAnswer
from strop_verify.verification.rust.crates import code_name, crates_named, private_part
from strop_verify.verification.rust.equality import doubtful_types
from strop_verify.verification.rust.layout import TRUSTED
from strop_verify.verification.rust.names import leaves, plain, trait_methods
from strop_verify.verification.rust.outline import outline
from strop_verify.verification.rust.scan import balanced, scan, steps_for
from strop_verify.verification.rust.tested_interface import stand_in, touch
from strop_verify.verification.rust.trusted_tests import STANDARD_METHODS, read_trusted


def take_in(number: int, task: Task, answer: str, *, strict: bool) -> RustAnswer:
    """Makes a case to judge. Its outcome is already *error* if no answer to the task can be judged this way.

    Raises VerificationError if the task's check is of another kind.
    """
    check = task.check.only(RustCheck)
    answer = answer.encode(errors="replace").decode()
    trusted = None
    if strict and check.tests:
        text = check.tests if check.crate else f"use super::*; {check.tests}"
        trusted = read_trusted(text, task.reference)
        touch(check.tests, task.reference, check.crate)  # now, so that it does not count against the answer
        plan(check.tests, task.reference)
    names = {code_name(entry) for entry in check.crates}
    used = crates_named(answer, names) | crates_named(trusted.text if trusted else check.tests, names)
    case = RustAnswer(number, task, check, answer, scan(answer), trusted, crates=frozenset(used))
    case.worldly = trusted is not None and scan(check.tests).world
    case.broken_tests = not balanced(check.tests)
    if trusted is not None:
        try:
            with bounded(steps_for(answer)):
                case.refused = refusal(case)
                case.taking_over = case.refused or taking_over(case)
                if not (case.refused or case.worldly or used or check.crate):
                    case.calls = calls_of(check.tests, task.reference, answer)
                case.doubtful = frozenset(doubtful_types(answer, names) if used else ())
        except TooCostly:
            case.refused = TOO_LONG
    if case.broken_tests and strict:
        case.outcome, case.detail = Outcome.ERROR, "the task's tests are not Rust: a bracket is not closed"
    elif lacking := missing_file(case):
        case.outcome = Outcome.ERROR
        case.detail = f"the task lacks {lacking}, which its reference declares; add it to the check's files"
    return case


TOO_LONG = "too long to be checked"


def groups(cases: Sequence[RustAnswer]) -> list[list[RustAnswer]]:
    """Cases that may share a crate: with the same edition and kind of tests."""
    groups: dict[tuple[str, bool], list[RustAnswer]] = {}
    for case in cases:
        groups.setdefault((case.check.edition, case.integration), []).append(case)
    return list(groups.values())


def refusal(case: RustAnswer) -> str:
    """Why an answer's text is refused, wherever its trusted tests run; or empty."""
    found = case.scan
    if "long" in found.alone:
        return TOO_LONG
    known = [scan(text) for text in (case.check.tests, case.task.reference)]
    if found.world and not any(k.world for k in known):
        return "files, processes or the network, which this task does not need"
    if found.reads_files and not any(k.reads_files for k in known):
        return "files read at build time, which this task does not need"
    if TRUSTED in case.answer:
        return f"the name {TRUSTED}, which is reserved for the tests"
    if set(found.extern_crates) - {code_name(entry) for entry in case.check.crates}:
        return "extern crate, which could change what the tests link"
    if case.crates and (name := private_part(case.answer)):
        return f"a private part of a crate: {name}"
    if (name := forgets_lifetimes(case.answer)) and not forgets_lifetimes(case.task.reference):
        return f"a compiler bug that allows dangling references (rust-lang#25860): {name}"
    if (name := swaps_types(case.answer)) and not swaps_types(case.task.reference):
        return f"a compiler bug that changes the type of values (rust-lang#57893): {name}"
    return ""


def taking_over(case: RustAnswer) -> str:
    """Why an answer, by its text, could take over trusted tests in its process; or empty."""
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
    """Whether trusted tests share the answer's process and may compare objects of its types that hold data."""
    if case.trusted is None or case.calls is not None or not case.task.reference or case.taking_over:
        return False
    tests = touch(case.check.tests, case.task.reference, case.check.crate)
    return tests.opaque or any(tests.reference.holds_data(name) for name in tests.types)


def missing_file(case: RustAnswer) -> str:
    """A module's file that the task asks for and the answer declares, but the task lacks; empty if there is none."""
    wanted = {m for text in (case.task.reference, case.task.signature) for m in scan(text).file_modules}
    for name in case.scan.file_modules:
        places = (f"src/{name}.rs", f"src/{name}/mod.rs")
        if name in wanted and not set(places) & set(case.check.files):
            return places[0]
    return ""


def give_up(case: RustAnswer, trouble: str) -> None:
    """Fails an answer on which, alone, a compiler did not finish."""
    outcomes = {"timed out": Outcome.TIMED_OUT, "out of memory": Outcome.OUT_OF_MEMORY}
    case.fail("build", f"the compiler {trouble}")
    case.outcome, case.detail = outcomes.get(trouble, Outcome.FAILED), f"the compiler {trouble}"


_FUNCTIONS = ("function_item", "function_signature_item")
_LONGEST_HEAD = 60
"""Number of tokens after `impl` or `dyn` that are checked."""
_TYPES = ("struct_item", "enum_item", "union_item", "type_item", "trait_item", "associated_type")


def forgets_lifetimes(text: str) -> str:
    """A function of that shape used as a value, or a trait bound that way (see above); empty if there is none."""
    if text.count("'") < 3:
        return ""
    root = parse(text)
    if name := _bound_for_all(root):
        return name
    carrying: set[str] = set()
    """Types with two lifetimes of their own."""
    shaped: set[str] = set()
    end = 0
    for node in walk(root):
        if node.type in _TYPES and len(_lifetimes(node)) > 1:
            carrying.add(plain(node.child_by_field_name("name")))
        elif node.type in ("macro_definition", "macro_invocation") and node.start_byte >= end:
            tokens = [plain(n) for n in leaves(node)]
            end = node.end_byte
            named = _lifetimes(node) | {b for a, b in pairwise(tokens) if a == "'"}
            if "fn" in tokens and (len(named) > 1 or "lifetime" in tokens):
                return "a macro that makes functions with lifetimes"
    for node in walk(root):
        if node.type in _FUNCTIONS:
            parameters = node.child_by_field_name("parameters")
            given = parameters.named_children if parameters is not None else []
            types = [parameter.child_by_field_name("type") for parameter in given]
            for type_ in (*types, node.child_by_field_name("return_type")):
                if type_ is not None and (len(_lifetimes(type_)) > 1 or carrying & _types(type_)):
                    shaped.add(plain(node.child_by_field_name("name")))
    if not shaped:
        return ""
    tokens = [*(plain(n) for n in leaves(root)), ";"]
    for number, token in enumerate(tokens[:-1]):
        before = tokens[number - 1] if number else ""
        if token in shaped and before not in ("fn", ".") and tokens[number + 1] != "(":
            return token
    return ""


def _bound_for_all(root: Node) -> str:
    """A trait that the text defines, bound by `for<..>` with two lifetimes in its arguments; or empty."""
    tokens = [plain(n) for n in leaves(root)]
    own = {b for a, b in pairwise(tokens) if a == "trait"}
    if not own:
        return ""
    for number, token in enumerate(tokens):
        if token == "for" and tokens[number + 1 : number + 2] == ["<"]:
            bound = list(
                takewhile(lambda t: t not in ("{", ";"), tokens[number + 1 : number + _LONGEST_HEAD])
            )
            bound = bound[bound.index(">") + 1 :] if ">" in bound else []
            lifetimes = {b for a, b in pairwise(["", *bound]) if a == "'" or b.startswith("$")}
            if len(lifetimes) > 1 and (names := own & {*bound}):
                return min(names)
    return ""


def swaps_types(text: str) -> str:
    """A trait for all types whose trait objects bind an associated type; empty if there is none."""
    if "dyn" not in text:
        return ""
    tokens = [plain(n) for n in leaves(parse(text))]
    blanket: set[str] = set()
    bound: list[str] = []
    for number, token in enumerate(tokens):
        head = tokens[number + 1 : number + _LONGEST_HEAD]
        if token == "impl" and head[:1] == ["<"] and "for" in head[:-1]:
            place = head.index("for")
            if head[place + 1] in head[1:place] and head[place + 2 : place + 3] in (["{"], ["where"]):
                blanket.update(head[1:place])
        elif token == "dyn" and "=" in head:
            bound += [a for a, b in pairwise(head[: head.index("=")]) if b == "<"]
    return next((name for name in bound if name in blanket), "")


def _lifetimes(node: Node) -> set[str]:
    found = {plain(leaf) for n in walk(node) if n.type == "lifetime" for leaf in n.named_children}
    return found - {"_"}


def _types(node: Node) -> set[str]:
    return {plain(n) for n in walk(node) if n.type == "type_identifier"}
