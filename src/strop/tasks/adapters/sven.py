"""SVEN (Apache-2.0, github eth-sri/sven): functions before and after a security fix, as questions for a label.

Reference: He and Vechev, "Large Language Models for Code: Security Hardening and Adversarial Testing", CCS 2023,
arXiv:2302.05319. A row has `id`, `cwe`, `func_name`, `file_name`, `language`, `vulnerable`, `fixed`, `commit_link`; a
line of the published files, with `func_src_before`, `func_src_after` and `vul_type`, is read too.

A row makes two tasks, `ID/vulnerable` and `ID/fixed`. The label is the weakness, or `safe`: it answers both "is it
vulnerable" and "which weakness is it". In `metadata`: the `pair` (the row's id: splits keep it on one side), `cwe`,
`func_name`, what the `choices` mean, and `lines`: the member's lines, [first, last] from 1, that its twin has not;
[n + 1, n] stands for lines that only the twin has, behind line n. `code_lines` and `vulnerable` are for the reward
`cites_fix`; the format `vulnerability` reads the same rows into tasks whose lines are numbered.

1. What no fixed answer can beat: `safe` is right on half of the tasks, a weakness on at most half of its share.
2. That the fixed member is safe is the data set's word: the fix of a commit is not a proof.
3. A few rows hold the same code twice (of the fix only another function remained): their `lines` are empty, and their
   labels contradict each other.
4. Both members write the same row, which is whole.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from strop.core.checks import LabelCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.citations import cited_answer, line_count
from strop.tasks.adapters.fields import has, text
from strop.tasks.rows import Row

SAFE = "safe"
WEAKNESSES = {
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
"""The weaknesses of the set (cwe.mitre.org) with short names."""
CHOICES = [SAFE, *WEAKNESSES]
_LANGUAGES = {"py": "python", "python": "python", "c": "c", "cpp": "c++", "c++": "c++", "cc": "c++", "h": "c"}
_PUBLISHED = {"vulnerable": "func_src_before", "fixed": "func_src_after", "cwe": "vul_type"}
"""Our names of fields, and those of the published files."""


def _read(row: Row, where: str) -> Iterator[Task]:
    codes = {side: text(row, _name(row, side), where) for side in ("vulnerable", "fixed")}
    cwe = _weakness(text(row, _name(row, "cwe"), where), where)
    language = _language(row, where)
    name = str(row.get("id") or row.get("commit_link") or where)
    if "id" not in row:
        name = f"sven/{cwe.lower()}/{name}/{row.get('func_name', '')}"
    before, after = changed_lines(codes["vulnerable"], codes["fixed"])
    for side, lines in (("vulnerable", before), ("fixed", after)):
        right, wrong = (cwe, SAFE) if side == "vulnerable" else (SAFE, cwe)
        count = line_count(codes[side])
        yield Task(
            id=f"{name}/{side}",
            family="vulnerability",
            language=language,
            statement=_statement(codes[side], language),
            reference=cited_answer(right, lines, count, vulnerable=side == "vulnerable"),
            check=LabelCheck(choices=CHOICES, expected=right),
            topic=cwe,
            source=f"{name}/{side}",
            metadata={
                "pair": name,
                "cwe": cwe,
                "func_name": str(row.get("func_name", "")),
                "lines": lines,
                "code_lines": count,
                "vulnerable": side == "vulnerable",
                "broken": f"Answer: {wrong}",
                "choices": {SAFE: "no known weakness", **WEAKNESSES},
                "original": dict(row),
            },
        )


def changed_lines(before: str, after: str) -> tuple[list[list[int]], list[list[int]]]:
    """[first, last] of the lines of each text that the other one has not, in the text's own numbers; see above."""
    old, new = before.split("\n"), after.split("\n")
    changes = [c for c in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if c[0] != "equal"]
    return [[a + 1, b] for _, a, b, _, _ in changes], [[c + 1, d] for _, _, _, c, d in changes]


def _statement(code: str, language: str) -> str:
    fence = "```"
    while fence in code:
        fence += "`"
    return f"Is this function vulnerable, and to what?\n\n{fence}{language}\n{code.rstrip()}\n{fence}"


def _name(row: Row, field: str) -> str:
    published = _PUBLISHED[field]
    return published if field not in row and published in row else field


def _weakness(value: str, where: str) -> str:
    number = value.strip().upper().removeprefix("CWE-")
    found = f"CWE-{int(number):03d}" if number.isdecimal() and len(number) < 9 else value
    if found not in WEAKNESSES:
        raise UserError(f"{where}: field 'cwe' is {value!r:.40}: one of {', '.join(WEAKNESSES)}")
    return found


def _language(row: Row, where: str) -> str:
    given = str(row.get("language") or str(row.get("file_name", "")).rpartition(".")[2]).lower()
    if given not in _LANGUAGES:
        raise UserError(f"{where}: language {given!r:.40} is not among those of the set: python, c, c++")
    return _LANGUAGES[given]


def _write(task: Task) -> dict[str, Any]:
    row = task.metadata.get("original")
    if task.family != "vulnerability" or not isinstance(row, dict) or "pair" not in task.metadata:
        raise UserError(f"task {task.id!r} is no member of a pair: the format sven cannot hold it")
    return dict(row)


def _fits(row: Row) -> bool:
    if not (has(row, func_name=str) and ("cwe" in row or "vul_type" in row)):
        return False
    return has(row, vulnerable=str, fixed=str) or has(row, func_src_before=str, func_src_after=str)


ADAPTER = Adapter(
    name="sven",
    about="SVEN: functions before and after a security fix, to be labelled",
    read=_read,
    fits=_fits,
    write=_write,
)
