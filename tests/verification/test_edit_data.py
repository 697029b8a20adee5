"""Edits of public data, executed: QuixBugs in every format, and holes of HumanEval-Infilling."""

from collections.abc import Iterator
from itertools import islice

import pytest
from tests import needs

from strop.tasks.edit_tasks import wrapped
from strop.tasks.sources import iter_tasks
from strop_verify.core.checks import CasesCheck, EditCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.edits import FORMATS
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.pool.pool import VerifierPool

HOLES = "humaneval-infilling-random-span-light.jsonl"


@pytest.fixture(scope="module")
def verifier() -> Iterator[VerifierPool]:
    with open_verifier(limits=Limits(cpu_seconds=10, wall_seconds=120)) as opened:
        yield opened


def rows(name: str, file: str) -> list[Task]:
    return list(iter_tasks(f"{name}:{needs.data(file)}"))


def check_edits(
    originals: list[Task], forms: list[str | None], verifier: VerifierPool, passing: int = 0
) -> None:
    """The oracle's edit passes; the file as it is fails, in all but `passing` tasks."""
    edits = [task for form in forms for task in wrapped(originals, form)]
    asked = {task.id: (verifier.submit(task, task.reference), task) for task in edits}
    for future, task in asked.values():
        assert future.result().passed, (task.id, future.result().detail)
    broken = [verifier.submit(task, str(task.metadata["broken"])) for task in originals]
    assert sum(future.result().passed for future in broken) == passing


@pytest.mark.soak(40)
def test_every_bug_of_quixbugs_is_mended_by_the_oracles_edit_in_every_format(verifier: VerifierPool) -> None:
    originals = rows("quixbugs", "quixbugs.jsonl")
    assert len(originals) == 29
    check_edits(originals, list(FORMATS), verifier)


def test_some_bugs_in_every_format(verifier: VerifierPool) -> None:
    originals = [
        task
        for task in rows("quixbugs", "quixbugs.jsonl")
        if isinstance(task.check, CasesCheck)
        and task.source.rpartition("/")[2] in ("gcd", "get_factors", "pascal")
    ]
    assert len(originals) >= 2
    check_edits(originals, list(FORMATS), verifier)


@pytest.mark.soak(6)
def test_every_hole_is_filled_by_the_canonical_middle(verifier: VerifierPool) -> None:
    check_edits(rows("infilling", HOLES), [None], verifier)


def test_some_holes_and_what_does_not_fill_them(verifier: VerifierPool) -> None:
    tasks = list(islice(wrapped(rows("infilling", HOLES), None), 8))
    for task in tasks:
        assert isinstance(task.check, EditCheck) and task.check.format == "infill"
        assert verifier.verify(task, task.reference).passed
        assert not verifier.verify(task, "```\n```\n").passed
        assert verifier.verify(task, "").outcome is Outcome.NO_ANSWER
