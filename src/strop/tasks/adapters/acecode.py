"""AceCode-87K (MIT): questions with generated asserts, and samples of models with their pass rates.

Reference: huggingface.co/datasets/TIGER-Lab/AceCode-87K; Zeng et al. 2025, arXiv:2502.01718. Rows: id, source,
question, test_cases (asserts), inferences ({model_name, completion_id, completion, pass_rate} each), context_messages.

The set has no solutions: `reference` is the code of the first sample with pass rate 1, or empty; further ones are
`metadata.references` (at most 4). The samples themselves and the messages are kept only as a task's leftovers.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from strop.code.python import source as pysource
from strop.core.checks import AssertsCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters.assert_lists import check_of, statements
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, items, text, texts
from strop.tasks.adapters.leftovers import original, with_original
from strop.tasks.answers import extract_code
from strop.tasks.rows import Row

FIELDS = ("id", "source", "question", "test_cases")
_REFERENCES = 5


def _read(row: Row, where: str) -> Iterator[Task]:
    solved = _solved(items(row, "inferences", where, default=[]))
    reference = solved[0] if solved else ""
    tests = texts(row, "test_cases", where)
    check = check_of(tests, "", reference, where)
    kept: dict[str, Any] = {} if _same(check.test_code(), tests) else {"test_cases": tests}
    task = Task(
        id=text(row, "id", where),
        statement=text(row, "question", where),
        signature=_signature(reference, check.function) if check.function else "",
        reference=reference,
        check=check,
        topic=text(row, "source", where, default=""),
        source=f"acecode/{row['id']}",
        metadata={"references": solved[1:]} if solved[1:] else {},
    )
    yield with_original(task, row, FIELDS, **kept)


def _solved(samples: list[Any]) -> list[str]:
    """Different codes of samples that passed every test."""
    codes: dict[str, None] = {}
    for sample in samples:
        if (
            isinstance(sample, Mapping)
            and sample.get("pass_rate") == 1
            and isinstance(sample.get("completion"), str)
        ):
            code = extract_code(sample["completion"])
            if code.strip() and len(codes) < _REFERENCES:
                codes[code] = None
    return list(codes)


def _same(code: str, tests: list[str]) -> bool:
    setup, found = statements(code)
    return not setup and found == tests


def _signature(code: str, entry: str) -> str:
    try:
        return pysource.signature_of(code, entry)
    except (SyntaxError, ValueError, RecursionError):
        return ""


def _fits(row: Row) -> bool:
    return has(row, id=str, question=str, test_cases=list)


def _write(task: Task) -> dict[str, Any]:
    kept = original(task)
    tests = kept.pop("test_cases", None)
    if tests is None:
        check = task.check.maybe(AssertsCheck)
        if check is None or task.language != "python":
            raise UserError(f"task {task.id!r}: AceCode holds Python tasks that assert statements judge")
        setup, tests = statements(check.code)
        if setup.strip():
            raise UserError(f"task {task.id!r}: AceCode holds no test code besides the assert statements")
    return {"id": task.id, "source": task.topic, "question": task.statement, "test_cases": tests, **kept}


ADAPTER = Adapter(
    name="acecode",
    about="AceCode-87K (TIGER-Lab): questions with generated asserts",
    read=_read,
    fits=_fits,
    write=_write,
)
