"""Idioms of test suites (suite_idioms.txt): for each a right answer, wrong ones, and what a test of it says.

A `@` behind a letter stands for a number, so that several idioms fit into one module. Each test is the body of a
function, whose arguments are fixtures. `suite` puts some together as people write suites; `judged` asks plain pytest.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent


@dataclass(frozen=True)
class Idiom:
    """right and wrong are texts of a module, test is a body behind `from solution import names`."""

    name: str
    names: str
    right: str
    wrong: tuple[str, ...]
    test: str
    fixtures: str = ""


def _read(text: str) -> list[Idiom]:
    found = []
    for block in text.strip().split("\n=== "):
        head, *parts = block.removeprefix("=== ").split("\n--- ")
        name, _, names = head.partition(" ")
        fields: dict[str, list[str]] = {}
        for part in parts:
            kind, _, body = part.partition("\n")
            fields.setdefault(kind.split()[0], []).append(body.rstrip() + "\n")
            if more := kind.partition(" ")[2]:
                fields["fixtures"] = [more]
        (right,), (test,) = fields["right"], fields["test"]
        found.append(
            Idiom(name, names, right, tuple(fields["wrong"]), test, *fields.get("fixtures", [""])[:1])
        )
    return found


IDIOMS = _read(Path(__file__).with_suffix(".txt").read_text())


def _numbered(text: str, number: int) -> str:
    return re.sub(r"(?<=\w)@", str(number), text)


@dataclass(frozen=True)
class Suite:
    """A suite, its ids, a right answer, and wrong ones."""

    text: str
    tests: tuple[str, ...]
    right: str
    wrong: tuple[str, ...]
    idioms: tuple[str, ...]


def suite(rng: random.Random, chosen: list[Idiom] | None = None) -> Suite:
    """Some idioms in one file, each as a function, in a class, or as a method of unittest."""
    chosen = chosen or rng.sample(IDIOMS, rng.choice((1, 1, 2, 3)))
    numbers = rng.sample(range(10, 99), len(chosen))
    names, parts, ids = [], [], []
    for number, idiom in zip(numbers, chosen, strict=True):
        test, form = _numbered(idiom.test, number), rng.choice(("function", "class", "unittest"))
        names.append(_numbered(idiom.names, number))
        if form == "unittest" and not idiom.fixtures:
            parts.append(
                f"class Case{number}(unittest.TestCase):\n    def test_it(self):\n{indent(test, ' ' * 8)}"
            )
            ids.append(f"test_it.py::Case{number}::test_it")
        elif form == "class":
            arguments = ", ".join(["self", *filter(None, [idiom.fixtures])])
            parts.append(f"class Test{number}:\n    def test_it({arguments}):\n{indent(test, ' ' * 8)}")
            ids.append(f"test_it.py::Test{number}::test_it")
        else:
            parts.append(f"def test_{number}({idiom.fixtures}):\n{indent(test, ' ' * 4)}")
            ids.append(f"test_it.py::test_{number}")
    text = f"import unittest\nimport pytest\nfrom solution import {', '.join(names)}\n\n" + "\n\n".join(parts)
    right = [_numbered(idiom.right, n) for n, idiom in zip(numbers, chosen, strict=True)]
    wrong = []
    for at, (number, idiom) in enumerate(zip(numbers, chosen, strict=True)):
        for one in idiom.wrong:
            wrong.append("\n".join([*right[:at], _numbered(one, number), *right[at + 1 :]]))
    return Suite(text, tuple(ids), "\n".join(right), tuple(wrong), tuple(one.name for one in chosen))


def judged(cases: Sequence[tuple[str, str]]) -> list[bool]:
    """Of each (answer, suite) whether plain pytest passes all of it, each in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for number, (answer, text) in enumerate(cases):
            home = Path(folder, str(number))
            home.mkdir()
            (home / "solution.py").write_text(answer)
            (home / "test_it.py").write_text(text)
        out = subprocess.run(
            [sys.executable, __file__, folder, str(len(cases))], capture_output=True, text=True, check=True
        )
        return [bool(one) for one in json.loads(out.stdout.splitlines()[-1])]


def _main(folder: str, count: int) -> None:
    """Forks a pytest for each folder: to start one anew takes ten times as long."""
    import pytest

    passed = []
    for number in range(count):
        pid = os.fork()
        if not pid:
            home = os.path.join(folder, str(number))
            os.chdir(home)
            os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
            sys.path.insert(0, home)
            sys.argv = ["pytest"]
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os._exit(int(pytest.main(["-q", "-pno:cacheprovider", f"--rootdir={home}", home])))
        passed.append(os.waitpid(pid, 0)[1] == 0)
    print(json.dumps(passed))


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
