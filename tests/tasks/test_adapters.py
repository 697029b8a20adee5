"""What holds for every adapter: reading, writing and reading again gives the same tasks and the same rows."""

import json
from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks import builtin, sources
from strop.tasks.adapters import ADAPTERS
from strop.tasks.formats import guessed, tasks_of, write_format
from strop_formats import humaneval

WRITTEN = [name for name, adapter in ADAPTERS.items() if adapter.write]
FOLDERS = [name for name, adapter in ADAPTERS.items() if adapter.write_folder and adapter.folder]
FREE: dict[str, tuple[str, ...]] = {"livecodebench": ("private_test_cases",)}
"""Columns that are compared by the tasks alone: packed ones, whose bytes depend on the packer."""


def sample_tasks(name: str) -> list[Task]:
    adapter = ADAPTERS[name]
    rows = [(f"row {n}", row) for n, row in enumerate(adapter.sample(), start=1)]
    return list(tasks_of(adapter, rows))


def plain(value: Any) -> Any:
    """A value without what is null, JSON texts as their values: what both ways of holding it have in common."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return plain(json.loads(value))
        except ValueError:
            return value
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v is not None}
    return [plain(v) for v in value] if isinstance(value, list) else value


def rows_equal(name: str, given: dict[str, Any], back: dict[str, Any]) -> None:
    free = FREE.get(name, ())
    assert {k: v for k, v in plain(back).items() if k not in free} == {
        k: v for k, v in plain(given).items() if k not in free
    }


def test_the_formats_are_all_there():
    assert {
        "acecode", "apps", "evalplus", "exercism-rust", "harbor", "humaneval", "infilling", "livecodebench", "mbpp",
        "multipl-e", "prime", "quixbugs", "strop", "sven", "swe-bench", "taco", "trl", "verl",
    } <= set(ADAPTERS)  # fmt: skip
    assert "base" not in ADAPTERS and "multipl_e" not in ADAPTERS and len(ADAPTERS) == len(list(ADAPTERS))
    for name, adapter in ADAPTERS.items():
        assert adapter.name == name and adapter.about and "\n" not in adapter.about


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_sample_makes_tasks_with_ids_of_their_own(name):
    tasks = sample_tasks(name)
    assert len({task.id for task in tasks}) == len(tasks) >= len(ADAPTERS[name].sample())
    for task in tasks:
        assert task.test_count > 0 and task.split is None
        assert Task.model_validate_json(task.model_dump_json()) == task


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_sample_row_fits_its_own_format_only(name):
    for row in ADAPTERS[name].sample():
        adapter, _ = guessed(iter([("row", row)]))
        assert adapter.name == name


@pytest.mark.parametrize("name", ADAPTERS)
def test_fits_never_raises(name):
    fits = ADAPTERS[name].fits
    row = ADAPTERS[name].sample()[0]
    for value in (None, 0, 1.5, "", "{", [], [None], {}, {"kind": []}, True, b"x"):
        for column in row:
            fits({**row, column: value})
    assert not fits({})


@pytest.mark.parametrize("name", ADAPTERS)
def test_wrong_types_in_any_column_are_one_line_or_a_sound_task(name):
    """Whatever stands in a column, a row makes tasks that can be written, or one line; nothing else is raised."""
    adapter = ADAPTERS[name]
    for row in adapter.sample():
        for column in row:
            for value in (
                None,
                7,
                -1.5,
                True,
                "",
                "{",
                "[1",
                [],
                [None],
                [[["x"]]],
                {},
                {"a": {"b": [None]}},
            ):
                lines: list[str] = []
                tasks = list(tasks_of(adapter, [("here:1", {**row, column: value})], lines.append))
                assert len(lines) <= 1 and (tasks or lines)
                assert all("\n" not in line and line.startswith("here:1") for line in lines), lines
                for task in tasks:
                    assert Task.model_validate_json(task.model_dump_json()) == task


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_missing_column_is_one_line_or_a_sound_task(name):
    adapter = ADAPTERS[name]
    for row in adapter.sample():
        for column in row:
            lines: list[str] = []
            tasks = list(
                tasks_of(adapter, [("here:1", {k: v for k, v in row.items() if k != column})], lines.append)
            )
            assert len(lines) <= 1 and (tasks or lines), column


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"])
@pytest.mark.parametrize("name", WRITTEN)
def test_round_trip_through_a_file(name, suffix, tmp_path):
    adapter = ADAPTERS[name]
    tasks = sample_tasks(name)
    groups = [tasks]
    try:
        write_format(adapter, tasks, tmp_path / f"all.{suffix}")
    except UserError as error:  # one column with text and messages
        assert suffix == "parquet" and "different kinds" in str(error)
        groups = [[task] for task in tasks]
    for number, group in enumerate(groups):
        file = tmp_path / f"{number}.{suffix}"
        write_format(adapter, group, file)
        ids = {task.id for task in group}
        again = [task for task in sources.iter_tasks(f"{name}:{file}") if task.id in ids]
        if suffix != "parquet":
            assert again == group
        # A table holds null where a column is missing, so the columns kept in the metadata may lack nulls.
        assert [_without_nulls(task) for task in again] == [_without_nulls(task) for task in group]


def _without_nulls(task: Task) -> dict[str, Any]:
    return {**task.model_dump(), "metadata": plain(task.metadata)}


@pytest.mark.parametrize("name", WRITTEN)
def test_round_trip_of_the_rows(name, tmp_path):
    adapter = ADAPTERS[name]
    file = tmp_path / "rows.jsonl"
    write_format(adapter, sample_tasks(name), file)
    back = [json.loads(line) for line in file.read_text().splitlines()]
    given = adapter.sample()
    assert len(back) == len(given)
    for before, after in zip(given, back, strict=True):
        rows_equal(name, before, after)


@pytest.mark.parametrize("name", WRITTEN)
def test_leftovers_of_one_format_do_not_reach_another(name, tmp_path):
    """Tasks of every format are written, or refused in one line; a row has the columns of its own format."""
    adapter = ADAPTERS[name]
    columns = {column for row in adapter.sample() for column in row}
    for other in ADAPTERS:
        if other == name:
            continue
        lines: list[str] = []
        file = tmp_path / f"{other}.jsonl"
        with suppress(UserError):
            write_format(adapter, sample_tasks(other), file, lines.append)
        assert all("\n" not in line for line in lines)
        if not file.exists():
            assert len(lines) == len(sample_tasks(other))
            continue
        for line in file.read_text().splitlines():
            foreign = set(json.loads(line)) - columns
            assert not foreign & {c for row in ADAPTERS[other].sample() for c in row}, (other, foreign)


@pytest.mark.parametrize("name", FOLDERS)
def test_round_trip_through_a_folder(name, tmp_path):
    adapter = ADAPTERS[name]
    tasks = sample_tasks(name)
    adapter.write_folder(tasks, tmp_path / "set")
    again = list(tasks_of(adapter, adapter.folder(tmp_path / "set")))
    assert sorted(task.id for task in again) == sorted(task.id for task in tasks)
    assert {task.id: task.check for task in again} == {task.id: task.check for task in tasks}


@cache
def _some() -> tuple[Task, ...]:
    return (*builtin.load("python")[:3], *humaneval.load()[:3])


@pytest.mark.parametrize("name", [n for n in WRITTEN if n not in ("strop", "trl")])
def test_a_task_from_elsewhere_keeps_what_is_asked_and_how_it_is_checked(name, tmp_path):
    """Built-in tasks of a kind that the format holds come back with statement, tests and reference."""
    some = list(_some())
    lines: list[str] = []
    file = tmp_path / "some.jsonl"
    try:
        write_format(ADAPTERS[name], some, file, lines.append)
    except UserError:
        assert len(lines) == len(some) and not file.exists()
        return
    back = list(sources.iter_tasks(f"{name}:{file}"))
    assert len(back) + len(lines) == len(some)
    for task in back:
        assert not task.reference or any(task.reference.strip() == t.reference.strip() for t in some)
