"""MultiPL-E's test programs taken apart, by language: assertions as tests of their own. Nothing is run.

Assertions stand one a line, between the line that binds `candidate` and the end of the test function.
"""

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from strop.core.checks import AssertsCheck, CommandCheck, CommandStep, RustCheck, WorkspaceCheck

Made = AssertsCheck | RustCheck | CommandCheck | WorkspaceCheck

_BINDING = re.compile(r"\bcandidate\s*=\s*([A-Za-z_][A-Za-z0-9_]*)\s*;")
_RUN = """\
const fs = require('node:fs');
const vm = require('node:vm');
function plain(value) {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) value = Object.fromEntries(value);
  if (typeof value === 'object') {
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, plain(value[key])]));
  }
  return value;
}
const stringify = JSON.stringify, write = fs.writeSync;
const call = fs.readFileSync('calls.js', 'utf8').split('\\n')[Number(process.argv[2])];
const answer = fs.readFileSync('answer.js', 'utf8');
Object.assign(globalThis, {require, console: new console.Console(process.stderr)});
vm.runInThisContext(answer, {filename: 'answer.js'});
write(1, stringify([plain(vm.runInThisContext(call))]) + '\\n');
"""


class Unclear(Exception):
    """Tests of another form than expected; the text says which."""


def python(tests: str, prompt: str) -> Made:
    """`check(candidate)`, called with the function; the helper that the original calls is left out. Raises Unclear."""
    try:
        body = ast.parse(tests).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Unclear(f"the tests are no Python: {error}") from None
    entry = re.search(r"^\s+check\((\w+)\)\s*$", tests, re.M)
    kept = [node for node in body if not (isinstance(node, ast.FunctionDef) and node.name == "test_check")]
    kept = [node for node in kept if ast.unparse(node) not in ("test_check()", "")]
    if entry is None or not any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in kept):
        raise Unclear("the tests have no function check(candidate) that is called")
    imports = "\n".join(line for line in prompt.splitlines() if line.startswith(("from ", "import ")))
    code = "\n\n".join([*filter(None, [imports]), *map(ast.unparse, kept), f"check({entry[1]})"])
    return AssertsCheck(entry_point=entry[1], code=code + "\n")


def rust(tests: str, prompt: str) -> Made:
    """Unit tests, one an `assert_eq!` of the original's `main`. Raises Unclear."""
    entry, lines = _lines(tests)
    found = [line for line in lines if line.startswith("assert")]
    if not found or len(found) != len(lines) or not all(line.endswith(";") for line in found):
        raise Unclear("the tests are not one assertion a line")
    uses = "    use std::collections::HashMap;\n" if "HashMap" in tests else ""
    functions = "\n".join(
        f"    #[test]\n    fn test_{number}() {{\n        let candidate = {entry};\n        {line}\n    }}"
        for number, line in enumerate(found)
    )
    return RustCheck(tests=f"#[cfg(test)]\nmod tests {{\n    use super::*;\n{uses}{functions}\n}}\n")


def javascript(tests: str, prompt: str) -> Made:
    """One run of node a test: the call goes in, the value comes out as JSON and is compared outside. Raises Unclear."""
    entry, lines = _lines(tests)
    calls, steps = [], [CommandStep(stage="build", argv=["node", "--check", "answer.js"])]
    for number, line in enumerate(lines):
        match = re.fullmatch(r"assert\.(?:deepEqual|equal|strictEqual|deepStrictEqual)\((.*)\);?", line)
        if match is None:
            raise Unclear(f"the tests are not one assertion a line: {line[:60]!r}")
        call, expected = _halves(match[1])
        calls.append(re.sub(r"^candidate\b", entry, call))
        steps.append(
            CommandStep(
                stage="test",
                argv=["node", "--max-old-space-size=256", "--no-addons", "run.js", str(number)],
                stdout=f"{_json([expected])}\n",
            )
        )
    if not calls:
        raise Unclear("the tests hold no assertion")
    return CommandCheck(
        path="answer.js", files={"run.js": _RUN, "calls.js": "\n".join(calls) + "\n"}, steps=steps
    )


def _lines(tests: str) -> tuple[str, list[str]]:
    """(the function's name, the lines between the binding of `candidate` and the closing brace)."""
    bound = _BINDING.search(tests)
    if bound is None:
        raise Unclear("the tests do not say which function they call")
    body = tests[bound.end() :]
    end = body.find("\n}")
    lines = [line.strip() for line in body[: end if end >= 0 else None].splitlines()]
    return bound[1], [line for line in lines if line]


def _halves(inner: str) -> tuple[str, Any]:
    """(the call, the expected value) of `call,expected`: the last comma behind which a JSON value stands.

    `undefined` is read as null, as `run.js` prints it.
    """
    for match in reversed(list(re.finditer(",", inner))):
        call, expected = inner[: match.start()].strip(), inner[match.end() :].strip()
        if not (call.startswith("candidate(") and call.endswith(")")):
            continue
        try:
            return call, json.loads("null" if expected == "undefined" else expected)
        except ValueError:
            continue
    raise Unclear(f"an expected value is no JSON: {inner[:60]!r}")


def _json(value: Any) -> str:
    """As JSON.stringify writes it, keys sorted. Raises Unclear for numbers that the languages write differently."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        if "e" in repr(value) or value != value:
            raise Unclear(f"the expected number {value!r} is written differently in JavaScript")
        return repr(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        raise Unclear(f"the expected number {value} is no exact number in JavaScript")
    if isinstance(value, list):
        return f"[{','.join(map(_json, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{_json(key)}:{_json(value[key])}" for key in sorted(value)) + "}"
    return json.dumps(value, ensure_ascii=False)


CHECKS: dict[str, Callable[[str, str], Made]] = {"python": python, "rust": rust, "javascript": javascript}
"""By language; each raises Unclear for tests that it cannot take apart."""
