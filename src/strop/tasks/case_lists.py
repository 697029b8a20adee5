"""Tests as a list of test cases, in the two forms that training sets use.

`{"type": "stdin_stdout" or "function_call", "fn_name", "input", "output"}` is PrimeIntellect's (genesys). `{"input",
"output", "testtype": "stdin" or "functional", "metadata": {"func_name"}}` is LiveCodeBench's, which DeepCoder's sets
adopted. Both say for each test whether it is for a program or a function; a test for a function without a name is
refused, never taken as one for a program.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from strop.tasks import io_tests
from strop.tasks.io_tests import IoCheck
from strop_verify.core.errors import UserError

_PROGRAM, _FUNCTION = ("stdin_stdout", "stdin", "stdio"), ("function_call", "functional", "call_based")
_TYPES = ("testtype", "type")


def says_kind(cases: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a case says what kind of test it is, or which function it calls."""
    return any(case.get(name) is not None for case in cases for name in (*_TYPES, "fn_name")) or any(
        _named(case) for case in cases
    )


def check_of(cases: Any, where: str, entry_point: str = "", starter: str = "") -> IoCheck:
    """The check of a list of test cases, all of one type and function; `entry_point` applies if they name none.

    Raises UserError.
    """
    if not isinstance(cases, list) or not cases or not all(isinstance(case, Mapping) for case in cases):
        raise UserError(f"{where}: the task has no tests: test_cases must be a list of objects")
    kinds = {_kind(case) for case in cases}
    names = {_named(case) for case in cases}
    if len(kinds) > 1 or not kinds <= {*_PROGRAM, *_FUNCTION} or len(names) != 1:
        listed = ", ".join(sorted(kinds))[:80]
        raise UserError(
            f"{where}: test cases must be of one type, stdin_stdout or function_call (or stdin, functional), and of "
            f"one function, not {listed}"
        )
    tests: dict[str, Any] = {
        "inputs": [case.get("input") for case in cases],
        "outputs": [case.get("output") for case in cases],
    }
    if kinds <= {*_FUNCTION}:
        name = names.pop() or entry_point
        if not name:
            raise UserError(
                f"{where}: the tests are calls ({kinds.pop()}) and name no function: add func_name"
            )
        tests["fn_name"] = name
    return io_tests.read_tests(tests, starter, where)


def _kind(case: Mapping[str, Any]) -> str:
    """The type that a case states; without one, a function's type if it names a function."""
    said = next((str(case[name]) for name in _TYPES if case.get(name)), "")
    return said or (_FUNCTION[0] if _named(case) else _PROGRAM[0])


def _named(case: Mapping[str, Any]) -> str:
    """The function that a case names, directly or in its metadata, which may be JSON text; else ""."""
    about: Any = case.get("metadata")
    if isinstance(about, str):
        try:
            about = json.loads(about)
        except ValueError:
            about = None
    inner = about if isinstance(about, Mapping) else {}
    found = [place.get(key) for place in (case, inner) for key in ("fn_name", "func_name")]
    return next((name for name in found if isinstance(name, str) and name), "")
