"""Runs a reference program in this process: trusted text of our own, never a model's answer."""

import builtins
import io
import sys
from collections.abc import Callable
from functools import partial
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any


def compiled(program: str, name: str = "<reference>") -> Callable[[str], str]:
    """A function from what the program reads to what it prints.

    Nothing global is touched: the program has its own `input`, `print` and `sys`, so that threads can do this side by
    side. It must end by coming to its last line. Raises SyntaxError at once, later whatever the program raises.
    """
    return partial(_run, compile(program, name, "exec"))


def _run(code: CodeType, stdin: str) -> str:
    reader, writer = io.StringIO(stdin), io.StringIO()

    def read_line(prompt: str = "") -> str:
        line = reader.readline()
        if not line:
            raise EOFError
        return line.removesuffix("\n")

    def load(name: str, *rest: Any) -> ModuleType | SimpleNamespace:
        return own_sys if name == "sys" else __import__(name, *rest)

    own_sys = SimpleNamespace(
        stdin=reader, stdout=writer, maxsize=sys.maxsize, setrecursionlimit=lambda limit: None
    )
    own = {"input": read_line, "print": partial(print, file=writer), "__import__": load}
    exec(code, {"__name__": "__main__", "__builtins__": {**vars(builtins), **own}})
    return writer.getvalue()
