"""Tests of JavaScript functions, taken apart without being run: calls that go into the answer's process, and values.

`console.assert(CALL === VALUE)` (HumanEval-X) and `var x0 = CALL; var v0 = VALUE;` (MBXP) become calls whose results
node prints as JSON, one a line; they are compared outside. Where one test of a task has another form (a loop, a
difference that is allowed) all of them run in the answer's process, whose exit status is all that is known.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from strop.core.checks import CommandCheck, CommandStep

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
    """The check of a test program in one of the two forms."""
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
        raise ValueError("the tests are no function that is called")
    text = body[1].strip()
    while text:
        if not text.startswith("console.assert("):
            raise ValueError("a statement that is no assertion")
        end = _closing(text, len("console.assert"))
        yield _halves(text[len("console.assert(") : end].strip())
        text = text[end + 1 :].lstrip(" ;\n\t")


def _closing(text: str, at: int) -> int:
    """The place of the bracket that closes the one at `at`, strings left aside."""
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
        raise ValueError("no comparison of a call with a value")
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
        value = ast.literal_eval("".join(parts))
    except (SyntaxError, ValueError, MemoryError, RecursionError, TypeError) as error:
        raise ValueError(f"no literal: {text[:40]}") from error
    if isinstance(value, tuple | set | bytes | complex):
        raise ValueError(f"no literal of JavaScript: {text[:40]}")
    return value


def key_order(key: str) -> tuple[int, int, str]:
    """Sorts keys as JavaScript orders those of an object that got them sorted: integers come first, by their value."""
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
        raise ValueError("the number is no exact number in JavaScript")
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
        raise ValueError("no value of JSON")
    return json.dumps(value, ensure_ascii=False)
