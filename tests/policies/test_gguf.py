"""A GGUF file named as a model is the model that it was made from, whole, or it is refused in one line."""

import hashlib
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from tokenizers import pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from strop.config.schema import Recipe
from strop.policies import loading, model_files
from strop.policies.gguf import convert
from strop.policies.open import answers, open_policy, tokenizer_of
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Message, SamplingParams

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
BYTES = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "ab"]
CONTROL = ["<|endoftext|>", "<|bos|>", "<|im_start|>", "<|im_end|>"]
PIECES = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581", *"abcdefgh", "ab"]
SIZES = {
    "vocab_size": 320, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 128,
}  # fmt: skip
IDS = torch.arange(40)[None] * 5 % 256


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STROP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def tiny(arch: str, **settings: Any) -> PreTrainedModel:
    """A random model; its weights are large enough that any change of them is seen."""
    torch.manual_seed(1)
    config = AutoConfig.for_model(arch, **{**SIZES, **settings})
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight).mul(0.3).bfloat16().float())
    return model


def write(
    path: Path,
    model: PreTrainedModel,
    *,
    kind: Kind = Kind.F32,
    pieces: bool = False,
    skip: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Writes a model as llama.cpp's converter does. `more`: other tensors; `settings`: others, None takes one out."""
    config, arch = model.config, model.config.model_type
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rope = config.rope_parameters
    facts: dict[str, Any] = {
        "general.name": "tiny",
        f"{arch}.context_length": config.max_position_embeddings,
        f"{arch}.embedding_length": config.hidden_size,
        f"{arch}.block_count": config.num_hidden_layers,
        f"{arch}.feed_forward_length": config.intermediate_size,
        f"{arch}.attention.head_count": config.num_attention_heads,
        f"{arch}.attention.head_count_kv": config.num_key_value_heads,
        f"{arch}.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        f"{arch}.attention.key_length": head,
        f"{arch}.rope.freq_base": float(rope["rope_theta"]),
        f"{arch}.rope.dimension_count": int(head * rope.get("partial_rotary_factor", 1.0)),
        f"{arch}.vocab_size": config.vocab_size,
        "tokenizer.chat_template": CHAT,
        **_vocabulary(pieces, config.vocab_size),
        **(settings or {}),
    }
    writer = gguf.GGUFWriter(str(path), arch)
    for name, value in facts.items():
        match value:
            case bool():
                writer.add_bool(name, value)
            case int():
                writer.add_uint32(name, value)
            case float():
                writer.add_float32(name, value)
            case str():
                writer.add_string(name, value)
            case list():
                writer.add_array(name, value)
    for name, data in {**tensors_of(model), **(more or {})}.items():
        if name not in skip:
            type_ = kind if data.ndim == 2 else Kind.F32
            writer.add_tensor(name, gguf.quants.quantize(data, type_), raw_dtype=type_)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _vocabulary(pieces: bool, size: int) -> dict[str, Any]:
    begin = "tokenizer.ggml."
    names = PIECES if pieces else [*BYTES, *CONTROL]
    kinds = [6 if name.startswith("<0x") else 3 if name[0] == "<" and len(name) > 1 else 1 for name in names]
    names, kinds = (
        [*names, *(f"[PAD{n}]" for n in range(len(names), size))],
        [*kinds, *[5] * (size - len(names))],
    )
    facts = {f"{begin}tokens": names, f"{begin}token_type": kinds}
    if pieces:
        scores = {f"{begin}scores": [-float(number) for number in range(len(names))]}
        return {
            **facts,
            **scores,
            f"{begin}model": "llama",
            f"{begin}bos_token_id": 1,
            f"{begin}eos_token_id": 2,
        }
    ids = {f"{begin}eos_token_id": names.index("<|im_end|>"), f"{begin}bos_token_id": names.index("<|bos|>")}
    return {**facts, **ids, f"{begin}model": "gpt2", f"{begin}pre": "qwen2", f"{begin}merges": ["a b"]}


def tensors_of(model: PreTrainedModel) -> dict[str, np.ndarray[Any, Any]]:
    """By llama.cpp's names and in its order of rows."""
    config, found = model.config, {}
    arch = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == config.model_type)
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        stem, _, ending = name.rpartition(".")
        data = weight.float().numpy()
        if config.model_type == "llama" and stem.endswith(("q_proj", "k_proj")):
            heads = config.num_attention_heads if stem.endswith("q_proj") else config.num_key_value_heads
            data = data.reshape(heads, 2, -1, *data.shape[1:]).swapaxes(1, 2).reshape(data.shape)
        if config.model_type == "gemma2" and "norm" in stem:
            data = data + 1
        if not (stem == "lm_head" and config.tie_word_embeddings):
            found[f"{names.get_name(stem)}.{ending}"] = np.ascontiguousarray(data)
    return found


def as_stored(model: PreTrainedModel, kind: Kind) -> PreTrainedModel:
    """The model with the weights that are left after a type of few bits."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                stored = gguf.quants.quantize(weight.numpy(), kind)
                weight.copy_(torch.from_numpy(gguf.quants.dequantize(stored, kind).copy()))
    return model


def logits(model: PreTrainedModel) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(IDS).logits
    return found


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(Kind.F32, "bfloat16"), (Kind.BF16, "bfloat16"), (Kind.Q8_0, "float32"), (Kind.Q4_0, "float16")],
    ids=str,
)
@pytest.mark.parametrize("arch", ["llama", "qwen2"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_file_is_the_model_that_it_was_made_from(
    tmp_path: Path, arch: str, kind: Kind, dtype: str, tied: bool
) -> None:
    model = tiny(arch, tie_word_embeddings=tied)
    name = str(write(tmp_path / "m.gguf", model, kind=kind))
    found = loading.load_model(name, device="cpu")
    expected = as_stored(model, kind) if kind != Kind.F32 else model
    assert torch.equal(found.get_input_embeddings().weight, expected.get_input_embeddings().weight)
    torch.testing.assert_close(logits(found), logits(expected), rtol=1e-5, atol=1e-4)
    folder = model_files.converted_folder(name)
    config = json.loads((folder / "config.json").read_text())
    assert config["dtype"] == dtype and "quantization_config" not in config
    assert config["tie_word_embeddings"] is tied
    assert not list(folder.glob("*.gguf"))


def test_weights_that_bfloat16_has_no_digits_for_keep_theirs(tmp_path: Path) -> None:
    model = tiny("qwen2")
    torch.nn.init.constant_(model.model.norm.weight, 1 + 2**-10)  # float16 has them, float32 too
    name = str(write(tmp_path / "m.gguf", model, kind=Kind.F16))
    assert torch.equal(loading.load_model(name, device="cpu").model.norm.weight, model.model.norm.weight)
    assert json.loads((model_files.converted_folder(name) / "config.json").read_text())["dtype"] == "float16"
    torch.nn.init.constant_(model.model.norm.weight, 1e6 + 1)
    name = str(write(tmp_path / "n.gguf", model))
    assert torch.equal(loading.load_model(name, device="cpu").model.norm.weight, model.model.norm.weight)


def test_the_policy_says_what_transformers_says(tmp_path: Path) -> None:
    model = tiny("llama", tie_word_embeddings=False)
    recipe = Recipe.model_validate(
        {"model": {"name": str(write(tmp_path / "m.gguf", model)), "sampling_dtype": "float32"}}
    )
    policy = open_policy(recipe)
    prompts = [
        policy.tokenizer.encode_chat([Message(role="user", content=text)])
        for text in ("hi", "abc def", "x" * 30)
    ]
    params = SamplingParams(temperature=0, max_tokens=40)
    found = dict(answers(policy, prompts, [0, 1, 2], params))
    ends = sorted(tokenizer_of(recipe).eos_ids)
    for row, prompt in enumerate(prompts):
        out = model.generate(
            torch.tensor([prompt]), max_new_tokens=40, do_sample=False, eos_token_id=ends, pad_token_id=0
        )
        assert list(found[row].token_ids) == out[0, len(prompt) :].tolist()


def test_end_tokens_and_the_template_are_the_file_s(tmp_path: Path) -> None:
    model, ids = tiny("qwen2"), {name: len(BYTES) + number for number, name in enumerate(CONTROL)}
    file = write(tmp_path / "m.gguf", model, settings={"tokenizer.ggml.eot_token_id": ids["<|bos|>"]})
    tokenizer = loading.load_tokenizer(str(file))
    ends = loading.load_end_ids(str(file), tokenizer)
    assert ends == [ids["<|im_end|>"], ids["<|bos|>"], ids["<|endoftext|>"]]
    assert tokenizer.chat_template == CHAT and tokenizer.encode("ab") == [BYTES.index("ab")]
    recipe = Recipe.model_validate({"model": {"name": str(file)}})
    assert tokenizer_of(recipe).eos_ids == {*ends}
    assert tokenizer_of(recipe).turn_end == [ids["<|im_end|>"]]


def test_a_padding_token_that_is_chosen_ends_nothing(tmp_path: Path) -> None:
    file, pad = write(tmp_path / "m.gguf", tiny("qwen2")), len(BYTES)
    folder = str(convert(file, tmp_path / "made", name="m", dtype=torch.float32, pad=pad))
    tokenizer = loading.load_tokenizer(folder)
    assert tokenizer.pad_token_id == pad and loading.load_end_ids(folder, tokenizer) == [pad + 3]
    assert loading.load_model(folder, device="cpu").config.dtype == torch.float32


@pytest.mark.parametrize("given", [None, True, False])
@pytest.mark.parametrize("pieces", [True, False])
def test_a_text_begins_with_the_bos_where_llama_cpp_writes_it(
    tmp_path: Path, pieces: bool, given: bool | None
) -> None:
    settings = {} if given is None else {"tokenizer.ggml.add_bos_token": given}
    file = write(tmp_path / "m.gguf", tiny("llama"), pieces=pieces, settings=settings)
    tokenizer = tokenizer_of(Recipe.model_validate({"model": {"name": str(file)}}))
    begins = tokenizer.encode_text("ab cd")[0] == tokenizer.inner.bos_token_id
    assert begins is (pieces if given is None else given)
    for text in ("ab cd", " a", "h\u00e9", "\n"):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_file_is_converted_once_wherever_it_lies(
    tmp_path: Path, own_cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name = str(write(tmp_path / "m.gguf", tiny("llama")))
    assert model_files.located(name) == name and not model_files.is_converted(name)
    assert model_files.ModelFiles.read(name) is None
    digest = model_files.weights_digest(name)
    assert digest == hashlib.sha256(Path(name).read_bytes()).hexdigest()[:16] and not own_cache.exists()
    folder = loading.model_path(name)
    assert capfd.readouterr().err.startswith(f"converting {name} (")
    assert model_files.is_converted(name)
    files = model_files.ModelFiles.read(name)
    assert files is not None and files.size > 60_000 and files.context == 128
    shutil.copy(name, tmp_path / "other name")
    assert loading.model_path(str(tmp_path / "other name")) == folder
    assert "converting" not in capfd.readouterr().err
    write(Path(name), tiny("llama", rms_norm_eps=1e-3))
    assert model_files.weights_digest(name) != digest and loading.model_path(name) != folder
    assert sorted(one.name for one in own_cache.iterdir()) == sorted(
        Path(one).name for one in (folder, loading.model_path(name))
    )


def refused(file: Path, cache: Path) -> str:
    """The line with which a file is refused; nothing is left of it."""
    with pytest.raises(UserError) as error:
        loading.load_model(str(file), device="cpu")
    assert not cache.exists() or not list(cache.iterdir())
    text = str(error.value)
    assert text.startswith(f"model.name={file}: ") and "\n" not in text
    return text


def test_what_would_be_lost_is_refused_by_name(tmp_path: Path, own_cache: Path) -> None:
    model, file = tiny("llama", tie_word_embeddings=False), tmp_path / "m.gguf"
    write(file, model, skip=["blk.1.ffn_up.weight"])
    assert "no tensor for model.layers.1.mlp.up_proj.weight" in refused(file, own_cache)
    write(file, model, more={"blk.0.attn_q_norm.weight": np.ones(16, np.float32)})
    assert "leaves out blk.0.attn_q_norm.weight" in refused(file, own_cache)
    write(file, model, settings={"llama.final_logit_softcapping": 30.0})
    assert "final_logit_softcapping" in refused(file, own_cache)
    write(file, model, settings={"llama.rope.dimension_count": 8})
    assert "rotary frequencies" in refused(file, own_cache)
    write(file, model, settings={"llama.rope.scaling.type": "longrope", "llama.rope.scaling.factor": 4.0})
    assert "rope.scaling.type=longrope" in refused(file, own_cache)
    write(file, model, more={"rope_freqs.weight": np.linspace(1, 9, 8, dtype=np.float32)})
    assert "rotary frequencies" in refused(file, own_cache)


def test_files_that_hold_no_whole_model_are_refused(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, file = tiny("llama"), tmp_path / "m.gguf"
    data = write(file, model).read_bytes()
    for cut in (0, 3, 4, 20, 300, 5000, len(data) // 2, len(data) - 100):
        file.write_bytes(data[:cut])
        assert "the GGUF file is damaged" in refused(file, own_cache), cut
    file.write_bytes(data.replace(b"llama", b"rwkv7"))
    assert "the architecture 'rwkv7'" in refused(file, own_cache)
    write(file, model, settings={"split.count": 3})
    assert "one of 3 parts" in refused(file, own_cache)
    write(file, model, settings={"general.type": "adapter"})
    assert "general.type=adapter" in refused(file, own_cache)
    file.write_bytes(data)
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(UserError, match=r"needs the package 'gguf'.*strop\[train\]"):
        loading.load_tokenizer(str(file))


def test_names_that_are_neither_folders_nor_gguf_files(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("x")
    for name, what in (
        ("m.txt", "not a GGUF file"),
        ("m.gguf", "there is no such folder or file"),
    ):
        with pytest.raises(UserError, match=what):
            model_files.located(str(tmp_path / name))
    with pytest.raises(UserError, match="no such folder or file"):
        model_files.located("m.gguf")


def llama3_factors(base: float, factor: float) -> np.ndarray[Any, Any]:
    """What llama.cpp divides frequencies by; see `generate_extra_tensors` of its converter."""
    waves = 2 * np.pi * base ** (np.arange(0, 16, 2) / 16)
    smooth = (8192 / waves - 1) / 3
    between = 1 / ((1 - smooth) / factor + smooth)
    return np.where(waves < 8192 / 4, 1, np.where(waves > 8192, factor, between)).astype(np.float32)


@pytest.mark.parametrize("kind", ["theta", "llama3", "linear", "yarn"])
def test_positions_turn_as_the_file_says(tmp_path: Path, kind: str) -> None:
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": 500000.0}
    settings: dict[str, Any] = {}
    more: dict[str, Any] = {}
    if kind == "llama3":
        bounds = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
        rope |= {"rope_type": "llama3", "factor": 32.0, **bounds}
        more = {"rope_freqs.weight": llama3_factors(500000.0, 32.0)}
    elif kind != "theta":
        rope |= {"rope_type": kind, "factor": 4.0}
        settings = {"llama.rope.scaling.type": kind, "llama.rope.scaling.factor": 4.0}
    if kind == "yarn":
        rope |= {"original_max_position_embeddings": 32}
        settings["llama.rope.scaling.original_context_length"] = 32
    model = tiny("llama", rope_parameters=rope)
    file = write(tmp_path / "m.gguf", model, settings=settings, more=more)
    found = loading.load_model(str(file), device="cpu")
    torch.testing.assert_close(logits(found), logits(model), rtol=1e-4, atol=1e-3)
    plain = tiny("llama", rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
    assert (logits(plain) - logits(model)).abs().max() > 0.1


def test_caps_are_the_file_s_and_attention_keeps_them(tmp_path: Path) -> None:
    caps = {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 7.0}
    model = tiny(
        "gemma2",
        head_dim=16,
        query_pre_attn_scalar=16,
        sliding_window=8,
        hidden_activation="gelu_pytorch_tanh",
        **caps,
    )
    settings = {f"gemma2.{name}": value for name, value in caps.items()} | {
        "gemma2.attention.sliding_window": 8
    }
    name = str(write(tmp_path / "m.gguf", model, settings=settings))
    found = loading.load_model(name, device="cpu")
    assert found.config._attn_implementation == "eager"
    torch.testing.assert_close(logits(found), logits(model), rtol=1e-4, atol=1e-3)
    chosen = loading.load_model(name, device="cpu", attention="sdpa")  # whoever asks for it gets it
    assert chosen.config._attn_implementation == "sdpa"
    assert (logits(chosen) - logits(model)).abs().max() > 0.1
    plain = loading.load_model(str(write(tmp_path / "n.gguf", tiny("qwen2"))), device="cpu")
    assert plain.config._attn_implementation == "sdpa"


def test_settings_that_nothing_reads_are_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    settings = {"llama.logit_scale": 4.0, "tokenizer.ggml.pre": "new-cut"}
    loading.model_path(str(write(tmp_path / "m.gguf", tiny("llama"), settings=settings)))
    said = capfd.readouterr().err
    assert "these settings are not read: llama.logit_scale, tokenizer.ggml.pre=new-cut" in said
    loading.model_path(str(write(tmp_path / "n.gguf", tiny("llama"))))
    assert "not read" not in capfd.readouterr().err
