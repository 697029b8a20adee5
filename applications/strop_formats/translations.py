"""HumanEval-X and MBXP: Python problems translated by hand or by machine, each judged in its own language.

HumanEval-X (Apache-2.0): github.com/THUDM/CodeGeeX; Zheng et al. 2023, arXiv:2303.17568. Rows: task_id
(`LANGUAGE/NUMBER`), prompt, declaration, canonical_solution, test, example_test, perhaps text. An answer is the whole
code; the statement is the prose of the prompt.

MBXP (Apache-2.0, CC BY 4.0): github.com/amazon-science/mxeval; Athiwaratkun et al. 2022, arXiv:2210.14868. Rows:
task_id, language, prompt, description, entry_point, test, canonical_solution (not in every row). Python's rows have
HumanEval's form and are taken for that; read as `mbxp` they are MBPP's own tasks (5).

1. Python's tests are *asserts*, Rust's are unit tests. JavaScript's are taken apart (`js_tests`).
2. C++: the tests' `main` is compiled with the answer, so the exit status is all that is known; an import says so.
3. Rows of other languages are left out.
4. Rust's prompts import crates for all tasks together; lines of those that the solution does not use are left out.
5. MBPP's prompts show all tests. As `mbxp` the description is asked, each assert is a test and the first one is shown,
   as in `assert_rows`, so that there are hidden ones.
"""

import ast
import re
from collections.abc import Iterator

from strop.code.python.source import UNPARSABLE
from strop.core.checks import AssertsCheck, Check, CommandCheck, CommandStep, RustCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_formats import js_tests
from strop_formats.assert_lists import body_of_check
from strop_formats.assert_rows import MBPP
from strop_formats.fields import has, text
from strop_formats.humaneval import called_helpers, closed, test_code

LANGUAGES = {
    "cpp": "c++", "c++": "c++", "js": "javascript", "javascript": "javascript", "rust": "rust", "python": "python",
}  # fmt: skip
"""What the sets call a language, lower case, and its name here."""
_CRATES = re.compile(r"^[ \t]*use\s+(?:::)?(\w+)(?:::(\w+))?[^;]*;[ \t]*\n", re.M)
_DOCSTRING = re.compile(r"""\n[ \t]*[rR]?(?:\"{3}|'{3})""")
_STANDARD = {"std", "core", "alloc", "crate", "super", "self"}


def _check(language: str, prompt: str, solution: str, test: str, entry: str) -> Check:
    """The check. Raises one of UNPARSABLE."""
    if language == "python":
        code = test_code(prompt, entry, re.sub(rf"^check\({entry}\)\s*$", "", test, flags=re.M))
        return AssertsCheck(
            entry_point=entry, code=code, helpers=called_helpers(prompt + solution, entry, code)
        )
    if language == "javascript":
        return js_tests.check_of(test)
    if language == "c++":
        build = ["g++", "-std=c++17", "-O1", "-w", "-o", "tests", "tests.cpp"]
        libraries = ["-lcrypto", "-lssl"] if "openssl/" in prompt + test else []
        steps = [
            CommandStep(stage="build", argv=[*build, *libraries]),
            CommandStep(stage="test", argv=["./tests"]),
        ]
        files = {"tests.cpp": f'#include "answer.hpp"\n{test}'}
        return CommandCheck(path="answer.hpp", files=files, steps=steps)
    return RustCheck(tests=closed(test), crates=_crates(prompt + solution, test))


def _language(said: str, where: str) -> str:
    """Our name of a language. Raises UserError for one that nothing here judges."""
    if said not in LANGUAGES:
        raise UserError(f"{where}: nothing here judges {said}: left out")
    return LANGUAGES[said]


def _crates(code: str, test: str) -> list[str]:
    return sorted({m[1] for m in _CRATES.finditer(code + "\n" + test)} - _STANDARD)


def _used(code: str) -> str:
    """Rust code without the imports of other crates whose names it does not use."""

    def kept(match: re.Match[str]) -> str:
        rest = _CRATES.sub("", code)
        used = [name for name in match.groups() if name and re.search(rf"\b{name}\b", rest)]
        traits = {"rand": r"\.gen\b|gen_range|thread_rng", "regex": "Regex"}.get(match[1], "(?!)")
        return match[0] if match[1] in _STANDARD or used or re.search(traits, rest) else ""

    return _CRATES.sub(kept, code)


def _prose(prompt: str, language: str, entry: str) -> str:
    """What a prompt says: its docstring, or its comments without their marks."""
    if language == "python":
        found = [n for n in ast.walk(ast.parse(prompt)) if isinstance(n, ast.FunctionDef) and n.name == entry]
        return (ast.get_docstring(found[-1]) if found else "") or prompt
    blocks = re.findall(r"/\*(.*?)\*/", prompt, re.S)
    lines = "\n".join(blocks).splitlines() if blocks else re.findall(r"^\s*//+(.*)$", prompt, re.M)
    return "\n".join(re.sub(r"^\s*(?:\*\s?)+", "", line).strip() for line in lines).strip() or prompt


def _task(
    row: Row, where: str, language: str, name: str, solution: str, entry: str, source: str
) -> Iterator[Task]:
    prompt, test = text(row, "prompt", where), text(row, "test", where)
    if not test.strip():
        raise UserError(f"{where}: the task has no tests: field 'test' is empty")
    if language == "rust":
        whole = _used(prompt + solution)
        prompt = _used(prompt) if whole.startswith(_used(prompt)) else prompt
        solution = whole[len(prompt) :] if whole.startswith(prompt) else solution
    try:
        check = _check(language, prompt, solution, test, entry)
        statement = _prose(prompt, language, entry)
    except UNPARSABLE as error:
        raise UserError(
            f"{where}: prompt or test is no {language}: {' '.join(str(error).split())[:100]}"
        ) from error
    lines = [line for line in prompt.splitlines() if line.strip()]
    if language == "javascript" and solution.strip():
        whole = prompt + solution
        solution += "\n}\n" if whole.count("{") == whole.count("}") + 1 else ""
    yield Task(
        id=name,
        language=language,
        statement=statement,
        signature=lines[-1].rstrip().removesuffix("{").rstrip() if lines and language != "python" else "",
        reference=prompt + solution if solution.strip() else "",
        check=check,
        source=f"{source}/{name}",
        prompt=prompt,
    )


def _read_x(row: Row, where: str) -> Iterator[Task]:
    name, declaration = text(row, "task_id", where), text(row, "declaration", where)
    language = _language(name.partition("/")[0].lower(), where)
    found = re.findall(r"\bdef\s+(\w+)\s*\(", declaration)
    if language == "python" and not found:
        raise UserError(f"{where}: the declaration names no function: {declaration.strip()[:60]!r}")
    solution = text(row, "canonical_solution", where)
    yield from _task(row, where, language, name, solution, found[-1] if found else "", "humaneval-x")


HUMANEVAL_X = Adapter(
    name="humaneval-x",
    about="HumanEval-X (CodeGeeX): HumanEval in Python, JavaScript, C++, Rust and more",
    read=_read_x,
    fits=lambda row: has(row, task_id=str, prompt=str, canonical_solution=str, test=str, declaration=str),
)


def _read_mbxp(row: Row, where: str) -> Iterator[Task]:
    name, entry, said = (text(row, field, where) for field in ("task_id", "entry_point", "language"))
    language = _language(said.lower(), where)
    solution = text(row, "canonical_solution", where, default="")
    body = body_of_check(text(row, "test", where), entry) if language == "python" else []
    if tests := [ast.unparse(node) for node in body if isinstance(node, ast.Assert)]:
        yield _mbpp(row, where, name, entry, solution, tests)
        return
    yield from _task(row, where, language, name, solution, entry, "mbxp")


def _mbpp(row: Row, where: str, name: str, entry: str, solution: str, tests: list[str]) -> Task:
    head = _DOCSTRING.split(text(row, "prompt", where))[0].strip("\n")
    asked = {
        "task_id": name,
        "text": text(row, "description", where),
        "code": f"{head}\n{solution}\n" if solution.strip() else "",
        "test_list": tests,
    }
    (task,) = MBPP.read(asked, where)
    return task.model_copy(update={"id": name, "signature": head, "source": f"mbxp/{name}", "metadata": {}})


def _fits_mbxp(row: Row) -> bool:
    shaped = has(row, task_id=str, prompt=str, test=str, entry_point=str, language=str)
    other = any(name in row for name in ("declaration", "suffix", "starter_code", "stop_tokens"))
    return shaped and not other and "def check(" not in row["test"]


MBXP = Adapter(
    name="mbxp",
    about="MBXP and its kin (mxeval): MBPP in other languages",
    read=_read_mbxp,
    fits=_fits_mbxp,
)
