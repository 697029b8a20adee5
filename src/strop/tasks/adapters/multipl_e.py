"""MultiPL-E (MIT): HumanEval and MBPP translated to many languages, from prompts and unit tests.

Reference: github.com/nuprl/MultiPL-E; Cassano et al. 2022, arXiv:2208.08227. Rows: name, language, prompt, doctests,
original, prompt_terminology, tests, stop_tokens. The set brings no solutions.

1. The original puts answer and tests into one program, whose exit status decides. Here Python's tests are *asserts*,
   Rust's become unit tests, one an assertion, and of JavaScript's only the calls go into the answer's process: it
   prints what the function returns, which is compared outside.
2. Other languages, and tests of a form that cannot be taken apart, are carried: a *workspace* check, with the reason in
   `metadata.unverifiable`.
3. Ids are LANGUAGE/NAME: a name is the same in every language. An answer is the whole code, its last brace too.
"""

import ast
from collections.abc import Iterator
from typing import Any

from strop.code.python import source as pysource
from strop.core.checks import WorkspaceCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, original, text, with_original
from strop.tasks.adapters.multipl_e_tests import CHECKS, Unclear
from strop.tasks.rows import Row

FIELDS = ("name", "language", "prompt")
LANGUAGES = {
    "py": "python", "rs": "rust", "js": "javascript", "ts": "typescript", "cpp": "c++", "cs": "c#", "rb": "ruby",
    "jl": "julia", "hs": "haskell", "kt": "kotlin", "pl": "perl", "rkt": "racket", "sh": "bash", "ml": "ocaml",
    "go_test.go": "go", "fs": "f#", "clj": "clojure", "ex": "elixir", "adb": "ada",
}  # fmt: skip
"""What the rows call a language, and its name here; others keep theirs."""


def _read(row: Row, where: str) -> Iterator[Task]:
    name, short, prompt = (text(row, field, where) for field in FIELDS)
    tests = text(row, "tests", where)
    if not tests.strip():
        raise UserError(f"{where}: the task has no tests: field 'tests' is empty")
    language, reason = LANGUAGES.get(short, short.lower()), ""
    try:
        if language not in CHECKS:
            raise Unclear(f"{language} has no toolchain that keeps expected values from the answer")
        check = CHECKS[language](tests, prompt)
    except Unclear as error:
        reason = str(error)
        check = WorkspaceCheck(files={f"tests.{short}": tests}, failing=["tests"])
    task = Task(
        id=f"{short}/{name}",
        language=language,
        statement=_statement(prompt, language),
        signature=_signature(prompt, language),
        check=check,
        source=f"multipl-e/{short}/{name}",
        prompt=prompt,
        metadata={"unverifiable": reason} if reason else {},
    )
    yield with_original(task, row, FIELDS, language=short)


_CODE = ("use ", "#include", "import ", "package ", "using ", "#!", "<?php", "module ", "open ", "from ")
"""How lines of a prompt begin that are neither prose nor the function's header."""


def _function(prompt: str) -> pysource.Function | None:
    """The last function of a prompt in Python."""
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
    kept = original(task)
    if "tests" not in kept or "language" not in kept:
        raise UserError(
            f"task {task.id!r} is not one of MultiPL-E: its tests in the set's form are not known"
        )
    return {"name": task.id.partition("/")[2], "prompt": task.prompt or "", **kept}


MULTIPL_E = Adapter(
    name="multipl-e",
    about="MultiPL-E: HumanEval and MBPP in other languages",
    read=_read,
    fits=lambda row: has(row, name=str, language=str, prompt=str, tests=str) and "stop_tokens" in row,
    write=_write,
)
