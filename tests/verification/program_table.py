# ruff: noqa: E501
"""Small programs for the differential test: hand-written ones in programs/*.txt, tables of ways to read and to end."""

import random
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"
USUAL = "3\n1 2 3\nabc def\n"
"""The input of a program that does not ask for another."""

TEXTS = {
    "usual": USUAL,
    "empty": "",
    "blank": "\n\n \n",
    "open-end": "1 2\n3 4",
    "crlf": "1 2\r\n3\r4\r\n",
    "bom": "\ufeff5\n6\n",
    "accents": "größe é\n日本語\n",
    "emoji": "\U0001f600 \U0001f469\u200d\U0001f4bb\n",
    "separators": "a\x0bb\x0cc\x1cd\x85e\u2028f\n",
    "null": "a\x00b\n\x1a\n",
    "long-line": "x" * 200_000 + "\n",
    "many-lines": "".join(f"{n} {n * n}\n" for n in range(20_000)),
}
READ = {
    "lines": "import sys\nv = list(sys.stdin)",
    "read": "import sys\nv = sys.stdin.read()",
    "readline": "import sys\nv = [sys.stdin.readline() for _ in range(3)]",
    "readlines": "import sys\nv = sys.stdin.readlines()",
    "input": "v = []\ntry:\n    while True: v.append(input())\nexcept EOFError: pass",
    "open": "v = open(0).read()",
    "open-bytes": "v = open(0, 'rb').read()",
    "open-latin": "v = open(0, encoding='latin-1').read()",
    "open-newline": "v = open(0, newline='').readlines()",
    "os-read": "import os\nv = os.read(0, 1 << 20)",
    "buffer": "import sys\nv = sys.stdin.buffer.read().split()",
    "buffer-lines": "import sys\nv = sys.stdin.buffer.readlines()",
    "raw": "import sys\nv = sys.stdin.buffer.raw.readall()",
    "fileinput": "import fileinput\nv = list(fileinput.input())",
    "codecs": "import codecs, sys\nv = codecs.getreader('utf-8')(sys.stdin.buffer, 'replace').read()",
    "sig": "import io, sys\nv = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8-sig', errors='replace').read()",
    "dev-stdin": "v = open('/dev/stdin', 'rb').read()",
    "path": "from pathlib import Path\nv = Path('/dev/fd/0').read_bytes()",
    "csv": "import csv, sys\nv = list(csv.reader(l for l in sys.stdin if '\\0' not in l and len(l) < 9999))",
    "split": "import sys\nv = sys.stdin.read().splitlines()",
    "tokens": "import sys\nv = iter(sys.stdin.read().split())\nv = [next(v, None), next(v, None)]",
}
READ_JAVASCRIPT = {
    "0": "const v = require('fs').readFileSync(0);",
    "dev-stdin": "const v = require('fs').readFileSync('/dev/stdin', 'utf8');",
    "lines": "const v = require('fs').readFileSync(0, 'utf8').split('\\n');",
}
_SHOW = "\nv = ascii(v)\nprint(len(v), v[:300], v[-50:], hash(len(v)))"
_SHOW_JAVASCRIPT = "\nconst s = JSON.stringify(v); console.log(s.length, s.slice(0, 300), s.slice(-50));"

WAYS = ("exit({})", "quit({})", "import sys; sys.exit({})", "raise SystemExit({})")
CODES = (
    "",
    "None",
    "0",
    "1",
    "2",
    "255",
    "256",
    "-1",
    "True",
    "False",
    "'text'",
    "''",
    "(1, 2)",
    "3.5",
    "2**31",
    "2**70",
)
STREAMS = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__", "stdin.buffer", "stdout.buffer", "stdin.buffer.raw",
           "stdout.buffer.raw", "stderr.buffer")  # fmt: skip
ASPECTS = ("mode", "name", "encoding", "errors", "newlines", "line_buffering", "write_through", "closed", "fileno()", "isatty()",
           "readable()", "writable()", "seekable()", "closefd", "_CHUNK_SIZE", "_blksize", "__class__", "tell()")  # fmt: skip
UNSAFE_MODULES = {"antigravity", "this", "idlelib", "turtledemo", "lib2to3", "__main__"}


@dataclass(frozen=True)
class Program:
    """One of them."""

    name: str
    language: str
    code: str
    stdin: str = USUAL


def _written(language: str) -> list[Program]:
    found = []
    for part in f"\n{(FOLDER / f'{language}.txt').read_text(encoding='utf-8')}".split("\n=== ")[1:]:
        name, _, code = part.partition("\n")
        found.append(Program(name, language, code))
    return found


def _reading() -> list[Program]:
    python = [
        Program(f"read-{style}-{text}", "python", code + _SHOW, stdin)
        for style, code in READ.items()
        for text, stdin in TEXTS.items()
    ]
    return python + [
        Program(f"read-{style}-{text}", "javascript", code + _SHOW_JAVASCRIPT, stdin)
        for style, code in READ_JAVASCRIPT.items()
        for text, stdin in TEXTS.items()
    ]


def _ending() -> list[Program]:
    before = "import atexit\natexit.register(print, 'handler')\nprint('before')\n"
    return [
        Program(f"end-{way.format(code)}", "python", before + way.format(code))
        for way in WAYS
        for code in CODES
    ]


def _aspects() -> list[Program]:
    lines = "".join(
        f"try: print({aspect!r}, sys.{{0}}.{aspect})\nexcept Exception as e: print({aspect!r}, type(e).__name__, e)\n"
        for aspect in ASPECTS
    )
    return [
        Program(f"stream-{stream}", "python", "import sys\n" + lines.replace("{0}", stream))
        for stream in STREAMS
    ]


SOURCES = {
    "bom": "\ufeffprint('x')\n",
    "crlf": "def f():\r\n    return '''a\r\nb'''\r\nprint(ascii(f()))\r\n",
    "old-mac": "x = 1\rprint(x)\r",
    "tabs": "if True:\n\tprint('tab')\n",
    "mixed-tabs": "if True:\n        print(1)\n\tprint(2)\n",
    "form-feed": "\x0cprint(1)\n",
    "no-line-end": "print(1)",
    "continued": "x = 1 + \\\n  2\nprint(x)",
    "cookie": "# -*- coding: latin-1 -*-\nprint('abc')\n",
    "cookie-utf-8": "# coding: utf-8\nprint('\u00e9')\n",
    "null": "print(1)\0\n",
    "only-comment": "# nothing\n",
    "shebang": "#!/usr/bin/env python3\nprint('shebang')\n",
    "no-break-space": "print(1)\u00a0\n",
    "line-separator": "print('a\u2028b')\n",
    "unicode-names": "\u212b = 1\nprint(\u00c5)\n",
    "deep": "x = " + "(" * 90 + "1" + ")" * 90 + "\nprint(x)\n",
    "too-deep": "x = " + "(" * 300 + "1" + ")" * 300 + "\n",
    "long": "x = [" + "1, " * 20_000 + "]\nprint(len(x))\n",
    "escape-warning": "print('\\d')\n",
}


def _sources() -> list[Program]:
    return [Program(f"source-{name}", "python", code) for name, code in SOURCES.items()]


def _modules() -> list[Program]:
    names = sorted(
        name for name in sys.stdlib_module_names - UNSAFE_MODULES if not name.startswith("_pyrepl")
    )
    code = "import importlib\nfor name in {}:\n    try: importlib.import_module(name)\n    except BaseException as e: print(name, type(e).__name__, e)\n"
    return [
        Program(f"modules-{names[n]}", "python", code.format(names[n : n + 20]))
        for n in range(0, len(names), 20)
    ]


SET_UP = (
    "", "sys.stdin = io.TextIOWrapper(sys.stdin.buffer, encoding='latin-1')", "sys.stdin = io.TextIOWrapper(sys.stdin.detach(), 'utf-8', 'replace')",
    "sys.stdin = open(0, errors='replace')", "sys.stdin = io.StringIO(sys.stdin.read())", "sys.stdin.reconfigure(errors='replace', newline='')",
    "sys.stdin = io.TextIOWrapper(io.BytesIO(os.read(0, os.fstat(0).st_size)), 'latin-1')", "sys.stdin = codecs.getreader('latin-1')(sys.stdin.buffer)",
    "sys.stdin = os.fdopen(os.dup(0), errors='replace')", "os.lseek(0, 2, 0)", "sys.stdin.readline(); sys.stdin.seek(0)", "sys.stdin = sys.__stdin__",
    "input = sys.stdin.readline", "input = iter(sys.stdin.read().splitlines()).__next__",
)  # fmt: skip
SET_OUT = (
    "", "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, 'utf-8')", "sys.stdout = io.TextIOWrapper(sys.stdout.detach(), 'utf-8', write_through=True)",
    "sys.stdout = open(1, 'w')", "sys.stdout = codecs.getwriter('utf-8')(sys.stdout.buffer)", "sys.stdout.reconfigure(line_buffering=True)",
    "old, sys.stdout = sys.stdout, io.StringIO(); atexit.register(lambda: old.write(sys.stdout.getvalue()))", "print = functools.partial(print, flush=True)",
    "print = lambda *a: sys.stdout.write(' '.join(map(str, a)) + '\\n')", "sys.stdout = sys.__stdout__",
    "sys.stdout = open(os.dup(1), 'w', buffering=1)",
)  # fmt: skip
TAKE = (
    "v = input()", "v = [*map(len, sys.stdin)]", "v = sys.stdin.read()", "v = [sys.stdin.readline() for _ in range(2)]", "v = open(0, errors='replace').read()",
    "v = [input(), input()]", "v = os.read(0, 5)", "v = sys.stdin.isatty()", "v = list(fileinput.input())[:3]", "v = sys.stdin.buffer.readline()",
    "v = sys.stdin.seekable() and sys.stdin.seek(0)", "v = sorted(sys.stdin.read().split())", "v = next(sys.stdin, None)",
)  # fmt: skip
END = (
    "", "sys.exit()", "sys.exit(3)", "raise ValueError(v)", "sys.stdout.close()", "sys.stdin.close()", "os._exit(0)", "sys.stdout.flush(); os._exit(4)", "del sys.stdout",
    "threading.Thread(target=lambda: print('late')).start()", "atexit.register(print, 'last')", "sys.stdout.detach()", "sys.stderr.write('e')", "1 / 0", "sys.stdout = None",
)  # fmt: skip


def composed(r: random.Random) -> Program:
    """A program of a way to set up its streams, to read, to write and to end, each drawn."""
    lines = ["import atexit, codecs, fileinput, functools, io, os, sys, threading"]
    lines += [r.choice(SET_UP), r.choice(SET_OUT)]
    for _ in range(r.randint(1, 3)):
        lines += [r.choice(TAKE), "print(ascii(v)[:2000])"]
    return Program(
        f"composed-{r.getrandbits(40):x}",
        "python",
        "\n".join([*lines, r.choice(END)]),
        r.choice([*TEXTS.values()]),
    )


@cache
def programs() -> tuple[Program, ...]:
    """All of them, with names that are unique in a language."""
    written = [program for language in ("python", "javascript", "c") for program in _written(language)]
    return (*written, *_reading(), *_ending(), *_aspects(), *_modules(), *_sources())
