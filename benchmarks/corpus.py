"""A corpus of tasks with known faults, generated from a seed and written as a stream, with labels in a second file.

    python benchmarks/corpus.py --count 2000 --seed 0 -o FOLDER     # FOLDER/tasks.jsonl.gz, FOLDER/labels.jsonl

A label line is {"id", "class", "of"}; `of` is the task that a duplicate was made from, or the item that leaked. The
classes: honest; duplicates (exact, renamed, reformatted, paraphrased); leaks from HumanEval (statement, code); flaky,
few-tests, wrong-reference; cheatable tasks (constant, exit, shown-tests). Each faulty class has two tasks in a hundred.
Honest problems are distinct: no two give the same numbers on sixteen probes.
"""

import argparse
import ast
import json
import random
import re
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from corpus_parts import Problem, code, problem, solve, statement

from strop.tasks import load_tasks, write_tasks
from strop_verify.core.checks import Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.ids import rng
from strop_verify.core.task import Task

SHARE = 0.02
DUPLICATES = ("exact", "renamed", "reformatted", "paraphrased")
LEAKS = ("leak-statement", "leak-code")
FAULTS = ("flaky", "few-tests", "wrong-reference", "constant", "exit", "shown-tests")
CLASSES = (*DUPLICATES, *LEAKS, *FAULTS)
PROGRAM = 0.2
"""Share of honest problems that are programs."""
REMEMBERED = 3000
"""Number of the latest honest tasks from which duplicates are made."""


class Label(NamedTuple):
    """The label of a task of the corpus."""

    id: str
    kind: str
    of: str = ""


class Base(NamedTuple):
    """An honest problem and how its task was written."""

    task: Task
    which: Problem
    source: str
    """The function alone."""


def corpus(count: int, seed: int) -> Iterator[tuple[Task, Label]]:
    """`count` tasks in a fixed order with their labels; classes are mixed."""
    r = rng("corpus", seed)
    seen: set[int] = set()
    bases: deque[Base] = deque(maxlen=REMEMBERED)
    items = load_tasks("humaneval")
    for number in range(count):
        task_id = f"c{seed}-{number:06d}"
        drawn = r.random() / SHARE
        kind = CLASSES[int(drawn)] if drawn < len(CLASSES) and bases else "honest"
        if kind in DUPLICATES:
            base = r.choice(bases)
            yield duplicate(base, kind, task_id, r), Label(task_id, kind, base.task.id)
        elif kind in LEAKS:
            item = r.choice(items)
            yield leak(item, kind, task_id, r, fresh(seen, r)), Label(task_id, kind, item.id)
        else:
            base = honest(task_id, fresh(seen, r), r)
            if kind == "honest":
                bases.append(base)
            yield (FAULT[kind](base, r) if kind in FAULTS else base.task), Label(task_id, kind)


def fresh(seen: set[int], r: random.Random) -> Problem:
    """A problem whose answer depends on its input, and whose numbers differ from those of all earlier problems."""
    while True:
        which = problem(r)
        probes = rng("probes")
        answers = tuple(solve(which, numbers(probes)) for _ in range(16))
        if hash(answers) not in seen and len(set(answers)) >= 10:
            seen.add(hash(answers))
            return which


def numbers(r: random.Random, least: int = 3) -> list[int]:
    """A random input."""
    return [r.randint(-30, 60) for _ in range(r.randint(least, 9))]


def honest(task_id: str, which: Problem, r: random.Random) -> Base:
    """A task without a fault: a function or a program."""
    source, wording = code(which, r), rng("words", task_id)
    asked, program = statement(which, wording), r.random() < PROGRAM
    return Base(task(task_id, which, asked, source, program, r), which, source)


def task(task_id: str, which: Problem, asked: str, source: str, program: bool, r: random.Random) -> Task:
    """The task of a problem, with new inputs."""
    given = list({tuple(numbers(r)): None for _ in range(r.randint(9, 14))})
    answers = [solve(which, list(g)) for g in given]
    entry = re.findall(r"def (\w+)\(", source)[0]
    if program:
        asked += " The input is one line with the numbers; print the answer."
        body = f"{source}\n\nprint({entry}([int(word) for word in input().split()]))\n"
        runs = zip(given, answers, strict=True)
        stdio = [
            StdioCase(stdin=" ".join(map(str, g)) + "\n", stdout=f"{a}\n", shown=n < 2)
            for n, (g, a) in enumerate(runs)
        ]
        return Task(
            id=task_id, family="program", statement=asked, reference=body, check=StdioCheck(cases=stdio)
        )
    cases = [
        Case(args=[list(g)], expected=a, shown=n < 2)
        for n, (g, a) in enumerate(zip(given, answers, strict=True))
    ]
    return Task(
        id=task_id,
        statement=asked,
        signature=source.splitlines()[0],
        reference=source,
        check=CasesCheck(entry_point=entry, cases=cases),
    )


def duplicate(base: Base, kind: str, task_id: str, r: random.Random) -> Task:
    """A copy of the base: with other names or another layout and new inputs, or with another wording and the same
    inputs."""
    old, program = base.task, isinstance(base.task.check, StdioCheck)
    if kind == "exact":
        return old.model_copy(update={"id": task_id})
    asked = statement(base.which, r)
    if kind == "paraphrased":
        ending = " Read the numbers from one line and print the result." if program else ""
        return old.model_copy(update={"id": task_id, "statement": asked + ending})
    source = renamed(base.source, r) if kind == "renamed" else reformatted(base.source, r)
    return task(task_id, base.which, asked, source, program, r)


def renamed(source: str, r: random.Random) -> str:
    """The source with every bound name replaced."""
    tree = ast.parse(source)
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    own |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    new = dict(
        zip(sorted(own), r.sample([f"{a}{b}" for a in "abcdfgh" for b in "aeou"], len(own)), strict=True)
    )
    return re.sub(
        r"\b[a-z_]+\b", lambda m: new.get(m.group(), m.group()) if m.group() != "key" else "key", source
    )


def reformatted(source: str, r: random.Random) -> str:
    """Comments, a docstring, hints, empty lines, other indentation and spacing; the names stay."""
    head, *body = source.splitlines()
    lines = [re.sub(r"\((\w+)\):", r"(\1: list[int]) -> int:", head), '    """Does what is asked."""']
    for line in body:
        if r.random() < 0.3:
            lines += ["", f"{line[: len(line) - len(line.lstrip())]}# step {len(lines)}"]
        line = re.sub(r"(return|(?<!=)=) (?!=)([^=:]+)$", r"\1 (\2)", line) if r.random() < 0.4 else line
        lines.append(line.replace(", ", " ,  ") if r.random() < 0.4 else line)
    wide = "\n".join(" " * (len(x) - len(x.lstrip())) + x for x in lines)
    try:
        ast.parse(wide)
    except SyntaxError:  # a bracket too many
        return reformatted(source, r)
    return f"import math\n\n\n{wide}\n"


SYNONYMS = {
    "return": "give back", "list": "sequence", "string": "text", "function": "routine", "given": "provided",
    "number": "value", "numbers": "values", "elements": "entries", "create": "write", "find": "determine",
}  # fmt: skip


def leak(item: Task, kind: str, task_id: str, r: random.Random, which: Problem) -> Task:
    """An item of the benchmark: its statement with small edits, or its solution under other names."""
    if kind == "leak-code":
        asked = (
            f"{statement(which, r)} Then handle the remaining data as the tests of exercise {task_id} expect."
        )
        source = rename_all(item.reference, r)
        return item.model_copy(update={"id": task_id, "statement": asked, "reference": source, "prompt": None,
                                       "signature": "", "source": ""})  # fmt: skip
    text = item.statement
    for word in r.sample(sorted(SYNONYMS), 4):
        text = re.sub(rf"\b{word}\b", SYNONYMS[word], text, count=1)
    asked = (
        r.choice(["", "Task: ", "Please solve this. "])
        + text
        + r.choice(["", " Be careful with edge cases."])
    )
    own = task(task_id, which, asked, code(which, r), False, r)
    if r.random() < 0.5:
        return own
    return item.model_copy(update={"id": task_id, "statement": asked, "prompt": None, "source": ""})


def rename_all(source: str, r: random.Random) -> str:
    """The source with local variables and arguments renamed; functions keep their names, since the tests call them."""
    tree = ast.parse(source)
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    own -= {n.arg for n in ast.walk(tree) if isinstance(n, ast.keyword) and n.arg}
    new = {name: f"{r.choice('pqrstuvw')}{at}_{name[:1]}" for at, name in enumerate(sorted(own))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)
    return ast.unparse(tree) + "\n"


def _cases(base: Base, new: Callable[[list[Case]], list[Case]], **update: object) -> Task:
    check = base.task.check
    if isinstance(check, StdioCheck):  # faults of tests are planted in functions
        base = base._replace(task=task(base.task.id, base.which, "", base.source, False, rng(base.task.id)))
        check = base.task.check
        update = {"statement": statement(base.which, rng("words", base.task.id)), **update}
    assert isinstance(check, CasesCheck)
    return base.task.model_copy(
        update={"check": check.model_copy(update={"cases": new(check.cases)}), **update}
    )


def flaky(base: Base, r: random.Random) -> Task:
    """The reference is right in three of four calls."""
    cause = r.choice(["random.random() < 0.25", "time.perf_counter_ns() // 64 % 4 == 0"])
    changed = re.sub(r"return (.+)$", rf"return (\1) + ({cause})", base.source, flags=re.MULTILINE)
    return _cases(base, list, reference=f"import random\nimport time\n\n\n{changed}")


def few_tests(base: Base, r: random.Random) -> Task:
    """One to four tests."""
    return _cases(base, lambda cases: cases[: r.randint(1, 4)])


def wrong_reference(base: Base, r: random.Random) -> Task:
    """The reference has a different parameter in one of its steps, or a different step, and fails some test."""
    check = base.task.check
    assert isinstance(check, CasesCheck | StdioCheck)
    given = [
        c.args[0] if isinstance(c, Case) else [int(word) for word in c.stdin.split()] for c in check.cases
    ]
    while True:
        other = list(problem(r)) if r.random() < 0.3 else list(base.which)
        at = r.randrange(len(other))
        other[at] = (other[at][0], other[at][1] + r.choice([-1, 1, 2]))
        wrong = tuple(other)
        if any(k < 1 for _, k in wrong) or all(solve(wrong, g) == solve(base.which, g) for g in given):
            continue
        source = code(wrong, r)
        body = base.task.reference.replace(base.source, source)
        return base.task.model_copy(update={"reference": body})


def constant(base: Base, r: random.Random) -> Task:
    """All tests expect one value: the computed result is discarded at the end."""
    value = r.choice([0, 1, -1, True, False, 7])
    result = f"return {value!r} if solve(values) < 10**12 else -5"
    shown = _cases(base, lambda cases: [c.model_copy(update={"expected": value}) for c in cases])
    assert isinstance(shown.check, CasesCheck)
    return shown.model_copy(
        update={
            "statement": f"{shown.statement} If that is below 10**12 the result is {value!r}, else -5.",
            "signature": "def answer(values):",
            "reference": f"{base.source.rstrip()}\n\n\ndef answer(values):\n    {result}\n",
            "check": shown.check.model_copy(update={"entry_point": "answer"}),
        }
    )


def exits(base: Base, r: random.Random) -> Task:
    """A program that must print nothing on any of its tests, so a program that ends at once passes."""
    test = f"solve([int(word) for word in input().split()]) > 10**{r.randint(12, 15)}"
    source = f"{base.source}\n\nif {test}:\n    print('large')\n"
    cases = [StdioCase(stdin=" ".join(map(str, numbers(r))) + "\n", stdout="", shown=n < 2) for n in range(9)]
    asked = f"{statement(base.which, r)} Print the word large where that is huge, and nothing otherwise."
    return Task(
        id=base.task.id, family="program", statement=asked, reference=source, check=StdioCheck(cases=cases)
    )


def shown_tests(base: Base, r: random.Random) -> Task:
    """The statement reveals the expected value of every hidden test."""
    form = r.choice(
        ["solve({g}) == {a}", ">>> solve({g})\n{a}", "solve({g}) -> {a}", "assert solve({g}) == {a}"]
    )
    shown = _cases(base, list)
    assert isinstance(shown.check, CasesCheck)
    lines = "\n".join(form.format(g=c.args[0], a=c.expected) for c in shown.check.cases)
    return shown.model_copy(update={"statement": f"{shown.statement}\n\nExamples:\n{lines}"})


FAULT: dict[str, Callable[[Base, random.Random], Task]] = {
    "flaky": flaky, "few-tests": few_tests, "wrong-reference": wrong_reference, "constant": constant, "exit": exits,
    "shown-tests": shown_tests,
}  # fmt: skip


def write(count: int, seed: int, folder: Path) -> None:
    """Writes tasks.jsonl.gz and labels.jsonl as a stream."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "labels.jsonl").open("w") as labels:

        def stream() -> Iterator[Task]:
            for made, label in corpus(count, seed):
                labels.write(json.dumps({"id": label.id, "class": label.kind, "of": label.of}) + "\n")
                yield made

        write_tasks(stream(), folder / "tasks.jsonl.gz")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    write(given.count, given.seed, given.output)
