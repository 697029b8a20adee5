"""Against a real server on loopback."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.waiting import DEADLINE, wait_until

from strop.config.model import OpenAIPolicyConfig as Config
from strop.policies.open import answers
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Message, SamplingParams

pytest.importorskip("openai", reason="openai is not installed")

from strop.policies import connection
from strop.policies.openai_server import OpenAIPolicy


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.headers = {}
        self.seen, self.active, self.most, self.lock = [], 0, 0, threading.Lock()
        self.answer = lambda body: (200, text_reply("ok"))
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with server.lock:
            server.seen.append((self.path, body, self.headers.get("authorization")))
            server.active += 1
            server.most = max(server.most, server.active)
        status, reply = server.answer(body)
        with server.lock:
            server.active -= 1
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            for header in server.headers.items():
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def text_reply(text, reason="stop", **more):
    return {"id": "1", "object": "text_completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "text": text, "finish_reason": reason, **more}]}  # fmt: skip


def chat_reply(text, reason="stop", **more):
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason, **more}]}  # fmt: skip


def error(message):
    return {"error": {"message": message, "type": "x", "code": None}}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = Server()
    yield made
    made.shutdown()
    made.server_close()


def open_(server, **options):
    return OpenAIPolicy(Config(base_url=server.url, model="m", **options))


def play(policy, prompts, **options):
    ids = [
        policy.tokenizer.encode(p) if isinstance(p, str) else policy.tokenizer.encode_chat(p) for p in prompts
    ]
    return dict(answers(policy, ids, range(len(ids)), SamplingParams(**options)))


def test_text_goes_to_completions_with_its_settings(server, monkeypatch):
    monkeypatch.setenv("MY_KEY", "s3cret")
    logprobs = {"tokens": ["né ", "x", "!"], "token_logprobs": [-0.5, -0.25, None], "text_offset": [0, 3, 4]}
    server.answer = lambda body: (200, text_reply("né x!", "length", logprobs=logprobs))
    policy = open_(server, api_key_env="MY_KEY")
    got = play(
        policy, ["def f():"], temperature=0.5, top_p=0.9, max_tokens=7, stop=("a", "b", "c", "d", "e")
    )[0]
    ((path, body, key),) = server.seen
    assert (path, key) == ("/v1/completions", "Bearer s3cret")
    assert body == {
        "model": "m", "prompt": "def f():", "temperature": 0.5, "top_p": 0.9, "max_tokens": 7, "seed": 0,
        "stop": ["a", "b", "c", "d"], "logprobs": 1,
    }  # fmt: skip
    assert (got.text, got.finish_reason) == ("né x!", "length")
    assert policy.tokenizer.decode(got.token_ids) == got.text
    assert got.logprobs == [-0.5, -0.25]


def test_conversations_go_to_chat_and_grow(server):
    content = [
        {"token": t, "bytes": list(t.encode()), "logprob": -1.0, "top_logprobs": []} for t in ("ab", "cdefgh")
    ]
    server.answer = lambda body: (200, chat_reply("abcdefgh", logprobs={"content": content}))
    policy = open_(server)
    talk = [Message(role="system", content="be brief"), Message(role="user", content="héllo")]
    got = play(policy, [talk])[0]
    assert (got.text, got.finish_reason, got.logprobs) == ("abcdefgh", "eos", [-2.0, 0.0])
    path, body, _ = server.seen[0]
    assert path == "/v1/chat/completions" and "continue_final_message" not in body
    assert body["messages"] == [m.model_dump() for m in talk]

    more = policy.tokenizer.encode_chat([Message(role="user", content="again")])
    ids = [*policy.tokenizer.encode_chat(talk), *got.token_ids, *more]
    list(answers(policy, [ids, ids + policy.tokenizer.encode("```python\n")], [0, 1], SamplingParams()))
    bodies = sorted((b for _, b, _ in server.seen[1:]), key=lambda b: len(b["messages"]))
    assert [m["role"] for m in bodies[0]["messages"]] == ["system", "user", "assistant", "user"]
    assert bodies[1]["messages"][-1] == {"role": "assistant", "content": "```python\n"}
    assert bodies[1]["continue_final_message"] is True


def test_a_stop_string_is_cut_here_too(server):
    server.answer = lambda body: (200, text_reply("one\n\ntwo"))
    got = play(open_(server), ["p"], stop=("\n\n",))[0]
    assert (got.text, got.finish_reason, got.logprobs) == ("one", "stop", [0.0])
    server.answer = lambda body: (200, text_reply("one", stop_reason="\n\n"))
    assert play(open_(server), ["p"], stop=("\n\n",))[0].finish_reason == "stop"


def test_answers_arrive_as_they_finish_and_no_more_than_asked_at_a_time(server):
    others, two = threading.Event(), threading.Barrier(2)

    def answer(body):
        if body["prompt"] == "row 0":
            two.wait(DEADLINE)
            others.wait(DEADLINE)
        elif body["prompt"] == "row 1":
            two.wait(DEADLINE)
        return 200, text_reply(body["prompt"] + f" seed {body['seed']}")

    server.answer = answer
    policy = open_(server, concurrency=3)
    ids = [policy.tokenizer.encode(f"row {i}") for i in range(12)]
    rows = []
    for row in answers(policy, ids, [2**31 + i for i in range(12)], SamplingParams()):
        rows.append(row)
        if len(rows) == 11:
            others.set()
    assert [c.text for _, c in sorted(rows, key=lambda x: x[0])] == [f"row {i} seed {i}" for i in range(12)]
    assert rows[-1][0] == 0
    assert 1 < server.most <= 3


def test_a_closed_iterator_gives_up_its_requests(server):
    free = threading.Semaphore(1)
    server.answer = lambda body: (free.acquire(timeout=DEADLINE), (200, text_reply("ok")))[1]
    policy = open_(server, concurrency=2)
    rows = answers(policy, [policy.tokenizer.encode("p")] * 50, range(50), SamplingParams())
    next(rows)
    rows.close()
    free.release(50)
    wait_until(lambda: not server.active)
    assert len(server.seen) < 8
    policy.close()
    policy.close()
    assert play(policy, ["p"])[0].text == "ok"  # it connects again
    policy.close()


@pytest.fixture
def quick(monkeypatch):
    """Pauses of a thirtieth of what they are."""
    monkeypatch.setattr(connection, "_FIRST_PAUSE", connection._FIRST_PAUSE / 30)
    monkeypatch.setattr(connection, "_LONGEST_PAUSE", connection._LONGEST_PAUSE / 30)


def test_what_a_busy_server_refuses_is_asked_again_as_long_as_it_takes(server, quick):
    count = iter(range(10**6))

    def answer(body):
        return (429, error("slow down")) if next(count) % 2 else (200, text_reply(body["prompt"]))

    server.answer = answer
    got = play(open_(server, concurrency=8), [f"row {i}" for i in range(40)])
    assert [got[i].text for i in range(40)] == [f"row {i}" for i in range(40)]
    replies = [(503, error("loading"))] * 12 + [(200, text_reply("at last"))]
    server.answer = lambda body: replies.pop(0)
    assert play(open_(server), ["p"])[0].text == "at last"


def test_it_waits_as_long_as_the_server_says(server):
    server.headers, times = {"retry-after": "1"}, []

    def answer(body):
        times.append(time.monotonic())
        return (429, error("slow down")) if len(times) == 1 else (200, text_reply("ok"))

    server.answer = answer
    assert play(open_(server), ["p"])[0].text == "ok"
    assert times[1] - times[0] >= 1
    server.headers = {"retry-after": "1000"}
    times.clear()
    with pytest.raises(UserError, match=r"busy or the account has no credit .*slow down.*policy.concurrency"):
        play(open_(server), ["p"])  # longer than policy.retry_seconds


def test_a_server_that_is_killed_and_started_again_answers_the_rest(server, quick):
    held = [*range(20)]
    policy = open_(server, concurrency=4)
    assert play(policy, ["first"])[0].text == "ok"
    port = server.server_address[1]
    server.shutdown()
    server.server_close()
    rows = answers(policy, [policy.tokenizer.encode(f"p {i}") for i in held], held, SamplingParams())
    timer = threading.Timer(1, lambda: again.append(Server(port)))
    again = []
    timer.start()
    try:
        assert {completion.text for _, completion in rows} == {"ok"}
        assert sorted(body["prompt"] for _, body, _ in again[0].seen) == sorted(f"p {i}" for i in held)
    finally:
        timer.join()
        again[0].shutdown()
        again[0].server_close()


def test_a_server_that_stays_busy_is_given_up_after_the_deadline(server, quick):
    server.answer = lambda body: (500, error("out of order"))
    started = time.monotonic()
    with pytest.raises(UserError, match=r"refused or failed \(.*out of order.*policy.retry_seconds"):
        play(open_(server, retry_seconds=0.5), ["p"])
    assert len(server.seen) > 2 and time.monotonic() - started < 60
    server.seen.clear()
    server.answer = lambda body: (429, {"error": {"message": "pay", "code": "insufficient_quota"}})
    with pytest.raises(UserError, match="account has no credit"):
        play(open_(server), ["p"])
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_logprobs_is_asked_without_at_any_concurrency(server, status):
    """Several requests with them are under way when the first one is refused."""
    refusal, all_there = (status, error("logprobs is not supported")), threading.Barrier(6)

    def answer(body):
        if "logprobs" not in body:
            return 200, text_reply("ok")
        all_there.wait(DEADLINE)
        return refusal

    server.answer = answer
    policy = open_(server, concurrency=6)
    assert [c.logprobs for c in play(policy, ["p"] * 12).values()] == [[0.0]] * 12
    assert sum("logprobs" in body for _, body, _ in server.seen) == 6 and len(server.seen) == 18


def test_a_server_that_wants_another_name_for_the_longest_answer_is_told_so(server):
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead. logprobs are not supported."

    def answer(body):
        if "max_tokens" in body:
            return 400, error(said)
        return (400, error("no logprobs")) if "logprobs" in body else (200, chat_reply("ok"))

    server.answer = answer
    policy = open_(server, concurrency=3)
    got = play(policy, [[Message(role="user", content=f"p {i}")] for i in range(9)], max_tokens=7)
    assert {c.text for c in got.values()} == {"ok"}
    assert [body["max_completion_tokens"] for _, body, _ in server.seen[-6:]] == [7] * 6


@pytest.mark.parametrize(
    ("reply", "key", "expected"),
    [
        (
            (401, error("no")),
            "",
            r"127.0.0.1:\d+/v1 requires a key: set the environment variable OPENAI_API_KEY",
        ),
        ((401, error("no")), "k", r"refuses the key in OPENAI_API_KEY"),
        ((404, error("no such model")), "", r"knows no model 'm'.*set policy.model"),
        ((400, error("bad\n\x1b[31mthing")), "", r"refused or failed .*bad"),
        ((200, {"hello": 1}), "", r"did not answer like an OpenAI-compatible server .*no choices"),
        ((200, {"choices": [{"finish_reason": "stop"}]}), "", "did not answer like"),
        ((200, b"<html>"), "", "did not answer like"),
    ],
)
def test_a_refusal_is_one_clear_line(server, monkeypatch, reply, key, expected):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server.answer = lambda body: reply
    with pytest.raises(UserError, match=expected) as caught:
        play(open_(server), ["p", "q"])
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)


def test_a_slow_server_meets_the_deadline(server):
    given_up = threading.Event()
    server.answer = lambda body: (given_up.wait(120), (200, text_reply("late")))[1]
    started = time.monotonic()
    with pytest.raises(UserError, match=r"gave no answer within 0.3 s; raise policy.timeout_seconds"):
        play(open_(server, timeout_seconds=0.3), ["p", "q"])
    given_up.set()
    assert time.monotonic() - started < 60


def test_a_server_that_is_not_there(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(UserError, match=rf"cannot reach {url} .*start the server or set policy.base_url"):
            play(OpenAIPolicy(Config(base_url=url)), ["p"])
