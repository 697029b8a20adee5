"""Unified diffs of git as texts: the reverse of one. Nothing is applied.

Format: git-diff(1), "Generating patch text with -p", and GNU diffutils, "Detailed Description of Unified Format".
"""

import re
from collections.abc import Iterator

from strop.edits.lines import split

_HUNK = re.compile(r"@@ -(\d+(?:,(\d+))?) \+(\d+(?:,(\d+))?) @@")
_GIT = re.compile(r"diff --git (\S+) (\S+)$")
_INDEX = re.compile(r"index (\w+)\.\.(\w+)(.*)$", re.DOTALL)
MAX_CONTEXT = 3
"""Lines of context that git writes after a change."""


def ended(patch: str) -> str:
    """The diff with the end of its last line, and the empty lines of context after it, where a set has stripped them.

    git refuses a diff without them, and its reverse would glue two lines together.
    """
    if not patch or patch.endswith("\n"):
        return patch
    lines = f"{patch}\n".split("\n")[:-1]
    start = max((at for at, line in enumerate(lines) if line.startswith("@@ -")), default=None)
    if start is not None and (match := _HUNK.match(lines[start])):
        old, new = (1 if count is None else int(count[:9]) for count in (match[2], match[4]))
        body = lines[start + 1 :]
        old -= sum(line[:1] not in "+\\" or not line for line in body)
        new -= sum(line[:1] not in "-\\" or not line for line in body)
        if 0 < old == new <= MAX_CONTEXT:
            lines += [" "] * old
        if "\r" in patch and all(line.endswith("\r") for line in body[:-1]) and len(body) > 1:
            lines[start + len(body)] = lines[start + len(body)].rstrip("\r") + "\r"
    return "\n".join(lines) + "\n"


def reverse(patch: str) -> str:
    """The diff that takes back what `patch` does; twice gives a diff of git back, with removed lines before added ones.

    Raises ValueError for what is no unified diff of texts; copies and binary files cannot be reversed.
    """
    patch = ended(patch)
    lines = split(patch)
    if not any(line.startswith("@@ -") or line.startswith("rename from ") for line in lines):
        raise ValueError("there is no hunk in it")
    return "".join(_reversed(lines))


def _reversed(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if lines[at].startswith("@@ -"):
            end = _end_of_hunk(lines, at)
            yield from _hunk(lines[at:end])
        elif _starts_file(lines, at):
            end = at + 1
            while (
                end < len(lines) and not lines[end].startswith("@@ -") and not lines[end].startswith("diff ")
            ):
                end += 1
                if lines[end - 1].startswith("+++ "):
                    break
            yield from _header(lines[at:end])
        else:
            end = at + 1
            yield lines[at]
        at = end


def _starts_file(lines: list[str], at: int) -> bool:
    plain = lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
    return plain or lines[at].startswith("diff --git ")


def _header(lines: list[str]) -> Iterator[str]:
    """A file's lines before its first hunk, each replaced by its counterpart."""
    swapped = {"old mode ": "new mode ", "rename from ": "rename to ", "--- ": "+++ "}
    found = {key: line for line in lines for key in (*swapped, *swapped.values()) if line.startswith(key)}
    both = {**swapped, **{theirs: ours for ours, theirs in swapped.items()}}
    for line in lines:
        if line.startswith(("copy from ", "copy to ", "GIT binary patch", "Binary files ")):
            raise ValueError(f"it has {line.split()[0].lower()} data or copies, whose reverse is not in it")
        key = next((key for key in both if line.startswith(key)), None)
        if key is not None:
            if both[key] not in found:
                raise ValueError(f"a line {line.rstrip()!r:.60} has no counterpart")
            value = found[both[key]][len(both[key]) :]
            yield key + (_side(value, "a/" if key == "--- " else "b/") if key in ("--- ", "+++ ") else value)
        elif line.startswith("new file mode "):
            yield line.replace("new file", "deleted file", 1)
        elif line.startswith("deleted file mode "):
            yield line.replace("deleted file", "new file", 1)
        elif match := _INDEX.match(line):
            yield f"index {match[2]}..{match[1]}{match[3]}"
        elif match := _GIT.match(line.rstrip("\r\n")):
            yield f"diff --git {_side(match[2], 'a/')} {_side(match[1], 'b/')}" + line[match.end() :]
        else:
            yield line


def _side(name: str, prefix: str) -> str:
    quote = '"' if name.startswith('"') else ""
    bare = name[len(quote) :]
    return f"{quote}{prefix}{bare[2:]}" if bare[:2] in ("a/", "b/") else name


def _end_of_hunk(lines: list[str], at: int) -> int:
    match = _HUNK.match(lines[at])
    if match is None:
        raise ValueError(f"bad hunk {lines[at].rstrip()!r:.60}")
    old, new = (1 if count is None else int(count[:9]) for count in (match[2], match[4]))
    end = at + 1
    while end < len(lines) and (old > 0 or new > 0 or lines[end].startswith("\\")):
        mark = lines[end][:1]
        if mark not in " +-\\\n\r":
            raise ValueError(f"line {end + 1} is in a hunk but has no mark")
        old -= mark not in "+\\"
        new -= mark not in "-\\"
        end += 1
    if old or new:
        raise ValueError(f"hunk {lines[at].rstrip()!r:.60} has not the lines that it announces")
    return end


def _hunk(lines: list[str]) -> Iterator[str]:
    match = _HUNK.match(lines[0])
    assert match is not None
    yield f"@@ -{match[3]} +{match[1]} @@{lines[0][match.end() :]}"
    removed: list[str] = []
    added: list[str] = []
    last = removed
    for line in [*lines[1:], " "]:
        if line[:1] in "+-":
            last = removed if line[0] == "+" else added
            last.append(("-" if line[0] == "+" else "+") + line[1:])
        elif line[:1] == "\\" and (removed or added):
            last.append(line)
        else:
            yield from removed
            yield from added
            removed, added = [], []
            if line != " ":
                yield line
