"""`strop build rust` from prompts to files, with a scripted model, real compilers and real kills."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest
from tests.waiting import wait_until

from strop.tasks import load_tasks
from strop_verify.verification.verifier import OpenVerifier

pytest.importorskip("openai", reason="openai is not installed")
pytestmark = pytest.mark.rust
FILES = ("train.jsonl", "test.jsonl", "eval.jsonl", "tasks.jsonl", "dropped.jsonl", "manifest.json")


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_prompts_become_verified_tasks_in_three_parts(
    built, model, prompts, tmp_path, verifier: OpenVerifier
) -> None:
    out = tmp_path / "out"
    code, said, err = built(
        prompts(12), out, "--attempts", 2, "--parts", "8,1,1", "--price-in", 1, "--price-out", 2
    )
    assert code == 0, err
    assert said.startswith("10 of 12 prompts kept: 8 train, 1 test, 1 eval; dropped: 1 rewrite, 1 strength")
    assert "estimate: 12 prompts, 24 calls, at most 36 with repeated attempts" in err

    tasks = load_tasks(str(out / "tasks.jsonl"))
    parts = {name: load_tasks(str(out / f"{name}.jsonl")) for name in ("train", "test", "eval")}
    assert sorted(t.id for side in parts.values() for t in side) == sorted(t.id for t in tasks)
    for name, side in parts.items():
        assert {t.split for t in side} == {"train" if name == "train" else "held-out"}
    by_name = {t.signature: t for t in tasks}
    task = by_name["pub fn add_3(x: i64) -> i64"]
    assert task.language == "rust" and task.statement == "Write `add_3` in Rust: it adds 3 to x x x ."
    assert "#[test]" not in task.reference and task.check.tests.startswith("#[cfg(test)]")
    assert (
        task.metadata["own_tests"] == 1 and task.metadata["assertions"] == 2 and task.metadata["model"] == "m"
    )
    assert task.metadata["strength"]["noticed"] > 0 and task.metadata["attempt"] == 1
    assert by_name["pub fn add_5(x: i64) -> i64"].metadata["attempt"] == 2
    assert verifier.verify(task, task.reference).passed
    assert not verifier.verify(task, task.reference.replace("+ 3", "+ 4")).passed

    dropped = {int(line["where"].rpartition(":")[2]) - 1: line for line in lines(out / "dropped.jsonl")}
    assert {n: line["stage"] for n, line in dropped.items()} == {7: "rewrite", 9: "strength"}
    assert dropped[9]["reason"] == "no assertion depends on the code under test"
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["complete"] and manifest["usage"]["solve"]["calls"] == 13
    assert manifest["cost"] == pytest.approx(25 * (100 * 1 + 50 * 2) / 1e6)
    assert manifest["stages"]["strength"] == {"in": 11, "out": 10}
    assert set(model.asked.values()) == {1} and set(model.keys.values()) == {1}
    repair = next(b for b in model.bodies if len(b["messages"]) == 4 and "add_5" in str(b))["messages"]
    assert "does not build" in repair[3]["content"] and "expected expression" in repair[3]["content"]


@pytest.mark.soak(30)
def test_a_build_killed_at_any_moment_gives_the_same_bytes_and_repeats_only_calls_that_were_under_way(
    built, build, model, prompts, tmp_path
) -> None:
    source, whole, torn = prompts(16), tmp_path / "whole", tmp_path / "torn"
    options = ("--attempts", 2, "--concurrency", 4, "--price-in", 1, "--price-out", 2)
    assert built(source, whole, *options)[0] == 0
    expected = set(model.asked)
    model.asked.clear()
    model.keys.clear()
    model.seconds = 0.6
    chance, in_flight, lost = random.Random(5), 0, 0
    for round_ in range(6):
        process = build(source, torn, *options)
        before = model.asked.total()
        wait_until(
            lambda process=process, before=before: model.asked.total() > before or process.poll() is not None
        )
        time.sleep(chance.uniform(0, 0.5) if round_ < 4 else chance.uniform(0, 4))
        if process.poll() is None:
            (os.killpg if round_ % 2 else os.kill)(process.pid, signal.SIGKILL)
            in_flight += model.active > 0
            lost += model.active
        assert process.wait() in (-signal.SIGKILL, 0), process.communicate()
    assert in_flight >= 2, "no kill hit a call under way"
    code, _, err = built(source, torn, *options)
    assert code == 0, err
    assert set(model.asked) == expected and len(model.keys) == len(expected), (
        "a repeated call has another key"
    )
    assert model.asked.total() <= len(expected) + lost
    for name in FILES:
        assert (torn / name).read_bytes() == (whole / name).read_bytes(), name


def test_ctrl_c_keeps_the_calls_under_way_and_says_how_to_go_on(
    built, build, model, prompts, tmp_path
) -> None:
    source, out = prompts(3), tmp_path / "out"
    model.seconds = 4
    process = build(source, out)
    wait_until(lambda: model.active == 3, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "interrupted; continue with the same command"
    assert len(lines(out / "calls.jsonl")) == 3
    assert built(source, out)[0] == 0
    assert set(model.asked.values()) == {1}


def test_a_torn_last_line_is_dropped_and_its_call_made_again(built, model, prompts, tmp_path) -> None:
    source, out = prompts(4), tmp_path / "out"
    assert built(source, out)[0] == 0
    calls, results, manifest = (out / name for name in ("calls.jsonl", "results.jsonl", "manifest.json"))
    whole = manifest.read_bytes()
    results.write_bytes(results.read_bytes()[:-20])
    manifest.unlink()
    assert built(source, out)[0] == 0
    assert model.asked.total() == 8 and manifest.read_bytes() == whole
    # Calls and results are written in the order in which they are done: only without any result is every call needed.
    calls.write_bytes(calls.read_bytes()[:-20])
    results.write_bytes(results.read_bytes().splitlines()[0][:-20])
    manifest.unlink()
    assert built(source, out)[0] == 0
    assert model.asked.total() == 9 and manifest.read_bytes() == whole


def test_a_finished_build_asks_nothing_and_a_larger_one_only_the_rest(
    built, model, prompts, tmp_path
) -> None:
    source, out = prompts(6), tmp_path / "out"
    assert built(source, out, "--limit", 4)[0] == 0
    assert built(source, out, "--limit", 4, url="http://127.0.0.1:9/v1")[0] == 0
    assert model.asked.total() == 8
    assert built(source, out)[0] == 0
    assert model.asked.total() == 12 and json.loads((out / "manifest.json").read_text())["prompts"] == 6


def test_it_stops_at_the_limit_of_the_cost_and_goes_on_from_there(built, model, prompts, tmp_path) -> None:
    source, out = prompts(8), tmp_path / "out"
    prices = ("--price-in", 10_000, "--price-out", 0, "--concurrency", 2)  # each call costs 1
    code, _, err = built(source, out, *prices, "--max-cost", 5)
    assert code == 0 and "stopped at --max-cost with" in err, err
    assert 5 <= model.asked.total() <= 6
    manifest = json.loads((out / "manifest.json").read_text())
    assert not manifest["complete"] and manifest["unfinished"] > 0 and 5 <= manifest["cost"] <= 6
    assert built(source, out, *prices, "--max-cost", 100)[0] == 0
    assert set(model.asked.values()) == {1} and json.loads((out / "manifest.json").read_text())["complete"]


def test_concurrency_is_kept_and_tokens_are_counted_where_the_server_does_not(
    built, model, prompts, tmp_path
) -> None:
    model.seconds, model.usage = 0.1, None
    assert built(prompts(6), tmp_path / "out", "--concurrency", 3)[0] == 0
    assert model.most == 3
    usage = json.loads((tmp_path / "out" / "manifest.json").read_text())["usage"]
    assert usage["calls_counted_by_characters"] == 12
    rewrites = [b for b in model.bodies if "The exercise:" in b["messages"][1]["content"]]
    characters = [sum(len(m["content"]) for m in b["messages"]) for b in rewrites]
    assert usage["rewrite"]["prompt_tokens"] == sum(-(-c // 4) for c in characters)


def test_solutions_are_held_to_the_cases_of_the_source_where_these_apply(built, model, tmp_path) -> None:
    cases = {1: "add_1(1) == 2", 2: "add_2(1) == 4", 3: "plus_3(1) == 5", 4: "add_4('a') == 'b'"}
    rows = [
        {
            "id": f"oss_{n}",
            "source": "oss",
            "question": f"add_{n} {'once more ' * n}",
            "test_cases": [f"assert {case}"],
        }
        for n, case in cases.items()
    ]
    source, out = tmp_path / "acecode.jsonl", tmp_path / "out"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert built(source, out, columns=())[0] == 0
    held = {
        task["metadata"]["prompt_id"]: task["metadata"]["source_cases"] for task in lines(out / "tasks.jsonl")
    }
    assert held == {"oss_1": 1, "oss_3": 0, "oss_4": 0}
    [dropped] = lines(out / "dropped.jsonl")
    assert (dropped["id"], dropped["where"], dropped["stage"]) == ("oss_2", "oss/oss_2", "source")
