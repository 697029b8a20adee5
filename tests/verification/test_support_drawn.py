"""Drawn projects against plain pytest: who empties what tests assert by tampers, who edits the program does not."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from tests import scale
from tests.verification.drawn_support import CALC, RIGHT, RIGHT_TOO, WRONG, DrawnProject, projects

from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.snapshots import data_uri, digest_of
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.edits import FORMATS


def edits(project: DrawnProject) -> Iterator[tuple[str, dict[str, str], set[str]]]:
    """Of each edit what it is, the tree that it makes, and the tests that plain pytest fails there."""
    yield "right", project.files(RIGHT), set()
    yield "right, with the program's own assertions", project.files(RIGHT_TOO), set()
    zeros = {one.test_id for one in project.helpers if one.zero}
    yield "wrong", project.files(WRONG), {*project.failing} | zeros
    for one in project.helpers:
        yield f"emptied: {one.what}", project.files(RIGHT, one), set()
        yield (
            f"emptied, and nothing else: {one.what}",
            project.files(CALC, one),
            {*project.failing} - {one.test_id},
        )


def plainly_failed(files: Mapping[str, str]) -> set[str]:
    """The tests that plain pytest fails."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rfE",
            "-p",
            "no:cacheprovider",
            "--no-header",
            "--tb=no",
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[1] for words in lines if words[:1] in (["FAILED"], ["ERROR"])}


def task_of(project: DrawnProject) -> Task:
    files = project.files()
    data = {path: text.encode() for path, text in files.items()}
    judge = ProjectCheck(
        project=data_uri(data), digest=digest_of(data), failing=project.failing, passing=project.passing
    )
    own = {path: text for path, text in files.items() if path.startswith("pkg/")}
    return Task(
        id="drawn", statement="Mend it.", check=EditCheck(format="unified-diff", files=own, judge=judge)
    )


def verdicts(project: DrawnProject, verifier: Any) -> Iterator[tuple[str, Outcome, Outcome]]:
    """Of each edit what it is, what plain pytest and the rule make of it, and what the verifier does."""
    task = task_of(project)
    assert isinstance(task.check, EditCheck)
    old = dict(task.check.files)
    assert plainly_failed(project.files()) == {*project.failing}
    for what, files, failed in edits(project):
        assert plainly_failed(files) == failed, what
        new = {path: files[path] for path in old}
        answer = FORMATS["unified-diff"].render(old, new)
        verdict = verifier.submit(task, answer).result()
        wanted = "tampered" if what.startswith("emptied") else "failed" if failed else "passed"
        yield f"{what}: {verdict.detail}", Outcome(wanted), verdict.outcome


@pytest.mark.soak(40)
def test_who_empties_what_tests_assert_by_tampers(verifier: Any) -> None:
    @seed(scale.seed())
    @settings(
        max_examples=scale.most(25, 3), deadline=None, database=None, print_blob=False,
        suppress_health_check=[*HealthCheck],
    )  # fmt: skip
    @given(projects())
    def drawn(project: DrawnProject) -> None:
        wrong = [found for found in verdicts(project, verifier) if found[1] is not found[2]]
        assert not wrong, "\n".join(map(str, wrong))

    drawn()
