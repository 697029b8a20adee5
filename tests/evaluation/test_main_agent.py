"""`strop eval --subagent`: the main agent's searches, by itself and with tools that are known."""

import json
from pathlib import Path

import pytest
from tests.warm import strop

from strop.evaluation.main_agent import TURNS, SearchTaken, compared
from strop.tasks.jsonl import write_tasks
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.ranges import Ranges
from strop_verify.core.task import Task

FILES = 30


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    """Questions for one of many files that hold the same words; its line stands on its second page."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(FILES):
        lines = [
            f"price_{number} = {number}",
            *(f"row_{n} = 0" for n in range(99)),
            f"def rounded_{number}(price):",
        ]
        (folder / f"m{number:02}.py").write_text("\n".join([*lines, "    return round(price)", ""]))
    return [
        Task(
            id=f"q{number}", family="search", statement=f"Where is rounded_{number} defined, which rounds a price?",
            check=RetrievalCheck(tree=str(folder), truth={f"m{number:02}.py": [(101, 102)]}),
        )
        for number in (3, 17, 28)
    ]  # fmt: skip


def test_a_tool_that_knows_takes_one_turn_and_one_that_knows_nothing_costs_one(tasks: list[Task]) -> None:
    number = {task.statement: next(iter(task.check.only(RetrievalCheck).truth)) for task in tasks}

    def oracle(folder: Path, question: str) -> tuple[Ranges, str]:
        return {number[question]: ((101, 102),)}, "x" * 50

    def silent(folder: Path, question: str) -> tuple[Ranges, str]:
        return {}, ""

    def wrong(folder: Path, question: str) -> tuple[Ranges, str]:
        return {"m05.py": ((1, 2),)}, "m05.py:1-2"

    alone, helped, difference = compared(tasks, oracle)
    assert (helped["found"].value, helped["turns"].value, helped["characters"].value) == (1.0, 1.0, 50.0)
    assert alone["found"].value == 1.0 and 1 < alone["turns"].value <= TURNS
    assert difference["turns"].delta == pytest.approx(1 - alone["turns"].value)
    _, nothing, one_more = compared(tasks, silent)
    assert nothing["found"].value == 1.0 and one_more["turns"].delta == 1.0
    _, _, two_more = compared(tasks, wrong)
    assert two_more["turns"].delta == 2.0 and two_more["characters"].delta > 0


def test_the_command_prints_and_writes_the_table(tasks: list[Task], tmp_path: Path) -> None:
    write_tasks(tasks, tmp_path / "tasks.jsonl")
    words = ["eval", "--subagent", "words", "--split", "all", "-o", tmp_path / "out.json"]
    done = strop(*words, "--tasks", tmp_path / "tasks.jsonl")
    assert done.returncode == 0, done.stderr
    assert "with the tool" in done.stdout and "3 tasks" in done.stdout
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["tasks"] == 3 and found["found"]["with"]["value"] == 1.0
    assert found["turns"]["with"]["value"] < found["turns"]["alone"]["value"]
    for more, told in ((["--tasks", "python-functions"], "no search task"), ([], "needs search tasks")):
        done = strop("eval", "--subagent", "words", *more)
        assert done.returncode == 2 and told in done.stderr


def test_a_search_ends_when_there_is_nothing_left_to_read(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a.py").write_text("price = 1\n")
    (folder / "b.py").write_text("x = 1\n")
    check = RetrievalCheck(tree=str(folder), truth={"b.py": [(1, 1)]})
    task = Task(id="q", family="search", statement="Where is the price?", check=check)
    alone, _, _ = compared([task], lambda folder, question: ({}, ""))
    assert (alone["found"].value, alone["turns"].value) == (0.0, 2.0)
    assert SearchTaken.__dataclass_fields__.keys() == alone.keys()
