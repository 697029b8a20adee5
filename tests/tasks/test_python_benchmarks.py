"""The shared data of QuixBugs and HumanEval-Infilling, every row, in the real jail where it says so."""

import json
from typing import Any

import pytest
from tests import needs

from strop.tasks.adapters import ADAPTERS
from strop_verify.core.task import Task
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_verifier
from strop_verify.verification.verifier import OpenVerifier

INFILLING = ("single-line", "multi-line", "random-span-light")

CHANGES_NOTHING = {
    # The removed line or lines do not change what the function returns, or not on any input of its tests.
    "SingleLineInfilling/HumanEval/20/L8": "no test has its closest pair first",
    "SingleLineInfilling/HumanEval/33/L0": "a copy of the argument",
    "SingleLineInfilling/HumanEval/68/L0": "a special case that the rest covers",
    "SingleLineInfilling/HumanEval/95/L8": "a break; the next round breaks as well",
    "SingleLineInfilling/HumanEval/95/L18": "a break; the next round breaks as well",
    "SingleLineInfilling/HumanEval/96/L6": "a break, then only more work",
    "SingleLineInfilling/HumanEval/99/L3": "a comment",
    "SingleLineInfilling/HumanEval/105/L6": "an entry that no test asks for",
    "SingleLineInfilling/HumanEval/105/L7": "an entry that no test asks for",
    "SingleLineInfilling/HumanEval/111/L7": "in each test the first word is among the most frequent",
    "SingleLineInfilling/HumanEval/118/L5": "no test comes to a consonant between two consonants",
    "SingleLineInfilling/HumanEval/124/L1": "no test has spaces around its date",
    "SingleLineInfilling/HumanEval/127/L3": "no test has a composite length",
    "SingleLineInfilling/HumanEval/127/L8": "no test has an odd prime length",
    "SingleLineInfilling/HumanEval/129/L9": "the item at the other end of the row is never the smallest in the tests",
    "SingleLineInfilling/HumanEval/150/L5": "a break, then only more work",
    "MultiLineInfilling/HumanEval/10/L0_L1": "a special case that the rest covers",
    "MultiLineInfilling/HumanEval/89/L5_L6": "no test has characters other than small letters",
    "MultiLineInfilling/HumanEval/127/L8_L8": "as L8 of the single lines",
    "MultiLineInfilling/HumanEval/129/L1_L1": "an initial value that is always replaced",
}
"""Rows whose empty middle passes, by name, with the reason."""


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in needs.data(name).read_text().splitlines()]


def read(adapter: str, found: list[dict[str, Any]]) -> list[Task]:
    return [task for n, row in enumerate(found, start=1) for task in ADAPTERS[adapter].read(row, f"row {n}")]


def outcomes(tasks: list[Task], verifier: OpenVerifier) -> tuple[dict[str, str], dict[str, str]]:
    """Outcome of each reference and of each broken version, by task."""
    good = [verifier.submit(task, task.reference) for task in tasks]
    bad = [verifier.submit(task, task.metadata["broken"]) for task in tasks]
    return (
        {task.id: future.result().outcome.value for task, future in zip(tasks, good, strict=True)},
        {task.id: future.result().outcome.value for task, future in zip(tasks, bad, strict=True)},
    )


@pytest.mark.soak(20)
def test_quixbugs_every_correct_program_passes_and_every_buggy_one_fails() -> None:
    # Room for the exponential ones, such as levenshtein, on cores that are shared.
    limits = Limits(cpu_seconds=15, wall_seconds=60)
    with open_verifier(workers=2, limits=limits) as verifier:
        good, bad = outcomes(read("quixbugs", rows("quixbugs.jsonl")), verifier)
    assert {name: outcome for name, outcome in good.items() if outcome != "passed"} == {}
    assert {name: outcome for name, outcome in bad.items() if outcome not in ("failed", "timed out")} == {}


@pytest.mark.soak(20)
@pytest.mark.parametrize("kind", INFILLING)
def test_infilling_the_canonical_middle_passes_and_an_empty_one_fails(
    kind: str, verifier: OpenVerifier
) -> None:
    good, bad = outcomes(read("infilling", rows(f"humaneval-infilling-{kind}.jsonl")), verifier)
    assert {name: outcome for name, outcome in good.items() if outcome != "passed"} == {}
    spared = {name for name, outcome in bad.items() if outcome not in ("failed", "timed out")}
    assert spared - CHANGES_NOTHING.keys() == set()
    assert spared == CHANGES_NOTHING.keys() & bad.keys()
