"""Verdicts over HTTP when processes are killed: the server, the client, the server's workers."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.processes import alive
from tests.waiting import wait_until

from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.remote.client import RemoteVerifier

TOKEN = "a-token-of-tests-0123456789"
DOUBLE = Task(statement="s", check=CasesCheck(entry_point="f", cases=[Case(args=[2], expected=4)]))
RIGHT = "import time\ndef f(x):\n    time.sleep(0.02)\n    return 2 * x  # {}"
WRONG = "def f(x): return x  # {}"
LOOP = "while True: pass  # {}"
Family = Callable[..., list[int]]


class Served:
    """A `strop serve-verifier` process."""

    def __init__(self, port: int = 0, *arguments: str, token: str = TOKEN) -> None:
        command = [sys.executable, "-m", "strop.cli", "serve-verifier", "--port", str(port), "--workers", "2"]
        self.process = subprocess.Popen(
            [*command, "sandbox.cpu_seconds=0.5", "sandbox.wall_seconds=5", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "STROP_VERIFIER_TOKEN": token},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:"), line or self.process.communicate()[1]
        self.url = line.split()[2]
        self.port = int(self.url.rpartition(":")[2])

    def stats(self) -> dict[str, int]:
        headers = {"Authorization": f"Bearer {TOKEN}", "Strop-Protocol": "1"}
        found: dict[str, int] = httpx.get(f"{self.url}/v1/stats", headers=headers, timeout=120).json()
        return found


@contextmanager
def served(port: int = 0, *arguments: str) -> Iterator[Served]:
    server = Served(port, *arguments)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()


def answer_of(number: int) -> tuple[str, Outcome]:
    if number % 40 == 0:
        return LOOP.format(number), Outcome.TIMED_OUT
    return (RIGHT.format(number), Outcome.PASSED) if number % 3 else (WRONG.format(number), Outcome.FAILED)


@pytest.mark.soak(10)
def test_kill_of_the_server_loses_and_doubles_nothing(family: Family) -> None:
    settled: Counter[int] = Counter()
    with served() as first, RemoteVerifier(first.url, TOKEN) as remote:
        futures = []
        for number in range(240):
            futures.append(remote.submit(DOUBLE, answer_of(number)[0]))
            futures[-1].add_done_callback(lambda _, number=number: settled.update([number]))
        port = first.port
        server = first
        for count in (40, 120):
            wait_until(lambda count=count: len(settled) >= count)
            workers = family(root=server.process.pid)
            assert len(workers) >= 2 and len(settled) < 240
            server.process.kill()
            server.process.wait(120)
            wait_until(lambda workers=workers: not any(alive(pid) for pid in workers))
            server = Served(port)
        try:
            found = [future.result(120).outcome for future in futures]
        finally:
            server.process.kill()
            server.process.communicate()
    assert found == [answer_of(number)[1] for number in range(240)]
    assert len(settled) == 240 and set(settled.values()) == {1}
    assert remote.stats()["cut_off"] > 0 and remote.stats()["errors"] == 0


CLIENT = """
import sys, time
from concurrent.futures import FIRST_COMPLETED, wait
from strop_verify.core.task import Task
from strop_verify.verification.remote.client import RemoteVerifier
task = Task.model_validate_json(sys.argv[2])
remote = RemoteVerifier(sys.argv[1], sys.argv[3])
futures = [remote.submit(task, f"while True: pass  # {i}") for i in range(300)]
wait(futures, return_when=FIRST_COMPLETED)
print("begun", flush=True)
time.sleep(600)
"""


@pytest.mark.soak(6)
def test_kill_of_the_client_makes_the_server_drop_its_jobs(family: Family) -> None:
    with served() as server:
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, server.url, DOUBLE.model_dump_json(), TOKEN],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert client.stdout is not None and client.stdout.readline() == "begun\n"
            assert server.stats()["waiting"] > 50
            begun = server.stats()["cache_misses"]
        finally:
            client.kill()
            client.communicate()
        wait_until(lambda: not server.stats()["waiting"] and not server.stats()["running"])
        assert server.stats()["cache_misses"] <= begun + 8
        assert len(family(root=server.process.pid)) <= 2 * 3
        with RemoteVerifier(server.url, TOKEN) as other:
            assert other.verify(DOUBLE, RIGHT).passed


@pytest.mark.soak(5)
def test_kill_of_the_servers_workers_goes_unnoticed(family: Family) -> None:
    with served() as server, RemoteVerifier(server.url, TOKEN) as remote:
        futures = [remote.submit(DOUBLE, RIGHT.format(number)) for number in range(100)]
        for count in (10, 40, 70):
            wait_until(lambda count=count: sum(f.done() for f in futures) >= count)
            for pid in family("zygote", root=server.process.pid):
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.kill(pid, signal.SIGKILL)
        assert all(future.result(120).passed for future in futures)
        assert server.stats()["retries"] > 0


@pytest.mark.parametrize(("sign", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_signals_end_the_server_soon_and_whole(family: Family, sign: signal.Signals, status: int) -> None:
    with served() as server:
        remote = RemoteVerifier(server.url, TOKEN, patience=1)
        with remote:
            futures = [remote.submit(DOUBLE, LOOP.format(number)) for number in range(200)]
            wait_until(lambda: server.stats()["running"] == 2)
            workers = family(root=server.process.pid)
            server.process.send_signal(sign)
            assert server.process.wait(120) == status
            wait_until(lambda: not any(alive(pid) for pid in workers))
            assert {f.result(120).outcome for f in futures} <= {Outcome.ERROR, Outcome.TIMED_OUT}
        _, said = server.process.communicate()
        assert "Traceback" not in said


def start(*arguments: str, token: str = TOKEN) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "strop.cli", "serve-verifier", *arguments],
        env={**os.environ, "STROP_VERIFIER_TOKEN": token},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.soak(8)
def test_it_does_not_start_without_a_good_token_or_a_free_port(tmp_path: Path) -> None:
    for done in (start(token=""), start(token="short"), start("--token-file", str(tmp_path / "none"))):
        assert done.returncode == 2 and done.stderr.startswith("error: ") and "token" in done.stderr
        assert done.stderr.count("\n") == 1
    with served() as server:
        done = start("--port", str(server.port))
        assert done.returncode == 2 and "cannot listen on 127.0.0.1" in done.stderr
    tokens = {start("--new-token", token="").stdout for _ in range(2)}
    assert len(tokens) == 2 and all(len(token.strip()) >= 32 for token in tokens)


@pytest.mark.soak(9)
def test_strop_verify_asks_the_servers_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text(DOUBLE.model_dump_json())
    rows = [{"task_id": DOUBLE.id, "answer": answer.format(0)} for answer in (RIGHT, WRONG, LOOP)]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [
        sys.executable,
        "-m",
        "strop.cli",
        "verify",
        "tasks.jsonl",
        "answers.jsonl",
        "-o",
        "verdicts.jsonl",
    ]
    environment = {**os.environ, "STROP_VERIFIER_TOKEN": TOKEN}
    with served() as server:
        done = run(*command, "--url", server.url, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        assert server.stats()["finished"] == 3
        found = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
        assert [row["outcome"] for row in found] == ["passed", "failed", "timed out"]
        done = run(*command, "--url", server.url, "--cpu-seconds", "3", cwd=tmp_path, env=environment)
        assert done.returncode == 2 and "cpu_seconds is 0.5 there and 3" in done.stderr
        done = run(
            *command, "--url", server.url, cwd=tmp_path, env={**environment, "STROP_VERIFIER_TOKEN": "x" * 20}
        )
        assert done.returncode == 2 and "401: wrong or missing token" in done.stderr
        assert done.stderr.count("\n") == 1


def run(*command: str, cwd: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
