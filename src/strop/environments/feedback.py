"""Environment `feedback`: try, see which public tests fail, try again (RLEF, arXiv 2410.02089). Also writes the text
about a failure: the call, the expected and the actual result, the error and its line.
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
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, TestResult, Verdict

_WRONG = 0.875
"""Share of demonstrations that begin with a wrong answer, where one is known: 7 in 8."""
MOST = 3
"""Maximum number of failed tests described."""
_LIMIT = re.compile(r"(?:used|took) more than ([\d.e+-]+)( CPU)? seconds")
_TEST_LINE = re.compile(r"a test failed at line (\d+)")
_RUST_PLACE = re.compile(r"(\s*-->|panicked at) \S+?:(\d+:\d+)")
_RUST_ABOVE = re.compile(r"(?:#\[cfg\(test\)\] )?(?:#\[warn\(\w+\)\] )?mod zt_\w+; ")


class Feedback:
    """Runs the public tests after each answer and reports what failed. The play ends when they pass or the turns are
    used up; all tests judge the last answer. Single use.

    turns  maximum number of answers
    chars  maximum length of the text about a failure; longer texts keep their beginning and end
    tell   whether to tell the policy what failed, not only that something did; None: only if the task shows tests
    """

    control = "single-turn"
    """The environment to compare it with at equal sampled tokens (`strop.evaluation.evaluate`)."""

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
        """Runs the public tests on the answer."""
        self.left, self.answer = self.left - 1, self.read(completion.text)
        return Do(Verify(self.public, self.answer))

    def result(self, effect: Verify, verdict: Verdict) -> Next:
        """Reports what failed, if another turn is left."""
        if not verdict.scored:
            return Done(verdict.detail, "infra")
        if verdict.passed or not self.left:
            return Done(self.answer)
        what = told(self.task, verdict, self.tell)
        what = clipped(what, self.chars) + "\n" if what else ""
        said = f"Your code failed.\n{what}Give it another try."
        if not self.opening.messages:  # plain text has no roles: add comments, then repeat the prompt
            said = "\n\n" + "\n".join(f"# {line}" for line in said.splitlines()) + f"\n\n{self.opening.text}"
        return Say((Message(role="user", content=said),), prefill=self.opening.prefill)

    def demonstrate(self, rng: random.Random) -> Iterator[str]:
        """A wrong answer (seven times in eight, if the task has one), then the right one."""
        wrong: Any = self.task.metadata.get("wrong")
        if wrong and self.left > 1 and rng.random() < _WRONG:
            yield self._written(rng.choice(wrong))
        yield self._written(self.task.reference)

    def _written(self, code: str) -> str:
        """Code as a completion: a fenced block, or the rest of an answer that the prompt begins."""
        head = self.task.signature.strip()
        if self.opening.messages and not self.opening.prefill:
            return f"```{self.task.language}\n{code.strip()}\n```"
        rest = "\n" + (code.partition(head)[2] if head and head in code else code).strip("\n")
        return f"{rest}\n```" if self.opening.prefill else rest


def failures(task: Task, verdict: Verdict) -> str:
    """Why the answer failed: a few lines for each of the first `MOST` failed tests, or the compiler's messages; "" if
    all passed. It names inputs and expected values, so `task` must contain only tests that may be shown.
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
    """What a play is told about a failed verdict on its task's public tests; "" to tell only that it failed.

    tell  False tells nothing. None tells what the tests expect only if the task shows some; otherwise it would reveal
    the tests that judge, so only errors in the answer itself, such as a syntax error, are told.
    """
    build = verdict.stage("build")
    own = verdict.outcome is Outcome.NO_ANSWER or (build is not None and not build.passed)
    if tell is False or (tell is None and not own and not shows_tests(task)):
        return ""
    return failures(public_task(task), verdict)


def clipped(text: str, most: int) -> str:
    """The text cut to at most `most` characters: longer texts keep their beginning and end, with " ... " between."""
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
    """An edit's error message without the error's name: not "no-edit: there is ...", but "There is ..."."""
    said = re.sub(r"^[a-z]+(?:-[a-z]+)*: ", "", text.strip())
    return f"{said[:1].upper()}{said[1:]}" + ("." if said and said[-1] not in ".!?" else "")


def _test(check: CheckBase, number: int, test: TestResult, verdict: Verdict) -> str:
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
    tree = syntax_tree(code)
    return [node for node in tree.body if any(isinstance(inner, ast.Assert) for inner in ast.walk(node))]


def _printed(stdin: str, stdout: str, message: str) -> str:
    got = message.removeprefix("wrong output: ")
    if any("\n" in text for text in (stdin, stdout, got)):
        head = f"Printed:\n{got}" if got != message else f"{message}."
        return f"Input:\n{stdin}\n{head}\nExpected:\n{stdout}"
    said = f"printed {got}" if got != message else message
    return f"Input {stdin}: {said}; expected {stdout}."


def _with_line(message: str, output: str) -> str:
    """A program's exception with the line of the answer that raised it, from the printed traceback."""
    lines = re.findall(r'File "/answer\.py", line (\d+)', output.partition(message)[0])
    return f"{message}, line {lines[-1]}" if lines and re.match(r"[\w.]+(?:: |$)", message) else message


def _source(check: PytestCheck, name: str) -> str:
    path, _, rest = name.partition("::")
    wanted = re.sub(r"\[.*", "", rest.rpartition("::")[2] or rest)
    text = check.files.get(path, "")
    try:
        nodes = ast.walk(syntax_tree(text))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    found = (ast.get_source_segment(text, n) for n in nodes if getattr(n, "name", None) == wanted)
    return next(filter(None, found), "")


def _rust(check: RustCheck, verdict: Verdict, told: list[tuple[int, TestResult]]) -> Iterator[str]:
    """The tests' names and their output; a line that only names a line number is replaced by that line's assertion."""
    yield f"{', '.join(test.id for _, test in told)} failed:"
    lines, stage = check.tests.splitlines(), verdict.stage("test")
    output = _RUST_PLACE.sub(r"\1 \2", (stage.output if stage else "") or verdict.detail)
    for said in output.splitlines()[: 2 * MOST]:
        at = _TEST_LINE.fullmatch(said.strip())
        yield lines[int(at[1]) - 1].strip() if at and int(at[1]) <= len(lines) else said
