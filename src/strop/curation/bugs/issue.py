"""What a task says of its bug: what the code is to do, and a shown call that goes wrong. Nothing of hidden tests."""

import json
import re
from typing import Any

from strop.core.checks import CasesCheck
from strop.core.task import Task
from strop.core.verdict import Outcome, TestResult, Verdict
from strop.verification.python.codec import Malformed, decode

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_THREAD = re.compile(r"^(thread '[^'\n]*') \(\d+\)", re.MULTILINE)
_HINT = re.compile(r"\n?^note: run with `RUST_BACKTRACE=.*", re.MULTILINE)
MOST_CHARACTERS = 300
"""Of a call or a value; longer ones are not shown."""


def issue(task: Task, verdict: Verdict, path: str) -> str:
    """The statement of the repair. `task`: the one whose check gave the verdict on the buggy file."""
    asked = (task.statement or task.prompt or "").strip()
    parts = [
        f"Fix the bug in {path}.",
        f"It should do this: {asked}" if asked else "",
        failing_call(task, verdict),
    ]
    return "\n\n".join(filter(None, parts))


def failing_call(task: Task, verdict: Verdict) -> str:
    """A shown case that fails, as "`f(2)` returns 3, expected 4."; empty when none does or it is long."""
    check = task.check.maybe(CasesCheck)
    if check is None or check.checker or len(verdict.tests) != len(check.cases):
        return ""
    for case, test in zip(check.cases, verdict.tests, strict=True):
        if case.shown and test.outcome is not Outcome.PASSED:
            call, expected = case.call(check.entry_point), repr(case.expected)
            if len(call) <= MOST_CHARACTERS and len(expected) <= MOST_CHARACTERS:
                return f"`{call}` {_found(test)}, expected {expected}."
    return ""


def project_issue(name: str, path: str, failing: list[str], message: str) -> str:
    """The statement of a repair in a project: the function, a failing test, what it says without passing numbers."""
    more = f" {len(failing) - 1} other tests fail too." if len(failing) > 2 else ""
    steady = _HINT.sub("", _THREAD.sub(r"\1", _ADDRESS.sub("0x...", message)))[:MOST_CHARACTERS]
    said = "\n".join(f"    {line}" for line in steady.splitlines())
    told = f"The test `{failing[0]}` fails" + (f":\n\n{said}" if said.strip() else ".")
    return f"Fix the bug in `{name}` ({path}).\n\n{told}" + (f"\n\n{more.strip()}" if more else "")


def _found(test: TestResult) -> str:
    kind, _, rest = test.message.partition(" ")
    if kind == "returned":
        try:
            value: Any = decode(json.loads(rest))
        except (ValueError, Malformed):
            return "returns something else"
        return f"returns {value!r}"
    name = test.message.partition(":")[0]
    return f"raises {test.message}" if name.isidentifier() else "fails"
