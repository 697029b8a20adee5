"""What a program finds through the verifier is what it finds as `python3 answer.py < input`, or in Node and C."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests import needs, scale
from tests.verification.program_table import Program, composed, programs

from strop_verify.core.checks import StdioCase, StdioCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.pool.pool import VerifierPool

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp", "TMPDIR": "/tmp"}
FILES = {"python": "answer.py", "javascript": "answer.js", "c": "answer.c"}
SECONDS = {"python": 35, "javascript": 20, "c": 10}
NEEDS = {"python": "", "javascript": "node", "c": "gcc"}
DIFFERENT = {
    "python own-text": "the program is in no file",
    "python thread-pool-of-multiprocessing": "its locks are files in /dev/shm",
    "python pool-of-dummy": "the same",
    "python stack-depth": "frames of the verifier lie below the program's",
    "python frame-above": "the same",
    "python del-on-other-module": "modules of the library are not taken down",
    "python del-on-builtins": "the same",
    "javascript perf": "process.memoryUsage() reads /proc/self/stat, and of /proc only descriptors are open",
}
"""Programs that find something else, by name, and why; docs/formats.md says it to users."""


class Plain:
    """How a program ends without Strop: its status (negative for a signal) and what it printed."""

    def __init__(self, program: Program, folder: Path) -> None:
        folder.mkdir()
        (folder / FILES[program.language]).write_bytes(program.code.encode())
        command = {
            "python": [getattr(sys, "_base_executable", sys.executable), "answer.py"],
            "javascript": ["node", "answer.js"],
            "c": [str(folder / "answer")],
        }[program.language]
        self.status, self.stdout = 1, b""
        if program.language == "c":
            build = ["gcc", "-std=gnu17", "-O2", "-w", "-o", "answer", "answer.c", "-lm"]
            if subprocess.run(build, cwd=folder, capture_output=True, check=False).returncode:
                return
        (folder / "input").write_bytes(program.stdin.encode("utf-8", "surrogateescape"))
        with open(folder / "input", "rb") as stdin:
            done = subprocess.run(
                command,
                cwd=folder,
                env=ENVIRONMENT,
                stdin=stdin,
                capture_output=True,
                check=False,
                timeout=60,
            )
        self.status, self.stdout = done.returncode, done.stdout
        shutil.rmtree(folder)


def task(program: Program, stdout: str) -> Task:
    check = StdioCheck(cases=[StdioCase(stdin=program.stdin, stdout=stdout)])
    return Task(statement=program.name, language=program.language, check=check)


def difference(plain: Plain, verdict: Verdict) -> str:
    """What differs, empty if nothing does."""
    printed = plain.stdout.decode(errors="replace")[: len(verdict.output)]
    if verdict.outcome is Outcome.ERROR or not verdict.output.startswith(printed[:60_000]):
        return f"{verdict.outcome.value} {verdict.detail}: {printed[-300:]!r}, but here {verdict.output[-600:]!r}"
    if verdict.passed is not (plain.status == 0):
        return f"status {plain.status}, but here {verdict.outcome.value} {verdict.detail}: {verdict.output[-300:]!r}"
    said = f"died by {signal.Signals(-plain.status).name}" if plain.status < 0 else f"status {plain.status}"
    numbered = f"died by signal {-plain.status}"
    if plain.status not in (0, 1) and said not in verdict.detail and numbered not in verdict.detail:
        return f"{said}, but here {verdict.detail}"
    return ""


def differences(chosen: Sequence[Program], verifier: VerifierPool, folder: Path) -> dict[str, str]:
    """By name, what differs and is not in DIFFERENT."""
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        plain = list(pool.map(lambda pair: Plain(pair[1], folder / str(pair[0])), enumerate(chosen)))
    expected = [one.stdout.decode(errors="replace") for one in plain]
    jobs = [(task(program, text), program.code) for program, text in zip(chosen, expected, strict=True)]
    verdicts = [future.result() for future in [verifier.submit(*job) for job in jobs]]
    found = {
        f"{program.language} {program.name}": difference(one, verdict)
        for program, one, verdict in zip(chosen, plain, verdicts, strict=True)
    }
    return {name: text for name, text in found.items() if text and name not in DIFFERENT}


@pytest.fixture(scope="module")
def wide() -> Iterator[VerifierPool]:
    """A verifier whose limits no program of the table meets."""
    with open_verifier(workers=2, limits=Limits(cpu_seconds=20, wall_seconds=60)) as opened:
        yield opened


def of(language: str) -> list[Program]:
    needs.need(*filter(None, [NEEDS[language]]))
    return [program for program in programs() if program.language == language]


@pytest.mark.parametrize(("language", "count"), [("python", 26), ("javascript", 8), ("c", 6)])
def test_some_programs(language: str, count: int, wide: VerifierPool, tmp_path: Path) -> None:
    """Drawn by the commit."""
    chosen = random.Random(f"{scale.seed()} {language}").sample(of(language), count)
    assert differences(chosen, wide, tmp_path) == {}


@pytest.mark.parametrize("part", range(12))
def test_composed_programs(part: int, wide: VerifierPool, tmp_path: Path) -> None:
    """300 in a full run."""
    r = random.Random(f"{scale.seed()} composed {part}")
    assert differences([composed(r) for _ in range(25)], wide, tmp_path) == {}


@pytest.mark.parametrize(
    "language", [pytest.param(name, marks=pytest.mark.soak(cost)) for name, cost in SECONDS.items()]
)
def test_every_program(language: str, wide: VerifierPool, tmp_path: Path) -> None:
    assert differences(of(language), wide, tmp_path) == {}


def test_the_table_is_large() -> None:
    count = Counter(program.language for program in programs())
    assert len({(program.language, program.name) for program in programs()}) == len(programs())
    assert count["python"] > 400 and count["javascript"] > 80 and count["c"] > 40
