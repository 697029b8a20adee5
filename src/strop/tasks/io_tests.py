"""Tests as lists of inputs and outputs, the form that APPS made common: `{"inputs", "outputs", "fn_name"}`.

Without `fn_name` they are stdin and stdout of a program, each a text or a list of lines. With it they are calls:

1. An input is a list of positional arguments, or a text with one JSON value per line.
2. An output is the returned value. If every output of a task is a list of one item, as in the Codewars problems of APPS
   and TACO, that item is the value, unless the starter code says that a list is returned. The data sets' own harness
   accepts either, test by test, which lets a wrong answer pass.
3. JSON turns integer keys of objects into text. The harness of APPS, which TACO adopted, turns them back in the first
   argument of a call and in the expected value (github hendrycks/apps, eval/testing_util.py: `int(k)` of every key, or
   of none). A task with such objects is judged by assert statements, because cases hold only JSON values.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from strop.tasks.row_limits import parse_json
from strop_verify.core.checks import AssertsCheck, Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

IoCheck = StdioCheck | CasesCheck | AssertsCheck

_RETURNS_LIST = re.compile(r"->\s*['\"]?(?:typing\.)?(?:list|List|tuple|Tuple|Sequence|Optional\[\s*List)\b")


def read_tests(tests: Any, starter: str, where: str) -> IoCheck:
    """The check of `{"inputs", "outputs"}`, with or without `fn_name`. Raises UserError."""
    if not isinstance(tests, Mapping):
        raise UserError(
            f"{where}: tests must be an object with inputs and outputs, not {type(tests).__name__}"
        )
    inputs, outputs = tests.get("inputs"), tests.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise UserError(f"{where}: tests must hold the lists inputs and outputs")
    if len(inputs) != len(outputs):
        raise UserError(f"{where}: {len(inputs)} inputs but {len(outputs)} outputs")
    if not inputs:
        raise UserError(f"{where}: the task has no tests: inputs is empty")
    name = tests.get("fn_name")
    if name is None or name == "":
        return _programs(inputs, outputs, where)
    if not isinstance(name, str) or not name.isidentifier():
        raise UserError(f"{where}: fn_name must be the name of a function, not {str(name)[:60]!r}")
    return _calls(name, inputs, outputs, starter, where)


def write_tests(task: Task) -> dict[str, Any]:
    """The `{"inputs", "outputs"}` of a task, with `fn_name` for a function. Raises UserError for other checks."""
    runs, check = task.check.maybe(StdioCheck), task.check.maybe(CasesCheck)
    if runs and not runs.checker:
        return {"inputs": [c.stdin for c in runs.cases], "outputs": [c.stdout for c in runs.cases]}
    if check is None or check.checker or any(case.kwargs for case in check.cases):
        raise UserError(
            f"task {task.id!r}: the format holds stdin and stdout, or calls with positional arguments, and no checker; "
            f"this is a check of kind {task.check.kind!r}"
        )
    calls = [(case.args, case.expected) for case in check.cases]
    inputs: list[Any] = [args for args, _ in calls]
    outputs: list[Any] = [value for _, value in calls]
    if any(_typed(*call) != call for call in calls):  # text keys would be read as integers
        inputs, outputs = ["\n".join(map(_json, args)) for args in inputs], [_json(o) for o in outputs]
    elif _wrapped(outputs, task.signature):  # lists of one item would be unwrapped
        outputs = [[output] for output in outputs]
    return {"inputs": inputs, "outputs": outputs, "fn_name": check.entry_point}


def _programs(inputs: list[Any], outputs: list[Any], where: str) -> StdioCheck:
    cases = [
        StdioCase(stdin=_program_text(i, where, number), stdout=_program_text(o, where, number))
        for number, (i, o) in enumerate(zip(inputs, outputs, strict=True), start=1)
    ]
    return StdioCheck(cases=cases)


def _program_text(value: Any, where: str, number: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    raise UserError(
        f"{where}: test {number}: stdin and stdout are text or lists of lines, not {_kind(value)}"
    )


def _calls(
    name: str, inputs: list[Any], outputs: list[Any], starter: str, where: str
) -> CasesCheck | AssertsCheck:
    text = all(isinstance(given, str) for given in inputs)
    if text and all(isinstance(output, str) for output in outputs):
        values = [parse_json(output, f"{where}: output {n}") for n, output in enumerate(outputs, start=1)]
    else:
        values = [output[0] for output in outputs] if _wrapped(outputs, starter) else outputs
    calls = [
        (_arguments(given, f"{where}: input {n}"), value)
        for n, (given, value) in enumerate(zip(inputs, values, strict=True), start=1)
    ]
    typed = calls if text else [_typed(args, value) for args, value in calls]
    if typed != calls:
        return _asserted(name, typed)
    cases = [Case(args=args, expected=value) for args, value in calls]
    return CasesCheck(entry_point=name, cases=cases)


def _typed(args: list[Any], value: Any) -> tuple[list[Any], Any]:
    """A call and its value, with the keys that the harness turns into integers, also in the only item of a list."""
    alone = isinstance(value, list) and len(value) == 1
    wanted = [_with_integers(value[0])] if alone else _with_integers(value)
    return [*map(_with_integers, args[:1]), *args[1:]], wanted


def _with_integers(value: Any) -> Any:
    """Turns an object whose keys are all integers into a dict with integer keys; returns other values unchanged."""
    if not isinstance(value, dict):
        return value
    try:
        return {int(key): inner for key, inner in value.items()}
    except ValueError:
        return value


_LISTS = """\
def _listed(value):
    if isinstance(value, (list, tuple)):
        return [_listed(item) for item in value]
    return {k: _listed(v) for k, v in value.items()} if isinstance(value, dict) else value


"""


def _asserted(name: str, calls: list[tuple[list[Any], Any]]) -> AssertsCheck:
    """The calls as assert statements. As in cases, a tuple equals a list."""
    lists = any(_holds_list(value) for _, value in calls)
    tests = []
    for args, value in calls:
        call = f"{name}({', '.join(map(repr, args))})"
        tests.append(f"assert {f'_listed({call})' if lists else call} == {value!r}\n")
    return AssertsCheck(entry_point=name, code=(_LISTS if lists else "") + "".join(tests))


def _holds_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and any(map(_holds_list, value.values())))


def _arguments(given: Any, where: str) -> list[Any]:
    if isinstance(given, list):
        return given
    if isinstance(given, str):
        return [parse_json(line, where) for line in given.split("\n") if line.strip()]
    raise UserError(f"{where}: a call needs a list of arguments, not {_kind(given)}")


def _wrapped(outputs: list[Any], starter: str) -> bool:
    alone = all(isinstance(output, list) and len(output) == 1 for output in outputs)
    return alone and not _RETURNS_LIST.search(starter)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _kind(value: Any) -> str:
    return {"NoneType": "null", "dict": "an object", "list": "a list", "str": "a text"}.get(
        type(value).__name__, repr(value)[:40]
    )
