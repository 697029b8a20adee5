"""Lines of a text, and the smallest set of lines in which two texts differ."""

from collections.abc import Sequence
from itertools import accumulate

from rapidfuzz.distance import Indel

Opcode = tuple[bool, int, int, int, int]
"""Equal or not, lines of the first from-to, lines of the second from-to; from 0, the end not included."""

_LARGEST_TABLE = 200_000_000
"""Maximum cells of the table of the longest common subsequence, a bit each: 25 MB."""


def split(text: str) -> list[str]:
    """The lines with their ends; only `\\n` ends a line. The last may have none; "" has no lines."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def starts(lines: Sequence[str]) -> list[int]:
    """The offset of each line in the joined text, and its length at the end: [len(lines) + 1]."""
    return [0, *accumulate(map(len, lines))]


def opcodes(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """The runs of equal and of changed lines, in order and without gaps, by a longest common subsequence.

    If its table would be too large, the lines between the common head and tail are one change.
    """
    ids: dict[str, int] = {}
    a, b = ([ids.setdefault(line, len(ids)) for line in lines] for lines in (before, after))
    head = _common(a, b)
    tail = min(_common(a[::-1], b[::-1]), len(a) - head, len(b) - head)
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    found: list[Opcode] = [(True, 0, head, 0, head)] if head else []
    if middle_a and middle_b and len(middle_a) * len(middle_b) <= _LARGEST_TABLE:
        for code in Indel.opcodes(middle_a, middle_b):
            found.append((code.tag == "equal", code.src_start + head, code.src_end + head,
                          code.dest_start + head, code.dest_end + head))  # fmt: skip
    elif middle_a or middle_b:
        found.append((False, head, len(a) - tail, head, len(b) - tail))
    if tail:
        found.append((True, len(a) - tail, len(a), len(b) - tail, len(b)))
    return _joined(found)


def changed(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines of both without their common beginning and end."""
    start = _common(before, after)
    end = min(_common(before[::-1], after[::-1]), min(len(before), len(after)) - start)
    return list(before[start : len(before) - end]), list(after[start : len(after) - end])


def _common(a: Sequence[object], b: Sequence[object]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _joined(codes: list[Opcode]) -> list[Opcode]:
    """Joins neighbours of one kind (a deletion and an insertion)."""
    joined: list[Opcode] = []
    for code in codes:
        if joined and joined[-1][0] == code[0]:
            last = joined[-1]
            joined[-1] = (code[0], last[1], code[2], last[3], code[4])
        else:
            joined.append(code)
    return joined
