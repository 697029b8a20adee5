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

import json
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


def _sample() -> list[dict[str, Any]]:
    failing, passing = (
        ["tests/test_add.py::test_small"],
        ["tests/test_add.py::test_[a-b]", "tests/test_é.py::t"],
    )
    fix = _diff("src/add.py", "    return a - b", "    return a + b")
    bench: dict[str, Any] = {
        "repo": "someone/sums",
        "instance_id": "someone__sums-12",
        "base_commit": "0123456789abcdef0123456789abcdef01234567",
        "patch": fix,
        "test_patch": _diff("tests/test_add.py", "    assert add(0, 0) == 0", "    assert add(1, 2) == 3"),
        "problem_statement": "add() subtracts.\n\n`add(1, 2)` gives -1.",
        "hints_text": "",
        "created_at": "2023-07-19T08:15:30Z",
        "version": "1.2",
        "FAIL_TO_PASS": json.dumps(failing),
        "PASS_TO_PASS": json.dumps(passing, ensure_ascii=False),
        "environment_setup_commit": "fedcba9876543210fedcba9876543210fedcba98",
    }
    gym: dict[str, Any] = {key: value for key, value in bench.items() if key != "environment_setup_commit"}
    gym |= {
        "instance_id": "someone__sums-13",
        "FAIL_TO_PASS": failing,
        "PASS_TO_PASS": [],
        "hints_text": "Try +.",
    }
    return [bench, gym, {**bench, "instance_id": "someone__sums-14", "difficulty": "<15 min fix"}]


def _diff(path: str, before: str, after: str) -> str:
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n"
    return f"{head} def add(a, b):\n-{before}\n+{after}\n"


ADAPTER = Adapter(
    name="swe-bench",
    about="SWE-bench, SWE-Gym: issues of repositories, as records",
    read=_read,
    fits=_fits,
    write=_write,
    sample=_sample,
)
