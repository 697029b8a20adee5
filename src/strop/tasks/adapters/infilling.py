"""HumanEval-Infilling (MIT): a function with a hole.

Reference: github.com/openai/human-eval-infilling; Bavarian et al., "Efficient Training of Language Models to Fill in
the Middle", 2022, arXiv:2207.14255. Rows: task_id, prompt (what stands before the hole), suffix (what stands behind
it), canonical_solution, test, entry_point.

The answer is the whole code, as `reference` is; metadata: `prefix`, `suffix`, `middle` (the canonical one), and
`broken`, the code with an empty middle. Judged as HumanEval is. Where the hole is a line that
changes nothing, `broken` passes.
"""

import ast
from collections.abc import Iterator
from typing import Any

from strop.code.python import source as pysource
from strop.core.checks import AssertsCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks import humaneval
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, text
from strop.tasks.adapters.leftovers import original, with_original
from strop.tasks.rows import Row

FIELDS = ("task_id", "prompt", "suffix", "canonical_solution", "test", "entry_point")


def _read(row: Row, where: str) -> Iterator[Task]:
    name, prefix, suffix, middle, test, entry = (text(row, field, where) for field in FIELDS)
    whole = prefix + middle + suffix
    try:
        node = pysource.find_function(ast.parse(whole), entry)
        if node is None:
            raise ValueError(f"no function {entry!r}")
        task = Task(
            id=name,
            family="infill",
            statement=ast.get_docstring(node) or "",
            signature=pysource.signature_of(whole, entry),
            reference=whole,
            check=AssertsCheck(entry_point=entry, code=humaneval.test_code(whole, entry, test)),
            topic=name.partition("/")[0] if "/" in name else "",
            source=f"infilling/{name}",
            metadata={"prefix": prefix, "suffix": suffix, "middle": middle, "broken": prefix + suffix},
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"{where}: prompt, solution and suffix make no Python with tests: {error}") from error
    yield with_original(task, row, FIELDS, test=test)


def _fits(row: Row) -> bool:
    return has(row, **dict.fromkeys(FIELDS, str))


def _write(task: Task) -> dict[str, Any]:
    parts = {name: task.metadata.get(name) for name in ("prefix", "suffix", "middle")}
    check, kept = task.check.maybe(AssertsCheck), original(task)
    if check is None or not all(isinstance(part, str) for part in parts.values()):
        raise UserError(
            f"task {task.id!r} is no infilling task: it needs prefix, suffix and middle in its metadata"
        )
    return {
        "task_id": task.id,
        "prompt": parts["prefix"],
        "suffix": parts["suffix"],
        "canonical_solution": parts["middle"],
        "test": check.code.removesuffix(f"\n\ncheck({check.entry_point})\n"),
        "entry_point": check.entry_point,
        **kept,
    }


ADAPTER = Adapter(
    name="infilling",
    about="HumanEval-Infilling (OpenAI): code with a hole, prompt and suffix",
    read=_read,
    fits=_fits,
    write=_write,
)
