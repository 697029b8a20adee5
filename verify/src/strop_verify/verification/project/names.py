"""Names and numbers for canaries and control tests, which have to look like a project's."""

import random
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

_WORDS = (
    "basic", "empty", "nested", "order", "limits", "default", "values", "single", "many", "state", "merge", "edge",
)  # fmt: skip
MODULUS = 99_991
COMPUTING = f"""\
def {{name}}(start):
    for step in range(1, 9):
        start = (start * 31 + step) % {MODULUS}
    return start
"""
"""The text of `computed` under another name."""


def computed(start: int) -> int:
    """The value that the generated tests compute from `start`."""
    for step in range(1, 9):
        start = (start * 31 + step) % MODULUS
    return start


class Names:
    """Draws random names made of words from a test file."""

    def __init__(self, text: str, rng: random.Random) -> None:
        called = re.findall(r"\b(?:def|fn) (?:test_?)?([a-z][a-z0-9_]*)", text)
        words = {word for name in called for word in name.split("_") if word.isascii() and len(word) > 2}
        self._words, self._rng = sorted({word for word in words if word.isalpha()} | {*_WORDS}), rng
        self._taken = set(re.findall(r"\w+", text))

    def new(self, prefix: str = "") -> str:
        """A name that is not in the file."""
        while True:
            name = prefix + "_".join(self._rng.sample(self._words, self._rng.randrange(2, 4)))
            if name not in self._taken:
                self._taken.add(name)
                return name


def beside(path: str, tree: Mapping[str, bytes], names: Names) -> str:
    """The path of a new test file in the same folder, named in the same style."""
    pure = PurePosixPath(path)
    while True:
        name = names.new()
        new = str(pure.with_name(f"{name}_test.py" if pure.stem.endswith("_test") else f"test_{name}.py"))
        if new not in tree:
            return new
