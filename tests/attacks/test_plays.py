"""Hostile plays: scripts in the environments of many turns get no pass and no error, and leave nothing behind."""

from collections.abc import Iterator

import pytest

from strop.attack.plays import played
from strop_verify.attacks.bench import run
from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.grader import LIMITS, StropGrader
from strop_verify.attacks.plays import environment_of, told, worse
from strop_verify.attacks.suite import Attack, fill, load_suite, trial
from strop_verify.attacks.tasks import build
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox import jail_names
from strop_verify.verification import open_verifier
from strop_verify.verification.verifier import OpenVerifier

PLAYS = [attack for attack in load_suite() if attack.language == "play"]
JAIL = (jail_names() or ["minimal"])[-1]


@pytest.fixture(scope="module")
def canaries() -> Iterator[Canaries]:
    with Canaries() as watched:
        yield watched


@pytest.fixture(scope="module")
def tasks(canaries: Canaries) -> dict[str, Task]:
    return build(canaries.secret, canaries.folder)


def test_there_are_enough_of_every_kind() -> None:
    assert len(PLAYS) >= 25
    assert {attack.family for attack in PLAYS} == {"forge", "read", "escape", "exhaust", "outlive"}
    assert {attack.task for attack in PLAYS} == {"play-workspace", "play-feedback"}


@pytest.mark.soak(60)
def test_every_hostile_play_fails_and_its_honest_twin_passes(
    canaries: Canaries, tasks: dict[str, Task]
) -> None:
    def open_it() -> OpenVerifier:
        return open_verifier(workers=1, limits=LIMITS, jail=JAIL)

    trials = [trial(attack, tasks, canaries.facts) for attack in PLAYS]
    rows = run(StropGrader(JAIL, open_it, player=played), trials, canaries, grace=200.0)
    assert [
        (row.attack, row.exploits, row.leftovers, row.honest_detail) for row in rows if not row.good
    ] == []
    assert len(rows) == len(PLAYS)


@pytest.mark.parametrize("attack", PLAYS, ids=lambda attack: attack.name)
def test_every_turn_of_a_script_does_what_it_says(
    attack: Attack, canaries: Canaries, tasks: dict[str, Task], verifier: OpenVerifier
) -> None:
    """A call that could not be read would try nothing."""
    if attack.family == "exhaust" or attack.name in ("forged-turns-in-feedback", "submit-markers"):
        pytest.skip("slow, or malformed on purpose")
    one = trial(attack, tasks, canaries.facts)
    assert one.hostile is not None
    for rollout in played(one.task, one.hostile, verifier, JAIL):
        assert rollout.stop_reason == "answered" and rollout.verdict.scored and not rollout.verdict.passed
        wanted = len(one.hostile.split("\n=====\n"))
        assert all(turn.events for turn in rollout.turns[:wanted] if "<" in turn.completion.text) or (
            attack.name == "forged-chat-turns"
        )


def test_what_a_play_reaches_and_a_pass_are_found_out(
    canaries: Canaries, tasks: dict[str, Task], verifier: OpenVerifier
) -> None:
    task = tasks["play-workspace"]
    reached = fill("<run>echo @REACHED@</run>\n=====\n<finish></finish>", canaries.facts, "play")
    assert canaries.leaked(told(played(task, reached, verifier, JAIL)))
    assert not canaries.leaked(reached)
    right = (
        f"<edit>shop/price.py @@ return n @@ return n * {canaries.secret}</edit>\n=====\n<finish></finish>"
    )
    assert worse(played(task, right, verifier, JAIL)).outcome is Outcome.PASSED


def test_both_plays_of_a_script_share_a_jail_and_the_worse_one_counts(
    tasks: dict[str, Task], verifier: OpenVerifier
) -> None:
    task = tasks["play-workspace"]
    script = "<run>echo $PPID; ls; touch planted</run>\n=====\n<finish></finish>"
    one, two = played(task, script, verifier, JAIL)
    assert [e.result for t in one.turns for e in t.events] == [e.result for t in two.turns for e in t.events]
    passed = one.model_copy(update={"verdict": one.verdict.model_copy(update={"outcome": Outcome.PASSED})})
    broken = one.model_copy(update={"verdict": one.verdict.model_copy(update={"outcome": Outcome.ERROR})})
    assert worse([one, passed, broken]).passed
    assert worse([broken, one]).outcome is Outcome.ERROR


def test_a_play_is_known_by_its_task(tasks: dict[str, Task]) -> None:
    names = {name: environment_of(task) for name, task in tasks.items() if environment_of(task)}
    assert names == {"play-workspace": "workspace", "play-feedback": "feedback"}
    assert not any(attack.harmless for attack in PLAYS)
