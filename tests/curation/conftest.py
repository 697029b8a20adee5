"""A scripted model behind an OpenAI-compatible server, and the command that asks it, in processes of their own."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for what tests share

COMMAND = [sys.executable, "-c", "from strop.cli import main; main()", "build", "rust"]
GOOD = """```rust
/// Adds {n}.
pub fn add_{n}(x: i64) -> i64 {{
    x + {n}
}}

#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn adds() {{
        assert_eq!(add_{n}(1), {n} + 1);
        assert_eq!(add_{n}(-{n}), 0);
    }}
}}
```"""


def script(question: str, number: int, stage: str, attempt: int) -> str:
    """What a fair model says: prompt 7 is no exercise, 5 is wrong at first, 9 has tests that notice nothing."""
    if stage == "rewrite":
        return (
            "SKIP"
            if number == 7
            else f"Write `add_{number}` in Rust: it adds {number} to {'x ' * (number % 9)}."
        )
    text = GOOD.format(n=number)
    if number == 5 and attempt == 1:
        return text.replace("x + 5\n", "x + \n")
    if number == 9:
        return re.sub(r"assert_eq!\(.*\);", "let _ = add_9(1);", text)
    return text


class Model(ThreadingHTTPServer):
    """Counts what it is asked; `say` decides what it answers, `seconds` how long that takes."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[tuple[str, int, int]] = Counter()
        """(stage, number of the prompt, attempt) -> requests."""
        self.keys: Counter[str] = Counter()
        self.bodies: list[dict] = []
        self.lock = threading.Lock()
        self.active = self.most = 0
        self.seconds = 0.0
        self.say = script
        self.status, self.error = 200, ""
        self.usage: dict | None = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def reply(self, body: dict, key: str) -> tuple[int, bytes]:
        messages = body["messages"]
        question = messages[1]["content"]
        stage = "rewrite" if "The exercise:" in question else "solve"
        number = int(re.search(r"add_(\d+)", question)[1])
        attempt = 1 + sum(m["role"] == "assistant" for m in messages)
        with self.lock:
            self.bodies.append(body)
            self.asked[stage, number, attempt] += 1
            self.keys[key] += 1
            self.active += 1
            self.most = max(self.most, self.active)
        time.sleep(self.seconds)
        with self.lock:
            self.active -= 1
        if self.status != 200:
            return self.status, json.dumps({"error": {"message": self.error, "type": "x"}}).encode()
        message = {"role": "assistant", "content": self.say(question, number, stage, attempt)}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": self.usage,
                 "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
        return 200, json.dumps(reply).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, data = self.server.reply(body, self.headers.get("idempotency-key", ""))
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def model():
    made = Model()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def prompts(tmp_path):
    """Writes a JSONL file of prompts numbered from 0."""

    def write(count: int) -> Path:
        path = tmp_path / "prompts.jsonl"
        lines = [
            {"text": f"Write a Python function add_{n} that adds {n} to x{' again' * (n % 7)}."}
            for n in range(count)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


@pytest.fixture
def build(model, tmp_path):
    """Starts `strop build rust` on the scripted model; what still runs at the end is killed."""
    started = []

    def start(source, folder, *arguments, url=None, columns=("statement=text",)) -> subprocess.Popen:
        environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
        environment.pop("OPENAI_API_KEY", None)
        options = ["--url", url or model.url, "--model", "m", "--workers", "2"]
        options += [word for column in columns for word in ("--column", column)]
        process = subprocess.Popen(
            [*COMMAND, str(source), "-o", str(folder), *options, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def built(build):
    """Runs it to its end: (exit code, stdout, stderr)."""

    def run(*arguments, **options) -> tuple[int, str, str]:
        process = build(*arguments, **options)
        out, err = process.communicate(timeout=240)
        return process.returncode, out, err

    return run
