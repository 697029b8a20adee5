"""Feedback: try, see what fails in the public tests, try again (RLEF, arXiv 2410.02089); and what is said of a failure:
the call, what was expected and what came, the error and its line.
"""

import ast
import random
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import Field

from strop.tasks.public_tests import public_task, shows_tests
from strop_verify.core.checks import AssertsCheck, CasesCheck, EditCheck, PytestCheck, RustCheck, StdioCheck
from strop_verify.core.checks.base import CheckBase
from strop_verify.core.play import Do, Done, Next, Opening, Say, Verify
from strop_verify.core.rollout import Completion, Message
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, TestResult, Verdict

_WRONG = 0.875
"""Share of demonstrations that begin with a wrong answer, where there is one: the chance of a wrong one among 8."""
MOST = 3
"""Failed tests that are told of."""
_LIMIT = re.compile(r"(?:used|took) more than ([\d.e+-]+)( CPU)? seconds")
_TEST_LINE = re.compile(r"a test failed at line (\d+)")
_RUST_PLACE = re.compile(r"(\s*-->|panicked at) \S+?:(\d+:\d+)")
_RUST_ABOVE = re.compile(r"(?:#\[cfg\(test\)\] )?(?:#\[warn\(\w+\)\] )?mod zt_\w+; ")


class Feedback:
    """After each answer the public tests run, and what failed is said. The play ends when they pass or its turns are
    used up; the last answer is judged by all tests. Single use.

    turns  answers at most
    chars  of what is said of a failure at most; of longer texts the beginning and the end
    tell   whether it is said what failed, not only that something did; None: where the task shows tests
    """

    control = "single-turn"
    """What it is held against at equal sampled tokens (`strop.evaluation.evaluate`)."""

    def __init__(
        self,
        task: Task,
        opening: Opening,
        read: Callable[[str], str],
        *,
        turns: Annotated[int, Field(ge=1)] = 3,
        chars: Annotated[int, Field(ge=20)] = 400,
        tell: bool | None = None,
    ) -> None:
        self.task, self.opening, self.read = task, opening, read
        self.left, self.chars, self.tell = turns, chars, tell
        self.public = public_task(task)

    def begin(self) -> Opening:
        """The task's prompt."""
        return self.opening

    def step(self, completion: Completion) -> Do:
        """The answer is put to the public tests."""
        self.left, self.answer = self.left - 1, self.read(completion.text)
        return Do(Verify(self.public, self.answer))

    def result(self, effect: Verify, verdict: Verdict) -> Next:
        """What failed is said, if another turn is left."""
        if not verdict.scored:
            return Done(verdict.detail, "infra")
        if verdict.passed or not self.left:
            return Done(self.answer)
        what = told(self.task, verdict, self.tell)
        what = clipped(what, self.chars) + "\n" if what else ""
        said = f"Your code failed.\n{what}Give it another try."
        if not self.opening.messages:  # a text that goes on: comments, and the same beginning again
            said = "\n\n" + "\n".join(f"# {line}" for line in said.splitlines()) + f"\n\n{self.opening.text}"
        return Say((Message(role="user", content=said),), prefill=self.opening.prefill)

    def demonstrate(self, rng: random.Random) -> Iterator[str]:
        """A wrong answer, seven times in eight where the task knows one, then the right one."""
        wrong: Any = self.task.metadata.get("wrong")
        if wrong and self.left > 1 and rng.random() < _WRONG:
            yield self._written(rng.choice(wrong))
        yield self._written(self.task.reference)

    def _written(self, code: str) -> str:
        """As a completion: a fenced block, or the rest of an answer that is begun."""
        head = self.task.signature.strip()
        if self.opening.messages and not self.opening.prefill:
            return f"```{self.task.language}\n{code.strip()}\n```"
        rest = "\n" + (code.partition(head)[2] if head and head in code else code).strip("\n")
        return f"{rest}\n```" if self.opening.prefill else rest


def failures(task: Task, verdict: Verdict) -> str:
    """Why the answer failed. It names inputs and expected values: `task` has only tests that may be told.

    A line or a few for each of the first `MOST` failed tests; compiler messages as they are; "" where all passed.
    """
    if verdict.passed:
        return ""
    build = verdict.stage("build")
    if verdict.outcome is Outcome.NO_ANSWER:
        return _without_kind(build.output) if build and build.output else "No code found."
    if build is not None and not build.passed:
        return _build_failure(task.check, build.output or verdict.detail)
    check = task.check.effective()
    failed = [(n, test) for n, test in enumerate(verdict.tests) if test.outcome is not Outcome.PASSED]
    told = [(n, test) for n, test in failed if test.message != "not run"][:MOST] or failed[:1]
    if isinstance(check, RustCheck):
        return "\n".join(_rust(check, verdict, told))
    lines = [_test(check, number, test, verdict) for number, test in told]
    return "\n".join(dict.fromkeys(lines)) or _without_kind(verdict.detail)


def told(task: Task, verdict: Verdict, tell: bool | None) -> str:
    """What a play is told of a failed verdict by the public tests of its task; "" for nothing but that it failed.

    tell  None tells what the tests expect only where the task shows some: else those that judge would be told. What is
          wrong with the answer itself, such as a syntax error, is told in any case.
    """
    build = verdict.stage("build")
    own = verdict.outcome is Outcome.NO_ANSWER or (build is not None and not build.passed)
    if tell is False or (tell is None and not own and not shows_tests(task)):
        return ""
    return failures(public_task(task), verdict)


def clipped(text: str, most: int) -> str:
    """The text in at most `most` characters: where it is longer, its beginning and its end with " ... " between."""
    if len(text) <= most:
        return text
    gap = " ... "[: max(0, most)]
    head = (most - len(gap) + 1) // 2
    return text[:head] + gap + text[len(text) - (most - len(gap) - head) :]


def _build_failure(check: CheckBase, output: str) -> str:
    if isinstance(check, EditCheck) and re.match(r"[\w-]+: ", output):
        return f"The edit does not apply: {_without_kind(output)}"
    text = re.sub(r" {8,}", " ", _RUST_ABOVE.sub("", _RUST_PLACE.sub(r"\1 \2", output)))
    return re.sub(r" \(\S+, line (\d+)\)$", r", line \1.", text.strip())


def _without_kind(text: str) -> str:
    """What is wrong with an edit, without its name: "no-edit: there is ..." """
    said = re.sub(r"^[a-z]+(?:-[a-z]+)*: ", "", text.strip())
    return f"{said[:1].upper()}{said[1:]}" + ("." if said and said[-1] not in ".!?" else "")


def _test(check: CheckBase, number: int, test: TestResult, verdict: Verdict) -> str:
    """One failed test."""
    message = test.message
    if late := _LIMIT.search(message):
        message = f"no answer within {float(late[1]):g} s{' of CPU time' if late[2] else ''}"
    match check:
        case CasesCheck() if number < len(check.cases):
            case = check.cases[number]
            return _called(case.call(check.entry_point), repr(case.expected), message, "returned ")
        case AssertsCheck() if number < len(asserts := _asserts(check.code)):
            return _asserted(asserts[number], message)
        case StdioCheck() if number < len(check.cases):
            wanted = check.cases[number]
            return _printed(
                wanted.stdin.rstrip(), wanted.stdout.rstrip(), _with_line(message, verdict.output)
            )
        case PytestCheck():
            source = _source(check, test.id)
            return f"{test.id}: {message}." + (f"\n{source}" if source else "")
        case _:
            return f"{test.id}: {message}."


def _called(call: str, expected: str, message: str, returned: str) -> str:
    if message.startswith(returned):
        return f"{call} gave {message.removeprefix(returned)}; expected {expected}."
    return f"{call}: {message}; expected {expected}."


def _asserted(test: ast.stmt, message: str) -> str:
    got = "assertion failed: the last call returned "
    match test:
        case ast.Assert(ast.Compare(ast.Call() as call, [ast.Eq()], [wanted])):
            return _called(ast.unparse(call), ast.unparse(wanted), message, got)
    return f"{ast.unparse(test)}: {message}."


def _asserts(code: str) -> list[ast.stmt]:
    """The statements that are tests: those with an assert."""
    tree = ast.parse(code)
    return [node for node in tree.body if any(isinstance(inner, ast.Assert) for inner in ast.walk(node))]


def _printed(stdin: str, stdout: str, message: str) -> str:
    got = message.removeprefix("wrong output: ")
    if any("\n" in text for text in (stdin, stdout, got)):
        head = f"Printed:\n{got}" if got != message else f"{message}."
        return f"Input:\n{stdin}\n{head}\nExpected:\n{stdout}"
    said = f"printed {got}" if got != message else message
    return f"Input {stdin}: {said}; expected {stdout}."


def _with_line(message: str, output: str) -> str:
    """A program's exception with the line of the answer where it was raised, from the traceback that it printed."""
    lines = re.findall(r'File "/answer\.py", line (\d+)', output.partition(message)[0])
    return f"{message}, line {lines[-1]}" if lines and re.match(r"[\w.]+(?:: |$)", message) else message


def _source(check: PytestCheck, name: str) -> str:
    """The test's function."""
    path, _, rest = name.partition("::")
    wanted = re.sub(r"\[.*", "", rest.rpartition("::")[2] or rest)
    text = check.files.get(path, "")
    try:
        nodes = ast.walk(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    found = (ast.get_source_segment(text, n) for n in nodes if getattr(n, "name", None) == wanted)
    return next(filter(None, found), "")


def _rust(check: RustCheck, verdict: Verdict, told: list[tuple[int, TestResult]]) -> Iterator[str]:
    """The tests' names, what they printed, and the assertion of a line that failed."""
    yield f"{', '.join(test.id for _, test in told)} failed:"
    lines, stage = check.tests.splitlines(), verdict.stage("test")
    for said in _RUST_PLACE.sub(r"\1 \2", (stage.output if stage else "") or verdict.detail).splitlines()[
        : 2 * MOST
    ]:
        at = _TEST_LINE.fullmatch(said.strip())
        yield lines[int(at[1]) - 1].strip() if at and int(at[1]) <= len(lines) else said
