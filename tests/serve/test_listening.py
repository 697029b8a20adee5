"""One guard for all that listens: each server as a process of its own, with clients that have no business there."""

import contextlib
import http.client
import json
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.reports.made_runs import make_run
from tests.warm import strop

from strop.tasks.jsonl import write_tasks
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.listening import GuardedServer, RequestGuard, listen, read_json, read_key
from strop_verify.core.task import Task
from strop_verify.verification.remote.protocol import job_line, task_json

pytestmark = pytest.mark.jail
TOKEN = "a-token-of-tests-0123456789"
DOUBLE = Task(
    id="one", statement="s", split="train", signature="def f(x):",
    check=CasesCheck(entry_point="f", cases=[Case(args=[1], expected=2)]),
)  # fmt: skip
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "search_code", "arguments": {"question": "where is the rate?"}},
}  # fmt: skip


@dataclass
class Server:
    """A process that listens, and what an honest client asks it."""

    process: "subprocess.Popen[str]"
    port: int
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    answer: str

    def ask(self, headers: Mapping[str, str] = {}, body: bytes | None = None) -> httpx.Response:
        return httpx.request(
            self.method, f"http://127.0.0.1:{self.port}{self.path}",
            content=self.body if body is None else body, headers={**self.headers, **headers}, timeout=60,
        )  # fmt: skip

    def honest(self) -> float:
        """Seconds that an answer took, over a connection of its own."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(self.method, self.path, self.body, self.headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status == 200 and self.answer in text, text
        return time.monotonic() - began

    def memory(self) -> int:
        """The most bytes that it has held so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) << 10

    def connect(self, stack: ExitStack) -> socket.socket:
        return stack.enter_context(socket.create_connection(("127.0.0.1", self.port), 60))

    def head(self, end: str, **headers: str) -> bytes:
        """The headers of a request."""
        all = {"Host": "127.0.0.1", **self.headers, **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in all.items())
        return f"{self.method} {self.path} HTTP/1.1\r\n{lines}{end}\r\n\r\n".encode()


def answers(folder: Path, task: str, text: str) -> str:
    (folder / "answers.jsonl").write_text((json.dumps({"task_id": task, "answer": text}) + "\n") * 3000)
    return f"scripted:{folder / 'answers.jsonl'}"


def policy(folder: Path) -> tuple[list[str], Any]:
    chat = {"messages": [{"role": "user", "content": "a"}]}
    return ["serve-policy", answers(folder, "t", "forty-two")], ("/v1/chat/completions", chat, "forty-two")


def edits(folder: Path) -> tuple[list[str], Any]:
    words = ["serve-edits", "--model", answers(folder, "edit", "x + 1"), "--log", str(folder / "log")]
    return words, ("/infill", {"input_prefix": "a = "}, "x + 1")


def search(folder: Path) -> tuple[list[str], Any]:
    (folder / "tax.py").write_text("RATE = 0.2\n")
    return ["serve-search", "-m", "scripted:bm25-chunks", "--root", str(folder)], ("/mcp", CALL, "tax.py:1")


def environment(folder: Path) -> tuple[list[str], Any]:
    write_tasks([DOUBLE], folder / "t.jsonl")
    words = ["serve-environment", f"tasks.source=strop:{folder}/t.jsonl", "sandbox.workers=1"]
    return words, ("/strop/num_tasks", {"split": "train"}, "1")


def view(folder: Path) -> tuple[list[str], Any]:
    make_run(folder / "run", steps=1, groups=1, size=2)
    return ["view", str(folder / "run")], ("/api/page", None, "runs")


def verifier(folder: Path) -> tuple[list[str], Any]:
    job = job_line("j", task_json(DOUBLE), "def f(x): return 2 * x")
    return ["serve-verifier", "--workers", "1"], ("/v1/verify", job, "passed")


SERVERS: dict[str, Callable[[Path], tuple[list[str], Any]]] = {
    one.__name__: one for one in (policy, edits, search, environment, view, verifier)
}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
OURS = {"Authorization": f"Bearer {TOKEN}", "Strop-Protocol": "1", "Strop-Session": "session-1"}


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    name = request.param
    words, (path, body, answer) = SERVERS[name](tmp_path_factory.mktemp(name))
    pytest.importorskip({"search": "mcp.server", "environment": "websockets"}.get(name, "uvicorn"))
    content = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
    variables = {**os.environ, "PYTHONUNBUFFERED": "1", "STROP_VERIFIER_TOKEN": TOKEN}
    with subprocess.Popen(
        [sys.executable, "-m", "strop.cli", *words, "--port", "0"], text=True, env=variables,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", said)):
            line = process.stdout.readline()
            assert line, said
            said += line
        headers = (OURS if name == "verifier" else {}) | (JSON if body else {})
        one = Server(process, int(found[1]), "POST" if body else "GET", path, headers, content, answer)
        try:
            until(lambda: one.ask().status_code == 200)
            yield one
        finally:
            process.terminate()
            rest = process.communicate(timeout=60)[0]
    assert "Traceback" not in rest, rest


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while True:
        with contextlib.suppress(httpx.TransportError):
            if true():
                return
        assert time.monotonic() < end
        time.sleep(0.1)


PAGES = [
    {"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example"}, {"Host": "10.0.0.7"}, {"Origin": "http://evil.example"},
    {"Origin": "null"}, {"Origin": "http://localhost:3000"}, {"Sec-Fetch-Site": "cross-site"},
]  # fmt: skip


@pytest.mark.parametrize("theirs", PAGES, ids=str)
def test_web_pages_are_refused(server: Server, theirs: dict[str, str]) -> None:
    assert server.ask(theirs).status_code == 403
    assert server.ask({**theirs, "Content-Type": "text/plain"}).status_code == 403
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    for path in ("/ws", server.path):
        answer = httpx.get(
            f"http://127.0.0.1:{server.port}{path}",
            headers={**server.headers, **upgrade, **key, **theirs}, timeout=60,
        )  # fmt: skip
        assert answer.status_code == 403, answer.text
        assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    "ours", [{"Host": "localhost:1"}, {"Host": "[::1]:80"}, {"Sec-Fetch-Site": "none"}], ids=str
)
def test_who_has_business_is_answered(server: Server, ours: dict[str, str]) -> None:
    assert server.ask(ours).status_code == 200


def test_a_body_without_end_is_refused_and_not_kept(server: Server) -> None:
    server.honest()
    before, sent = server.memory(), 0
    stranger = {**server.headers, "Authorization": ""}
    head = Server.head(Server(**{**vars(server), "headers": stranger}), "Transfer-Encoding: chunked")
    with ExitStack() as stack:
        raw = server.connect(stack)
        with contextlib.suppress(OSError):
            raw.sendall(head)
            for _ in range(400):
                raw.sendall(b"100000\r\n" + b"x" * (1 << 20) + b"\r\n")
                sent += 1
        assert sent < 400
        with contextlib.suppress(ConnectionError):
            assert re.match(rb"HTTP/1.1 4(13|01) ", raw.recv(100))
        declared = server.connect(stack)
        declared.sendall(server.head("Content-Length: 99999999999"))
        assert declared.recv(100).startswith(b"HTTP/1.1 413 ")
    assert server.memory() - before < 32 << 20
    server.honest()


@pytest.mark.parametrize(
    "deep", ["[" * 100_000, '{"messages": ' * 5000, "[" * 500 + "]" * 500], ids=["a", "b", "c"]
)
def test_deep_json_is_refused_by_name(server: Server, deep: str) -> None:
    if server.method == "GET":
        pytest.skip("takes no body")
    answer = server.ask(body=deep.encode())
    assert answer.status_code == 400, answer.text
    # Where Python nests that deep, the unclosed one is refused as what it is.
    assert re.search("nested|recursion|must be|Expecting value", answer.text), answer.text


@pytest.mark.soak(11)
def test_half_sent_headers_end(server: Server) -> None:
    with ExitStack() as stack:
        silent, half, again = (server.connect(stack) for _ in range(3))
        half.sendall(server.head("")[:-30])
        again.sendall(server.head(f"Content-Length: {len(server.body)}") + server.body)
        assert again.recv(1 << 20).startswith(b"HTTP/1.1 200")
        again.sendall(server.head("")[:-30])
        for one in (silent, half, again):
            with contextlib.suppress(ConnectionResetError):
                while one.recv(1 << 20):
                    pass


@pytest.mark.soak(20)
def test_slow_clients_cost_the_others_nothing(server: Server) -> None:
    """200 slow bodies and 200 half-sent headers, each with a byte now and then."""
    alone = [server.honest() for _ in range(30)]
    stop = threading.Event()
    with ExitStack() as stack:
        slow = []
        for number in range(400):
            slow.append(server.connect(stack))
            slow[-1].sendall(
                server.head("Content-Length: 9999") if number % 2 else server.head("X-Late: ")[:-4]
            )

        def drip() -> None:
            while not stop.wait(0.5):
                for one in slow:
                    with contextlib.suppress(OSError):
                        one.send(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            beside = [server.honest() for _ in range(60)]
        finally:
            stop.set()
            thread.join()
    before, now = statistics.median(alone), statistics.median(beside)
    print(f"{server.path}: {before * 1000:.1f} ms alone, {now * 1000:.1f} ms beside 400 slow clients")
    assert now < 2 * before + 0.1 and max(beside) < 10


@pytest.fixture
def small() -> Iterator[int]:
    """The port of a server that holds eight connections, and bodies of 100,000 bytes."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(len(message["body"])).encode()})

    guard = RequestGuard(app, most_bytes=100_000)
    with listen("127.0.0.1", 0) as sock:
        server = GuardedServer(guard, sock, connections=8, lifespan="off")
        thread = threading.Thread(target=server.run)
        thread.start()
        yield sock.getsockname()[1]
        server.stop()
        thread.join(60)
    assert not thread.is_alive()


def opened(port: int, stack: ExitStack, sent: bytes) -> socket.socket:
    one = stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
    one.sendall(sent)
    return one


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHo", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"],
)
def test_who_waits_longest_for_its_client_makes_room(small: int, sent: bytes) -> None:
    with ExitStack() as stack:
        held = [opened(small, stack, sent) for _ in range(8)]
        for _ in range(2):  # the first of these leaves its place to the second
            assert httpx.post(f"http://127.0.0.1:{small}/", content=b"abc", timeout=60).text == "3"
        gone = [select.select([one], [], [], 0)[0] != [] for one in held]
        assert gone == [True] + [False] * 7


def test_of_too_many_bodies_that_which_stands_still_goes(small: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n"
    with ExitStack() as stack:
        still = opened(small, stack, head + b"x" * 99_000)
        time.sleep(0.2)
        moving = [opened(small, stack, head + b"x" * 90_000) for _ in range(4)]
        assert still.recv(100).startswith(b"HTTP/1.1 408 ")
        for one in moving:
            one.sendall(b"x" * 9_999)
        assert all(one.recv(100).startswith(b"HTTP/1.1 200 ") for one in moving)


@pytest.mark.parametrize(
    ("host", "key", "named", "status"),
    [
        ("0.0.0.0", "", "10.0.0.7:80", 200), ("0.0.0.0", "", "env:80", 200), ("0.0.0.0", "", "evil.example", 403),
        ("::", "", "[fe80::1]:80", 200), ("0.0.0.0", "", "", 403), ("10.0.0.7", "", "10.0.0.7:80", 200),
        ("10.0.0.7", "", "10.0.0.8", 403), ("10.0.0.7", "k" * 16, "gpu.example", 200),
        ("0.0.0.0", "k" * 16, "gpu.example", 200),
        ("127.0.0.1", "k" * 16, "gpu.example", 403), ("gpu.lan", "", "GPU.lan:80", 200),
    ],
)  # fmt: skip
def test_hosts_beyond_this_machine(host: str, key: str, named: str, status: int) -> None:
    from starlette.responses import Response
    from starlette.testclient import TestClient

    client = TestClient(RequestGuard(Response("x"), host=host, key=key))
    headers = {"Host": named, "Authorization": f"Bearer {key}"}
    assert client.get("/", headers=headers).status_code == status


def test_a_key_is_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "key"
    for text, mode, said in (
        (TOKEN, 0o644, "others can read it; run: chmod 600"), (TOKEN, 0o640, "others can read it"),
        ("x", 0o600, "at least 16 characters"), ("two words of some length", 0o600, "one word"), ("", 0o600, "no key"),
    ):  # fmt: skip
        file.write_text(text)
        file.chmod(mode)
        with pytest.raises(UserError, match=said) as caught:
            read_key("--key-file", file)
        assert "\n" not in str(caught.value)
    for words in (
        ["serve-policy", "scripted:x", "--key-file", file],
        ["serve-verifier", "--token-file", file],
    ):
        file.chmod(0o644)
        done = strop(*words)
        assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_a_new_token_is_for_its_owner_under_any_umask(tmp_path: Path, umask: int) -> None:
    command = f"umask {umask:o}; {sys.executable} -m strop.cli serve-verifier --new-token > {tmp_path}/token"
    subprocess.run(["sh", "-c", command], check=True, timeout=120)
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert len(read_key("--token-file", tmp_path / "token")) >= 32


@pytest.mark.parametrize(
    ("text", "said"), [("{", "not JSON"), ("[" * 300 + "]" * 300, "nested"), (b"\xff", "not JSON")]
)
def test_json_that_is_none(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_json(text)
    assert read_json("[" * 200 + "]" * 200)
