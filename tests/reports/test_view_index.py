import threading
from pathlib import Path
from typing import Any

import pytest

from strop.reports.page.rollout_index import Index, matcher
from strop.reports.run_folder import RunFolder
from strop_verify.core.errors import UserError

from .made_runs import make_run

SIZE = 2 * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(
        tmp_path_factory.mktemp("index") / "run", steps=5, groups=2, size=3, evaluations=("before",)
    )


def planned(steps: int = 5) -> dict[int, int]:
    return dict.fromkeys(range(1, steps + 1), SIZE)


def test_answers_say_how_much_was_looked_at(folder: Path) -> None:
    index = Index(folder)
    index.scan(planned())
    assert index.progress() == {"looked_at": 0, "total": 5 * SIZE, "complete": False}
    assert index.steps == [1, 2, 3, 4, 5]
    assert len(index.rows("t.3")["rows"]) == SIZE  # read at once, before all others
    found = index.search({}, 100)
    assert (found["matched"], found["looked_at"], found["complete"]) == (SIZE, SIZE, False)
    assert found["total"] == 5 * SIZE + SIZE  # an evaluation is taken to be as long as what was read
    index.read(0)
    assert not index.progress()["complete"]
    index.read()
    assert index.progress() == {"looked_at": 5 * SIZE + 15, "total": 5 * SIZE + 15, "complete": True}


def test_a_block_is_read_once_however_many_ask(folder: Path) -> None:
    heard: list[int] = []
    index = Index(folder, seen=heard.append)
    index.scan(planned())
    threads = [threading.Thread(target=index.rows, args=(f"t.{1 + number % 5}",)) for number in range(20)]
    threads += [threading.Thread(target=index.read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == list(range(1, 5 * SIZE + 15 + 1))
    assert [group[:2] for group in index.groups] == [
        [step, group] for step in range(1, 6) for group in range(2)
    ]


def test_the_newest_step_and_the_evaluations_are_read_first(folder: Path) -> None:
    read: list[list[str]] = []
    index = Index(folder, seen=lambda count: read.append([block.file.name for block in index.blocks]))
    index.scan(planned())
    index.read()
    read.append([block.file.name for block in index.blocks])
    order = dict.fromkeys(name for names in read for name in sorted(names))
    assert [*order] == ["t.5", "e.before", "t.4", "t.3", "t.2", "t.1"]


def test_shared_parts_keep_their_types(folder: Path) -> None:
    """1.0 equals True: a score of 1.0 must not become the True of a stage that passed."""
    index = Index(folder)
    index.scan(planned())
    rows = [row for step in range(1, 6) for row in index.rows(f"t.{step}")["rows"]]
    assert {type(value) for row in rows for value in row["stages"].values()} == {bool}
    assert {type(value) for row in rows for value in row["scores"].values()} <= {float, int, type(None)}
    assert bool not in {type(value) for row in rows for value in row["scores"].values()}
    assert {type(row["truncated"]) for row in rows} == {bool}


def test_what_was_forgotten_and_written_again_is_another(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=3, groups=2, size=3, finished=False)
    index = Index(folder)
    index.scan(planned(3))
    kept, first = index.rows("t.1"), index.epoch
    assert index.rows("t.3")["rows"]
    index.scan(planned(3))
    assert index.epoch == first
    with RunFolder.resume(folder) as run:
        groups = list(run.iter_groups(2))
        run.truncate_after(1)
        index.scan(planned(1))
        assert index.epoch != first
        assert index.rows("t.3")["rows"] == [] and index.find("t.3.0.0") is None
        assert index.rows("t.1") == kept
        second = index.epoch
        run.write_rollouts(3, groups)  # the same step with other rollouts
        index.scan(planned(3))
        assert index.epoch == second  # nothing that was handed out is void
        found = index.find("t.3.1.2")
        assert found is not None
        ((row, line),) = found.lines({"t.3.1.2"})
        assert (row["id"], line["seed"]) == ("t.3.1.2", groups[1].rollouts[2].seed)


def test_bounds_must_be_numbers(folder: Path) -> None:
    for word in ("x", "nan", "1,5", "--1"):
        with pytest.raises(UserError, match="is not a number"):
            matcher({"min": word})
    index = Index(folder)
    index.scan(planned())
    row = index.rows("t.3")["rows"][0] | {"reward": -1.0}
    fits = matcher({"min": "-1", "max": " ", "from": "2e0"})
    assert (
        fits(row, "", "") and not fits(row | {"step": 1}, "", "") and not fits(row | {"reward": -1.1}, "", "")
    )
    assert not fits(row | {"reward": None}, "", "")


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("best", lambda row: float("inf") if row["reward"] is None else -row["reward"]),
        ("worst", lambda row: float("inf") if row["reward"] is None else row["reward"]),
        ("longest", lambda row: -row["tokens"]),
        ("shortest", lambda row: row["tokens"]),
        ("flagged", lambda row: -len(row["flags"])),
    ],
)
def test_rows_come_in_the_order_that_is_asked_for(folder: Path, sort: str, key: Any) -> None:
    index = Index(folder)
    index.scan(planned())
    index.read()
    rows = index.search({}, 1000)["rows"]
    keys = [key(row) for row in rows]
    assert keys != sorted(keys)
    assert index.search({"sort": sort}, 7)["rows"] == sorted(rows, key=key)[:7]
    with pytest.raises(UserError, match="is none of best, worst"):
        index.search({"sort": "size"}, 7)
