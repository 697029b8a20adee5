"""The process that runs an answer: jailed, one answer, then dead. All of it may be taken over by the answer.

Threat model: code of the answer shares this process, so nothing here is trusted once it runs. The process holds the
answer, the arguments of calls and its own end of a channel (descriptor 3); never an expected value, another answer or
another process's descriptor. What it sends is data to be judged, and saying "passed" is not in its vocabulary.

Channel, candidate's side: takes a job, sends {"built"} or {"build": why}, {"loaded"} or {"load": why}, then for each
call {"i", "a"} (with "k" if it has keyword arguments, "f" for a helper's number, "m" to hear of changed arguments)
sends {"i", "v": value} or {"i", "x": [class, text]} or {"i", "u": why unencodable}. Values are fields of bytes.
"""

import builtins
import contextlib
import gc
import os
import socket
import sys
import types
from typing import Any, NoReturn

from strop.verification.python import program, surroundings
from strop.verification.python.codec import Unencodable, encode
from strop.verification.python.decoder import decode
from strop.verification.python.suite.handles import serve
from strop.verification.python.wire import Closed, FrameReader, frame, read_blocking

CHANNEL = 3
"""The only descriptor besides 0, 1 and 2."""
_BUILT, _LOADED = (frame({stage: True}) for stage in ("built", "loaded"))
TEXT = 300
"""Characters of an exception's text that cross."""


def run(kind: str) -> NoReturn:
    """Takes one job from the channel, serves it and ends the process."""
    reader = FrameReader()
    job = read_blocking(CHANNEL, reader)
    gc.enable()
    if kind == "program":
        surroundings.begin(4)
        program.run(job["code"], _describe, _send)
    with contextlib.suppress(Closed):
        if kind == "module":
            serve(job, lambda: read_blocking(CHANNEL, reader), _send, _describe)
        else:
            _serve(job, reader)
    os._exit(0)


def _serve(job: dict[str, Any], reader: FrameReader) -> None:
    code, names = job["code"], [job["entry"], *job.get("helpers", ())]
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    try:
        compiled = compile(code, "<answer>", "exec", dont_inherit=True)
    except BaseException as error:
        return _send({"build": _describe(error)})
    _write(_BUILT)
    try:
        exec(compiled, module.__dict__)
        functions = [_found(module.__dict__, name) for name in names]
        if not callable(functions[0]):
            return _send({"load": ["NameError", f"no function named {names[0]}"]})
    except BaseException as error:
        return _send({"load": _describe(error)})
    _write(_LOADED)
    while True:
        call = read_blocking(CHANNEL, reader)
        _send(_answer(functions[call.get("f", 0)], call))


def _found(names: dict[str, Any], name: str) -> Any:
    """The function of that name, else the method of an instance of the answer's class `Solution`."""
    if name not in names and isinstance(names.get("Solution"), type):
        return getattr(names["Solution"](), name, None)
    return names.get(name)


def _answer(function: Any, call: dict[str, Any]) -> dict[str, Any]:
    try:
        args, kwargs = [decode(a) for a in call["a"]], decode(call["k"]) if "k" in call else {}
        reply = {"i": call["i"], "v": encode(function(*args, **kwargs))}
        if call.get("m") and (after := [encode(a) for a in args]) != call["a"]:
            reply["m"] = after
        return reply
    except Unencodable as error:
        return {"i": call["i"], "u": str(error)}
    except BaseException as error:
        return {"i": call["i"], "x": _describe(error), "l": _line(error)}


def _line(error: BaseException) -> int:
    """The answer's line that raised it; 0 where it is not known."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<answer>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _describe(error: BaseException) -> list[str]:
    """[nearest builtin class, text]; the text names the class when it is the answer's own."""
    names = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
    known = next((n for n in names if isinstance(getattr(builtins, n, None), type)), "Exception")
    try:
        text = str(error)[:TEXT]
    except BaseException:
        text = "(its text could not be made)"
    return [known, text if known == type(error).__name__ else f"{type(error).__name__}: {text}"[:TEXT]]


def _send(message: dict[str, Any]) -> None:
    _write(frame(message))


def _write(data: bytes) -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException:
        pass
    while len(data) > (taken := os.write(CHANNEL, data)):
        data = data[taken:]


_REHEARSALS = 24
"""Runs after which CPython has specialised the code and no longer writes to it."""
_REHEARSAL = """
from typing import Any

def solve(values: list, factor: int = 2) -> Any:
    \'\'\'Text.\'\'\'
    total = 0
    for index, value in enumerate(values):
        if value % 2 == 0 and index >= 0:
            total += value * factor
    return [total, f"{total}", sorted(values), {"a": (1.5, None)}]
"""


def rehearse() -> None:
    """In the zygote, before the first fork: serves harmless jobs, so that candidates find what they need made ready."""
    aside = os.dup(CHANNEL)
    for _ in range(_REHEARSALS):
        near, far = socket.socketpair()
        os.dup2(far.fileno(), CHANNEL)
        far.close()
        job = {"code": _REHEARSAL, "entry": "solve", "helpers": []}
        calls: list[dict[str, Any]] = [
            {"i": i, "a": [encode([1, 2, i]), encode(3)], "m": True} for i in range(4)
        ]
        near.sendall(b"".join(frame(message) for message in (job, *calls)))
        near.shutdown(socket.SHUT_WR)
        with contextlib.suppress(Closed):
            reader = FrameReader()
            _serve(read_blocking(CHANNEL, reader), reader)
        near.close()
    os.dup2(aside, CHANNEL)
    os.close(aside)
    del sys.modules["solution"]
