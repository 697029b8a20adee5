"""Code with numbered lines, and answers that cite them; `strop.rewards.cites` reads what is written here."""

from collections.abc import Sequence

Ranges = Sequence[Sequence[int]]
"""[first, last] lines from 1; [n + 1, n] is the place behind line n."""


def line_count(code: str) -> int:
    """How many lines are shown of a code: blank ones at its end are not."""
    return code.rstrip().count("\n") + 1


def numbered(code: str) -> str:
    """The code with its line numbers in front, `12 | x = 1`."""
    lines = code.rstrip().split("\n")
    width = len(str(len(lines)))
    return "\n".join(f"{number:>{width}} | {line}".rstrip() for number, line in enumerate(lines, start=1))


def cited_answer(label: str, lines: Ranges, count: int, *, vulnerable: bool) -> str:
    """The right answer: the label, and the lines of the fix where the task has some.

    Lines that only the fix has are cited by the line above them. The label comes first: the styles that begin an answer
    begin it with `Answer:`.
    """
    if not lines:
        return f"Answer: {label}"
    return f"Answer: {label}\nLines: {_text(lines, count) if vulnerable else 'none'}"


def _text(ranges: Ranges, count: int) -> str:
    cited: set[int] = set()
    for first, last in ranges:
        cited.update(range(first, last + 1) if last >= first else [last])
    numbers = sorted({min(max(number, 1), count) for number in cited})
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)
