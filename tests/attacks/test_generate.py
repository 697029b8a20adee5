"""Attacks composed by a grammar: the same for a seed, shrunk when they succeed, and none of them does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scale import full, most, seed

from strop.attack.answers import load_answers
from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.generate import LANGUAGES, Payload, generate, shrunk
from strop_verify.attacks.projects import PROJECTS
from strop_verify.attacks.suite import FAMILIES
from strop_verify.attacks.tasks import build
from strop_verify.sandbox import jail_names

PROJECT_IDS = {f"attacked/{name}" for name in PROJECTS}


def test_a_seed_and_a_number_decide_the_payload() -> None:
    with Canaries() as canaries:
        tasks = build(canaries.secret, canaries.folder)
        first, again, other = (
            [(p.name, t.hostile) for t, p in generate(300, number, tasks, canaries.facts)]
            for number in (1, 1, 2)
        )
    assert first == again and len(set(first)) == 300 and not set(first) & set(other)


@pytest.mark.parametrize("language", LANGUAGES)
def test_payloads_are_whole(language: str) -> None:
    with Canaries() as canaries:
        secret = str(canaries.secret)
        for trial, made in generate(
            500, 3, build(canaries.secret, canaries.folder), canaries.facts, language
        ):
            assert trial.language == language and trial.family in FAMILIES and trial.hostile is not None
            assert (
                secret not in trial.hostile and "$ACT" not in trial.hostile and "$VALUE" not in trial.hostile
            )
            assert trial.honest is None or secret in trial.honest or trial.task.id in PROJECT_IDS
            if language == "python":
                project = trial.task.id in PROJECT_IDS  # its answers are edits
                compile(made.text() if project else trial.hostile, made.name, "exec")


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


CARELESS = """
import sys
from pathlib import Path
from strop_verify.attacks.bench import run
from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.generate import generate, keep
from strop_verify.attacks.grader import Grade
from strop_verify.attacks.tasks import build

class Careless:
    name = "careless"
    def grade(self, task, answer):
        passed = "raise " in answer  # it lets every answer pass that raises something
        return Grade("passed" if passed else "failed", passed, "", "", 0.0)
    def deadline(self, task): return 60.0
    def close(self): pass

with Canaries() as canaries:
    drawn = list(generate(int(sys.argv[2]), 5, build(canaries.secret, canaries.folder), canaries.facts, "python"))
    made = {p.name: p for _, p in drawn}
    rows = run(Careless(), [t for t, _ in drawn], canaries, grace=60)
    found = [(row, made[row.attack]) for row in rows if row.exploits]
    keep(Path(sys.argv[1]), found, [Careless()], [t for t, _ in drawn], canaries, grace=60)
    for row, payload in found:
        print(row.attack, payload.place.count("raise "), len(payload.text()))
"""


@pytest.mark.soak(13)
def test_an_exploit_is_kept_and_can_be_tried_again(tmp_path: Path) -> None:
    # In a process of its own: the bench waits for every child of the process that it runs in.
    done = subprocess.run(
        [sys.executable, "-c", CARELESS, str(tmp_path), str(most(150, 80))],
        capture_output=True,
        text=True,
        check=True,
    )
    found = {name: (int(own), int(size)) for name, own, size in map(str.split, done.stdout.splitlines())}
    given = {t.name: t.hostile or "" for t in load_answers(tmp_path)}
    assert given.keys() == found.keys() and given
    by_act = [name for name, (own, _) in found.items() if not own]
    assert by_act and all("raise " in given[name] for name in by_act)
    assert any(len(given[name]) < found[name][1] for name in by_act)


def test_a_slice_of_python(strop, tmp_path) -> None:
    count = most(1000, 20)
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
