"""The targets: our own verifier, as training opens it, or another grader, behind one small interface."""

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from strop_verify.attacks.leftovers import GRADED, from_boxes
from strop_verify.attacks.plays import SECONDS, Player, environment_of, told, worse
from strop_verify.core.checks import CommandCheck, ProjectCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Capture, Pump
from strop_verify.sandbox.spawn import spawn
from strop_verify.verification.project.backend import ROOM_WALL
from strop_verify.verification.project.cargo import BUILD
from strop_verify.verification.project.cargo import ROOM_WALL as CARGO_WALL
from strop_verify.verification.rust.compiler import COMPILE

LIMITS = Limits(cpu_seconds=2.0, wall_seconds=5.0)
"""Bounds of one answer: small, so that floods and sleepers end soon."""
_BUILDS = 2
"""Compilations of one Rust answer: one that checks and lints, one of its tests."""
PATIENCE = 30.0
"""Seconds past an answer's deadline to wait for a verdict before the grader counts as hung."""
DEADLINE = 10.0
"""Seconds a foreign grade may take; a child that takes longer is killed, and that is an exploit."""
_START = "from strop_verify.attacks.grader import child; child()"


@dataclass(frozen=True, slots=True)
class Grade:
    """A grader's result on one answer."""

    outcome: str
    """One of strop_verify.core.verdict.Outcome, or "hung" if no verdict came."""
    passed: bool
    detail: str
    text: str
    """Everything that it returned, to find leaks in."""
    seconds: float


class Grader(Protocol):
    """Gives one grade at a time."""

    name: str

    def grade(self, task: Task, answer: str) -> Grade:
        """Grades one answer. Never raises because of what it does."""

    def deadline(self, task: Task) -> float:
        """Seconds within which `grade` must return for this task."""

    def close(self) -> None:
        """Ends every process."""


class StropGrader:
    """A verifier of Strop with one worker. `open_it` makes one; it is called again when a verifier has hung.

    `player` plays scripts; without it, this grader cannot take attacks by plays.
    """

    def __init__(
        self, name: str, open_it: Callable[[], Any], limits: Limits = LIMITS, player: Player | None = None
    ) -> None:
        self.name = name
        self._open, self._player = open_it, player
        self._limits = limits
        self._verifier: Any = None

    def grade(self, task: Task, answer: str) -> Grade:
        """One verdict, awaited until `PATIENCE` seconds past the deadline."""
        if self._verifier is None:
            self._verifier = self._open()
        if environment_of(task) and self._player:
            return self._played(self._player, task, answer)
        began = time.monotonic()
        future = self._verifier.submit(task, answer)
        try:
            verdict = future.result(timeout=self.deadline(task) + PATIENCE)
        except TooLate:
            self.close()
            return Grade("hung", False, "no verdict came", "", time.monotonic() - began)
        seconds, detail = time.monotonic() - began, verdict.detail or _failed_stage(verdict)
        return Grade(verdict.outcome.value, verdict.passed, detail, verdict.model_dump_json(), seconds)

    def _played(self, player: Player, task: Task, script: str) -> Grade:
        """The verdict on plays of a script; `self.name` is also the jail of their folders."""
        began = time.monotonic()
        rollouts = player(task, script, self._verifier, self.name)
        verdict, seconds = worse(rollouts), time.monotonic() - began
        stops = ", ".join(sorted({rollout.stop_reason for rollout in rollouts}))
        text = f"{verdict.model_dump_json()}\n{told(rollouts)}"
        return Grade(verdict.outcome.value, verdict.passed, f"{stops}: {verdict.detail}", text, seconds)

    def deadline(self, task: Task) -> float:
        """Wall time of the answer, plus that of its build if there is one."""
        if environment_of(task):
            return SECONDS
        wall = self._limits.wall_seconds
        if task.check.answer == "crate":
            return wall + _BUILDS * COMPILE.cpu_seconds
        if task.check.effective().maybe(ProjectCheck):
            room = (ROOM_WALL, BUILD.wall_seconds + CARGO_WALL)[task.language == "rust"]
            return wall + room
        if commands := task.check.maybe(CommandCheck):
            return wall * len(commands.steps)
        return wall * (1 if task.language == "python" else 2)

    def close(self) -> None:
        """Ends the verifier's processes."""
        if self._verifier is not None:
            self._verifier.close()
            self._verifier = None


def _failed_stage(verdict: Any) -> str:
    failed = next((stage for stage in verdict.stages if not stage.passed), None)
    return f"{failed.name}: {failed.output[:200]}" if failed else ""


SCORED = frozenset(o.value for o in Outcome if o is not Outcome.ERROR)
"""Outcomes that say something about the answer."""


class Foreign:
    """Another grader: a callable `(task: dict, answer: str) -> float | bool | dict`, as "module:callable".

    Each grade runs in a child process with a deadline, which is killed with all it starts. It runs hostile code with
    the user's rights, so only attacks marked harmless are run on it, and the user must ask twice. A grade is a pass if
    it is True, a number of at least 0.5, or a mapping whose `passed`, `reward` or `score` is. Modules are found as by
    `python -c` in the current folder.
    """

    def __init__(self, target: str, deadline: float = DEADLINE) -> None:
        module, colon, function = target.partition(":")
        if not (module and colon and function):
            raise UserError(f"--grader {target!r} is not of the form module:callable")
        self.name, self._target, self._deadline = target, target, deadline
        probe = self._ask(None, "")
        if "found" not in probe:
            cause = probe.get("error", "its process ended while it was loaded")
            raise UserError(f"--grader {target}: {cause}")

    def deadline(self, task: Task) -> float:
        """The same for every task."""
        return self._deadline

    def close(self) -> None:
        """Does nothing: no state remains between grades."""

    def grade(self, task: Task, answer: str) -> Grade:
        """One grade in a child process. Its death is outcome *error*, no answer in time is "hung"."""
        began = time.monotonic()
        reply = self._ask(task.model_dump(mode="json"), answer)
        seconds = time.monotonic() - began
        text = json.dumps(reply)
        if "grade" in reply:
            passed = _is_pass(reply["grade"])
            return Grade((Outcome.PASSED if passed else Outcome.FAILED).value, passed, "", text, seconds)
        if seconds >= self._deadline:
            return Grade("hung", False, "killed at its deadline", text, seconds)
        cause = reply.get("error", "its process ended without a grade")
        return Grade(Outcome.ERROR.value, False, cause, text, seconds)

    def _ask(self, task: dict[str, Any] | None, answer: str) -> dict[str, Any]:
        ours, theirs = socket.socketpair()
        before = from_boxes()
        process = spawn(
            [sys.executable, "-c", _START, str(theirs.fileno()), self._target, os.getcwd()],
            environment={**os.environ, GRADED: str(os.getpid())},
            keep=(theirs.fileno(),),
        )
        try:
            theirs.close()
            request = json.dumps({"task": task, "answer": answer}).encode() + b"\n"
            reply = Capture(1 << 20)
            pump = Pump(Limits(cpu_seconds=1e6, wall_seconds=self._deadline))
            pump.read(ours.fileno(), reply)
            pump.write(ours.fileno(), request)
            while not reply.ended and b"\n" not in reply.kept and pump.step():
                pass
            line = bytes(reply.kept).partition(b"\n")[0]
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                return found if isinstance(found, dict) else {}
            return {}
        finally:
            ours.close()
            process.kill()
            _kill_new(before)


def _kill_new(before: set[int]) -> None:
    """Kills what the child has started; its orphans are our children, since the bench is a subreaper."""
    for _ in range(5):
        new = from_boxes() - before
        for pid in new:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)
        if not new:
            return


def _is_pass(grade: Any) -> bool:
    if isinstance(grade, dict):
        grade = next((grade[key] for key in ("passed", "reward", "score") if key in grade), False)
    return grade is True or (isinstance(grade, int | float) and grade >= 0.5)


def child() -> NoReturn:
    """The child: loads the callable, grades one answer, writes one line. argv: -, descriptor, target, folder."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    module, _, name = sys.argv[2].partition(":")
    sys.path.insert(0, sys.argv[3])
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)  # nobody reads it: a full pipe would hang the grader
    reply: dict[str, Any]
    try:
        function: Any = importlib.import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
        request = json.loads(channel.makefile("rb").readline())
        if request["task"] is None:
            reply = {"found": callable(function)}
        else:
            reply = {"grade": _plain(function(request["task"], request["answer"]))}
    except BaseException as error:
        reply = {"error": f"{type(error).__name__}: {error}"[:300]}
    with contextlib.suppress(OSError):
        channel.sendall(json.dumps(reply, default=str).encode() + b"\n")
    os._exit(0)


def _plain(grade: Any) -> Any:
    if isinstance(grade, dict):
        return {str(key): _plain(value) for key, value in grade.items()}
    return grade if isinstance(grade, bool | int | float | str) or grade is None else float(grade)
