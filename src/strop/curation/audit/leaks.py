"""Does the task's text give away the reference, or hidden tests with their results?

Texts are compared without white space, comments and docstrings, so indentation, fences and line ends do not matter. A
leak under other names is not seen.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Any

from strop.core.checks import AssertsCheck, CasesCheck, EditCheck, StdioCheck
from strop.core.task import Task
from strop.curation.audit.record import Finding

_SHORT = 12
"""Characters of a line, white space left out, below which it may stand in any text by chance."""
_WHOLE = 16
"""The same of a whole program."""
_HEAD = re.compile(r"\s*(async\s+)?(def|class|import|from|fn|pub|use|impl|struct|enum|func|package)\b")
"""Lines that say what there is, not how it is done."""
_SHARE = 0.6
"""Share of the reference's telling lines that is a leak."""
_NEAR = 60
"""Characters after a call's input within which its result gives the test away."""
_LONG = 6
"""Characters of a program's input and output below which they may stand in any text, unless "input" stands before."""


def leak_findings(task: Task) -> Iterator[Finding]:
    """`leak-answer` and `leak-tests`."""
    texts = [task.statement, task.prompt or ""]
    if answer_leaks(task, texts):
        yield Finding(code="leak-answer", severity="fatal", text="the reference stands in what is asked")
    yield from _tests(task, "\n".join(texts))


def answer_leaks(task: Task, texts: list[str]) -> bool:
    """Whether any text holds the whole reference, or most of its telling lines that the task does not show by right.

    By right: the signature, the text around a gap (metadata `prefix`, `suffix`), a buggy version (`broken`) and the
    files that an edit is of; its reference is then what they are after the oracle's.
    """
    reference, files = task.reference, list[str]()
    if isinstance(task.check, EditCheck):
        reference = "\n".join(text or "" for text in task.check.oracle.values())
        files = list(task.check.files.values())
    given = [
        *files,
        task.signature,
        *(str(task.metadata.get(k) or "") for k in ("prefix", "suffix", "broken")),
    ]
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
    """Whether a line stands in the text as a line of its own, not as words of a sentence."""
    return any(squeeze(one).strip("`>") == line for one in text.splitlines())


def squeeze(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


def code_lines(code: str, language: str) -> list[str]:
    """The lines of a program without comments and docstrings; empty lines left out."""
    if language == "python":
        return [line for line in _uncommented(code).splitlines() if line.strip()]
    return [line for line in code.splitlines() if line.strip() and not line.lstrip().startswith("//")]


def _uncommented(code: str) -> str:
    """Python without comments and docstrings; as it is where it cannot be read."""
    lines = code.splitlines(keepends=True)
    try:
        for token in reversed(list(tokenize.generate_tokens(io.StringIO(code).readline))):
            if token.type == tokenize.COMMENT:
                (row, start), (_, end) = token.start, token.end
                lines[row - 1] = lines[row - 1][:start] + lines[row - 1][end:]
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                    lines[number] = "\n"
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError):
        return code
    return "".join(lines)


def _tests(task: Task, text: str) -> Iterator[Finding]:
    check, squeezed = task.check, squeeze(text)
    if isinstance(check, CasesCheck):
        hidden = [c for c in check.cases if not c.shown]
        told = [_call_told(check.entry_point, c.args, c.expected, squeezed) for c in hidden]
        yield from _told(sum(told), len(hidden), any(c.shown for c in check.cases))
    elif isinstance(check, StdioCheck):
        programs = [c for c in check.cases if not c.shown]
        seen = [_run_told(c.stdin, c.stdout, text) for c in programs]
        yield from _told(sum(seen), len(programs), any(c.shown for c in check.cases))
    elif isinstance(check, AssertsCheck):
        lines = [squeeze(ast.unparse(node)) for node in _asserts(check.code)]
        plain = squeezed.replace('"', "'")
        count = sum(line.replace('"', "'") in plain for line in set(lines))
        yield from _told(count, len(set(lines)), False)


def _told(count: int, hidden: int, marked: bool) -> Iterator[Finding]:
    """`marked`: the task says which tests are shown, so that a hidden one in the text is one too many."""
    if not count:
        return
    severity: Any = "fatal" if marked or 2 * count >= hidden else "warning"
    text = f"{count} of {hidden} hidden tests stand in what is asked, with their results"
    yield Finding(code="leak-tests", severity=severity, text=text)


def _call_told(name: str, args: list[Any], expected: Any, squeezed: str) -> bool:
    """Whether the call stands in the text and its result soon after it."""
    plain = squeezed.replace('"', "'")
    call = squeeze(f"{name}({','.join(map(repr, args))})").replace('"', "'")
    results = {squeeze(text).replace('"', "'") for text in (repr(expected), _json(expected))}
    for match in re.finditer(re.escape(call), plain):
        after = plain[match.end() : match.end() + _NEAR + max(map(len, results))]
        after = after.split(f"{name}(")[0]
        if any(_word_in(result, after) for result in results):
            return True
    return False


def _word_in(result: str, text: str) -> bool:
    """Whether the result stands there and is no part of a longer number."""
    return re.search(rf"(?<![\d.]){re.escape(result)}(?!\d|\.\d)", text) is not None


def _json(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def _run_told(stdin: str, stdout: str, text: str) -> bool:
    """Whether a program's input stands in the text as lines of its own, and its output after it."""
    lines = "\n".join(line.strip() for line in text.splitlines() if line.strip())
    given = "\n".join(line.strip() for line in stdin.splitlines() if line.strip())
    wanted = "\n".join(line.strip() for line in stdout.splitlines() if line.strip())
    if not given or not wanted:
        return False
    for match in re.finditer(rf"(?:^|\n|[:`>\s]){re.escape(given)}(?=\n|$|[`\s])", lines):
        if re.search(
            rf"(?<!\w){re.escape(wanted)}(?!\w)", lines[match.end() : match.end() + 200 + len(wanted)]
        ):
            labelled = "input" in lines[max(0, match.start() - 30) : match.start() + 1].lower()
            if labelled or len(given) + len(wanted) >= _LONG:
                return True
    return False


def _asserts(code: str) -> list[ast.Assert]:
    try:
        return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assert)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
