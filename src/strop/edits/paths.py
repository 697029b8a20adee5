"""Paths that an edit may name, and how they are written in a header line.

A path is a name in the task's tree and nothing else: paths that could lead out of it, or mean different things on
different systems, are refused. Symbolic links do not exist here: a file is its text.
"""

import json
import re

from strop.edits.changes import EditError

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST, _LONGEST_NAME, _DEEPEST = 4095, 255, 64
_PLAIN = re.compile(r"[^\s\"'`*(),:]+")
_WORDS = {"Makefile", "Dockerfile", "Containerfile", "Gemfile", "Rakefile", "Procfile", "LICENSE", "README"}


def check_path(path: str) -> str:
    """The path, if an edit may name it; EditError `bad-path` otherwise."""
    fault = _fault(path)
    if fault:
        raise EditError("bad-path", f"the path {path[:80]!r} {fault}")
    return path


def _fault(path: str) -> str:
    """What is wrong with a path; "" = nothing."""
    if not path:
        return "is empty"
    if _CONTROL.search(path):
        return "holds a control character or half of a surrogate pair"
    if "\\" in path:
        return "holds a backslash; folders are separated by /"
    if path.startswith("/") or _DRIVE.match(path):
        return "is absolute; paths are relative to the tree"
    names = path.split("/")
    if not all(names):
        return "holds an empty name"
    if "." in names or ".." in names:
        return "holds . or .."
    if ".git" in map(str.lower, names):
        return "lies in .git"
    if len(path.encode()) > _LONGEST or any(len(name.encode()) > _LONGEST_NAME for name in names):
        return f"is longer than {_LONGEST} bytes, or a name in it than {_LONGEST_NAME}"
    if len(names) > _DEEPEST:
        return f"lies in more than {_DEEPEST - 1} folders"
    return ""


def looks_like_path(text: str) -> bool:
    """Whether a word in a place where prose may stand is surely a path: it has a folder or an ending."""
    if not _PLAIN.fullmatch(text):
        return False
    last = text.rsplit("/", 1)[-1]
    return "/" in text.strip("/") or text in _WORDS or re.search(r"\.[A-Za-z0-9_+-]+$", last) is not None


def write_path(path: str) -> str:
    """The path as a header line says it: as it is where that is surely a path, else as a JSON string."""
    return path if looks_like_path(path) and not path.startswith("./") else json.dumps(path)


def read_path(text: str) -> tuple[str, str] | None:
    """The path at the start of a header's text, and what stands behind it; None where there is none.

    A JSON string, or everything up to ` (` or the end. Marks of Markdown around a plain path, a colon behind it and
    `./` in front of it are dropped.
    """
    if text.startswith('"'):
        try:
            path, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return None
        return path, text[end:].strip()
    path, opening, rest = text.partition(" (")
    path = path.strip().rstrip(":").strip("*").strip("`").rstrip(":").removeprefix("./")
    return (path, f"({rest}".strip() if opening else "") if path else None
