"""The suite itself: what it holds, and that its texts keep the rules."""

from collections import Counter

import pytest

from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.suite import FAMILIES, Attack, choose, fill, load_suite, trial
from strop_verify.attacks.tasks import build
from strop_verify.core.errors import UserError


def test_enough_attacks_of_every_family() -> None:
    suite = load_suite()
    assert Counter(a.language for a in suite).keys() == {"python", "rust", "c", "javascript", "play"}
    assert {a.family for a in suite if a.language == "python"} == set(FAMILIES)
    assert (
        sum(a.language == "python" for a in suite) >= 170 and sum(a.language == "rust" for a in suite) >= 110
    )
    assert sum(a.language == "play" for a in suite) >= 25
    assert len({a.id for a in suite}) == len(suite)


def test_every_placeholder_is_known_and_no_hostile_answer_is_told_the_secret() -> None:
    with Canaries() as canaries:
        tasks = build(canaries.secret, canaries.folder)
        for attack in load_suite():
            made = trial(attack, tasks, canaries.facts)
            assert made.hostile is not None and str(canaries.secret) not in made.hostile, attack.id
            assert made.honest != made.hostile, attack.id
            assert made.task.language == attack.language.replace("play", "python"), attack.id


def test_a_hostile_answer_that_holds_the_secret_is_refused() -> None:
    known = load_suite()[0].model_dump()
    with pytest.raises(ValueError, match="may not hold @SECRET@"):
        Attack(**{**known, "hostile": "print(@SECRET@)"})


def test_no_echo_of_source_holds_the_word_for_having_got_through() -> None:
    word = "0123456789abcdef"
    for language in ("python", "rust", "c", "javascript", "play"):
        assert word not in fill("print(@REACHED@)", {"REACHED": word}, language)


def test_choosing_by_language_family_and_name() -> None:
    suite = load_suite()
    assert [a.id for a in choose(suite, language=None, family=None, name="python/loop")] == ["python/loop"]
    assert {a.family for a in choose(suite, language="rust", family="escape", name=None)} == {"escape"}
    for wrong in ({"language": "cobol"}, {"family": "x"}, {"name": "x"}):
        with pytest.raises(UserError, match=next(iter(wrong))):
            choose(suite, **{"language": None, "family": None, "name": None, **wrong})
