"""The statement of a bug: what the code should do, and a shown call that fails. Reveals no hidden test.

A model may write the text: it gets what fails and what the function is for, never the code. The template's statement
is kept if the model's text is empty, too long, or reveals the repair in a line of the correct code or a diff.
"""

import ast
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING

from strop.tasks.answers import without_thinking
from strop_tasks.curation.bugs.server import AHEAD, Server
from strop_tasks.curation.engine.tally import Tally
from strop_tasks.curation.faults.routines import routines
from strop_verify.core.bounded_map import ahead
from strop_verify.core.checks import CasesCheck, EditCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, TestResult, Verdict
from strop_verify.verification.python.compare import is_whole

if TYPE_CHECKING:
    from strop_tasks.curation.engine.paid_calls import Response

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{6,}")
_THREAD = re.compile(r"^(thread '[^'\n]*') \(\d+\)", re.MULTILINE)
_LINE = re.compile(r", line \d+$")  # the location of an exception, which an issue must not reveal
_HINT = re.compile(r"\n?^note: run with `RUST_BACKTRACE=.*", re.MULTILINE)
MOST_CHARACTERS = 300  # maximum characters of a call or a value; longer ones are not shown
MOST_WRITTEN = 3_000  # maximum characters of a statement's text; longer ones are not used
MOST_PURPOSE = 4_000
_DIFF = re.compile(r"^(?:@@ |diff --|--- \S.*\n\+\+\+ |<{5,} |>{5,} |```(?:diff|patch)\b)", re.MULTILINE)
_WORD = re.compile(r"\w*")
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef


def issue(task: Task, verdict: Verdict, path: str) -> str:
    """The statement of a repair task. `task`: the task whose check gave the verdict on the buggy file."""
    purpose = (task.statement or task.prompt or "").strip()
    does = f"It should do this: {purpose}" if purpose else ""
    return "\n\n".join(filter(None, [f"Fix the bug in {path}.", does, failing_call(task, verdict)]))


def failing_call(task: Task, verdict: Verdict) -> str:
    """A shown case that fails, as "`f(2)` returns 3, expected 4."; empty if none fails or it is too long."""
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
    """The statement of a repair in a project: the function, a failing test, and its message."""
    more = f" {len(failing) - 1} other tests fail too." if len(failing) > 2 else ""
    steady = _steady(message)[:MOST_CHARACTERS]
    message = "\n".join(f"    {line}" for line in steady.splitlines())
    failure = f"The test `{failing[0]}` fails" + (f":\n\n{message}" if message.strip() else ".")
    return f"Fix the bug in `{name}` ({path}).\n\n{failure}" + (f"\n\n{more.strip()}" if more else "")


def same_message(first: str, second: str) -> str:
    """The common part of two runs' messages: the whole text, the first line, or the type of error."""
    first, second = _steady(first), _steady(second)
    if first == second:
        return first
    line, other = first.partition("\n")[0], second.partition("\n")[0]
    if line == other:
        return line
    kind, again = line.partition(":")[0], other.partition(":")[0]
    return kind if kind == again and kind.isidentifier() else ""


def _steady(message: str) -> str:
    """The message without addresses, thread numbers and hints."""
    return _HINT.sub("", _THREAD.sub(r"\1", _ADDRESS.sub("0x...", message)))


def _found(test: TestResult) -> str:
    kind, _, rest = test.message.partition(" ")
    if kind == "returned":
        return f"returns {rest}" if is_whole(rest) else "returns something else"
    name = test.message.partition(":")[0]
    return f"raises {_LINE.sub('', test.message)}" if name.isidentifier() else "fails"


class IssueWriter:
    """Has one model write statements."""

    def __init__(self, server: Server, seed: int, tally: Tally) -> None:
        self._server, self._seed, self._tally = server, seed, tally

    def written(self, tasks: Iterator[Task], purpose: Callable[[Task], str]) -> Iterator[Task]:
        """The tasks, in their order, with the model's statements. `purpose`: what a task's function is for."""
        begun = ((task, (meaning := purpose(task)), self._ask(task, meaning)) for task in tasks)
        for task, meaning, response in ahead(begun, AHEAD):
            yield self._settled(task, meaning, response)

    def _ask(self, task: Task, purpose: str) -> "Future[Response]":
        own = task.check.effective().function or "solution"
        name = str(task.metadata["original"] if _of_project(task) else own)
        purpose = purpose[:MOST_PURPOSE] or "It is not said."
        values = {"name": name, "purpose": purpose, "facts": task.statement}
        return self._server.ask("issue", task.id, 1, self._seed, values)

    def _settled(self, task: Task, purpose: str, response: "Future[Response]") -> Task:
        text = self._server.text(response)
        written = without_thinking(text).strip() if text is not None else ""
        reason = "the server refuses it" if text is None else unfit(written, task)
        self._tally.counts["issues"][f"template: {reason}" if reason else "model"] += 1
        if reason:
            return task
        head = task.statement.partition("\n\n")[0]
        asks = f"It should do this: {purpose}" if purpose and not _of_project(task) else ""
        values = {name: getattr(task, name) for name in Task.model_fields}
        statement = "\n\n".join(filter(None, [head, written, asks]))
        metadata = {**task.metadata, "issue": "model"}
        return Task(**{**values, "id": "", "statement": statement, "metadata": metadata})


def unfit(text: str, task: Task) -> str:
    """Why a text is not a valid statement of this task; empty if it is."""
    check = task.check.only(EditCheck)
    if not text:
        return "it is empty"
    if len(text) > MOST_WRITTEN:
        return "it is too long"
    if _DIFF.search(text):
        return "it holds a diff"
    squeezed, lines = "".join(text.split()), {line.strip(" \t`>*-+") for line in text.split("\n")}
    for path, right in check.oracle.items():
        before = set(map(str.strip, check.files.get(path, "").split("\n")))
        for line in map(str.strip, (right or "").split("\n")):
            found = line in lines if _WORD.fullmatch(line) else "".join(line.split()) in squeezed
            if line and line not in before and found:
                return "it holds a line of the repair"
    return ""


def docstring(task: Task) -> str:
    """The purpose of a project task's function, from its docstring; empty without one."""
    path, _, name = str(task.metadata["original"]).partition(":")
    text = task.check.only(EditCheck).oracle.get(path) or ""
    if task.language == "rust":
        return _rust_doc(text, int(task.metadata["lines"][0]))
    for routine in routines(text):
        if routine.name == name:
            node = next((n for n in ast.walk(routine.tree) if isinstance(n, _DEFINITIONS)), None)
            return (node and ast.get_docstring(node)) or ""
    return ""


def _rust_doc(text: str, line: int) -> str:
    """The `///` lines above the function around a line."""
    lines = [part.strip() for part in text.split("\n")[:line]]
    starts = [n for n, part in enumerate(lines) if re.match(r"(?:pub\b.*)?\bfn ", part)]
    comment: list[str] = []
    for part in reversed(lines[: starts[-1]] if starts else []):
        if part.startswith("///"):
            comment.insert(0, part.removeprefix("///").strip())
        elif not part.startswith("#["):
            break
    return "\n".join(comment)


def _of_project(task: Task) -> bool:
    return task.check.effective().kind == "project"
