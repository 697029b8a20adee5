"""Tasks judged by the project's own tests that reach the function and fail when it is masked.

A task is kept when, of the steady tests that run a line of the masked part, at least one fails in two runs with the
mask, and passes with the oracle's text when only these tests are run. Those that pass in all three runs are `passing`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from strop_tasks.curation.engine.tally import Tally
from strop_tasks.curation.implement.sources import SourceFile
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.ids import rng
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, TestResult
from strop_verify.edits import HOLE
from strop_verify.verification.project import Project

MOST_TESTS = 50  # maximum tests of one task; the seed chooses among more
_WINDOW = 16  # tasks whose tests run at once


def project_files(project: Project, origin: str, tally: Tally, max_chars: int) -> Iterator[SourceFile]:
    """The project's sources that an edit may change, without tests and configuration."""
    for path in project.sources():
        try:
            text = project.text(path)
        except UnicodeDecodeError:
            tally.skipped["not UTF-8"] += 1
            continue
        if len(text) > max_chars:
            tally.skipped["too long"] += 1
            continue
        yield SourceFile(path, text, origin)


def judged(
    tasks: Iterator[Task], project: Project, archive: str, tally: Tally, seed: int = 0
) -> Iterator[Task]:
    """The tasks, in order, that the project's tests can judge, with a check that runs these tests on the snapshot
    `archive`, which is written later.

    Raises UserError if no test of the project passes, VerificationError if the jail fails.
    """
    reached: dict[str, dict[int, list[str]]] = {}
    for test, lines in project.coverage().items():
        for path, line in lines:
            reached.setdefault(path, {}).setdefault(line, []).append(test)
    while some := list(islice(tasks, _WINDOW)):
        tested = [(task, tests) for task in some if (tests := _reaching(task, reached, seed))]
        if len(tested) < len(some):
            tally.unusable["no test reaches it"] += len(some) - len(tested)
        begun = [project.submit(files, tests) for task, tests in tested for files in _variants(task)]
        runs = [future.result() for future in begun]
        for number, (task, tests) in enumerate(tested):
            check = _check(tests, runs[3 * number : 3 * number + 3], archive, project.digest)
            if check is None:
                tally.unusable["no test notices the mask"] += 1
            else:
                yield _with(task, check)


def _reaching(task: Task, reached: Mapping[str, Mapping[int, list[str]]], seed: int) -> list[str]:
    """The tests that run a line of the masked part, at most MOST_TESTS, sorted."""
    (path,) = task.check.only(EditCheck).files
    lines = range(task.metadata["start_line"], task.metadata["end_line"] + 1)
    tests = sorted({test for line in lines for test in reached.get(path, {}).get(line, ())})
    return sorted(rng("implement-tests", seed, task.id).sample(tests, min(MOST_TESTS, len(tests))))


def _variants(task: Task) -> list[dict[str, str]]:
    """The texts that tests run on: masked, masked again, and the oracle's."""
    check = task.check.only(EditCheck)
    masked = dict(check.files)
    if check.format == "infill":
        masked = {path: text.replace(HOLE, "# MASKED") for path, text in masked.items()}
    return [masked, masked, {path: text for path, text in check.oracle.items() if text is not None}]


def _check(
    tests: list[str], runs: Sequence[Mapping[str, TestResult]], archive: str, digest: str
) -> ProjectCheck | None:
    """The check that judges the task; None if no test can."""
    masked, again, oracle = ({test for test in tests if run[test].outcome is Outcome.PASSED} for run in runs)
    failing = [test for test in tests if test in oracle and test not in masked and test not in again]
    passing = [test for test in tests if test in oracle and test in masked and test in again]
    if not failing:
        return None
    return ProjectCheck(project=archive, digest=digest, failing=failing, passing=passing)


def _with(task: Task, judge: ProjectCheck) -> Task:
    """The task with a judge, and so with another id."""
    edit = task.check.only(EditCheck)
    (path,) = edit.files
    check = edit.model_copy(update={"judge": judge, "path": path})
    return Task.model_validate({**task.model_dump(exclude={"id"}), "check": check.model_dump()})
