"""Builds, lints and tests a list of answers with as few compilations as their errors allow.

1. clippy over one crate with all answers as modules. An answer with an error does not build: it is dropped, and the
   rest is compiled again. Denied lints do not end a compilation (see diagnostics.py).
2. One test program of those that build. An answer whose tests do not compile is dropped, and the rest is compiled
   again. Answers with integration tests are first compiled as a library, as cargo does, then their tests as a second
   crate.
3. One library of the answers that step 2 dropped or that have a lint found only in code generation: do they build?
4. One jailed process per answer for its tests.

Raises `CompilerFailure` when a compiler did not finish; the caller splits the list. Results do not depend on the order
of the answers.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from strop_verify.core.errors import StropError
from strop_verify.sandbox import Work
from strop_verify.verification.rust.case import RustAnswer
from strop_verify.verification.rust.compiler import Compiled, Compiler
from strop_verify.verification.rust.diagnostics import LATE, Diagnostics
from strop_verify.verification.rust.layout import TESTS_CRATE, Alone, Shared
from strop_verify.verification.rust.tests import Runner

REWRITTEN = {"E0277", "E0282", "E0283", "E0284", "E0310", "E0515", "E0521", "E0597", "E0716"}
"""Errors that may come from passing literals through the harness."""
_TYPE = re.compile(r"\b(?:struct|enum|union|trait|type)\s+(\w+)")
_WORD = re.compile(r"\w+")
_MODULE = re.compile(r"z[qt][0-9a-f]{12}")


class CompilerFailure(StropError):
    """A compiler hit a limit or crashed; it is not known which answer caused this."""


class CrateBatch:
    """One list of answers in one work directory."""

    def __init__(
        self,
        cases: Sequence[RustAnswer],
        layout: Shared,
        compiler: Compiler,
        work: Work,
        runner: Runner,
        strict: bool,
    ) -> None:
        self.cases = list(cases)
        self.layout, self.work, self.runner = layout, work, runner
        self.strict = strict
        self.edition = cases[0].check.edition
        self.integration = cases[0].integration
        self.reaching = sum(case.scan.reaching for case in cases)
        self.types = {case.number: frozenset(_TYPE.findall(case.answer)) for case in cases}
        self.careful = isinstance(layout, Alone) and bool(cases[0].scan.alone)
        self.compiler = replace(compiler, exact=True) if self.careful else compiler

    def judge(self) -> None:
        """Fills in build, lint and test of every case. Raises CompilerFailure, SandboxError, WorkerDied, OutOfTime."""
        files = self.layout.files(self.cases)
        self.put = [*files, *self.layout.roots(self.cases), *self.layout.roots(self.cases, tests=True)]
        late = self.layout.late(self.cases)
        self.tests = {name: text for name, text in files.items() if name in late}
        self.work.put({name: text for name, text in files.items() if name not in late})
        building = self._lint()
        testing, unsure = self._build_tests(building)
        testing = [case for case in testing if not case.again]
        if unsure:
            self._build_library([c for c in unsure if c.build is None], final=True)
        for case in self.cases:
            case.build = case.build is not False
            case.lint = case.lint is not False
        if testing:
            emptied = dict.fromkeys(self.put, "")  # the answer must not read tests and other answers
            self.work.put({**emptied, **self.layout.beside(self.cases)})
            self.runner.run(self.work, self.layout, testing, self.integration)

    def _lint(self) -> list[RustAnswer]:
        """Step 1: returns the answers that build as far as clippy can tell."""

        def take(case: RustAnswer, compiled: Compiled, file: str) -> bool:
            found = compiled.files[file]
            case.unsafe = case.unsafe or found.unsafe
            case.say("lint", "".join(found.text), anew=True)
            case.again = case.again or self._names_others(case, found)
            if found.errors:
                self._doubt(case, found)
                case.fail("build", "".join(found.text))
                return False
            rust = [name for name in found.denied if not name.startswith("clippy::") and name not in LATE]
            if found.denied and set(found.denied) - LATE:
                case.lint = False
            if rust:
                case.fail("build", "".join(found.text), anew=True)
            return True

        left = self.cases
        if any(case.scan.broken or case.broken_tests for case in left):
            left = self._rounds(left, self.compiler.check, take)
        left = self._rounds(left, self.compiler.lint, take)
        return [case for case in left if case.build is not False]

    def _build_tests(self, cases: list[RustAnswer]) -> tuple[list[RustAnswer], list[RustAnswer]]:
        """Step 2: returns answers with a test program, and those whose build is still unknown."""
        if self.strict:
            for case in cases:
                if case.calls is None and case.taking_over:
                    case.refused = case.refused or case.taking_over
                if case.unsafe or case.scan.foreign:
                    case.refused = "unsafe code or foreign functions, which strict mode refuses"
        if self.integration or self.careful:
            cases = self._build_library(cases, final=False)
        self.work.put(self.tests)
        refused = [case for case in cases if case.refused]
        for case in refused:
            case.fail("test", case.refused)
        unsure: list[RustAnswer] = [] if self.integration or self.careful else list(refused)

        def take(case: RustAnswer, compiled: Compiled, file: str) -> bool:
            found = compiled.files[file]
            trusted = file.rpartition("/")[2].startswith("zt")
            if self.strict and found.unsafe and not trusted:
                case.unsafe, case.refused = True, "unsafe code, which strict mode refuses"
            if not (found.errors or found.denied or (case.refused and not trusted)):
                return True
            if case.calls is not None and not case.refused:
                case.again, case.calls = True, None  # its values may not be transferable
            if case.rounds is not None and REWRITTEN & set(found.errors):
                case.again, case.rounds = True, None
            self._doubt(case, found)
            if self.integration and {"E0432", "E0433"} & set(found.errors) and not self.careful:
                case.again = True  # the tests may use paths to the crate that do not work in a shared crate
            case.fail("test", case.refused or "".join(found.text), anew=True)
            if case not in unsure and not self.integration and not self.careful:
                unsure.append(case)
            return bool(found.denied and not found.errors and not case.refused)

        def compile_tests(work: Work, root: str, crate: str, edition: str, count: int) -> Compiled:
            externs = self.runner.externs(work)
            if self.integration:
                externs[self.layout.crate] = f"lib{self.layout.crate}.rlib"
                root, crate = self.layout.tests_root, TESTS_CRATE
            return self.compiler.tests(work, root, crate, edition, count, externs=externs)

        testing = self._rounds([c for c in cases if not c.refused], compile_tests, take, tests=True)
        return [case for case in testing if case.test is not False], unsure

    def _build_library(self, cases: list[RustAnswer], *, final: bool) -> list[RustAnswer]:
        """Generates code for a library; returns the answers that build."""

        def take(case: RustAnswer, compiled: Compiled, file: str) -> bool:
            found = compiled.files[file]
            if found.errors or any(not name.startswith("clippy::") for name in found.denied):
                self._doubt(case, found)
                case.fail("build", "".join(found.text))
            return case.build is not False

        lint = {case.number: case.lint for case in cases}
        left = self._rounds(cases, self.compiler.library, take)
        for case in cases:
            case.lint = lint[case.number]  # clippy's result counts: it does not generate code
        for case in left if final else ():
            case.build = True
        return left

    def _doubt(self, case: RustAnswer, found: Diagnostics) -> None:
        """Records that another answer's trait implementations, or rewritten paths, may have caused the error."""
        others = self.reaching - case.scan.reaching
        longer = bool(case.scan.crate_ends) and not isinstance(self.layout, Alone)
        inferred = others > 0 and found.inference
        case.again = case.again or inferred or longer or self._names_others(case, found)

    def _names_others(self, case: RustAnswer, found: Diagnostics) -> bool:
        """Whether the diagnostics may depend on other answers: they mention, count or disambiguate their items."""
        if len(self.cases) == 1:
            return False
        words = set(_WORD.findall("".join(found.text)))
        theirs = frozenset[str]().union(*(types for types in self.types.values())) - self.types[case.number]
        modules = {word[2:] for word in words if _MODULE.fullmatch(word)} - {case.module[2:]}
        return bool(
            words & theirs or modules or "others" in words or {"other", "types", "implement"} <= words
        )

    def _rounds(
        self,
        cases: Sequence[RustAnswer],
        compile_all: Callable[[Work, str, str, str, int], Compiled],
        take: Callable[[RustAnswer, Compiled, str], bool],
        *,
        tests: bool = False,
    ) -> list[RustAnswer]:
        """Compiles until it succeeds; `take` records a file's diagnostics and returns whether its answer stays."""
        left = list(cases)
        while left:
            self.work.put(self.layout.roots(left, tests=tests))
            compiled = compile_all(self.work, self.layout.root, self.layout.crate, self.edition, len(left))
            for case in left:
                share = 1 / len(left)
                case.spend(compiled.seconds * share, compiled.cpu_seconds * share, compiled.peak_bytes)
            if compiled.trouble:
                raise CompilerFailure(compiled.trouble)
            dropped = set()
            for file in compiled.files:
                owner = self.layout.owner(file, left)
                if owner is not None and not take(owner, compiled, file):
                    dropped.add(owner.number)
            left = [case for case in left if case.number not in dropped]
            if compiled.ok or (self.careful and left and compiled.files):
                return left
            if not dropped:
                raise CompilerFailure(f"crashed: {compiled.stderr[-300:]}")
        return left
