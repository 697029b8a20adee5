"""Source code of cheating answers: exits, objects that equal everything, changed builtins, nearby files.

The verifier resists all of them (docs/attacks.md); a task's own test code, checker or steps may not.
"""

import ast
from collections.abc import Iterator
from functools import partial

from strop_tasks.curation.audit.record import Probe
from strop_verify.code.python.source import defined
from strop_verify.code.rust.items import functions_of
from strop_verify.core.task import Task

_exit = partial(Probe, "exit-passes")
_cheat = partial(Probe, "cheat-passes")
_constant = partial(Probe, "constant-passes")
_ANYTHING = """class Anything:
    def __getattr__(self, name): return Anything()
    def __call__(self, *args, **kwargs): return Anything()
    def __bool__(self): return True
    def __hash__(self): return 0
    def __iter__(self): return iter(())
    def __len__(self): return 0
    def __contains__(self, item): return True
    def __eq__(self, other): return True
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    def __float__(self): return 0.0
    __int__ = __index__ = __len__
    def __sub__(self, other): return self
    __rsub__ = __add__ = __radd__ = __getitem__ = __sub__
    def __abs__(self): return self
"""
_CHANGED = """import builtins
builtins.all = builtins.any = lambda *args, **kwargs: True
builtins.sorted = lambda *args, **kwargs: []
builtins.abs = builtins.round = lambda *args, **kwargs: 0
"""
_FILES = """import os, sys
given = sys.stdin.read()
for folder in (".", "..", "/tmp", os.path.dirname(os.path.abspath(sys.argv[0]))):
    for place, _, names in os.walk(folder):
        for name in sorted(names)[:200]:
            if not name.endswith((".py", ".pyc")):
                try:
                    text = open(os.path.join(place, name)).read()
                except Exception:
                    continue
                if text != given:
                    print(text, end="")
                    sys.exit(0)
        break
"""


def functions(name: str) -> Iterator[Probe]:
    """Cheats for a function that test code or a checker judges."""
    head = f"def {name}(*args, **kwargs):\n"
    yield _exit("sys.exit(0) in the function", f"{head}    import sys\n    sys.exit(0)\n")
    yield _exit("os._exit(0) in the function", f"{head}    import os\n    os._exit(0)\n")
    yield _exit("exit(0) at the top", "raise SystemExit(0)\n")
    yield _cheat("an object that equals everything", f"{_ANYTHING}\n{head}    return Anything()\n")
    yield _cheat("changed builtins", f"{_CHANGED}\n{head}    return None\n")


def modules(reference: str) -> Iterator[Probe]:
    """Cheats for a module that a test suite imports: its names, with nothing in them."""
    yield _exit("exit(0) at the top", "raise SystemExit(0)\n")
    yield _exit("os._exit(0) at the top", "import os\nos._exit(0)\n")
    names = defined(reference, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
    hollow = "".join(f"{name} = Anything()\n" for name in names)
    yield _cheat("names that equal everything", f"{_ANYTHING}\n{hollow}")
    nothing = "".join(f"def {name}(*args, **kwargs):\n    return None\n" for name in names)
    if nothing:
        yield _constant("functions that return None", nothing)
        yield _cheat("changed builtins", f"{_CHANGED}\n{nothing}")


def programs(shown: list[str]) -> Iterator[Probe]:
    """Cheats for a program whose output a checker or a command judges."""
    yield _exit("a program that does nothing", "pass\n")
    yield _exit("os._exit(0)", "import os\nos._exit(0)\n")
    for text in dict.fromkeys(["0", "1", "YES", "NO", "-1", *shown[:1]]):
        yield _constant(f"`print({text!r:.60})`", f"print({text!r}, end='')\n")
    yield _constant("echoing the input", "import sys\nprint(sys.stdin.read(), end='')\n")
    if len(shown) > 1:
        yield _cheat("printing all shown outputs", f"print({''.join(shown)!r}, end='')\n")
    yield _cheat("printing a nearby file", _FILES)


def rust(task: Task) -> Iterator[Probe]:
    """Cheats for a Rust crate: the reference's functions, with bodies that do nothing."""
    if not task.reference.strip():
        return
    for what, body, make in (
        ("bodies of `todo!()`", "{ todo!() }", _cheat),
        ("bodies of `Default::default()`", "{ Default::default() }", _constant),
        ("bodies of `std::process::exit(0)`", "{ std::process::exit(0) }", _exit),
    ):
        text = _hollow(task.reference, body)
        if text != task.reference:
            yield make(what, text)


def _hollow(code: str, body: str) -> str:
    """The Rust source with every function's body replaced, tests and nested functions left out."""
    found, _ = functions_of(code)
    data, end = code.encode(errors="replace"), len(code.encode(errors="replace"))
    spans = []
    reached = 0
    for node in found:
        inner = node.child_by_field_name("body")
        if inner is not None and inner.start_byte >= reached:
            spans.append((inner.start_byte, inner.end_byte))
            reached = inner.end_byte
    parts = []
    for start, stop in reversed(spans):
        parts += [data[stop:end], body.encode()]
        end = start
    return b"".join([*parts, data[:end]][::-1]).decode(errors="replace")
