"""R2E-Gym: commits of repositories as issues, each with an image. Carried, not played: a verdict is *error*.

Reference: data sets R2E-Gym/R2E-Gym-Subset and its kin (Apache-2.0); Jain et al. 2025, arXiv:2504.07164. Rows:
repo_name, docker_image, commit_hash, parsed_commit_content (JSON text), execution_result_content (JSON text),
modified_files, modified_entity_summaries, relevant_files, num_non_test_files, num_non_test_func_methods,
num_non_test_lines, prompt, problem_statement, expected_output_json (JSON text: test id to status).

1. The tests are those of `expected_output_json` that must be reported as PASSED. Which of them fail before is not said,
   so all are in `failing`.
2. The set has no diff: there is no reference.
"""

from collections.abc import Iterator
from typing import Any

from strop.core.checks import WorkspaceCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import Adapter
from strop.tasks.adapters.fields import has, mapping, original, text, with_original
from strop.tasks.rows import Row


def _read(row: Row, where: str) -> Iterator[Task]:
    repository, commit = text(row, "repo_name", where), text(row, "commit_hash", where)
    expected = mapping(row, "expected_output_json", where)
    tests = [str(name) for name, status in expected.items() if status == "PASSED"]
    if not tests:
        raise UserError(f"{where}: the task has no tests: none of expected_output_json is to pass")
    name = f"{repository}__{commit}"
    task = Task(
        id=name,
        family="swe",
        statement=text(row, "problem_statement", where, default=""),
        check=WorkspaceCheck(
            image=text(row, "docker_image", where), repository=repository, commit=f"{commit}^", failing=tests
        ),
        topic=repository,
        source=f"r2e-gym/{name}",
    )
    yield with_original(task, row, ())


def _write(task: Task) -> dict[str, Any]:
    kept = original(task)
    if "expected_output_json" not in kept:
        raise UserError(f"task {task.id!r} is none of R2E-Gym: the format cannot hold it")
    return kept


R2E_GYM = Adapter(
    name="r2e-gym",
    about="R2E-Gym: commits of repositories as issues, as records",
    read=_read,
    fits=lambda row: (
        has(row, repo_name=str, docker_image=str, commit_hash=str) and "expected_output_json" in row
    ),
    write=_write,
)
