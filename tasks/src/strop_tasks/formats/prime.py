"""Verifiable code problems of PrimeIntellect (SYNTHETIC-1) and open-r1.

Reference: data sets PrimeIntellect/verifiable-coding-problems, PrimeIntellect/SYNTHETIC-1 (Apache-2.0) and
open-r1/verifiable-coding-problems-python; github.com/PrimeIntellect-ai/genesys. Rows: problem_id, source, task_type
(verifiable_code), in_source_id, prompt, gold_standard_solution, verification_info, metadata. verification_info is JSON
text or an object: {"language", "test_cases": [{"type", "fn_name", "input", "output"}]}, the type "stdin_stdout" or
"function_call".

1. Rows of other task types (mathematics, model-judged, ...) have no tests and are left out.
2. A solution in a fenced block is unwrapped.
3. Test cases of type function_call have a list of arguments as input; outputs as in `io_tests`. The original harness
   compares printed values, so an output may be the text of a number: such a task fails its reference.
4. Raw SYNTHETIC-1 has one row per response, so ids repeat; the first row counts on import.
"""

from collections.abc import Iterator, Mapping

from strop.tasks import case_lists
from strop.tasks.adapters import Adapter
from strop.tasks.answers import extract_code
from strop.tasks.rows import Row, decoded
from strop_tasks.formats import solutions
from strop_tasks.formats.fields import has, name_of, text
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


def _read(row: Row, where: str) -> Iterator[Task]:
    kind = text(row, "task_type", where, default="verifiable_code")
    if kind != "verifiable_code":
        raise UserError(f"{where}: task_type {kind[:60]!r} is not verifiable_code: it has no tests to run")
    info = decoded(row, "verification_info", where)
    if not isinstance(info, Mapping):
        raise UserError(f"{where}: field 'verification_info' must hold an object with test_cases")
    check = case_lists.check_of(info.get("test_cases"), f"{where}: verification_info")
    language = str(info.get("language") or "python").lower()
    gold = text(row, "gold_standard_solution", where, default="")
    code = extract_code(gold, language) if "```" in gold else gold
    is_function = check.answer == "function"
    reference = solutions.with_imports(code) if is_function else code
    number = name_of(row.get("problem_id"), "")
    yield Task(
        id=number,
        family="function" if is_function else "program",
        language=language,
        statement=text(row, "prompt", where),
        signature=solutions.signature("", reference, check.function) if is_function else "",
        reference=reference,
        check=check,
        source=f"prime/{number}",
    )


PRIME = Adapter(
    name="prime",
    about="verification_info with test_cases (PrimeIntellect SYNTHETIC-1, open-r1)",
    read=_read,
    fits=lambda row: has(row, prompt=str) and row.get("verification_info") is not None,
)
