"""Completion plugins that ask over HTTP: requests as they send them, and those of web pages, which get nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from strop.policies.scripted import ScriptedPolicy
from strop.serve.edit_events import EditEventLog
from strop.serve.edit_http import MOST_BYTES, EditHttp
from strop.serve.edit_model import EditModel
from strop.serve.edit_prompt import FimPrompt, parts_of
from strop_verify.core.edit_events import read_events, read_suggestions
from strop_verify.core.rollout import SamplingParams

# As the programs write them: in this order, with these spaces and headers.
LLAMA_VIM = (
    b'{"input_suffix": "\\n    return x\\n", "n_indent": 4, "samplers": ["top_k", "top_p", "infill"], '
    b'"input_extra": [{"text": "import os\\n", "time": 12.5, "filename": "b.py"}], "stream": false, '
    b'"t_max_predict_ms": 250, "response_fields": ["content", "timings/prompt_n", "timings/prompt_ms", '
    b'"timings/prompt_per_token_ms", "timings/prompt_per_second", "timings/predicted_n", "timings/predicted_ms", '
    b'"timings/predicted_per_token_ms", "timings/predicted_per_second", "truncated", "tokens_cached"], '
    b'"t_max_prompt_ms": 500, "top_k": 40, "n_predict": 128, "input_prefix": "def f(x):\\n", "top_p": 0.99, '
    b'"prompt": "    x = ", "stop": [], "cache_prompt": true}'
)
LLAMA_VIM_WARMS = (
    b'{"input_suffix": "", "n_predict": 0, "samplers": [], "input_extra": [{"text": "a", "time": 1.0, "filename": '
    b'"b.py"}], "stream": false, "temperature": 0.0, "response_fields": [""], "input_prefix": "", "prompt": "", '
    b'"cache_prompt": true, "t_max_prompt_ms": 1, "t_max_predict_ms": 1}'
)
LLAMA_VSCODE = (
    b'{"input_prefix":"def f(x):\\n","input_suffix":"\\n    return x\\n","input_extra":[],"prompt":"    x = ",'
    b'"n_predict":128,"n_cmpl":3,"n_probs":3,"temperature":0.1,"top_k":40,"top_p":0.99,"stream":false,"n_indent":4,'
    b'"samplers":["top_k","top_p","infill"],"cache_prompt":true,"t_max_prompt_ms":500,"t_max_predict_ms":2500}'
)
ZED = {
    "qwen": "<|fim_prefix|>def f(x):\n    x = <|fim_suffix|>\n    return x\n<|fim_middle|>",
    "star_coder": "<fim_prefix>def f(x):\n    x = <fim_suffix>\n    return x\n<fim_middle>",
    "code_llama": "<PRE> def f(x):\n    x =  <SUF>\n    return x\n <MID>",
    "deepseek_coder": "<｜fim▁begin｜>def f(x):\n    x = <｜fim▁hole｜>\n    return x\n<｜fim▁end｜>",  # noqa: RUF001
    "codestral": "[SUFFIX]\n    return x\n[PREFIX]def f(x):\n    x = ",
    "glm": "<|code_prefix|>def f(x):\n    x = <|code_suffix|>\n    return x\n<|code_middle|>",
}
HEADERS = {"content-type": "application/json"}


@pytest.fixture
def asked() -> list[str]:
    """The prompts that the model got."""
    return []


class Faces:
    """The application without sockets, and its log."""

    def __init__(self, folder: Path, script: Callable[[str], str], **options: Any) -> None:
        policy = ScriptedPolicy(lambda ids, seed, index: script(policy.tokenizer.decode(ids)))
        self.log = EditEventLog(folder, checkpoint="weights")
        self.model = EditModel(policy, SamplingParams(max_tokens=32), FimPrompt(policy.tokenizer, 256))
        self.http = EditHttp(self.model, self.log, name="m", **options)
        self.client = TestClient(self.http.guard, base_url="http://127.0.0.1:8012")

    def post(self, path: str, body: bytes | str | dict[str, Any], **headers: str) -> httpx.Response:
        content = json.dumps(body) if isinstance(body, dict) else body
        return self.client.post(path, content=content, headers={**HEADERS, **headers})

    def read(self) -> Any:
        return read_suggestions(read_events(self.log.path))


@pytest.fixture
def faces(tmp_path: Path, asked: list[str]) -> Any:
    def say(prompt: str) -> str:
        asked.append(prompt)
        return "x + 1"

    made = Faces(tmp_path, say)
    yield made
    made.model.close()


def test_llama_vim_gets_the_fields_that_it_names(faces: Faces, asked: list[str]) -> None:
    answer = faces.post("/infill", LLAMA_VIM, **{"user-agent": "curl/8.5.0", "accept": "*/*"})
    assert answer.status_code == 200
    said = answer.json()
    assert said["content"] == "x + 1" and said["timings/predicted_n"] == 2 and said["truncated"] is False
    assert "timings" not in said and "stop" not in said
    assert asked == ["def f(x):\n    x = "]
    (one,) = faces.read().suggestions
    assert one.served.sampling == SamplingParams(max_tokens=32, top_p=0.99)
    assert one.served.client == "curl/8.5.0"


def test_a_warm_up_costs_no_sample(faces: Faces, asked: list[str]) -> None:
    assert faces.post("/infill", LLAMA_VIM_WARMS).json() == {}
    assert faces.post("/v1/completions", {"prompt": "x", "max_tokens": 0}).json()["choices"][0]["text"] == ""
    assert asked == [] and faces.read().suggestions == ()


def test_llama_vscode_gets_the_whole_answer(faces: Faces) -> None:
    said = faces.post("/infill", LLAMA_VSCODE, **{"user-agent": "axios/1.12.0"}).json()
    assert said["content"] == "x + 1" and said["timings"]["predicted_n"] == 2
    (one,) = faces.read().suggestions
    assert one.served.sampling.temperature == 0.1


@pytest.mark.parametrize("style", ZED)
def test_zed_writes_its_prompts_in_the_markers_of_some_model(
    faces: Faces, asked: list[str], style: str
) -> None:
    stop = ["<|endoftext|>", "<|file_sep|>"]
    body = {"model": "m", "prompt": ZED[style], "max_tokens": 256, "temperature": None, "stop": stop}
    said = faces.post("/v1/completions", body).json()
    assert said["choices"][0]["text"] == "x + 1" and said["id"].startswith("cmpl-")
    assert asked == ["def f(x):\n    x = "]
    assert parts_of(ZED[style]) == ("def f(x):\n    x = ", "\n    return x\n")
    (one,) = faces.read().suggestions
    assert f"cmpl-{one.served.id}" == said["id"] and one.served.sampling.stop == tuple(stop)


def test_later_requests_say_whether_the_text_goes_on(faces: Faces) -> None:
    for prefix in ("a = ", "a = x + 1\n", "b = "):
        faces.post("/infill", {"input_prefix": prefix})
    faces.http.close()
    log = faces.read()
    assert [one.why for one in log.suggestions] == ["continued", "newer", "closed"]
    assert log.counts()["labelled"] == 0


def test_a_page_may_not_ask_first_either(faces: Faces) -> None:
    answer = faces.client.options("/infill", headers={"access-control-request-method": "POST"})
    assert answer.status_code == 405 and not any(name.startswith("access-") for name in answer.headers)


def test_with_a_token_only_who_sends_it_is_answered(tmp_path: Path) -> None:
    faces = Faces(tmp_path, lambda prompt: "x", token="let-me-in")
    for given, status in (
        ("", 401),
        ("Bearer let-me-out", 401),
        ("Bearer \xe9", 401),
        ("Bearer let-me-in", 200),
    ):
        headers = {"authorization": given.encode("latin-1")} if given else {}
        answer = faces.client.post("/infill", content=b"{}", headers={**HEADERS, **headers})  # type: ignore[arg-type]
        assert answer.status_code == status
    assert faces.client.get("/v1/models").status_code == 401
    faces.model.close()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "nested"),
        (b"[]", "body"),
        (b'{"prompt": 1}', "prompt"),
        (b'{"prompt": "x", "temperature": -1}', "temperature"),
        (b'{"prompt": "x", "stream": true}', "stream"),
    ],
)
def test_a_bad_body_is_told_in_a_line(faces: Faces, body: bytes, said: str) -> None:
    for path in ("/infill", "/v1/completions"):
        answer = faces.post(path, body)
        assert answer.status_code == 400
        assert said in answer.json()["error"]["message"] and "\n" not in answer.json()["error"]["message"]


def test_a_secret_in_what_is_sent_is_answered_and_not_logged(faces: Faces) -> None:
    body = {"input_prefix": "API_KEY=", "prompt": "", "input_suffix": "q7Zk2mXv9Rb4Tn8W\nB=1\n"}
    assert faces.post("/infill", body).json()["content"] == "x + 1"
    assert faces.read().suggestions[0].why == "secret" and "q7Zk2" not in faces.log.path.read_text()


def test_the_command_answers_until_it_is_told_to_end(
    says: Callable[..., list[str]], listening: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    client = listening(says("x + 1"))
    assert client.post("/infill", content=LLAMA_VIM, headers=HEADERS).json()["content"] == "x + 1"
    assert client.get("/v1/models").json()["data"][0]["id"].startswith("scripted:")
    big = client.post("/infill", content=b" " * (MOST_BYTES + 1), headers=HEADERS)
    assert big.status_code == 413
