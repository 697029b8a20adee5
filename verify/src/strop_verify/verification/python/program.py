"""Runs an answer as `python3 answer.py` would, from its first statement to its last output.

The process is the candidate's: whatever runs here, even after the program's end, can only change its own output and
status. The end follows CPython's `Py_RunMain` and `Py_FinalizeEx` as far as a program can observe; the rest, which
would take longer than most programs, is left out.
"""

import atexit
import builtins
import contextlib
import ctypes
import gc
import io
import os
import signal
import sys
import types
import weakref
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from typing import Any, NoReturn

Describe = Callable[[BaseException], list[str]]
Send = Callable[[dict[str, Any]], None]
_INTERRUPTED = -1
"""In place of a status: the program ends by SIGINT."""
_FLUSH_FAILED = 120
_FORGOTTEN = (
    "path", "argv", "last_type", "last_value", "last_traceback", "last_exc", "meta_path", "path_hooks",
)  # fmt: skip
_STREAMS = ("stdin", "stdout", "stderr")
_flush_c = ctypes.PyDLL(None).fflush
"""With None, flushes all streams of C: a program can write to them with `ctypes`."""


class _ProgramLoader(SourceFileLoader):
    """Serves the program's text, which is in no file."""

    text = ""

    def get_data(self, path: str) -> bytes:
        """The program's text, or a file's content."""
        return self.text.encode() if path == self.path else super().get_data(path)


def run(code: str, describe: Describe, send: Send) -> NoReturn:
    """Runs the program and exits as it does: with 0, its own status, 1 after an uncaught exception, or by a signal.

    Sends {"built"} or {"build": why}, and {"x": description} if an uncaught exception makes it fail.
    """
    path = os.path.abspath(sys.argv[0])
    try:
        compiled = compile(code.removeprefix("\ufeff"), path, "exec", dont_inherit=True)
    except BaseException as error:
        send({"build": describe(error)})
        os._exit(1)
    send({"built": True})
    sys.path.insert(0, os.path.dirname(path))
    library = set(sys.modules)
    status, fault = _run(compiled, _main_module(path, code).__dict__, describe)
    try:
        flushed = _finish(library)
    except BaseException:
        flushed = False
    if not flushed and status == 0:
        status = _FLUSH_FAILED
    if fault is not None and status:
        with contextlib.suppress(BaseException):
            send({"x": fault})
    if status == _INTERRUPTED:
        with contextlib.suppress(BaseException):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        status = 128 + signal.SIGINT
    os._exit(status)


def _main_module(path: str, code: str) -> types.ModuleType:
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    loader = _ProgramLoader("__main__", path)
    loader.text = code
    names: dict[str, Any] = {"__loader__": loader, "__annotations__": {}, "__builtins__": builtins}
    module.__dict__.update(names, __file__=path, __cached__=None)
    return module


def _run(compiled: types.CodeType, names: dict[str, Any], describe: Describe) -> tuple[int, list[str] | None]:
    """The status, and the description of an uncaught exception; keeps no reference to the exception."""
    try:
        exec(compiled, names)
    except SystemExit as stop:
        return _status(stop), None
    except BaseException as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        status = _report(error)
        return status, describe(error) if status else None
    return 0, None


def _status(stop: SystemExit) -> int:
    code = stop.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    with contextlib.suppress(BaseException):
        print(code, file=sys.stderr)
    return 1


def _report(error: BaseException) -> int:
    """Shows an uncaught exception with `sys.excepthook`; returns the status."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.last_exc = error  # type: ignore[attr-defined]
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as stop:
        return _status(stop)
    except BaseException as another:
        with contextlib.suppress(BaseException):
            print("Error in sys.excepthook:", file=sys.stderr)
            sys.__excepthook__(type(another), another, another.__traceback__)
            print("\nOriginal exception was:", file=sys.stderr)
            sys.__excepthook__(type(error), error, error.__traceback__)
    return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def _finish(library: set[str]) -> bool:
    """Waits for threads, runs exit functions, drops the program's objects; False if output was lost.

    `library`: names of modules that stay.
    """
    if "threading" in sys.modules:
        try:
            sys.modules["threading"]._shutdown()
        except BaseException as error:
            _unraisable(error)
    atexit._run_exitfuncs()
    flushed = _flush()
    gc.collect()  # as CPython does; it affects the order in which objects are destroyed later
    sys.setswitchinterval(1000)  # keeps daemon threads from running
    for name in _FORGOTTEN:
        setattr(sys, name, None)
    for name in _STREAMS:
        setattr(sys, name, getattr(sys, f"__{name}__", None))
    builtins._ = None  # type: ignore[attr-defined]
    module = sys.modules.pop("__main__", None)
    for name in sys.modules.keys() - library:
        del sys.modules[name]
    left = weakref.ref(module) if isinstance(module, types.ModuleType) else lambda: None
    del module
    gc.collect()
    if (alive := left()) is not None:
        _clear(alive.__dict__)
        del alive
        gc.collect()
    for name in ("stdout", "stderr"):
        if _is_detached(getattr(sys, name)):
            setattr(sys, name, None)
    flushed = _flush() and flushed
    _flush_c(None)
    return flushed


def _clear(names: dict[str, Any]) -> None:
    """As CPython's `_PyModule_Clear`: private names first."""
    for private in (True, False):
        for name in list(names):
            if name != "__builtins__" and (name[:1] == "_" and name[1:2] != "_") is private:
                names[name] = None


def _flush() -> bool:
    done = True
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as error:
            done = False
            if name == "stdout":
                _unraisable(error)
    return done


def _is_detached(stream: Any) -> bool:
    """Whether its buffer was detached, so that there is nothing to flush."""
    try:
        return type(stream) is io.TextIOWrapper and stream.buffer is None
    except ValueError:
        return True


def _unraisable(error: BaseException) -> None:
    with contextlib.suppress(BaseException):
        sys.__excepthook__(type(error), error, error.__traceback__)
