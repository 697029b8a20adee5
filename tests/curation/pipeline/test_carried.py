"""Curated tasks carry what they need: the folder can be moved, and what it was made of be gone."""

import difflib
import json
import shutil
from pathlib import Path
from typing import Any

from tests.environments.small_projects import RIGHT, WRONG, project_task

from strop.tasks.row_sources import placed
from strop.tasks.sources import load_tasks
from strop_tasks.curation.pipeline.run import RunOptions
from strop_verify.core.checks import ProjectCheck, RetrievalCheck
from strop_verify.core.task import Task

from .helpers import lines, ran, write

DIFF = "".join(
    difflib.unified_diff(WRONG.splitlines(True), RIGHT.splitlines(True), "a/shop/cart.py", "b/shop/cart.py")
)


def shop(folder: Path, statement: str) -> Path:
    """A file with a task, and beside it the snapshot, which the task names without a folder."""
    folder.mkdir()
    task = placed(project_task(folder), lambda place: Path(place).name)
    write(
        folder / "tasks.jsonl",
        [json.loads(task.model_copy(update={"id": folder.name, "statement": statement}).model_dump_json())],
    )
    shutil.rmtree(folder / "shop-1.0")
    return folder / "tasks.jsonl"


def judge(task: Task) -> ProjectCheck:
    assert task.edit is not None
    return task.edit.effective().only(ProjectCheck)


def test_snapshots_go_with_the_tasks(tmp_path: Path, verifier: Any) -> None:
    texts = {"one": "The dearest price is wrong.", "two": "Mend what the tests of the cart say."}
    sources = [shop(tmp_path / name, text) for name, text in texts.items()]
    with (tmp_path / "two" / "shop.tar.gz").open("ab") as file:
        file.write(bytes(512))  # another file of the same name
    snapshots = [(tmp_path / name / "shop.tar.gz").read_bytes() for name in texts]
    manifest = ran(tmp_path / "out", sources, [{"split": {"parts": {"a": 0.5, "b": 0.5}}}])
    assert manifest["carried"] == ["2-shop.tar.gz", "shop.tar.gz"]
    for name in texts:
        shutil.rmtree(tmp_path / name)
    (tmp_path / "elsewhere").mkdir()
    moved = (tmp_path / "out").rename(tmp_path / "elsewhere" / "moved")
    assert [(moved / name).read_bytes() for name in ("shop.tar.gz", "2-shop.tar.gz")] == snapshots
    for file in ("tasks.jsonl", "a.jsonl", "b.jsonl"):
        assert str(tmp_path) not in (moved / file).read_text()
    named = {row["id"]: row["check"]["judge"]["project"] for row in lines(moved / "tasks.jsonl")}
    assert named == {"one": "shop.tar.gz", "two": "2-shop.tar.gz"}
    parts = [row["check"]["judge"]["project"] for name in "ab" for row in lines(moved / f"{name}.jsonl")]
    assert sorted(parts) == sorted(named.values())
    for task in load_tasks(f"jsonl:{moved}/tasks.jsonl"):
        assert judge(task).project == str(moved / named[task.id])
        verdict = verifier.submit(task, DIFF).result()
        assert verdict.passed, verdict
    again = ran(tmp_path / "again", moved / "tasks.jsonl", ["shuffle"], options=RunOptions(workers=1))
    assert again["carried"] == manifest["carried"]


def test_trees_beside_a_source_are_carried_and_other_folders_are_named_as_they_were(tmp_path: Path) -> None:
    home, far = tmp_path / "home", tmp_path / "far"
    for folder in (home / "tree", far):
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("x = 1\n")
    places = ["tree", str(far), str(tmp_path / "gone.tar.gz"), "data:application/gzip;base64,AAAA"]
    tasks = [
        Task(
            id=f"t{n}",
            statement=f"Where is x of {n}?",
            check=RetrievalCheck(tree=place, truth={"a.py": [(1, 1)]}),
        )
        for n, place in enumerate(places)
    ]
    write(home / "tasks.jsonl", (json.loads(task.model_dump_json()) for task in tasks))
    for source in (home, home / "tasks.jsonl"):
        out = tmp_path / f"out-{source.name}"
        assert ran(out, source, ["shuffle"])["carried"] == ["tree"]
        assert {row["id"]: row["check"]["tree"] for row in lines(out / "tasks.jsonl")} == {
            task.id: place for task, place in zip(tasks, places, strict=True)
        }
        assert (out / "tree" / "a.py").read_text() == "x = 1\n"
    (home / "tree" / "a.py").write_text("x = 2\n")
    ran(out, home / "tasks.jsonl", ["shuffle"], options=RunOptions(workers=1, overwrite=True))
    assert (out / "tree" / "a.py").read_text() == "x = 2\n"
    ran(out, write(tmp_path / "none.jsonl", [json.loads(tasks[1].model_dump_json())]), ["shuffle"],
        options=RunOptions(workers=1, overwrite=True))  # fmt: skip
    assert not (out / "tree").exists()
