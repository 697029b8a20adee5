import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strop.policies.open import answers
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import WireTokenizer
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Policy
from strop_verify.core.rollout import Message, SamplingParams

WIRE = WireTokenizer()
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT)
def test_text_survives(text):
    ids = WIRE.encode(text)
    assert WIRE.decode(ids) == text
    assert WIRE.messages(ids) is None
    assert len(ids) == -(-len(text.encode()) // 4)


MESSAGE = st.builds(Message, role=st.sampled_from(["system", "user", "assistant"]), content=TEXT)


@given(st.lists(MESSAGE, min_size=1), TEXT)
def test_a_conversation_survives_and_grows_by_tokens(messages, said):
    ids = WIRE.encode_chat(messages)
    assert WIRE.messages(ids) == messages
    assert WIRE.decode(ids) == "\n".join(m.content for m in messages)
    again = [Message(role="user", content="and now?")]
    middle = [Message(role="assistant", content=said)] if said else []
    assert WIRE.messages([*ids, *WIRE.encode(said), *WIRE.encode_chat(again)]) == messages + middle + again


def test_foreign_ids_are_refused():
    with pytest.raises(ValueError, match="not WireTokenizer's"):
        WIRE.decode([17, 18])


def play(policy, prompts, **options):
    ids = [policy.tokenizer.encode(p) for p in prompts]
    return [c for _, c in answers(policy, ids, [0] * len(ids), SamplingParams(**options))]


def test_answers_are_given_in_turn():
    policy = ScriptedPolicy({"a": ["1", "2"], "b": ["3"]})
    assert isinstance(policy, Policy)
    assert [c.text for c in play(policy, ["a", "a", "b", "a", "b"])] == ["1", "2", "3", "1", "3"]
    assert [c.text for c in play(policy, ["a"])] == ["2"]


def test_a_later_turn_takes_its_tasks_next_answer():
    policy = ScriptedPolicy({"ask.": ["first", "second"]})
    start = policy.tokenizer.encode("ask.")
    ((_, one),) = answers(policy, [start], [0], SamplingParams())
    ((_, two),) = answers(
        policy, [[*start, *one.token_ids, *policy.tokenizer.encode("no")]], [0], SamplingParams()
    )
    assert (one.text, two.text) == ("first", "second")


def test_a_callable_sees_prompt_seed_and_turn():
    policy = ScriptedPolicy(lambda ids, seed, index: f"{WIRE.decode(ids)} {seed} {index}")
    ids = WIRE.encode("p")
    assert [c.text for _, c in answers(policy, [ids, ids], [4, 9], SamplingParams())] == ["p 4 0", "p 9 1"]


def test_limits_and_stop_strings():
    policy = ScriptedPolicy({"p": ["return x\n\ndef more(): pass"]})
    (whole,) = play(policy, ["p"])
    assert whole.finish_reason == "eos" and set(whole.logprobs) == {0.0}
    (stopped,) = play(policy, ["p"], stop=("\n\n", "\ndef"))
    assert (stopped.text, stopped.finish_reason) == ("return x", "stop")
    assert WIRE.decode(stopped.token_ids[:-1]).find("\n\n") < 0 <= WIRE.decode(stopped.token_ids).find("\n\n")
    (short,) = play(policy, ["p"], max_tokens=2, stop=("\n\n",))
    assert (short.text, short.finish_reason, len(short.token_ids)) == ("return x", "length", 2)


def test_an_unknown_prompt_is_named():
    with pytest.raises(UserError, match="no answer to the prompt that begins with 'what'"):
        play(ScriptedPolicy({"a": ["1"]}), ["what"])


def test_answers_from_a_file(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [
        {"task_id": "t1", "answer": "x"},
        {"task_id": "t1", "answer": "y"},
        {"task_id": "other", "answer": "z"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    prompt = WIRE.encode_chat([Message(role="user", content="do")])
    policy = ScriptedPolicy.from_answers(path, {"t1": prompt, "t2": [999]})
    assert [c.text for _, c in answers(policy, [prompt] * 3, [0] * 3, SamplingParams())] == ["x", "y", "x"]
    path.write_text(json.dumps({"task_id": "t1", "answer": "```py\nx\n```"}))
    policy = ScriptedPolicy.from_answers(path, {"t1": prompt})
    ((_, whole),) = answers(policy, [prompt], [0], SamplingParams(stop=("\nx",)))
    assert (whole.text, whole.finish_reason) == ("```py\nx\n```", "eos"), "what `strop verify` reads too"


@pytest.mark.parametrize(
    ("text", "prompts", "expected"),
    [
        ("{", {"a": [256]}, r"answers.jsonl:1: bad JSON"),
        ('\n{"task_id": 3, "answer": "x"}', {"a": [256]}, r"answers.jsonl:2: not an answer line"),
        ("[1]", {"a": [256]}, r"answers.jsonl:1: bad line: .* JSON object"),
        ('{"task_id": "b", "answer": "x"}', {"a": [256]}, r"none of its task_ids is among the 1 tasks"),
        (
            '{"task_id": "a", "answer": "x"}\n{"task_id": "b", "answer": "y"}',
            {"a": [256], "b": [256]},
            r"tasks 'a' and 'b' have the same prompt",
        ),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, text, prompts, expected):
    path = tmp_path / "answers.jsonl"
    path.write_text(text)
    with pytest.raises(UserError, match=expected) as caught:
        ScriptedPolicy.from_answers(path, prompts)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        ScriptedPolicy.from_answers(tmp_path / "none.jsonl", {})
