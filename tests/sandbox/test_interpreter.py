"""Copies of Python for jails: which are kept, and which are removed."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COPY = """
import sys
from strop_verify.sandbox import interpreter
interpreter._FORM = sys.argv[1]  # another Python
print(interpreter.interpreter().name, flush=True)
sys.stdin.read()
"""


@contextmanager
def copied(cache: Path, form: str) -> Iterator[Path]:
    """The copy that a process of its own uses, and has made where it was not there."""
    environment = {**os.environ, "STROP_CACHE": str(cache)}
    with subprocess.Popen(
        [sys.executable, "-c", COPY, form],
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        yield cache / process.stdout.readline().strip()


def older(cache: Path, name: str, days: float) -> Path:
    """A copy that nobody uses."""
    copy = cache / name
    (copy / "bin").mkdir(parents=True)
    then = time.time() - days * 86_400
    os.utime(copy, (then, then))
    return copy


def there(cache: Path) -> set[str]:
    return {entry.name for entry in cache.iterdir()}


def test_the_newest_copies_and_those_in_use_are_kept(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with copied(cache, "in use") as used:
        assert there(cache) == {used.name}
        os.utime(used, (1, 1))
        for days, name in enumerate("abc", 1):
            older(cache, f"python-{name}", days)
        (other := cache / "packages").mkdir()
        older(cache, ".python-left-behind", 1)
        older(cache, ".python-being-made", 0)
        with copied(cache, "new") as made:
            kept = {used.name, made.name, "python-a", "python-b", other.name, ".python-being-made"}
            assert there(cache) == kept
            older(cache, "python-of-before", 0)
            with copied(cache, "in use") as again:  # none is made, so none is removed
                assert again == used and len(there(cache)) == len(kept) + 1
    with copied(cache, "newer") as newer:
        copies = {name for name in there(cache) if name.startswith("python-")}
        assert copies == {newer.name, made.name, "python-of-before"}
        done = subprocess.run(
            [newer / "bin" / "python3", "-c", "print(6 * 7)"], capture_output=True, text=True
        )
        assert done.stdout == "42\n"
