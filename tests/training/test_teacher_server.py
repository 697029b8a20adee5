"""A teacher on a server that answers /v1/completions as vLLM does: its numbers, and servers that are no teachers."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.small_models import byte_tokenizer
from tests.warm import strop

from strop.config.training import TeacherConfig
from strop.policies.loading import load_model, load_tokenizer
from strop.training.teacher import PROBE
from strop.training.teacher_server import TeacherServer
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.rollout import Sample

from .conftest import metrics
from .test_teacher import FEW, plain, teacher  # noqa: F401

KEY = "s3cret"


class Served:
    """A model behind /v1/completions. `spoil` changes the entries of a prompt before they are sent."""

    def __init__(self, folder: str, tokenizer: Any = None) -> None:
        self.model, self.tokenizer = load_model(folder, device="cpu"), tokenizer or load_tokenizer(folder)
        self.asked, self.busy = 0, 0
        self.spoil: Callable[[list[Any]], Any] = lambda entries: entries
        self._computes = threading.Lock()
        served = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None: ...

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                said, status = served.answer(self.path, self.headers.get("Authorization", ""), body)
                data = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, key: str, body: Any) -> tuple[Any, int]:
        self.asked += 1
        if key != f"Bearer {KEY}":
            return {"error": {"message": "no such key"}}, 401
        if self.busy:
            self.busy -= 1
            return {"error": {"message": "busy"}}, 503
        if path != "/v1/completions" or body["model"] != "big":
            return {"error": {"message": f"no model {body['model']}"}}, 404
        ids = body["prompt"]
        if isinstance(ids, str):
            ids = self.tokenizer(ids, add_special_tokens=body["add_special_tokens"])["input_ids"]
        with self._computes, torch.no_grad():
            logps = self.model(input_ids=torch.tensor([ids])).logits[0].float().log_softmax(-1)
        entries: list[Any] = [None]
        for at in range(1, len(ids)):
            more = body["prompt_logprobs"]
            kept = {ids[at], *logps[at - 1].topk(more).indices.tolist()}
            entries.append({str(one): {"logprob": float(logps[at - 1, one]), "rank": 1} for one in kept})
        choice = {"index": 0, "text": "x", "finish_reason": "length", "prompt_logprobs": self.spoil(entries)}
        return {
            "id": "1",
            "object": "text_completion",
            "created": 0,
            "model": "big",
            "choices": [choice],
        }, 200


@pytest.fixture
def served(teacher: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:  # noqa: F811
    monkeypatch.setenv("TEACHER_KEY", KEY)
    server = Served(str(teacher))
    yield server
    server.close()


def config_of(server: Served, **more: str) -> TeacherConfig:
    return TeacherConfig(**{"name": "big", "url": server.url, "api_key_env": "TEACHER_KEY", **more})


def test_its_numbers_are_the_model_s(served: Served) -> None:
    generator, samples = torch.Generator().manual_seed(5), []
    for length in (2, 3, 17, 40):
        ids = torch.randint(1, 60, (length,), generator=generator).tolist()
        mask = [0, *torch.randint(0, 2, (length - 1,), generator=generator).tolist()]
        mask[-1] = 1
        nothing = [0] * length
        samples.append(Sample(ids, mask, nothing, nothing, nothing, 1))
    served.busy = 1
    found = TeacherServer(config_of(served)).logps(samples)
    for sample, values in zip(samples, found, strict=True):
        whole = plain(served.model, sample.ids, 1, 1.0)
        kept = [bool(keep) for keep in sample.mask[1:]]
        assert torch.allclose(torch.tensor(values), whole[torch.tensor(kept)], atol=1e-5)


@pytest.mark.train(20)
def test_a_run_is_that_of_the_teacher_in_its_process(
    recipe_words: Callable[..., list[str]], served: Served, teacher: Path, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    found = []
    for words in (
        ["--teacher", str(teacher)],
        ["--teacher", "big", "--url", served.url],
    ):
        more = [f"grpo.teacher.tokenizer={teacher}", "grpo.teacher.api_key_env=TEACHER_KEY"]
        more = more if "--url" in words else []
        done = strop("distill", *words, *recipe_words(f"run{len(found)}", **FEW), *more)
        assert done.returncode == 0, done.stderr
        found.append(metrics(tmp_path / f"run{len(found)}"))
    for local, remote in zip(*found, strict=True):
        assert local["teacher_kl"] == pytest.approx(remote["teacher_kl"], abs=1e-4)
        assert local["grad_norm"] == pytest.approx(remote["grad_norm"], rel=1e-3)


def _nothing(entries: list[Any]) -> None:
    return None


def _one_short(entries: list[Any]) -> list[Any]:
    return entries[:-1]


def _a_gap(entries: list[Any]) -> list[Any]:
    return [*entries[:-1], None]


def _infinite(entries: list[Any]) -> list[Any]:
    return [*entries[:-1], {one: {"logprob": -float("inf")} for one in entries[-1]}]


def _other_token(entries: list[Any]) -> list[Any]:
    return [*entries[:-1], {"0": {"logprob": -1.0}}]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_nothing, "gives no prompt_logprobs"), (_one_short, "entries of prompt_logprobs for"),
        (_a_gap, "no log-probability of token"), (_infinite, "no log-probability of token"),
        (_other_token, "no log-probability of token"),
    ],
)  # fmt: skip
def test_what_is_missing_is_an_error_and_never_0(
    served: Served, spoil: Callable[[list[Any]], Any], said: str
) -> None:
    served.spoil = spoil
    ids, nothing = [5, 6, 7, 8], [0] * 4
    with pytest.raises(UserError, match=said):
        TeacherServer(config_of(served)).logps([Sample(ids, [0, 1, 1, 1], nothing, nothing, nothing, 1)])


def test_another_tokenizer_behind_the_address_is_refused(served: Served, teacher: Path) -> None:  # noqa: F811
    ids = load_tokenizer(str(teacher))(PROBE, add_special_tokens=False)["input_ids"]
    TeacherServer(config_of(served)).check(PROBE, ids)
    served.tokenizer = byte_tokenizer()
    with pytest.raises(UserError, match="a teacher needs the policy's own tokenizer"):
        TeacherServer(config_of(served)).check(PROBE, ids)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "small"}, "knows no model 'small'"),
        ({"api_key_env": "NO_SUCH_KEY"}, "set the environment variable NO_SUCH_KEY"),
        ({"url": "http://127.0.0.1:9/v1"}, "cannot reach http://127.0.0.1:9/v1"),
    ],
)
def test_a_server_that_fails_is_one_line(served: Served, changed: dict[str, str], said: str) -> None:
    with pytest.raises(StropError, match=said):
        TeacherServer(config_of(served, **changed)).check("ab", [5, 6])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grpo.teacher.url=http://127.0.0.1:9/v1"], "name the model as the server"),
        (["grpo.teacher.tokenizer=x", "grpo.teacher.name=y"], "names none"),
        (["grpo.teacher.name=y", "grpo.teacher.url=http://127.0.0.1:9/v1", "sampling.temperature=0.7"],
         "have temperature 1"),
        (["grpo.teacher.name=y", "grpo.teacher.url=there", "sampling.temperature=1"], "is not an address"),
    ],
)  # fmt: skip
def test_settings_that_do_not_go_together(
    recipe_words: Callable[..., list[str]],
    teacher: Path,  # noqa: F811
    words: list[str],
    said: str,
) -> None:
    more = [] if "grpo.teacher.tokenizer=x" in words else [f"grpo.teacher.tokenizer={teacher}"]
    done = strop("train", "--dry-run", *recipe_words("run", **FEW), *words, *more)
    assert done.returncode and said in " ".join(done.stderr.split()), done.stderr
