"""`EditToolchain`: judges answers that are edits. It applies the edit to the task's files and judges the result.

The judge is the task's own check (`EditCheck.judge`) on that check's toolchain: it gets the file at `path`, or all
files if it runs a project's tests. Without a judge, the files must equal the oracle's, character by character.

Stage "build": the edit was read and applied (and the judge's own build stage passed). An answer without an edit is *no
answer*. One that cannot be read or applied, or changes a file that the judge does not look at, is *failed*, with the
code of docs/edits.md in its detail. A task that cannot be judged at all is an *error*.

Threat model: an edit is text, applied here in time and memory linear in the answer (at most `MAX_ANSWER`) and files; it
touches no disk, and paths are keys of a mapping. The result runs in the judge's jail, together with its trusted files.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from strop_verify.core.checks import EditCheck, ProjectCheck
from strop_verify.core.errors import VerificationError, WorkerDied
from strop_verify.core.protocols import Toolchain
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict
from strop_verify.edits import FORMATS, EditError, Tolerance, apply_answer
from strop_verify.verification.verifier import error_verdict

MAX_ANSWER = 1 << 21
"""Maximum characters of an answer; a longer one is *failed*."""


class EditToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for checks of kind edit.

    build  makes a judge's toolchain by name
    judge  the toolchain of most jobs, which sets batch size, wall limit and version; "" = none
    """

    def __init__(self, build: Callable[[str], Toolchain], judge: str = "") -> None:
        self._build = build
        self._judges: dict[str, Toolchain] = {}
        usual = self._judge(judge) if judge else None
        self.batch = usual.batch if usual else 1
        self.wall_seconds: float | None = getattr(usual, "wall_seconds", None)
        self.version: str = getattr(usual, "version", "")

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job; jobs of one judge run together. Raises WorkerDied if one of our processes broke."""
        verdicts: list[Verdict] = []
        waiting: dict[str, list[tuple[int, Task, str, float]]] = defaultdict(list)
        for number, (task, answer) in enumerate(jobs):
            began = time.monotonic()
            try:
                found = edited(task, answer)
                if isinstance(found, Verdict):
                    verdicts.append(found)
                    continue
                inner, text = found
                waiting[inner.toolchain()].append((number, inner, text, time.monotonic() - began))
                verdicts.append(error_verdict("not judged"))
            except VerificationError as error:
                verdicts.append(error_verdict(str(error), time.monotonic() - began))
        for name, group in waiting.items():
            judged = self._judged(name, [(task, text) for _, task, text, _ in group])
            for (number, _, _, seconds), verdict in zip(group, judged, strict=True):
                verdicts[number] = _applied(verdict, seconds)
        return verdicts

    def close(self) -> None:
        """Ends the judges' processes; the next job starts fresh ones. Safe to call twice and from any thread."""
        for toolchain in list(self._judges.values()):
            toolchain.close()

    def _judge(self, name: str) -> Toolchain:
        if name not in self._judges:
            self._judges[name] = self._build(name)
        return self._judges[name]

    def _judged(self, name: str, jobs: list[tuple[Task, str]]) -> list[Verdict]:
        toolchain, verdicts = self._judge(name), list[Verdict]()
        while len(verdicts) < len(jobs):
            try:
                verdicts += toolchain.judge(jobs[len(verdicts) : len(verdicts) + toolchain.batch])
            except WorkerDied:
                raise
            except VerificationError as error:  # about the first job's task
                verdicts.append(error_verdict(str(error)))
        return verdicts


def edited(task: Task, answer: str) -> Verdict | tuple[Task, str]:
    """The judge's task and answer, or the verdict if no judge is needed. Raises VerificationError for a bad task."""
    began, check = time.monotonic(), task.check.only(EditCheck)
    tolerance = _tolerance(check)
    if len(answer) > MAX_ANSWER:
        return refused(Outcome.FAILED, f"the answer is longer than {MAX_ANSWER} characters", began)
    try:
        after = apply_answer(answer, check.files, check.format, tolerance)
    except EditError as error:
        nothing = error.code == "no-edit"
        return refused(Outcome.NO_ANSWER if nothing else Outcome.FAILED, str(error), began)
    if check.judge is None:
        return _compared(check, after, began)
    if (project := check.judge.maybe(ProjectCheck)) is not None:
        return _in_project(task, check, project, after, began)
    touched = sorted(p for p in {*check.files, *after} if check.files.get(p) != after.get(p))
    if touched != [check.path]:
        other = next(path for path in touched if path != check.path)
        cause = f"the edit changes {other!r:.80}; only {check.path!r} is judged"
        return refused(Outcome.FAILED, cause, began)
    if check.path not in after:
        return refused(Outcome.FAILED, f"the edit removes {check.path!r}, which is judged", began)
    reference = check.oracle.get(check.path) or ""
    inner = task.model_copy(update={"check": check.judge, "reference": reference})
    return inner, after[check.path]


def _tolerance(check: EditCheck) -> Tolerance:
    """The check's tolerance. Raises VerificationError for an invalid check."""
    if check.format not in FORMATS:
        known = ", ".join(FORMATS)
        raise VerificationError(f"no edit format is called {check.format!r:.40}; use one of {known}")
    if check.judge is None and not check.oracle:
        raise VerificationError("the edit check has neither a judge nor an oracle")
    if check.judge is not None and not check.judge.judges_edits:
        raise VerificationError(f"a check of kind {check.judge.kind!r} cannot judge an edited file")
    if check.judge is not None and check.judge.answer != "patch" and check.path not in check.files:
        raise VerificationError(f"the edit check judges {check.path!r:.80}, which is not one of its files")
    try:
        return Tolerance.of(*check.tolerance)
    except ValueError as error:
        raise VerificationError(str(error)) from error


def _compared(check: EditCheck, after: Mapping[str, str], began: float) -> Verdict:
    """Passed when all files equal the oracle's, including those that it leaves unchanged."""
    wanted = {path: text for path, text in {**check.files, **check.oracle}.items() if text is not None}
    other = sorted(p for p in {*wanted, *after} if wanted.get(p) != after.get(p))
    outcome = Outcome.FAILED if other else Outcome.PASSED
    detail = f"{other[0]!r:.80} differs from the result of the known edit" if other else ""
    seconds = time.monotonic() - began
    return Verdict(
        outcome=outcome,
        stages=[Stage(name="build", passed=True, seconds=seconds), Stage(name="test", passed=not other)],
        tests=[TestResult(id="oracle", outcome=outcome, message=detail)],
        detail=detail,
        seconds=seconds,
    )


def _in_project(
    task: Task, check: EditCheck, judge: ProjectCheck, after: Mapping[str, str], began: float
) -> Verdict | tuple[Task, str]:
    """The project's task with the check's files in their edited state."""
    for path in sorted(after):
        if path in judge.files and path not in check.files:
            cause = f"the edit writes {path!r:.80}, which belongs to the check"
            return refused(Outcome.FAILED, cause, began)
    gone = {path for path in check.files if path not in after}
    update = {
        "files": {**{p: t for p, t in judge.files.items() if p not in gone}, **after},
        "removed": sorted({*judge.removed, *gone} - set(after)),
    }
    return task.model_copy(update={"check": judge.model_copy(update=update)}), ""


def refused(outcome: Outcome, detail: str, began: float) -> Verdict:
    """The verdict on an answer that is not run. `began`: start, in the time of `time.monotonic`."""
    seconds, detail = time.monotonic() - began, " ".join(detail.split())
    stage = Stage(name="build", passed=False, seconds=seconds, output=detail)
    return Verdict(outcome=outcome, stages=[stage], detail=detail, seconds=seconds)


def _applied(verdict: Verdict, seconds: float) -> Verdict:
    """Turns the judge's verdict into the verdict on the edit, which took `seconds` to apply."""
    stages = verdict.stages
    if verdict.scored and verdict.stage("build") is None:
        stages = [Stage(name="build", passed=True, seconds=seconds), *stages]
    empty = verdict.outcome is Outcome.NO_ANSWER  # the edited file is empty, the answer was not
    outcome = Outcome.FAILED if empty else verdict.outcome
    update = {"stages": stages, "outcome": outcome, "seconds": verdict.seconds + seconds}
    return verdict.model_copy(update=update)
