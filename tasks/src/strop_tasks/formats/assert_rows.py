"""MBPP and AceCode-87K: short Python problems whose tests are lists of asserts.

MBPP (CC BY 4.0), full and sanitised: github.com/google-research/google-research/tree/master/mbpp; Austin et al. 2021,
arXiv:2108.07732. Rows: task_id, code, test_list, and text, test_setup_code, challenge_test_list (full) or prompt,
source_file, test_imports (sanitised). Challenge tests come last; `metadata.base_tests` counts the others. The first
test is shown, as in the paper's prompt: without it the function's name is unknown. It is part of the statement only if
the tests become a suite, whose tests cannot be marked as shown.

AceCode-87K (MIT): huggingface.co/datasets/TIGER-Lab/AceCode-87K; Zeng et al. 2025, arXiv:2502.01718. Rows: id, source,
question, test_cases (asserts), inferences ({model_name, completion_id, completion, pass_rate} each), context_messages.
The set has no solutions: `reference` is the code of the first sample with pass rate 1, or empty; up to 4 more are
`metadata.references`. The samples themselves and the messages are not kept.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from strop.tasks.adapters import Adapter
from strop.tasks.answers import extract_code
from strop.tasks.rows import Row
from strop_tasks.formats import solutions
from strop_tasks.formats.assert_lists import check_of, count
from strop_tasks.formats.fields import has, items, name_of, text, texts
from strop_verify.core.checks import AssertsCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


def _read_mbpp(row: Row, where: str) -> Iterator[Task]:
    number = name_of(row.get("task_id"), "")
    if not number:
        raise UserError(
            f"{where}: field 'task_id' must be a number or a string, not {row.get('task_id')!r:.60}"
        )
    asked = text(row, "text" if "text" in row else "prompt", where).strip()
    code = text(row, "code", where)
    base = texts(row, "test_list", where)
    more = texts(row, "challenge_test_list", where, default=[])
    setup = [text(row, "test_setup_code", where, default=""), *texts(row, "test_imports", where, default=[])]
    check = check_of([*base, *more], "\n".join(filter(None, setup)), code, where)
    entry, statement = check.function, asked
    if isinstance(check, AssertsCheck) and check.single_tests():
        check = check.model_copy(update={"shown": list(range(max(1, count([*base, *more][:1]))))})
    else:
        statement = f"{asked}\nYour code should pass this test:\n{base[0] if base else more[0]}"
    yield Task(
        id=f"mbpp/{number}",
        statement=statement,
        signature=solutions.signature("", code, entry) if entry else "",
        reference=code,
        check=check,
        source=f"mbpp/{number}",
        metadata={"base_tests": count(base) if entry else len(base)},
    )


MBPP = Adapter(
    name="mbpp",
    about="MBPP (Google), full and sanitised: short functions with asserts",
    read=_read_mbpp,
    fits=lambda row: has(row, code=str, test_list=list) and "task_id" in row and "test" not in row,
)


_REFERENCES = 5


def _read_acecode(row: Row, where: str) -> Iterator[Task]:
    solved = _solved(items(row, "inferences", where, default=[]))
    reference = solved[0] if solved else ""
    check = check_of(texts(row, "test_cases", where), "", reference, where)
    yield Task(
        id=text(row, "id", where),
        statement=text(row, "question", where),
        signature=solutions.signature("", reference, check.function) if check.function else "",
        reference=reference,
        check=check,
        topic=text(row, "source", where, default=""),
        source=f"acecode/{row['id']}",
        metadata={"references": solved[1:]} if solved[1:] else {},
    )


def _solved(samples: list[Any]) -> list[str]:
    passed = [sample for sample in samples if isinstance(sample, Mapping) and sample.get("pass_rate") == 1]
    texts = [text for sample in passed if isinstance(text := sample.get("completion"), str)]
    return list(dict.fromkeys(code for text in texts if (code := extract_code(text)).strip()))[:_REFERENCES]


ACECODE = Adapter(
    name="acecode",
    about="AceCode-87K (TIGER-Lab): questions with generated asserts",
    read=_read_acecode,
    fits=lambda row: has(row, id=str, question=str, test_cases=list),
)
