"""Runs the tests of built answers, one jailed process each, and reads their reports.

`StrictRunner` links the harness of harness.rs instead of libtest: each test of an answer has a secret token, sent on
standard input, which is returned when the test has passed. Tests that compare objects of the answer run again with
altered literals (second_look.py). Tests with `calls` have their own process beside the answer's (test_programs.py). A
task whose tests use files or processes runs in the build profile, all others in the run profile. `CargoRunner` runs
libtest and trusts its exit status, as cargo does; such a verdict can be forged.
"""

import re
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from strop_verify.core.errors import WorkerDied
from strop_verify.core.verdict import Outcome, TestResult
from strop_verify.sandbox import CommandResult, Limits, Work
from strop_verify.verification.controls import ENDLESS, SECOND_LOOK_LIMITS
from strop_verify.verification.rust.calls import SERVER
from strop_verify.verification.rust.case import RustAnswer
from strop_verify.verification.rust.compiler import Compiler
from strop_verify.verification.rust.crates import NONE, CompiledCrates, count_constructors
from strop_verify.verification.rust.layout import Shared
from strop_verify.verification.rust.second_look import (
    NOT_AGAIN,
    UNSEEN,
    LiteralControls,
    RanTest,
    read_report,
    sensitive,
)
from strop_verify.verification.rust.test_programs import LIST, Testers, listed_tests, put_harness
from strop_verify.verification.secret_rng import drawn

PROGRAM = "./t"
_LIBTEST_LINE = re.compile(rb"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", re.M)
_TOKENS = 32
_LEAST = 0.1
"""Wall seconds for a run that has none left."""


class CargoRunner:
    """Runs libtest and trusts its exit status."""

    def __init__(self, compiler: Compiler, limits: Limits) -> None:
        self.compiler, self.limits = compiler, limits

    def externs(self, work: Work) -> dict[str, str]:
        """Empty: libtest comes with the toolchain."""
        return {}

    def run(self, work: Work, layout: Shared, cases: Sequence[RustAnswer], integration: bool) -> None:
        """Runs one process per case. Raises SandboxError, OutOfTime."""
        for case in cases:
            prefix = layout.prefix(case)
            argv = [PROGRAM, prefix, "--test-threads=1"]
            result = _run(work, argv, self.compiler.within(self.limits), self.compiler)
            _note(case, result)
            case.test = result.status == 0 and not result.expired
            case.output = (result.stdout + result.stderr).decode(errors="replace").replace(prefix, "")
            case.say("test", case.output)
            names = {"ok": Outcome.PASSED, "FAILED": Outcome.FAILED}
            for name, word in _LIBTEST_LINE.findall(result.stdout):
                if word != b"ignored":
                    name = name.decode(errors="replace").removeprefix(prefix)
                    case.tests.append(TestResult(id=name, outcome=names[word.decode()]))


class StrictRunner:
    """Runs our harness and believes only its tokens."""

    def __init__(
        self,
        compiler: Compiler,
        limits: Limits,
        *,
        static: bool = True,
        offered: CompiledCrates = NONE,
        testers: Testers | None = None,
    ) -> None:
        self.compiler, self._limits = compiler, limits
        self.static = static
        """Whether the text of an answer's own tests also decides."""
        self.offered = offered
        """Third-party crates linked with the program."""
        self.testers = testers
        """Runs the tests of cases with `calls`."""

    @property
    def limits(self) -> Limits:
        """Limits of a run that starts now. Raises OutOfTime."""
        return self.compiler.within(self._limits)

    def externs(self, work: Work) -> dict[str, str]:
        """The harness's file by crate name."""
        return put_harness(work, self.compiler)

    def run(self, work: Work, layout: Shared, cases: Sequence[RustAnswer], integration: bool) -> None:
        """Runs one process per case. Raises OutOfTime; WorkerDied if the program cannot even list its tests."""
        if self.offered.names and self._starts_early(work):
            for case in cases:
                case.refused = "code that runs before main"
                case.fail("test", case.refused)
            return
        rows = listed_tests(_run(work, [PROGRAM, "--list"], LIST, self.compiler))
        for case in cases:
            prefix = layout.prefix(case)
            names = [row for row in rows if row[0].startswith(prefix)]
            if case.calls is None:
                ran = self._run_case(work, layout, case, names)
                passed = {name for name, one in ran.items() if one.passed}
                self._conclude(case, names, passed, layout.trusted_prefix(case), prefix)
                if case.test and case.rounds is not None:
                    self._look_again(work, layout, case, names, ran)
            else:
                self._run_apart(work, layout, case, names)

    def _starts_early(self, work: Work) -> bool:
        """Whether macros of crates added functions that run before the harness has read its input."""
        try:
            return count_constructors(work.read(PROGRAM, limit=256 << 20)) > self.offered.constructors
        except (OSError, ValueError) as error:
            raise WorkerDied(f"the test program cannot be read: {error}") from error

    def _run_case(
        self, work: Work, layout: Shared, case: RustAnswer, names: list[tuple[str, bool]]
    ) -> dict[str, RanTest]:
        """Runs tests in the answer's program."""
        result, ran = self._process(work, layout, case, {name: (0, 0) for name, _ in names})
        _note(case, result)
        case.output = result.stderr.decode(errors="replace").replace(layout.prefix(case), "")
        return ran

    def _process(
        self, work: Work, layout: Shared, case: RustAnswer, tests: dict[str, tuple[int, int] | None]
    ) -> tuple[CommandResult, dict[str, RanTest]]:
        """Runs the tests that have an alteration; see `second_look.Run`."""
        tokens = {name: secrets.token_hex(_TOKENS // 2) for name in tests}
        lines = [
            "" if alter is None else f"{tokens[name]} {alter[0]} {alter[1]}" for name, alter in tests.items()
        ]
        allowed = case.trusted.allowed if case.trusted else frozenset()
        denied = {*case.scan.own_equality, *case.doubtful} - allowed
        known = {layout.trusted_path(case), *self.offered.names} - {"", layout.crate}
        catches = case.trusted is None or case.trusted.catches
        argv = [PROGRAM, layout.prefix(case), ",".join(sorted(denied)), ",".join(sorted(known))]
        argv.append("catches" if catches else "")
        result = _run(work, argv, self.limits, self.compiler, "\n".join(lines).encode(), case.worldly)
        return result, read_report(result.stdout, tokens)

    def _look_again(
        self,
        work: Work,
        layout: Shared,
        case: RustAnswer,
        names: list[tuple[str, bool]],
        usual: dict[str, RanTest],
    ) -> None:
        """Runs tests with altered literals: on a reference to find `rounds`, on an answer to check them.

        Each run has the full limits of the tests.
        """
        cut: list[bool] = []

        def run(altered: Mapping[str, tuple[int, int]]) -> dict[str, RanTest]:
            if case.learning and sum(cut) >= ENDLESS:
                return {}
            asked = {name: altered.get(name) for name, _ in names}
            result, ran = self._process(work, layout, case, asked)
            case.spend(result.seconds, result.cpu_seconds, result.peak_bytes)
            cut.append(bool(result.expired))
            return {name: ran[name] for name in altered if name in ran}

        prefix = layout.prefix(case)
        if case.learning:
            rng = drawn(case.task.id, "", "altered literals")
            found = sensitive(usual, run, rng, self._limits.wall_seconds)
            case.rounds = {name.removeprefix(prefix): altered for name, altered in found.items()}
        elif case.rounds:
            rounds = {
                prefix + name: altered for name, altered in case.rounds.items() if prefix + name in usual
            }
            rng, until = drawn(case.task.id, case.answer, "second look"), time.monotonic()
            until += SECOND_LOOK_LIMITS * self._limits.wall_seconds
            if fault := LiteralControls(run, rounds, rng, until).confirm(usual):
                case.refused = UNSEEN if fault == NOT_AGAIN and any(cut) else fault
                case.fail("test", case.refused)

    def _run_apart(self, work: Work, layout: Shared, case: RustAnswer, names: list[tuple[str, bool]]) -> None:
        """Runs two processes: the tests, which alone report, and the answer, which serves their calls.

        The answer's own tests run before, in a separate process; they can only fail it.
        """
        assert self.testers is not None
        server = layout.trusted_prefix(case) + SERVER
        own = [row for row in names if row[0] != server]
        began = time.monotonic()
        ran = self._run_case(work, layout, case, names) if own else {}
        passed_own = {name for name, one in ran.items() if one.passed}
        said_own = case.output
        argv = [PROGRAM, "--serve", server]
        left = self.limits.wall_seconds - (time.monotonic() - began if own else 0)
        limits = replace(self.limits, wall_seconds=max(_LEAST, left))

        def answer(channel: socket.socket) -> CommandResult:
            return _run(work, argv, limits, self.compiler, channel)

        tests, tokens, served, tested = self.testers.run(case, limits, answer)
        before = case.outcome
        _note(case, tested)
        _note(case, served)
        case.outcome = before or case.outcome
        case.seconds -= min(served.seconds, tested.seconds)  # they ran side by side
        if case.outcome is None and served.cpu_seconds + tested.cpu_seconds > self.limits.cpu_seconds:
            case.outcome, case.detail = Outcome.TIMED_OUT, "the tests exceeded the cpu limit"
        printed = (served.stdout + served.stderr).decode(errors="replace").replace(layout.prefix(case), "")
        case.output = said_own + printed + tested.stderr.decode(errors="replace").replace(tests.prefix, "")
        back = set(tested.stdout.decode(errors="replace").split())
        passed = {name for (name, _), token in zip(tests.names, tokens, strict=True) if token in back}
        self._conclude(case, [*tests.names, *own], passed | passed_own, tests.prefix, layout.prefix(case))

    def _conclude(
        self, case: RustAnswer, names: list[tuple[str, bool]], passed: set[str], prefix: str, own: str
    ) -> None:
        ran = [name for name, ignored in names if not ignored]
        case.say("test", case.output)
        stop = case.outcome or Outcome.FAILED
        case.tests = [
            TestResult(
                id=name.removeprefix(prefix).removeprefix(own),
                outcome=Outcome.PASSED if name in passed else stop,
                message="" if name in passed else "did not pass",
            )
            for name in ran
        ]
        reason = self._fault(case, names, prefix)
        case.test = bool(ran) and passed >= set(ran) and not reason and case.outcome is None
        if not case.test and case.outcome is None:
            missing = [t.id for t in case.tests if t.outcome is not Outcome.PASSED]
            first = missing[0] if missing else ""
            case.detail = reason or f"{len(missing)} of {len(ran)} tests did not pass: {first}"

    def _fault(self, case: RustAnswer, names: list[tuple[str, bool]], prefix: str) -> str:
        """Why these tests do not count; empty if they do."""
        from strop_verify.verification.strength import own_tests_hold

        if case.trusted is not None:
            there = {name.removeprefix(prefix) for name, _ in names if name.startswith(prefix)}
            missing = sorted(case.trusted.names - there)
            if missing:
                return f"the answer removes the test {missing[0]}"
            if not there:
                return "the task has no test, or the answer removes them all"
            return ""
        if any(ignored for _, ignored in names):
            return "a test of the answer is marked #[ignore]"
        if not names:
            return "the answer has no test"
        return (own_tests_hold(case.answer) or "") if self.static else ""


Runner = CargoRunner | StrictRunner
"""How test programs are linked and run."""


def _run(
    work: Work,
    argv: list[str],
    limits: Limits,
    compiler: Compiler,
    stdin: bytes | socket.socket = b"",
    worldly: bool = False,
) -> CommandResult:
    libraries = compiler.installation.libraries
    return work.run(
        argv, stdin=stdin, limits=limits, profile="build" if worldly else "run", read=compiler.installation.read,
        environment={"LD_LIBRARY_PATH": libraries},
    )  # fmt: skip


def _note(case: RustAnswer, result: CommandResult) -> None:
    case.spend(result.seconds, result.cpu_seconds, result.peak_bytes)
    if result.expired in ("cpu", "wall"):
        case.outcome, case.detail = Outcome.TIMED_OUT, f"the tests exceeded the {result.expired} limit"
    elif result.expired == "output":
        case.outcome, case.detail = Outcome.FAILED, "the tests printed too much"
    elif result.status < 0 and b"memory allocation of" in result.stderr[-4000:]:
        case.outcome, case.detail = Outcome.OUT_OF_MEMORY, "the tests exceeded the memory limit"
    elif result.status < 0:
        case.detail = f"the tests were killed by signal {-result.status}"
