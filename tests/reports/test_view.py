import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.scale import some

from strop.reports.run_folder import RunFolder

from .made_runs import make_run
from .viewing import DEADLINE, Viewed, viewed

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("view") / "small", steps=6, groups=3, size=4, seed=5)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Viewed]:
    with viewed(folder) as client:
        client.complete()
        yield client


@pytest.fixture(scope="module")
def written(folder: Path) -> dict[str, Any]:
    """Every rollout by the id that its row has."""
    run = RunFolder.read(folder)
    found: dict[str, Any] = {}
    for step in run.rollout_steps():
        for number, group in enumerate(run.iter_groups(step)):
            found |= {f"t.{step}.{number}.{rollout.index}": rollout for rollout in group.rollouts}
    for name in ("before", "after"):
        for rollout in run.iter_evaluation_rollouts(name):
            row = f"e.{name}.{rollout.task_id}.{rollout.index}"
            found[row if row not in found else f"e.{name}.{rollout.task_id}.g"] = rollout
    return found


def test_the_page_has_the_run_and_every_group(server: Viewed, folder: Path) -> None:
    run = server.complete()
    read = RunFolder.read(folder)
    assert run["metrics"] == list(read.iter_metrics())
    assert run["steps"] == read.rollout_steps() == [1, 2, 3, 4, 5, 6]
    assert run["state"]["kind"] == "finished"
    groups = [
        (step, number, group) for step in run["steps"] for number, group in enumerate(read.iter_groups(step))
    ]
    assert sorted(g[:3] for g in run["groups"]) == [
        [step, number, group.task_id] for step, number, group in groups
    ]
    for found, (_, _, group) in zip(sorted(run["groups"]), groups, strict=True):
        scored = [reward for reward in group.rewards if reward is not None]
        assert found[3:5] == [len(group.rollouts), len(scored)]
        assert found[5] == sum(r.verdict.passed for r in group.rollouts if r.verdict)
        assert found[6] == pytest.approx(sum(scored) / len(scored), abs=1e-5) if scored else found[6] is None
        assert found[7] == group.has_signal
    assert {group.task_id for *_, group in groups} <= run["tasks"].keys()


def test_every_rollout_has_a_row_and_a_detail(server: Viewed, written: dict[str, Any]) -> None:
    rows = [row for step in range(1, 7) for row in server.rows(step=step)]
    rows += [row for name in ("before", "after") for row in server.rows(evaluation=name)]
    assert sorted(row["id"] for row in rows) == sorted(written)
    assert server.run()["total_rollouts"] == len(rows)
    for row in rows[::7] + rows[-3:]:
        rollout, detail = written[row["id"]], server.json("detail", id=row["id"])["detail"]
        assert (row["task"], row["outcome"]) == (rollout.task_id, rollout.verdict.outcome.value)
        assert row["truncated"] is rollout.truncated
        assert (detail["id"], detail["prompt"], detail["answer"]) == (
            row["id"],
            rollout.prompt,
            rollout.answer,
        )
        assert [t[1] for t in detail["turns"][0]["tokens"]] == pytest.approx(
            rollout.turns[0].completion.logprobs, rel=1e-3
        )
        assert "".join(t[0] for t in detail["turns"][0]["tokens"]).startswith(
            rollout.turns[0].completion.text
        )


@pytest.mark.parametrize(
    ("query", "means"),
    [
        ({}, lambda r, step: True),
        ({"outcome": "failed"}, lambda r, step: r.verdict.outcome.value == "failed"),
        ({"text": "DEF "}, lambda r, step: "def " in r.answer.lower()),
        ({"flag": "gives up"}, lambda r, step: "gives up" in r.flags),
        ({"flag": "*", "kind": "train"}, lambda r, step: step and r.flags),
        ({"min": "0.2", "max": "0.5"}, lambda r, step: r.reward is not None and 0.2 <= r.reward <= 0.5),
        ({"from": "2", "to": "3"}, lambda r, step: step in (2, 3)),
        ({"evaluation": "after"}, lambda r, step: step is None),
    ],
)
def test_search_finds_what_a_walk_over_the_files_finds(
    server: Viewed, written: dict[str, Any], query: dict[str, str], means: Any
) -> None:
    found = server.json("search", limit=1000, **query)
    steps = {name: int(name.split(".")[1]) if name[0] == "t" else None for name in written}
    wanted = {name for name, rollout in written.items() if means(rollout, steps[name])}
    if "evaluation" in query:
        wanted = {name for name in wanted if name.startswith("e.after.")}
    assert {row["id"] for row in found["rows"]} == wanted
    assert (found["matched"], found["looked_at"], found["total"]) == (len(wanted), len(written), len(written))
    few = server.json("search", limit=2, **query)
    assert few["matched"] == len(wanted)
    assert few["rows"] == found["rows"][:2]


def test_newest_steps_come_first(server: Viewed) -> None:
    steps = [row["step"] for row in server.json("search", kind="train", limit=1000)["rows"]]
    assert steps == sorted(steps, reverse=True)


def test_a_task_has_its_history(server: Viewed, written: dict[str, Any]) -> None:
    run = server.complete()
    task = run["groups"][0][2]
    history = server.json("task", task=task)
    assert history["groups"] == sorted(group for group in run["groups"] if group[2] == task)
    assert {row["id"] for row in history["rows"]} == {n for n, r in written.items() if r.task_id == task}
    label = run["tasks"][task]["label"]
    by_label = server.json("search", task=label[:30].upper(), limit=1000)["rows"]
    assert {row["id"] for row in history["rows"]} <= {row["id"] for row in by_label}
    assert server.json("task", task="no such task")["rows"] == []


def test_a_page_that_is_as_it_was_is_not_sent_again(server: Viewed) -> None:
    server.complete()
    page = server.json("page")
    assert server.json("page", stamp=page["stamp"]) == {"stamp": page["stamp"]}
    assert server.json("page", stamp="another") == page


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:6006", "127.0.0.1.evil.example", "", "localhost.:80", "0.0.0.0"]
)
def test_a_name_bound_to_this_address_is_refused(server: Viewed, host: str) -> None:
    answer = server.get("/api/page", headers={"Host": host})
    assert (answer.status_code, answer.json()["status"]) == (403, 403)
    assert "127.0.0.1" in answer.json()["error"]


@pytest.mark.parametrize("host", ["localhost:9999", "127.0.0.1", "LOCALHOST", "[::1]:80"])
def test_a_tunnel_is_answered(server: Viewed, host: str) -> None:
    assert server.get("/api/page", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing", 404), ("/api/page/", 404), ("/api/rows?step=-1", 400), ("/api/rows?step=1e3", 400),
        ("/api/rows?step=٣", 400), ("/api/rows?run=7", 404), ("/api/rows?run=..", 404), ("/api/search?min=x", 400),
        ("/api/search?min=nan", 400), ("/api/rows?step=99999999999999999999", 400),
        ("/api/search?text=" + "x" * 5000, 414),
        ("/..%2f..%2fetc/passwd", 404), ("//etc/passwd", 404),
    ],
)  # fmt: skip
def test_a_wrong_question_is_told_so_in_json(server: Viewed, path: str, status: int) -> None:
    answer = server.get(path)
    assert answer.status_code == status, answer.text
    assert answer.json()["status"] == status
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    "row_id",
    [
        "",
        "t",
        "t.1",
        "t.1.0",
        "t.1.0.99",
        "t.01.0.0",
        "e.before",
        "../../../etc/passwd",
        "t.../../x",
        "e.../recipe.0",
        "\0",
    ],
)
def test_an_id_never_becomes_a_path(server: Viewed, row_id: str) -> None:
    assert server.json("detail", id=row_id) == {"detail": None}
    assert server.rows(evaluation=row_id or "x") == []


def test_only_get_is_answered(server: Viewed) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH"):
        assert server.request(method, "/api/page").status_code == 405, method


def test_another_origin_is_refused(server: Viewed) -> None:
    for site in ("cross-site", "same-site"):
        assert server.get("/api/page", headers={"Sec-Fetch-Site": site}).status_code == 403
        assert server.get("/", headers={"Sec-Fetch-Site": site}).status_code == 200  # a link from elsewhere
    assert server.get("/api/page", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/page", "/api/detail?id=t.1.0.0", "/nothing", "/api/rows?step=x"])
def test_every_answer_is_guarded(server: Viewed, path: str) -> None:
    headers = server.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not re.search(r"script-src[^;]*unsafe|https?:|\*", policy)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert headers["content-type"].startswith("text/html" if path == "/" else "application/json")


def test_it_listens_on_loopback_only(server: Viewed) -> None:
    listening = Path(f"/proc/{server.process.pid}/net/tcp").read_text()
    port = f"{httpx.URL(server.url).port:04X}"
    assert [line.split()[1] for line in listening.splitlines() if f":{port} 00000000:0000" in line] == [
        f"0100007F:{port}"
    ]


def test_surrogates_and_numbers_that_are_none_reach_the_page(tmp_path: Path) -> None:
    folder = make_run(
        tmp_path / "odd",
        steps=1,
        groups=1,
        size=2,
        texts=["a\ud800b </script> \x00", "\u202e"],
        evaluations=(),
    )
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 2, "reward": NaN, "loss": Infinity}\n')
    with viewed(folder) as server:
        run = server.complete()
        assert run["metrics"][1] == {"step": 2, "reward": None, "loss": None}
        detail = server.json("detail", id="t.1.0.0")["detail"]
        assert "a\ud800b </script> \x00" in json.dumps(detail, ensure_ascii=False).encode(
            errors="surrogatepass"
        ).decode(errors="surrogatepass").replace("\\u0000", "\0")


@pytest.mark.parametrize(
    ("sent", "busy"), some([(s, b) for s in (signal.SIGINT, signal.SIGTERM) for b in (False, True)], 2)
)
def test_a_signal_ends_it_without_a_traceback(folder: Path, sent: signal.Signals, busy: bool) -> None:
    with (
        viewed(folder) as server,
        socket.create_connection(("127.0.0.1", httpx.URL(server.url).port or 0)) as idle,
    ):
        server.json("page")
        if busy:
            idle.sendall(b"GET /vega.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
            server.json("search", text="x")
        server.process.send_signal(sent)
        _, error = server.process.communicate(timeout=DEADLINE)
        assert server.process.returncode == 0
        assert "Traceback" not in error


def refused(*arguments: str, cwd: Path | None = None) -> str:
    command = [sys.executable, "-m", "strop.cli", "view", *arguments]
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={**os.environ, "COLUMNS": "200"},
        cwd=cwd,
    )
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    return ended.stderr


def test_what_cannot_be_shown_is_one_line(folder: Path, tmp_path: Path, server: Viewed) -> None:
    assert re.fullmatch(r"error: .*no such run folder.*missing.*\n", refused(str(tmp_path / "missing")))
    assert re.fullmatch(r"error: .*not a run folder.*\n", refused(str(folder), str(tmp_path)))
    port = str(httpx.URL(server.url).port)
    assert re.fullmatch(
        rf"error: cannot listen on 127.0.0.1:{port}.*--port.*\n", refused(str(folder), "--port", port)
    )
    assert refused(cwd=tmp_path).startswith("error: no runs in runs/; ")
