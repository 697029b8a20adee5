"""Tiny random models of the causal architectures of transformers, for docs/models.md and the test that holds it."""

import dataclasses
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

Fields = dict[str, Any]

FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"

# What a config gets where its class has the field, under this name or the one that its attribute_map gives.
# Texts of 40 tokens are longer than every window, chunk and index.
# Their tokens are 3 to 289; marks of images are above.
COMMON: Fields = dict(
    vocab_size=300, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, head_dim=16, max_position_embeddings=512,
    pad_token_id=0, bos_token_id=1, eos_token_id=2,
    # Windows.
    sliding_window=8, use_sliding_window=True, max_window_layers=1,
    # Experts: 2 of 8, in two groups of which one counts.
    num_experts=8, num_local_experts=8, n_routed_experts=8, moe_num_experts=8, num_experts_per_tok=2,
    moe_topk=2, n_group=2, topk_group=1, n_shared_experts=1, num_shared_experts=1, moe_num_shared_experts=1,
    moe_intermediate_size=32, shared_expert_intermediate_size=32, shared_intermediate_size=32,
    moe_shared_expert_intermediate_size=32, first_k_dense_replace=1, num_dense_layers=1,
    mlp_layer_types=["dense", "sparse"],
    # Latent attention: queries of 32, values of 24.
    kv_lora_rank=32, q_lora_rank=32, qk_nope_head_dim=16, qk_rope_head_dim=16, v_head_dim=24,
    # Indexed attention; with few heads, the scores tie at zero.
    index_topk=12, index_head_dim=32, index_n_heads=32,
    # Recurrent layers.
    mamba_d_state=8, mamba_d_conv=4, mamba_n_heads=8, mamba_d_head=16, mamba_n_groups=2, mamba_ngroups=2,
    mamba_chunk_size=8, mamba_d_ssm=128, mamba_dt_rank=4, time_step_rank=4, state_size=8, chunk_size=8,
    linear_key_head_dim=16, linear_value_head_dim=16, linear_num_key_heads=2, linear_num_value_heads=4,
    # Scales and caps.
    logits_scaling=3.0, logit_scale=0.3, embedding_multiplier=2.0, residual_multiplier=0.5,
    attention_multiplier=0.25, query_pre_attn_scalar=16, final_logit_softcapping=1.5,
    attn_logit_softcapping=0.7,
)  # fmt: skip

_SHARED_KEYS: Fields = dict(
    num_hidden_layers=4, layer_types=[SLIDING, FULL] * 2, num_kv_shared_layers=2,
    vocab_size_per_layer_input=300, hidden_size_per_layer_input=8,
)  # fmt: skip

_VISION: Fields = dict(
    hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14,
)  # fmt: skip

_BYTES: Fields = dict(
    vocab_size=300, hidden_size=64, num_attention_heads=4, num_hidden_layers=1, intermediate_size=64,
)  # fmt: skip

# What a type needs beside, or instead.
OVERRIDES: dict[str, Fields] = {
    "bamba": dict(attn_layer_indices=[1]),
    "blt": dict(
        patcher_config=_BYTES, encoder_config=_BYTES | dict(hidden_size_global=64),
        decoder_config=_BYTES | dict(hidden_size_global=64), global_config=_BYTES, encoder_hash_byte_group_vocab=50,
    ),
    "codegen": dict(rotary_dim=8),
    "cohere2_moe": dict(mlp_layer_types=["sparse", "sparse"]),
    "cohere_compass_text": dict(
        rope_parameters={
            SLIDING: dict(rope_type="default", rope_theta=10000.0, mrope_section=[3, 3, 2]), FULL: None,
        },
    ),
    "ctrl": dict(dff=128),
    "dbrx": dict(
        attn_config=dict(kv_n_heads=2, clip_qkv=8.0, rope_theta=10000.0),
        ffn_config=dict(hidden_size=64, ffn_hidden_size=32, moe_num_experts=8, moe_top_k=2),
    ),
    "deepseek_v4": dict(
        num_hidden_layers=3, num_key_value_heads=1, o_groups=2, o_lora_rank=16,
        layer_types=[SLIDING, "compressed_sparse_attention", "heavily_compressed_attention"],
        compress_rates={"compressed_sparse_attention": 4, "heavily_compressed_attention": 8},
        mlp_layer_types=["hash_moe", "moe", "moe"], index_topk=4, partial_rotary_factor=0.5, hc_mult=2,
    ),
    # Its own choice of keys ties between equal tokens; within a window there is nothing to choose.
    "doge": dict(keep_window_size=12),
    "ernie4_5_moe": dict(moe_k=2, moe_layer_end_index=1, moe_intermediate_size=32),
    "falcon_h1": dict(
        lm_head_multiplier=0.6, key_multiplier=0.5, ssm_in_multiplier=2.0, attention_out_multiplier=0.5,
        mlp_multipliers=[2.0, 0.5], embedding_multiplier=2.0,
    ),
    "gemma3n_text": _SHARED_KEYS,
    "gemma4_text": _SHARED_KEYS | dict(global_head_dim=32, enable_moe_block=True, top_k_experts=2),
    "gemma4_unified_text": _SHARED_KEYS | dict(
        global_head_dim=32, attention_k_eq_v=True, num_global_key_value_heads=1,
    ),
    "git": dict(vision_config=_VISION),
    "glm_moe_dsa": dict(indexer_types=["full", "shared"]),
    "gpt_neo": dict(attention_types=[[["global", "local"], 1]], window_size=8),
    "gptj": dict(rotary_dim=8),
    "granitemoehybrid": dict(layer_types=[LINEAR, FULL], position_embedding_type="rope"),
    "hrm_text": dict(num_hidden_layers=1),
    "hy_v3": dict(initializer_range=0.02),
    "hy_v4": dict(initializer_range=0.02, indexer_types=["full", "shared"], hc_mult=2),
    "inkling_text": dict(
        layer_types=["hybrid_sliding", "hybrid"], swa_num_attention_heads=4, swa_num_key_value_heads=2,
        swa_head_dim=16, rel_extent=16, d_rel=4, log_scaling_n_floor=16, log_scaling_alpha=1.0,
        unpadded_vocab_size=290,
    ),
    "jamba": dict(attn_layer_period=2, attn_layer_offset=1),
    "jetmoe": dict(kv_channels=16),
    "kimi_linear": dict(layer_types=[LINEAR, FULL], linear_head_dim=16, linear_num_heads=4),
    "laguna": dict(moe_router_logit_softcapping=5.0),
    "lfm2": dict(layer_types=["conv", FULL]),
    "lfm2_moe": dict(layer_types=["conv", FULL]),
    "llama4_text": dict(
        layer_types=["chunked_attention", FULL], attention_chunk_size=8, no_rope_layers=[1, 0],
        floor_scale=4, attn_scale=1.0, num_experts_per_tok=1, intermediate_size_mlp=128,
    ),
    "longcat_flash": dict(
        num_layers=1, ffn_hidden_size=128, expert_ffn_hidden_size=32, zero_expert_num=4,
    ),
    "mamba2": dict(num_heads=8, n_groups=2),
    "minimax": dict(layer_types=[FULL, LINEAR], block_size=8),
    "minimax_m3_vl_text": dict(
        layer_types=[FULL, "minimax_m3_sparse"], dense_intermediate_size=128, rotary_dim=8,
        index_block_size=4, index_topk_blocks=2, index_n_heads=2,
    ),
    "mllama_text_model": dict(cross_attention_layers=[]),
    "modernbert-decoder": dict(local_attention=16, layer_types=[SLIDING, FULL]),
    "moshi": dict(ffn_dim=128, sliding_window=8),
    "mpt": dict(use_cache=True),
    "nemotron_h": dict(ssm_state_size=8, mamba_num_heads=8, mamba_head_dim=16, n_groups=2),
    "olmo_hybrid": dict(layer_types=[LINEAR, FULL], num_key_value_heads=4),
    "opt": dict(ffn_dim=128, word_embed_proj_dim=32),
    "phi4_multimodal": dict(
        vision_config=_VISION | dict(num_hidden_layers=2, crop_size=28),
        audio_config=dict(
            hidden_size=32, intermediate_size=32, num_blocks=2, num_attention_heads=2, ext_pw_out_channel=32,
            depthwise_separable_out_channel=32, nemo_conv_channels=32,
        ),
    ),
    "qwen3_5_moe_text": dict(layer_types=[LINEAR, FULL]),
    "qwen3_5_text": dict(layer_types=[LINEAR, FULL]),
    "qwen3_next": dict(layer_types=[LINEAR, FULL]),
    "qwen4_exp_text": dict(
        layer_types=[LINEAR, "indexed_attention"], hc_count=2, hc_lowrank=8, ple_layer_ids=[1],
        ngram_vocab_size_base=64, split_ngram_parts=1, make_ngram_vocab_size_divisible_by=8,
        indexer_n_heads=2, indexer_kv_heads=1, indexer_head_dim=16, indexer_budget=8, indexer_compress_ratio=4,
    ),
    "recurrent_gemma": dict(
        block_types=["recurrent", "attention"], lru_width=64, logits_soft_cap=1.5, num_key_value_heads=1
    ),
    "smollm3": dict(no_rope_layers=[1, 0]),
    "xglm": dict(ffn_dim=128),
    "xlstm": dict(num_heads=4, qk_dim_factor=1.0, output_logit_soft_cap=3.5),
    "zamba": dict(num_hidden_layers=3, layers_block_type=[LINEAR, "hybrid", "hybrid"]),
    "zamba2": dict(
        num_hidden_layers=3, layers_block_type=[LINEAR, "hybrid", "hybrid"], adapter_rank=8, use_mem_rope=True,
    ),
    "zaya": dict(layer_types=["hybrid_sliding", "hybrid"], num_experts_per_tok=1, router_hidden_size=16),
}  # fmt: skip

_MARKS: Fields = dict(image_token_id=299, video_token_id=298, audio_token_id=297)

# Types around a text model: that one's type, and the other fields.
WRAPPED: dict[str, tuple[str, Fields]] = {
    "emu3": ("emu3_text_model", dict(
        vq_config=dict(
            base_channels=32, num_res_blocks=1, channel_multiplier=[1], attn_resolutions=[], hidden_size=32,
            codebook_size=16, embed_dim=4, latent_channels=4,
        ),
        vocabulary_map={"<image>": 299},
    )),
    "fuyu": ("persimmon", dict(vocab_size=300, hidden_size=64, patch_size=2, image_token_id=299)),
    "gemma3": ("gemma3_text", dict(vision_config=_VISION, mm_tokens_per_image=4, image_token_index=299)),
    "gemma4": ("gemma4_text", _MARKS),
    "gemma4_unified": ("gemma4_unified_text", _MARKS),
    "got_ocr2": ("qwen2", dict(
        vision_config=_VISION | dict(mlp_dim=32, output_channels=32, window_size=2, global_attn_indexes=[0]),
        image_token_index=299,
    )),
    "llama4": ("llama4_text", {}),
    "mllama": ("mllama_text_model", dict(
        vision_config=_VISION | dict(
            attention_heads=2, num_global_layers=1, intermediate_layers_indices=[0], vision_output_dim=64,
        ),
        image_token_index=299,
    )),
    "qwen3_5": ("qwen3_5_text", {}),
    "qwen3_5_moe": ("qwen3_5_moe_text", {}),
    "qwen4_exp": ("qwen4_exp_text", {}),
}  # fmt: skip

# Types that are left out, and why.
LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        ("bert", "bert-generation", "big_bird", "camembert", "data2vec-text", "electra", "ernie", "megatron-bert",
         "rembert", "roberta", "roberta-prelayernorm", "roc_bert", "roformer", "xlm", "xlm-roberta",
         "xlm-roberta-xl", "xmod"),
        "an encoder; a decoder only if configured so",
    ),
    **dict.fromkeys(
        ("bart", "bigbird_pegasus", "blenderbot", "blenderbot-small", "marian", "mbart", "mvp", "pegasus", "plbart",
         "prophetnet", "trocr", "whisper"),
        "the decoder of an encoder-decoder",
    ),
    **dict.fromkeys(("gemma4_assistant", "gemma4_unified_assistant"), "a draft model; reads another model's states"),
    **dict.fromkeys(("musicgen", "musicgen_melody"), "several streams of audio codes, no text"),
    "cpmant": "not causal: every token sees every other one",
    "gemma3n": "needs the package timm; its text model is gemma3n_text",
    "gpt-sw3": "the classes of gpt2",
    "reformer": "attention by random hashes, over whole chunks only",
    "xlnet": "predicts in permuted order",
}  # fmt: skip


def _config(name: str) -> PreTrainedConfig:
    kind = CONFIG_MAPPING[name]
    if name in WRAPPED:
        text, others = WRAPPED[name]
        return kind(text_config=_config(text).to_dict(), **others)
    names = {field.name for field in dataclasses.fields(kind)}
    spelled = {key if key in names else kind.attribute_map.get(key, key): COMMON[key] for key in COMMON}
    values = {key: value for key, value in spelled.items() if key in names}
    if "kv_lora_rank" in names:
        values["num_key_value_heads"] = COMMON["num_attention_heads"]
    if names >= {"layer_types", "sliding_window"}:
        values["layer_types"] = [SLIDING, FULL]
    return kind(**values | OVERRIDES.get(name, {}))


def tiny_configs() -> dict[str, PreTrainedConfig]:
    """{model type: a config of 1 to 4 layers with the type's own mechanisms switched on}."""
    return {name: _config(name) for name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES if name not in LEFT_OUT}


def build(config: PreTrainedConfig, *, seed: int = 0) -> PreTrainedModel:
    """A random float32 model in eval mode, whose parameters are far enough from their defaults to count.

    Matrices are three times the usual; vectors, which mostly start at zero or one, get noise of 0.1.
    """
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(3)
            else:
                weight.add_(torch.randn_like(weight), alpha=0.1)
    return model
