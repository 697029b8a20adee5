"""Runs trusted tests as separate programs, beside the programs of the answers that they call.

A test program holds the tests of several tasks and no code of an answer. It runs in its own box, so that neither
program sees, signals or traces the other; they share one socket. It is compiled once, and `Testers` keeps it for later
answers. `put_harness` builds harness.rs and its modules, which replace libtest in strict mode.
"""

import secrets
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from strop_verify.core.errors import WorkerDied
from strop_verify.sandbox import Box, CommandResult, Limits, Work
from strop_verify.verification.rust.calls import ValueCalls
from strop_verify.verification.rust.case import RustAnswer
from strop_verify.verification.rust.compiler import COMPILE, Compiler
from strop_verify.verification.rust.diagnostics import HARNESS
from strop_verify.verification.rust.layout import TRUSTED
from strop_verify.verification.rust.literals import SECRET

LIBRARY = "libtest.rlib"
LIST = Limits(cpu_seconds=5, wall_seconds=30, output_bytes=4 << 20, memory_bytes=4 << 30)
"""Limits of a program that lists its tests."""
_built: dict[str, bytes] = {}


def put_harness(work: Work, compiler: Compiler) -> dict[str, str]:
    """Writes the harness, compiled once per process and toolchain; returns its file by crate name."""
    key = compiler.installation.identity
    if key not in _built:
        _built[key] = _build(work, compiler)
    work.put({LIBRARY: _built[key]})
    return {"test": LIBRARY}


def listed_tests(result: CommandResult) -> list[tuple[str, bool]]:
    """(name, whether it is ignored) of each test that a program has listed. Raises WorkerDied."""
    if result.status != 0:
        raise WorkerDied(f"a test program does not start: {result.stderr[-300:].decode(errors='replace')}")
    rows = (line.split("\t") for line in result.stdout.decode().splitlines())
    return [(row[0], row[1] == "ignored") for row in rows]


def _build(work: Work, compiler: Compiler) -> bytes:
    folder = Path(__file__).parent
    work.put({name: (folder / name).read_text().replace("SECRET", SECRET) for name in HARNESS})
    argv = [compiler.installation.program("rustc"), "harness.rs", "--crate-name", "test", "--crate-type", "rlib",
            "--edition=2021", "-C", "prefer-dynamic", "-C", "codegen-units=1", "-o", LIBRARY]  # fmt: skip
    limits = replace(COMPILE, cpu_seconds=30, wall_seconds=120)
    result = work.run(argv, limits=limits, profile="build", read=compiler.installation.read,
                      environment=compiler.environment("test"))  # fmt: skip
    if result.status != 0:
        raise WorkerDied(f"the test harness does not build: {result.stderr[-500:].decode(errors='replace')}")
    return work.read(LIBRARY, limit=32 << 20)


Key = tuple[str, str, str, ValueCalls | None]
_CRATE = "zt_tests"
_MOST_PROGRAMS = 200
_MOST_TOKENS = 1 << 15
"""Maximum bytes of tokens, which must fit into a socket's buffer."""


@dataclass(frozen=True)
class ApartTests:
    """The tests of one task in a program."""

    program: str
    prefix: str
    names: tuple[tuple[str, bool], ...]
    """Names as the program lists them, and whether they are ignored."""


class Testers:
    """Test programs of one toolchain, compiled and run by one thread, which owns their box."""

    def __init__(self, compiler: Compiler, open_box: Callable[[], Box]) -> None:
        self._compiler, self._open_box = compiler, open_box
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rust-tests")
        self._known: dict[Key, ApartTests | None] = {}
        self._box: Box | None = None
        self._stack = ExitStack()
        self._work: Work | None = None
        self._programs = 0

    def make(self, cases: Sequence[RustAnswer]) -> None:
        """Compiles missing programs. A case whose tests do not compile without an answer loses its `calls`.

        Raises SandboxError, WorkerDied.
        """
        if self._programs > _MOST_PROGRAMS:
            self._thread.submit(self._forget).result()
        new = {_key(case): case for case in cases if case.calls and _key(case) not in self._known}
        if new:
            groups: dict[tuple[str, bool], list[RustAnswer]] = {}
            for case in new.values():  # answers' own signatures may not compile: they get other programs
                groups.setdefault((case.check.edition, bool(case.calls and case.calls.own)), []).append(case)
            for group in groups.values():
                self._thread.submit(self._compile, group).result()
        for case in cases:
            if case.calls and self._known.get(_key(case)) is None:
                case.calls = None

    def run(
        self, case: RustAnswer, limits: Limits, answer: Callable[[socket.socket], CommandResult]
    ) -> tuple[ApartTests, list[str], CommandResult, CommandResult]:
        """Runs the tests of a case against `answer`, which runs the answer's program with the socket as its input.

        Returns the tests, their tokens and both results. Raises SandboxError.
        """
        tests = self._known[_key(case)]
        assert tests is not None
        tokens = [secrets.token_hex(16) for _ in tests.names]
        lines = "\n".join(tokens).encode()
        ours, theirs = socket.socketpair()
        theirs.sendall(len(lines).to_bytes(4, "little") + lines)
        argv = [f"./{tests.program}", tests.prefix, "", _CRATE, "calls"]
        with ours, theirs:
            asked = self._thread.submit(self._run, argv, limits, ours)
            try:
                result = answer(theirs)
            finally:
                theirs.close()
                tested = asked.result()
        return tests, tokens, result, tested

    def close(self) -> None:
        """Ends the box. Safe to call twice and from any thread."""
        box, self._box = self._box, None
        if box is not None:
            box.close()
        self._thread.shutdown(wait=False)

    def _opened(self) -> Work:
        if self._work is None:
            self._box = self._box or self._open_box()
            self._work = self._stack.enter_context(self._box.work())
        return self._work

    def _forget(self) -> None:
        self._work = None
        self._stack.close()
        self._known.clear()
        self._programs = 0

    def _run(self, argv: list[str], limits: Limits, stdin: bytes | socket.socket = b"") -> CommandResult:
        installation = self._compiler.installation
        return self._opened().run(
            argv, stdin=stdin, limits=replace(limits, dir_bytes=COMPILE.dir_bytes), read=installation.read,
            environment={"LD_LIBRARY_PATH": installation.libraries},
        )  # fmt: skip

    def _compile(self, cases: list[RustAnswer]) -> None:
        work = self._opened()
        left = {f"zt{number:04d}": case for number, case in enumerate(cases)}
        files = {}
        for module, case in left.items():
            assert case.calls is not None and case.trusted is not None
            files[f"{module}.rs"] = case.calls.proxies(TRUSTED)
            files[f"{module}/{TRUSTED}.rs"] = case.trusted.text
        program = f"t{self._programs}"
        self._programs += 1
        work.put(files)
        externs, alone = put_harness(work, self._compiler), list[RustAnswer]()
        while left:
            work.put({"tests.rs": "".join(f"mod {module};\n" for module in left)})
            compiled = self._compiler.tests(
                work, "tests.rs", _CRATE, cases[0].check.edition, len(left),
                output=program, externs=externs,
            )  # fmt: skip
            count = len(cases)
            for case in cases:
                case.spend(compiled.seconds / count, compiled.cpu_seconds / count, compiled.peak_bytes)
            bad = {
                file.removeprefix("./").partition("/")[0].removesuffix(".rs")
                for file, found in compiled.files.items()
                if found.errors or found.denied
            }
            if compiled.ok:  # a lint denied by default ends cargo's compilation, but not this one
                left = {module: case for module, case in left.items() if module not in bad}
                break
            if compiled.trouble or not bad & left.keys():
                bad = set(left)  # the answers can still be judged the other way
            if len(cases) > 1:
                alone += [case for module, case in left.items() if module in bad]
            left = {module: case for module, case in left.items() if module not in bad}
        rows = listed_tests(self._run([f"./{program}", "--list"], LIST)) if left else []
        self._known |= {_key(case): None for case in cases}
        for module, case in left.items():
            prefix = f"{module}::{TRUSTED}::"
            names = tuple(row for row in rows if row[0].startswith(prefix))
            if names and 33 * len(names) < _MOST_TOKENS:
                self._known[_key(case)] = ApartTests(program, prefix, names)
        for case in alone:  # another task's tests may have caused it
            self._compile([case])


def _key(case: RustAnswer) -> Key:
    return (case.check.edition, case.check.tests, case.task.reference, case.calls)
