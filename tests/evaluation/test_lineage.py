"""A recipe's tasks: fewer tests in training alone, windows for what is held out; what a model was trained on."""

from pathlib import Path

import pytest

from strop.config.load import dump_recipe, load_recipe
from strop.config.recipes import RECIPES
from strop.evaluation.contamination import other_prompts, run_of, seen
from strop.tasks import write_tasks
from strop.tasks.task_sets import chosen_tasks, split_tasks
from strop_verify.core.checks import StdioCase, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Six programs with six tests each; 2 train, 4 held out, dated from 2024-01 on but for the last."""
    check = StdioCheck(cases=[StdioCase(stdin="x" * n, stdout="y", shown=n == 1) for n in range(1, 7)])
    tasks = [
        Task(
            id=f"t{n}",
            family="program",
            statement=f"Problem {n}: " + " ".join(f"w{n}{k}" for k in range(20)),
            check=check,
            split="train" if n < 2 else "held-out",
            metadata={"date": f"2024-0{n + 1}-01"} if n < 5 else {},
        )
        for n in range(6)
    ]
    write_tasks(tasks, tmp_path / "tasks.jsonl")
    return tmp_path / "tasks.jsonl"


def test_training_tasks_have_fewer_tests_and_held_out_ones_a_window(source: Path) -> None:
    words = [f"tasks.source={source}", "tasks.max_tests=3", "evaluation.window.from=2024-04-01"]
    train, held_out = split_tasks(load_recipe([], words))
    assert [t.id for t in train] == ["t0", "t1"] and [t.id for t in held_out] == ["t3", "t4"]
    for task in train:
        assert isinstance(task.check, StdioCheck)
        assert [len(case.stdin) for case in task.check.cases] == [1, 5, 6]
    assert all(task.test_count == 6 for task in held_out)
    with pytest.raises(
        UserError, match=r"evaluation\.window 2030-01-01 to \.\.\.: 3 of other days, 1 without a date"
    ):
        split_tasks(load_recipe([], [*words, "evaluation.window.from=2030-01-01"]))
    chosen, window = chosen_tasks(load_recipe([], words), "all", None)
    assert [t.id for t in chosen] == ["t3", "t4"] and {t.test_count for t in chosen} == {3}
    assert window is not None and (window["undated"], window["other_days"]) == (1, 3)


def test_a_run_tells_what_its_models_were_trained_on(source: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "final").mkdir(parents=True)
    (run / "checkpoints" / "checkpoint-3").mkdir(parents=True)
    trained = load_recipe([], [f"tasks.source={source}", "model.cutoff=2024-02-15"])
    (run / "recipe.yaml").write_text(dump_recipe(trained))
    tasks, _ = chosen_tasks(trained, "all", None)
    said: list[str] = []
    for folder in (run, run / "final", run / "checkpoints" / "checkpoint-3"):
        assert run_of(str(folder)) == run
        found = seen(load_recipe(), str(folder), tasks, None, said.append)
        assert found is not None and found.similar == ["t0", "t1"] and found.cutoff == "2024-02-15"
    assert (
        run_of("some/model") is None and seen(load_recipe(), "some/model", tasks, None, said.append) is None
    )
    given = seen(load_recipe([], ["model.cutoff=2020-01-01"]), str(run), tasks, str(source), said.append)
    assert given is not None and len(given.similar) == 6 and given.cutoff == "2020-01-01"
    assert not said
    source.unlink()
    found = seen(load_recipe(), str(run), tasks, None, said.append)
    assert found is not None and found.source is None and "near-duplicates are not counted" in said[0]


def test_a_run_that_was_trained_on_other_prompts_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "final").mkdir()
    template = RECIPES / "prompts/repair-short.txt"
    trained = load_recipe([], ["tasks.style=continue", f"tasks.template={template}"])
    (tmp_path / "recipe.yaml").write_text(dump_recipe(trained))
    name = str(tmp_path / "final")
    said = other_prompts(load_recipe(), name)
    assert said == f"tasks.style=continue tasks.template={template}"
    assert other_prompts(load_recipe([], said.split()), name) is None
    assert other_prompts(load_recipe(), "some/model") is None
