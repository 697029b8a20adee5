"""The data set `python-functions`: the topic modules of `tasksets.python_functions` as tasks.

A topic module holds plain functions marked with `cases(level, *hidden_args)`. Docstring prose becomes the statement,
doctests the shown cases; the hidden cases' expected values come from running the function, which is the reference.
"""

import ast
import copy
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strop.tasks import doctests as docs
from strop_verify.code.python import source as pysource
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Task

PACKAGE = "tasksets.python_functions"


def topics() -> list[str]:
    """Names of the topic modules, sorted."""
    package = importlib.import_module(PACKAGE)
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name != "cases")


def load() -> list[Task]:
    """Every task, by topic and then in the order of the source.

    Raises ValueError, naming the function, for a doctest that is not a call with literals or that the reference does
    not fulfil, and for values that JSON cannot hold.
    """
    return [task for topic in topics() for task in _topic_tasks(topic)]


class _Topic:
    """A topic module with its source, and what each of its top-level statements binds."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = importlib.import_module(f"{PACKAGE}.{name}")
        self.file = str(self.module.__file__)
        source = Path(self.file).read_text(encoding="utf-8")
        self.lines = source.splitlines()
        self.statements = [(s, pysource.bound_names(s)) for s in syntax_tree(source).body]

    def needed(self, node: ast.stmt, names: set[str], *, imports_only: bool = False) -> list[str]:
        """Source of the statements that bind the names, and of those that these need, in file order."""
        left = [
            (s, bound)
            for s, bound in self.statements
            if s is not node and (not imports_only or isinstance(s, ast.Import | ast.ImportFrom))
        ]
        chosen: list[ast.stmt] = []
        while found := [s for s, bound in left if bound & names]:
            chosen += found
            left = [(s, bound) for s, bound in left if s not in found]
            names = names | pysource.used_names(*found)
        return [self._source(s) for s in sorted(chosen, key=lambda s: s.lineno)]

    def _source(self, node: ast.stmt) -> str:
        if isinstance(node, pysource.Function):
            return docs.without_docstring(self.lines, node)
        return pysource.segment(self.lines, node)


def _topic_tasks(name: str) -> Iterator[Task]:
    topic = _Topic(name)
    for node, _ in topic.statements:
        if isinstance(node, ast.FunctionDef) and hasattr(getattr(topic.module, node.name), "hidden"):
            try:
                yield _task(topic, node)
            except (ValueError, SyntaxError) as error:
                raise ValueError(f"{topic.file}:{node.lineno}: {node.name}: {error}") from error


def _task(topic: _Topic, node: ast.FunctionDef) -> Task:
    function = getattr(topic.module, node.name)
    prose, doctests = docs.split_doctests(ast.get_docstring(node) or "")
    cases = _cases(function, node.name, doctests)
    outside = pysource.used_names(node.args, node.returns)
    above = topic.needed(node, outside, imports_only=True)
    parts = topic.needed(node, outside | pysource.used_names(*node.body))
    return Task(
        statement=prose,
        signature=_below(above, pysource.header(topic.lines, node)),
        reference=_below(parts, docs.without_docstring(topic.lines, node)) + "\n",
        check=CasesCheck(
            entry_point=node.name,
            cases=cases,
            tolerance=docs.FLOAT_TOLERANCE if any(docs.has_float(c.expected) for c in cases) else 0.0,
        ),
        topic=topic.name,
        level=function.level,
        source=f"python-functions/{topic.name}/{node.name}",
    )


def _cases(function: Any, name: str, doctests: list[tuple[str, str]]) -> list[Case]:
    """The doctests as shown cases, checked against the reference, then the hidden ones."""
    shown = [docs.doctest_case(call, expected, name) for call, expected in doctests]
    for case in shown:
        if _call(function, case.args, case.kwargs) != case.expected:
            raise ValueError(f"the reference does not give what the doctest with {case.args} says")
    hidden = [Case(args=list(args), expected=_call(function, list(args), {})) for args in function.hidden]
    for case in shown + hidden:
        if not docs.is_json([case.args, case.kwargs, case.expected]):
            raise ValueError(f"the case {case.args!r} -> {case.expected!r} holds more than JSON values")
    return shown + hidden


def _call(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return function(*copy.deepcopy(args), **copy.deepcopy(kwargs))


def _below(parts: list[str], code: str) -> str:
    return "\n\n\n".join(["\n".join(parts), code] if parts else [code])
