"""What a model says ends at each of its end tokens, and its text is what it said: no more, no less."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.small_models import GEMMA, GLM, byte_tokenizer, piece_tokenizer, write_speaker

from strop.config.schema import Recipe
from strop.policies.loading import EMBEDDED, load_end_ids, load_tokenizer
from strop.policies.open import answers, open_policy, tokenizer_of
from strop.policies.tokenizer import HubTokenizer
from strop.rollouts.encoding import opening_ids, turn_ids
from strop_verify.core.play import Opening
from strop_verify.core.rollout import Completion, Message, SamplingParams

ASK = [Message(role="user", content="hi")]
EOS, BOS, START, END = 257, 258, 259, 260


def recipe_of(folder: Path) -> Recipe:
    return Recipe.model_validate({"model": {"name": str(folder), "sampling_dtype": "float32"}})


def said(folder: Path, opening: Opening, **params: Any) -> Completion:
    """The greedy answer of the model in a folder."""
    policy = open_policy(recipe_of(folder))
    prompt = opening_ids(opening, policy.tokenizer)
    ((_, found),) = answers(
        policy, [prompt], [0], SamplingParams(temperature=0, **{"max_tokens": 40, **params})
    )
    return found


@pytest.mark.parametrize(
    "named",
    [
        {"generation_eos": [EOS, END], "config_eos": EOS},
        {"generation_eos": END},
        {"config_eos": [EOS, END]},
        {"config_eos": END},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("chat", [True, False])
def test_an_answer_ends_at_each_end_token_wherever_it_is_named(
    tmp_path: Path, named: dict[str, Any], chat: bool
) -> None:
    # Without a name anywhere it is the template that shows it, and without a template there must be one.
    inner = byte_tokenizer(GEMMA if chat or not named else None)
    text = [*inner.encode("f=abs", add_special_tokens=False)]
    more = inner.encode("xyz", add_special_tokens=False)
    folder = write_speaker(tmp_path / "m", inner, "Ċ", [*text, END, *more], **named)
    opening = Opening(messages=ASK) if chat else Opening(text="#\n")
    found = said(folder, opening)
    assert (found.text, found.finish_reason, found.token_ids[-1]) == ("f=abs", "eos", END)
    assert len(found.logprobs) == len(found.token_ids) == 6


def test_an_end_token_that_is_added_and_not_special_is_no_part_of_the_text(tmp_path: Path) -> None:
    inner = byte_tokenizer(special=False)
    text = [*inner.encode("f=abs", add_special_tokens=False)]
    folder = write_speaker(tmp_path / "m", inner, "Ċ", [*text, END], generation_eos=[EOS, END])
    assert said(folder, Opening(messages=ASK)).text == "f=abs"


def test_where_end_tokens_are_named(tmp_path: Path) -> None:
    inner = byte_tokenizer(None)

    def ids(**files: Any) -> list[int]:
        for name, data in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(data))
        found = load_end_ids(str(tmp_path), inner)
        for name in files:
            (tmp_path / f"{name}.json").unlink()
        return found

    assert ids() == []
    assert ids(config={"text_config": {"eos_token_id": [EOS, END]}}) == [EOS, END]
    assert ids(config={"text_config": None, "eos_token_id": None}) == []
    # A default of the model's class is a letter of this tokenizer's.
    assert ids(config={"eos_token_id": 2}) == []
    assert ids(generation_config={"_from_model_config": True, "eos_token_id": 2}) == []
    assert ids(generation_config={"eos_token_id": 2}, config={"eos_token_id": EOS}) == [2, EOS]
    base = tmp_path / "base"
    base.mkdir()
    (base / "generation_config.json").write_text(json.dumps({"eos_token_id": [END]}))
    assert ids(adapter_config={"base_model_name_or_path": str(base)}) == [END]


@pytest.mark.train(5)
def test_the_embedded_model_ends_where_its_turn_does() -> None:
    tokenizer = tokenizer_of(recipe_of(Path(EMBEDDED)))
    assert tokenizer.eos_ids == {tokenizer.inner.eos_token_id}
    assert tokenizer.turn_end == tokenizer.text_end == [tokenizer.inner.eos_token_id]
    assert tokenizer.encode_text("x") == tokenizer.encode("x")  # it has no BOS
    assert HubTokenizer(load_tokenizer(EMBEDDED)).eos_ids == tokenizer.eos_ids


def next_prompt(tokenizer: HubTokenizer, ids: list[int], reason: str, messages: list[Message]) -> str:
    numbers = {"logprobs": [0.0] * len(ids), "text": "", "policy_version": 0}
    completion = Completion.model_validate({"token_ids": ids, "finish_reason": reason, **numbers})
    found = turn_ids(Opening(messages=ASK), completion, messages, tokenizer)
    return str(tokenizer.inner.decode(found, clean_up_tokenization_spaces=False))


def test_a_turn_is_ended_by_the_template_s_token_once() -> None:
    tokenizer = HubTokenizer(byte_tokenizer(), [EOS, END])
    assert tokenizer.turn_end == [END] and tokenizer.text_end == [EOS]
    text, after = tokenizer.encode("f=abs"), "\n<start_of_turn>user\nNo.<end_of_turn>\n<start_of_turn>model\n"
    again = [Message(role="user", content="No.")]
    assert next_prompt(tokenizer, [*text, END], "eos", again) == after
    for ids, reason in (([*text, EOS], "eos"), (text, "length"), (text, "stop")):
        assert next_prompt(tokenizer, ids, reason, again) == "<end_of_turn>" + after


def test_a_turn_may_end_by_the_token_that_begins_the_next() -> None:
    again = [Message(role="user", content="No.")]
    tokenizer = HubTokenizer(byte_tokenizer(GLM), [EOS, START])
    assert tokenizer.turn_end == [START]
    assert next_prompt(tokenizer, [97, START], "eos", again) == "\nNo.<end_of_turn>"
    assert next_prompt(tokenizer, [97, EOS], "eos", again) == "<start_of_turn>\nNo.<end_of_turn>"
    # Where the model does not call it an end, the template says nothing about ends.
    unsaid = HubTokenizer(byte_tokenizer(GLM), [EOS])
    assert unsaid.turn_end == [EOS] and unsaid.eos_ids == {EOS}


@pytest.mark.parametrize("legacy", [True, False])
def test_a_space_between_the_text_and_its_end(legacy: bool) -> None:
    tokenizer = HubTokenizer(piece_tokenizer(legacy=legacy))
    eos = tokenizer.inner.eos_token_id
    assert tokenizer.eos_ids == {eos} and tokenizer.decode(tokenizer.turn_end) == " "
    again = [Message(role="user", content="no")]
    assert next_prompt(tokenizer, [*tokenizer.encode("a"), eos], "eos", again).count("<eos>") == 0
    assert next_prompt(tokenizer, tokenizer.encode("a"), "length", again).count("<eos>") == 1


def test_a_template_that_refuses_a_conversation_is_no_fault_of_a_text_prompt() -> None:
    tokenizer = HubTokenizer(byte_tokenizer("{{ raise_exception('no') }}"))
    assert tokenizer.eos_ids == {EOS} and tokenizer.encode_text("x") == tokenizer.encode("x")


TOKENIZERS = {
    "bytes": lambda: byte_tokenizer(),
    "space": lambda: byte_tokenizer(prefix_space=True, bos=True),
    "pieces": lambda: piece_tokenizer(),
    "legacy": lambda: piece_tokenizer(legacy=True),
}


@pytest.fixture(scope="module", params=TOKENIZERS)
def tokenizer(request: pytest.FixtureRequest) -> HubTokenizer:
    return HubTokenizer(TOKENIZERS[request.param]())


@given(st.text("x a\n\té`(<bos>", max_size=20))
def test_text_comes_back_as_it_is(tokenizer: HubTokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text and tokenizer.control_ids.isdisjoint(ids)
    head = tokenizer.encode_text("def a(x):")
    assert tokenizer.decode([*head, *ids]).strip(" ").startswith(f"def a(x):{text}".strip(" "))


def test_a_prompt_has_one_bos(tokenizer: HubTokenizer) -> None:
    inner = tokenizer.inner
    for text in ("def a(x):", "  a", "<bos>a"):
        ids = tokenizer.encode_text(text)
        if "<" not in text:
            assert ids == inner.encode(text)
        assert ids.count(inner.bos_token_id) == inner.encode("a").count(inner.bos_token_id)
    assert tokenizer.encode_chat(ASK).count(inner.bos_token_id) == 1
    hostile = [Message(role="user", content="<bos> a")]
    assert tokenizer.encode_chat(hostile).count(inner.bos_token_id) == 1


def test_turns_are_encoded_as_the_tokenizer_encodes_the_conversation(tokenizer: HubTokenizer) -> None:
    inner, again = tokenizer.inner, Message(role="user", content="x a")
    whole = [*ASK, Message(role="assistant", content="x = a"), again]
    turns = [message.model_dump() for message in whole]
    rendered = inner.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    ids = inner.encode(rendered, add_special_tokens=False)
    head, turn = tokenizer.encode_chat(ASK), tokenizer.encode_turn([again], ended=None)
    end = len(tokenizer.turn_end)
    assert ids[: len(head)] == head and ids[end - len(turn) :] == turn[end:]
    assert turn[:end] == tokenizer.turn_end
    assert tokenizer.encode_turn([again], ended=turn[end - 1]) == turn[end:]


def test_hostile_text_changes_no_token_but_its_own(tokenizer: HubTokenizer) -> None:
    plain, mixed = (
        tokenizer.encode_chat([Message(role="user", content=text), *ASK]) for text in ("a", "a<eos>")
    )
    assert mixed[-3:] == plain[-3:] and mixed[:2] == plain[:2]


@pytest.mark.parametrize("legacy", [True, False])
def test_a_space_that_begins_what_a_model_says(tmp_path: Path, legacy: bool) -> None:
    inner = piece_tokenizer(legacy=legacy)
    says = inner.convert_tokens_to_ids(["\u2581\u2581\u2581\u2581", "a", "<eos>"])
    folder = write_speaker(tmp_path / "m", inner, ":", says)
    assert said(folder, Opening(text="def x():")).text == "    a"
    assert said(folder, Opening(messages=ASK, prefill="x:")).text == "    a"
    opened = write_speaker(tmp_path / "n", inner, "]", inner.convert_tokens_to_ids(["\u2581x", "<eos>"]))
    assert said(opened, Opening(messages=ASK)).text == "x"  # the template's own space
    assert said(opened, Opening(text="a]")).text == " x"


def test_stop_strings_over_tokens_and_inside_a_character(tmp_path: Path) -> None:
    inner = byte_tokenizer()
    says = inner.encode("abé!\n```", add_special_tokens=False)[:-2]
    folder = write_speaker(tmp_path / "m", inner, "#", [*says, EOS])
    opening = Opening(text="#")
    assert said(folder, opening).text == "abé!\n`"
    for stop, left, tokens in (("bé", "a", 4), ("é", "ab", 4), ("!\n`", "abé", 7), ("\n`", "abé!", 7)):
        found = said(folder, opening, stop=(stop, "never"))
        assert (found.text, found.finish_reason, len(found.token_ids)) == (left, "stop", tokens)
    # Two that come with one token: the answer ends before the first.
    assert said(folder, opening, stop=("`", "!\n`")).text == "abé"


def test_the_limit_counts_what_is_said_and_not_the_prefill(tmp_path: Path) -> None:
    inner = byte_tokenizer()
    says = inner.encode("abcd", add_special_tokens=False)
    folder = write_speaker(tmp_path / "m", inner, "Ġ", [*says, END])
    # White space at the end of a prefill stays, whatever the template does with contents.
    opening = Opening(messages=ASK, prefill="return ")
    assert opening_ids(opening, tokenizer_of(recipe_of(folder)))[-7:] == inner.encode("return ")
    assert said(folder, opening, max_tokens=4).text == "abcd"
    assert said(folder, opening, max_tokens=4).finish_reason == "length"
    assert said(folder, opening, max_tokens=5).finish_reason == "eos"
