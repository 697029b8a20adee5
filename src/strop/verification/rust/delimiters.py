"""Whether the brackets, quotes and comments of Rust source close, by a lexer for just that.

rustc stops at a file where they do not, before it has looked at the others of its crate. So such a file is compiled
alone. A mistake here costs time, never a verdict.
"""

import re

_TOKEN = re.compile(
    r"""
      //[^\n]*
    | /\*                                             # block comments nest
    | (?:b|c)?r(?P<hashes>\#*)"                        # raw strings
    | (?:b|c)?"(?:[^"\\]|\\.)*(?P<closed>"?)           # strings
    | b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'          # characters
    | '[A-Za-z_]\w*                                    # lifetimes
    | [(\[{}\])]
    """,
    re.X | re.S,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}


def balanced(text: str) -> bool:
    """Whether all brackets match and every string and comment ends. Linear in the text."""
    open_brackets: list[str] = []
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        token, position = match.group(), match.end()
        if token == "/*":
            position = _comment_end(text, position)
        elif match["hashes"] is not None:
            end = text.find('"' + match["hashes"], position)
            position = end + 1 + len(match["hashes"]) if end >= 0 else -1
        elif match["closed"] == "":
            return False
        elif token in "([{":
            open_brackets.append(token)
        elif token in _CLOSES and (not open_brackets or open_brackets.pop() != _CLOSES[token]):
            return False
        if position < 0:
            return False
    return not open_brackets


def _comment_end(text: str, position: int) -> int:
    depth = 1
    for match in re.compile(r"/\*|\*/").finditer(text, position):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return -1
