"""Runs one program of a command toolchain, reads its exit status, keeps its output."""

import re
from dataclasses import replace
from typing import Literal

from strop_verify.core.errors import NotStarted
from strop_verify.core.verdict import Outcome, Stage
from strop_verify.sandbox import CommandResult, Limits, Work
from strop_verify.verification.command.languages import Language
from strop_verify.verification.python.child import Findings

_SHOWN = 4000
"""Maximum characters kept of the output of build and lint."""
_TEMPORARY = re.compile(r"(?<=/cc)\w{6}(?=\.[a-z]+\b)")
"""The random part of the names of gcc's temporary files."""
_ERROR = re.compile(r"\berror\b|[a-z]Error\b|\bundefined\b", re.IGNORECASE)


class Budget:
    """CPU and wall time for all runs of one answer together."""

    def __init__(self, limits: Limits) -> None:
        # standard output is the result here, so it may be 16 times as long as other output
        self.limits = replace(limits, output_bytes=16 * limits.output_bytes)
        self.cpu, self.wall = limits.cpu_seconds, limits.wall_seconds

    def left(self) -> Limits | None:
        """Limits of the next run; None if the time is used up."""
        if self.cpu <= 0 or self.wall <= 0:
            return None
        return replace(self.limits, cpu_seconds=self.cpu, wall_seconds=self.wall)

    def spend(self, result: CommandResult) -> None:
        """Subtracts what a run used."""
        self.cpu -= result.cpu_seconds
        self.wall -= result.seconds


def run(
    work: Work, argv: list[str], stdin: bytes, limits: Limits, profile: str, described: Language | None
) -> CommandResult:
    """Runs one program; one missing from the work directory counts as exit status 127. Raises SandboxError."""
    read = described.read if described else []
    environment = described.environment if described else {}
    kind: Literal["build", "run"] = "build" if profile == "build" else "run"
    try:
        return work.run(argv, stdin=stdin, limits=limits, profile=kind, read=read, environment=environment)
    except NotStarted as error:
        if "/" in argv[0]:  # no build step has created it
            return CommandResult(127, "", b"", str(error).encode(), False, 0.0, 0.0, 0, 0, False)
        raise


def failure(result: CommandResult, limits: Limits, status: int) -> tuple[Outcome, str] | None:
    """Why the run failed, or None. `status`: the expected exit status."""
    if result.expired == "cpu":
        return Outcome.TIMED_OUT, f"used more than {limits.cpu_seconds:g} CPU seconds"
    if result.expired == "wall":
        return Outcome.TIMED_OUT, f"took more than {limits.wall_seconds:g} seconds"
    if result.out_of_memory:
        return Outcome.OUT_OF_MEMORY, "killed by the kernel"
    if result.expired == "output" or result.truncated:
        return Outcome.FAILED, f"printed more than {limits.output_bytes} bytes"
    if result.status == status:
        return None
    if result.status < 0:
        return Outcome.FAILED, f"died by signal {-result.status}"
    return Outcome.FAILED, f"exited with status {result.status}"


def build_failure(result: CommandResult, limits: Limits, status: int = 0) -> tuple[Outcome, str] | None:
    """Like `failure`; if the compiler rejected the answer, gives the first line of its output that has an error."""
    found = failure(result, limits, status)
    if found is None or result.status == status or result.status <= 0 or result.expired or result.truncated:
        return found
    text = (result.stderr + result.stdout).decode(errors="replace")
    lines = [line.strip() for line in text[:_SHOWN].splitlines() if line.strip()]
    said = next((line for line in lines if _ERROR.search(line)), lines[0] if lines else found[1])
    return found[0], f"does not build: {said}"


def account(findings: Findings, result: CommandResult, shown: int = 0) -> None:
    """Adds what a run used, and its output up to `shown` characters in total."""
    findings.cpu += result.cpu_seconds
    findings.peak = max(findings.peak, result.peak_bytes)
    text = (result.stdout + result.stderr).decode(errors="replace")
    room = max(0, shown - len(findings.output))
    findings.output += text[:room]
    findings.truncated = findings.truncated or (shown > 0 and len(text) > room)


def stage(name: str, result: CommandResult, passed: bool | None = None) -> Stage:
    """The stage of a build or lint step; by default passed if the status is 0."""
    text = _TEMPORARY.sub("000000", (result.stderr + result.stdout).decode(errors="replace"))
    return Stage(
        name="build" if name == "build" else "lint",
        passed=result.status == 0 and not result.expired if passed is None else passed,
        seconds=result.seconds,
        output=text[:_SHOWN],
        truncated=len(text) > _SHOWN,
    )


def merged(stages: list[Stage]) -> list[Stage]:
    """Merges stages into one per name, passed if all its steps passed."""
    found: dict[str, Stage] = {}
    for one in stages:
        if (before := found.get(one.name)) is not None:
            one = one.model_copy(
                update={
                    "passed": before.passed and one.passed,
                    "seconds": before.seconds + one.seconds,
                    "output": before.output + one.output,
                    "truncated": before.truncated or one.truncated,
                }
            )
        found[one.name] = one
    return list(found.values())


def data(answer: str) -> bytes:
    """The answer in bytes; lone surrogates stay, as invalid UTF-8."""
    return answer.encode("utf-8", errors="surrogatepass")
