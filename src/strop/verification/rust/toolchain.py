"""`RustToolchain`: Rust answers to verdicts with cargo's three signals, many answers to a compilation.

Threat model. An answer is hostile source text. All compilers and tests run in the jail, with an empty environment and
read access to the toolchain and the work directory only: `include_str!`, `env!`, `#[path]` and build-time loops reach
nothing else, and a compiler that loops, crashes or floods hurts no other answer: its batch is divided until it is
alone.

`verdict="cargo"` gives what cargo's exit statuses say. They can be forged: `process::exit(0)` in a test, tests that are
ignored or compiled away, tests of the answer's own that claim nothing.

`verdict="strict"` gives outcome *passed* only when
- no part of the answer is unsafe or declares foreign functions (rustc's lint, forced, also in macros and tests). So the
  answer can neither read the memory of its process nor write to descriptors by number, nor run before `main`;
- every expected test is in the program: names come from trusted code, so a test that the answer removes with `cfg` or
  marks as ignored is missed;
- each of them was reported with its token. The program gets one secret token a test on standard input, all read
  before code of the answer runs, and writes it back when that test has passed. Exits, aborts, a replaced process
  image, printed lines and panic hooks report nothing;
- trusted tests compare values by equality that the answer does not define (see trusted.py, harness.rs);
- tests of the answer's own hold: they claim something and notice faults put into the code (verification.strength).

Not covered: bugs of rustc that let safe code break memory safety; answers that recognise the tests' inputs; comparisons
in trusted tests outside of assertion macros. Doc tests are run in cargo mode only.
"""

import hashlib
import logging
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from strop.core.errors import SandboxError, VerificationError, WorkerDied
from strop.core.task import RustCheck, Task
from strop.core.verdict import Outcome, Verdict
from strop.sandbox.limits import Limits
from strop.verification.rust.audit import differences
from strop.verification.rust.batch import Batch, Trouble, judge_alone
from strop.verification.rust.cargo import Cargo
from strop.verification.rust.case import Case
from strop.verification.rust.compiler import Compiler
from strop.verification.rust.delimiters import balanced
from strop.verification.rust.installation import find_installation
from strop.verification.rust.layout import Shared
from strop.verification.rust.own_tests import static_reason, weigh
from strop.verification.rust.rules import give_up, groups, refusal
from strop.verification.rust.scan import scan
from strop.verification.rust.tests import CargoRunner, Runner, StrictRunner
from strop.verification.rust.trusted import read_trusted
from strop.verification.rust.unclosed import reject_unclosed

if TYPE_CHECKING:
    from strop.sandbox.box import Box

_log = logging.getLogger(__name__)
TESTS = Limits(cpu_seconds=10.0, wall_seconds=40.0, memory_bytes=2 << 30, output_bytes=1 << 18)
"""What the tests of one answer may use, when no limits are given."""


class RustToolchain:
    """Implements `strop.core.protocols.Toolchain` for tasks with a RustCheck.

    verdict  "strict" or "cargo", see above
    limits   of the tests of one answer; compilations have their own, which grow with the batch
    vendor   folder of crates as `cargo vendor` makes it, for checks that name `crates`; those answers go through cargo
    audit    share of batched answers, drawn by content, that are judged by cargo too; a difference is logged as an
             error and said in the verdict's detail. Cargo mode only: strict verdicts differ by design
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
        audit: float = 0.01,
    ) -> None:
        if verdict not in ("strict", "cargo"):
            raise ValueError(f"verdict must be 'strict' or 'cargo', not {verdict!r}")
        self.strict = verdict == "strict"
        self.limits = limits or TESTS
        self.audit = audit
        self._jail, self._allow_unsafe, self._vendor = jail, allow_unsafe, vendor
        self._box: Box | None = None
        self._compiler: Compiler | None = None
        self._static = True  # whether the text of an answer's own tests decides

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict a job, in order. Raises WorkerDied, and VerificationError where no Rust toolchain is found."""
        cases: dict[int, Case] = {}
        verdicts: list[Verdict | None] = [None] * len(jobs)
        for number, (task, answer) in enumerate(jobs):
            if not isinstance(task.check, RustCheck):
                raise VerificationError(
                    f"task {task.id}: a check of kind {task.check.kind!r} is not for this toolchain"
                )
            if not answer.strip():
                verdicts[number] = Verdict(outcome=Outcome.NO_ANSWER, detail="the answer is empty")
            else:
                cases[number] = self._case(number, task, answer)
        try:
            self._judge_all(list(cases.values()))
            if self.strict:
                weigh([c for c in cases.values() if not c.check.tests], self._judge_mutants)
            else:
                self._audit(list(cases.values()))
        except SandboxError as error:
            self.close()
            raise WorkerDied(str(error)) from error
        return [verdict or cases[number].verdict() for number, verdict in enumerate(verdicts)]

    def close(self) -> None:
        """Ends the jail's process. Safe to call twice and from any thread."""
        box, self._box = self._box, None
        if box is not None:
            box.close()

    def _case(self, number: int, task: Task, answer: str) -> Case:
        check = task.check
        assert isinstance(check, RustCheck)
        answer = answer.encode(errors="replace").decode()
        found, trusted = scan(answer), None
        if self.strict and check.tests:
            text = check.tests if check.crate else f"use super::*; {check.tests}"
            trusted = read_trusted(text, task.reference)
        case = Case(number, task, check, answer, found, trusted)
        if not balanced(check.tests):
            case.broken_tests = True
        if trusted is not None:
            case.refused = refusal(case)
        return case

    def _judge_all(self, cases: list[Case]) -> None:
        together: list[Case] = []
        alone: list[Case] = []
        for case in cases:
            if case.broken_tests and self.strict:
                case.outcome, case.detail = (
                    Outcome.ERROR,
                    "the task's tests are not Rust: a bracket is not closed",
                )
                continue
            broken = case.scan.broken or case.broken_tests
            shared = not (case.scan.alone or case.scan.risky or broken or case.check.crates)
            if not self.strict and self._needs_cargo(case):
                shared = False
            if case.integration and case.scan.unit_tests:
                shared = False
            (together if shared else alone).append(case)
        alone = self._without_unclosed(alone)
        for group in groups(together):
            self._judge_group(group)
        for case in together:
            if case.again:
                case.reset()
                alone.append(case)
        for case in alone:
            self._judge_alone(case)

    def _without_unclosed(self, cases: list[Case]) -> list[Case]:
        """The cases but those that end at their first unclosed bracket, which are judged here."""
        unclosed = [c for c in cases if c.scan.broken and not (c.scan.alone or c.check.crates)]
        kept = [case for case in cases if case not in unclosed]
        for group in groups(unclosed):
            with self._boxed().work() as work:
                kept += reject_unclosed(group, self._built(), work)
        return kept

    def _judge_group(self, group: list[Case]) -> None:
        """A shared crate; divided where a compiler did not come to its end."""
        if len(group) == 1:
            return self._judge_alone(group[0])
        try:
            with self._boxed().work() as work:
                Batch(group, Shared(), self._built(), work, self._runner(), self.strict).judge()
        except Trouble:
            for case in group:
                case.reset()
            half = len(group) // 2
            self._judge_group(group[:half])
            self._judge_group(group[half:])

    def _judge_alone(self, case: Case) -> None:
        """The answer as the root of a crate of its own, or a package for cargo."""
        if case.check.crates or (not self.strict and self._needs_cargo(case)):
            self._by_cargo(case)
            return
        try:
            with self._boxed().work() as work:
                judge_alone(case, self._built(), work, self._runner(), self.strict)
        except Trouble as trouble:
            case.reset()
            give_up(case, str(trouble))

    def _needs_cargo(self, case: Case) -> bool:
        own_tests = case.integration and case.scan.unit_tests
        return own_tests or case.scan.needs_cargo or scan(case.check.tests).needs_cargo

    def _by_cargo(self, case: Case) -> None:
        if self.strict:
            case.outcome, case.detail = Outcome.ERROR, "checks with crates have verdicts in cargo mode only"
            return
        with self._boxed().work() as work:
            Cargo(self._built(), self.limits, self._vendor).judge(case, work)

    def _judge_mutants(self, texts: Sequence[tuple[Case, str]], static: bool) -> list[Verdict]:
        made = [self._case(number, owner.task, text) for number, (owner, text) in enumerate(texts)]
        self._static = static
        try:
            for start in range(0, len(made), self.batch):
                self._judge_all(made[start : start + self.batch])
        finally:
            self._static = True
        return [case.verdict() for case in made]

    def _audit(self, cases: Iterable[Case]) -> None:
        for case in cases:
            seed = hashlib.sha256(case.answer.encode(errors="replace")).hexdigest()
            if random.Random(seed).random() >= self.audit or case.outcome is not None:
                continue
            with self._boxed().work() as work:
                said = differences(case, Cargo(self._built(), self.limits, self._vendor), work)
            if said:
                _log.error("task %s: the batched verdict is not cargo's: %s", case.task.id, said)
                case.detail = f"differs from cargo: {said}"

    def _runner(self) -> Runner:
        if self.strict:
            return StrictRunner(self._built(), self.limits, static_reason if self._static else _no_reason)
        return CargoRunner(self._built(), self.limits)

    def _built(self) -> Compiler:
        if self._compiler is None:
            self._compiler = Compiler(find_installation())
        return self._compiler

    def _boxed(self) -> "Box":
        if self._box is None:
            from strop.sandbox import open_box

            read = [*self._built().installation.read, *([str(self._vendor)] if self._vendor else [])]
            self._box = open_box(jail=self._jail, allow_unsafe=self._allow_unsafe, read=read)
        return self._box


def _no_reason(answer: str) -> None:
    """Texts made from an answer whose tests were looked at already."""
    del answer
