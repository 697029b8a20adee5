"""Canary tests, run beside a project's own: some must pass and some must fail, whatever the code under test does.

Code that makes every test pass, reports tests that did not run, or replaces what tests do affects these too, unless it
knows the names of the others. Names are made of words from the project's own tests, so that the files look alike.
"""

import random
from collections.abc import Collection, Mapping

from strop_verify.verification.controls import ControlTests
from strop_verify.verification.project.names import COMPUTING, MODULUS, Names, beside, computed


def python_canaries(tree: Mapping[str, bytes], tests: Collection[str], rng: random.Random) -> ControlTests:
    """Canaries in a new file beside the first of these tests; none if its file is not in the tree."""
    found = ControlTests()
    home = next((test.partition("::")[0] for test in tests if test.partition("::")[0] in tree), "")
    if not home:
        return found
    text = tree[home].decode("utf-8", "replace")
    names = Names(text, rng)
    path = beside(home, tree, names)
    found.files[path] = _plain(path, names, rng, found)
    return found


def _plain(path: str, names: Names, rng: random.Random, found: ControlTests) -> str:
    made, fixture, case = names.new(), names.new(), names.new().title().replace("_", "")
    tests = [names.new("test_") for _ in range(5)]
    start = [rng.randrange(100, 9000) for _ in tests]
    wrong = [computed(value) + rng.randrange(1, 900) for value in start]
    pieces = [
        f"def {tests[0]}():\n    assert {made}({start[0]}) == {computed(start[0])}\n",
        f"def {tests[1]}():\n    assert {made}({start[1]}) == {wrong[1]}\n",
        f"@pytest.fixture\ndef {fixture}():\n    raise ValueError({made}({start[2]}))\n\n\n"
        f"def {tests[2]}({fixture}):\n    assert {fixture} is None\n",
        f"class Test{case}(unittest.TestCase):\n"
        f"    def {tests[3]}(self):\n        self.assertEqual({made}({start[3]}), {wrong[3]})\n\n"
        f"    def {tests[4]}(self):\n        self.assertEqual({made}({start[4]}), {computed(start[4])})\n",
    ]
    rng.shuffle(pieces)
    for number, name in enumerate(tests):
        owner = f"Test{case}::" if number > 2 else ""
        found.add(f"{path}::{owner}{name}", f"plain {number}", passes=number in (0, 4))
    head = "import unittest\n\nimport pytest\n\n\n"
    return head + "\n\n".join([COMPUTING.format(name=made), *pieces])


def rust_canaries(tree: Mapping[str, bytes], tests: Collection[str], rng: random.Random) -> ControlTests:
    """Canaries in a new module at the end of each test program's root file."""
    found = ControlTests()
    for target in dict.fromkeys(test.partition("::")[0] for test in tests):
        path = _root(tree, target)
        if not path or path in found.files:
            continue
        text = tree[path].decode("utf-8", "replace")
        names = Names(text, rng)
        module, made, good, bad = (names.new() for _ in range(4))
        a, b = (rng.randrange(100, 9000) for _ in range(2))
        wrong = computed(b) + rng.randrange(1, 900)
        pair = [
            f"    #[test]\n    fn {good}() {{\n        assert_eq!({made}({a}), {computed(a)});\n    }}\n",
            f"    #[test]\n    fn {bad}() {{\n        assert_eq!({made}({b}), {wrong});\n    }}\n",
        ]
        rng.shuffle(pair)
        helper = (
            f"    fn {made}(mut start: u64) -> u64 {{\n        for step in 1..9 {{\n"
            f"            start = (start * 31 + step) % {MODULUS};\n        }}\n        start\n    }}\n"
        )
        found.files[path] = f"{text}\n\n#[cfg(test)]\nmod {module} {{\n{helper}\n{chr(10).join(pair)}}}\n"
        found.add(f"{target}::{module}::{good}", f"{target} good", passes=True)
        found.add(f"{target}::{module}::{bad}", f"{target} bad", passes=False)
    return found


def _root(tree: Mapping[str, bytes], target: str) -> str:
    """The root file of a test program; "" if the name does not determine it."""
    program, name = target.startswith("bin/"), target.removeprefix("bin/")
    places = ("src/bin/{}.rs", "src/bin/{}/main.rs") if program else ("tests/{}.rs", "tests/{}/main.rs")
    for spelled in (name, name.replace("_", "-")):
        for place in places:
            if (path := place.format(spelled)) in tree:
                return path
    last = "src/main.rs" if program else "src/lib.rs"
    many = [path for path in tree if path.endswith("/Cargo.toml")]
    return last if last in tree and not many else ""
