"""Takes an answer in: what its text says, the task's tests made safe, and faults of the task itself."""

from strop.code.trees import TooCostly, bounded
from strop.core.checks import RustCheck
from strop.core.task import Task
from strop.core.verdict import Outcome
from strop.verification.rust.calls import calls_of, plan
from strop.verification.rust.case import RustAnswer
from strop.verification.rust.crate_use import crates_named, doubtful_types
from strop.verification.rust.crates import code_name
from strop.verification.rust.delimiters import balanced
from strop.verification.rust.rules import TOO_LONG, missing_file, refusal, taking_over
from strop.verification.rust.scan import scan, steps_for
from strop.verification.rust.touched import touch
from strop.verification.rust.trusted import read_trusted


def take_in(number: int, task: Task, answer: str, *, strict: bool) -> RustAnswer:
    """A case to be judged. Its outcome is *error* already where no answer to the task can be judged this way.

    Raises VerificationError when the task's check is of another kind.
    """
    check = task.check.only(RustCheck)
    answer = answer.encode(errors="replace").decode()
    trusted = None
    if strict and check.tests:
        text = check.tests if check.crate else f"use super::*; {check.tests}"
        trusted = read_trusted(text, task.reference)
        touch(check.tests, task.reference, check.crate)  # so that reading it is not on the answer's account
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
