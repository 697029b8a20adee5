"""Makes a check from assert statements (AceCode, MBPP, verl), and finds which names of the answer they call.

Plain calls become an *asserts* check. Tests that handle objects of the answer's classes become a *pytest* suite, one
function per test, because objects do not cross into plain test code.
"""

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from strop.tasks.mapped_tests import can_fail
from strop_verify.code.python import source as pysource
from strop_verify.core.checks import AssertsCheck, PytestCheck
from strop_verify.core.errors import UserError
from strop_verify.core.syntax import syntax_tree

SUITE = "test_answer.py"
_VALUES = {name for kind in (str, bytes, int, float, list, tuple, dict, set) for name in dir(kind)}


def check_of(
    tests: Sequence[str], setup: str, reference: str, where: str, entry_point: str = ""
) -> AssertsCheck | PytestCheck:
    """The check for assert statements that run after `setup`; `reference`, if known, shows which names are classes.

    Without an entry point, it is the argument of the final `check(...)`, or else the name that the tests call most,
    among those that the reference defines if it defines any. Raises UserError for tests that are not Python, assert
    nothing, or call nothing in the answer.
    """
    if not tests:
        raise UserError(f"{where}: the task has no tests")
    bodies = [_parsed(test, f"{where}: test {number}") for number, test in enumerate(tests, start=1)]
    for number, body in enumerate(bodies, start=1):
        if not any(map(can_fail, _walk(body))):
            raise UserError(f"{where}: test {number} asserts nothing: {tests[number - 1].strip()[:60]!r}")
    before = _parsed(setup, f"{where}: set-up code")
    everything = [*before, *(line for body in bodies for line in body)]
    modules = _modules(everything)
    setup = "".join(f"import {name}\n" for name in modules) + setup
    names = _called(everything, set(modules), reference)
    own = pysource.defined(reference, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    given = [entry_point] if entry_point else _checked(everything)
    names = list(dict.fromkeys([*(given or [name for name in names if name in own]), *names]))
    if not names:
        raise UserError(f"{where}: the tests call no function of the answer")
    if _has_objects(everything, names, reference):
        return _suite(names, setup, bodies)
    code = "\n".join(filter(None, [setup.strip("\n"), *(test.strip("\n") for test in tests)])) + "\n"
    helpers = [name for name in names[1:] if not hasattr(builtins, name)]
    return AssertsCheck(entry_point=names[0], helpers=helpers, code=code)


def _checked(body: Sequence[ast.stmt]) -> list[str]:
    """The name in `check(NAME)` as the last statement, even if an argument has the same name."""
    match body[-1]:
        case ast.Expr(ast.Call(ast.Name("check"), [ast.Name(name)])):
            return [name]
    return []


def body_of_check(test: str, name: str) -> list[ast.stmt]:
    """The body of the test code's only function `check(candidate)`, with `name` as its argument; [] without one."""
    body = pysource.statements(test)
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if len(found) != 1 or len(found[0].args.args) != 1:
        return []
    for node in ast.walk(found[0]):
        if isinstance(node, ast.Name) and node.id == found[0].args.args[0].arg:
            node.id = name
    return found[0].body


def count(tests: Sequence[str]) -> int:
    """How many top-level statements of the texts contain an assert: the tests of an *asserts* check."""
    lines = (line for test in tests for line in syntax_tree(test).body)
    return sum(any(isinstance(node, ast.Assert) for node in ast.walk(line)) for line in lines)


def _parsed(code: str, where: str) -> list[ast.stmt]:
    try:
        return syntax_tree(code).body
    except SyntaxError as error:
        raise UserError(f"{where}: not valid Python: {error.msg}: {code.strip()[:60]!r}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"{where}: not valid Python: {error}") from error


def _walk(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for line in body:
        yield from ast.walk(line)


def _bound(body: Sequence[ast.stmt]) -> set[str]:
    """Names that the code binds anywhere: variables, arguments, imports, functions, classes."""
    names: set[str] = set()
    for node in _walk(body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.stmt):
            names |= pysource.bound_names(node)
    return names


def _modules(body: Sequence[ast.stmt]) -> list[str]:
    """Standard-library modules that the code uses without importing them; the original harness runs it below the
    answer."""
    bound = _bound(body)
    used = {n.value.id for n in _walk(body) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    return sorted(name for name in used - bound if name in sys.stdlib_module_names)


def _called(body: Sequence[ast.stmt], modules: set[str], reference: str) -> list[str]:
    """The answer's names that the code calls, most called first; builtins only if the reference defines them."""
    known = _bound(body) | modules | (set(dir(builtins)) - set(pysource.defined(reference, ast.FunctionDef)))
    calls = (n.func.id for n in _walk(body) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
    passed = (n.id for n in _walk(body) if isinstance(n, ast.Name))  # such as map(f, values)
    counted = Counter(name for name in calls if name not in known)
    counted.update({name: 0 for name in passed if name not in known})
    return [name for name, _ in counted.most_common()]


def _has_objects(body: Sequence[ast.stmt], names: Sequence[str], reference: str) -> bool:
    """Whether the code uses the answer's classes or their attributes; without a reference, classes are recognised by
    name."""
    classes = set(pysource.defined(reference, ast.ClassDef))
    if not reference:
        classes = {name for name in names if name[0].isupper() and not name.isupper()}
    for node in _walk(body):
        if isinstance(node, ast.Name) and node.id in classes and node.id in names:
            return True
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Name) and function.id in names and node.attr not in _VALUES:
                return True
    return False


def _suite(names: Sequence[str], setup: str, bodies: Sequence[list[ast.stmt]]) -> PytestCheck:
    parts = [f"from solution import {', '.join(sorted(names))}", setup.strip("\n")]
    for number, body in enumerate(bodies):
        (function,) = syntax_tree(f"def test_{number}():\n    pass").body
        assert isinstance(function, ast.FunctionDef)
        function.body = body
        parts.append(ast.unparse(function))
    text = "\n\n\n".join(filter(None, parts)) + "\n"
    return PytestCheck(files={SUITE: text}, tests=[f"{SUITE}::test_{n}" for n in range(len(bodies))])
