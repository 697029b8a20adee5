"""The shared data sets come in without a converter; references pass on a draw of each, but for rows known by name."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import needs, scale

from strop.tasks import jsonl, sources
from strop_verify.core.task import Task
from strop_verify.sandbox import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.verifier import OpenVerifier

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from real_sets import measured

DRAWN = 12
"""Tasks of each set in a short run."""
SETS = {
    # Format, tasks of a row, programs.
    "cruxeval.jsonl": ("cruxeval", 2, ()),
    "exercism-python.jsonl": ("exercism-python", 1, ()),
    "humaneval-infilling-multi-line.jsonl": ("infilling", 1, ()),
    "humaneval-infilling-random-span-light.jsonl": ("infilling", 1, ()),
    "humaneval-infilling-single-line.jsonl": ("infilling", 1, ()),
    "humaneval-x-cpp.jsonl": ("humaneval-x", 1, ("g++",)),
    "humaneval-x-js.jsonl": ("humaneval-x", 1, ("node",)),
    "mbpp-javascript.jsonl": ("mbxp", 1, ("node",)),
    "mbpp.jsonl": ("humaneval", 1, ()),
    "quixbugs.jsonl": ("quixbugs", 1, ()),
    "sven.jsonl": ("sven", 2, ()),
}
RUST = {"exercism-rust.jsonl": ("exercism-rust", 1, ()), "humaneval-rust.jsonl": ("humaneval-rust", 1, ())}
LEFT_OUT = {"mbpp.jsonl": 1}
"""Rows that make no task: the prompt of MBPP/64 is no Python."""
FEWER = {"cruxeval.jsonl": 11}
"""Tasks that rows do not make: arguments that are no literals (functions, ranges) cannot be asked for."""
REFUSED = {
    # Plain runs refuse these too.
    "exercism-python.jsonl": {"exercism/python/error-handling"},  # the row lacks test_utils.py
    "exercism-rust.jsonl": {"exercism/rust/doubly-linked-list"},  # the row lacks src/pre_implemented.rs
    "humaneval-rust.jsonl": {
        f"humaneval-rust/{name}"
        for name in (
            # They do not build: mostly a statement where the value has to be.
            "89b3522ba513", "16c678ef26e0", "3773b2d3d6cc", "f5ec18a9c8bf", "c9540ab5ca4d", "3551c7d2328c",
            "b444ff1ef9c9", "e8728493c41e", "26d044698198", "319c413db129", "ef8a00ddd2a2", "7ef7f68c8538",
            "b04000cb4289", "4608dadb0e39", "25675615c3b2", "ce928872c18c", "878a740077a6", "6c4d0dc406c5",
            "24a2f33de8d2",
            "1fda3321092a",  # a wrong result
        )
    },
    "humaneval-x-cpp.jsonl": {"CPP/22", "CPP/137"},  # no boost here
    "humaneval-x-js.jsonl": {"JavaScript/112", "JavaScript/155"},  # a wrong result
    "mbpp.jsonl": {
        "MBPP/160", "MBPP/607",  # the test expects another value than the solution returns
        "MBPP/642",  # the order of a set, which is another in the Python of that time
        "MBPP/367", "MBPP/601", "MBPP/927",  # `root` and `Pair` are defined nowhere
    },
}  # fmt: skip
CRATES = ("alphametics", "diffie-hellman", "gigasecond", "grep", "pig-latin", "simple-cipher")
"""Exercises in Rust that need crates, and so `sandbox.rust_vendor`."""
LIMITS = {
    # Plain runs pass these; docs/formats.md says what a suite cannot do, docs/data-sets.md names the rows.
    "exercism-python.jsonl": {
        "exercism/python/paasio",  # mocks as objects in the answer
        "exercism/python/rational-numbers",  # a plain number is raised to the answer's object
    },
    "exercism-rust.jsonl": {f"exercism/rust/{slug}" for slug in CRATES},
    # The solution calls `compare`, which it does not define and the test program happens to.
    "mbpp-javascript.jsonl": {"MBJSP/243"},
}  # fmt: skip
WRONG = {
    f"MBJSP/{number}"
    for number in (
        26, 29, 37, 54, 65, 91, 94, 104, 106, 110, 129, 140, 156, 174, 193, 196, 197, 205, 213, 222, 230,
        249, 258, 261, 264, 273, 281, 324, 326, 333, 363, 368, 376, 378, 381, 394, 424, 428, 429, 445, 452,
        470, 473, 490, 492, 494, 512, 514, 544, 552, 553, 560, 573, 585, 611, 613, 621, 630, 637, 651, 665,
        679, 694, 695, 697, 698, 710, 713, 715, 720, 726, 740, 744, 749, 750, 776, 780, 785, 792, 795, 806,
        808, 811, 825, 842, 844, 858, 875, 878, 888, 921, 936, 951, 954, 969, 972,
    )
}  # fmt: skip
"""Rows of mbpp-javascript whose solution fails in plain node too: most name their arguments otherwise than
their header does."""


@pytest.fixture(scope="module")
def patient() -> Iterator[OpenVerifier]:
    """With time for what is slow where cores are shared: MBPP/123, exercises of both tracks."""
    with open_verifier(workers=1, limits=Limits(cpu_seconds=30, wall_seconds=300)) as opened:
        yield opened


@pytest.mark.jail
@pytest.mark.parametrize("name", SETS)
def test_references_pass(name: str, patient: OpenVerifier) -> None:
    assert_references_pass(name, *SETS[name], patient)


@pytest.mark.rust(8)
@pytest.mark.parametrize("name", RUST)
def test_references_in_rust_pass(name: str, patient: OpenVerifier) -> None:
    assert_references_pass(name, *RUST[name], patient)


@pytest.mark.soak(20)
def test_sets_come_in_and_are_judged_by_three_commands(tmp_path: Path) -> None:
    """`python benchmarks/real_sets.py` does it with all of each."""
    for name in scale.some([*SETS, "humaneval-rust.jsonl"], 3):
        file, programs = needs.data(name), SETS.get(name, ("", 0, ("cargo",)))[2]
        if all(map(shutil.which, programs)):
            found = measured(file, tmp_path, 6)
            assert found.tasks == 6, found
            assert set(found.failed) <= REFUSED.get(name, set()) | LIMITS.get(name, set()) | WRONG, found
            assert found.fit or name == "humaneval-rust.jsonl", found
            assert not found.findings.keys() & {"leak-answer!", "unverifiable!", "cheat-passes!"}, found
            assert "exit-passes" in found.findings or "same-process" not in found.trust, found


def assert_references_pass(
    name: str, fmt: str, each: int, programs: tuple[str, ...], verifier: OpenVerifier
) -> None:
    file = needs.data(name)
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    said: list[str] = []
    tasks = list(sources.iter_tasks(str(file), on_bad=said.append, on_guess=said.append))
    left_out = LEFT_OUT.get(name, 0)
    assert f"format '{fmt}'" in said[0] and len(said) == 1 + left_out
    assert len(tasks) == each * (sum(1 for _ in jsonl.read_rows(file)) - left_out) - FEWER.get(name, 0)
    drawn = scale.some([t for t in tasks if sound(t)], DRAWN)
    verdicts = [(task.id, verifier.submit(task, task.reference)) for task in drawn]
    failed = {name for name, future in verdicts if not future.result().passed}
    assert failed <= REFUSED.get(name, set()) | LIMITS.get(name, set()), failed


def sound(task: Task) -> bool:
    """Whether there is a reference, and it is none of those of MBXP whose names are not those of its header."""
    return bool(task.reference.strip()) and task.id not in WRONG
