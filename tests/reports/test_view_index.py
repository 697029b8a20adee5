import threading
from pathlib import Path

import pytest

from strop.core.errors import UserError
from strop.reports.run_folder import RunFolder
from strop.reports.view.blocks import Filters
from strop.reports.view.index import Index

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
    found = index.search(Filters(), 100)
    assert (found["matched"], found["looked_at"], found["complete"]) == (SIZE, SIZE, False)
    assert found["total"] == 5 * SIZE + SIZE  # an evaluation is taken to be as long as what was read
    index.start()
    index.start()
    while not index.progress()["complete"]:
        threading.Event().wait(0.01)
    assert index.progress() == {"looked_at": 5 * SIZE + 15, "total": 5 * SIZE + 15, "complete": True}
    index.close()


def test_a_block_is_read_once_however_many_ask(folder: Path) -> None:
    index = Index(folder)
    index.scan(planned())
    threads = [threading.Thread(target=index.rows, args=(f"t.{1 + number % 5}",)) for number in range(20)]
    index.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while not index.progress()["complete"]:
        threading.Event().wait(0.01)
    groups, _ = index.since(0, 0)
    assert sorted(group[:2] for group in groups) == [
        [step, group] for step in range(1, 6) for group in range(2)
    ]
    index.close()


def test_the_newest_step_and_the_evaluations_are_read_first(folder: Path) -> None:
    index = Index(folder)
    index.scan(planned())
    index.start()
    while not index.progress()["complete"]:
        threading.Event().wait(0.01)
    groups, tasks = index.since(0, 0)
    assert [group[0] for group in groups] == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    evaluated = {row["task"] for row in index.rows("e.before")["rows"]}
    newest = {row["task"] for row in index.rows("t.5")["rows"]}
    assert set(list(tasks)[: len(evaluated | newest)]) == evaluated | newest
    index.close()


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
        assert found is not None and found[1]["seed"] == groups[1].rollouts[2].seed


def test_bounds_must_be_numbers() -> None:
    for word in ("x", "nan", "1,5", "--1"):
        with pytest.raises(UserError, match="is not a number"):
            Filters.of({"min": word})
    assert Filters.of({"min": "-1", "max": " ", "from": "2e0"}) == Filters(low=-1.0, first=2.0)
