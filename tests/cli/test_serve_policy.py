"""`strop serve-policy`: any policy for clients of OpenAI's API."""

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.rollouts.agents import ask, post, said, user
from tests.warm import strop

KEY = "a-key-of-some-length"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("script") / "answers.jsonl"
    file.write_text(
        "".join(json.dumps({"task_id": "t", "answer": f"answer {n} of many"}) + "\n" for n in range(3))
    )
    return file


@pytest.fixture(scope="module")
def url(answers: Path) -> Iterator[str]:
    key = answers.parent / "key"
    key.touch(0o600)
    key.write_text(KEY + "\n")
    words = ["serve-policy", f"scripted:{answers}", "--port", "0", "--key-file", key]
    process = subprocess.Popen([sys.executable, "-m", "strop.cli", *words], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("listening on http://127.0.0.1:"), line + process.stderr.read()
    yield line.split()[2]
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def sent(url: str, path: str, data: Any = None, key: str = KEY) -> tuple[int, Any]:
    asked = urllib.request.Request(url + path, data and json.dumps(data).encode())
    asked.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_it_speaks_the_api(url: str) -> None:
    status, models = sent(url, "/models")
    assert status == 200 and [model["id"] for model in models["data"]] == ["scripted"]
    chat = {"messages": [user("a"), said("b"), user("c")], "max_tokens": 2}
    status, body = sent(url, "/chat/completions", chat)
    assert status == 200 and body["choices"][0]["finish_reason"] == "length"
    assert body["choices"][0]["message"] == {"role": "assistant", "content": "answer 0"}
    assert body["usage"]["completion_tokens"] == 2 and body["usage"]["prompt_tokens"] > 5
    status, body = sent(url, "/completions", {"prompt": "def f"})
    assert body["choices"][0]["text"] == "answer 1 of many" and body["choices"][0]["finish_reason"] == "stop"
    status, again = sent(url, "/completions", {"prompt": "def f"})
    assert (
        again["choices"][0]["text"] == "answer 2 of many"
    )  # asked again is another answer: there is no play


def test_it_says_what_is_wrong(url: str) -> None:
    assert sent(url, "/models", key="another-key-of-some-length")[0] == 401
    assert post(url, {"messages": [user("a")]})[0] == 401
    for data in (
        {"messages": []},
        {"messages": [user("a")], "temperature": -1},
        {"messages": [user("a")], "stop": 3},
    ):
        status, body = sent(url, "/chat/completions", data)
        assert status == 400 and body["error"]["message"] and body["error"]["type"] == "invalid_request_error"
    with pytest.raises(AssertionError):
        ask(url, [user("a")])


def test_mistakes_of_the_command_line_are_told_in_a_line(answers: Path, tmp_path: Path) -> None:
    (tmp_path / "short").touch(0o600)
    (tmp_path / "short").write_text("short")
    for words, cause in (
        (["scripted:/no/such/file"], "no such file of answers"),
        ([f"scripted:{answers}", "--host", "0.0.0.0"], "give --key-file"),
        ([f"scripted:{answers}", "--key-file", tmp_path / "none"], "cannot be read"),
        ([f"scripted:{answers}", "--calls", "xml"], "there are hermes, qwen-coder, llama, mistral"),
        ([f"scripted:{answers}", "--key-file", tmp_path / "short"], "at least 16 characters"),
    ):
        done = strop("serve-policy", *words, "--port", "0")
        assert done.returncode == 2 and cause in done.stderr and done.stderr.count("\n") == 1, done.stderr
