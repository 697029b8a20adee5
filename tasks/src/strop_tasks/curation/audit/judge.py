"""Does the task need a special judge, because answers as correct as the reference would fail?

Evidence: what the task says (any order, any of several answers, a tolerance), what the reference does (it orders a set
arbitrarily), and further answers known to be right. A variant of the reference is run and counts only if it fails.
"""

import ast
import re
from collections.abc import Iterator
from functools import partial

from strop.tasks.inputs import leaves
from strop_tasks.curation.audit.record import Finding, fatal, warning
from strop_verify.code.python.source import module_of
from strop_verify.core.checks import CasesCheck, StdioCheck
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Task

_fatal, _warning = partial(fatal, "special-judge"), partial(warning, "special-judge")


def _pattern(*choices: str) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(choices)})", re.IGNORECASE)


_WHAT = r"(answers?|solutions?|outputs?|results?)"
_FINE = r"(is|are|will be) (also )?(accepted|acceptable|allowed|correct|fine|ok|considered)"
_SAY = r"(print|output|return|give|find|report|choose)s?"
_KIND = r"(valid|correct|possible|optimal)"

_ANY_ORDER = _pattern(
    r"in (any|an arbitrary|arbitrary|whatever|no particular) order\b",
    r"(the )?order (of [\w ]{1,40})?(does not|doesn't|do not) matter",
    r"regardless of (the )?order\b",
    rf"any order {_FINE}",
    r"order is (not important|irrelevant)",
)
"""Phrases for results in any order."""
_SEVERAL = _pattern(
    rf"{_SAY} any( one)?( of (them|these|those|the)| {_KIND}| such| {_WHAT}|\.|,|$)",
    rf"any ({_KIND} |of (these |the |your )?)?{_WHAT}( \w+){{0,4}} {_FINE}",
    rf"(multiple|several|more than one|many) ({_KIND} )?{_WHAT}\b[^.!?]{{0,60}}[,.;]? *(you (can|may|should) )?{_SAY} "
    r"(any|one)\b",
)
_ANY_CASE = _pattern(
    r"in any (case|register|letter case)\b",
    r"case[- ]insensitiv\w*",
    r"(upper|lower)[- ]?(case)? (or|and) (upper|lower)[- ]?(case)?[^.]{0,40}(accepted|allowed|not matter|either|any)",
    r"each letter in any",
)
_NEAR = _pattern(
    r"(absolute|relative)( or (absolute|relative))? (error|difference)",
    r"within (an? )?(error|tolerance|1e-\d|10\^?-?\d|0\.0+1)",
    r"error (of at most|does not exceed|less than)",
)
_DECIMAL = re.compile(r"(?<![\w.])-?\d+\.\d+(?![\w.])")
_PLACES = re.compile(r"\b(decimal|digits? after|places|rounded|round)\b|%\.\d|\.\d?f", re.IGNORECASE)


def wording_findings(task: Task) -> Iterator[Finding]:
    """`special-judge` findings from the task's text, and from results that may differ between programs."""
    calls, runs = task.check.maybe(CasesCheck), task.check.maybe(StdioCheck)
    check = calls or runs
    if check is None or check.checker:
        return
    text = " ".join(f"{task.statement} {task.prompt or ''}".split())
    outputs = " ".join(c.stdout for c in runs.cases) if runs else ""
    ordered = calls is not None and calls.any_order
    if _SEVERAL.search(text) and not ordered:
        yield _fatal("the task accepts any of several answers, but its check accepts only one")
    elif runs and _ANY_ORDER.search(text):
        yield _fatal("the task allows any order, but its check accepts only one")
    if runs and _ANY_CASE.search(text) and re.search("[A-Za-z]", outputs):
        yield _fatal("the task allows upper and lower case, but its check accepts only one")
    if check.tolerance > 0:
        return
    exact = _long_float(calls) if calls else _DECIMAL.search(outputs) is not None
    if exact and _NEAR.search(text):
        yield _fatal("the task allows an error, and its check has no tolerance")
    elif exact and not _PLACES.search(text):
        yield _warning("results hold decimal numbers, and the check has no tolerance")


def _long_float(check: CasesCheck) -> bool:
    """Whether an expected value holds a float of 15 digits or more: it was computed and not rounded."""
    floats = (value for value in leaves([c.expected for c in check.cases]) if isinstance(value, float))
    return any(len(repr(value).replace("-", "").replace(".", "")) >= 15 for value in floats)


def variants(task: Task) -> Iterator[tuple[Finding, str]]:
    """(finding if it fails, answer): the reference, changed in harmless ways."""
    check = task.check
    if task.language == "python" and check.answer in ("function", "program") and not check.is_lenient():
        function = check.answer == "function"
        text = " ".join(f"{task.statement} {task.prompt or ''}".split())
        if function and _ANY_ORDER.search(text):
            message = "the task allows any order, but the reference's result fails when it is reversed"
            yield _fatal(message), task.reference + _REVERSED.replace("NAME", check.function)
        if (turned := _turned(task.reference)) is not None:
            does = "puts a set into" if function else "prints a set in"
            message = f"the reference {does} an arbitrary order, and fails with another one"
            yield _fatal(message), turned
    more = task.metadata.get("references")
    for number, answer in enumerate(more[:3] if isinstance(more, list) else [], start=1):
        if isinstance(answer, str) and answer.strip():
            message = f"known-good answer {number} besides the reference does not pass"
            yield _warning(message), answer


_REVERSED = """


def _strop_reversed(function):
    inside = []
    def outermost(*args, **kwargs):
        if inside:
            return function(*args, **kwargs)
        inside.append(1)
        try:
            found = function(*args, **kwargs)
        finally:
            inside.pop()
        return type(found)(found[::-1]) if type(found) in (list, tuple) else found
    return outermost


NAME = _strop_reversed(NAME)
"""

_TURN = """def _strop_turn(items):
    return list(items)[::-1] if type(items) in (set, frozenset) else items
"""


def _turned(code: str) -> str | None:
    """The program with sets iterated in reverse; None if it iterates none, or cannot be parsed."""
    if "set" not in code and "{" not in code:
        return None
    turn = _Turn()
    tree = turn.visit(module_of(code))
    if not turn.count:
        return None
    future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    rest = [n for n in tree.body if n not in future]
    tree.body = [*future, *syntax_tree(_TURN).body, *rest]
    return ast.unparse(ast.fix_missing_locations(tree))


class _Turn(ast.NodeTransformer):
    """Reverses the iterable of a loop, a comprehension, `list`, `tuple`, `join` or `enumerate`."""

    def __init__(self) -> None:
        self.count = 0

    def _wrap(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant | ast.List | ast.ListComp | ast.JoinedStr | ast.Dict):
            return node
        self.count += 1
        return ast.Call(ast.Name("_strop_turn", ast.Load()), [node], [])

    def visit_For(self, node: ast.For | ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._wrap(node.iter)
        return node

    visit_comprehension = visit_For

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        joins = isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "extend")
        if node.args and (joins or name in ("list", "tuple", "enumerate", "map", "filter", "zip", "iter")):
            last = len(node.args) - 1 if name in ("map", "filter") else 0
            node.args[last] = self._wrap(node.args[last])
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self._wrap(node.value)
        return node
