"""Verdicts over HTTP: the protocol, spoken by a real server on a thread of this process."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.waiting import wait_until

from strop.config.load import load_recipe
from strop_verify.core.checks import Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.listening import listen
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.limits import Limits
from strop_verify.verification import open_configured, open_remote
from strop_verify.verification.pool.pool import PoolBusy, VerifierPool
from strop_verify.verification.remote.client import RemoteVerifier
from strop_verify.verification.remote.protocol import job_line, parse_jobs, read_token, task_json
from strop_verify.verification.remote.server import VerifierApp
from strop_verify.verification.settings import Settings, fingerprint
from strop_verify.verification.toolchains import build

TOKEN = "a-token-of-tests-0123456789"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Strop-Protocol": "1", "Strop-Session": "session-1"}
LIMITS = Limits(cpu_seconds=0.5, wall_seconds=5, memory_bytes=256 * 2**20)
SETTINGS = fingerprint(LIMITS, "strict")
DOUBLE = Task(
    statement="s", check=CasesCheck(entry_point="f", cases=[Case(args=[n], expected=2 * n) for n in range(3)])
)
RIGHT = "def f(x): return 2 * x  # {}"
LOOP = "while True: pass  # {}"


@contextmanager
def serving(*, port: int = 0, workers: int = 2, capacity: int = 4096) -> Iterator[tuple[str, VerifierPool]]:
    pool = VerifierPool(
        workers=workers,
        capacity=capacity,
        route=Task.toolchain,
        build=lambda name: build(name, Settings(limits=LIMITS)),
    )
    with pool, listen("127.0.0.1", port) as sock:
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        server = VerifierApp(pool, TOKEN, SETTINGS).server(sock)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield url, pool
        finally:
            server.stop()
            thread.join(120)
            assert not thread.is_alive()


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, VerifierPool]]:
    with serving() as both:
        yield both


def lines(*jobs: tuple[str, str], task: Task = DOUBLE) -> bytes:
    return b"".join(job_line(name, task_json(task), answer) for name, answer in jobs)


def post(url: str, body: bytes, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/v1/verify", content=body, headers={**HEADERS, **headers}, timeout=120)


def verdicts(response: httpx.Response) -> dict[str, str]:
    assert response.status_code == 200, response.text
    rows = [json.loads(line) for line in response.text.split("\n") if line]
    found = {row["id"]: row["verdict"]["outcome"] for row in rows}
    assert len(found) == len(rows)
    return found


def test_same_verdicts_as_here(served: tuple[str, VerifierPool], verifier: VerifierPool) -> None:
    stdio = Task(statement="s", check=StdioCheck(cases=[StdioCase(stdin="ä\u2028\n", stdout="ä\u2028\n")]))
    jobs = [
        (DOUBLE, RIGHT),
        (DOUBLE, "def f(x): return x"),
        (DOUBLE, "def f("),
        (DOUBLE, "  \n"),
        (DOUBLE, "def f(x): raise ValueError('\\ud800 \\x85 \\n')"),
        (DOUBLE, "x = '\ud800'"),
        (stdio, "import sys\nsys.stdout.write(sys.stdin.read())"),
        (Task(statement="s", language="cobol", check=DOUBLE.check), "x"),
    ]
    with RemoteVerifier(served[0], TOKEN, settings=SETTINGS) as remote:
        far = [remote.submit(task, answer) for task, answer in jobs]
        for (task, answer), future in zip(jobs, far, strict=True):
            here, there = verifier.verify(task, answer), future.result(120)
            assert (there.outcome, there.detail, there.output) == (here.outcome, here.detail, here.output)
            assert [t.id for t in there.tests] == [t.id for t in here.tests]
        stats = remote.stats()
        assert (stats["waiting"], stats["cut_off"]) == (0, 0)


def test_verdicts_stream_as_they_finish(served: tuple[str, VerifierPool]) -> None:
    body = lines(("slow", LOOP.format("stream")), *[(f"q{i}", RIGHT.format(i)) for i in range(5)])
    found = list(verdicts(post(served[0], body, **{"Strop-Session": "stream-session"})))
    assert found[-1] == "slow" and set(found) == {"slow", *(f"q{i}" for i in range(5))}


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer wrong", f"bearer {TOKEN}", f"Bearer {TOKEN}x", TOKEN]
)
@pytest.mark.parametrize("path", ["health", "stats", "verify"])
def test_a_wrong_token_learns_nothing(served: tuple[str, VerifierPool], path: str, given: str) -> None:
    method = "POST" if path == "verify" else "GET"
    response = httpx.request(
        method, f"{served[0]}/v1/{path}", headers={**HEADERS, "Authorization": given}, content=b""
    )
    assert response.status_code == 401
    assert response.json() == {"error": "wrong or missing token"}


def test_the_client_says_in_one_line_why_it_cannot_start(served: tuple[str, VerifierPool]) -> None:
    with pytest.raises(UserError, match=r"401: wrong or missing token; STROP_VERIFIER_TOKEN must hold"):
        RemoteVerifier(served[0], "another-token-0123456789")
    with pytest.raises(
        UserError, match=r"cpu_seconds is 0.5 there and 7 here; start it with the same recipe"
    ):
        RemoteVerifier(served[0], TOKEN, settings={**SETTINGS, "cpu_seconds": 7})
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(UserError, match=rf"no verifier answers at http://127.0.0.1:{port} .*serve-verifier"):
        RemoteVerifier(f"http://127.0.0.1:{port}/", TOKEN)


def test_another_protocol_is_refused(served: tuple[str, VerifierPool]) -> None:
    response = post(served[0], lines(("a", RIGHT)), **{"Strop-Protocol": "2"})
    assert response.status_code == 426
    assert "speaks protocol 1, the client 2" in response.json()["error"]


GOOD = lines(("good", RIGHT)).decode()
ROW: dict[str, Any] = json.loads(GOOD)


@pytest.mark.parametrize(
    ("bad", "cause"),
    [
        ("no json", "line 3: not a job"),
        ("[1]", "line 3: not a job: it must be"),
        ("[" * 100_000, "line 3: not a job"),
        (json.dumps({**ROW, "more": 1}), "line 3: not a job: it must be"),
        (json.dumps({**ROW, "id": 7}), "'id' must be text"),
        (json.dumps({**ROW, "id": ""}), "'id' must be text"),
        (json.dumps({**ROW, "id": "b", "answer": None}), "'answer' must be text"),
        (json.dumps({**ROW, "id": "b", "task": {"statement": "s"}}), "line 3: not a job: task: check"),
        (json.dumps({**ROW, "id": "b", "task": "s"}), "line 3: not a job: task"),
        (json.dumps(ROW), "line 3: id 'good' is used twice"),
        ("\ufffd", "line 3: not a job"),
    ],
)
def test_a_malformed_line_is_named_and_nothing_runs(
    served: tuple[str, VerifierPool], bad: str, cause: str
) -> None:
    before = served[1].stats()["submitted"]
    response = post(served[0], f"{GOOD}\n{bad}\n".encode(), **{"Strop-Session": "malformed"})
    assert response.status_code == 400 and cause in response.json()["error"], response.text
    assert served[1].stats()["submitted"] == before


def test_an_empty_request_and_a_missing_session_are_refused(served: tuple[str, VerifierPool]) -> None:
    assert post(served[0], b"\n\n").status_code == 400
    assert "Strop-Session" in post(served[0], lines(("a", RIGHT)), **{"Strop-Session": "x"}).json()["error"]


def test_a_body_that_is_too_large_is_not_read(served: tuple[str, VerifierPool]) -> None:
    host, port = served[0].removeprefix("http://").split(":")
    head = "".join(f"{name}: {value}\r\n" for name, value in {**HEADERS, "Host": host}.items())
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(f"POST /v1/verify HTTP/1.1\r\n{head}Content-Length: 99999999999\r\n\r\n".encode())
        assert b" 413 " in connection.recv(1 << 16).split(b"\r\n")[0]
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(f"POST /v1/verify HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"%x\r\n" % (1 << 20) + b"x" * (1 << 20) + b"\r\n"
        with pytest.raises(OSError, match=r"reset|pipe"):
            for _ in range(200):  # 200 MB, were it read
                connection.sendall(chunk)


def cut_off(url: str, body: bytes, session: str, pool: VerifierPool, running: int) -> None:
    """Sends jobs and hangs up when `running` of them have begun."""
    with httpx.stream(
        "POST", f"{url}/v1/verify", content=body, headers={**HEADERS, "Strop-Session": session}
    ):
        wait_until(lambda: pool.stats()["running"] >= running)


def test_a_job_that_is_sent_again_is_not_judged_again(served: tuple[str, VerifierPool]) -> None:
    url, pool = served
    before = pool.stats()
    body = lines(("x", "import time; time.sleep(2)\n" + RIGHT.format("again")))
    cut_off(url, body, "again-session", pool, 1)
    for session in ("again-session", "other-session"):  # while it runs, and after it ended
        assert verdicts(post(url, body, **{"Strop-Session": session})) == {"x": "passed"}
    assert pool.stats()["cache_misses"] - before["cache_misses"] == 1


def test_what_has_not_begun_is_dropped_when_its_client_hangs_up(served: tuple[str, VerifierPool]) -> None:
    url, pool = served
    before = pool.stats()["cache_misses"]
    cut_off(url, lines(*[(str(i), LOOP.format(i)) for i in range(60)]), "hang-up-session", pool, 2)
    wait_until(lambda: not pool.stats()["waiting"] and not pool.stats()["running"])
    assert pool.stats()["cache_misses"] - before <= 4


def test_a_full_server_says_so_and_a_patient_client_gets_everything() -> None:
    with serving(workers=1, capacity=40) as (url, pool):
        held = [pool.submit(DOUBLE, LOOP.format(i)) for i in range(25)]
        response = post(url, lines(*[(str(i), RIGHT.format(i)) for i in range(20)]))
        assert response.status_code == 429 and response.headers["Retry-After"] == "1"
        assert post(url, lines(*[(str(i), RIGHT) for i in range(41)])).status_code == 413
        for future in held[2:]:
            future.cancel()
        with RemoteVerifier(url, TOKEN, capacity=100) as remote:
            futures = [remote.submit(DOUBLE, RIGHT.format(i)) for i in range(60)]
            assert all(future.result(120).passed for future in futures)


def test_the_client_is_bounded_too() -> None:
    with serving(workers=2) as (url, _), RemoteVerifier(url, TOKEN, capacity=2) as remote:
        futures = []
        with pytest.raises(PoolBusy):
            for number in range(1000):  # some are on their way, and two wait
                futures.append(remote.submit(DOUBLE, LOOP.format(number), timeout=0.05))
        remote.close()
        assert {f.result(120).outcome for f in futures} <= {Outcome.TIMED_OUT, Outcome.ERROR}


def test_a_job_that_the_server_refuses_harms_no_other() -> None:
    odd = Task(statement="s", check=DOUBLE.check, metadata={"n": 10**5000})
    with serving() as (url, _), RemoteVerifier(url, TOKEN) as remote:
        futures = [remote.submit(odd if i == 7 else DOUBLE, RIGHT.format(i)) for i in range(20)]
        found = [future.result(120) for future in futures]
    assert [v.outcome is Outcome.ERROR for v in found] == [i == 7 for i in range(20)]
    assert "cannot be sent" in found[7].detail or "refused the job" in found[7].detail


def test_an_unreachable_server_is_an_error_never_a_zero() -> None:
    with serving() as (url, _):
        remote = RemoteVerifier(url, TOKEN, patience=2)
        assert remote.verify(DOUBLE, RIGHT).passed
    with remote:
        found = [f.result(120) for f in [remote.submit(DOUBLE, RIGHT.format(i)) for i in range(40)]]
        assert {v.outcome for v in found} == {Outcome.ERROR}
        assert found[0].detail.startswith("server unreachable for 2 s") and url in found[0].detail
        with serving(port=int(url.rpartition(":")[2])):
            assert remote.submit(DOUBLE, RIGHT).result(120).passed


def test_close_in_the_middle_settles_everything() -> None:
    with serving() as (url, pool):
        remote = RemoteVerifier(url, TOKEN)
        futures = [remote.submit(DOUBLE, LOOP.format(i)) for i in range(100)]
        wait_until(lambda: pool.stats()["running"] == 2)
        remote.close()
        remote.close()
        assert {future.result(120).outcome for future in futures} == {Outcome.ERROR}
        assert remote.verify(DOUBLE, RIGHT).detail == "the verifier is closed"
        wait_until(lambda: not pool.stats()["waiting"])


def test_tokens(tmp_path: Any) -> None:
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text(TOKEN + "\n")
    assert read_token(file, {}) == read_token(None, {"STROP_VERIFIER_TOKEN": TOKEN}) == TOKEN
    for environment in ({}, {"STROP_VERIFIER_TOKEN": " "}, {"STROP_VERIFIER_TOKEN": "short"}):
        with pytest.raises(UserError, match="TOKEN holds no"):
            read_token(None, environment)
    with pytest.raises(UserError, match="cannot be read"):
        read_token(tmp_path / "none", {})


def test_a_job_line_is_read_back() -> None:
    task = Task(id="t", statement="ä\ud800\u2028", check=DOUBLE.check, metadata={"x": [float("inf"), None]})
    (job,) = parse_jobs(job_line("n", task_json(task), "a\n\u2028\ud800"))
    assert (job.id, job.task, job.answer) == ("n", task, "a\n\u2028\ud800")


def test_a_recipe_names_its_servers(
    served: tuple[str, VerifierPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = served[0]
    limits = ["sandbox.cpu_seconds=0.5", "sandbox.wall_seconds=5", "sandbox.memory_mb=256"]
    server = ["verifier.engine=server", f"verifier.url={url}"]
    recipe = load_recipe([], [*server, *limits])
    monkeypatch.delenv("STROP_VERIFIER_TOKEN", raising=False)
    with pytest.raises(UserError, match="STROP_VERIFIER_TOKEN holds none"):
        open_configured(recipe.sandbox, recipe.verifier)
    monkeypatch.setenv("STROP_VERIFIER_TOKEN", TOKEN)
    with open_configured(recipe.sandbox, recipe.verifier) as remote:
        assert isinstance(remote, RemoteVerifier) and remote.verify(DOUBLE, RIGHT).passed
    with pytest.raises(UserError, match="cpu_seconds is"):
        open_configured(load_recipe([], []).sandbox, recipe.verifier)
    with pytest.raises(ConfigError, match="not a URL"):
        load_recipe([], ["verifier.engine=server", "verifier.url=cpu-1:8765"])
    with pytest.raises(ConfigError, match=r"is now the section verifier: \{engine: server, url"):
        load_recipe([], ["sandbox.verifier_urls=[http://cpu-1:8765]"])


def test_an_address_may_be_a_file_that_comes_to_be(
    served: tuple[str, VerifierPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STROP_VERIFIER_TOKEN", TOKEN)
    file = tmp_path / "url"
    threading.Timer(0.5, lambda: file.write_text(served[0] + "\n")).start()
    with open_remote(str(file), settings=SETTINGS) as remote:
        assert remote.verify(DOUBLE, RIGHT).passed


def test_a_server_that_breaks_every_request_ends_in_errors() -> None:
    """A stand-in that says hello and then hangs up on every job."""
    hello = b'{"protocol": "1", "workers": 1, "settings": {}}'

    def answer(connection: socket.socket) -> None:
        with connection:
            if connection.recv(1 << 16).startswith(b"GET"):
                head = f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(hello)}\r\n\r\n"
                connection.sendall(head.encode() + hello)

    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    answer(listening.accept()[0])

        threading.Thread(target=serve, daemon=True).start()
        with RemoteVerifier(f"http://127.0.0.1:{listening.getsockname()[1]}", TOKEN, patience=1) as remote:
            verdict = remote.verify(DOUBLE, RIGHT)
        assert verdict.outcome is Outcome.ERROR and "requests broke" in verdict.detail
        listening.shutdown(socket.SHUT_RDWR)
