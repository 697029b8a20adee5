"""`CargoBackend`: a cargo project's unit and integration tests, built and run offline in a box of the jail.

Each run builds the project from scratch, because the code being built may write to the build output. Test programs run
one by one and report on standard output in libtest's format: a program that prints libtest's own lines and exits with
status 0 forges them. A pass is therefore only cargo's claim (docs/verification.md), weaker than one by *rust* checks.
"""

import json
import random
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from strop_verify.code.rust.items import attributes
from strop_verify.code.trees import parse, text_of, walk
from strop_verify.core.errors import VerificationError
from strop_verify.core.snapshots import Files
from strop_verify.core.verdict import Outcome, TestResult
from strop_verify.sandbox import Box, CommandResult, Limits, Work, open_box
from strop_verify.verification.command.steps import failure
from strop_verify.verification.project.runs import EVERYTHING, ProjectRun, RunRequest, as_bytes, ending
from strop_verify.verification.rust.compiler import COMPILE, Compiler
from strop_verify.verification.rust.diagnostics import steady
from strop_verify.verification.rust.installation import find_installation
from strop_verify.verification.settings import Settings

BUILD = replace(COMPILE, cpu_seconds=120.0, wall_seconds=480.0)
"""Limits of one build of a project with its tests."""
ROOM_CPU, ROOM_WALL = 20.0, 60.0
"""Seconds added to an answer's limits for each run of a test program."""
_LINE = re.compile(
    r"^test (?P<name>\S+)(?: - should panic)? \.\.\. (?P<word>ok|FAILED|ignored.*)$", re.MULTILINE
)
_END = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
_PANIC = re.compile(
    r"^---- (?P<name>\S+) stdout ----\n(?P<text>.*?)(?=^---- |^failures:|\Z)", re.MULTILINE | re.DOTALL
)


class CargoBackend:
    """Implements `backend.Backend` for Rust. Test ids are TARGET::path::name, `bin/TARGET::...` for programs."""

    def __init__(self, base: Files, settings: Settings) -> None:
        self._base, self._settings = base, settings
        self.wall_seconds = BUILD.wall_seconds + settings.limits.wall_seconds + ROOM_WALL
        self._compiler = Compiler(find_installation())
        self._box: Box | None = None

    def run(
        self,
        request: RunRequest = EVERYTHING,
        *,
        files: Mapping[str, str] | None = None,
        removed: Collection[str] = (),
    ) -> ProjectRun:
        """See `Backend.run`. No tracing, no limits per test; `request.order` means two processes per program.

        Raises SandboxError.
        """
        if self._box is None:
            self._box = open_box(jail=self._settings.jail, allow_unsafe=self._settings.allow_unsafe)
        changed = {**self._base, **as_bytes(files or {})}
        tree = {path: data for path, data in changed.items() if path not in removed}
        run, tests = ProjectRun(), request.tests
        wanted = None if tests is None else {test.rpartition("::")[0].partition("::")[0] for test in tests}
        with self._box.work(tree) as work:
            for target, program in self._build(work, run, request.until):
                if wanted is None or target in wanted:
                    for part in _parts(tests, request.order):
                        if run.stop is None:
                            self._program(work, target, program, part, run, request.until)
        return run

    def close(self) -> None:
        """See `Backend.close`."""
        box, self._box = self._box, None
        if box is not None:
            box.close()

    def _build(self, work: Work, run: ProjectRun, until: float) -> list[tuple[str, str]]:
        command = ["test", "--no-run", "--offline", "--lib", "--bins", "--tests", "--message-format=json"]
        result = self._cargo(
            work, [self._compiler.installation.program("cargo"), *command], limits := ending(BUILD, until)
        )
        _account(run, result)
        if bad := failure(result, limits, 0):
            rendered = [m["message"].get("rendered") or "" for m in _messages(result) if "message" in m]
            text = "".join(rendered) or result.stderr.decode(errors="replace")
            failed = bad[0] is Outcome.FAILED
            run.stop, run.uncollected = (bad[0], "it does not build") if failed else bad, text[:2000]
            return []
        found = []
        for message in _messages(result):
            if message.get("executable") and message.get("profile", {}).get("test"):
                target = message["target"]
                name = target["name"].replace("-", "_")
                found.append((f"bin/{name}" if "bin" in target["kind"] else name, message["executable"]))
        return found

    def _program(
        self,
        work: Work,
        target: str,
        program: str,
        tests: Collection[str] | None,
        run: ProjectRun,
        until: float,
    ) -> None:
        mine = None
        if tests is not None:
            mine = [test.removeprefix(f"{target}::") for test in tests if test.startswith(f"{target}::")]
            if not mine:
                return
        bounds = self._settings.limits
        limits = replace(
            BUILD,
            cpu_seconds=max(0.1, bounds.cpu_seconds + ROOM_CPU),
            wall_seconds=bounds.wall_seconds + ROOM_WALL,
            memory_bytes=max(bounds.memory_bytes, 2 << 30),
        )
        chosen, limits = ["--exact", *mine] if mine is not None else [], ending(limits, until)
        result = self._cargo(work, [program, "--color=never", "--test-threads=1", *chosen], limits)
        _account(run, result)
        self._read(target, mine, result, limits, run)

    def _read(
        self, target: str, mine: list[str] | None, result: CommandResult, limits: Limits, run: ProjectRun
    ) -> None:
        """Reads a program's results. No test passes unless each is reported once and counts and status agree."""
        text = result.stdout.decode(errors="replace")
        told = {match["name"]: match["word"] for match in _LINE.finditer(text)}
        ends = _END.findall(text)
        words = list(told.values())
        counts = [sum(w == "ok" for w in words), sum(w == "FAILED" for w in words)]
        whole = len(ends) == 1 and [int(n) for n in ends[0][:2]] == counts
        whole = whole and len(told) == len(_LINE.findall(text))
        whole = whole and result.status == (101 if counts[1] else 0) and not result.expired
        if not whole:
            run.stop = failure(result, limits, 0) or (Outcome.FAILED, "the tests' report is not libtest's")
        panics = {match["name"]: match["text"].strip() for match in _PANIC.finditer(steady(text))}
        for name, word in told.items():
            if mine is not None and name not in mine:
                continue
            passed = word == "ok" and whole
            message = "" if passed else panics.get(name, "") or ("ignored" if word != "ok" else "")
            outcome = Outcome.PASSED if passed else Outcome.FAILED
            test = f"{target}::{name}"
            run.results[test] = TestResult(id=test, outcome=outcome, message=message[:400])

    def _cargo(self, work: Work, argv: list[str], limits: Limits) -> CommandResult:
        environment = {
            **self._compiler.cargo_environment(),
            **self._compiler.environment("project"),
            "CARGO_TARGET_DIR": "target",
            "CARGO_PROFILE_TEST_DEBUG": "0",
            "RUST_BACKTRACE": "0",
            "TZ": "UTC",
        }
        read = [*self._compiler.installation.read]
        return work.run(argv, limits=limits, profile="build", read=read, environment=environment)


def _parts(tests: Collection[str] | None, order: int) -> list[Collection[str] | None]:
    """The tests for each process of a test program: all in one, or two random parts if `order` is set."""
    if tests is None or not order:
        return [tests]
    drawn = random.Random(order)
    names = drawn.sample(sorted(tests), len(tests))
    middle = drawn.randrange(1, len(names)) if len(names) > 1 else 1
    return [names[:middle], names[middle:]]


def tests_within(text: str) -> list[str]:
    """The parts of a source file that only tests see: items with `test` in an attribute, and `cfg!(test)`."""
    found = []
    for node in walk(parse(text)):
        asks = node.type == "macro_invocation" and "".join(text_of(node).split()).startswith("cfg!(")
        marked = node.type != "attribute_item" and any("test" in one for one in attributes(node))
        if asks or marked:
            found.append(text_of(node))
    return found


def _messages(result: CommandResult) -> list[dict[str, Any]]:
    lines = result.stdout.decode(errors="replace").split("\n")
    try:
        return [json.loads(line) for line in lines if line.startswith("{")]
    except ValueError:
        raise VerificationError("cargo printed no JSON") from None


def _account(run: ProjectRun, result: CommandResult) -> None:
    run.cpu_seconds += result.cpu_seconds
    run.peak_bytes = max(run.peak_bytes, result.peak_bytes)
