"""HumanEval-X and MBXP: Python problems translated by hand or by machine, each judged in its language.

HumanEval-X (Apache-2.0): github.com/THUDM/CodeGeeX; Zheng et al. 2023, arXiv:2303.17568. Rows: task_id
(`LANGUAGE/NUMBER`), prompt, declaration, canonical_solution, test, example_test, perhaps text. An answer is the whole
code; the statement is the prose of the prompt.

MBXP (Apache-2.0, CC BY 4.0): github.com/amazon-science/mxeval; Athiwaratkun et al. 2022, arXiv:2210.14868. Rows:
task_id, language, prompt, description, entry_point, test, canonical_solution (not in every row). Python's rows have
HumanEval's form and are detected as such; read as `mbxp`, they are MBPP's tasks (5).

1. Python's tests are *asserts*, Rust's are unit tests. JavaScript's are split into calls (6).
2. C++: the tests' `main` is compiled with the answer, so only the exit status is known; an import warns of this.
3. Rows of other languages are left out.
4. Rust's prompts import the crates of all tasks; imports that the solution does not use are left out.
5. MBPP's prompts show all tests. As `mbxp`, the statement is the description, each assert is a test, and only the
   first is shown, as in `assert_rows`, so that there are hidden tests.
6. JavaScript's `console.assert(CALL === VALUE)` (HumanEval-X) and `var x0 = CALL; var v0 = VALUE;` (MBXP) become calls
   whose results node prints as JSON, one per line; they are compared outside. If one test of a task has another form (a
   loop, a tolerance), all of them run in the answer's process, and only its exit status is known.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_tasks.formats.assert_lists import body_of_check
from strop_tasks.formats.assert_rows import MBPP
from strop_tasks.formats.fields import has, text
from strop_tasks.formats.humaneval import called_helpers, closed, test_code
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.checks import AssertsCheck, Check, CommandCheck, CommandStep, RustCheck
from strop_verify.core.errors import UserError
from strop_verify.core.syntax import literal_value, syntax_tree
from strop_verify.core.task import Task

NODE = ["node", "--max-old-space-size=256", "--no-addons"]
"""Runs the script that follows."""
_EQUAL = """\
function same(a, b) {
  if (Object.is(a, b) || a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Set && b instanceof Set) return same([...a], [...b]);
  if (a instanceof Map && b instanceof Map) return same([...a], [...b]);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && same(a[key], b[key]));
}
"""
RUN = """\
const fs = require('node:fs');
const vm = require('node:vm');
function plain(value) {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Set) return {$set: [...value].map((one) => stringify(plain(one))).sort()};
  if (value instanceof Map) value = Object.fromEntries(value);
  if (typeof value === 'object') {
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, plain(value[key])]));
  }
  return typeof value === 'number' && value === 0 ? 0 : value;
}
const stringify = JSON.stringify, write = fs.writeSync;
const calls = JSON.parse(fs.readFileSync('calls.json', 'utf8'));
const answer = fs.readFileSync('answer.js', 'utf8');
Object.assign(globalThis, {require, console: new console.Console(process.stderr)});
vm.runInThisContext(answer, {filename: 'answer.js'});
for (const call of calls) write(1, stringify([plain(vm.runInThisContext(call))]) + '\\n');
"""
"""`run.js`: prints what the calls of `calls.json` return."""
_WHOLE = """\
const fs = require('node:fs');
const vm = require('node:vm');
console.assert = (held, ...words) => { if (!held) throw new Error(['assertion failed', ...words].join(' ')); };
Object.assign(globalThis, {require});
vm.runInThisContext(fs.readFileSync('answer.js', 'utf8'), {filename: 'answer.js'});
vm.runInThisContext(fs.readFileSync('tests.js', 'utf8'), {filename: 'tests.js'});
"""


def check_of(test: str) -> CommandCheck:
    """The check of a JavaScript test program: calls, if it has one of the two forms, else the whole program."""
    build = CommandStep(stage="build", argv=["node", "--check", "answer.js"])
    try:
        pairs = list(_blocks(test) if "var x0 =" in test else _assertions(test))
        if not pairs:
            raise ValueError("no test")
        calls = [call for call, _ in pairs]
        printed = "".join(f"{as_json([value])}\n" for _, value in pairs)
    except ValueError:
        files = {"run.js": _WHOLE, "tests.js": test}
        if "lodash" in test:
            files["tests.js"] = _EQUAL + re.sub(
                r"^.*require\(['\"]lodash['\"]\).*$", "const _ = {isEqual: same};", test, flags=re.M
            )
        step = CommandStep(stage="test", argv=[*NODE, "run.js"])
        return CommandCheck(path="answer.js", files=files, steps=[build, step])
    step = CommandStep(stage="test", argv=[*NODE, "run.js"], stdout=printed)
    files = {"run.js": RUN, "calls.json": json.dumps(calls, ensure_ascii=False)}
    return CommandCheck(path="answer.js", files=files, steps=[build, step])


def _blocks(test: str) -> Iterator[tuple[str, Any]]:
    """(call with its arguments, value) of MBXP's blocks. Raises ValueError for another form."""
    found = list(
        re.finditer(
            r"((?:^var arg\d+ = .*;\n)*)^var x(\d+) = (.*);\n^var v\2 = (.*);\n^if\(!compare\(x\2, v\2\)\)\{",
            test,
            re.M,
        )
    )
    if len(found) != len(re.findall(r"^var x\d+ =", test, re.M)):
        raise ValueError("a test of another form")
    for match in found:
        yield f"(() => {{ {match[1]} return {match[3]}; }})()", literal(match[4])


def _assertions(test: str) -> Iterator[tuple[str, Any]]:
    """(call, value) of a function that holds `console.assert(...)` only. Raises ValueError for another form."""
    body = re.search(r"=> \{\n(.*?)\n\}\s*\n+\w+\(\);?\s*$", test, re.S)
    if body is None:
        raise ValueError("the tests are not a function with a call")
    text = body[1].strip()
    while text:
        if not text.startswith("console.assert("):
            raise ValueError("a statement that is not an assertion")
        end = _closing(text, len("console.assert"))
        yield _halves(text[len("console.assert(") : end].strip())
        text = text[end + 1 :].lstrip(" ;\n\t")


def _closing(text: str, at: int) -> int:
    """The position of the bracket that closes the one at `at`, ignoring strings."""
    depth, quote = 0, ""
    while at < len(text):
        mark = text[at]
        if quote:
            at += mark == "\\"
            quote = "" if mark == quote else quote
        elif mark in "'\"`":
            quote = mark
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if not depth:
                return at
        at += 1
    raise ValueError("a bracket is not closed")


def _halves(inner: str) -> tuple[str, Any]:
    """(call, value) of `CALL === VALUE`, or of the JSON texts of both."""
    match = re.fullmatch(r"JSON\.stringify\((.*)\)\s*===\s*JSON\.stringify\((.*?),?\s*\)", inner, re.S)
    if match is None:
        match = re.fullmatch(r"(.*\))\s*===\s*(.*?),?", inner, re.S)
    if match is None or not re.match(r"[A-Za-z_]\w*\(", match[1].strip()):
        raise ValueError("it does not compare a call with a value")
    call = match[1].strip().rstrip(",")
    if _closing(call, call.index("(")) != len(call) - 1:
        raise ValueError("more than one call")
    return call, literal(match[2])


def literal(text: str) -> Any:
    """The value of a JavaScript literal; a Set as `RUN` prints it. Raises ValueError for anything else."""
    text = text.strip()
    if match := re.fullmatch(r"new Set\((.*)\)", text, re.S):
        return {"$set": sorted(as_json(item) for item in literal(match[1]))}
    if text == "undefined":
        return None
    try:
        return json.loads(text)
    except ValueError:
        pass
    words = {"true": "True", "false": "False", "null": "None", "undefined": "None"}
    parts = re.split(r"('(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")", text)
    parts[::2] = [
        re.sub(r"\b(true|false|null|undefined)\b", lambda m: words[m[0]], part) for part in parts[::2]
    ]
    parts[1::2] = [part.replace("\\$", "$") for part in parts[1::2]]
    try:
        value = literal_value("".join(parts))
    except (SyntaxError, ValueError, MemoryError, RecursionError, TypeError) as error:
        raise ValueError(f"not a literal: {text[:40]}") from error
    if isinstance(value, tuple | set | bytes | complex):
        raise ValueError(f"not a JavaScript literal: {text[:40]}")
    return value


def key_order(key: str) -> tuple[int, int, str]:
    """Sorts keys as JavaScript orders those of an object filled in sorted order: integers first, by value."""
    if re.fullmatch(r"0|[1-9]\d{0,9}", key) and int(key) < 2**32 - 1:
        return 0, int(key), ""
    return 1, 0, key


def as_json(value: Any) -> str:
    """As JSON.stringify writes it, keys sorted. Raises ValueError for numbers that the languages write differently."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        if "e" in repr(value) or value != value:
            raise ValueError("the number is written differently in JavaScript")
        return repr(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        raise ValueError("the number has no exact form in JavaScript")
    if isinstance(value, list):
        return f"[{','.join(map(as_json, value))}]"
    if isinstance(value, dict):
        pairs = sorted(((str(key), item) for key, item in value.items()), key=lambda pair: key_order(pair[0]))
        return (
            "{"
            + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{as_json(item)}" for key, item in pairs)
            + "}"
        )
    if not isinstance(value, str | int | None):
        raise ValueError("not a JSON value")
    return json.dumps(value, ensure_ascii=False)


LANGUAGES = {
    "cpp": "c++", "c++": "c++", "js": "javascript", "javascript": "javascript", "rust": "rust", "python": "python",
}  # fmt: skip
"""The sets' lower-case names of languages, and Strop's."""
_CRATES = re.compile(r"^[ \t]*use\s+(?:::)?(\w+)(?:::(\w+))?[^;]*;[ \t]*\n", re.M)
_DOCSTRING = re.compile(r"""\n[ \t]*[rR]?(?:\"{3}|'{3})""")
_STANDARD = {"std", "core", "alloc", "crate", "super", "self"}


def _check(language: str, prompt: str, solution: str, test: str, entry: str) -> Check:
    """The check for tests in this language. Raises one of UNPARSABLE."""
    if language == "python":
        code = test_code(prompt, entry, re.sub(rf"^check\({entry}\)\s*$", "", test, flags=re.M))
        return AssertsCheck(
            entry_point=entry, code=code, helpers=called_helpers(prompt + solution, entry, code)
        )
    if language == "javascript":
        return check_of(test)
    if language == "c++":
        build = ["g++", "-std=c++17", "-O1", "-w", "-o", "tests", "tests.cpp"]
        libraries = ["-lcrypto", "-lssl"] if "openssl/" in prompt + test else []
        steps = [
            CommandStep(stage="build", argv=[*build, *libraries]),
            CommandStep(stage="test", argv=["./tests"]),
        ]
        files = {"tests.cpp": f'#include "answer.hpp"\n{test}'}
        return CommandCheck(path="answer.hpp", files=files, steps=steps)
    crates = {m[1] for m in _CRATES.finditer(f"{prompt}{solution}\n{test}")} - _STANDARD
    return RustCheck(tests=closed(test), crates=sorted(crates))


def _language(said: str, where: str) -> str:
    """Strop's name of a language. Raises UserError for a language without a judge."""
    if said not in LANGUAGES:
        raise UserError(f"{where}: {said} cannot be judged: left out")
    return LANGUAGES[said]


def _used(code: str) -> str:
    """Rust code without unused imports from other crates."""

    def kept(match: re.Match[str]) -> str:
        rest = _CRATES.sub("", code)
        used = [name for name in match.groups() if name and re.search(rf"\b{name}\b", rest)]
        traits = {"rand": r"\.gen\b|gen_range|thread_rng", "regex": "Regex"}.get(match[1], "(?!)")
        return match[0] if match[1] in _STANDARD or used or re.search(traits, rest) else ""

    return _CRATES.sub(kept, code)


def _prose(prompt: str, language: str, entry: str) -> str:
    """A prompt's docstring, or its comments without comment markers."""
    if language == "python":
        found = [
            n for n in ast.walk(syntax_tree(prompt)) if isinstance(n, ast.FunctionDef) and n.name == entry
        ]
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
            f"{where}: prompt or test is not {language}: {' '.join(str(error).split())[:100]}"
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
    about="MBXP and related sets (mxeval): MBPP in other languages",
    read=_read_mbxp,
    fits=_fits_mbxp,
)
