"""The suite's own rules: one tier a test, a draw that moves with its seed, nothing skipped that is required."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests import needs, scale, tiers
from tests.conftest import SUSPECT


def test_every_test_is_in_one_tier(request: pytest.FixtureRequest) -> None:
    assert request.config.stash[SUSPECT] == []
    assert request.session.items


def test_a_short_run_draws_by_the_seed(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    first, again, other = (tiers.drawn(items, seed) for seed in ("a", "a", "b"))
    assert first == again
    units = [[i for i in many if tiers.tier(i) == "unit"] for many in (items, first, other)]
    assert units[0] == units[1] == units[2]
    cases, tried = (
        Counter(tiers.table(i) for i in many if tiers.tier(i) == "jail") for many in (items, first)
    )
    assert tried == {table: min(n, max(tiers.TABLE, (n + 1) // 2)) for table, n in cases.items()}
    for name, budget in tiers.BUDGETS.items():
        costs = [tiers.seconds(item) for item in first if tiers.tier(item) == name]
        assert sum(costs) <= max(budget, *costs, 0)


class Case:
    """A case of a table in the jail, or a test that takes long, as far as a draw asks."""

    def __init__(self, nodeid: str, **markers: float) -> None:
        self.nodeid, self.fixturenames = nodeid, ("verifier",)
        self.own_markers = [getattr(pytest.mark, name)(cost).mark for name, cost in markers.items()]

    def listchain(self) -> list["Case"]:
        return [self]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((mark for mark in self.own_markers if mark.name == name), None)


def test_every_case_of_a_table_has_its_turn_and_what_is_dear_has_it_seldom() -> None:
    cases: list[Any] = [Case(f"tests/a.py::test_a[{number}]", jail=2) for number in range(21)]
    drawn = [tiers.drawn(cases, str(seed)) for seed in range(60)]
    assert {len(some) for some in drawn} == {11} and {case for some in drawn for case in some} == {*cases}
    dear: list[Any] = [Case("tests/a.py::test_b", soak=4 * tiers.BUDGETS["soak"])]
    assert 60 < sum(len(tiers.drawn(dear, str(seed))) for seed in range(400)) < 140


def test_samples_move_with_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROP_TEST_FULL", "0")
    seen = set()
    for seed in range(200):
        monkeypatch.setenv("STROP_TEST_SEED", str(seed))
        drawn = scale.some(range(50), 5)
        assert drawn == scale.some(range(50), 5) == sorted(drawn) and len(set(drawn)) == 5
        seen.update(drawn)
    assert seen == set(range(50))
    monkeypatch.setenv("STROP_TEST_FULL", "1")
    assert scale.some(range(50), 5) == list(range(50)) and scale.most(9, 2) == 9


@pytest.mark.parametrize(
    ("require", "ended"), [("", pytest.skip.Exception), ("browser, data", pytest.fail.Exception)]
)
def test_what_is_required_is_not_skipped(
    require: str, ended: type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STROP_REQUIRE", require)
    monkeypatch.setattr(needs, "DATA", tmp_path)
    with pytest.raises(ended, match="STROP_DATA"):
        needs.data("nothing.jsonl")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ended):
        needs.need("browser")


def test_children_get_ctrl_c_however_the_run_was_started() -> None:
    """As a background job of a shell starts it: with SIGINT ignored."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    command = [
        sys.executable,
        "-c",
        f"import tests.conftest, subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[1], env={**os.environ},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.xdist_group("probe")
def test_groups_reach_the_scheduler(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("loadgroup", False):
        assert request.node.nodeid.endswith("@probe")
