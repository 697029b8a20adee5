"""Audits of many tasks, streamed in order, a bounded number of them under way at a time.

Each is a generator that yields the verdicts it waits for and goes on when they are there.

Stages: what can be seen; the reference once; its other runs and, where it passed, variants that must pass and the first
faulty versions, beside the answers that must fail; then the rest of the faulty versions. Every choice depends on the
task and the settings alone.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from itertools import tee

from strop.core.checks import LabelCheck
from strop.core.protocols import Verifier
from strop.core.task import Task
from strop.core.verdict import Verdict
from strop.core.window import Work, played
from strop.curation.audit import differs, flaky, strength
from strop.curation.audit.answers import decided, probes
from strop.curation.audit.form import form_findings, leak_findings
from strop.curation.audit.judge import said
from strop.curation.audit.record import AuditSettings, Finding, Probe, TaskAudit, fatal
from strop.curation.audit.variants import variants
from strop.verification.strength import killed

WINDOW = 48
"""Tasks under way at a time. Each has a few dozen answers, so the verifier's queue has room for all."""


def audit_tasks(
    tasks: Iterable[Task],
    verifier: Verifier,
    settings: AuditSettings | None = None,
    *,
    reseeded: Callable[[int], Verifier] | None = None,
) -> Iterator[TaskAudit]:
    """One audit a task, in order; tasks are asked for as there is room.

    `reseeded` opens a verifier whose Python runs under the given hash seed; None: `open_verifier` with one worker and
    its own limits. They are opened when a task needs them and closed at the end, or when the iterator is closed.
    """
    others = flaky.Reseeded(reseeded or _open_reseeded)
    try:
        chosen = settings or AuditSettings()
        yield from played((audit_one(task, verifier, others, chosen) for task in tasks), WINDOW)
    finally:
        others.close()


def paired(
    tasks: Iterable[Task], audit: Callable[[Iterable[Task]], Iterator[TaskAudit]]
) -> Generator[tuple[Task, TaskAudit], None, None]:
    """Each task with its audit, in order; `audit` gives one audit a task."""
    first, second = tee(tasks)
    for found, task in zip(audit(first), second, strict=False):
        yield task, found


def _open_reseeded(seed: int) -> Verifier:
    from strop.verification import open_verifier

    return open_verifier(workers=1, hash_seed=seed)


def audit_one(
    task: Task, verifier: Verifier, reseeded: flaky.Reseeded, settings: AuditSettings
) -> Work[TaskAudit]:
    """The audit of one task. Raises UserError where tree-sitter is missing and mutants are asked for."""
    found = _Findings(task, settings)
    found.add(form_findings(task, settings))
    found.add(leak_findings(task))
    found.add(decided(task))
    found.add(said(task))
    if label := task.check.maybe(LabelCheck):
        found.add(_label_findings(label))
        return found.audit()
    if not found.enough:
        yield from _run(task, verifier, reseeded, settings, found)
    return found.audit()


def _run(
    task: Task, verifier: Verifier, reseeded: flaky.Reseeded, settings: AuditSettings, found: "_Findings"
) -> Work[None]:
    trials = [(probe, verifier.submit(task, probe.answer)) for probe in _probes(task)]
    passes = False
    if task.reference.strip():
        first = verifier.submit(task, task.reference)
        yield [first]
        runs = flaky.more_runs(task, first.result(), verifier, reseeded, settings)
        passes = first.result().passed
        wanted = list(variants(task)) if passes else []
        others = [(shown, verifier.submit(task, answer)) for shown, answer in wanted]
        faulty = (
            strength.faulty_versions(task, settings) if passes and "weak-tests" not in settings.ignore else []
        )
        tried = [verifier.submit(task, text) for text in faulty[: strength.FIRST]]
        yield [*runs.futures(), *(f for _, f in others), *tried]
        found.add(flaky.run_findings(first.result(), runs, settings))
        found.add(flaky.use_findings(first.result(), runs, settings))
        if passes:
            found.add(shown for shown, future in others if _failed(future.result()))
    yield [future for _, future in trials]
    found.add(_trial_findings(trials))
    if passes and not found.enough:
        yield from _strength(task, verifier, settings, found, faulty, tried)


def _strength(
    task: Task,
    verifier: Verifier,
    settings: AuditSettings,
    found: "_Findings",
    faulty: list[str],
    tried: "list[Future[Verdict]]",
) -> Work[None]:
    """The remaining faulty versions, if some of the first went unnoticed, and whether those matter."""
    if strength.all_noticed([f.result() for f in tried]):
        return
    tried += [verifier.submit(task, text) for text in faulty[strength.FIRST :]]
    yield tried
    verdicts = [f.result() for f in tried]
    noticed = sum(killed(v) is True for v in verdicts)
    left = strength.survivors(faulty, verdicts)
    asked = [differs.question(task, faulty[n]) for n in left]
    answers = [verifier.submit(*pair) for pair in asked if pair is not None]
    proven = len(answers) == len(left)
    if proven:
        yield answers
        left = [n for n, future in zip(left, answers, strict=True) if differs.told_apart(future.result())]
    found.add(strength.strength_findings(noticed, len(left), settings, proven=proven))


class _Findings:
    """What was found, in order, without what is not looked for."""

    def __init__(self, task: Task, settings: AuditSettings) -> None:
        self._task, self._settings = task, settings
        self._found: list[Finding] = []

    def add(self, findings: Iterable[Finding]) -> None:
        """Takes more of them."""
        self._found += [f for f in findings if f.code not in self._settings.ignore]

    @property
    def enough(self) -> bool:
        """Whether nothing more need be looked at."""
        return self._settings.quick and any(f.severity == "fatal" for f in self._found)

    def audit(self) -> TaskAudit:
        """The audit with what was found so far."""
        ok = not any(f.severity == "fatal" for f in self._found)
        return TaskAudit(task_id=self._task.id, source=self._task.source, ok=ok, findings=self._found)


def _probes(task: Task) -> list[Probe]:
    """The answers that must fail; the empty one first."""
    return [Probe("empty-passes", "the empty answer", ""), *probes(task)]


def _failed(verdict: Verdict) -> bool:
    return verdict.scored and not verdict.passed


def _trial_findings(trials: "list[tuple[Probe, Future[Verdict]]]") -> Iterable[Finding]:
    for probe, future in trials:
        verdict = future.result()
        if verdict.passed:
            yield Finding(code=probe.code, severity="fatal", text=f"{probe.name} passes")
        elif not verdict.scored:
            text = f"{probe.name}: {verdict.detail or 'no verdict'}"
            yield fatal("unverifiable", text)
            return


def _label_findings(check: LabelCheck) -> Iterable[Finding]:
    if check.expected not in check.choices:
        text = f"the expected label {check.expected!r:.60} is none of the choices"
        yield fatal("reference-fails", text)
    if len(set(check.choices)) < 2:
        yield fatal("constant-passes", "there is but one choice")
