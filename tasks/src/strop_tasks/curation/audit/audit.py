"""Audits of many tasks, streamed in order, with a bounded number in progress.

Stages: static checks; the reference once; its other runs and, if it passed, variants that must pass and the first
faulty versions, in parallel with the answers that must fail; then the remaining faulty versions. Every choice depends
only on the task and the settings.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain, tee

from strop_tasks.curation.audit import flakiness, strength
from strop_tasks.curation.audit.answers import decided, probes
from strop_tasks.curation.audit.form import form_findings, leak_findings
from strop_tasks.curation.audit.judge import variants, wording_findings
from strop_tasks.curation.audit.record import AuditSettings, Finding, Probe, TaskAudit, fatal
from strop_verify.core.bounded_map import Work, bounded_map
from strop_verify.core.checks import LabelCheck
from strop_verify.core.protocols import Verifier
from strop_verify.core.task import Task
from strop_verify.core.verdict import Trust, Verdict
from strop_verify.verification import open_verifier
from strop_verify.verification.strength import killed

WINDOW = 48
"""Tasks in progress at a time. Each has a few dozen answers, so the verifier's queue has room for all."""


def audit_tasks(
    tasks: Iterable[Task],
    verifier: Verifier,
    settings: AuditSettings | None = None,
    *,
    reseeded: Callable[[int], Verifier] | None = None,
) -> Iterator[TaskAudit]:
    """One audit per task, in order; tasks are read as room becomes free.

    `reseeded` opens a verifier whose Python runs under the given hash seed; None: `open_verifier` with one worker and
    its own limits. Verifiers are opened on first use and closed at the end, or when the iterator is closed.
    """
    others = flakiness.Reseeded(reseeded or (lambda seed: open_verifier(workers=1, hash_seed=seed)))
    try:
        chosen = settings or AuditSettings()
        yield from bounded_map((_Audit(task, verifier, others, chosen).whole() for task in tasks), WINDOW)
    finally:
        others.close()


def paired(
    tasks: Iterable[Task], audit: Callable[[Iterable[Task]], Iterator[TaskAudit]]
) -> Generator[tuple[Task, TaskAudit], None, None]:
    """Each task with its audit, in order; `audit` returns one audit per task."""
    first, second = tee(tasks)
    for found, task in zip(audit(first), second, strict=False):
        yield task, found


@dataclass
class _Audit:
    """The audit of one task in progress: findings in order, without ignored codes."""

    task: Task
    verifier: Verifier
    reseeded: flakiness.Reseeded
    settings: AuditSettings
    found: list[Finding] = field(default_factory=list)
    trust: Trust | None = None

    def whole(self) -> Work[TaskAudit]:
        """Runs all stages. Raises UserError if mutants are requested and tree-sitter is missing."""
        task = self.task
        self._add(form_findings(task, self.settings))
        self._add(chain(leak_findings(task), decided(task), wording_findings(task)))
        if label := task.check.maybe(LabelCheck):
            self._add(_label_findings(label))
        elif not (self._enough or task.check.rewards_alone):
            yield from self._run()
        ok = not any(f.severity == "fatal" for f in self.found)
        return TaskAudit(task_id=task.id, source=task.source, ok=ok, findings=self.found, trust=self.trust)

    def _add(self, findings: Iterable[Finding]) -> None:
        self.found += [f for f in findings if f.code not in self.settings.ignore]

    @property
    def _enough(self) -> bool:
        """Whether the audit can stop."""
        return self.settings.quick and any(f.severity == "fatal" for f in self.found)

    def _submit(self, answer: str) -> "Future[Verdict]":
        return self.verifier.submit(self.task, answer)

    def _run(self) -> Work[None]:
        task, settings = self.task, self.settings
        wrong = [Probe("empty-passes", "the empty answer", ""), *probes(task)]
        trials = [(probe, self._submit(probe.answer)) for probe in wrong]
        passes = False
        if task.reference.strip():
            first = self._submit(task.reference)
            yield [first]
            runs = flakiness.more_runs(task, first.result(), self.verifier, self.reseeded, settings)
            passes, self.trust = first.result().passed, first.result().trust
            others = [(shown, self._submit(answer)) for shown, answer in (variants(task) if passes else ())]
            # If a task asks for a single value, a different value that passes is also right.
            wanted = passes and "weak-tests" not in settings.ignore and not task.check.takes_nothing()
            faulty = strength.faulty_versions(task, settings) if wanted else []
            tried = [self._submit(text) for text in faulty[: strength.FIRST]]
            yield [*runs.futures(), *(f for _, f in others), *tried]
            found = list(flakiness.run_findings(first.result(), runs, settings))
            self._add(found)
            self._add(flakiness.use_findings(first.result(), runs, settings))
            if any(f.code == "flaky" for f in found):  # results of its versions would be random too
                passes, self.trust = False, None
            else:
                results = ((shown, future.result()) for shown, future in others)
                self._add(shown for shown, verdict in results if verdict.scored and not verdict.passed)
        yield [future for _, future in trials]
        self._add(_trial_findings(trials))
        if passes and not self._enough:
            yield from self._strength(faulty, tried)

    def _strength(self, faulty: list[str], tried: "list[Future[Verdict]]") -> Work[None]:
        """Runs the remaining faulty versions if the tests missed some of the first; checks if missed ones matter."""
        if strength.all_noticed([f.result() for f in tried]):
            return
        tried += map(self._submit, faulty[strength.FIRST :])
        yield tried
        verdicts = [f.result() for f in tried]
        noticed = sum(killed(v) is True for v in verdicts)
        left = [n for n, verdict in enumerate(verdicts) if killed(verdict) is False]
        questions = [strength.question(self.task, faulty[n]) for n in left]
        answers = [self.verifier.submit(*pair) for pair in questions if pair is not None]
        proven = len(answers) == len(left)
        if proven:
            yield answers
            left = [
                n for n, future in zip(left, answers, strict=True) if strength.told_apart(future.result())
            ]
        missed = [faulty[n] for n in left]
        self._add(strength.strength_findings(noticed, missed, self.settings, proven=proven))


def _trial_findings(trials: "list[tuple[Probe, Future[Verdict]]]") -> Iterable[Finding]:
    for probe, future in trials:
        verdict = future.result()
        if verdict.passed:
            yield fatal(probe.code, f"{probe.name} passes", probe.answer)
        elif not verdict.scored:
            yield fatal("unverifiable", f"{probe.name}: {verdict.detail or 'no verdict'}")
            return


def _label_findings(check: LabelCheck) -> Iterable[Finding]:
    if check.expected not in check.choices:
        yield fatal("reference-fails", f"the expected label {check.expected!r:.60} is not among the choices")
    if len(set(check.choices)) < 2:
        yield fatal("constant-passes", "there is only one choice")
