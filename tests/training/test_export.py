"""What a run gives out: a folder that others load, with the facts of the run, and its way to a Hub."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from tests import scored
from tests.training.conftest import recipe
from tests.warm import strop
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from strop.reports.run_folder import RunFolder

pytestmark = pytest.mark.train(12)


@pytest.fixture(scope="module")
def adapted(peaked_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run with adapters that do something."""
    folder = tmp_path_factory.mktemp("adapted")
    changes = {"model__lora__rank": 4, "model__lora__alpha": 64, "optim__steps": 2, "run__save_every": 1}
    done = strop("train", *recipe(folder, os.path.relpath(peaked_model), "run", **changes))
    assert done.returncode == 0, done.stderr
    return folder / "run"


def logps(model: Any, run: Path) -> Iterator[tuple[float, float]]:
    """(what the model gives a sampled token, what the run's policy gave it when it sampled it)."""
    for rollout in RunFolder.read(run).iter_evaluation_rollouts("after"):
        (turn,) = rollout.turns
        if rollout.index == 0:  # the greedy answer's are those of a distribution without choice
            ids = [*turn.prompt_ids, *turn.completion.token_ids]
            found = scored.logps(model, ids, len(turn.prompt_ids)).tolist()
            yield from zip(found, turn.completion.logprobs, strict=True)


def check_same(folder: Path, run: Path) -> None:
    pairs = list(logps(AutoModelForCausalLM.from_pretrained(folder).eval(), run))
    assert len(pairs) >= 8 and max(abs(a - b) for a, b in pairs) < 1e-4


def front_matter(folder: Path) -> dict[str, Any]:
    found = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    assert isinstance(found, dict)
    return found


def test_merged_weights_are_the_policy_in_plain_transformers(adapted: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = strop("export", adapted, "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"vllm serve {out}"
    check_same(out, adapted)
    assert not (out / "adapter_config.json").exists()
    tokenizer = AutoTokenizer.from_pretrained(out)
    told = tokenizer.apply_chat_template([{"role": "user", "content": "hello"}], tokenize=False)
    assert "hello" in told
    ours = GenerationConfig.from_pretrained(adapted / "final").eos_token_id
    assert ours and GenerationConfig.from_pretrained(out).eos_token_id == ours
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o644}
    assert stat.S_IMODE(out.stat().st_mode) == 0o755
    again = strop("export", adapted, "-o", out)
    assert again.returncode == 2 and "not an empty folder" in again.stderr


def test_the_card_says_what_the_run_was_and_nothing_else(
    adapted: Path, peaked_model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert strop("export", adapted, "-o", out).returncode == 0
    after = json.loads((adapted / "evaluation" / "after.json").read_text())
    for folder, weights, library in (
        (out, "full, with LoRA adapters of rank 4 merged in", "transformers"),
        (adapted / "final", "LoRA adapters of rank 4, which need the base model", "peft"),
    ):
        text = (folder / "README.md").read_text()
        assert "More Information" not in text
        assert weights in text and front_matter(folder)["library_name"] == library
        assert f"| base model | `{peaked_model}` |" in text and "`python-functions` (limit 24)" in text
        low, high = after["intervals"]["pass@1"]
        assert f"{after['pass@1']:.3f} [{low:.3f}, {high:.3f}]" in text
        assert "rewards: rewards.py:repeats x 1" in text and "2 steps of 4 tasks x 4 answers" in text
        assert str(adapted.parent) not in text


def test_an_adapter_names_its_base_by_an_absolute_path(
    adapted: Path, peaked_model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = strop("export", adapted, "-o", out, "--adapter")
    assert done.returncode == 0, done.stderr
    settings = json.loads((out / "adapter_config.json").read_text())
    assert settings["base_model_name_or_path"] == str(peaked_model)
    served = "--enable-lora --max-lora-rank 8 --lora-modules"
    assert done.stdout.splitlines()[-1] == f"vllm serve {peaked_model} {served} run={out}"
    check_same(out, adapted)


def test_a_base_from_the_hub_is_named_by_its_id(adapted: Path, peaked_model: Path, tmp_path: Path) -> None:
    """Offline an adapter names the folder of the Hub's cache that it was trained on."""
    run, out = tmp_path / "run", tmp_path / "out"
    shutil.copytree(adapted, run)
    text = (run / "recipe.yaml").read_text()
    (run / "recipe.yaml").write_text(re.sub(r"(?m)^  name: /.*$", "  name: nobody/none-of-that-name", text))
    done = strop("export", run, "-o", out, "--adapter")
    assert done.returncode == 0, done.stderr
    settings = json.loads((out / "adapter_config.json").read_text())
    assert settings["base_model_name_or_path"] == "nobody/none-of-that-name"
    assert front_matter(out)["base_model"] == "nobody/none-of-that-name"


def test_whole_models_and_checkpoints(six_steps: Path, tmp_path: Path) -> None:
    final, early = tmp_path / "final", tmp_path / "early"
    assert strop("export", six_steps, "-o", final).returncode == 0
    check_same(final, six_steps)
    assert strop("export", six_steps, "-o", early, "--checkpoint", 4).returncode == 0
    pairs = list(logps(AutoModelForCausalLM.from_pretrained(early).eval(), six_steps))
    assert max(abs(a - b) for a, b in pairs) > 0.01
    text = (early / "README.md").read_text()
    assert "4 updates of a run of 6 steps" in text and "Not measured for these weights." in text
    small = tmp_path / "small"
    assert strop("export", six_steps, "-o", small, "--dtype", "bfloat16").returncode == 0
    assert AutoModelForCausalLM.from_pretrained(small, dtype="auto").dtype == torch.bfloat16


def test_what_cannot_be_exported_is_said_in_a_line(six_steps: Path, adapted: Path, tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "recipe.yaml").write_text("run: {name: x}\n")
    for words, said in (
        ((tmp_path / "nowhere",), "no such run folder"),
        ((unfinished,), "has no final model"),
        ((six_steps, "--adapter"), "leave out --adapter"),
        ((six_steps, "--checkpoint", 5), "has no checkpoint 5; checkpoints: 4, 6"),
        ((six_steps, "--push", "a/b/c"), "--push a/b/c: Repo id must be"),
        ((adapted, "--adapter", "--push", "a/b"), "a folder on this machine"),
    ):
        done = strop("export", *words, "-o", tmp_path / "out")
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1 and not (tmp_path / "out").exists()


class Hub(ThreadingHTTPServer):
    """As much of the Hub's protocol as an upload takes; `files` is what was committed."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.files: dict[str, bytes] = {}
        self.stored: dict[str, bytes] = {}
        self.made: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


class HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def do_PUT(self) -> None:
        data = self.body()
        self.server.stored[sha256(data).hexdigest()] = data
        self.reply({})

    def do_GET(self) -> None:
        self.reply({"error": "not found"}, 404)

    def do_POST(self) -> None:
        hub, data = self.server, self.body()
        if self.headers.get("authorization") != "Bearer secret":
            self.reply({"error": "Invalid credentials"}, 401)
        elif self.path == "/api/repos/create":
            hub.made.append(json.loads(data))
            self.reply({"url": f"{hub.url}/ours/model", "id": "ours/model"})
        elif "/preupload/" in self.path:
            asked = json.loads(data)["files"]
            large = [f["path"].endswith(".safetensors") for f in asked]
            modes = ["lfs" if one else "regular" for one in large]
            files = [
                {"path": f["path"], "uploadMode": mode, "shouldIgnore": False}
                for f, mode in zip(asked, modes, strict=True)
            ]
            self.reply({"files": files})
        elif self.path.endswith("/info/lfs/objects/batch"):
            objects = [
                {**one, "actions": {"upload": {"href": f"{hub.url}/store/{one['oid']}"}}}
                for one in json.loads(data)["objects"]
            ]
            self.reply({"transfer": "basic", "objects": objects})
        elif "/commit/" in self.path:
            self.commit([json.loads(line) for line in data.splitlines()])
            self.reply({"commitUrl": f"{hub.url}/ours/model/commit/1", "commitOid": "1", "success": True})
        else:
            self.reply({})

    def commit(self, lines: list[dict[str, Any]]) -> None:
        import base64

        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                self.server.files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                self.server.files[value["path"]] = self.server.stored[value["oid"]]

    def body(self) -> bytes:
        if self.headers.get("transfer-encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def reply(self, value: Any, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def hub() -> Iterator[Hub]:
    server = Hub()
    yield server
    server.shutdown()
    server.server_close()


def push(hub: Hub, run: Path, out: Path, token: str, *more: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: where the Hub is, is read when its library is imported."""
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": token,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(out.parent),
    }
    words = ["export", str(run), "-o", str(out), "--push", "ours/model", *more]
    return subprocess.run(
        [sys.executable, "-m", "strop.cli", *words],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.train(25)
def test_push_uploads_every_file_and_says_when_the_hub_refuses(
    six_steps: Path, hub: Hub, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = push(hub, six_steps, out, "secret", "--private")
    assert done.returncode == 0, done.stderr
    assert hub.files == {path.name: path.read_bytes() for path in out.iterdir()}
    assert hub.made[0]["name"] == "model" and hub.made[0]["organization"] == "ours"
    assert "ours/model" in done.stdout and done.stdout.splitlines()[-1] == f"vllm serve {out}"

    other = tmp_path / "other"
    refused = push(hub, six_steps, other, "wrong")
    assert refused.returncode == 1 and (other / "model.safetensors").is_file()
    assert f"hf upload ours/model {other}" in refused.stderr and len(refused.stderr.splitlines()) == 1

    hub.url = "http://127.0.0.1:9"  # where nobody listens
    away = push(hub, six_steps, tmp_path / "third", "secret")
    assert away.returncode == 1 and len(away.stderr.splitlines()) == 1, away.stderr
