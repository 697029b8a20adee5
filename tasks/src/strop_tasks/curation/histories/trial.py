"""`CommitTrial` decides whether a commit makes a task by running its tests on both sides of it.

The tree is the parent's, with the commit's tests and the files that they need or that configure them; the oracle is the
commit's change of programs. First only tests in changed lines run: most commits end there. For the others

1. failing tests are those of changed files that fail in each of three runs without the oracle and pass in each with it;
   passing tests pass in all of them: those of changed files first, then some drawn from other files;
2. the runs differ: one in the project's order, one with another hash seed, one in another order, and with the oracle
   one on another day. A test whose result is not the same in all of them is quarantined, and judges nothing;
3. no test passes without the oracle and fails with it, among the tests that run in `WHOLE_SECONDS`;
4. judged like an answer, the oracle passes and the unchanged files fail. Tests that the oracle fails there are
   quarantined, once.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strop_tasks.curation.edits.file_pairs import edit_task
from strop_tasks.curation.edits.history import is_test
from strop_tasks.curation.edits.repository import Repository
from strop_tasks.curation.engine.tally import LeftOut
from strop_tasks.curation.faults.draw import faults
from strop_tasks.curation.faults.routines import routines
from strop_tasks.curation.histories import FAMILY, HistorySettings
from strop_tasks.curation.histories.commits import HistoryCommit, judges, programs_of, touched_tests
from strop_tasks.curation.histories.environment import PackageFolders
from strop_tasks.curation.histories.installation import installation_of
from strop_tasks.curation.histories.runs import HistoryRuns, applied, message, passed
from strop_tasks.curation.histories.statement import cleaned, holds, patch_lines, statement, told_of
from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.errors import UserError, VerificationError, WorkerDied
from strop_verify.core.files import atomic
from strop_verify.core.ids import content_hash, rng
from strop_verify.core.protocols import Verifier
from strop_verify.core.snapshots import Files, archive, digest_of
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.project.runs import ProjectRun, RunRequest

WHOLE_SECONDS = 15.0  # CPU seconds for tests of other files
MOST_FAILING, MOST_PASSING, MOST_OTHERS = 60, 40, 30
"""Maximum tests that judge a task: failing ones, passing ones of changed files, passing ones of other files."""
SLOW = 0.5  # CPU seconds above which a test judges only if it is in changed lines
MOST_TASK = 600_000  # maximum characters of a task's files, test names and reference together
_WALL = 10.0  # wall seconds of a commit's runs per CPU second
_ORDER = 48
_UNKNOWN = 4
"""pytest's exit status for a requested test that does not exist, or whose file cannot be imported."""
_CLOCKS = re.compile(rb"\b(?:time|datetime|date)\b")


class _NothingFails(LeftOut):
    """The tests give the same results on both sides."""


class _JudgedWrong(LeftOut):
    """Tests that pass with the oracle fail when it is judged like an answer, for example because of left-over files."""

    def __init__(self, tests: Sequence[str]) -> None:
        super().__init__("the commit's own change does not pass: failed")
        self.tests = tests


class _TrialBudget:
    """The CPU and wall time left for a commit's runs."""

    def __init__(self, seconds: float) -> None:
        self.left, self._until = seconds, time.monotonic() + _WALL * seconds

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return self.left < 0 or time.monotonic() > self._until


@dataclass(frozen=True)
class _Sides:
    """A commit's trees and data about them."""

    before: dict[str, str]
    after: dict[str, str | None]
    tree: Files
    solved: Files
    language: str
    packages: str  # name of the folder
    budget: _TrialBudget


class CommitTrial:
    """Tries commits of one repository. Thread-safe."""

    def __init__(
        self, repository: Repository, runs: HistoryRuns, folders: PackageFolders, verifier: Verifier,
        settings: HistorySettings,
    ) -> None:  # fmt: skip
        self.repository, self.runs, self.folders, self.verifier = repository, runs, folders, verifier
        self.settings = settings
        self.overdue: dict[str, frozenset[str]] = {}
        """Tests by repository that timed out with an oracle; other commits skip them."""

    def task(self, candidate: HistoryCommit) -> Task:
        """The task, after writing its snapshot. Raises LeftOut, and VerificationError if the jail failed."""
        sides = self._sides(candidate)
        said = cleaned(candidate.said, sides.before, sides.after)
        files = [path for path in candidate.lines if _holds_tests(path, sides)]
        touched = [
            test
            for path in files
            for test in touched_tests(path, sides.tree[path].decode(errors="replace"), candidate.lines[path])
        ]
        if candidate.tests:
            touched = list(candidate.tests)
            files = sorted({test.partition("::")[0] for test in touched} & sides.tree.keys())
        try:
            wanted = self._sieved(sides, touched, files)
        except _NothingFails:
            others = [path for path in candidate.lines if is_test(path) and path not in files]
            if candidate.tests or not files or not others:
                raise
            files = []  # files that tests need have changed too, such as data: any test may show it
            wanted = self._sieved(sides, files, files, room=WHOLE_SECONDS)
        found = _JudgingTests(self, sides, files, wanted)
        found.look(candidate)
        strength = self._strength(candidate, sides, found.failing)
        try:
            return self._made(candidate, sides, said, found, strength)
        except _JudgedWrong as wrong:
            found.leave_out(wrong.tests, "judge")
            return self._made(candidate, sides, said, found, strength)

    def run(self, sides: _Sides, request: RunRequest, *, right: bool, **more: object) -> ProjectRun:
        """One run on a side; `right`: with the oracle. Raises LeftOut if no time is left."""
        if sides.budget.over:
            raise LeftOut("takes too long")
        tree = sides.solved if right else sides.tree
        packages = str((self.folders.folder / sides.packages).resolve()) if sides.packages else ""
        run = self.runs.run(tree, request, language=sides.language, packages=packages, **more)  # type: ignore[arg-type]
        sides.budget.left -= run.cpu_seconds
        return run

    def _sides(self, candidate: HistoryCommit) -> _Sides:
        try:
            parent = self.repository.files(candidate.commit.parent)
            own = self.repository.files(candidate.commit.id)
        except VerificationError:
            raise LeftOut("has too many files, or too large ones") from None
        except UserError:  # such as a tree with a path that leads out of it
            raise LeftOut("has a tree that git does not read") from None
        language = (
            "rust" if "Cargo.toml" in own and not {"setup.py", "pyproject.toml"} & own.keys() else "python"
        )
        tree = {path: data for path, data in parent.items() if not judges(path, language)}
        tree |= {path: data for path, data in own.items() if judges(path, language)}
        before, after = programs_of(tree, own, language)
        if not before:
            raise LeftOut("changes no existing program")
        install = installation_of(tree)
        if install.refused:
            raise LeftOut("cannot be installed here")
        tree |= {path: text.encode() for path, text in install.written.items()}
        try:
            packages = ""
            if language == "python":
                packages = self.folders.named(install.requirements, candidate.commit.date, own)
        except UserError:
            raise LeftOut("its packages cannot be installed") from None
        budget = _TrialBudget(self.settings.seconds)
        return _Sides(before, after, tree, applied(tree, after), language, packages, budget)

    def _sieved(self, sides: _Sides, touched: list[str], files: list[str], **more: object) -> set[str]:
        """Tests in changed lines that pass only with the oracle; tests of `files` if pytest finds none there."""
        request = RunRequest(within=touched, keep=True)
        without = self.run(sides, request, right=False, **more)
        if touched and without.status == _UNKNOWN and not without.results:
            request = RunRequest(within=files, keep=True)
            without = self.run(sides, request, right=False)
        if without.tampered:
            raise LeftOut("its tests change their own test setup")
        if without.stop and not without.results:
            late = without.stop[0] is Outcome.TIMED_OUT
            raise LeftOut("its tests do not end" if late else "its tests do not run here")
        if without.results and not without.uncollected and passed(without) == without.results.keys():
            raise _NothingFails("its tests pass before")
        right = self.run(sides, request, right=True, **more)
        if not right.results:
            raise LeftOut("its tests do not run here")
        if not (wanted := passed(right) - passed(without)):
            raise _NothingFails("no test fails before and passes after")
        return wanted

    def _strength(self, candidate: HistoryCommit, sides: _Sides, failing: Sequence[str]) -> list[int]:
        """[caught, tried]: faults in the changed lines, by the failing tests."""
        noticed = tried = 0
        if sides.language != "python":
            return [0, 0]
        for path, text in sides.after.items():
            spans = candidate.lines.get(path, [])
            names = {
                one.name
                for one in (routines(text) if text else ())
                if any(a <= one.last and one.first <= b for a, b in spans)
            }
            for name in sorted(names):
                for fault in faults(text or "", name, seed=self.settings.seed, key=candidate.commit.id):
                    if tried >= self.settings.mutants or sides.budget.over:
                        return [noticed, tried]
                    if not any(a <= fault.lines[0] <= b for a, b in spans):
                        continue
                    faulty = replace(sides, solved=applied(sides.solved, {path: fault.text}))
                    run = self.run(faulty, RunRequest(tests=list(failing)), right=True)
                    tried, noticed = tried + 1, noticed + (not passed(run) >= set(failing))
        return [noticed, tried]

    def _made(
        self, candidate: HistoryCommit, sides: _Sides, said: str, found: "_JudgingTests", strength: list[int]
    ) -> Task:
        lines, told = patch_lines(sides.before, sides.after), found.told
        text = statement(said, found.failing, *(("", "") if holds(told[0], lines) else told))
        name = f"{candidate.repository}-{candidate.commit.id[:12]}.project.tar.gz"
        judge = ProjectCheck(
            project=name, digest=digest_of(sides.tree), packages=sides.packages, failing=found.failing,
            passing=found.passing,
        )  # fmt: skip
        commit = candidate.commit
        task = edit_task(
            FAMILY, text, sides.before, sides.after, self.settings.format,
            id=candidate.instance
            or content_hash([FAMILY, self.settings.format, candidate.repository, commit.id, judge.digest]),
            language=sides.language, topic=candidate.repository, source=f"{candidate.repository}@{commit.id[:12]}",
            metadata={
                "kind": "row" if candidate.instance else "commit", "repository": candidate.repository,
                "commit": commit.parent if candidate.instance else commit.id, "date": commit.date,
                "strength": strength, "tells": told_of(said, sides.before, sides.after),
                **({"instance": candidate.instance} if candidate.instance else {}),
                **({"quarantined": found.quarantined} if found.quarantined else {}),
            },
        )  # fmt: skip
        whole = task.check.only(EditCheck).model_copy(update={"judge": judge})
        task = task.model_copy(update={"check": whole})
        texts = [*whole.files.values(), *filter(None, whole.oracle.values()), *judge.failing, *judge.passing]
        if len(task.reference) + sum(map(len, texts)) > MOST_TASK:
            raise LeftOut("has files that are too long")
        path = self.folders.folder / name
        with atomic(path) as file:
            file.write(archive(sides.tree))
        try:
            self._confirm(task, path, sides)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return task

    def _confirm(self, task: Task, path: Path, sides: _Sides) -> None:
        """Judged like an answer, the oracle must pass and the unchanged files must fail. Raises LeftOut."""
        edit = task.check.only(EditCheck)
        where = str(self.folders.folder / sides.packages) if sides.packages else ""
        judge = edit.effective().only(ProjectCheck)
        here = judge.model_copy(update={"project": str(path), "packages": where})
        broken = task.model_copy(update={"check": here.model_copy(update={"files": edit.files})})
        edited = task.model_copy(update={"check": edit.model_copy(update={"judge": here})})
        verdicts = [self.verifier.submit(edited, task.reference), self.verifier.submit(broken, "unchanged")]
        right, wrong = (future.result() for future in verdicts)
        if not (right.scored and wrong.scored):
            raise WorkerDied(right.detail if not right.scored else wrong.detail)
        odd = [test.id for test in right.tests if test.outcome is not Outcome.PASSED]
        if right.outcome is Outcome.FAILED and odd:
            raise _JudgedWrong(odd)
        if not right.passed:
            raise LeftOut(f"the commit's own change does not pass: {right.outcome}")
        if wrong.outcome is not Outcome.FAILED:
            raise LeftOut(f"unchanged files: {wrong.outcome}")


class _JudgingTests:
    """The tests that judge a task, and why others do not."""

    def __init__(self, trial: CommitTrial, sides: _Sides, files: list[str], wanted: set[str]) -> None:
        self.trial, self.sides, self.files, self.wanted = trial, sides, files, wanted
        self.failing: list[str] = []
        self.passing: list[str] = []
        self.quarantined: dict[str, str] = {}
        self._without: list[ProjectRun] = []

    @property
    def told(self) -> tuple[str, str]:
        """Why the first failing test fails without the oracle, in two runs."""
        one, other = (message(run, self.failing[0]) for run in self._without)
        return one, other

    def look(self, candidate: HistoryCommit) -> None:
        """Runs the tests; sets failing, passing and quarantined ones. Raises LeftOut."""
        overdue = self.trial.overdue.get(candidate.repository, frozenset()) - self.wanted
        request = RunRequest(within=self.files, left_out=overdue, keep=True)
        right = self._run(request, right=True)
        slow = {name for name, test in right.results.items() if test.seconds > SLOW} - self.wanted
        wrong = self._run(replace(request, left_out=overdue | slow), right=False)
        good, bad = passed(right), passed(wrong)
        others = RunRequest(left_out={*right.results, *overdue}, keep=True)
        rest = self._run(others, right=True, room=WHOLE_SECONDS) if self.files else ProjectRun()
        lost = {name for name in right.results.keys() - good if name in bad or name not in wrong.results}
        self._unbroken(lost | (rest.results.keys() - passed(rest)))
        late = {n for run in (right, rest) for n, t in run.results.items() if t.outcome is Outcome.TIMED_OUT}
        known = self.trial.overdue.get(candidate.repository, frozenset())  # others may have added some
        self.trial.overdue[candidate.repository] = known | late
        failing = [name for name in right.results if name in good - bad - slow]
        failing.sort(key=lambda name: name not in self.wanted)
        passing = [name for name in right.results if name in good & bad][:MOST_PASSING]
        quick = sorted(name for name in passed(rest) if rest.results[name].seconds <= SLOW)
        drawn = rng("histories", self.trial.settings.seed, candidate.key)
        passing += sorted(drawn.sample(quick, min(MOST_OTHERS, len(quick))))
        self._steady(failing[:MOST_FAILING], passing, wrong)

    def _unbroken(self, suspects: set[str]) -> None:
        """Raises LeftOut if one of these passes without the oracle and fails with it."""
        if not suspects:
            return
        request = self._chosen(sorted(suspects))
        wrong = passed(self._run(request, right=False))
        if wrong and (broken := wrong - passed(self._run(request, right=True))):
            raise LeftOut("breaks another test" if broken else "")

    def _steady(self, failing: list[str], passing: list[str], wrong: ProjectRun) -> None:
        tests = [*failing, *passing]
        request = self._chosen(tests)
        shuffled = replace(request, order=_ORDER)
        runs = [
            ("hash seed", False, again := self._run(request, right=False, seed=1)),
            ("order", False, self._run(shuffled, right=False)),
            ("hash seed", True, self._run(request, right=True, seed=1)),
            ("order", True, self._run(shuffled, right=True)),
        ]
        if self._tells_time():
            runs.append(("day", True, self._run(request, right=True, another_day=True)))
        for why, right, run in runs:
            if run.tampered or (run.stop and right and len(run.results) < len(tests)):
                raise LeftOut("its tests do not end")
            seen = passed(run)
            odd = [name for name in failing if (name in seen) != right] + [
                n for n in passing if n not in seen
            ]
            self.quarantined |= {name: why for name in odd if name not in self.quarantined}
        self.failing, self.passing, self._without = failing, passing, [wrong, again]
        self.leave_out([], "")

    def leave_out(self, tests: Sequence[str], why: str) -> None:
        """Quarantines these too. Raises LeftOut if no failing test is left."""
        self.quarantined |= dict.fromkeys(tests, why)
        self.failing = [name for name in self.failing if name not in self.quarantined]
        self.passing = [name for name in self.passing if name not in self.quarantined]
        if not self.failing:
            raise LeftOut("its tests are flaky")

    def _chosen(self, tests: list[str]) -> RunRequest:
        """A request for these tests. Whole changed files run beside them: pytest cannot select single tests of a file
        that only the oracle makes importable."""
        return RunRequest(tests=tests, beside=self.files)

    def _tells_time(self) -> bool:
        """Whether a clock may matter; not if the tests freeze it."""
        texts = [
            self.sides.solved[path] for path in (*self.sides.after, *self.files) if path in self.sides.solved
        ]
        frozen = any(
            word in text for text in texts for word in (b"freezegun", b"time_machine", b"freeze_time")
        )
        return self.sides.language == "python" and not frozen and any(map(_CLOCKS.search, texts))

    def _run(self, request: RunRequest, *, right: bool, **more: object) -> ProjectRun:
        return self.trial.run(self.sides, request, right=right, **more)


def _holds_tests(path: str, sides: _Sides) -> bool:
    """Whether a changed file may hold tests that can be run by its name."""
    name = path.rpartition("/")[2]
    named = sides.language == "python" and path.endswith(".py") and name not in ("conftest.py", "__init__.py")
    return named and is_test(path) and path in sides.tree
