"""What a recipe's word means, where the paths in a recipe start, and what packaged recipes say of themselves."""

import json
import re
from pathlib import Path

import pytest

from strop.config.load import dump_recipe, load_recipe
from strop.config.recipes import GENERATED, RECIPES, facts_of, find_recipe, is_recipe, recipe_names
from strop.tasks import sources
from strop.tasks.task_sets import tasks_of
from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.registry import added

ROOT = Path(__file__).parents[2]
RECIPE = """
model: {name: ./model, chat_template: chat.jinja}
tasks: {source: "edits:apps:data/rows.jsonl", template: ../prompt.txt, environment: {type: desk.py:Desk, tools: t.py:T}}
rewards: [{name: r.py:short}, {name: passed}]
grpo: {refill: false, teacher: {name: ./model}}
sft: {source: python-functions, demos: demos.jsonl}
evaluation: {extra: [{name: own, source: held.jsonl}, {name: hub, source: "apps:hub:org/name@test"}]}
"""


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe in a folder that is not the working directory."""
    for name in ("here/model", "there/model"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "there/recipe.yaml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "there/recipe.yaml"


@pytest.mark.parametrize("absolute", [True, False])
def test_paths_in_a_file_start_at_its_folder(recipe: Path, tmp_path: Path, absolute: bool) -> None:
    found = load_recipe([recipe if absolute else "../there/recipe.yaml"])
    there = tmp_path / "there"
    assert found.grpo.teacher and found.grpo.teacher.name == str(there / "model")
    assert found.model.name == f"{there}/model" and found.model.chat_template == f"{there}/chat.jinja"
    assert found.task_set.source == f"edits:apps:{there}/data/rows.jsonl"
    assert found.task_set.template == f"{tmp_path}/prompt.txt"
    assert found.task_set.environment.type == f"{there}/desk.py:Desk"
    assert found.task_set.environment.options == {"tools": f"{there}/t.py:T"}
    assert [reward.name for reward in found.rewards] == [f"{there}/r.py:short", "passed"]
    assert (found.sft.source, found.sft.demos) == ("python-functions", f"{there}/demos.jsonl")
    assert [e.source for e in found.evaluation.extra] == [f"{there}/held.jsonl", "apps:hub:org/name@test"]
    assert found.run.folder == Path("runs/run")  # what is written stays with the user


def test_paths_on_the_command_line_start_at_the_working_directory(recipe: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    words = [
        "tasks.template=p.txt",
        "rewards=[{name: r.py:short}]",
        "tasks.environment=e.py:E",
        "model.name=model",
    ]
    found = load_recipe([recipe], words)
    assert found.task_set.template == f"{here}/p.txt" and found.task_set.environment.type == f"{here}/e.py:E"
    assert found.rewards[0].name == f"{here}/r.py:short" and found.model.name == f"{here}/model"
    assert load_recipe([{"tasks": {"source": "a.jsonl"}}]).task_set.source == f"{here}/a.jsonl"


def test_a_resolved_recipe_reads_the_same_from_anywhere(recipe: Path, tmp_path: Path) -> None:
    found = load_recipe([recipe], ["tasks.template=p.txt"])
    (tmp_path / "dumped.yaml").write_text(dump_recipe(found))
    assert load_recipe([tmp_path / "dumped.yaml"]) == found


@pytest.mark.parametrize(
    "source",
    [
        "humaneval",
        "stdio-problems:1200@0/kinds",
        "hub:org/name@train",
        "edits:unified-diff:python-functions",
        "",
    ],
)
def test_names_stay_names(recipe: Path, source: str) -> None:
    recipe.write_text(
        f"tasks: {{source: '{source or 'x'}', template: chat-repair}}\nmodel: {{name: org/model}}"
    )
    found = load_recipe([recipe])
    assert found.task_set.source == (source or "x")
    assert (found.task_set.template, found.model.name) == ("chat-repair", "org/model")


def test_what_makes_tasks_is_known_where_paths_are_read() -> None:
    assert {*GENERATED, "doctests", *added("tasks")} == {*sources.GENERATED, "hub"}, (
        "doctests:FILE.py names a file"
    )


def test_a_packaged_recipe_has_its_files_and_takes_the_users(recipe: Path, tmp_path: Path) -> None:
    assert load_recipe(["demo"]).task_set.template == str(RECIPES / "prompts/function.txt")
    assert load_recipe(["feedback-laptop"]).sft.demos == f"{tmp_path}/here/feedback-demos.jsonl"
    assert load_recipe(["rust-laptop", "rubrics/rust-strict"]).task_set.judge == "own"
    assert find_recipe("small", "curate") == RECIPES / "curate/small.yaml"
    assert is_recipe("demo") and is_recipe("mine.yaml") and not is_recipe("small") and not is_recipe("1a2b")


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("dmeo", "did you mean demo?"),
        ("rust-strict", "did you mean rubrics/rust-strict?"),
        ("zzz", "there are "),
        ("optim.steps", "a key is set by optim.steps=VALUE"),
    ],
)
def test_an_unknown_name_is_one_line(word: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_recipe([word])
    assert caught.value.faults[0].startswith(f"no recipe named '{word}'; {remedy}")
    assert len(caught.value.faults) == 1
    with pytest.raises(UserError, match="no pipeline named 'demo'"):
        find_recipe("demo", "curate")


@pytest.mark.parametrize("word", ["tasks.jsonl", "made/tasks.jsonl.gz", "a.parquet"])
def test_data_is_no_recipe(word: str) -> None:
    with pytest.raises(ConfigError, match=f"not a recipe; name it in one as tasks.source={word}$"):
        load_recipe([word])
    with pytest.raises(UserError, match=f"not a pipeline; name it in one as source: {word}$"):
        find_recipe(word, "curate")


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_says_what_it_is(name: str) -> None:
    facts = facts_of(RECIPES / f"{name}.yaml")
    known = {"what", "needs", "time", "result", "measured"}
    assert set(facts) == (known | {"controls"} if facts["measured"] == "yes" else known)
    assert facts["measured"] in ("yes", "no") and all(len(text) <= 100 for text in facts.values())


TRAINED = {"ssd", "rft", "warm"}


@pytest.mark.parametrize("name", [n for n in recipe_names() if "controls" in facts_of(RECIPES / f"{n}.yaml")])
def test_what_a_result_is_held_against_is_there_or_its_lack_is_said(name: str) -> None:
    said = facts_of(RECIPES / f"{name}.yaml")["controls"]
    if named := re.search(r"experiments/\S+\.json", said):
        kept = json.loads((ROOT / named[0]).read_text())
        assert TRAINED & set(re.findall(r"\w+", said)) == set(kept["controls"]) & TRAINED
    else:
        assert (
            re.match(r"none (at equal compute|trained); ", said)
            or "at equal CPU time; none supervised" in said
        )


@pytest.mark.parametrize("name", recipe_names("rubrics"))
def test_every_overlay_says_what_it_is(name: str) -> None:
    assert set(facts_of(RECIPES / f"rubrics/{name}.yaml")) == {"what"}


def test_a_packaged_recipe_without_its_tasks_says_where_they_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UserError, match=r"no such file: .*tasks\.jsonl; how it is made: strop recipes repair-small$"
    ):
        tasks_of(load_recipe(["repair-small"]))
    with pytest.raises(UserError, match=r"no such file: .*mine\.jsonl$"):
        tasks_of(load_recipe(["demo"], ["tasks.source=jsonl:mine.jsonl"]))
