"""Ways of computing are taken where they give a model's own numbers, and a model without one is refused."""

from typing import Any

import pytest
import torch
from tests.small_models import byte_tokenizer
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    PreTrainedModel,
)

from strop.policies.attention import PREFIX
from strop.policies.decode_batch import DecodeBatch
from strop.policies.proof import Yardstick, decoder_of, plain_logps, random_ids, turns
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.training.logps import no_dropout, token_logps, update_of
from strop.training.ways import WAYS
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Sample, SamplingParams

SMALL = dict(
    vocab_size=280, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=512, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)  # fmt: skip


def lively(model: PreTrainedModel) -> Any:
    """With weights large enough for attention to matter."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(3)
    return model.eval()


def sampled_gap(policy: TransformersPolicy, plain: Any, prompts: list[list[int]], tokens: int) -> float:
    params = SamplingParams(max_tokens=tokens)
    waiting = [(p, policy.submit(Request(tuple(p), seed, params))) for seed, p in enumerate(prompts)]
    while not all(future.done() for _, future in waiting):
        policy.work(1)
    gap = 0.0
    for prompt, future in waiting:
        done = future.result()
        with torch.no_grad():
            own = plain_logps(plain, [*prompt, *done.token_ids], len(prompt))
        gap = max(gap, float((torch.tensor(done.logprobs) - own).abs().max()))
    return gap


def updated_gap(model: Any, plain: Any, texts: list[list[int]], start: int) -> float:
    def sample(ids: list[int]) -> Sample:
        nothing = [0] * len(ids)
        return Sample(ids, [0] * start + [1] * (len(ids) - start), nothing, nothing, nothing, start)

    with torch.no_grad():
        head = model.get_output_embeddings()
        found, _ = token_logps(model, [sample(ids) for ids in texts], head=head, temperature=1.0)
        return float((found - torch.cat([plain_logps(plain, ids, start) for ids in texts])).abs().max())


def same(kind: type[PreTrainedModel], config: Any) -> tuple[Any, Any]:
    torch.manual_seed(0)
    one = lively(kind(config))
    other = kind(config).eval()
    other.load_state_dict(one.state_dict())
    return one, other


@pytest.mark.parametrize("window", [8, 60, 130])
def test_windows_that_texts_go_beyond(window: int) -> None:
    model, plain = same(MistralForCausalLM, MistralConfig(**SMALL, head_dim=8, sliding_window=window))
    prompt = random_ids(model, 140, 3)
    policy = TransformersPolicy(model, HubTokenizer(byte_tokenizer()), longest=170)
    assert policy.proof.tokens == (34 if window == 8 else window + 12)
    assert sampled_gap(policy, plain, [prompt, prompt, prompt[:50], prompt[20:90]], 20) < 1e-3
    assert update_of(model, ways=list(WAYS), longest=170).way == "tree"
    texts = [[*prompt, *random_ids(model, count, count)] for count in (30, 11)]
    assert updated_gap(model, plain, texts, len(prompt)) < 1e-3


def test_a_window_that_no_text_reaches_shares_prompts() -> None:
    model, _ = same(MistralForCausalLM, MistralConfig(**SMALL, head_dim=8, sliding_window=512))
    decoder, proof = decoder_of(model, 0)
    assert decoder is DecodeBatch and proof.way == "shared prompts" and not proof.left


def test_positions_that_are_scaled_from_a_length_on_are_refused_when_an_answer_gets_there() -> None:
    """The plain pass of a longer text turns all positions otherwise, those included that were sampled before."""
    rope = {
        "rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0] * 4, "long_factor": [3.0] * 4,
    }  # fmt: skip
    sizes = {**SMALL, "max_position_embeddings": 384, "original_max_position_embeddings": 96}
    model, plain = same(Phi3ForCausalLM, Phi3Config(**sizes, rope_parameters=rope))
    policy = TransformersPolicy(model, HubTokenizer(byte_tokenizer()))
    assert policy.proof.way == "shared prompts"
    assert sampled_gap(policy, plain, [random_ids(model, 60, 1)], 20) < 1e-3
    with pytest.raises(UserError, match="Phi3ForCausalLM is not supported on texts of more than 96 tokens"):
        policy.submit(Request(tuple(random_ids(model, 90, 2)), 0, SamplingParams(max_tokens=12)))
    assert sampled_gap(policy, plain, [random_ids(model, 60, 1)], 20) < 1e-3
    assert update_of(model).way == "tree"
    assert update_of(model, ways=list(WAYS), longest=130).way == "one", (
        "the longest row beside it turns a row"
    )
    texts = [[*random_ids(model, 44, 3), *random_ids(model, count, 1)] for count in (80, 9)]
    assert updated_gap(model, plain, texts, 44) < 1e-3


class Deaf(LlamaForCausalLM):
    """Swallows what it does not know, as many classes do."""

    def forward(
        self, input_ids: Any = None, prefix_tree: Any = None, shared_prompts: Any = None, **more: Any
    ) -> Any:
        return super().forward(input_ids=input_ids, **more)


class Drifting(LlamaForCausalLM):
    """Gives other numbers each time."""

    def forward(self, *arguments: Any, **options: Any) -> Any:
        out = super().forward(*arguments, **options)
        out.logits = out.logits + torch.randn_like(out.logits)
        return out


class Narrow(LlamaForCausalLM):
    """A cache that forgets: its keys grow."""

    def forward(self, *arguments: Any, past_key_values: Any = None, **options: Any) -> Any:
        if past_key_values is not None:
            for layer in past_key_values.layers:
                if layer.is_initialized:
                    layer.keys *= 1.2
        return super().forward(*arguments, past_key_values=past_key_values, **options)


def test_a_model_that_never_hears_of_a_tree_goes_on_in_its_own_way() -> None:
    model, plain = same(Deaf, LlamaConfig(**SMALL))
    policy = TransformersPolicy(model, HubTokenizer(byte_tokenizer()))
    assert policy.proof.way == "the model's cache, padded"
    prompts = [random_ids(model, count, count) for count in (20, 20, 33)]
    assert sampled_gap(policy, plain, prompts, 15) < 1e-3
    update = update_of(model)
    assert update.way == "cache" and set(update.proof.left) == {"tree"}
    texts = [[*prompts[0], *random_ids(model, count, 1)] for count in (20, 8)]
    assert updated_gap(model, plain, texts, 20) < 1e-3


def test_a_cache_that_gives_other_numbers_is_not_taken() -> None:
    model, plain = same(Narrow, LlamaConfig(**SMALL))
    policy = TransformersPolicy(model, HubTokenizer(byte_tokenizer()))
    assert policy.proof.way == "no cache" and all("differs" in why for why in policy.proof.left.values())
    assert sampled_gap(policy, plain, [random_ids(model, 30, 1)], 12) < 1e-3


def test_a_model_without_a_right_way_is_refused_by_name() -> None:
    model, _ = same(Drifting, LlamaConfig(**SMALL))
    with pytest.raises(UserError, match="Drifting is not supported: no way of sampling"):
        TransformersPolicy(model, HubTokenizer(byte_tokenizer()))
    with pytest.raises(UserError, match="Drifting is not supported: no way of the update"):
        update_of(model)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_types_are_right_within_their_rounding_and_no_more(dtype: torch.dtype) -> None:
    config = MistralConfig(**SMALL, head_dim=8, sliding_window=12)
    model = same(MistralForCausalLM, config)[0].to(dtype)
    decoder, proof = decoder_of(model, 0)
    assert decoder is not DecodeBatch and proof.gap <= proof.bound < 0.5
    wide = same(MistralForCausalLM, MistralConfig(**SMALL, head_dim=8, sliding_window=None))[0].to(dtype)
    ids = random_ids(model, 50, 4)
    with torch.no_grad():
        texts = [page_text(model, ids)]
        gap, bound = Yardstick(model).gap([plain_logps(wide, ids, 30)], texts)
    assert gap > bound, "a window left out must show through the rounding"


def page_text(model: Any, ids: list[int]) -> Any:
    from strop.policies.proof import Text

    return Text(ids, 30, plain_logps(model, ids, 30))


def test_the_attention_of_a_model_that_cannot_share_is_its_own_again() -> None:
    model, _ = same(LlamaForCausalLM, LlamaConfig(**SMALL))
    model.set_attn_implementation("eager")
    decoder, _ = decoder_of(model, 0)
    assert decoder is not DecodeBatch and model.config._attn_implementation == "eager"
    model, _ = same(LlamaForCausalLM, LlamaConfig(**SMALL))
    decoder_of(model, 0)
    assert model.config._attn_implementation == PREFIX + "sdpa"


def test_where_a_model_computes_otherwise() -> None:
    model, _ = same(MistralForCausalLM, MistralConfig(**SMALL, head_dim=8, sliding_window=100))
    assert turns(model, 90) == turns(model, 100) == [] and turns(model, 101) == [100]


@pytest.mark.parametrize("checkpointed", [False, True])
def test_dropout_of_the_configuration_is_off_and_that_of_adapters_on(checkpointed: bool) -> None:
    from peft import LoraConfig, get_peft_model

    config = GPT2Config(
        vocab_size=280, n_embd=32, n_layer=2, n_head=2, resid_pdrop=0.5, embd_pdrop=0.5, attn_pdrop=0.5
    )
    model, plain = same(GPT2LMHeadModel, config)
    ids = random_ids(model, 40, 1)
    if checkpointed:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    computed = []
    model.transformer.h[0].attn.register_forward_hook(lambda *_: computed.append(1))
    no_dropout(model)
    for _ in range(2):
        model(input_ids=torch.tensor([ids]), use_cache=False).logits.sum().backward()
    assert len(computed) == (4 if checkpointed else 2), (
        "layers are computed again where they are checkpointed"
    )
    torch.testing.assert_close(plain_logps(model, ids, 5), plain_logps(plain, ids, 5))
    model.eval()
    for _ in range(2):
        cache = model(input_ids=torch.tensor([ids]), use_cache=True).past_key_values
        assert cache.get_seq_length() == len(ids), "sampled from between two updates, it has its cache"
    adapted = get_peft_model(
        model, LoraConfig(r=4, target_modules="all-linear", lora_dropout=0.5, init_lora_weights=False)
    )
    no_dropout(adapted)
    first, second = (plain_logps(adapted, ids, 5) for _ in range(2))
    assert (first - second).abs().max() > 1e-3


def test_ways_that_are_allowed_later_or_no_more_are_tried_again() -> None:
    model, plain = same(Deaf, LlamaConfig(**SMALL))
    assert update_of(model).way == "cache"
    assert update_of(model, ways=["tree", "rows"]).way == update_of(model).way == "rows"
    assert update_of(model, ways=["tree", "cache", "rows"]).way == "cache"
    texts = [[*random_ids(model, 30, 1), *random_ids(model, count, count)] for count in (9, 15)]
    model.gradient_checkpointing_enable({"use_reentrant": False})
    no_dropout(model)
    assert updated_gap(model, plain, texts, 30) < 1e-3, "a checkpointed layer has no cache"
