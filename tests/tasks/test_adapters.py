"""What holds for every adapter: what it reads can be stored, and what it writes comes back."""

from functools import cache

import pytest

from strop.tasks import builtin, sources
from strop.tasks.adapters import ADAPTERS
from strop.tasks.formats import guessed, tasks_of, write_format
from strop_tasks.formats import humaneval
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

WRITTEN = sorted(name for name, adapter in ADAPTERS.items() if adapter.write)


def sample_tasks(name: str) -> list[Task]:
    adapter = ADAPTERS[name]
    rows = [(f"row {n}", row) for n, row in enumerate(adapter.sample(), start=1)]
    return list(tasks_of(adapter, rows))


def test_the_formats_are_all_there():
    assert {
        "acecode", "apps", "evalplus", "exercism-rust", "harbor", "humaneval", "infilling", "livecodebench", "mbpp",
        "prime", "quixbugs", "r2e", "strop", "sven", "swe-bench", "taco", "trl", "verl",
    } <= set(ADAPTERS)  # fmt: skip
    assert "base" not in ADAPTERS and "humaneval_x" not in ADAPTERS and len(ADAPTERS) == len(list(ADAPTERS))
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
@pytest.mark.parametrize("name", ["strop", "trl"])
def test_tasks_of_every_format_come_back_whole(name, suffix, tmp_path):
    for other in ADAPTERS:
        tasks = [task for task in sample_tasks(other) if task.statement]  # others cannot be asked
        file = tmp_path / f"{other}.{suffix}"
        write_format(ADAPTERS[name], tasks, file)
        assert list(sources.iter_tasks(f"{name}:{file}")) == tasks


@pytest.mark.parametrize("name", ["verl", "harbor"])
def test_tasks_of_every_format_are_written_or_refused_in_one_line(name, tmp_path):
    """What is written has the task's name and its checks, whatever it came from."""
    for other in ADAPTERS:
        tasks, lines, file = sample_tasks(other), list[str](), tmp_path / f"{other}.jsonl"
        try:
            write_format(ADAPTERS[name], tasks, file, lines.append)
        except UserError:
            assert len(lines) == len(tasks) and not file.exists()
            continue
        back = {task.id: task for task in sources.iter_tasks(f"{name}:{file}")}
        assert len(back) + len(lines) == len(tasks) and all("\n" not in line for line in lines)
        for task in tasks:
            if (again := back.get(task.id)) is not None:
                assert again.test_count == task.test_count and again.language == task.language


def test_a_format_that_is_only_read_says_which_are_written(tmp_path):
    assert WRITTEN == ["harbor", "strop", "trl", "verl"]
    with pytest.raises(UserError, match="'apps' is only read: write one of harbor, strop, trl, verl"):
        write_format(ADAPTERS["apps"], sample_tasks("apps"), tmp_path / "rows.jsonl")


@cache
def _some() -> tuple[Task, ...]:
    return (*builtin.load("python")[:3], *humaneval.load()[:3])


@pytest.mark.parametrize("name", ["verl", "harbor"])
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
