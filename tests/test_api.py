"""`import strop` as a notebook has it, and what other packages add by entry points."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import strop
from strop.config.load import dump_recipe, load_recipe
from strop.environments.registry import find_environment
from strop.evaluation.selectors import SELECTORS
from strop.policies.open import open_policy
from strop.reports.alarms import alarms
from strop.rewards.rubric import find_reward
from strop_tasks.curation.pipeline.read import STEPS
from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.section import Section

TASKS = strop.load_tasks("python-functions", limit=1)
POLICY = strop.ScriptedPolicy(lambda prompt, seed, asked: "pass")
PLUGIN = Path(__file__).parents[1] / "examples" / "plugin" / "strop_coin"
ADDS = tomllib.loads((PLUGIN.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "entry-points"
]
POINTS = "".join(
    f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
    for group, points in ADDS.items()
)


def install(site: Path, name: str, points: str, code: str | None = None) -> None:
    """What an installer leaves of a package in a site directory."""
    module = name.replace("-", "_")
    about = site / f"{module}-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(points)
    if code is None:
        copytree(PLUGIN, site / module)
    else:
        (site / f"{module}.py").write_text(code)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_import_is_light_and_fast() -> None:
    code = (
        "import time; t = time.process_time(); import strop, sys; t = time.process_time() - t\n"
        "strop.__dir__(); print(t < 0.4, sorted({'torch', 'transformers', 'pydantic'} & set(sys.modules)))\n"
        "strop.play, strop.load_tasks, strop.evaluate, strop.verify, strop.train, strop.open_policy\n"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == ["True []", "[]"]


def test_every_name_is_there_after_everything_is_imported() -> None:
    import strop.rollouts.dispatcher
    import strop.tasks.sources

    for name in dir(strop):
        assert not isinstance(getattr(strop, name), type(sys)), name
    with pytest.raises(AttributeError, match=r"no attribute 'rollout'"):
        strop.rollout  # noqa: B018


def test_a_plugin_adds_one_of_each(site: Path, verifier: Any) -> None:
    install(site, "strop-coin", POINTS)
    tasks = strop.load_tasks("coins:2")
    words = [
        "policy.engine=coin", "policy.options={side: 1}", "tasks.environment=first-line",
        "rewards=[{name: heads}, {name: passed}]", "evaluation.samples=1", "evaluation.k=[1]",
    ]  # fmt: skip
    recipe = strop.recipe(*words)
    policy = strop.open_policy(recipe)
    groups = strop.play(policy, tasks, recipe=recipe, verifier=verifier)
    assert sorted(group.rewards[0] or 0 for group in groups) == [1.0, 2.0]
    assert strop.evaluate(policy, tasks, recipe=recipe, verifier=verifier).values("pass@1") == {
        task.id: float("Return 1" in task.statement) for task in tasks
    }
    (site / "again.yaml").write_text(dump_recipe(recipe))
    assert load_recipe([site / "again.yaml"]) == recipe


def test_a_plugin_adds_formats_steps_alarms_and_selectors(site: Path, tmp_path: Path) -> None:
    install(site, "strop-coin", POINTS)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"flip": n}) + "\n" for n in range(3)))
    tasks = strop.load_tasks(f"coin-rows:{tmp_path / 'rows.jsonl'}")
    assert [task.signature for task in tasks] == [f"def flip_{n}() -> int:" for n in range(3)]
    assert strop.load_tasks(str(tmp_path / "rows.jsonl")) == tasks, "a row is known by its look"
    step = STEPS["keep-heads"](Section())
    kept = [task for task in step.run(lambda: iter(tasks), None) if isinstance(task, strop.Task)]
    assert [task.signature for task in kept] == ["def flip_1() -> int:"]
    found = alarms([{"step": 1, "reward": 1.0}])
    assert [(alarm.name, alarm.text) for alarm in found] == [("rigged", "every coin shows heads")]
    assert "longest" in SELECTORS and not SELECTORS["longest"].needs


def test_a_plugin_adds_commands_and_builders(site: Path, tmp_path: Path) -> None:
    install(site, "strop-coin", POINTS)
    install(site, "strop-broken", "[strop.commands]\nbroken = strop_broken:gone\n", "")

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        path = {**os.environ, "PYTHONPATH": str(site)}
        command = [sys.executable, "-m", "strop.cli", *words]
        return subprocess.run(
            command, capture_output=True, text=True, env=path, cwd=tmp_path, timeout=120, check=False
        )

    assert ran("flip", "--count", "2").stdout.split("\n")[:2] == [
        "def flip_0() -> int:",
        "def flip_1() -> int:",
    ]
    assert ran("build", "coins", "coins.jsonl").stdout == "2 tasks: coins.jsonl\n"
    assert len((tmp_path / "coins.jsonl").read_text().splitlines()) == 2
    helped = ran("--help")
    assert helped.returncode == 0 and "A command: `strop flip`." in helped.stdout
    broken = ran("broken")
    assert broken.returncode == 2 and broken.stderr.count("\n") == 1 and "strop-broken" in broken.stderr


def test_unknown_key_of_an_added_engine_is_named(site: Path) -> None:
    install(site, "strop-coin", POINTS)
    with pytest.raises(ConfigError, match=r"policy.side=1: unknown key for engine coin"):
        strop.recipe("policy.engine=coin", "policy.side=1")
    with pytest.raises(ConfigError, match=r"'cion' is none of .*scripted, coin; did you mean coin\?"):
        strop.recipe("policy.engine=cion")


def test_names_that_nothing_has() -> None:
    with pytest.raises(UserError, match=r"no environment named 'single-trun'; did you mean 'single-turn'"):
        find_environment("single-trun")
    with pytest.raises(UserError, match=r"unknown task source 'coinage'"):
        strop.load_tasks("coinage")


@pytest.mark.parametrize(
    ("points", "code", "said"),
    [
        ("bad = broken:reward", "1 / 0", "does not load: ZeroDivisionError: division by zero"),
        ("bad = broken:missing", "x = 1", "does not load: AttributeError"),
        ("bad = absent:reward", "x = 1", "does not load: ModuleNotFoundError"),
        ("bad = broken:x", "x = 1", "is 1, which cannot be called"),
    ],
)
def test_a_broken_plugin_is_named_in_one_line(
    site: Path, points: str, code: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    install(site, "broken", f"[strop.rewards]\n{points}\n", code)
    with pytest.raises(UserError) as caught:
        find_reward("bad")
    line = str(caught.value)
    assert said in line and "\n" not in line
    assert f"package 'broken', entry point strop.rewards: {points}" in line
    assert find_reward("passed") is not None


def test_clashes_are_refused(site: Path) -> None:
    install(
        site,
        "one",
        "[strop.rewards]\npassed = one:f\nmine = one:f\n[strop.tasks]\njsonl = one:f\n",
        "f = print",
    )
    install(site, "two", "[strop.rewards]\nmine = two:f\n[strop.policies]\nscripted = two:f\n", "f = print")
    with pytest.raises(
        UserError, match=r"package 'one', entry point strop.rewards: passed.*of a built-in one"
    ):
        find_reward("passed")
    with pytest.raises(UserError, match=r"package 'one', .* package 'two', .* share a name"):
        find_reward("mine")
    with pytest.raises(
        UserError, match=r"package 'one', entry point strop.tasks: jsonl = one:f has the name"
    ):
        strop.load_tasks("jsonl:tasks.jsonl")
    with pytest.raises(
        UserError, match=r"package 'two', entry point strop.policies: scripted = two:f has the name"
    ):
        open_policy(strop.recipe("policy.engine=scripted", "policy.answers=a.jsonl"))


def test_verify_takes_one_task_for_all_answers(verifier: Any) -> None:
    task = strop.load_tasks("python-functions", limit=1)[0]
    right, wrong = strop.verify(task, [task.reference, "pass"], verifier=verifier)
    assert right.passed and not wrong.passed
    with pytest.raises(UserError, match=r"2 tasks for 1 answers"):
        strop.verify([task, task], ["pass"], verifier=verifier)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: strop.play(3, TASKS), "policy must be one that answers, such as .*, not int 3"),
        (lambda: strop.play(POLICY, "x"), "tasks must be a list of strop.Task, such as .*, not 'x'"),
        (lambda: strop.play(POLICY, TASKS, samples="2"), "samples must be a whole number, not str '2'"),
        (lambda: strop.play(POLICY, TASKS, rewards=["passed"]), "rewards must be a mapping"),
        (lambda: strop.play(POLICY, TASKS, rewards={"passed": "x"}), "rewards: a weight must be a number"),
        (lambda: strop.play(POLICY, TASKS, rewards={3: 1.0}), "rewards: 3 is neither a name nor a function"),
        (lambda: strop.play(POLICY, TASKS, recipe={}), "recipe must be strop.recipe.*, not dict"),
        (lambda: strop.evaluate(POLICY, [1]), "tasks must be a list of strop.Task"),
        (lambda: strop.verify(TASKS, "pass"), "answers must be a list of texts"),
        (lambda: strop.train("demo"), "recipe must be strop.recipe.*, not str"),
        (lambda: strop.recipe(3), "recipe must be a file, KEY=VALUE or a mapping, not int 3"),
        (lambda: strop.recipe({"optim": {"stepz": 1}}), "recipe:1 optim.stepz: unknown key; did you mean"),
        (lambda: strop.recipe({"optim": {"steps": object()}}), "recipe: not data as a file holds it"),
    ],
)
def test_an_argument_of_a_wrong_type_is_one_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_recipe_may_be_nested_data() -> None:
    words = ["demo", {"optim": {"steps": 7}, "tasks": {"environment": "single-turn"}}, "seed=3"]
    recipe = strop.recipe(*words)
    assert (recipe.optim.steps, recipe.seed, recipe.model.name) == (7, 3, strop.recipe(words[0]).model.name)


@pytest.mark.jail
def test_a_task_that_is_listed_twice_is_played_twice() -> None:
    first, second = strop.play(POLICY, [*TASKS, *TASKS], samples=2)
    assert [r.index for r in (*first.rollouts, *second.rollouts)] == [0, 1, 2, 3]
    assert len({r.seed for r in (*first.rollouts, *second.rollouts)}) == 4


def test_a_file_that_was_edited_is_loaded_anew(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    for value in (1.0, 2.0, 1.0):
        file.write_text(f"def mine(task, rollout, verdict): return {value}\n")
        assert find_reward(f"{file}:mine")(TASKS[0], None, None) == value  # type: ignore[arg-type, call-arg]
