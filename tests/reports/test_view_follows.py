import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from .made_runs import make_run
from .viewing import Viewed, Writer, until, viewed

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("follow") / "source", steps=6, groups=2, size=2, seed=3)


class Page:
    """What a page does with the answers: it takes what has changed."""

    def __init__(self, server: Viewed) -> None:
        self.server, self.resets, self.sizes = server, 0, list[int]()
        self.page = server.json("page")

    @property
    def run(self) -> Any:
        return self.page["runs"][0]

    def poll(self) -> Any:
        answer = self.server.json("page", stamp=self.page["stamp"])
        assert "runs" not in answer
        if "changed" in answer:
            (changed,) = answer["changed"]
            assert len(changed) > 1
            self.sizes.append(len(str(changed)))
            epoch, tasks = self.run["epoch"], self.run["tasks"] | changed.get("tasks", {})
            for name, (at, gone, more) in changed.pop("spliced").items():
                self.run[name][at : at + gone] = more
            self.run.update(changed | {"tasks": tasks})
            self.resets += self.run["epoch"] != epoch
            self.page["stamp"] = answer["stamp"]
        assert answer["stamp"] == self.page["stamp"]
        return self.run

    def until(self, kind: str, steps: int) -> Any:
        """Follows until the run is of a kind and has so many steps, all looked at; then it equals a fresh page."""

        def there(run: Any) -> bool:
            done = (
                [line["step"] for line in run["metrics"]],
                run["steps"],
                sorted({g[0] for g in run["groups"]}),
            )
            return (
                run["state"]["kind"] == kind
                and run["index"]["complete"]
                and all(len(d) == steps for d in done)
            )

        until(self.poll, there)
        fresh = self.server.run()
        assert self.run["tasks"].items() >= fresh["tasks"].items()
        for key in fresh.keys() - {"tasks"}:
            assert self.run[key] == fresh[key], key
        return self.run


def test_a_run_is_followed_from_its_first_moment_to_its_end(source: Path, tmp_path: Path) -> None:
    with Writer(source, tmp_path / "run") as writer, viewed(tmp_path / "run") as server:
        page = Page(server)
        assert page.run["state"]["kind"] == "running"
        assert page.run["metrics"] == page.run["groups"] == page.run["evaluations"] == []
        for step in range(1, 4):
            writer.say("step")
            run = page.until("running", step)
            assert f"step {step} of 6" in run["state"]["text"]
        writer.say("step", "step", "step", "finish")
        writer.kill()
        run = page.until("finished", 6)
        assert [one["name"] for one in run["evaluations"]] == ["after"]
        assert page.resets == 0
        assert len(server.rows(evaluation="after")) == 15
        found = server.json("search", limit=1000)
        assert found["matched"] == found["total"] == 6 * 4 + 15


def test_a_page_gets_what_a_step_brought_and_no_more(source: Path, tmp_path: Path) -> None:
    long = make_run(tmp_path / "long", steps=200, groups=1, size=2, evaluations=(), finished=False)
    with (
        viewed(long) as server,
        Writer(make_run(tmp_path / "more", steps=203, groups=1, size=2), long, "resume") as writer,
    ):
        server.complete()
        page, other = Page(server), Page(server)
        page.until("running", 200)
        page.sizes.clear()
        writer.say("step", "step", "step")
        page.until("running", 203)
        assert 1000 < sum(page.sizes) < 15_000 < 100_000 < len(str(page.page))
        other.until("running", 203)  # of the stamp that both had
        packed = server.get("/api/page")
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.num_bytes_downloaded < len(packed.content) / 2
        assert server.json("page", stamp="of another server")["runs"][0]["metrics"] == page.run["metrics"]


def test_a_torn_line_is_left_out_and_a_resumed_run_goes_on(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Writer(source, folder) as writer, viewed(folder) as server:
        writer.say("step", "step", "step")
        page = Page(server)
        page.until("running", 3)
        writer.say("torn")
        until(page.poll, lambda run: run["steps"] == [1, 2, 3, 4])
        assert len(page.run["metrics"]) == 3
        assert page.run["state"]["problems"] == []  # it is being written, as far as one can tell
        writer.kill()
        run = until(page.poll, lambda run: run["state"]["kind"] == "stopped")
        assert "torn" in run["state"]["problems"][0]
        gone = server.json("detail", id="t.3.1.1")["detail"]
        assert gone is not None
        with Writer(source, folder, "resume") as writer:
            writer.say("back 2")
            page.until("running", 2)
            assert page.resets >= 1
            assert server.json("detail", id="t.3.1.1")["detail"] is None
            assert server.rows(step=3) == []
            assert server.json("search", **{"from": 3, "to": 4})["matched"] == 0
            writer.say("step", "step")
            page.until("running", 4)
            assert server.json("detail", id="t.3.1.1")["detail"] == gone


def test_a_run_started_anew_replaces_the_old_one(source: Path, tmp_path: Path) -> None:
    other = make_run(tmp_path / "other", steps=6, groups=1, size=2, seed=99)
    folder = tmp_path / "run"
    with viewed(make_run(folder, steps=5, groups=2, size=2)) as server:
        page = Page(server)
        page.until("finished", 5)
        with Writer(other, folder) as writer:
            writer.say("step", "step")
            run = page.until("running", 2)
            assert page.resets >= 1
            assert (run["name"], len(run["groups"]), run["summary"], run["evaluations"]) == (
                "other",
                2,
                None,
                [],
            )
            assert server.json("search", limit=9)["total"] == 4


def test_a_deleted_folder_is_said_and_its_return_is_seen(source: Path, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=3, groups=2, size=2)
    with viewed(folder) as server:
        page = Page(server)
        page.until("finished", 3)
        shutil.rmtree(folder)
        run = until(page.poll, lambda run: run["notice"])
        assert str(folder) in run["notice"] and "gone" in run["notice"] and "\n" not in run["notice"]
        assert run["state"]["kind"] == "stopped"
        assert len(run["metrics"]) == 3
        answer = server.get("/api/detail", params={"id": "t.1.0.0"})
        assert (
            answer.status_code == 404 and "t.1" not in answer.text and str(folder) in answer.json()["error"]
        )
        assert server.json("search", limit=9)["matched"] > 0
        with Writer(source, folder) as writer:
            writer.say("step")
            run = page.until("running", 1)
            assert run["notice"] == ""
            assert server.json("detail", id="t.1.0.0")["detail"] is not None


def test_nothing_is_read_while_nobody_asks(source: Path, tmp_path: Path) -> None:
    with viewed(make_run(tmp_path / "run", steps=2, groups=1, size=2)) as server:
        server.complete()

        def quiet() -> bool:
            before = _cpu_ticks(server.process.pid)
            time.sleep(2)
            return _cpu_ticks(server.process.pid) - before <= 10  # the server's own clock; a tick is 10 ms

        assert any(quiet() for _ in range(4)), "it is never at rest"  # it may still be at its last answer


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_several_runs_are_told_apart(source: Path, tmp_path: Path) -> None:
    second = make_run(tmp_path / "second", steps=1, groups=1, size=2, language="rust", evaluations=())
    with viewed(source, second) as server:
        runs = until(
            lambda: server.json("page")["runs"], lambda runs: all(r["index"]["complete"] for r in runs)
        )
        assert [(run["id"], run["name"], run["total_rollouts"]) for run in runs] == [
            ("0", "source", 54),
            ("1", "second", 2),
        ]
        assert len(server.rows(run=1, step=1)) == 2
        assert server.rows(run=1, step=2) == []
        assert len(server.rows(run=0, step=2)) == 4
