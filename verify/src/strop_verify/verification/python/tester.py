"""The process that runs a task's own test code, separate from the answer.

Trusted code, but jailed, because it works on what hostile code returned. The entry point and the helpers that the tests
see are proxies: they call the candidate in its process, and plain data comes back. The tests see no other name of the
answer; a helper never hides a builtin or a name that the test code binds. Each job runs in its own fork, so that
nothing that test code changes reaches the next one. Values and functions that do not cross (verification.python.codec)
fail the test that needs them. A job with "checker" goes to `strop_verify.verification.python.checking`.

Job channel, tester's side: takes {"code", "entry", "helpers", "test", "changes", "near", "result_bytes"}; sends {"pid":
of the fork}, {"plan": number of tests} or {"broken": why} (with "alone" if the answer had not been called yet), the
candidate's stage frames, {"test": number, "ok", "x", "s"} each, then {"done": why or null, "changed", "uncrossed"}.
"""

import __future__

import ast
import builtins
import contextlib
import gc
import json
import os
import random
import resource
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any, NoReturn

from strop_verify.core.syntax import syntax_tree
from strop_verify.core.test_code import names_bound, tests_among
from strop_verify.sandbox.confine import ChildConfinement
from strop_verify.verification.python.candidate_client import (
    Candidate,
    CandidateGone,
    at_line,
    failure_of_tests,
    proxy,
)
from strop_verify.verification.python.checking import run_rows
from strop_verify.verification.python.codec import Unencodable
from strop_verify.verification.python.fork_server import fill_holes, start
from strop_verify.verification.python.names import bound_names
from strop_verify.verification.python.wire import Closed, FrameReader, frame, read_blocking, write_all

_TESTS = "<tests>"
_HELD_BACK = 0.02
"""Seconds that results may be held back, so that the parent is not woken for each."""


def visible(entry: str, helpers: tuple[str, ...], body: list[ast.stmt]) -> list[str]:
    """The answer's names that the test code sees, entry point first. Raises ValueError for a bad helper name."""
    bound = bound_names(body) if helpers else set()
    for name in helpers:
        if not name.isidentifier() or name.startswith("__") or hasattr(builtins, name):
            raise ValueError(f"helper {name!r} is not a name or hides a builtin; rename it or leave it out")
    return [entry, *(name for name in dict.fromkeys(helpers) if name != entry and name not in bound)]


@dataclass(frozen=True)
class TestCode:
    """The tests of a task, compiled."""

    statements: list[tuple[CodeType, bool]]
    """The top-level statements, each with whether it is a test."""
    names: list[str]
    """The answer's names that the tests see, entry point first."""
    bound: frozenset[str] | None
    """Every name that the tests bind anywhere; None if that is unknown."""


@lru_cache(maxsize=256)
def prepare(code: str, entry: str, helpers: tuple[str, ...]) -> TestCode:
    """Compiles a task's tests; cached for its next answers. Raises SyntaxError, ValueError."""
    tree = syntax_tree(code)
    flags = compile(code, _TESTS, "exec", dont_inherit=True).co_flags & __future__.annotations.compiler_flag
    judging = tests_among(tree.body, [entry])
    compiled = [compile(ast.Module([n], []), _TESTS, "exec", flags, dont_inherit=True) for n in tree.body]
    names = visible(entry, helpers, tree.body)
    return TestCode(list(zip(compiled, judging, strict=True)), names, names_bound(tree))


def run_job(job: dict[str, Any], candidate: Candidate, send: Callable[[dict[str, Any]], None]) -> None:
    """Runs one job from the plan to {"done"}."""
    try:
        tests = prepare(job["test"], job["entry"], tuple(job["helpers"]))
    except (SyntaxError, ValueError, RecursionError) as error:
        return send({"broken": f"test code: {type(error).__name__}: {error}", "alone": True})
    send({"plan": sum(judges for _, judges in tests.statements)})
    candidate.takes_changes = job["changes"]
    asked = {"code": job["code"], "entry": tests.names[0], "helpers": tests.names[1:], "near": job["near"]}
    if not candidate.begin(asked, send):
        return
    ours = sys.modules["__main__"], sys.argv, sys.stdout, sys.stderr
    try:
        with open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False) as nowhere:
            sys.argv, sys.stdout, sys.stderr = ["tests.py"], nowhere, nowhere
            send(_Program(tests, candidate, send).whole())
    finally:
        sys.modules["__main__"], sys.argv, sys.stdout, sys.stderr = ours


class _Program:
    """Runs the statements one after another like a program, whichever tests fail."""

    def __init__(self, tests: TestCode, candidate: Candidate, send: Callable[[dict[str, Any]], None]) -> None:
        self.tests, self.candidate, self.send = tests, candidate, send
        self.flushed, self.left = time.perf_counter(), False
        module = sys.modules["__main__"] = ModuleType("__main__")
        functions = {name: proxy(candidate, number, name) for number, name in enumerate(tests.names)}
        methods = {name: staticmethod(function) for name, function in functions.items()}
        self.namespace = vars(module)
        self.namespace |= {"Solution": type("Solution", (), methods), **functions}
        random.seed(0)

    def whole(self) -> dict[str, Any]:
        """Runs them and sends each test's result; returns the last frame."""
        candidate, number, uncrossed = self.candidate, 0, False
        for compiled, judges in self.tests.statements:
            began = time.perf_counter()
            failure, broken = ("", False) if self.left else self._statement(compiled, began)
            uncrossed |= bool(candidate.unencodable)
            if candidate.gone:
                return {"done": candidate.gone}
            if broken or (failure and not judges and not candidate.calls):
                return {"broken": f"test code: {failure}", "alone": not candidate.calls}
            if judges:
                seconds = time.perf_counter() - began
                self.send({"test": number, "ok": not failure, "x": failure, "s": seconds})
                number += 1
            elif failure:
                return {"done": f"setup: {failure}", "uncrossed": uncrossed}
        return {"done": None, "changed": candidate.changed, "uncrossed": uncrossed}

    def _statement(self, compiled: CodeType, now: float) -> tuple[str, bool]:
        """Why it failed, and whether the test code itself is at fault, whatever the answer."""
        candidate = self.candidate
        if now - self.flushed > _HELD_BACK:
            candidate.idle()
            self.flushed = now
        calls, candidate.unencodable, candidate.returned = candidate.calls, "", []
        try:
            exec(compiled, self.namespace)
        except CandidateGone:
            pass
        except SystemExit as error:
            self.left = type(error) is SystemExit and not error.code
            return ("" if self.left else _failure(error, candidate)), False
        except BaseException as error:
            at_fault = isinstance(error, ImportError) and candidate.calls == calls
            return _failure(error, candidate), at_fault or self._is_of_no_name(error)
        return candidate.unencodable, False

    def _is_of_no_name(self, error: BaseException) -> bool:
        """Whether the test code asks for a name that nothing binds."""
        if type(error) is not NameError or self.tests.bound is None:
            return False
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        return frames[-1].f_code.co_filename == _TESTS and error.name not in self.tests.bound


def _failure(error: BaseException, candidate: Candidate) -> str:
    """The detail of a failed test, without the text of the tests' own errors, which could hold an expected value."""
    if isinstance(error, Unencodable):
        return candidate.unencodable or str(error)
    if error is candidate.raised:
        return at_line(f"{type(error).__name__}: {error}"[:280], candidate.line)
    failure = failure_of_tests(error)
    if isinstance(error, AssertionError) and candidate.returned:
        with contextlib.suppress(ValueError, RecursionError):  # too many digits, too deep a list
            return f"{failure}: the last call returned {candidate.returned[0]!r}"[:300]
    return failure


class Sender:
    """Buffers frames until they are flushed, so that the parent is not woken for each."""

    def __init__(self, fd: int) -> None:
        self.fd, self.waiting = fd, b""

    def __call__(self, message: dict[str, Any]) -> None:
        """Sends a message with the next flush."""
        self.waiting += frame(message)

    def flush(self) -> None:
        """Sends what is buffered. Raises Closed when the other end is gone."""
        data, self.waiting = self.waiting, b""
        write_all(self.fd, data)


def main() -> NoReturn:
    """Serves jobs until the parent hangs up. argv as for the zygote, then the memory limit in bytes."""
    control, settings, hello = start()
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[5]),) * 2)
    gc.disable()
    gc.collect()
    fill_holes()
    gc.freeze()
    confined = ChildConfinement(None, {}, tolerant=settings.unsafe)
    control.send(json.dumps(hello).encode())
    held: list[int] = []
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1 << 16, 8)
        if not data:
            os._exit(0)
        for fd in held:  # not earlier: it would wake up a candidate that is about to be killed
            os.close(fd)
        held = fds
        with contextlib.suppress(Closed):
            _serve(fds, confined, control)


def _serve(fds: list[int], confined: ChildConfinement, control: socket.socket) -> None:
    job = read_blocking(fds[0], FrameReader())
    if "checker" not in job:
        with contextlib.suppress(Exception):  # the fork reports it
            prepare(job["test"], job["entry"], tuple(job["helpers"]))
    if child := os.fork():
        _await(child, control)
        return
    try:
        confined()
        _run(job, fds)
    except Closed:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _await(child: int, control: socket.socket) -> None:
    """Reaps a fork. If the trainer's side hangs up meanwhile, ends both."""
    waiting = select.poll()
    waiting.register(ended := os.pidfd_open(child), select.POLLIN)
    waiting.register(control, select.POLLIN)
    waiting.poll()
    os.close(ended)
    try:
        hung_up = not control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        hung_up = False
    if hung_up:  # else the fork has ended, or is about to: the next job has come
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if hung_up:
        os._exit(0)


def _run(job: dict[str, Any], fds: list[int]) -> None:
    send = Sender(fds[0])
    send({"pid": os.getpid()})
    send.flush()
    if "checker" in job:
        run_rows(job, send, send.flush)
    else:
        run_job(job, Candidate(fds[1], job["result_bytes"], send.flush), send)
    send.flush()
