"""Static checks: the statement, the tests, and whether the text leaks an answer.

A leak is the reference in the text, or hidden tests with their results. Texts are compared without white space,
comments and docstrings, so indentation, fences and newlines do not matter. A leak under other names is not detected.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from strop_tasks.curation.audit.record import AuditSettings, Finding, fatal, warning
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.checks.base import SingleTest
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Task
from strop_verify.core.text import squeeze
from strop_verify.sandbox.limits import Limits

FEWEST_ASSERTS = 3  # minimum assertions of test code, each of which may test more than one thing
_SHORT = 12  # lines with fewer characters (white space excluded) may occur in any text by chance
_WHOLE = 16  # the same for a whole program
_HEAD = re.compile(r"\s*(async\s+)?(def|class|import|from|fn|pub|use|impl|struct|enum|func|package)\b")
"""Lines that declare names, without logic."""
_SHARE = 0.6  # share of the reference's distinctive lines that counts as a leak


def form_findings(task: Task, settings: AuditSettings) -> Iterator[Finding]:
    """Findings on statement, reference, and number and repetition of tests."""
    asked = (task.statement, task.prompt, *map(task.metadata.get, ("prefix", "suffix")))
    if not any(str(text or "").strip() for text in asked):
        yield fatal("no-statement", "neither statement nor prompt says what to do")
    check = task.check.effective()
    if task.check.rewards_alone:
        return
    most = 16 * Limits().output_bytes
    if check.largest_output() > most:
        yield fatal(
            "unverifiable", f"an expected output is larger than what a program may print ({most} bytes)"
        )
    if not task.reference.strip() and check.answer != "label":
        yield fatal("no-reference", "no reference: the task is not known to be solvable")
    if (strength := check.strength()).endswith("exit status only"):
        yield warning("exit-passes", f"{strength}: the answer's own code controls it")
    if (found := check.assertions()) is not None:
        fewest = 1 if check.takes_nothing() else min(FEWEST_ASSERTS, settings.min_tests)
        yield from _few(found, fewest, "assertions")
    elif check.answer in ("function", "program"):
        yield from _counted(check.single_tests(), settings.min_tests)
    elif not check.test_count():
        yield fatal("few-tests", "there is no test")
    elif check.single_tests() and check.different_tests() < settings.min_tests:
        text = f"{check.different_tests()} tests in the suite, fewer than {settings.min_tests}"
        yield warning("few-tests", text)


def _few(found: int, fewest: int, what: str) -> Iterator[Finding]:
    if found < fewest:
        yield fatal("few-tests", f"{found} {what}, fewer than {fewest}")


def _counted(tests: list[SingleTest], min_tests: int) -> Iterator[Finding]:
    yield from _few(len({test.given.strip() for test in tests}), min_tests, "different tests")
    shown = {test.given.strip() for test in tests if test.shown}
    hidden = [test.given.strip() for test in tests if not test.shown]
    if tests and not set(hidden) - shown:
        yield fatal("leak-tests", "every test is shown, none is hidden")
        return
    repeated = sum(given in shown for given in hidden) + len(hidden) - len(set(hidden))
    if repeated:
        text = f"{repeated} of {len(hidden)} hidden tests repeat another test"
        yield warning("repeated-tests", text)


def leak_findings(task: Task) -> Iterator[Finding]:
    """Findings `leak-answer` and `leak-tests`."""
    texts = [task.statement, task.prompt or ""]
    if not task.check.takes_nothing() and answer_leaks(task, texts):
        yield fatal("leak-answer", "the reference is in the statement or prompt")
    tests = task.check.revealed("\n".join(texts))
    if tests.found:
        found = fatal if tests.marked or 2 * tests.found >= tests.hidden else warning
        shown = f"{tests.found} of {tests.hidden} hidden tests"
        yield found("leak-tests", f"{shown} are in the statement or prompt, with their results")


def answer_leaks(task: Task, texts: list[str]) -> bool:
    """Whether any text holds the whole reference, or most of its distinctive lines that the task need not show.

    The task may show the signature, the prompt that the reference continues, the text around a gap (metadata
    `prefix`, `suffix`), a buggy version (`broken`) and the files of an edit. For an edit, the reference is the text of
    the oracle's files.
    """
    reference, files = task.reference, list[str]()
    if task.edit is not None:
        reference = "\n".join(text or "" for text in task.edit.oracle.values())
        files = list(task.edit.files.values())
    elif task.language != "python" and task.prompt:  # in Python the signature holds everything above the body
        reference = reference.removeprefix(task.prompt)
    shown = [str(task.metadata.get(name) or "") for name in ("prefix", "suffix", "broken")]
    given = [*files, task.signature, *shown]
    known = {squeeze(line) for text in given for line in code_lines(text, task.language)}
    lines = code_lines(reference, task.language)
    whole = squeeze("".join(lines))
    new = [line for line in lines if squeeze(line) not in known and not _HEAD.match(line)]
    telling = [line for line in map(squeeze, new) if len(line) >= _SHORT]
    for text in filter(None, texts):
        squeezed = squeeze(text)
        if len(whole) >= _WHOLE and new and whole in squeezed:
            return True
        held = [line for line in telling if line in squeezed]
        if not held or (len(telling) == 1 and not _as_code(telling[0], text)):
            continue
        if len(held) >= _SHARE * len(telling) and sum(map(len, held)) >= _SHARE * sum(map(len, telling)):
            return True
    return False


def _as_code(line: str, text: str) -> bool:
    """Whether the text has it as a separate line, not as words of a sentence."""
    return any(squeeze(one).strip("`>") == line for one in text.splitlines())


def code_lines(code: str, language: str) -> list[str]:
    """The lines of a program without comments and docstrings; empty lines left out."""
    if language == "python":
        return [line for line in _uncommented(code).splitlines() if line.strip()]
    return [line for line in code.splitlines() if line.strip() and not line.lstrip().startswith("//")]


def _uncommented(code: str) -> str:
    """Python without comments and docstrings; unchanged if it cannot be parsed."""
    lines = list(io.StringIO(code))
    try:
        for token in reversed(list(tokenize.generate_tokens(io.StringIO(code).readline))):
            if token.type == tokenize.COMMENT:
                (row, start), (_, end) = token.start, token.end
                lines[row - 1] = lines[row - 1][:start] + lines[row - 1][end:]
        for node in ast.walk(syntax_tree(code)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                    lines[number] = "\n"
    except (tokenize.TokenError, *UNPARSABLE):
        return code
    return "".join(lines)
