"""Attacks composed by a grammar: the same for a seed, shrunk when they succeed, and none of them does."""

import json
from pathlib import Path

import pytest
from tests.scale import full, most, seed

from strop.attacks.bench import run
from strop.attacks.canary import Canaries
from strop.attacks.generate import LANGUAGES, Payload, generate, keep, shrunk
from strop.attacks.grader import Grade
from strop.attacks.suite import FAMILIES, load_answers
from strop.attacks.tasks import build
from strop.core.task import Task
from strop.sandbox import jail_names


def test_a_seed_and_a_number_decide_the_payload() -> None:
    with Canaries() as canaries:
        tasks = build(canaries.secret)
        first, again, other = (
            [(p.name, t.hostile) for t, p in generate(300, number, tasks, canaries.facts)]
            for number in (1, 1, 2)
        )
    assert first == again and len(set(first)) == 300 and not set(first) & set(other)


@pytest.mark.parametrize("language", LANGUAGES)
def test_payloads_are_whole(language: str) -> None:
    with Canaries() as canaries:
        secret = str(canaries.secret)
        for trial, made in generate(500, 3, build(canaries.secret), canaries.facts, language):
            assert trial.language == language and trial.family in FAMILIES and trial.hostile is not None
            assert (
                secret not in trial.hostile and "$ACT" not in trial.hostile and "$VALUE" not in trial.hostile
            )
            assert trial.honest is None or secret in trial.honest
            for text in filter(None, (trial.hostile, trial.honest)):
                if language == "python":
                    compile(text, made.name, "exec")


def test_an_act_that_is_not_needed_goes() -> None:
    made = Payload(
        "x",
        "python",
        "forge",
        "cases",
        "def code(x):\n    $ACT\n    return $VALUE",
        ("a", "b", "c"),
        "1",
        "pass",
    )
    assert shrunk(made, lambda less: "b" in less.acts).acts == ("b",)
    assert shrunk(made, lambda less: True).text() == "def code(x):\n    pass\n    return 1"
    assert shrunk(made, lambda less: False) == made


class Careless:
    """A grader that lets every answer pass which raises something."""

    name = "careless"

    def grade(self, task: Task, answer: str) -> Grade:
        passed = "raise " in answer
        return Grade("passed" if passed else "failed", passed, "", "", 0.0)

    def deadline(self, task: Task) -> float:
        return 60.0

    def close(self) -> None:
        pass


def test_an_exploit_is_kept_and_can_be_tried_again(tmp_path: Path) -> None:
    with Canaries() as canaries:
        drawn = list(generate(150, 5, build(canaries.secret), canaries.facts, "python"))
        trials, by_name = [t for t, _ in drawn], {p.name: p for _, p in drawn}
        rows = run(Careless(), trials, canaries, grace=60)
        found = [(row, by_name[row.attack]) for row in rows if row.exploits]
        keep(tmp_path, found, [Careless()], trials, canaries, grace=60)
        given = load_answers(tmp_path)
    assert {t.name for t in given} == {row.attack for row, _ in found} and given
    wide = [t for t in given if by_name[t.name].place.count("raise ") == 0]
    assert wide and all(t.hostile and t.hostile.count("raise ") >= 1 for t in wide)
    assert any(len(t.hostile or "") < len(by_name[t.name].text()) for t in wide)


def test_a_slice_of_python(strop, tmp_path) -> None:
    count = most(1000, 40)
    number = int.from_bytes(seed().encode(), "big") % 10**6 if not full() else 1
    done = strop("attack", "--generate", count, "--seed", number, "--language", "python",
                 "--jail", jail_names()[-1], "--json", "r.json", "--grace", "20")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["attacks"] == count and (found["exploits"], found["honest_failed"], found["leftovers"]) == (
        0,
        0,
        0,
    )


@pytest.mark.rust(12)
def test_a_slice_of_rust(strop, tmp_path) -> None:
    done = strop("attack", "--generate", most(200, 10), "--seed", 1, "--language", "rust",
                 "--jail", jail_names()[-1], "--json", "r.json", "--grace", "60")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["exploits"] == 0
