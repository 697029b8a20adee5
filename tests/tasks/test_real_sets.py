"""The shared data sets come in without a converter; references pass on a draw of each, but for rows known by name."""

import shutil

import pytest
from tests import needs, scale

from strop.core.task import Task
from strop.tasks import sources
from strop.verification.verifier import OpenVerifier

DRAWN = 12
"""Tasks of each set in a short run."""
SETS = {
    "cruxeval.jsonl": ("cruxeval", ()),
    "humaneval-x-cpp.jsonl": ("humaneval-x", ("g++",)),
    "humaneval-x-js.jsonl": ("humaneval-x", ("node",)),
    "mbpp-javascript.jsonl": ("mbxp", ("node",)),
    "mbpp.jsonl": ("humaneval", ()),
    "quixbugs.jsonl": ("quixbugs", ()),
    "humaneval-infilling-single-line.jsonl": ("infilling", ()),
}
REFUSED = {
    # Plain g++ has no boost here.
    "humaneval-x-cpp.jsonl": {"CPP/22", "CPP/137"},
    # node with the same test refuses them too.
    "humaneval-x-js.jsonl": {"JavaScript/112", "JavaScript/155"},
    # The solution uses `compare`, which the set's own test happens to define.
    "mbpp-javascript.jsonl": {"MBJSP/243"},
}
LEFT_OUT = {"mbpp.jsonl": 1}
"""Rows that make no task: the prompt of MBPP/64 is no Python."""
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


@pytest.mark.jail
@pytest.mark.parametrize("name", SETS)
def test_references_pass(name: str, verifier: OpenVerifier) -> None:
    fmt, programs = SETS[name]
    file = needs.data(name)
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    said: list[str] = []
    tasks = list(sources.iter_tasks(str(file), on_bad=said.append, on_guess=said.append))
    assert f"format '{fmt}'" in said[0] and len(said) == 1 + LEFT_OUT.get(name, 0)
    failed = [t.id for t in scale.some([t for t in tasks if sound(t)], DRAWN) if not passes(verifier, t)]
    assert set(failed) <= REFUSED.get(name, set()), failed


def passes(verifier: OpenVerifier, task: Task) -> bool:
    return verifier.verify(task, task.reference).outcome.value == "passed"


def sound(task: Task) -> bool:
    """Whether there is a reference, and it is none of those of MBXP whose names are not those of its header."""
    return bool(task.reference.strip()) and task.id not in WRONG
