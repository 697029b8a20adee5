"""Next edits: states of commits, what is shown and answered, the simulated user, and a run from a history to an update."""

import json
from pathlib import Path

import pytest
from tests.curation.test_retrieval import Made
from tests.warm import strop

from strop.core.checks import NextEditCheck, PastEdit
from strop.tasks.next_edit import answer_for, edited
from strop.tasks.sources import load_tasks

SHOP = "".join(
    f"def {word}(count):\n    return count * price\n\n\n" for word in ("apples", "bread", "cheese", "dates")
)
FAR = "".join(f"x{n} = {n}\n" for n in range(60))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = Made(tmp_path_factory.mktemp("histories") / "shop")
    repo.commit("The first version of the shop", {"shop.py": SHOP, "far.py": FAR})
    repo.commit("The price is now called cost", {"shop.py": SHOP.replace("price", "cost")})
    far = FAR.replace("x1 = 1\n", "x1 = 2\n").replace("x50 = 50\n", "x50 = 51\n")
    repo.commit("Two numbers far from each other", {"far.py": far})
    done = strop("build", "next-edit", str(repo.folder), "-o", str(repo.folder.with_name("edits.jsonl")))
    assert done.returncode == 0, done.stderr
    return repo.folder.with_name("edits.jsonl")


def test_main_path(built: Path, tiny_model: Path, tmp_path: Path) -> None:
    done = strop(
        "train", "next-edit-laptop", f"tasks.source={built}", f"model.name={tiny_model}", f"run.dir={tmp_path}/run",
        "optim.steps=2", "grpo.tasks_per_step=2", "grpo.group_size=4", "sft.steps=1", "sampling.max_tokens=8",
        "tasks.max_prompt_tokens=4096", "evaluation.limit=4",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2]
