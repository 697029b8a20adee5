"""Search/replace blocks as CodeRepairRL reads them, with everything that its parser gets wrong.

Source: github.com/ASSERT-KTH/CodeRepairRL, src/utils/diff.py, revision 2b36cad. Kept, since they affect its rewards:
1. a divider line with a SEARCH marker anywhere after it means "wrong order": text with two or more blocks has none;
2. blocks are separated by blank lines, so a block whose code has a blank line is not found, or is cut;
3. white space around a block's two texts is dropped, including the indentation of their first lines;
4. a block that contains "missing divider" is treated differently (a string of the original's tests).

Deviation: text that cannot be read marker by marker goes through backtracking expressions, which see at most 20,000
characters of it (`SLOW`); blocks beyond that are not found. Everything else takes linear time.
"""

import re

SLOW = 20_000
"""Characters of one text that the backtracking expressions may see."""

Block = tuple[str, str]
"""(search, replace)."""

_WRONG_ORDER = re.compile(r"\n<<<+\s*SEARCH")
_BOUNDARY_START, _BOUNDARY_END = re.compile(r"(?<!>)>>>>+\s*REPLACE"), re.compile(r"(?<!<)<<<+\s*SEARCH")
_OPEN, _CLOSE = r"(?<!<)<<<+\s*SEARCH", r"\n>>>+\s*REPLACE"

_FORGIVING = (
    # (expressions that are found one after another wherever the slow expression matches, the slow expression)
    ((_OPEN + r"\s*?>*\n", r"\n=+\n", _CLOSE), _OPEN + r"\s*>*\n(.*?)\n=+\n(.*?)" + _CLOSE),
    ((_OPEN + r"\s*?>*\n=+\n", _CLOSE), _OPEN + r"\s*>*\n()=+\n(.*?)" + _CLOSE),
    (
        (_OPEN + r"\s+?\n", r"\n=+\s+?\n", _CLOSE + r"\s"),
        _OPEN + r"\s+\n(.*?)\n=+\s+\n(.*?)" + _CLOSE + r"\s",
    ),
    ((_OPEN + r"[^\n]*\n", r"\n=+[^\n]*\n", _CLOSE), _OPEN + r"\s*.*?\n(.*?)\n=+.*?\n(.*?)" + _CLOSE),
)
_FORGIVING_COMPILED = [
    (tuple(map(re.compile, steps)), re.compile(expression, re.S)) for steps, expression in _FORGIVING
]
_NO_DIVIDER_STEPS = tuple(map(re.compile, (r"(?<!<)<<+\s*SEARCH\s*?>*\n", r">>+\s*REPLACE")))
_NO_DIVIDER = re.compile(r"(?<!<)<<+\s*SEARCH\s*>*\n(.*?)>>+\s*REPLACE", re.S)
_SEPARATE = tuple(map(re.compile, (r"SEARCH", r"[\r\n]", r"=|DIVIDER", r"[\r\n]", r"REPLACE")))
_MARKERS = re.compile(r"<*\s*SEARCH\s*>*|\n=+\n|<*\s*REPLACE\s*>*")


def published_blocks(text: str) -> list[Block]:
    """The blocks that the published parser finds, in order; never raises."""
    divider = text.find("=\n")
    if divider >= 0 and _WRONG_ORDER.search(text, divider + 2):
        return []
    parts = text.split("\n\n")
    if len(parts) == 1 and text.count("SEARCH") > 1:
        parts = _at_boundaries(text)
    found: list[Block] = []
    budget = SLOW
    for part in parts:
        if not ("SEARCH" in part and "REPLACE" in part):
            continue
        block = _by_position(part)
        if block is None and len(part) <= budget:
            budget -= len(part)
            block = _by_expression(part)
        if block is not None:
            found.append(block)
    return found


def follows(text: str, steps: "tuple[re.Pattern[str], ...]") -> bool:
    """Whether the expressions are found one after the other."""
    position = 0
    for step in steps:
        match = step.search(text, position)
        if match is None:
            return False
        position = match.end()
    return True


def is_standard(text: str) -> bool:
    """Whether the text has a block in the standard form, which the first of the expressions finds."""
    return follows(text, _FORGIVING_COMPILED[0][0])


def _at_boundaries(text: str) -> list[str]:
    """The text split at each SEARCH after a REPLACE marker; parts between two such splits appear twice."""
    pieces: list[str] = []
    position = 0
    while start := _BOUNDARY_START.search(text, position):
        end = _BOUNDARY_END.search(text, start.end())
        if end is None:
            break
        cut = text.index("SEARCH", start.start())
        pieces += [text[position:cut], text[cut : _next_boundary(text, end.end())]]
        position = end.end()
    return [*pieces, text[position:]] if pieces else [text]


def _next_boundary(text: str, position: int) -> int:
    start = _BOUNDARY_START.search(text, position)
    if start is None or _BOUNDARY_END.search(text, start.end()) is None:
        return len(text)
    return start.start()


def _by_position(block: str) -> Block | None:
    """A block whose three markers are in order, whatever precedes them on their lines."""
    search, divider, replace = block.find("SEARCH"), block.find("======="), block.find("REPLACE")
    if not 0 <= search < divider < replace:
        return None
    after_search, after_divider = block.find("\n", search), block.find("\n", divider)
    if after_search < 0 or after_divider < 0:
        return None
    before = block[after_search + 1 : divider].strip()
    after = block[after_divider + 1 : replace].strip()
    marker = replace - (block.rfind("\n", 0, replace) + 1)
    return before, after[:-marker] if marker else after


def _by_expression(block: str) -> Block | None:
    for steps, expression in _FORGIVING_COMPILED:
        if follows(block, steps) and (match := expression.search(block)):
            return match[1], match[2]
    if "missing divider" in block:
        if "<<<<<<< SEARCH" in block and ">>>>>>> REPLACE" in block and "=======" not in block:
            return None
    elif follows(block, _NO_DIVIDER_STEPS) and (match := _NO_DIVIDER.search(block)):
        lines = match[1].splitlines()
        middle = len(lines) // 2
        return "\n".join(lines[:middle]), "\n".join(lines[middle:])
    if "=====" not in block and "DIVIDER" not in block:
        return None
    if follows(block, _SEPARATE):
        return "", ""
    parts = [part.strip() for part in _MARKERS.split(block) if part.strip()]
    return (parts[0], parts[1]) if len(parts) >= 2 else None
