"""Writes a unified diff that git apply and patch -p1 take."""

from strop.edits.changes import Create, Delete, Files, Rename
from strop.edits.diff_names import NOWHERE, quoted
from strop.edits.lines import opcodes, split
from strop.edits.smallest import Hunk, compare, hunks

_CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"
_MODE = "100644"


def write_diff(before: Files, after: Files) -> str:
    """The diff of two trees, in the order of paths. Raises EditError as `Format.render` does."""
    moved, changed = compare(before, after)
    texts = {path: (old, new) for path, old, new in changed}
    parts: dict[str, str] = {}
    for move in moved:
        if isinstance(move, Create):
            head = [_git(move.path, move.path), f"new file mode {_MODE}\n"]
            parts[move.path] = "".join(head) + _body(NOWHERE, f"b/{move.path}", "", move.text)
        elif isinstance(move, Delete):
            head = [_git(move.path, move.path), f"deleted file mode {_MODE}\n"]
            parts[move.path] = "".join(head) + _body(f"a/{move.path}", NOWHERE, move.text or "", "")
        else:
            parts[move.to] = _renamed(move, *texts.pop(move.to, ("", "")))
    for path, (old, new) in texts.items():
        parts[path] = _git(path, path) + _body(f"a/{path}", f"b/{path}", old, new)
    return "".join(parts[path] for path in sorted(parts))


def _git(old: str, new: str) -> str:
    return f"diff --git {quoted(f'a/{old}')} {quoted(f'b/{new}')}\n"


def _renamed(move: Rename, old: str, new: str) -> str:
    head = _git(move.path, move.to)
    names = f"rename from {quoted(move.path)}\nrename to {quoted(move.to)}\n"
    likeness = f"similarity index {_likeness(old, new)}%\n"
    return head + likeness + names + (_body(f"a/{move.path}", f"b/{move.to}", old, new) if old != new else "")


def _likeness(old: str, new: str) -> int:
    """Share of the characters that are in lines of both, in percent; 100 only for equal texts."""
    if old == new:
        return 100
    lines = split(old)
    same = sum(len(line) for equal, i, j, _, _ in opcodes(lines, split(new)) if equal for line in lines[i:j])
    return min(99, 200 * same // (len(old) + len(new)))


def _body(old_name: str, new_name: str, old: str, new: str) -> str:
    """File names and hunks; nothing where both texts are equal."""
    if old == new:
        return ""
    a, b = split(old), split(new)
    out = [f"--- {_name(old_name)}\n+++ {_name(new_name)}\n"]
    for hunk in hunks(old, new, context=_CONTEXT):
        out.append(f"@@ -{_range(hunk.first, hunk.last)} +{_range(hunk.new_first, hunk.new_last)} @@\n")
        out += _lines(hunk, a, b)
    return "".join(out)


def _name(name: str) -> str:
    """A name with a blank ends in a tab, so that readers which expect a date behind it find the end of the name."""
    shown = quoted(name)
    return shown + "\t" if " " in shown and not shown.startswith('"') else shown


def _range(first: int, last: int) -> str:
    """Line and count; a range without lines is said to stand at the line above it."""
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
