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
from tests.training.conftest import tiny_model  # noqa: F401

import strop
from strop.config.load import dump_recipe, load_recipe
from strop.environments.registry import find_environment
from strop.evaluation.selectors import SELECTORS
from strop.policies.open import open_policy
from strop.reports.alarms import alarms
from strop.rewards.rubric import find_reward
from strop.training.checkpoints import read_state
from strop_tasks.curation.pipeline.read import STEPS
from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.rollout import Group
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


@pytest.mark.train(15)
def test_a_plugin_adds_a_loss_and_an_advantage(site: Path, tiny_model: Path, tmp_path: Path) -> None:  # noqa: F811
    """Two steps with them, the second after a resumption, are those of a file that holds the same, to the bit."""
    install(site, "strop-coin", POINTS)
    words = [
        f"model.name={tiny_model}", "model.compute_dtype=float32", "model.sampling_dtype=float32",
        "model.gradient_checkpointing=false", "tasks.source=coins:4", "tasks.style=continue",
        "tasks.held_out_fraction=0", f"rewards=[{{name: '{tmp_path}/mine.py:spread'}}]", "sampling.max_tokens=6",
        "grpo.group_size=2", "grpo.mask_truncated=false", "grpo.tasks_per_step=2", "grpo.advantage.start=0.5",
        "optim.learning_rate=0.01", "run.save_every=1", "run.keep_optimizer=true", "evaluation.before=false",
        "evaluation.after=false", "grpo.loss.most=0.7",
    ]  # fmt: skip
    code = (PLUGIN / "learning.py").read_text(encoding="utf-8")
    score = "def spread(task, rollout, verdict):\n    return sum(rollout.flat()[0]) % 7 / 7\n"
    (tmp_path / "mine.py").write_text(f"{code}\n\n{score}")
    named = ["grpo.loss=softened", "grpo.advantage=best-so-far"]
    filed = [f"grpo.loss={tmp_path}/mine.py:softened", f"grpo.advantage={tmp_path}/mine.py:BestSoFar"]

    def trained(run: str, forms: list[str], steps: int) -> dict[str, Any]:
        recipe = strop.recipe(*forms, *words, f"run.dir={tmp_path / run}", f"optim.steps={steps}")
        strop.train(recipe, say=lambda text: None)
        text = (tmp_path / run / "recipe.yaml").read_text()
        assert f"type: {recipe.grpo.loss.type}\n" in text and "start: 0.5" in text and "most: 0.7" in text
        return {
            key: value for key, value in metrics(tmp_path / run)[-1].items() if key in ("loss", "grad_norm")
        }

    def resumed(run: str, *changes: str) -> None:
        path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "strop.cli", "train", "--resume", str(tmp_path / run), *changes]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    whole = trained("whole", filed, 2)
    assert whole["grad_norm"] > 0 and whole["loss"] == pytest.approx(0, abs=1e-9), "the tangent of no gap"
    trained("parts", named, 1)
    state = read_state(tmp_path / "parts" / "checkpoints" / "checkpoint-1")
    assert state["advantages"]["best"] > 0.5
    resumed("parts", "optim.steps=2")
    assert {key: metrics(tmp_path / "parts")[-1][key] for key in whole} == whole


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["grpo.loss={type: softened, mots: 2}"],
            r"grpo.loss.mots: unknown option of softened; did you mean most\?",
        ),
        (["grpo.loss={type: softened, most: 0}"], r"grpo.loss.most: Input should be greater than 0, got 0"),
        (["grpo.loss=softend"], r"'softend' is none of .*, softened; did you mean softened\?"),
        (
            ["grpo.loss={file}:plain"],
            r"loss '.*plain' must return \(each .*, not \(.*Size\(\[\]\), None, ''\)",
        ),
        (["grpo.loss={file}:still"], r"loss '.*still' has no gradient"),
        (["grpo.loss={file}:fails"], r"loss '.*fails' raised KeyError: 'x' \(own.py:8\)"),
        (["grpo.loss={file}:gone"], r"grpo.loss: '.*own.py' has no 'gone'"),
        (["grpo.advantage=best-sofar"], r"'best-sofar' is none of .*; did you mean best-so-far\?"),
        (
            ["grpo.advantage={file}:two"],
            r"advantage '.*two' must be a function of \(groups\), .*\(own.py:11\)",
        ),
        (
            ["grpo.advantage={file}:few"],
            r"advantage '.*few' must return a finite number for each of 1 rollouts, not \[\]",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_loss_or_an_advantage_that_cannot_be_had_is_one_line(
    site: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    from strop.algorithms.losses import find_loss
    from strop.training.batch import Advantages

    install(site, "strop-coin", POINTS)
    (tmp_path / "own.py").write_text(
        "def plain(tokens):\n    return tokens.logps.sum()\n\n"
        "def still(tokens):\n    return tokens.old, None, 'tokens'\n\n"
        "def fails(tokens):\n    return {}['x']\n\n\n"
        "def two(groups, more):\n    return []\n\n"
        "def few(groups):\n    return [[] for group in groups]\n"
    )
    rollout = strop.Rollout(task_id="t", index=0, seed=0, prompt="", turns=[], reward=1.0)
    with pytest.raises(UserError, match=said) as caught:
        grpo = strop.recipe(*(word.replace("{file}", f"{tmp_path}/own.py") for word in words)).grpo
        find_loss(grpo.loss)
        Advantages(grpo.advantage).of([Group(task_id="t", step=0, rollouts=[rollout])])
    assert "\n" not in str(caught.value)


@pytest.mark.jail
def test_a_plugin_adds_a_kind_of_check(site: Path, tmp_path: Path) -> None:
    install(site, "strop-coin", POINTS)
    task = {"statement": "Which side is up?", "check": {"kind": "flip", "side": "heads"}}
    edit = {"kind": "edit", "format": "whole-file", "files": {"a": ""}, "judge": task["check"], "path": "a"}
    lines = [task, {"statement": "Write the side.", "check": edit}]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    one, within = strop.load_tasks(str(tmp_path / "tasks.jsonl"))
    assert type(one.check) is type(within.check.effective()) and one.model_dump()["check"] == task["check"]
    assert [json.loads(each.model_dump_json())["check"] for each in (one, within)] == [task["check"], edit]
    assert one.toolchain() == "flip" and strop.Task.model_validate_json(one.model_dump_json()) == one
    with strop.open_verifier() as verifier:
        right, wrong = strop.verify(one, ["heads", "tails"], verifier=verifier)
    assert right.passed and not wrong.passed and right.tests[0].id == "side"
    for check, said in (
        ({"kind": "flip", "side": "edge"}, r"check.side: Input should be 'heads' or 'tails'"),
        ({"kind": "zzzz"}, r"there are cases, .*, none, flip, and those of packages that are installed"),
        ({"kind": "flap"}, r"no kind of check named 'flap'; did you mean 'flip'\?"),
    ):
        (tmp_path / "tasks.jsonl").write_text(json.dumps({**task, "check": check}) + "\n")
        with pytest.raises(UserError, match=said):
            strop.load_tasks(str(tmp_path / "tasks.jsonl"))


def test_the_reference_has_what_a_plugin_adds(site: Path) -> None:
    """One row for every entry point, with a text and its package."""
    install(site, "strop-coin", POINTS)
    code = "import runpy; print(runpy.run_path('docs/reference.py')['pages']()['names.md'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120,
        cwd=PLUGIN.parents[2], env={**os.environ, "PYTHONPATH": str(site)},
    )  # fmt: skip
    for group, points in ADDS.items():
        (section,) = (part for part in done.stdout.split("\n## ") if f"Entry points: `{group}`" in part)
        for name in points:
            (row,) = (line for line in section.splitlines() if line.startswith(f"| `{name}` |"))
            _, _, text, origin, _ = (cell.strip() for cell in row.split("|"))
            assert text and origin == "strop-coin", row


def test_a_kind_of_check_that_has_a_name_of_ours_is_refused(site: Path) -> None:
    install(site, "strop-clash", "[strop_verify.checks]\nlabel = strop_clash:x\n", "x = 1")
    said = r"package 'strop-clash', entry point strop_verify.checks: label .*of a built-in one"
    with pytest.raises(UserError, match=said):
        strop.Task(statement="s", check={"kind": "label", "choices": ["a", "b"], "expected": "a"})


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
        (lambda: strop.recipe({"optim": {"steps": object()}}), "recipe: not plain data as in a file"),
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
