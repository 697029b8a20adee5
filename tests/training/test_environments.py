"""The environments of examples/ train a tiny model for two steps, each from its one file and nothing else."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.warm import strop

EXAMPLES = Path(__file__).parents[2] / "examples" / "environments"


def rollouts(run: Path) -> list[dict[str, Any]]:
    from strop.reports.run_folder import RunFolder

    folder = RunFolder.read(run)
    assert folder.rollout_steps() == [1, 2] and len((run / "metrics.jsonl").read_text().splitlines()) == 2
    return [r.model_dump() for step in (1, 2) for group in folder.iter_groups(step) for r in group.rollouts]


@pytest.mark.unit
@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_each_is_forty_lines_at_most(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= 40


def trained(words: list[str], tmp_path: Path, *more: str) -> list[dict[str, Any]]:
    common = ["optim.steps=2", "grpo.refill=false", "evaluation.before=false", "evaluation.after=false"]
    done = strop("train", *words, *common, *more)
    assert done.returncode == 0, done.stderr
    return rollouts(tmp_path / "run")


@pytest.mark.train(8)
def test_try_again(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    found = trained(
        recipe_words("run"),
        tmp_path,
        f"tasks.environment={{type: '{EXAMPLES}/try_again.py:TryAgain', tries: 3}}",
        "grpo.advantage={type: per-turn}",
    )
    assert {len(r["turns"]) for r in found} == {3}
    for rollout in found:
        first, second, _ = rollout["turns"]
        assert first["verdict"]["outcome"] != "passed" and first["reward"] is not None
        assert [e["name"] for e in first["events"]] == ["Verify"] and second["prompt_ids"]
    line = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[0])
    assert line["turns"] == 3 and line["effects"] == 2 and line["seconds_effects"] > 0
    assert line["turns_with_effects"] == pytest.approx(2 / 3) and line["stops"] == {"answered": 1.0}


@pytest.mark.train(8)
def test_tools_in_a_folder_that_lasts(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    """The model's own text never calls, so a subclass in a file of its own says what it would have said."""
    (tmp_path / "calls.py").write_text(
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('folder_tools', '{EXAMPLES}/folder_tools.py')\n"
        "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n"
        "class Calls(module.FolderTools):\n"
        "    def step(self, completion):\n"
        "        text = 'run: cat note.txt >> answer.py; wc -l answer.py'\n"
        "        return super().step(completion.model_copy(update={'text': text}))\n"
    )
    found = trained(recipe_words("run"), tmp_path, f"tasks.environment={tmp_path}/calls.py:Calls")
    for rollout in found:
        assert [e["result"] for t in rollout["turns"][:2] for e in t["events"]] == [
            "status 0\n0 answer.py\n",
            "status 0\n0 answer.py\n",
        ]
        assert rollout["answer"] == "Write your answer to answer.py." * 2


CALLS = """
from strop.environments.workspace import Workspace

class Calls(Workspace):
    def step(self, completion):
        text = "<explain>sorted</explain>" if self.left > 1 else "<save>def f():\\n    return 1\\n1/0</save>"
        return super().step(completion.model_copy(update={"text": text}))
"""


@pytest.mark.train(16)
def test_tools_of_ones_own(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    """The model's own text never calls: once that is said to it, once a subclass says what it would have said."""
    own = f"tools: '{EXAMPLES}/own_tools.py:Desk', turns: 2"
    words = recipe_words("run", tasks__style="chat")
    for rollout in trained(words, tmp_path, f"tasks.environment={{type: workspace, {own}}}"):
        assert len(rollout["turns"]) == 2 and rollout["answer"].endswith("    ...\n")
        assert "events" not in rollout["turns"][0] or not rollout["turns"][0]["events"]
    (tmp_path / "calls.py").write_text(CALLS)
    shutil.rmtree(tmp_path / "run")
    for rollout in trained(
        words, tmp_path, f"tasks.environment={{type: '{tmp_path}/calls.py:Calls', {own}}}"
    ):
        first, second = (turn["events"] for turn in rollout["turns"])
        assert first[0]["result"].startswith("Return a new list containing all items")
        assert (
            second[0]["asked"].startswith("save(code='def f()") and "ZeroDivisionError" in second[0]["result"]
        )
        assert rollout["answer"] == "def f():\n    return 1\n1/0"


@pytest.mark.train(8)
def test_tools_of_the_calling_process(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    import strop as package

    class Desk(package.Toolbox):
        def save(self, code: str) -> str:
            """Writes the solution."""
            self.folder.put({"solution.py": code})
            return "saved"

    words = [*recipe_words("run", tasks__style="chat"), "optim.steps=2", "grpo.refill=false"]
    recipe = package.recipe(*words, "evaluation.before=false", "evaluation.after=false")
    tasks = package.load_tasks("python-functions", limit=8)
    package.train(recipe, tasks=tasks, environment=Desk, say=print)
    found = rollouts(tmp_path / "run")
    assert all(
        "<save>CODE</save>  Writes the solution." in r["prompt"] and len(r["turns"]) == 8 for r in found
    )


@pytest.mark.train(8)
def test_lookups_side_by_side(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    found = trained(
        recipe_words("run"),
        tmp_path,
        f"tasks.environment={EXAMPLES}/lookups.py:Lookups",
        "play.order=as-ready",
    )
    for rollout in found:
        assert len(rollout["turns"]) == 2 and len(rollout["turns"][0]["events"]) == 4


@pytest.mark.train(8)
def test_silence_is_an_action(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    lines = [
        {"statement": f"x = [{n}", "check": {"kind": "none"}, "metadata": {"next": "]" * (n % 2)}}
        for n in range(8)
    ]
    (tmp_path / "edits.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shutil.copy(EXAMPLES / "silence.py", tmp_path)
    found = trained(
        recipe_words("run"),
        tmp_path,
        f"tasks.source=jsonl:{tmp_path}/edits.jsonl",
        f"tasks.environment={EXAMPLES}/silence.py:Suggests",
        f'rewards=[{{name: "{EXAMPLES}/silence.py:wanted"}}]',
        "tasks.held_out_fraction=0",
        "tasks.style=chat",
    )
    assert {r["verdict"]["outcome"] for r in found} == {"unjudged"}
    assert {r["reward"] for r in found} <= {0.0, 0.5, 1.0}


@pytest.mark.train(8)
def test_from_a_notebook(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    """The cell is run by name, as a notebook does, so its class has no file of a module's."""
    import strop as package

    cell: dict[str, Any] = {"__name__": "__main__"}
    source = (EXAMPLES / "notebook.py").read_text().partition('if __name__ == "__main__":')[0]
    exec(compile(source, "<cell 1>", "exec"), cell)
    words = [*recipe_words("run"), "optim.steps=2", "grpo.refill=false", "evaluation.before=false"]
    recipe = package.recipe(*words, "evaluation.after=false")
    tasks = package.load_tasks("python-functions", limit=8)
    said: list[str] = []
    package.train(
        recipe, tasks=tasks, rewards={cell["short"]: 1.0}, environment=cell["Hint"], say=said.append
    )
    found = rollouts(tmp_path / "run")
    assert {r["task_id"] for r in found} <= {task.id for task in tasks}
    assert {score["name"] for r in found for score in r["scores"]} == {"short"}
    assert any(r["prompt"].startswith("# ") for r in found)
