import base64
import gzip
import json
import os
import random

import pytest
from tests import warm

from strop.reports.page import document
from strop.reports.rollout_files import read_whole, step_file
from strop.reports.static import report as static
from strop.reports.static.report import report
from strop_verify.core import files
from strop_verify.core.errors import UserError

from .made_runs import make_run

pytest.importorskip("vl_convert")
pytest.importorskip("altair")


def data_of(path):
    """What the page embeds, read as its script reads it."""
    text = path.read_text()
    packed = text.partition('id="strop-data">')[2].partition("<")[0]
    return json.loads(gzip.decompress(base64.b64decode(packed, validate=True)))


def made(folders, target, **options):
    done = report(folders, target, **options)
    assert done.size == target.stat().st_size < static.MOST_BYTES
    page = data_of(target)
    assert done.embedded == sum(len(run["rollouts"]) for run in page["runs"])
    for run in page["runs"]:
        assert {row["id"] for row in run["rollouts"]} == run["details"].keys()
        assert {row["task"] for row in run["rollouts"]} | {group[2] for group in run["groups"]} == run[
            "tasks"
        ].keys()
    return page


@pytest.fixture
def small_file(monkeypatch):
    """A quarter of the room for runs, which a quarter of the rollouts fills."""
    frame = len(document({"runs": []}).encode())
    monkeypatch.setattr(static, "MOST_BYTES", frame + (static.MOST_BYTES - frame) // 4)


def test_a_small_run_is_in_the_page_whole(tmp_path):
    run = make_run(tmp_path / "run", steps=3, groups=2, size=4, language="rust", extra=("more",))
    page = made([run], tmp_path / "out.html")
    assert page["mode"] == "static" and page["sampling"] == "All 84 rollouts are in this file."
    (inside,) = page["runs"]
    assert inside["total_rollouts"] == len(inside["rollouts"]) == 84 and inside["steps"] == [1, 2, 3]
    assert inside["metrics"][-1]["reward"] == pytest.approx(json.loads(
        (run / "metrics.jsonl").read_text().splitlines()[-1])["reward"], rel=1e-5)  # fmt: skip
    for line in read_whole(step_file(run, 2).path):
        detail = inside["details"][f"t.2.{line['group']}.{line['index']}"]
        assert detail["answer"] == line["answer"] and detail["prompt"] == line["prompt"]
        assert (
            "".join(token[0] for token in detail["turns"][0]["tokens"])
            == line["turns"][0]["completion"]["text"]
        )
        assert sum(length for _, length in detail["colours"]) == len(line["answer"])
        assert detail["language"] == "rust" and len(detail["colours"]) > 5
    assert all("task_ids" not in e and "per_task" not in e["result"] for e in inside["evaluations"])


def test_the_same_run_gives_the_same_file_and_another_seed_another(tmp_path):
    run = make_run(tmp_path / "run", steps=6)
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        report([run], tmp_path / name, rollouts=30, seed=seed)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() != (tmp_path / "c").read_bytes()


def test_several_runs_share_the_room_and_are_told_apart(tmp_path):
    runs = [
        make_run(tmp_path / name, steps=6, groups=4, seed=seed, overrides=["run.name=twin"])
        for seed, name in enumerate(("a", "b"))
    ]
    page = made(runs, tmp_path / "out.html", rollouts=60)
    names = [run["name"] for run in page["runs"]]
    assert [run["id"] for run in page["runs"]] == ["0", "1"] and names == [f"twin ({run})" for run in runs]
    assert all(20 <= len(run["rollouts"]) <= 30 for run in page["runs"])
    assert "of 252 rollouts are in this file" in page["sampling"] and "seed 0" in page["sampling"]


def noise(characters, seed):
    """Text that cannot be compressed well."""
    return "".join(
        random.Random(seed).choices(
            [chr(c) for c in range(0x21, 0x24F) if chr(c).isprintable()], k=characters
        )
    )


@pytest.mark.soak(5)
def test_tokens_go_first_when_there_is_too_much(tmp_path, small_file):
    run = make_run(tmp_path / "run", steps=3, groups=2, size=4, tokens=2500, evaluations=())
    page = made([run], tmp_path / "out.html")
    (inside,) = page["runs"]
    assert len(inside["rollouts"]) == inside["total_rollouts"] == 24
    details = list(inside["details"].values())
    with_tokens = [detail for detail in details if detail["turns"][0]["tokens"]]
    assert 0 < len(with_tokens) < 24
    assert f"To keep the file small, {len(with_tokens)} of them come with their tokens." in page["sampling"]
    assert all("tokens are left out" in d["left_out"] for d in details if d not in with_tokens)


@pytest.mark.soak(6)
def test_then_rollouts_and_then_the_ends_of_texts(tmp_path, small_file):
    texts = [noise(15_000, seed) for seed in range(60)]
    run = make_run(tmp_path / "run", steps=4, groups=3, size=4, tokens=5, texts=texts)
    page = made([run], tmp_path / "out.html")
    assert "and do not fit" in page["sampling"] or "Texts are cut to" in page["sampling"]
    (inside,) = page["runs"]
    assert len(inside["rollouts"]) >= 0.2 * inside["total_rollouts"]
    assert {1, 4} <= {row["step"] for row in inside["rollouts"]}


@pytest.mark.soak(8)
def test_a_run_of_many_steps_and_groups_is_thinned(tmp_path):
    run = make_run(tmp_path / "run", steps=2, groups=2, size=2, evaluations=())
    chance = random.Random(0)
    with (run / "metrics.jsonl").open("ab") as file:
        for step in range(3, 30_000):
            noisy = {f"metric_{n}": chance.random() for n in range(25)}
            file.write(files.json_line({"step": step, **noisy}))
    page = made([run], tmp_path / "out.html")
    lines = page["runs"][0]["metrics"]
    assert 50 < len(lines) <= 4000 and lines[0]["step"] == 1 and lines[-1]["step"] == 29_999
    assert f"{len(lines):,} of 29,999 lines of metrics are in this file" in page["sampling"]


def test_one_group_with_more_than_all_the_room_is_cut(tmp_path):
    run = make_run(tmp_path / "run", steps=1, groups=1, size=30, evaluations=())
    page = made([run], tmp_path / "out.html", rollouts=10)
    assert [row["index"] for row in page["runs"][0]["rollouts"]] == list(range(10))
    assert "10 of 30 rollouts" in page["sampling"] and "cut" in page["sampling"]


def test_none_are_embedded_when_none_are_asked_for(tmp_path):
    page = made([make_run(tmp_path / "run")], tmp_path / "out.html", rollouts=0)
    assert page["runs"][0]["rollouts"] == [] and page["runs"][0]["groups"]
    assert page["sampling"].startswith("0 of 78 rollouts are in this file")


def test_what_is_wrong_is_among_the_problems(tmp_path):
    torn = make_run(tmp_path / "torn", steps=3, planned=9, finished=False, evaluations=("before",))
    with (torn / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 4, "rew')
    damaged = step_file(torn, 2).path
    damaged.write_bytes(damaged.read_bytes()[:-20])
    done = report([torn], tmp_path / "out.html")
    problems = data_of(tmp_path / "out.html")["runs"][0]["state"]["problems"]
    assert done.problems == [f"{torn}: {problems[0]}", problems[1]]
    assert len(problems) == 2 and "metrics.jsonl is torn" in problems[0] and "step-000002" in problems[1]


def strop(*words, cwd):
    return warm.strop("report", *words, cwd=cwd)


def test_the_command_says_where_it_wrote(tmp_path):
    make_run(tmp_path / "a", steps=2)
    (tmp_path / "a" / "evaluation" / "before.json").write_text("{")
    done = strop("a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a/report.html: ") and "54 of 54 rollouts" in done.stdout
    assert "note: a/evaluation/before.json cannot be read" in done.stderr
    assert data_of(tmp_path / "a" / "report.html")["runs"][0]["folder"] == "a"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none"], "no such run folder: none; name one that `strop train` or `strop eval` wrote"),
        (["."], "is not a run folder"),
        (["run", "run/recipe.yaml"], "run/recipe.yaml is not a run folder"),
        (
            ["run", "-o", "/dev/null/x.html"],
            "cannot write /dev/null/x.html: /dev/null is not a folder; choose another file with -o",
        ),
        (["run", "-o", "run"], "cannot write run: it is a folder; choose another file with -o"),
    ],
)
def test_bad_input_is_one_line_with_the_remedy(tmp_path, words, said):
    make_run(tmp_path / "run", steps=1)
    done = strop(*words, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("error: ") and done.stdout == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_run_folder_that_cannot_be_written_to(tmp_path):
    run = make_run(tmp_path / "run", steps=1)
    run.chmod(0o500)
    try:
        with pytest.raises(UserError, match="choose another file with -o"):
            report([run], run / "report.html")
    finally:
        run.chmod(0o700)
