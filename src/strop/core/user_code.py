"""Code of the user's own: loading `file.py:Name`, and saying a mistake in it with its file and line."""

import importlib.util
import inspect
import sys
import traceback
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

from strop.core.errors import UserError

_PREFIX = "strop_user_"


def load_named(text: str, place: str) -> Any:
    """What `file.py:Name` names; `place` is where it is written, such as "rewards". Raises UserError with a remedy."""
    path, _, name = text.rpartition(":")
    module = _module(Path(path), f"{place}: {text!r}", path)
    try:
        return getattr(module, name)
    except AttributeError:
        own = [
            key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        ]
        there = f"; it has {', '.join(own)}" if own else ""
        raise UserError(f"{place}: {path!r} has no {name!r}{there}") from None


def _module(path: Path, what: str, shown: str) -> ModuleType:
    if not path.is_file():
        where = "" if path.is_absolute() else "; paths start at the current directory"
        raise UserError(f"{what}: there is no file {shown!r}{where}")
    text = path.read_bytes()  # a file that was edited is loaded anew
    name = f"{_PREFIX}{path.stem}_{zlib.crc32(text, zlib.crc32(str(path.resolve()).encode())):08x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{what}: {shown!r} is not a Python file; write file.py:Name")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look their module up
    try:
        # Not by the loader: it takes compiled code of the same second and size for that of the file.
        exec(compile(text, str(path), "exec"), vars(module))
    except Exception as error:
        del sys.modules[name]
        cause = f"{type(error).__name__}: {error}"
        raise UserError(f"{what}: {shown!r} does not load: {cause}{at_line(error, path)}") from error
    return module


def at_line(error: BaseException, file: "Path | str | None") -> str:
    """ " (file.py:12)": the last line of that file that was on its way to the error, else the last of all; or ""."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({Path(error.filename).name}:{error.lineno})"
    own = [frame for frame in frames if file and Path(frame.filename).resolve() == Path(file).resolve()]
    last = (own or frames)[-1:]
    return f" ({Path(last[0].filename).name}:{last[0].lineno})" if last else ""


def file_of(thing: Any) -> str | None:
    """The file in which a class, a function or an object's class is written, where it is known."""
    kind = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    if inspect.isclass(kind):  # a class of a notebook's cell has no file of its own, but its functions do
        for value in vars(kind).values():
            if inspect.isfunction(value):
                return value.__code__.co_filename
    try:
        return inspect.getfile(kind)
    except (TypeError, OSError):
        return None


def place_of(thing: Any) -> str:
    """ " (file.py:12)": where a function or class begins; "" where that is not known."""
    function = inspect.unwrap(thing) if callable(thing) else thing
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is not None:
        return f" ({Path(code.co_filename).name}:{code.co_firstlineno})"
    try:
        _, line = inspect.getsourcelines(function)
        return f" ({Path(inspect.getfile(function)).name}:{line})"
    except (TypeError, OSError):
        return ""


def environment_fault(environment: object, task_id: str, what: str, cause: BaseException | str) -> UserError:
    """A mistake in a user's environment, in one line: its name, task, method, and where in the user's file."""
    if isinstance(cause, BaseException):
        cause = f"{type(cause).__name__}: {cause}{at_line(cause, file_of(environment))}"
    return UserError(f"environment {type(environment).__name__}, task {task_id}, {what}: {cause}")
