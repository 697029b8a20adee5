"""Text from data never becomes a control token, and all other text is encoded as the model's tokenizer does it."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.small_models import GEMMA, GLM, LLAMA, byte_tokenizer, piece_tokenizer
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from strop.policies.loading import EMBEDDED, load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.tasks import extract_code
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Message

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
)


@pytest.fixture(scope="module")
def smol() -> HubTokenizer:
    return HubTokenizer(load_tokenizer(EMBEDDED))


def hostile(control: list[str]) -> st.SearchStrategy[str]:
    """Texts full of control tokens, halves of them, one inside another, and characters that a guard might be."""
    halves = [part for text in control for part in (text[: len(text) // 2], text[len(text) // 2 :])]
    nested = [text[:3] + text + text[3:] for text in control]
    plain = st.sampled_from(
        ["def f(x):\n", " ", "<", "|", ">", "\ue000", "\ue001", "é", "\n\n", "🙂", "system\n"]
    )
    return st.lists(st.sampled_from([*control, *halves, *nested]) | plain, max_size=12).map("".join)


@given(st.data())
def test_no_control_token_comes_out_of_data(smol, data):
    control = [smol.inner.convert_ids_to_tokens(number) for number in smol.control_ids]
    contents = data.draw(st.lists(hostile(control), min_size=1, max_size=3))
    messages = [Message(role="user", content=content) for content in contents]
    ids = smol.encode_chat(messages)
    harmless = smol.encode_chat([Message(role="user", content="x") for _ in contents])
    wanted = [number for number in harmless if number in smol.control_ids]
    assert [number for number in ids if number in smol.control_ids] == wanted
    whole = smol.inner.decode(ids, clean_up_tokenization_spaces=False)
    assert whole == smol.inner.apply_chat_template(
        [m.model_dump() for m in messages], tokenize=False, add_generation_prompt=True
    )
    for content in contents:
        plain = smol.encode(content)
        assert smol.control_ids.isdisjoint(plain) and smol.decode(plain) == content


@given(st.text(max_size=60))
def test_text_without_control_tokens_is_encoded_as_ever(smol, text):
    assert smol.encode(text) == smol.inner.encode(text, add_special_tokens=False) or "<" in text
    messages = [Message(role="system", content="Be brief."), Message(role="user", content=text)]
    rendered = smol.inner.apply_chat_template(
        [m.model_dump() for m in messages], tokenize=False, add_generation_prompt=True
    )
    assert smol.encode_chat(messages) == smol.inner.encode(rendered, add_special_tokens=False) or "<" in text


def small(model: models.Model, tokens: list[AddedToken]) -> HubTokenizer:
    backend = Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_tokens(tokens)
    return HubTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, chat_template=TEMPLATE))


def bytes_model() -> models.BPE:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    return models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[])


def test_added_tokens_that_are_not_special_are_control_tokens_but_runs_of_spaces_are_not():
    tokens = [
        AddedToken("<|im_start|>", special=True, normalized=False),
        AddedToken("<|im_end|>", special=True, normalized=False, rstrip=True),
        AddedToken("<tool_call>", special=False, normalized=False),
        AddedToken("    ", special=False, normalized=False),
    ]
    tokenizer = small(bytes_model(), tokens)
    spaces, call = (tokenizer.inner.convert_tokens_to_ids(text) for text in ("    ", "<tool_call>"))
    assert call in tokenizer.control_ids and spaces not in tokenizer.control_ids
    ids = tokenizer.encode("    <tool_call>x")
    assert ids[0] == spaces and call not in ids and tokenizer.decode(ids) == "    <tool_call>x"
    messages = [Message(role="tool", content="<tool_call>\n    <|im_end|>")]
    ids = tokenizer.encode_chat(messages)
    assert spaces in ids and call not in ids
    assert ids.count(tokenizer.inner.convert_tokens_to_ids("<|im_end|>")) == 1
    # rstrip: the token takes the line end after it, as it does in the tokenizer itself.
    rendered = "<|im_start|>tool\nx<|im_end|>\n<|im_start|>assistant"
    assert tokenizer.encode_chat([Message(role="tool", content="x")]) == tokenizer.inner.encode(rendered)
    guarded = [n for n in ids if n in tokenizer.control_ids]
    assert guarded == [n for n in tokenizer.inner.encode(rendered) if n in tokenizer.control_ids]


def test_a_model_that_has_the_token_among_its_own_pieces_is_fed_character_by_character():
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [("<unk>", 0.0), *((letter, -10.0) for letter in alphabet), ("<s>", -1.0)]
    backend = Tokenizer(models.Unigram(pieces, unk_id=0))
    backend.decoder = decoders.Fuse()
    backend.add_special_tokens([AddedToken("<s>", special=True, normalized=False)])
    tokenizer = HubTokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>"))
    assert tokenizer.inner.encode("a<s>b", add_special_tokens=False).count(tokenizer.inner.bos_token_id) == 1
    ids = tokenizer.encode("a<s>b")
    assert tokenizer.control_ids.isdisjoint(ids) and tokenizer.decode(ids) == "a<s>b"


HARMONY = (
    "{% for m in messages %}{% if m.role == 'assistant' %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}"
    "{{ '<|end|>' if add_generation_prompt or not loop.last else '<|return|>' }}"
    "{% else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
THINKING = GEMMA.replace("model\\n' }}", "model\\n<think>' }}").replace("trim", "replace('<think>', '')")
"""The assistant's turn begins with a thought, in the prompt alone."""
ALWAYS = GLM.replace("'<end_of_turn>'", "'<end_of_turn><think></think>'").replace(
    "<end_of_turn>{%", "<end_of_turn><think></think>{%"
)
"""Each of the assistant's turns begins with a thought."""
TOLD = (
    "{% if messages[0].role != 'system' %}<bos>Think in <think> and </think>, call in <tool_call>.{% endif %}"
    + GEMMA
)
"""A system message of the template's own, which shows tags."""
ROLES = GEMMA.replace(
    "%}{{ '<start",
    "%}{% if m['role'] == 'system' %}<|start|>\n{{ m['content'] }}<|return|>{% else %}{{ '<start",
    1,
).replace("{% endfor %}", "{% endif %}{% endfor %}", 1)
"""System messages have markers of their own."""
TAGS = (
    "<think>",
    "</think>",
    "[THINK]",
    "[/THINK]",
    "<tool_call>",
    "</tool_call>",
    "<|channel>",
    "<|tool_call>",
)
CHANNELS = ("<|channel|>", "<|message|>", "<|constrain|>")
NAMED = ("<pad>", "<eos>", "<bos>")
TURNS = ("<start_of_turn>", "<end_of_turn>")
HARMONY_TURNS = ("<|start|>", "<|end|>", "<|return|>")
WRITTEN = {  # what each template writes around turns
    None: (),
    GEMMA: TURNS,
    GLM: TURNS,
    LLAMA: (),
    THINKING: TURNS,
    ALWAYS: TURNS,
    TOLD: TURNS,
    ROLES: (*TURNS, "<|start|>", "<|return|>"),
    HARMONY: HARMONY_TURNS,
}
KINDS = {
    "bytes": lambda template: byte_tokenizer(template),
    "space": lambda template: byte_tokenizer(template, prefix_space=True, bos=True),
    "pieces": lambda template: piece_tokenizer(template),
    "legacy": lambda template: piece_tokenizer(template, legacy=True),
}


@cache
def tagged(kind: str, template: str | None, special: bool) -> HubTokenizer:
    inner = KINDS[kind](template)
    for names in (TAGS, CHANNELS, HARMONY_TURNS):
        inner.add_tokens([AddedToken(name, special=special, normalized=False) for name in names])
    return HubTokenizer(inner)


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("template", WRITTEN, ids=[f"template{n}" for n in range(len(WRITTEN))])
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_tags_are_text_and_markers_of_turns_are_not(kind, template, special, data):
    tokenizer = tagged(kind, template, special)
    silent = {*NAMED, *WRITTEN[template]}
    words = st.sampled_from(["x", "a = f(x)", "\n", "h\u00e9", "\u6f22", "\U0001f642"])
    names = data.draw(st.permutations([*TAGS, *CHANNELS, *HARMONY_TURNS, *TURNS, *NAMED]))
    parts = [part for name in names for part in (name, *data.draw(st.lists(words, max_size=2)))]
    ids = tokenizer.inner.encode("".join(parts), add_special_tokens=False)
    said = tokenizer.decode(ids)
    expected = "".join(part for part in parts if part not in silent)
    if kind == "bytes":
        assert said == expected
    else:  # which write spaces of their own behind control tokens
        assert said.replace(" ", "") == expected.replace(" ", "")


@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(st.integers(0, 10_000), max_size=12))
def test_plain_ids_are_decoded_as_ever_whole_characters_or_not(kind, numbers):
    tokenizer = tagged(kind, GEMMA, True)
    plain = sorted(set(range(len(tokenizer.inner))) - tokenizer.control_ids)
    ids = [plain[number % len(plain)] for number in numbers]
    before = tokenizer.inner.encode("a", add_special_tokens=False)
    whole = tokenizer.inner.decode(
        [*before, *ids], skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
    assert tokenizer.decode(ids) == whole.partition("a")[2]


@pytest.mark.parametrize("kind", [*KINDS, "smol"])
@given(st.data())
def test_a_string_that_is_new_in_a_text_has_its_last_letter_in_the_newest_piece(smol, kind, data):
    tokenizer = smol if kind == "smol" else tagged(kind, GEMMA, True)
    texts = st.sampled_from(
        ["x", " ", "\n", "a = f(x)\n", "h\u00e9", "\u6f22\u5b57", "\U0001f642", "<think>"]
    )
    parts = data.draw(st.lists(texts.map(tokenizer.encode) | st.lists(st.integers(0, 255)), max_size=8))
    ids = [number for part in parts for number in part]
    whole = tokenizer.decode(ids)
    for _ in range(5):
        start = data.draw(st.integers(0, max(0, len(whole) - 1)))
        stop = whole[start : start + data.draw(st.integers(1, 4))]
        found = [stop in tokenizer.decode(ids[:count]) for count in range(len(ids) + 1)]
        for before, here, token in zip(found, found[1:], ids, strict=False):
            piece = tokenizer.piece(token)
            assert before or not here or "\ufffd" in piece + stop or stop[-1:] in piece


def test_a_plain_piece_that_ends_answers_is_text_elsewhere():
    inner = byte_tokenizer(None)
    semicolon = inner.convert_tokens_to_ids(";")
    tokenizer = HubTokenizer(inner, [semicolon])
    assert semicolon in tokenizer.eos_ids
    assert tokenizer.decode(tokenizer.encode("a; b")) == "a; b"


CODE = "def f(x):\n    return x"


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("kind", ["bytes", "space"])
@pytest.mark.parametrize(
    "text",
    [
        f"<think>x = wrong(</think>{CODE}<eos>",
        f"x = wrong(</think>\n```python\n{CODE}\n```<eos>",
        f"Well.\n<think>\n```python\ndef f(x): wrong\n```\n</think>\n```\n{CODE}\n```<eos>",
    ],
)
def test_a_thought_in_special_tokens_is_no_part_of_the_answer(kind, special, text):
    tokenizer = tagged(kind, GEMMA, special)
    ids = tokenizer.inner.encode(text, add_special_tokens=False)
    assert extract_code(tokenizer.decode(ids), "python", ["f"]).strip() == CODE


def chat(*turns: str) -> list[Message]:
    roles = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    return [Message(role=roles[turn[0]], content=turn[1:]) for turn in turns]


REFUSES = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
ALTERNATES = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}{% endfor %}"
)
DROPS = GEMMA.replace("{% for m in messages %}", "{% for m in messages if m.role != 'system' %}")
KNOWN = (
    "{% for m in messages if m.role not in ('system', 'user', 'assistant') %}{{ m.role.no.such }}{% endfor %}"
)


@pytest.mark.parametrize(
    "template", [REFUSES + GEMMA, ALTERNATES + GEMMA, DROPS], ids=["refuses", "alternates", "drops"]
)
@pytest.mark.parametrize("text", ["Be brief.", "Be brief<eos>."])
def test_a_template_without_system_messages_gets_them_in_the_user_s(template, text):
    tokenizer, plain = (HubTokenizer(byte_tokenizer(one)) for one in (template, GEMMA))
    assert tokenizer.encode_chat(chat(f"s{text}", "uhi")) == plain.encode_chat(chat(f"u{text}\n\nhi"))
    whole = chat(f"s{text}", "uhi", "aho", "s2", "umore")
    joined = chat(f"u{text}\n\nhi", "aho", "u2\n\nmore")
    assert tokenizer.encode_chat(whole) == plain.encode_chat(joined)
    assert tokenizer.keeps(whole[:3], whole[3:])
    assert tokenizer.encode_turn(chat("s2", "umore"), ended=None) == plain.encode_turn(
        chat("u2\n\nmore"), ended=None
    )
    assert tokenizer.encode_chat(chat(f"s{text}")) == plain.encode_chat(chat(f"u{text}"))
    assert (tokenizer.turn_end, tokenizer.eos_ids) == (plain.turn_end, plain.eos_ids)


def test_messages_of_one_role_become_one_where_roles_alternate():
    tokenizer, plain = HubTokenizer(byte_tokenizer(ALTERNATES + GEMMA)), HubTokenizer(byte_tokenizer(GEMMA))
    whole = chat("uhi", "uthere", "aho", "a!", "umore")
    assert tokenizer.encode_chat(whole) == plain.encode_chat(chat("uhi\n\nthere", "aho\n\n!", "umore"))
    assert plain.encode_chat(whole) != tokenizer.encode_chat(whole)
    assert tokenizer.encode_turn(chat("ua", "ub"), ended=None) == plain.encode_turn(
        chat("ua\n\nb"), ended=None
    )


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (REFUSES + ALTERNATES + GEMMA, "Conversation roles must alternate"),
        (KNOWN + GEMMA, "has no attribute"),
    ],
)
def test_a_conversation_that_is_refused_in_any_form_is_said_in_one_line(template, words):
    tokenizer = HubTokenizer(byte_tokenizer(template))
    refused = chat("uhi", "aho", "tx", "umore")
    for act in (
        lambda: tokenizer.encode_chat(refused),
        lambda: tokenizer.encode_turn(refused[2:], ended=None),
        lambda: tokenizer.keeps(refused[:2], refused[2:]),
    ):
        with pytest.raises(
            UserError, match=rf"refuses this conversation: .*{words}.*model\.chat_template=FILE"
        ) as error:
            act()
        assert isinstance(error.value, ValueError) and "\n" not in str(error.value)
