import math
from collections import Counter

import pytest

from strop.reports.page.page_run import PageRun
from strop.reports.run_folder import RunFolder
from strop.reports.static import report as static
from strop.reports.static.sample import quotas, sample

from .made_pages import embedded
from .made_runs import make_run, task_id


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """10 steps of 6 groups of 4; 8 held-out tasks with 3 answers in three evaluations, and 2 x 24 in a further set."""
    return make_run(
        tmp_path_factory.mktemp("runs") / "run", steps=10, groups=6, size=4, tokens=8, held_out=8,
        evaluations=("before", "step-000005", "after"), extra=("more",),
    )  # fmt: skip


def taken(folder, rollouts=1000, seed=0):
    """(what is taken, the whole page)"""
    run = PageRun(folder, "0")
    page = run.page(math.inf)
    return sample(run.index, page["evaluations"], rollouts, seed), page


def rows_of(units):
    return [row for unit in units for row in unit]


def test_quotas_are_even_and_hold_both_ends():
    steps = list(range(1, 101))
    assert quotas(steps, 30, 8) == {1 + round(i * 99 / 9): 3 for i in range(10)}
    assert quotas(steps, 31, 8)[1] == 4 and sum(quotas(steps, 31, 8).values()) == 31
    assert quotas(steps, 5, 8) == {1: 3, 100: 2}
    assert quotas(steps, 2, 8) == {1: 1, 100: 1} and quotas(steps, 1, 8) == {100: 1}
    assert quotas(steps, 250, 1) == {step: 3 if step <= 50 or step == 100 else 2 for step in steps} | {50: 2}
    assert quotas([4], 9, 8) == {4: 9} and quotas([], 9, 8) == {} and quotas(steps, 0, 8) == {}


def test_everything_is_taken_where_there_is_room(run):
    units, page = taken(run)
    assert len(rows_of(units)) == page["total_rollouts"] == 240 + 72 + 48
    assert len({row["id"] for row in rows_of(units)}) == 360
    assert page["state"]["problems"] == []


def test_groups_are_whole_and_both_ends_are_there(run):
    rows = rows_of(taken(run, rollouts=100)[0])
    assert 80 <= len(rows) <= 100
    train = Counter((row["step"], row["group"]) for row in rows if row["kind"] == "train")
    assert set(train.values()) == {4} and {1, 10} <= {step for step, _ in train}
    assert sum(train.values()) >= 0.5 * len(rows)


def test_the_same_tasks_of_every_evaluation_with_all_their_answers(run):
    rows = [row for row in rows_of(taken(run, rollouts=100)[0]) if row["kind"] == "evaluation"]
    assert 0 < len(rows) <= 40
    held_out = [row for row in rows if not row["evaluation"].endswith("-more")]
    by_task = Counter(row["task"] for row in held_out)
    assert by_task and set(by_task.values()) == {9}
    more = Counter(row["task"] for row in rows if row["evaluation"].endswith("-more"))
    assert more and set(more.values()) == {6}


def test_an_evaluation_of_fewer_tasks_narrows_the_choice_to_those(tmp_path):
    run = make_run(tmp_path / "run", steps=1, groups=1, held_out=20, evaluations=("before", "after"))
    small = make_run(tmp_path / "small", steps=1, groups=1, held_out=4, evaluations=("step-000001",), seed=5)
    for file in (small / "evaluation").iterdir():
        file.rename(run / "evaluation" / file.name)
    rows = [row for row in rows_of(taken(run, rollouts=30)[0]) if row["kind"] == "evaluation"]
    assert {row["task"] for row in rows} <= {task_id(1000 + t) for t in range(4)}
    assert set(Counter(row["task"] for row in rows).values()) == {9}


def test_the_seed_draws(run):
    one, same, other = (
        [row["id"] for row in rows_of(taken(run, rollouts=60, seed=seed)[0])] for seed in (1, 1, 2)
    )
    assert one == same and set(one) != set(other)


def test_the_beginning_of_the_units_is_a_fair_part(run):
    units, _ = taken(run, rollouts=200)
    first = rows_of(units[: len(units) // 4])
    assert {row["kind"] for row in first} == {"train", "evaluation"}
    assert {1, 10} <= {row["step"] for row in first}


def test_the_table_of_groups_says_what_the_records_say(run):
    _, page = taken(run, rollouts=10)
    expected = []
    for step in range(1, 11):
        for number, group in enumerate(RunFolder.read(run).iter_groups(step)):
            scored = [r for r in group.rewards if r is not None]
            passed = sum(r.verdict.passed for r in group.rollouts)
            mean = pytest.approx(sum(scored) / len(scored), rel=1e-4) if scored else None
            expected.append(
                [step, number, group.task_id, 4, len(scored), passed, mean, int(group.has_signal)]
            )
    assert page["groups"] == expected and len(expected) == 60
    assert {group[2] for group in expected} <= page["tasks"].keys()


def test_a_long_table_is_thinned_by_the_seed(run, tmp_path, monkeypatch):
    pytest.importorskip("vl_convert")
    monkeypatch.setattr(static, "MOST_GROUPS", 7)
    groups = {}
    for name, seed in (("found", 0), ("again", 0), ("other", 3)):
        static.report([run], tmp_path / name, rollouts=0, seed=seed)
        (inside,) = embedded((tmp_path / name).read_text())["runs"]
        groups[name] = inside["groups"]
    assert len(groups["found"]) == 7
    assert groups["found"] == sorted(groups["found"], key=lambda group: group[:2])
    assert groups["found"] == groups["again"] != groups["other"]


def test_no_rollouts_at_all_still_give_the_table(run):
    units, page = taken(run, rollouts=0)
    assert units == [] and len(page["groups"]) == 60


def test_damaged_files_are_left_out_whole_and_named(tmp_path):
    run = make_run(tmp_path / "run", steps=4, groups=2, size=3)
    first, second, third = (run / "rollouts" / f"step-00000{step}.jsonl.zst" for step in (1, 2, 3))
    first.write_bytes(first.read_bytes()[:-30])
    second.write_bytes(third.read_bytes()[:-4] + b"\0\0\0\0" + b"junk")
    from strop_verify.core import files

    files.write_jsonl_zst(third, [b'{"step": 3, "group": 0, "task_id": "a", "turns": 5}\n'])
    after = run / "evaluation" / "after.jsonl.zst"
    after.unlink()
    units, page = taken(run)
    problems = page["state"]["problems"]
    assert [any(path.name in problem for problem in problems) for path in (first, second, third, after)] == [
        True
    ] * 4
    assert len(problems) == 4 and not any("\n" in problem for problem in problems)
    assert {group[0] for group in page["groups"]} == {4} and page["total_rollouts"] == 6 + 15
    assert {row["step"] for row in rows_of(units)} == {4, None}


def test_reading_is_heard_of(run):
    heard = []
    PageRun(run, "0", heard.append).page(math.inf)
    assert heard == list(range(1, 361))
