"""Questions about functions that may be vulnerable: a pair of tasks, or a single one, and answers that cite lines.

The label is a weakness, or `safe`. `strop.rewards.cites` reads the lines that are written here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from strop.core.checks import LabelCheck
from strop.core.task import Task

SAFE = "safe"
SVEN_WEAKNESSES = {
    "CWE-022": "path traversal",
    "CWE-078": "OS command injection",
    "CWE-079": "cross-site scripting",
    "CWE-089": "SQL injection",
    "CWE-125": "out-of-bounds read",
    "CWE-190": "integer overflow",
    "CWE-416": "use after free",
    "CWE-476": "NULL pointer dereference",
    "CWE-787": "out-of-bounds write",
}
PRIMEVUL_WEAKNESSES = {
    "CWE-20": "improper input validation",
    "CWE-125": "out-of-bounds read",
    "CWE-189": "numeric error",
    "CWE-200": "exposure of sensitive information",
    "CWE-264": "permissions, privileges and access control",
    "CWE-362": "race condition",
    "CWE-399": "resource management error",
    "CWE-416": "use after free",
    "CWE-476": "NULL pointer dereference",
}
"""The nine weaknesses of PrimeVul by which CodeRepairRL labels."""
LABEL_SETS: dict[str, Mapping[str, str]] = {"sven": SVEN_WEAKNESSES, "primevul": PRIMEVUL_WEAKNESSES}
"""Weakness to short name (cwe.mitre.org), by the name of the set."""

Ranges = Sequence[Sequence[int]]
"""[first, last] lines from 1; [n + 1, n] is the place after line n."""


def line_count(code: str) -> int:
    """Lines shown of a code: blank ones at its end are not."""
    return code.rstrip().count("\n") + 1


def numbered(code: str) -> str:
    """The code with its line numbers in front, `12 | x = 1`."""
    lines = code.rstrip().split("\n")
    width = len(str(len(lines)))
    return "\n".join(f"{number:>{width}} | {line}".rstrip() for number, line in enumerate(lines, start=1))


def pair_of(
    name: str,
    codes: Mapping[str, str],
    *,
    cwe: str,
    language: str,
    labels: Mapping[str, str],
    kept: Mapping[str, Any],
    show: Callable[[str], str] = numbered,
) -> Iterator[Task]:
    """The tasks `NAME/vulnerable` and `NAME/fixed`, with the lines by which they differ.

    codes   the code of the sides "vulnerable" and "fixed"
    labels  the set of weaknesses that `cwe` is of
    kept    further metadata of both
    show    how the question shows the code
    """
    before, after = changed_lines(codes["vulnerable"], codes["fixed"])
    for side, lines in (("vulnerable", before), ("fixed", after)):
        about = {**kept, "pair": name, "lines": lines}
        yield single(f"{name}/{side}", codes[side], side == "vulnerable", cwe=cwe, language=language,
                     labels=labels, kept=about, show=show)  # fmt: skip


def single(
    name: str,
    code: str,
    vulnerable: bool,
    *,
    cwe: str,
    language: str,
    labels: Mapping[str, str],
    kept: Mapping[str, Any],
    show: Callable[[str], str] = numbered,
) -> Task:
    """One task; see `pair_of`. Without `lines` in `kept` nobody knows where the fix is."""
    right, wrong = (cwe, SAFE) if vulnerable else (SAFE, cwe)
    count = line_count(code)
    fence = "```"
    while fence in code:
        fence += "`"
    return Task(
        id=name,
        family="vulnerability",
        language=language,
        statement=f"Is this function vulnerable, and to what?\n\n{fence}{language}\n{show(code)}\n{fence}",
        reference=cited_answer(right, kept.get("lines", ()), count, vulnerable=vulnerable),
        check=LabelCheck(choices=[SAFE, *labels], expected=right),
        topic=cwe,
        source=name,
        metadata={
            "cwe": cwe,
            "vulnerable": vulnerable,
            "code_lines": count,
            "broken": f"Answer: {wrong}",
            "choices": {SAFE: "no known weakness", **labels},
            **kept,
        },
    )


def changed_lines(before: str, after: str) -> tuple[list[list[int]], list[list[int]]]:
    """`Ranges` of the lines of each text that the other one lacks, in the text's own numbers."""
    old, new = before.split("\n"), after.split("\n")
    changes = [c for c in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if c[0] != "equal"]
    return [[a + 1, b] for _, a, b, _, _ in changes], [[c + 1, d] for _, _, _, c, d in changes]


def known_label(value: str, labels: Mapping[str, str]) -> str:
    """The weakness of the set that a text such as `cwe-20` or `CWE-020` means; "" for none."""
    number = value.strip().upper().removeprefix("CWE-")
    if not number.isdecimal() or len(number) > 8:
        return ""
    return next((name for name in labels if int(name.removeprefix("CWE-")) == int(number)), "")


def cited_answer(label: str, lines: Ranges, count: int, *, vulnerable: bool) -> str:
    """The right answer: the label first, as prompts begin it, then the lines of the fix, or the line above it."""
    if not lines:
        return f"Answer: {label}"
    return f"Answer: {label}\nLines: {_text(lines, count) if vulnerable else 'none'}"


def _text(ranges: Ranges, count: int) -> str:
    cited: set[int] = set()
    for first, last in ranges:
        cited.update(range(first, last + 1) if last >= first else [last])
    numbers = sorted({min(max(number, 1), count) for number in cited})
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), key=lambda item: item[1] - item[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
