"""In = kept + dropped, whatever the tasks and the steps; what breaks the books is caught."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop_tasks.curation.pipeline.lines import LineWriter, Scratch, read_lines
from strop_tasks.curation.pipeline.stage import StageFiles
from strop_tasks.curation.pipeline.step import Dropped
from strop_tasks.curation.steps.selection import shares
from strop_tasks.curation.steps.split import place_clusters
from strop_verify.core.checks import LabelCheck
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.task import Task

from .helpers import RESULTS, lines, program, ran, results, write

STEPS: list[Any] = [
    {"min-tests": {"at_least": 3}},
    {"min-tests": {"at_least": 2, "hidden": True}},
    {"filter-tests": {"failing": False, "at_most": 2}},
    {"sample": {"n": 4}},
    {"sample": {"share": 0.5, "by": "level"}},
    "shuffle",
    {"split": {"parts": {"train": 0.5, "test": 0.3, "dev": 0.2}}},
]
TASKS = st.lists(
    st.builds(
        lambda name, tests, add, level: program(name, tests=tests, add=add, level=level),
        st.text("abc", min_size=1, max_size=2),
        st.integers(1, 5),
        st.integers(1, 30),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=12,
)


@given(
    first=TASKS,
    second=TASKS,
    steps=st.lists(st.sampled_from(STEPS), max_size=4),
    seed=st.integers(0, 3),
    collisions=st.sampled_from(["prefix", "drop"]),
)
def test_every_task_is_accounted_for(
    first: list[Any], second: list[Any], steps: list[Any], seed: int, collisions: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        sources = [write(folder / "one.jsonl", first), write(folder / "two.jsonl", second)]
        out = folder / "out"
        try:
            manifest = ran(out, sources, steps, seed=seed, collisions=collisions)
        except UserError as error:
            assert "no task is left after the step" in str(error)
            return
        tasks, dropped = lines(out / "tasks.jsonl"), lines(out / "dropped.jsonl")
        assert manifest["steps"][0]["in"] == len(first) + len(second)
        for before, step in zip([None, *manifest["steps"]], manifest["steps"], strict=False):
            assert step["in"] == step["kept"] + step["dropped"]
            assert step["dropped"] == sum(step["reasons"].values())
            assert step["kept"] == sum(step["sets"].values())
            assert before is None or step["in"] == before["kept"]
        assert len({task["id"] for task in tasks}) == len(tasks) == manifest["tasks"]
        assert len(tasks) + len(dropped) == len(first) + len(second)
        told = Counter((d["step"], d["reason"]) for d in dropped)
        counted: Counter[Any] = Counter()
        for step in manifest["steps"]:
            counted.update({(step["step"], reason): n for reason, n in step["reasons"].items()})
        assert told == counted
        for file, entry in manifest["files"].items():
            data = (out / file).read_bytes()
            assert hashlib.sha256(data).hexdigest() == entry["sha256"]
            assert data.count(b"\n") == entry["lines"]
        parts = [f for f in manifest["files"] if f not in RESULTS]
        if parts:
            divided = [task["id"] for file in parts for task in lines(out / file)]
            assert sorted(divided) == sorted(task["id"] for task in tasks)


@given(st.dictionaries(st.text("ab", max_size=2), st.integers(1, 40), min_size=1), st.floats(0, 1))
def test_shares_are_near_and_whole(sizes: dict[str, int], part: float) -> None:
    total = sum(sizes.values())
    wanted = round(part * total)
    found = shares(sizes, wanted)
    assert sum(found.values()) == wanted
    for kind, size in sizes.items():
        assert abs(found[kind] - wanted * size / total) < 1
        assert found[kind] <= size


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 99), st.randoms())
def test_parts_come_near_their_sizes(numbers: list[int], percent: int, random: Any) -> None:
    wanted = {"train": percent / 100, "test": 1 - percent / 100}
    ranks = [random.getrandbits(60) for _ in numbers]
    chosen = place_clusters(numbers, ranks, wanted, {})
    assert set(chosen) == set(numbers)
    sizes = Counter(chosen[number] for number in numbers)
    largest = max(Counter(numbers).values())
    for part, share in wanted.items():
        assert abs(sizes[part] - share * len(numbers)) <= largest


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_lines_come_back(texts: list[bytes]) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "lines"
        with LineWriter(path) as writer:
            for text in texts:
                writer.append(text)
        assert list(read_lines(path)) == texts


@given(st.lists(st.text(max_size=300), max_size=20), st.randoms())
def test_tasks_come_back_in_any_order(texts: list[str], random: Any) -> None:
    check = LabelCheck(choices=["a"], expected="a")
    tasks = [Task(id=f"t{number}", statement=text, check=check) for number, text in enumerate(texts)]
    with TemporaryDirectory() as name:
        scratch = Scratch(Path(name) / "tasks")
        scratch.fill(iter(tasks))
        order = list(range(len(tasks)))
        random.shuffle(order)
        assert list(scratch.in_order(iter(order))) == [tasks[place] for place in order]


def test_a_file_cut_within_a_line_is_an_error(tmp_path: Path) -> None:
    with LineWriter(tmp_path / "lines") as writer:
        writer.append(b"one")
        writer.append(b"two")
    whole = (tmp_path / "lines").read_bytes()
    (tmp_path / "lines").write_bytes(whole[:-2])
    with pytest.raises(StropError, match="middle of a line"):
        list(read_lines(tmp_path / "lines"))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda tasks: iter(tasks[:1]), "lost 1 task"),
        (lambda tasks: iter([*tasks, tasks[0]]), "twice"),
        (lambda tasks: iter([*tasks, Dropped("nobody", "", "why")]), "did not get it"),
        (lambda tasks: iter([tasks[0], tasks[1].model_copy(update={"id": "new"})]), "did not get it"),
    ],
)
def test_a_step_that_breaks_the_books_is_stopped(tmp_path: Path, made: Any, said: str) -> None:
    tasks = [Task.model_validate(program("a")), Task.model_validate(program("b"))]

    def first(_: Any) -> Iterator[Task | Dropped]:
        yield from tasks

    _, index = StageFiles(tmp_path, 0, "source").run(first, None)
    broken = StageFiles(tmp_path, 1, "broken")
    with pytest.raises(StropError, match=said):
        broken.run(lambda books: made(tasks), index)
    assert broken.entry() is None


def test_same_seed_same_bytes_other_seed_other_order(tmp_path: Path) -> None:
    source = write(tmp_path / "t.jsonl", (program(f"t{n}", add=n + 1) for n in range(40)))
    steps = ["shuffle", {"sample": {"n": 20}}, {"split": {"parts": {"train": 0.7, "test": 0.3}}}]
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        ran(tmp_path / name, source, steps, seed=seed)
    assert results(tmp_path / "a") == results(tmp_path / "b")
    order = [[t["id"] for t in lines(tmp_path / name / "tasks.jsonl")] for name in ("a", "c")]
    assert order[0] != order[1]
    json.loads((tmp_path / "a" / "manifest.json").read_text())


def test_shuffle_does_not_depend_on_the_order_before(tmp_path: Path) -> None:
    rows = [program(f"t{n}", add=n + 1, metadata={"set": "s"}) for n in range(30)]
    one, two = write(tmp_path / "one.jsonl", rows), write(tmp_path / "two.jsonl", rows[::-1])
    ran(tmp_path / "a", one, ["shuffle"])
    ran(tmp_path / "b", two, ["shuffle"])
    first, second = ((tmp_path / n / "tasks.jsonl").read_bytes() for n in "ab")
    assert first == second
    assert [t["id"] for t in lines(tmp_path / "a" / "tasks.jsonl")] != [row["id"] for row in rows]
