"""The process that runs a task's own test code, apart from the answer.

Trusted code, yet jailed, because it works on what hostile code returned. The entry point and the helpers that the tests
see are proxies: they call the candidate in its process, and what comes back is plain data. No other name of the answer
is seen; a helper never hides a builtin or a name that the test code binds. Persistent: one job after another, with a
fresh namespace and a freshly seeded `random` each. Values and functions that do not cross (verification.python.codec)
fail the test that needs them. A job with "checker" goes to `strop.verification.python.checking`.

Job channel, tester's side: takes {"code", "entry", "helpers", "test", "changes", "result_bytes"}; sends {"plan": number
of tests} or {"broken": why} (with "alone" where no answer had been called yet), the candidate's stage frames, {"test":
number, "ok", "x", "s"} each, then {"done": why or null, "changed"}.
"""

import ast
import builtins
import contextlib
import gc
import json
import os
import random
import resource
import socket
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

from strop.sandbox import confine
from strop.verification.python.candidate_client import (
    Candidate,
    CandidateGone,
    at_line,
    failure_of_tests,
    proxy,
)
from strop.verification.python.checking import run_rows
from strop.verification.python.codec import Unencodable
from strop.verification.python.fork_server import start
from strop.verification.python.names import bound_names
from strop.verification.python.wire import Closed, FrameReader, frame, read_blocking, write_all


def is_test(node: ast.stmt, entry: str, checkers: set[str]) -> bool:
    """Whether a top-level statement judges: it holds an assert, or calls a checker or something with `entry`."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    if any(isinstance(inner, ast.Assert) for inner in ast.walk(node)):
        return True
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return bool(names & (checkers | {entry}))


def plan(body: list[ast.stmt], entry: str) -> list[tuple[ast.stmt, bool]]:
    """Top-level statements and whether each is a test. Raises ValueError when none is."""
    checkers = {
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(inner, ast.Assert) for inner in ast.walk(node))
    }
    statements = [(node, is_test(node, entry, checkers)) for node in body]
    if not any(judges for _, judges in statements):
        raise ValueError("no statement of the test code is a test")
    return statements


def visible(entry: str, helpers: tuple[str, ...], body: list[ast.stmt]) -> list[str]:
    """The answer's names that the test code sees, entry point first. Raises ValueError for a helper's bad name."""
    bound = bound_names(body) if helpers else set()
    for name in helpers:
        if not name.isidentifier() or name.startswith("__") or hasattr(builtins, name):
            raise ValueError(f"helper {name!r} is no name, or a builtin's; rename it or leave it out")
    return [entry, *(name for name in dict.fromkeys(helpers) if name != entry and name not in bound)]


@lru_cache(maxsize=256)
def prepare(code: str, entry: str, helpers: tuple[str, ...]) -> tuple[list[tuple[Any, bool]], list[str]]:
    """Compiled statements, each with whether it is a test, and the names of the answer that they see.

    Kept for the next answers to the same task. Raises SyntaxError, ValueError.
    """
    body = ast.parse(code).body
    statements = plan(body, entry)
    names = visible(entry, helpers, body)
    return [
        (compile(ast.Module([node], []), "<tests>", "exec"), judges) for node, judges in statements
    ], names


def run_job(job: dict[str, Any], candidate: Candidate, send: Callable[[dict[str, Any]], None]) -> None:
    """Runs one job from the plan to {"done"}."""
    try:
        code, names = prepare(job["test"], job["entry"], tuple(job["helpers"]))
    except (SyntaxError, ValueError, RecursionError) as error:
        return send({"broken": f"test code: {type(error).__name__}: {error}", "alone": True})
    send({"plan": sum(judges for _, judges in code)})
    candidate.takes_changes = job["changes"]
    if candidate.begin({"code": job["code"], "entry": names[0], "helpers": names[1:]}, send):
        _run_statements(code, names, candidate, send)


def _run_statements(
    code: list[tuple[Any, bool]],
    names: list[str],
    candidate: Candidate,
    send: Callable[[dict[str, Any]], None],
) -> None:
    namespace: dict[str, Any] = {name: proxy(candidate, n, name) for n, name in enumerate(names)}
    namespace["__name__"] = "__tests__"
    random.seed(0)
    number, flushed = 0, time.perf_counter()
    for compiled, judges in code:
        began, calls = time.perf_counter(), candidate.calls
        if began - flushed > _HELD_BACK:
            candidate.idle()
            flushed = began
        candidate.unencodable, candidate.returned, failure = "", [], ""
        try:
            exec(compiled, namespace)
        except CandidateGone:
            pass
        except BaseException as error:
            failure = _failure(error, candidate)
        if candidate.gone:
            return send({"done": candidate.gone})
        if candidate.unencodable:
            failure = failure or candidate.unencodable
        if judges:
            send({"test": number, "ok": not failure, "x": failure, "s": time.perf_counter() - began})
            number += 1
        elif failure and candidate.calls == calls:
            return send({"broken": f"test code: {failure}", "alone": calls == 0})
        elif failure:
            return send({"done": f"setup: {failure}"})
    send({"done": None, "changed": candidate.changed})


def _failure(error: BaseException, candidate: Candidate) -> str:
    """The detail of a failed test; the text of the tests' own exceptions could hold an expected value."""
    if isinstance(error, Unencodable):
        return candidate.unencodable or str(error)
    if error is candidate.raised:
        return at_line(f"{type(error).__name__}: {error}"[:280], candidate.line)
    failure = failure_of_tests(error)
    if isinstance(error, AssertionError) and candidate.returned:
        with contextlib.suppress(
            ValueError, RecursionError
        ):  # an integer of too many digits, a very deep list
            return f"{failure}: the last call returned {candidate.returned[0]!r}"[:300]
    return failure


_HELD_BACK = 0.02
"""Seconds for which results may wait for others, so that the parent is not woken for each."""


class Sender:
    """Keeps frames back until there is time to send them, so that the parent is not woken for each."""

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
    confine.seal(None, tolerant=settings.unsafe)
    gc.collect()
    gc.freeze()
    control.send(json.dumps(hello).encode())
    held: list[int] = []
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1 << 16, 8)
        if not data:
            os._exit(0)
        for (
            fd
        ) in held:  # not before: a candidate that hears the end of its channel wakes up, and is to be killed
            os.close(fd)
        held = fds
        with contextlib.suppress(Closed):
            _serve(fds)
        gc.collect()  # functions of test code hold its names, and results among them: nothing is left to the next job


def _serve(fds: list[int]) -> None:
    channel = fds[0]
    job, send = read_blocking(channel, FrameReader()), Sender(channel)
    if "checker" in job:
        run_rows(job, send, send.flush)
    else:
        run_job(job, Candidate(fds[1], job["result_bytes"], send.flush), send)
    send.flush()
