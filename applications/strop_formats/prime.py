"""Verifiable code problems of PrimeIntellect (SYNTHETIC-1) and open-r1.

Reference: data sets PrimeIntellect/verifiable-coding-problems, PrimeIntellect/SYNTHETIC-1 (Apache-2.0) and
open-r1/verifiable-coding-problems-python; github.com/PrimeIntellect-ai/genesys. Rows: problem_id, source, task_type
(verifiable_code), in_source_id, prompt, gold_standard_solution, verification_info, metadata. verification_info is JSON
text or an object: {"language", "test_cases": [{"type", "fn_name", "input", "output"}]}, the type "stdin_stdout" or
"function_call". It is written as text.

1. Rows of other task types (mathematics, judged by a model, ...) hold no tests and are left out.
2. A solution in a fenced block is taken out of it.
3. Test cases of type function_call have a list of arguments as input; outputs as in `io_tests`. The original harness
   compares printed values, so an output may be the text of a number: such a task fails its reference.
4. Raw SYNTHETIC-1 has one row a response, so that an id comes back; the first one counts on import.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks import case_lists, io_tests
from strop.tasks.adapters import Adapter
from strop.tasks.answers import extract_code
from strop.tasks.rows import Row, decoded
from strop_formats import solutions
from strop_formats.fields import has, name_of, original, text, with_original

FIELDS = ("problem_id", "prompt", "gold_standard_solution", "verification_info")


def _read(row: Row, where: str) -> Iterator[Task]:
    kind = text(row, "task_type", where, default="verifiable_code")
    if kind != "verifiable_code":
        raise UserError(f"{where}: task_type {kind[:60]!r} is not verifiable_code: it has no tests to run")
    info = decoded(row, "verification_info", where)
    if not isinstance(info, Mapping):
        raise UserError(f"{where}: field 'verification_info' must hold an object with test_cases")
    check, form = case_lists.check_of(info.get("test_cases"), f"{where}: verification_info")
    language = str(info.get("language") or "python").lower()
    gold = text(row, "gold_standard_solution", where, default="")
    code = extract_code(gold, language) if "```" in gold else gold
    is_function = check.answer == "function"
    reference = solutions.with_imports(code) if is_function else code
    number = name_of(row.get("problem_id"), "")
    task = Task(
        id=number,
        family="function" if is_function else "program",
        language=language,
        statement=text(row, "prompt", where),
        signature=solutions.signature("", reference, check.function) if is_function else "",
        reference=reference,
        check=check,
        source=f"prime/{number}",
    )
    more: dict[str, Any] = {"gold_standard_solution": gold} if gold != code else {}
    more |= {"bare": True} if reference != code else {}
    yield with_original(task, row, FIELDS, **form.named(), **more)


def _write(task: Task) -> dict[str, Any]:
    kept = original(task)
    tests = io_tests.write_tests(task, io_tests.take_form(kept))
    name = tests.get("fn_name")
    cases = [
        {
            "fn_name": name,
            "input": given,
            "output": wanted,
            "type": "function_call" if name else "stdin_stdout",
        }
        for given, wanted in zip(tests["inputs"], tests["outputs"], strict=True)
    ]
    code = solutions.without_imports(task.reference) if kept.pop("bare", False) else task.reference
    gold = kept.pop("gold_standard_solution", code)
    info = json.dumps({"language": task.language, "test_cases": cases}, ensure_ascii=False)
    return {
        "problem_id": task.id,
        "task_type": "verifiable_code",
        "prompt": task.statement,
        "gold_standard_solution": gold if code in gold else code,
        "verification_info": info,
        **kept,
    }


PRIME = Adapter(
    name="prime",
    about="verification_info with test_cases (PrimeIntellect SYNTHETIC-1, open-r1)",
    read=_read,
    fits=lambda row: has(row, prompt=str) and row.get("verification_info") is not None,
    write=_write,
)
