"""Questions about vulnerable functions whose lines are numbered: a pair of tasks, or a single one.

Sets of weaknesses: those of SVEN (`strop.tasks.adapters.sven`), and those of PrimeVul by which CodeRepairRL labels. The
label is a weakness, or `safe`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from strop.core.checks import LabelCheck
from strop.core.task import Task
from strop.tasks.adapters import sven
from strop.tasks.adapters.citations import cited_answer, line_count, numbered
from strop.tasks.adapters.sven import SAFE, changed_lines

PRIMEVUL = {
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
"""The nine weaknesses that CodeRepairRL takes of PrimeVul."""
LABEL_SETS: dict[str, Mapping[str, str]] = {"sven": sven.WEAKNESSES, "primevul": PRIMEVUL}
"""Weakness to short name (cwe.mitre.org), by the name of the set."""


def pair_of(
    name: str,
    codes: Mapping[str, str],
    *,
    cwe: str,
    language: str,
    labels: Mapping[str, str],
    kept: Mapping[str, Any],
    pair: str = "",
) -> Iterator[Task]:
    """The tasks `NAME/vulnerable` and `NAME/fixed`, with the lines by which they differ.

    codes   the code of the sides "vulnerable" and "fixed"
    labels  the set of weaknesses that `cwe` is of
    kept    further metadata of both
    pair    what splits keep on one side; default: the name
    """
    before, after = changed_lines(codes["vulnerable"], codes["fixed"])
    for side, lines in (("vulnerable", before), ("fixed", after)):
        task = single(f"{name}/{side}", codes[side], side == "vulnerable", cwe=cwe, language=language,
                      labels=labels, kept={**kept, "pair": pair or name, "lines": lines})  # fmt: skip
        answer = cited_answer(
            _expected(task), lines, line_count(codes[side]), vulnerable=side == "vulnerable"
        )
        yield task.model_copy(update={"reference": answer})


def single(
    name: str,
    code: str,
    vulnerable: bool,
    *,
    cwe: str,
    language: str,
    labels: Mapping[str, str],
    kept: Mapping[str, Any],
) -> Task:
    """One task; see `pair_of`. Without `lines` in `kept` nobody knows where the fix is."""
    right, wrong = (cwe, SAFE) if vulnerable else (SAFE, cwe)
    return Task(
        id=name,
        family="vulnerability",
        language=language,
        statement=statement(code, language),
        reference=f"Answer: {right}",
        check=LabelCheck(choices=[SAFE, *labels], expected=right),
        topic=cwe,
        source=name,
        metadata={
            "cwe": cwe,
            "vulnerable": vulnerable,
            "code_lines": line_count(code),
            "broken": f"Answer: {wrong}",
            "choices": {SAFE: "no known weakness", **labels},
            **kept,
        },
    )


def statement(code: str, language: str) -> str:
    """The question, with numbered lines; the fence is longer than any in the code."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"Is this function vulnerable, and to what?\n\n{fence}{language}\n{numbered(code)}\n{fence}"


def known_label(value: str, labels: Mapping[str, str]) -> str:
    """The weakness of the set that a text such as `cwe-20` or `CWE-020` means; "" for none."""
    number = value.strip().upper().removeprefix("CWE-")
    if not number.isdecimal() or len(number) > 8:
        return ""
    return next((name for name in labels if int(name.removeprefix("CWE-")) == int(number)), "")


def _expected(task: Task) -> str:
    return task.check.only(LabelCheck).expected
