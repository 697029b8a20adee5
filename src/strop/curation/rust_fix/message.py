"""The message of a fault: rustc's first error, or which test fails. Nothing of a hidden test is revealed."""

import re

from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict

FILE = "src/lib.rs"
EXAMPLES = "examples"
"""Name of the test of the shown examples."""
MOST_LINES, MOST_CHARACTERS = 40, 2000
_ERROR = re.compile(r"^error(?:\[(E\d{4})\])?: ")
_DIAGNOSTIC = re.compile(r"^(?:error|warning)(?:\[\S+\])?: ")
_LIBRARY = re.compile(r"(?<=--> |::: )/\S*?/library/")
"""Where the standard library's source lies here."""
_TYPE_FILE = re.compile(r"^ *= note: (?:the full .*has been written to|consider using `--verbose`)")
_FAILED_LINE = re.compile(r"^a test failed at line (\d+)$")
_PANIC = re.compile(r"^panicked at (\S+?):(\d+):\d+:$")
_TEST = re.compile(r"^( *)fn (\w+)\(\)", re.M)
_KNOWN_PANICS = ("attempt to ", "index out of bounds", "called `Option::unwrap()`", "called `Result::unwrap()`",
                 "range end index", "range start index", "byte index", "slice index starts")  # fmt: skip


def first_error(output: str) -> tuple[str, str] | None:
    """(code, message) of the first error in a compiler's output; None when there is none. The code may be "".

    The message is cut to `MOST_LINES` lines and `MOST_CHARACTERS` characters, at an end of a line.
    """
    lines = output.splitlines()
    start = next((i for i, line in enumerate(lines) if _ERROR.match(line)), None)
    if start is None:
        return None
    rest = range(start + 1, len(lines))
    end = next((i for i in rest if _DIAGNOSTIC.match(lines[i])), len(lines))
    found = _ERROR.match(lines[start])
    return (found[1] or "" if found else ""), _cut(_plain(lines[start:end]))


def _plain(lines: list[str]) -> list[str]:
    """The lines without machine-specific parts."""
    return [_LIBRARY.sub("library/", line).rstrip() for line in lines if not _TYPE_FILE.match(line)]


def _cut(lines: list[str]) -> str:
    text = "\n".join(lines[:MOST_LINES])
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS].rpartition("\n")[0]
    return text.strip("\n")


def first_failure(task: Task, verdict: Verdict) -> str:
    """What fails when the program runs: an example that is shown, with where it panics, or a hidden test, no more.

    `task`: the one whose tests gave the verdict.
    """
    failed = [test.id.rpartition("::")[2] for test in verdict.tests if test.outcome is not Outcome.PASSED]
    records = _records(verdict.output)
    shown = EXAMPLES in failed and bool(task.metadata.get("examples"))
    if not shown:
        held = "The examples hold, but a" if task.metadata.get("examples") else "A"
        return f"It builds. {held} hidden test fails."
    # Each failing test leaves one record, in the order of their names; more or fewer say nothing.
    record = records[failed.index(EXAMPLES)] if len(records) == len(failed) else ""
    if record.startswith("line "):
        if example := _example(task, task.check.test_code(), int(record.removeprefix("line "))):
            return f"It builds. This example does not hold:\n\n{example}"
    elif record:
        return f"It builds. An example panics at {record}"
    return "It builds. An example does not hold."


def _records(output: str) -> list[str]:
    """A failing assertion as "line N" of the tests, a panic of the program as "FILE:LINE", with its cause if known."""
    found, lines = [], output.splitlines()
    for number, line in enumerate(lines):
        failed, panic = _FAILED_LINE.match(line), _PANIC.match(line)
        if failed:
            found.append(f"line {failed[1]}")
        elif panic:
            cause = lines[number + 1] if number + 1 < len(lines) else ""
            known = f":\n{cause[:200]}" if cause.startswith(_KNOWN_PANICS) else ""
            found.append(f"{FILE}:{panic[2]}{known}")
    return found


def _example(task: Task, tests: str, line: int) -> str:
    """The shown example that the test's line asserts, as the prompt has it; "" when that is not certain."""
    shown = list(task.metadata.get("examples", ()))
    start = next((m for m in _TEST.finditer(tests) if m[2] == EXAMPLES), None)
    if start is None:
        return ""
    end = tests.find(f"\n{start[1]}}}", start.end())
    first = tests.count("\n", 0, start.end()) + 1
    body = tests[start.end() : end].split("\n")
    asserts = [first + i for i, text in enumerate(body) if re.match(r"\s*assert(_eq|_ne)?!", text)]
    return shown[asserts.index(line)] if line in asserts and len(asserts) == len(shown) else ""
