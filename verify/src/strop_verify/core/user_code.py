"""The user's own code: loads `file.py:Name`, reads its options, and reports mistakes with file and line.

Such a file imports modules from its folder, as a script does: `import helper` finds helper.py in its folder.
"""

import ast
import difflib
import importlib.util
import inspect
import sys
import traceback
import typing
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ConfigDict, ValidationError, create_model

from strop_verify.core.errors import UserError
from strop_verify.core.syntax import syntax_tree

_PREFIX = "strop_user_"


def load_named(text: str, place: str) -> Any:
    """The object that `file.py:Name` names; `place` is where it is written, such as "rewards". Raises UserError with
    a remedy."""
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
    text, folder, used = path.read_bytes(), str(path.resolve().parent), {}
    crc = 0  # a file is loaded again after it or one that it imports was edited
    for file in files_used(path):
        used[file] = file.read_bytes()
        crc = zlib.crc32(used[file], zlib.crc32(str(file).encode(), crc))
    name = f"{_PREFIX}{path.stem}_{crc:08x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{what}: {shown!r} is not a Python file; write file.py:Name")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look their module up
    for file, content in used.items():
        _forget_other(file, folder, content)
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        # Not by the loader, which would reuse stale bytecode if time (in seconds) and size are unchanged.
        exec(compile(text, str(path), "exec"), vars(module))
    except Exception as error:
        del sys.modules[name]
        cause = f"{type(error).__name__}: {error}"
        raise UserError(f"{what}: {shown!r} does not load: {cause}{at_line(error, path)}") from error
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)  # for imports inside of functions
    return module


def checked_options(kind: Any, given: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The options of a class or function: its keyword-only parameters, by their annotations and defaults. Raises
    UserError, prefixed with `place`, for an unknown option and for a value of another type.
    """
    taken = [p for p in inspect.signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
    names, called = [p.name for p in taken], getattr(kind, "__name__", type(kind).__name__)
    for unknown in given.keys() - {*names}:
        close = difflib.get_close_matches(unknown, names, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names) or 'none'}"
        raise UserError(f"{place}.{unknown}: unknown option of {called}; {hint}")
    made = kind.__init__ if inspect.isclass(kind) else kind
    try:
        types = typing.get_type_hints(made, include_extras=True) if taken else {}
    except NameError as error:
        raise UserError(f"{place}: the annotations of {called} cannot be read: {error}") from None
    fields: Any = {
        p.name: (types.get(p.name, Any), ... if p.default is p.empty else p.default) for p in taken
    }
    options = create_model("Options", __config__=ConfigDict(extra="forbid"), **fields)
    try:
        model = options.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{place}.{where}: {first['msg']}, got {first['input']!r:.60}") from None
    return {name: getattr(model, name) for name in fields}


_beside: dict[str, tuple[Path, bytes]] = {}
"""Modules beside users' files by their names: where each was last loaded from, and its text."""


def _forget_other(file: Path, folder: str, content: bytes) -> None:
    """Makes the next import load that file if the module of its name came from another file or text."""
    parts = file.relative_to(folder).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    if _beside.get(name, (file, content)) != (file, content):
        sys.modules.pop(name, None)
    _beside[name] = file, content


def files_used(path: Path) -> list[Path]:
    """A user's Python file and what it imports from beside it, directly or not, as absolute paths."""
    first = path.resolve()
    found, waiting = [first], [first]
    while waiting:
        for file in _imported(waiting.pop(), first.parent):
            if file not in found:
                found.append(file)
                waiting.append(file)
    return found


def _imported(file: Path, folder: Path) -> Iterator[Path]:
    """Files below a folder that a file's import statements name."""
    try:
        nodes = list(ast.walk(syntax_tree(file.read_bytes())))
    except (OSError, SyntaxError, ValueError):
        return  # reported when it is loaded
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [(folder, alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = file.parents[node.level - 1] if node.level else folder
            stem = node.module.split(".") if node.module else []
            names = [(start, [*stem, alias.name]) for alias in node.names]
        else:
            continue
        for start, parts in names:
            for count in range(len(parts) + 1):
                place = start.joinpath(*parts[:count])
                for one in (place.with_suffix(".py") if count else None, place / "__init__.py"):
                    if one and one != folder / "__init__.py" and one.is_file() and one.is_relative_to(folder):
                        yield one


def at_line(error: BaseException, file: "Path | str | None") -> str:
    """ " (file.py:12)": the last line of that file in the traceback, else the last line of all; or ""."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({Path(error.filename).name}:{error.lineno})"
    own = [frame for frame in frames if file and Path(frame.filename).resolve() == Path(file).resolve()]
    last = (own or frames)[-1:]
    return f" ({Path(last[0].filename).name}:{last[0].lineno})" if last else ""


def file_of(thing: Any) -> str | None:
    """The file in which a class, a function or an object's class is written, if known."""
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
    """ " (file.py:12)": where a function or class begins; "" if unknown."""
    function = inspect.unwrap(thing) if callable(thing) else thing
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is not None:
        return f" ({Path(code.co_filename).name}:{code.co_firstlineno})"
    try:
        _, line = inspect.getsourcelines(function)
        return f" ({Path(inspect.getfile(function)).name}:{line})"
    except (TypeError, OSError):
        return ""


def misreturned(environment: object, method: str, other: object) -> str:
    """The fault in the value that an environment's method returned."""
    kinds = "strop.Opening" if method == "begin" else "strop.Say, strop.Do or strop.Done"
    where = place_of(getattr(environment, method))
    return f"it returned {other!r:.60}, not {kinds}; is a return missing?{where}"


def environment_fault(environment: object, task_id: str, what: str, cause: BaseException | str) -> UserError:
    """A mistake in a user's environment in one line: its name, task, method, and place in the user's file."""
    if isinstance(cause, BaseException):
        cause = f"{type(cause).__name__}: {cause}{at_line(cause, file_of(environment))}"
    return UserError(f"environment {type(environment).__name__}, task {task_id}, {what}: {cause}")
