"""Does the task need a judge of its own: would answers that are as right as the reference fail?

Three kinds of evidence: what the task says (any order, any of several answers, a tolerance), what the reference does
(it puts a set into an order that nobody asked for), and further answers that are known to be right. Where a variant of
the reference can show it, it is run, and counts only when it fails.
"""

import re
from collections.abc import Iterator
from typing import Any

from strop.core.checks import CasesCheck, StdioCheck
from strop.core.task import Task
from strop.curation.audit.record import Finding


def _pattern(*choices: str) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(choices)})", re.IGNORECASE)


_WHAT = r"(answers?|solutions?|outputs?|results?)"
_FINE = r"(is|are|will be) (also )?(accepted|acceptable|allowed|correct|fine|ok|considered)"
_SAY = r"(print|output|return|give|find|report|choose)s?"
_KIND = r"(valid|correct|possible|optimal)"

ANY_ORDER = _pattern(
    r"in (any|an arbitrary|arbitrary|whatever|no particular) order\b",
    r"(the )?order (of [\w ]{1,40})?(does not|doesn't|do not) matter",
    r"regardless of (the )?order\b",
    rf"any order {_FINE}",
    r"order is (not important|irrelevant)",
)
"""Says that the items of a result may come in any order."""
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


def said(task: Task) -> Iterator[Finding]:
    """`special-judge` from what the task says, and from results that no two programs give alike."""
    calls, runs = task.check.maybe(CasesCheck), task.check.maybe(StdioCheck)
    check = calls or runs
    if check is None or check.checker:
        return
    text = " ".join(f"{task.statement} {task.prompt or ''}".split())
    outputs = " ".join(c.stdout for c in runs.cases) if runs else ""
    ordered = calls is not None and calls.any_order
    if _SEVERAL.search(text) and not ordered:
        yield finding(
            "fatal", "the task says that one of several answers will do, and its check takes one only"
        )
    elif runs and ANY_ORDER.search(text):
        yield finding("fatal", "the task allows any order, and its check takes one only")
    if runs and _ANY_CASE.search(text) and re.search("[A-Za-z]", outputs):
        yield finding("fatal", "the task allows upper and lower case, and its check takes one only")
    if check.tolerance > 0:
        return
    exact = _long_float(calls) if calls else _DECIMAL.search(outputs) is not None
    if exact and _NEAR.search(text):
        yield finding("fatal", "the task allows an error, and its check has no tolerance")
    elif exact and not _PLACES.search(text):
        yield finding("warning", "results hold decimal numbers, and the check has no tolerance")


def _long_float(check: CasesCheck) -> bool:
    """Whether an expected value holds a float with so many digits that it was computed and not rounded."""
    stack: list[Any] = [c.expected for c in check.cases]
    while stack:
        value = stack.pop()
        if isinstance(value, float) and len(repr(value).replace("-", "").replace(".", "")) >= 15:
            return True
        if isinstance(value, list | tuple):
            stack += value
        elif isinstance(value, dict):
            stack += value.values()
    return False


def finding(severity: Any, text: str) -> Finding:
    """A `special-judge`."""
    return Finding(code="special-judge", severity=severity, text=text)
