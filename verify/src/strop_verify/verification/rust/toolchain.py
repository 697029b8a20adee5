"""`RustToolchain`: judges Rust answers by cargo's three signals, many answers per compilation.

Threat model. An answer is hostile source text. All compilers and tests run in the jail, with an empty environment and
read access only to the toolchain and the work directory: `include_str!`, `env!`, `#[path]` and build-time loops reach
nothing else. A compiler that loops, crashes or floods harms no other answer, because each answer of the batch is then
judged alone; the same holds for a batch that takes longer than one answer may. An answer that does so is *timed out*.

`verdict="cargo"` reports cargo's exit statuses. They can be forged: `process::exit(0)` in a test, tests that are
ignored or compiled away, an answer's own tests that assert nothing.

`verdict="strict"` gives outcome *passed* only when
- no part of the answer is unsafe or declares foreign functions (rustc's lint, forced, also in macros and tests). So the
  answer can neither read the memory of its process nor write to descriptors by number, nor run before `main`;
- every expected test is in the program: names come from trusted code, so a test that the answer removes with `cfg` or
  marks as ignored is noticed;
- each of them was reported with its token. The test program reads one secret token per test from standard input before
  code of the answer runs, and writes it back when that test has passed. Exits, aborts, a replaced process image,
  printed lines and panic hooks report nothing;
- if crates are offered, the program's constructors show that nothing else runs before `main`;
- trusted tests that need only values of the standard library run as a separate program, in another jail, and call the
  answer's over a socket (calls.py, test_programs.py, wire.rs). The verdict says `trust: value`;
- other trusted tests share a process with the answer (`trust: typed`, or `same-process` without a reference), and
  compare values by equality that the answer does not define (trusted_tests.py, tested_interface.py, harness.rs); its
  objects must differ where the reference's do (second_look.py);
- the answer's own tests hold: they assert something and notice faults injected into the code (verification.strength).

Not covered: if answer and tests share a process, compiler bugs that let safe code break memory safety, and comparisons
in trusted tests outside assertion macros; whatever the vendored crates that a check offers let safe code do, and the
unsafe code that their macros generate; answers that recognise the tests' inputs. Doc tests run in cargo mode only.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from strop_verify.core.errors import BatchFailed, SandboxError, WorkerDied
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox import Box, Limits, open_box
from strop_verify.verification.rust.batch import CompilerFailure, CrateBatch
from strop_verify.verification.rust.cargo import Cargo
from strop_verify.verification.rust.case import RustAnswer
from strop_verify.verification.rust.compiler import COMPILE, Compiler, OutOfTime
from strop_verify.verification.rust.crates import NONE, CompiledCrates, offer
from strop_verify.verification.rust.installation import find_installation
from strop_verify.verification.rust.layout import Alone, Shared
from strop_verify.verification.rust.own_tests import weigh
from strop_verify.verification.rust.preprocess import give_up, groups, needs_second_look, take_in
from strop_verify.verification.rust.scan import scan
from strop_verify.verification.rust.second_look import Rounds
from strop_verify.verification.rust.test_programs import Testers
from strop_verify.verification.rust.tests import CargoRunner, Runner, StrictRunner

TESTS = Limits(cpu_seconds=10.0, wall_seconds=40.0, memory_bytes=2 << 30, output_bytes=1 << 18)
"""Default limits of one answer's tests."""

STEPS = 4
"""Maximum number of compilations of one answer."""
_MOST_TASKS = 1000
"""Number of tasks for which findings about the reference are kept."""


class RustToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for tasks with a RustCheck.

    verdict  "strict" or "cargo", see above
    limits   of one answer's tests; compilations have their own, which grow with the batch
    vendor   folder of crates made by `cargo vendor`, for checks that name `crates`. They are built once per
             process; an answer that uses a missing crate has outcome *error* with the reason
    """

    batch = 32

    def __init__(
        self,
        *,
        verdict: Literal["strict", "cargo"] = "strict",
        limits: Limits | None = None,
        jail: str = "auto",
        allow_unsafe: bool = False,
        vendor: Path | None = None,
    ) -> None:
        if verdict not in ("strict", "cargo"):
            raise ValueError(f"verdict must be 'strict' or 'cargo', not {verdict!r}")
        self.strict = verdict == "strict"
        self.limits = limits or TESTS
        self.wall_seconds = STEPS * COMPILE.wall_seconds + self.limits.wall_seconds
        self._jail, self._allow_unsafe, self._vendor = jail, allow_unsafe, vendor
        self._box: Box | None = None
        self._testers: Testers | None = None
        self._rounds: dict[tuple[str, ...], Rounds | None] = {}
        self._static = True  # whether the text of an answer's own tests also decides

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job, in order.

        Raises WorkerDied; BatchFailed if one of several delays the others; VerificationError if Rust is missing.
        """
        cases: dict[int, RustAnswer] = {}
        verdicts: list[Verdict | None] = [None] * len(jobs)
        for number, (task, answer) in enumerate(jobs):
            if answer.strip():
                cases[number] = take_in(number, task, answer, strict=self.strict)
            else:
                verdicts[number] = Verdict(outcome=Outcome.NO_ANSWER, detail="the answer is empty")
        every = list(cases.values())
        try:
            self._learn(every)
            self._compiler.until = time.monotonic() + self.wall_seconds
            self._judge_all(every, divide=False)
            if self.strict:
                weigh([case for case in every if not case.check.tests], self._judge_mutants)
        except SandboxError as error:
            self.close()
            raise WorkerDied(str(error)) from error
        except OutOfTime as late:
            if len(jobs) > 1:
                raise BatchFailed(f"{len(jobs)} answers exceeded the time for one") from late
            every[0].reset()
            every[0].outcome, every[0].detail = Outcome.TIMED_OUT, f"no verdict in {self.wall_seconds:g} s"
        return [verdict or cases[number].verdict() for number, verdict in enumerate(verdicts)]

    def close(self) -> None:
        """Ends the jail's process. Safe to call twice and from any thread."""
        testers, self._testers = self._testers, None
        if testers is not None:
            testers.close()
        box, self._box = self._box, None
        if box is not None:
            box.close()

    def _learn(self, cases: Sequence[RustAnswer]) -> None:
        """Sets the cases' `rounds`, found by judging the references of new tasks."""
        typed = [case for case in cases if needs_second_look(case)]
        new = {_task_key(case): case for case in typed if _task_key(case) not in self._rounds}
        if len(self._rounds) + len(new) > _MOST_TASKS:
            self._rounds.clear()
        references = {
            key: take_in(0, case.task, case.task.reference, strict=True) for key, case in new.items()
        }
        for number, made in enumerate(references.values()):
            made.number, made.learning, made.rounds = number, True, {}
        self._compiler.until = math.inf
        self._judge_all(list(references.values()))
        self._rounds |= {key: made.rounds or None for key, made in references.items()}
        for case in typed:
            case.rounds = self._rounds.get(_task_key(case))

    def _judge_all(self, cases: list[RustAnswer], *, divide: bool = True) -> None:
        """`divide`: whether to judge the cases of a crate one by one if a compiler does not finish on it."""
        together: list[RustAnswer] = []
        alone: list[RustAnswer] = []
        for case in cases:
            if case.outcome is not None:
                continue
            broken = case.scan.broken or case.broken_tests
            shared = not (case.scan.alone or case.scan.risky or broken or case.crates or case.worldly)
            if not self.strict and self._needs_cargo(case):
                shared = False
            if case.integration and case.scan.unit_tests:
                shared = False
            (together if shared else alone).append(case)
        before = {case.number: (case.calls, case.rounds, case.refused) for case in together}
        for group in groups(together):
            self._judge_group(group, divide)
            for case in group:
                if case.again and len(group) > 1:  # a neighbour may have caused it
                    case.calls, case.rounds, case.refused = before[case.number]
                    case.reset()
                    self._judge_group([case], divide)
                if case.again:
                    case.reset()
                    alone.append(case)
        for case in alone:
            self._judge_alone(case)

    def _judge_group(self, group: list[RustAnswer], divide: bool) -> None:
        """Judges a shared crate. Raises BatchFailed if a compiler did not finish and `divide` is false."""
        self._prepare(group)
        try:
            with self._boxed().work() as work:
                CrateBatch(group, Shared(), self._compiler, work, self._runner(), self.strict).judge()
        except CompilerFailure as trouble:
            if not divide and len(group) > 1:
                raise BatchFailed(f"compiling {len(group)} answers {trouble}") from trouble
            for case in group:
                case.reset()
                if len(group) > 1:
                    self._judge_group([case], divide)
                else:
                    give_up(case, str(trouble))

    def _judge_alone(self, case: RustAnswer) -> None:
        """Judges an answer as a crate root, or as a package for cargo."""
        crates = self._offer(case)
        missing = sorted(case.crates & set(crates.missing))
        if missing:
            case.outcome = Outcome.ERROR
            case.detail = f"the crate {missing[0]} cannot be used: {crates.missing[missing[0]]}"
            return
        self._prepare([case])
        otherwise = case.calls is not None or case.rounds is not None
        try:
            with self._boxed().work() as work:
                if not self.strict and self._needs_cargo(case):
                    Cargo(self._compiler, self.limits, self._vendor).judge(case, work)
                else:
                    compiler = self._compiler
                    if case.crates:
                        work.put(crates.files)
                        compiler = replace(compiler, links=crates.arguments(sorted(case.crates)))
                    runner = self._runner(crates)
                    CrateBatch([case], Alone(case), compiler, work, runner, self.strict).judge()
        except CompilerFailure as trouble:
            case.reset()
            give_up(case, str(trouble))
        if case.again and case.calls is None and case.rounds is None and otherwise:
            case.reset()
            self._judge_alone(case)

    def _prepare(self, cases: Sequence[RustAnswer]) -> None:
        """Makes the test programs of cases whose tests run separately."""
        if any(case.calls for case in cases):
            self._testers = self._testers or Testers(self._compiler, self._open)
            self._testers.make(cases)

    def _needs_cargo(self, case: RustAnswer) -> bool:
        own_tests = case.integration and case.scan.unit_tests
        return own_tests or case.scan.needs_cargo or scan(case.check.tests).needs_cargo

    def _offer(self, case: RustAnswer) -> CompiledCrates:
        if not case.crates:
            return NONE
        began = time.monotonic()
        with self._boxed().work() as work:
            found = offer(work, self._compiler, self._vendor, case.check.crates)
        self._compiler.until += time.monotonic() - began  # the time for building crates does not count
        return found

    def _judge_mutants(self, texts: Sequence[tuple[RustAnswer, str]], static: bool) -> list[Verdict]:
        made = [
            take_in(number, owner.task, text, strict=self.strict)
            for number, (owner, text) in enumerate(texts)
        ]
        self._static = static
        try:
            for start in range(0, len(made), self.batch):
                self._judge_all(made[start : start + self.batch])
            self._compiler.within(self.limits)  # raises OutOfTime: a mutant that was cut short shows nothing
        finally:
            self._static = True
        return [case.verdict() for case in made]

    def _runner(self, crates: CompiledCrates = NONE) -> Runner:
        if self.strict:
            return StrictRunner(
                self._compiler, self.limits, static=self._static, offered=crates, testers=self._testers
            )
        return CargoRunner(self._compiler, self.limits)

    @cached_property
    def _compiler(self) -> Compiler:
        return Compiler(find_installation())

    def _boxed(self) -> Box:
        if self._box is None:
            self._box = self._open()
        return self._box

    def _open(self) -> Box:
        read = [*self._compiler.installation.read, *([str(self._vendor)] if self._vendor else [])]
        return open_box(jail=self._jail, allow_unsafe=self._allow_unsafe, read=read)


def _task_key(case: RustAnswer) -> tuple[str, ...]:
    return (case.task.id, case.check.edition, case.check.tests, case.task.reference)
