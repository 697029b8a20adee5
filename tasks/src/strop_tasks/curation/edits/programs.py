"""Whether two texts of a file are the same program: Python by its syntax tree, C-like languages by their tokens."""

import ast
import re
from functools import lru_cache

from strop_verify.code.python.source import UNPARSABLE, tree_of
from strop_verify.edits.languages import LANGUAGES

_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_KIN_OF_C = frozenset({
    "c", "c++", "c#", "go", "java", "javascript", "kotlin", "rust", "scala", "swift", "typescript",
})  # fmt: skip
_PART = re.compile(
    r"""(?P<kept>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])+'|`(?:\\.|[^`\\])*`)|//[^\n]*|/\*.*?\*/|\s+""", re.DOTALL
)
_WORDS = re.compile(r"\w+|[^\w\s]")


def same_program(path: str, before: str | None, after: str | None) -> bool:
    """Whether a change touches only comments, docstrings and layout. False for unknown languages."""
    if before is None or after is None:
        return False
    language = LANGUAGES.get(path.rpartition(".")[2].lower(), "")
    if language in _KIN_OF_C:
        return _code(before) == _code(after)
    if language != "python":
        return False
    try:
        return _same_python(before.removeprefix("\ufeff"), after.removeprefix("\ufeff"))
    except UNPARSABLE:
        return False


def _code(text: str) -> list[str]:
    """The text as words and punctuation, without comments and white space."""
    return _WORDS.findall(_PART.sub(lambda found: found["kept"] or " ", text))


def _same_python(before: str, after: str) -> bool:
    """Whether two texts have the same tree; only statements whose lines differ are compared. May raise `UNPARSABLE`."""
    old, new = _statements(before), _statements(after)
    return len(old) == len(new) and all(
        (text == other and part.col_offset == like.col_offset and part.end_col_offset == like.end_col_offset)
        or _shape(part) == _shape(like)
        for (part, text), (like, other) in zip(old, new, strict=True)
    )


@lru_cache(maxsize=8)
def _statements(text: str) -> list[tuple[ast.stmt, str]]:
    """The statements of a module, with their lines. Cached: a commit's old text is its parent's new one."""
    lines = re.split(r"\r\n?|\n", text)
    return [
        (part, "\n".join(lines[part.lineno - 1 : part.end_lineno]))
        for part in tree_of(text).body
        if not _is_text(part)
    ]


def _shape(tree: ast.stmt) -> str:
    """The tree without positions and docstrings, including other statements that are only a string."""
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED):
            node.body = [part for part in node.body if not _is_text(part)]
    return ast.dump(tree, annotate_fields=False)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
