"""Instances of SWE-bench, SWE-Gym and sets with the same fields: an issue of a repository, answered by a diff.

Reference: Jimenez et al., "SWE-bench: Can Language Models Resolve Real-World GitHub Issues?", arXiv:2310.06770; Pan et
al., "Training Software Engineering Agents and Verifiers with SWE-Gym", arXiv:2412.21139; the cards of
princeton-nlp/SWE-bench and SWE-Gym/SWE-Gym. Fields: `repo`, `instance_id`, `base_commit`, `patch`, `test_patch`,
`problem_statement`, `hints_text`, `created_at`, `version`, `FAIL_TO_PASS`, `PASS_TO_PASS`, `environment_setup_commit`;
further ones (`difficulty`, `image_name`, ...) are kept.

1. The tests are lists, or JSON text of lists, as in the set; writing keeps the form.
2. `reference` is the gold diff. Tasks are carried, not played: their verdict is *error*.
3. `hints_text` is kept and not asked: it was written after the issue.
"""

from collections.abc import Iterator
from typing import Any

from strop.core.checks import WorkspaceCheck
from strop.core.task import Task
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, text
from strop.tasks.adapters.swe_patch import language_of
from strop.tasks.adapters.swe_rows import day_of, kept_of, row_of, tests_of
from strop.tasks.rows import Row

_HELD = ("instance_id", "problem_statement", "patch", "repo", "base_commit", "test_patch")


def _read(row: Row, where: str) -> Iterator[Task]:
    name, patch = text(row, "instance_id", where), text(row, "patch", where, "")
    image = row.get("image_name") or row.get("docker_image") or ""
    absent = [field for field in _HELD if row.get(field) is None]
    kept = {**kept_of(row, _HELD), **{field: None for field in absent if field in row}}
    yield Task(
        id=name,
        family="swe",
        language=language_of(patch),
        statement=text(row, "problem_statement", where, ""),
        reference=patch,
        check=WorkspaceCheck(
            image=image if isinstance(image, str) else "",
            repository=text(row, "repo", where),
            commit=text(row, "base_commit", where),
            patch=text(row, "test_patch", where, ""),
            **tests_of(row, where),
        ),
        topic=text(row, "repo", where),
        source=name,
        metadata={**day_of(row), "original": kept},
    )


def _write(task: Task) -> dict[str, Any]:
    kept, check = row_of(task, "swe-bench")
    held = {
        "problem_statement": task.statement,
        "patch": task.reference,
        "test_patch": check.patch,
        "repo": check.repository,
        "base_commit": check.commit,
    }
    return {
        **held,
        **{k: v for k, v in kept.items() if v is not None or not held.get(k)},
        "instance_id": task.id,
    }


def _fits(row: Row) -> bool:
    return (
        has(row, instance_id=str, base_commit=str, patch=str, problem_statement=str) and "test_patch" in row
    )


ADAPTER = Adapter(
    name="swe-bench",
    about="SWE-bench, SWE-Gym: issues of repositories, as records",
    read=_read,
    fits=_fits,
    write=_write,
)
