"""Real models of a few kilobytes that say what they are told, with tokenizers of the usual kinds."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

GEMMA = (
    "{{ bos_token }}{% for m in messages %}{{ '<start_of_turn>' + ('model' if m['role'] == 'assistant' else m['role'])"
    " + '\\n' + m['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"
)
LLAMA = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ ' ' + m['content'] + ' ' + eos_token }}"
    "{% else %}{{ bos_token + '[INST] ' + m['content'] + ' [/INST]' }}{% endif %}{% endfor %}"
)
GLM = (
    "<bos>{% for m in messages %}{{ '<start_of_turn>' if m['role'] == 'user' else '<end_of_turn>' }}"
    "{{ '\\n' + m['content'] }}{% endfor %}{% if add_generation_prompt %}<end_of_turn>{% endif %}"
)
"""Turns have a beginning and no end: a turn of the user's ends the assistant's."""
SPECIAL = ("<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>")


def byte_tokenizer(
    template: str | None = GEMMA, *, prefix_space: bool = False, bos: bool = False, **end: Any
) -> PreTrainedTokenizerFast:
    """One token a byte. `prefix_space`: it puts a space before a text; `bos`: and a BOS; `end`: how the last control
    token is added.
    """
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(name, special=True) for name in SPECIAL[:-1]])
    last = AddedToken(SPECIAL[-1], **{"special": True, **end})
    backend.add_special_tokens([last]) if last.special else backend.add_tokens([last])
    return _wrapped(backend, template, bos)


def piece_tokenizer(template: str | None = LLAMA, *, legacy: bool = False) -> PreTrainedTokenizerFast:
    """Like Llama's and Mistral's: U+2581 for spaces, one before every text, bytes for what is no piece, a BOS."""
    letters = "\u2581abcdefghijklmnopqrstuvwxyz():=`[]/INST"
    pieces = [*SPECIAL, "<unk>", *(f"<0x{i:02X}>" for i in range(256)), *dict.fromkeys(letters)]
    merges = [
        ("\u2581", "\u2581"),
        ("\u2581\u2581", "\u2581\u2581"),
        ("\u2581", "x"),
        ("\u2581", "a"),
        ("`", "`"),
    ]
    pieces += ["".join(pair) for pair in merges]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", byte_fallback=True))
    if legacy:
        backend.normalizer = normalizers.Sequence(
            [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
        )
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    steps = [
        decoders.Replace("\u2581", " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    ]
    backend.decoder = decoders.Sequence(steps)
    backend.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
    return _wrapped(backend, template, True)


def _wrapped(backend: Tokenizer, template: str | None, bos: bool) -> PreTrainedTokenizerFast:
    if bos:
        number = backend.token_to_id("<bos>")
        backend.post_processor = processors.TemplateProcessing(
            single="<bos> $A", pair="<bos> $A $B", special_tokens=[("<bos>", number)]
        )
    names = {"pad_token": "<pad>", "eos_token": "<eos>", "bos_token": "<bos>"}
    return PreTrainedTokenizerFast(tokenizer_object=backend, chat_template=template, **names)


def write_speaker(
    folder: Path,
    tokenizer: PreTrainedTokenizerFast,
    after: str,
    says: Sequence[int],
    *,
    generation_eos: int | list[int] | None = None,
    config_eos: int | list[int] | None = None,
) -> Path:
    """Writes a model that goes on with `says` after the token `after`; no token may be twice among them.

    Without `generation_eos` there is no generation_config.json.
    """
    size, width = len(tokenizer), len(tokenizer) + len(tokenizer) % 2
    config = LlamaConfig(
        vocab_size=size, hidden_size=width, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1,
        num_key_value_heads=1, head_dim=32, max_position_embeddings=512, tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=config_eos, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "norm" in name else 0.0)
        model.model.embed_tokens.weight[range(size), range(size)] = 1.0
        chain = [tokenizer.convert_tokens_to_ids(after), *says]
        assert len({*chain}) == len(chain)
        for before, then in itertools.pairwise(chain):
            model.lm_head.weight[then, before] = 5.0
    if generation_eos is not None:
        model.generation_config = GenerationConfig(
            eos_token_id=generation_eos, pad_token_id=tokenizer.pad_token_id
        )
    model.save_pretrained(folder)
    if generation_eos is None:
        (folder / "generation_config.json").unlink()
    tokenizer.save_pretrained(folder)
    return folder
