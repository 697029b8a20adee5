"""Writes unified diffs that git apply and patch -p1 accept."""

import hashlib
import re

from strop_verify.edits.changes import Create, Delete, Files, Rename
from strop_verify.edits.lines import opcodes, split
from strop_verify.edits.minimal_diff import Hunk, compare, hunks
from strop_verify.edits.paths import NOWHERE, quoted

_CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"
_MODE = "100644"
_FUNCTION = re.compile(r"[A-Za-z_$]")
"""git's pattern for the line shown after `@@`, without a driver for the language."""
_FUNCTION_BYTES = 80


def write_diff(before: Files, after: Files, *, full: bool = False) -> str:
    """The diff of two trees, by path; `full` adds git's `index` and the text after `@@`. Raises EditError."""
    moved, changed = compare(before, after)
    texts = {path: (old, new) for path, old, new in changed}
    parts: dict[str, str] = {}
    for move in moved:
        if isinstance(move, Create):
            parts[move.path] = _part(None, move.path, "", move.text, full)
        elif isinstance(move, Delete):
            parts[move.path] = _part(move.path, None, move.text or "", "", full)
        else:
            parts[move.to] = _renamed(move, *texts.pop(move.to, ("", "")), full)
    for path, (old, new) in texts.items():
        parts[path] = _part(path, path, old, new, full)
    return "".join(parts[path] for path in sorted(parts))


def _part(old_path: str | None, new_path: str | None, old: str, new: str, full: bool) -> str:
    """The diff of one file; None = no such file on that side."""
    path = old_path or new_path or ""
    kind = "new" if old_path is None else "deleted" if new_path is None else ""
    mode = f"{kind} file mode {_MODE}\n" if kind else ""
    sides = None if old_path is None else old, None if new_path is None else new
    blobs = _index(*sides, not kind) if full else ""
    names = (f"a/{path}" if old_path else NOWHERE), (f"b/{path}" if new_path else NOWHERE)
    return _git(path, path) + mode + blobs + _body(*names, old, new, full)


def _index(old: str | None, new: str | None, mode: bool) -> str:
    return f"index {_blob(old)}..{_blob(new)}{f' {_MODE}' if mode else ''}\n"


def _blob(text: str | None) -> str:
    """git's abbreviated id of a file's content; zeros if there is no file."""
    if text is None:
        return "0" * 7
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:7]


def _git(old: str, new: str) -> str:
    return f"diff --git {quoted(f'a/{old}')} {quoted(f'b/{new}')}\n"


def _renamed(move: Rename, old: str, new: str, full: bool) -> str:
    head = _git(move.path, move.to)
    names = f"rename from {quoted(move.path)}\nrename to {quoted(move.to)}\n"
    likeness = f"similarity index {_likeness(old, new)}%\n"
    if old == new:
        return head + likeness + names
    blobs = _index(old, new, True) if full else ""
    return head + likeness + names + blobs + _body(f"a/{move.path}", f"b/{move.to}", old, new, full)


def _likeness(old: str, new: str) -> int:
    """Percentage of characters in common lines; 100 only for equal texts."""
    if old == new:
        return 100
    lines = split(old)
    same = sum(len(line) for equal, i, j, _, _ in opcodes(lines, split(new)) if equal for line in lines[i:j])
    return min(99, 200 * same // (len(old) + len(new)))


def _body(old_name: str, new_name: str, old: str, new: str, full: bool) -> str:
    """File names and hunks; empty if both texts are equal."""
    if old == new:
        return ""
    a, b = split(old), split(new)
    out = [f"--- {_name(old_name)}\n+++ {_name(new_name)}\n"]
    for hunk in hunks(old, new, context=_CONTEXT):
        head = f"@@ -{_range(hunk.first, hunk.last)} +{_range(hunk.new_first, hunk.new_last)} @@"
        out.append(f"{head}{_function(a, hunk.first) if full else ''}\n")
        out += _lines(hunk, a, b)
    return "".join(out)


def _function(lines: list[str], first: int) -> str:
    """The text after `@@`: the nearest line above a hunk that may begin a function."""
    found = next((line for line in reversed(lines[:first]) if _FUNCTION.match(line)), "")
    shown = found.encode("utf-8", "surrogatepass")[:_FUNCTION_BYTES].decode("utf-8", "ignore").rstrip()
    return f" {shown}" if shown else ""


def _name(name: str) -> str:
    """A name with a blank ends in a tab, so readers that expect a date find its end."""
    shown = quoted(name)
    return shown + "\t" if " " in shown and not shown.startswith('"') else shown


def _range(first: int, last: int) -> str:
    """Line and count; a range without lines is placed at the line above it."""
    count = last - first
    start = first + 1 if count else first
    return str(start) if count == 1 else f"{start},{count}"


def _lines(hunk: Hunk, a: list[str], b: list[str]) -> list[str]:
    old, new = a[hunk.first : hunk.last], b[hunk.new_first : hunk.new_last]
    out = []
    for equal, i, j, k, m in opcodes(old, new):
        for mark, lines in ((" ", old[i:j]),) if equal else (("-", old[i:j]), ("+", new[k:m])):
            out += [mark + line if line.endswith("\n") else f"{mark}{line}\n{_NO_END}" for line in lines]
    return out
