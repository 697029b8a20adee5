"""MultiPL-E (MIT): HumanEval and MBPP translated to many languages, from prompts and unit tests.

Reference: github.com/nuprl/MultiPL-E; Cassano et al. 2022, arXiv:2208.08227. Rows: name, language, prompt, doctests,
original, prompt_terminology, tests, stop_tokens. The set has no solutions.

1. The original puts answer and tests into one program, whose exit status decides. Here Python's tests are *asserts*,
   Rust's become unit tests, one an assertion, and of JavaScript's only the calls go into the answer's process: it
   prints what the function returns, which is compared outside.
2. Rows of other languages, and those whose tests have a form that cannot be taken apart, are left out.
3. Ids are LANGUAGE/NAME: a name is the same in every language. An answer is the whole code, its last brace too.

Test programs are taken apart without being run: assertions are one a line, between the line that binds `candidate` and
the end of the test function.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from strop.code.python import source as pysource
from strop.core.checks import AssertsCheck, CommandCheck, CommandStep, RustCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_formats.fields import has, text, whole_row, with_original
from strop_formats.js_tests import NODE, RUN, as_json

_FIELDS = ("name", "language", "prompt")
LANGUAGES = {"py": "python", "rs": "rust", "js": "javascript"}
"""What the rows call a language, and its name here."""


def _read(row: Row, where: str) -> Iterator[Task]:
    name, short, prompt = (text(row, field, where) for field in _FIELDS)
    tests = text(row, "tests", where)
    if not tests.strip():
        raise UserError(f"{where}: the task has no tests: field 'tests' is empty")
    language = LANGUAGES.get(short, "")
    if not language:
        raise UserError(
            f"{where}: nothing here judges {short} and keeps expected values from the answer: left out"
        )
    try:
        check = CHECKS[language](tests, prompt)
    except ValueError as error:
        raise UserError(f"{where}: {error}: left out") from None
    task = Task(
        id=f"{short}/{name}",
        language=language,
        statement=_statement(prompt, language),
        signature=_signature(prompt, language),
        check=check,
        source=f"multipl-e/{short}/{name}",
        prompt=prompt,
    )
    yield with_original(task, row, _FIELDS, language=short)


_CODE = ("use ", "#include", "import ", "package ", "using ", "#!", "<?php", "module ", "open ", "from ")
"""How lines of a prompt begin that are neither prose nor the function's header."""


def _function(prompt: str) -> pysource.Function | None:
    found = [node for node in pysource.statements(prompt) if isinstance(node, pysource.Function)]
    return found[-1] if found else None


def _statement(prompt: str, language: str) -> str:
    """The prose of a prompt: its docstring, or the text above the header; some rows lack the comment marks."""
    node = _function(prompt) if language == "python" else None
    if node is not None:
        return ast.get_docstring(node) or prompt
    lines = [line.strip() for line in prompt.splitlines() if line.strip()][:-1]
    told = [line.lstrip("/#-;%*'").strip() for line in lines if not line.startswith(_CODE)]
    return "\n".join(told).strip() or prompt


def _signature(prompt: str, language: str) -> str:
    """The last line that is not empty: what opens the function; in Python the header with its imports."""
    node = _function(prompt) if language == "python" else None
    if node is not None:
        return pysource.signature_of(prompt, node.name)
    lines = [line for line in prompt.splitlines() if line.strip()]
    return lines[-1].rstrip().removesuffix("{").rstrip() if lines else ""


def _write(task: Task) -> dict[str, Any]:
    kept = whole_row(task, "tests", "language")
    return {"name": task.id.partition("/")[2], "prompt": task.prompt or "", **kept}


MULTIPL_E = Adapter(
    name="multipl-e",
    about="MultiPL-E: HumanEval and MBPP in other languages",
    read=_read,
    fits=lambda row: has(row, name=str, language=str, prompt=str, tests=str) and "stop_tokens" in row,
    write=_write,
)


Made = AssertsCheck | RustCheck | CommandCheck

_BINDING = re.compile(r"\bcandidate\s*=\s*([A-Za-z_][A-Za-z0-9_]*)\s*;")


def python(tests: str, prompt: str) -> Made:
    """`check(candidate)`, called with the function, without the helper that the original calls. Raises ValueError."""
    try:
        body = ast.parse(tests).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ValueError(f"the tests are no Python: {error}") from None
    entry = re.search(r"^\s+check\((\w+)\)\s*$", tests, re.M)
    kept = [node for node in body if not (isinstance(node, ast.FunctionDef) and node.name == "test_check")]
    kept = [node for node in kept if ast.unparse(node) not in ("test_check()", "")]
    if entry is None or not any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in kept):
        raise ValueError("the tests have no function check(candidate) that is called")
    imports = "\n".join(line for line in prompt.splitlines() if line.startswith(("from ", "import ")))
    code = "\n\n".join([*filter(None, [imports]), *map(ast.unparse, kept), f"check({entry[1]})"])
    return AssertsCheck(entry_point=entry[1], code=code + "\n")


def rust(tests: str, prompt: str) -> Made:
    """Unit tests, one an `assert_eq!` of the original's `main`. Raises ValueError."""
    entry, lines = _lines(tests)
    found = [line for line in lines if line.startswith("assert")]
    if not found or len(found) != len(lines) or not all(line.endswith(";") for line in found):
        raise ValueError("the tests are not one assertion a line")
    uses = "    use std::collections::HashMap;\n" if "HashMap" in tests else ""
    functions = "\n".join(
        f"    #[test]\n    fn test_{number}() {{\n        let candidate = {entry};\n        {line}\n    }}"
        for number, line in enumerate(found)
    )
    return RustCheck(tests=f"#[cfg(test)]\nmod tests {{\n    use super::*;\n{uses}{functions}\n}}\n")


def javascript(tests: str, prompt: str) -> Made:
    """One run of node a test: the call goes in, the value comes out and is compared outside. Raises ValueError."""
    entry, lines = _lines(tests)
    calls, steps = [], [CommandStep(stage="build", argv=["node", "--check", "answer.js"])]
    for number, line in enumerate(lines):
        match = re.fullmatch(r"assert\.(?:deepEqual|equal|strictEqual|deepStrictEqual)\((.*)\);?", line)
        if match is None:
            raise ValueError(f"the tests are not one assertion a line: {line[:60]!r}")
        call, expected = _halves(match[1])
        calls.append(re.sub(r"^candidate\b", entry, call))
        steps.append(
            CommandStep(
                stage="test",
                argv=[*NODE, "run.js", str(number)],
                stdout=f"{as_json([expected])}\n",
            )
        )
    if not calls:
        raise ValueError("the tests hold no assertion")
    files = {"run.js": RUN, "calls.json": json.dumps(calls, ensure_ascii=False)}
    return CommandCheck(path="answer.js", files=files, steps=steps)


def _lines(tests: str) -> tuple[str, list[str]]:
    """(the function's name, the lines between the binding of `candidate` and the closing brace)."""
    bound = _BINDING.search(tests)
    if bound is None:
        raise ValueError("the tests do not say which function they call")
    body = tests[bound.end() :]
    end = body.find("\n}")
    lines = [line.strip() for line in body[: end if end >= 0 else None].splitlines()]
    return bound[1], [line for line in lines if line]


def _halves(inner: str) -> tuple[str, Any]:
    """(call, value) of `call,expected`, split at the last comma before a JSON value; `undefined` is null."""
    for match in reversed(list(re.finditer(",", inner))):
        call, expected = inner[: match.start()].strip(), inner[match.end() :].strip()
        if not (call.startswith("candidate(") and call.endswith(")")):
            continue
        try:
            return call, json.loads("null" if expected == "undefined" else expected)
        except ValueError:
            continue
    raise ValueError(f"an expected value is no JSON: {inner[:60]!r}")


CHECKS: dict[str, Callable[[str, str], Made]] = {"python": python, "rust": rust, "javascript": javascript}
"""By language; each raises ValueError for tests that it cannot take apart."""
