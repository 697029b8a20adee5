"""Fenced blocks of Markdown, as models write them, and the languages that the words behind a fence mean."""

import re
from typing import NamedTuple

TAGS = {
    "python": {"python", "py", "pyi", "pypy", "cpython", "micropython", "ipython", "jupyter", "ipynb"},
    "rust": {"rust", "rs"},
    "javascript": {"javascript", "js", "mjs", "cjs", "jsx", "node", "nodejs", "ecmascript", "es"},
    "typescript": {"typescript", "ts", "tsx", "mts", "cts"},
    "c": {"c", "h"},
    "c++": {"c++", "cpp", "cc", "cxx", "hpp", "cplusplus"},
    "c#": {"c#", "cs", "csharp"},
    "bash": {"bash", "sh", "shell", "zsh"},
    "go": {"go", "golang"},
    "java": {"java"},
    "kotlin": {"kotlin", "kt", "kts"},
    "ruby": {"ruby", "rb"},
}
"""Words after a fence, and endings of file names, that mean the language, without versions; a language that is not
listed has its own name only."""

TEXT_TAGS = {"text", "txt", "plain", "plaintext", "pycon"}
"""Words that say little: what they stand above is rather what a program prints."""

_KNOWN = frozenset().union(*TAGS.values())
_LABELS = frozenset({
    "answer", "cell", "code", "code-cell", "file", "filename", "filepath", "final", "highlight", "in", "lang",
    "language", "name", "path", "script", "solution", "source", "src", "title",
})  # fmt: skip
"""Words that may stand before the language, or in place of it."""
_NO_CODE = frozenset(
    {"con", "console", "error", "errors", "output", "repl", "result", "session", "traceback"}
)

_FENCE = re.compile(r"^([ \t]*(?:(?:[-*+>]|[0-9]{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})([^`]*)$")
FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})(?P<words>[^`\n]*)$", re.MULTILINE)
"""A line that is a fence."""
_BEHIND_WORDS = re.compile(r"(?<![`~])(`{3,})[ \t]*([^\s`]+)[ \t]*$")
"""A fence that opens at the end of a line of words."""
_WORD = re.compile(r"(?:[cf]#|[\w.+/-]+)(?!\w)")
_NO_WORD = re.compile(r"(?<!\w)(?:#[\w-]+|[a-z]:[\\/]+)")
"""An identifier among attributes, the drive in front of a path."""
_VERSION = re.compile(r"[-_]?v?[0-9][0-9.]*$")


class CodeBlock(NamedTuple):
    """A fenced block: its language tag in lower case, its content, and whether its end was found."""

    tag: str
    code: str
    closed: bool


def blocks(text: str) -> list[CodeBlock]:
    """The fenced blocks of a Markdown text, in order; an indented block loses the indentation of its fence."""
    found: list[CodeBlock] = []
    indent = fence = tag = ""
    content: list[str] = []
    for line in text.split("\n"):
        bare = line.rstrip("\r")
        match = _FENCE.match(bare)
        if not fence:
            if match:
                indent, fence, tag = match[1], match[2], tag_of(match[3])
                content = []
            elif (late := _BEHIND_WORDS.search(bare)) and tag_of(late[2]) in _KNOWN:
                indent, fence, tag = "", late[1], tag_of(late[2])
                content = []
        elif match and match[3].strip() and not any(map(str.strip, content)):
            indent, fence, tag = match[1], match[2], tag_of(match[3])  # the block is opened twice
        elif match and _closes(match, indent, fence):
            found.append(CodeBlock(tag, "\n".join(content), True))
            fence = ""
        else:
            content.append(_unindented(line, indent))
    if fence:
        found.append(CodeBlock(tag, "\n".join(content), False))
    return found


def tag_of(info: str) -> str:
    """The language that the words behind a fence mean, as a word of `TAGS` where it is known; "" where none is named.

    `Python 3`, `{.python .numberLines}`, `rust,ignore`, `js title=a`, `python:src/a.py`, `src/a.py`, `c++17`.
    """
    lower = _NO_WORD.sub(" ", info.lower())
    classes = re.findall(r"\.[\w+-]+", lower) if lower.lstrip().startswith("{") else []
    if known := next(filter(None, map(_known, (word[1:] for word in classes))), ""):
        return known
    for found in _WORD.findall(lower):
        word = found.lstrip("./-+").rstrip("./-") if not found.endswith("#") else found
        if word and word not in _LABELS and not word.isdigit():
            return _known(word) or word.rpartition(".")[2]
    return ""


def _known(word: str) -> str:
    """The word of `TAGS` that a word is, with a version, as the ending of a file name, or in a compound; else ""."""
    bare = _VERSION.sub("", word)
    ending = _VERSION.sub("", word.rpartition(".")[2].rpartition("/")[2])
    parts = [_VERSION.sub("", part) for part in re.split("[-_]", bare)]
    compound = [p for p in (parts[0], parts[-1]) if len(p) > 1 and parts[-1] not in _NO_CODE]
    return next((w for w in (word, bare, ending, *compound) if w in _KNOWN), "")


def _closes(match: re.Match[str], indent: str, fence: str) -> bool:
    mark = match[2]
    return not match[3].strip() and mark.startswith(fence) and (not match[1].strip() or match[1] == indent)


def _unindented(line: str, indent: str) -> str:
    """The line without the indentation of its fence; behind a list's mark that is as many blanks."""
    if line.startswith(indent):
        return line[len(indent) :]
    return line.removeprefix(" " * len(indent)) if indent.strip() else line
