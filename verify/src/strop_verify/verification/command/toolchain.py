"""`CommandToolchain`: judges answers by running programs on them, step by step, in a box of the jail.

Threat model: the answer acts wherever its code runs, which includes compiling. It shares its work directory with the
task's own files, so it can read them; they are written again before every step, so that it cannot change them for the
next one. Expected outputs are compared in the trainer's process and never enter the jail. The answer chooses its exit
status, and a step without an expected output proves no more than that.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from strop_verify.core.checks import CommandCheck, CommandStep, StdioCheck
from strop_verify.core.errors import SandboxError, VerificationError, WorkerDied
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, Verdict
from strop_verify.sandbox import Box, Work, open_box
from strop_verify.verification.command.languages import BUILD, Language, language, languages, require_for
from strop_verify.verification.command.steps import (
    Budget,
    account,
    build_failure,
    data,
    failure,
    merged,
    run,
    stage,
)  # fmt: skip
from strop_verify.verification.python.checker import judge_rows
from strop_verify.verification.python.child import Findings
from strop_verify.verification.python.compare import same_output
from strop_verify.verification.python.stdio import OutputJudge, wrong_output
from strop_verify.verification.python.toolchain import PythonToolchain
from strop_verify.verification.settings import Settings

_BUILDS = 2
"""Number of steps before the tests: build and lint."""


class CommandToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for command checks, and stdio ones of described languages."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.wall_seconds = _BUILDS * BUILD.wall_seconds + settings.limits.wall_seconds
        self._box: Box | None = None
        self._python = PythonToolchain(replace(settings, hash_seed=0))
        """Provides the tester that runs a task's checker."""

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job.

        Raises WorkerDied if the box broke, VerificationError for a bad task or a missing program, UserError for a bad
        language description.
        """
        return [self._judge(task, answer) for task, answer in jobs]

    def close(self) -> None:
        """Ends its processes; the next job starts fresh ones. Safe to call twice and from any thread."""
        box, self._box = self._box, None
        if box is not None:
            box.close()
        self._python.close()

    def _opened(self) -> Box:
        if self._box is None:
            self._box = open_box(jail=self.settings.jail, allow_unsafe=self.settings.allow_unsafe)
        return self._box

    def _judge(self, task: Task, answer: str) -> Verdict:
        began = time.monotonic()
        try:
            if isinstance(task.check, StdioCheck):
                findings, stages = self._program(task.check, language(task.language), answer)
            else:
                check = task.check.only(CommandCheck)
                findings, stages = self._steps(check, task.language, answer)
        except SandboxError as error:
            self.close()
            raise WorkerDied(str(error)) from error
        verdict = findings.verdict(time.monotonic() - began)
        named = {one.name for one in stages}
        kept = [one for one in verdict.stages if one.name not in named]
        order = ("build", "lint", "test")
        every = sorted([*stages, *kept], key=lambda one: order.index(one.name))
        return verdict.model_copy(update={"stages": every})

    def _program(self, check: StdioCheck, described: Language, answer: str) -> tuple[Findings, list[Stage]]:
        require_for(check, described.language)
        findings, stages = Findings(len(check.cases), "case"), []
        with self._opened().work({described.file: data(answer)}) as work:
            for name, argv in (("build", described.build), ("lint", described.lint)):
                if not argv or (name == "lint" and not findings.built):
                    continue
                result = run(work, argv, b"", described.for_build(), "build", described)
                account(findings, result)
                stages.append(stage(name, result))
                if name == "build" and (bad := build_failure(result, described.for_build())):
                    findings.stop = bad
                findings.built = findings.stop is None
            findings.built = findings.stop is None
            if findings.built:
                self._cases(check, described, work, findings)
        return findings, stages

    def _cases(self, check: StdioCheck, described: Language, work: Work, findings: Findings) -> None:
        judge, budget = OutputJudge(check), Budget(described.for_run(self.limits))
        for number, case in enumerate(check.cases):
            limits = budget.left()
            if limits is None:
                findings.stop = (Outcome.TIMED_OUT, f"used more than {self.limits.cpu_seconds:g} CPU seconds")
                break
            stdin = case.stdin.encode("utf-8", errors="surrogateescape")
            result = run(work, described.run, stdin, limits, described.test_profile, described)
            budget.spend(result)
            account(findings, result, self.limits.output_bytes)
            output = result.stdout.decode(errors="replace")
            outcome, message = failure(result, limits, 0) or judge(number, case, output)
            if outcome is Outcome.TIMED_OUT:
                findings.stop = (outcome, message)
                break
            findings.add(outcome, message, result.seconds)
        judge_rows(check.checker, judge.waiting, findings, self._python.tester, self.limits)

    def _steps(self, check: CommandCheck, name: str, answer: str) -> tuple[Findings, list[Stage]]:
        described = languages().get(name)
        tests = [step for step in check.steps if step.stage == "test"]
        if not tests:
            raise VerificationError("the command check has no step of stage test")
        if check.path in check.files:
            raise VerificationError(f"the command check has a file at the answer's path {check.path!r}")
        require_for(check, name)
        findings, stages = Findings(len(tests), "test"), []
        findings.built = True
        budget = Budget(described.for_run(self.limits) if described else self.limits)
        try:
            with self._opened().work({check.path: data(answer)}) as work:
                for step in check.steps:
                    work.put(check.files)
                    stages.append(self._step(step, described, work, findings, budget))
                    if not stages[-1].passed:
                        break
        except ValueError as error:
            raise VerificationError(f"the command check: {error}") from None
        return findings, merged(stages)

    def _step(
        self, step: CommandStep, described: Language | None, work: Work, findings: Findings, budget: "Budget"
    ) -> Stage:
        building = step.stage != "test"
        limits = (described.for_build() if described else BUILD) if building else budget.left()
        if limits is None:
            findings.stop = (Outcome.TIMED_OUT, "no CPU time is left")
            return Stage(name=step.stage, passed=False)
        profile = "build" if building or (described and described.test_profile == "build") else "run"
        stdin = step.stdin.encode("utf-8", errors="surrogateescape")
        result = run(work, step.argv, stdin, limits, profile, described)
        account(findings, result, self.limits.output_bytes)
        bad = (build_failure if step.stage == "build" else failure)(result, limits, step.status)
        if bad is None and step.stdout is not None:
            output = result.stdout.decode(errors="replace")
            right = same_output(step.stdout, output)
            bad = None if right else (Outcome.FAILED, wrong_output(output))
        if building:
            findings.stop = bad
            findings.built = findings.built and not (step.stage == "build" and bad)
            return stage(step.stage, result, passed=bad is None)
        budget.spend(result)
        findings.add(*(bad or (Outcome.PASSED, "")), result.seconds)
        return Stage(name="test", passed=bad is None, seconds=result.seconds)
