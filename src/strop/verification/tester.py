"""The process that runs a task's own test code, apart from the answer.

Trusted code, yet jailed, because it works on what hostile code returned. The entry point that the tests see is a
proxy: it calls the candidate in its process, and what comes back is plain data. Persistent: one job after another,
with a fresh namespace and a freshly seeded `random` each. Lists, dicts and sets that the candidate changes in place
are changed here too. Values and functions that do not cross (strop.verification.codec) fail the test that needs them.

Job channel, tester's side: takes {"code", "entry", "test", "result_bytes"}; sends {"plan": number of tests} or
{"broken": why}, the candidate's stage frames, {"test": number, "ok", "x", "s"} each, then {"done": fault or null}.
"""

import ast
import builtins
import os
import random
import resource
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from strop.sandbox import confine
from strop.verification.codec import Malformed, Oversize, Unencodable, decode, encode
from strop.verification.wire import Closed, FrameReader, read_blocking, write_blocking
from strop.verification.zygote import PRELOADED, start


class CandidateGone(BaseException):
    """The candidate died or broke the protocol; no later call can succeed."""


class Candidate:
    """The far end of the entry point. `fault` is set for good by the first thing that ends the conversation."""

    def __init__(self, fd: int, limit: int) -> None:
        self.fd = fd
        self.reader = FrameReader(limit)
        self.calls = 0
        self.fault = ""
        self.unencodable = ""
        self.raised: BaseException | None = None

    def read(self) -> dict[str, Any]:
        """The next message; raises CandidateGone with `fault` set."""
        try:
            message = read_blocking(self.fd, self.reader)
            if not isinstance(message, dict):
                raise Malformed("not an object")
            return message
        except Closed:
            self.fault = "gone"
        except Oversize as error:
            self.fault = f"oversize: {error}"
        except Malformed as error:
            self.fault = f"malformed: {error}"
        raise CandidateGone(self.fault)

    def write(self, message: dict[str, Any]) -> None:
        """Sends a message; raises CandidateGone."""
        try:
            write_blocking(self.fd, message)
        except Closed:
            self.fault = "gone"
            raise CandidateGone(self.fault) from None

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the entry point over there; its builtin exceptions are raised here."""
        if self.fault:
            raise CandidateGone(self.fault)
        self.calls += 1
        try:
            mutable = any(isinstance(a, list | dict | set) for a in args)
            call = {"i": self.calls, "a": [encode(a) for a in args], "k": encode(kwargs), "m": mutable}
        except Unencodable as error:
            self.unencodable = f"argument: {error}"
            raise
        self.write(call)
        reply = self.read()
        try:
            return self._result(reply, args)
        except Malformed as error:
            self.fault = f"malformed: {error}"
            raise CandidateGone(self.fault) from None

    def _result(self, reply: dict[str, Any], args: tuple[Any, ...]) -> Any:
        if reply.get("i") != self.calls:
            raise Malformed("an answer to another call")
        if "u" in reply:
            self.unencodable = f"result: {str(reply['u'])[:200]}"
            raise Unencodable(self.unencodable)
        if "x" in reply:
            self.raised = _exception(reply["x"])
            raise self.raised
        if "v" not in reply:
            raise Malformed("neither a value nor an exception")
        if "m" in reply:
            _copy_changes(args, decode(reply["m"]))
        return decode(reply["v"])


def _copy_changes(args: tuple[Any, ...], after: Any) -> None:
    if type(after) is not list or len(after) != len(args):
        raise Malformed("changed arguments of another call")
    for old, new in zip(args, after, strict=True):
        if type(old) is list and type(new) is list:
            old[:] = new
        elif (type(old) is dict and type(new) is dict) or (type(old) is set and type(new) is set):
            old.clear()
            old.update(new)


def _exception(description: Any) -> BaseException:
    if not (
        isinstance(description, list)
        and len(description) == 2
        and all(isinstance(d, str) for d in description)
    ):
        raise Malformed("bad exception")
    name, text = description
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)) or issubclass(kind, Warning):
        return RuntimeError(f"{name}: {text}")  # SystemExit and its like must not end the tests
    try:
        return kind(text)
    except Exception:
        return RuntimeError(f"{name}: {text}")  # the Unicode errors take five arguments


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


def plan(code: str, entry: str) -> list[tuple[ast.stmt, bool]]:
    """Top-level statements and whether each is a test. Raises SyntaxError, or ValueError when none is."""
    body = ast.parse(code).body
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


def run_job(job: dict[str, Any], candidate: Candidate, send: Callable[[dict[str, Any]], None]) -> None:
    """Runs one job from the plan to {"done"}."""
    try:
        statements = plan(job["test"], job["entry"])
        code = [(compile(ast.Module([node], []), "<tests>", "exec"), judges) for node, judges in statements]
    except (SyntaxError, ValueError, RecursionError) as error:
        return send({"broken": f"test code: {type(error).__name__}: {error}"})
    send({"plan": sum(judges for _, judges in code)})
    try:
        candidate_ready = candidate.read()
        if "ready" not in candidate_ready:
            return send({"broken": f"jail: {candidate_ready}"})
    except CandidateGone:
        return send({"broken": "the candidate's process ended before it was ready"})
    try:
        candidate.write({"code": job["code"], "entry": job["entry"]})
        for _ in range(2):
            stage = candidate.read()
            send({"stage": {k: stage[k] for k in ("built", "build", "loaded", "load") if k in stage}})
            if "build" in stage or "load" in stage:
                return send({"done": None})
    except CandidateGone:
        return send({"done": candidate.fault})
    _run_statements(code, job["entry"], candidate, send)


def _run_statements(
    code: list[tuple[Any, bool]], entry: str, candidate: Candidate, send: Callable[[dict[str, Any]], None]
) -> None:
    def proxy(*args: Any, **kwargs: Any) -> Any:
        return candidate.call(*args, **kwargs)

    proxy.__name__ = proxy.__qualname__ = entry
    namespace: dict[str, Any] = {"__name__": "__tests__", entry: proxy}
    random.seed(0)
    number = 0
    for compiled, judges in code:
        began, calls = time.perf_counter(), candidate.calls
        candidate.unencodable, failure = "", ""
        try:
            exec(compiled, namespace)
        except CandidateGone:
            pass
        except BaseException as error:
            failure = _failure(error, candidate)
        if candidate.fault:
            return send({"done": candidate.fault})
        if candidate.unencodable:
            failure = failure or candidate.unencodable
        if judges:
            send({"test": number, "ok": not failure, "x": failure, "s": time.perf_counter() - began})
            number += 1
        elif failure and candidate.calls == calls:
            return send({"broken": f"test code: {failure}"})
        elif failure:
            return send({"done": f"setup: {failure}"})
    send({"done": None})


def _failure(error: BaseException, candidate: Candidate) -> str:
    """What to say of a failed test; the text of an exception of the tests' own could hold an expected value."""
    if isinstance(error, Unencodable):
        return candidate.unencodable or str(error)
    if error is candidate.raised:
        return f"{type(error).__name__}: {error}"[:300]
    return (
        "assertion failed"
        if isinstance(error, AssertionError)
        else f"{type(error).__name__} in the test code"
    )


def main() -> NoReturn:
    """Serves jobs until the parent hangs up. argv as for the zygote, then the memory limit in bytes."""
    unsafe = sys.argv[4] == "1"
    control, missing = start(int(sys.argv[2]), int(sys.argv[3]), unsafe, preload=PRELOADED)
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[5]),) * 2)
    confine.seal(None, tolerant=unsafe)
    control.send(b'{"hello":1}' if not missing else b'{"hello":1,"missing":true}')
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1 << 16, 8)
        if not data:
            os._exit(0)
        channel, peer = fds
        try:
            job = read_blocking(channel, FrameReader())
            run_job(job, Candidate(peer, job["result_bytes"]), partial(write_blocking, channel))
        except Closed:
            pass
        finally:
            os.close(channel)
            os.close(peer)
