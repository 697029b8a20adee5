"""CRUXEval (MIT): predict what a function returns for an input, or an input for which it returns a value.

Reference: github.com/facebookresearch/cruxeval; Gu et al. 2024, arXiv:2401.03065. Rows: code (a function `f`), input
(the arguments as Python writes them), output (the value, likewise), id.

1. A row makes two tasks, `ID/output` and `ID/input`. An answer is a function `answer()`: for the output it returns
   the value; for the input it returns a list of arguments, and any list for which `f` returns the output passes.
2. `f` runs with the tests, not with the answer. An answer can still compute the prediction with a copy of the
   function; an import warns of this. The original accepts only a literal.
3. Arguments that are not literals (a function, a range) cannot be passed from an answer: such rows make only the
   first task.
4. Splits keep both tasks of a row on one side (`metadata.pair`).
"""

import ast
from collections.abc import Iterator

from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_tasks.formats.fields import has, text
from strop_verify.code.python.source import UNPARSABLE, tree_of
from strop_verify.core.checks import AssertsCheck
from strop_verify.core.errors import UserError
from strop_verify.core.syntax import literal_value
from strop_verify.core.task import Task

_FIELDS = ("id", "code", "input", "output")
_WARNING = "can be solved by running the given function inside the answer, not only by predicting"
_ASKED = {
    "output": "Which value does f({input}) return? Do not run the code. Write a function answer() that returns this "
    "value, written as a literal.",
    "input": "For which arguments does f return {output}? Do not run the code. Write a function answer() that returns "
    "the list of the arguments, written as literals; any that lead to this value will do.",
}


def _read(row: Row, where: str) -> Iterator[Task]:
    name, code, given, wanted = (text(row, field, where) for field in _FIELDS)
    try:
        arguments = _positional(code, given)
        tree_of(wanted)
    except UNPARSABLE as error:
        raise UserError(
            f"{where}: no function f with an input and an output: {' '.join(str(error).split())[:100]}"
        ) from error
    tests = {
        "output": (f"{code}\n\nassert answer() == {wanted}\nassert answer() == f({given})\n", wanted),
        "input": (f"{code}\n\nassert f(*answer()) == {wanted}\n", arguments),
    }
    if not _is_literal(arguments):
        del tests["input"]
    for direction, (check, value) in tests.items():
        asked = _ASKED[direction].replace("{input}", given).replace("{output}", wanted)
        yield Task(
            id=f"{name}/{direction}",
            family="function",
            statement=f"{code.strip()}\n\n{asked}",
            signature="def answer():",
            reference=f"def answer():\n    return {value}\n",
            check=AssertsCheck(entry_point="answer", code=check),
            topic=direction,
            source=f"cruxeval/{name}",
            metadata={"pair": name, "warning": _WARNING},
        )


def _is_literal(text: str) -> bool:
    try:
        literal_value(text)
    except (*UNPARSABLE, TypeError):
        return False
    return True


def _positional(code: str, given: str) -> str:
    """The arguments as the source of a list, keywords in their positions. Raises one of UNPARSABLE."""
    (call,) = [node for node in ast.walk(tree_of(f"f({given})")) if isinstance(node, ast.Call)][:1]
    found = [n for n in tree_of(code).body if isinstance(n, ast.FunctionDef) and n.name == "f"]
    if not found:
        raise ValueError("no function f")
    values = [ast.unparse(argument) for argument in call.args]
    named = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    names = [argument.arg for argument in (*found[0].args.posonlyargs, *found[0].args.args)]
    for name in names[len(values) :]:
        if name in named:
            values.append(named.pop(name))
        elif named:
            raise ValueError(f"no value of {name}")
    if named:
        raise ValueError(f"no parameter {next(iter(named))}")
    return f"[{', '.join(values)}]"


CRUXEVAL = Adapter(
    name="cruxeval",
    about="CRUXEval: predict what a function returns, or an input that leads to it",
    read=_read,
    fits=lambda row: has(row, **dict.fromkeys(_FIELDS, str)) and "def f(" in row["code"],
)
