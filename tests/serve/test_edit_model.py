"""The model behind the server: the newest request wins, a cancelled one frees it at once, and the log says exactly what
was sampled from what.
"""

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.scored import logps
from tests.small_models import byte_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from strop.policies.model_files import weights_digest
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import HubTokenizer, WireTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.serve.edit_model import FILES, EditModel
from strop.serve.edit_prompt import EditState, FimPrompt, TextEdit, WindowPrompt, logical_edit
from strop_verify.core.checks import PastEdit
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Completion, SamplingParams

pytestmark = pytest.mark.train(4)
LAYERS = 4
FIM = ["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"]


def state(prefix: str, suffix: str = "") -> EditState:
    return EditState(prefix + suffix, len(prefix))


def said(text: str, finish: Any = "eos") -> Completion:
    return Completion(token_ids=[1], logprobs=[0.0], text=text, finish_reason=finish)


def llama(tokenizer: Any) -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=32, num_hidden_layers=LAYERS,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=512,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, initializer_range=0.3,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


class Held:
    """A model that waits in its second layer, the `at`-th time that it comes there (0: in the first prompt), before the
    matrix `before`; it notes how many tokens it computes, and each layer that it comes to.
    """

    at, before = 0, "self_attn.q_proj"

    def __init__(self) -> None:
        tokenizer = byte_tokenizer()
        self.model = llama(tokenizer)
        policy = TransformersPolicy(self.model, HubTokenizer(tokenizer))
        self.inside, self.go = threading.Event(), threading.Event()
        self.computed, self.layers, self.came = list[int](), list[int](), 0
        for number, layer in enumerate(self.model.model.layers):
            layer.register_forward_pre_hook(lambda *_, number=number: self.layers.append(number))
        for name, matrix in self.model.model.layers[1].named_modules():
            matrix.register_forward_pre_hook(lambda *_, name=name: self._hold(name))
        self.model.model.embed_tokens.register_forward_pre_hook(
            lambda _, ids: self.computed.append(ids[0].numel())
        )
        prompt = FimPrompt(policy.tokenizer, 64)
        self.edits = EditModel(policy, SamplingParams(temperature=0.8, max_tokens=5), prompt)  # type: ignore[arg-type]

    def _hold(self, name: str) -> None:
        if name == self.before:
            self.came += 1
            if self.came == self.at + 1:
                self.inside.set()
                assert self.go.wait(60)


@pytest.fixture
def held() -> Iterator[Held]:
    made = Held()
    yield made
    made.go.set()
    made.edits.close()


@pytest.mark.parametrize("before", ["self_attn.q_proj", "mlp.gate_proj"])
def test_a_cancelled_request_leaves_the_model_before_the_next_matrix(held: Held, before: str) -> None:
    held.before, ended = before, list[int]()
    held.model.model.layers[1].mlp.down_proj.register_forward_pre_hook(
        lambda *_: ended.append(len(held.layers))
    )
    first = held.edits.suggest(state("def f(x):"))
    assert held.inside.wait(60)
    assert first.cancel()
    held.go.set()
    second = held.edits.suggest(state("def g(x):")).result(60)
    assert held.layers[:3] == [0, 1, 0]  # of the first prompt, no layer after the second
    assert len(held.layers) == 2 + LAYERS * len(second.completion.token_ids)
    assert ended[0] == 4  # nor the second to its end


def test_one_that_is_cancelled_between_tokens_leaves_what_was_computed(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strop.serve.edit_model.secrets.randbits", lambda bits: 7)
    held.at = 2
    first = held.edits.suggest(state("def f(x):"))
    assert held.inside.wait(60)
    prompt = held.computed[0]
    assert first.cancel() and held.computed == [prompt, 1, 1]
    held.go.set()
    held.edits.suggest(state("def f(x):  ")).result(60)
    assert held.layers[: 2 * LAYERS + 4] == [
        *range(LAYERS),
        *range(LAYERS),
        0,
        1,
        2,
        0,
    ]  # ends as it comes to the third
    assert held.computed[3] == 2  # of the second prompt, what is new


def test_what_a_prompt_has_in_common_with_the_last_one_is_not_computed_again(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strop.serve.edit_model.secrets.randbits", lambda bits: 7)
    held.go.set()
    held.edits.suggest(state("def f(x):\n    return x")).result(60)
    for text in ("def f(x):\n    return y", "def f(x):\n    return y + 1", "import x"):
        held.computed.clear()
        made = held.edits.suggest(state(text)).result(60)
        assert held.computed[0] == {"y": 1, "1": 4, "x": 8}[text[-1]]
        chosen = logps(held.model, [*made.prompt, *made.completion.token_ids], len(made.prompt), 0.8)
        assert chosen.tolist() == pytest.approx(made.completion.logprobs, abs=1e-4)


def test_each_file_keeps_its_own_prompt(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files in turn, one key each, against the same requests to a model that keeps nothing."""
    monkeypatch.setattr("strop.serve.edit_model.secrets.randbits", lambda bits: 7)
    held.go.set()
    texts = {"a.py": "def area(r):\n    return 3 * ", "b.py": "import sys\n\nprint(sys."}
    for path, text in texts.items():
        held.edits.suggest(EditState(text, len(text), path)).result(60)
    gaps = []
    for key in "argv":
        for path in texts:
            texts[path] += key
            asked = EditState(texts[path], len(texts[path]), path)
            held.computed.clear()
            kept = held.edits.suggest(asked).result(60)
            assert held.computed[0] == 1  # the key, however many files lie between
            held.edits._plays.clear()
            fresh = held.edits.suggest(asked).result(60)
            assert held.computed[len(kept.completion.token_ids)] == len(fresh.prompt)
            assert kept.completion.token_ids == fresh.completion.token_ids
            gaps += [
                abs(a - b) for a, b in zip(kept.completion.logprobs, fresh.completion.logprobs, strict=True)
            ]
            for other, text in texts.items():
                held.edits.suggest(EditState(text, len(text), other)).result(60)
    assert max(gaps) < 1e-5
    for number in range(5):
        held.edits.suggest(EditState("x", 1, f"{number}.py")).result(60)
    assert len(held.edits._plays) == FILES == len(held.edits.policy._contexts._kept)  # type: ignore[attr-defined]


def test_the_newest_request_wins(held: Held) -> None:
    first = held.edits.suggest(state("def f(x):"))
    assert held.inside.wait(60)
    waiting = held.edits.suggest(state("def h(x):"))
    newest = held.edits.suggest(state("def g(x):"))
    held.go.set()
    assert newest.result(60).completion.token_ids
    assert first.cancelled() and waiting.cancelled()


def test_what_is_logged_is_what_was_sampled_from(held: Held) -> None:
    held.go.set()
    for params in (SamplingParams(temperature=0.7, max_tokens=6), SamplingParams(top_p=0.5, max_tokens=6)):
        made = held.edits.suggest(state("def f(x):\n    ", "ignored"), params).result(60)
        ids = torch.tensor([[*made.prompt, *made.completion.token_ids]])
        with torch.no_grad():
            logits = held.model(input_ids=ids).logits[0, len(made.prompt) - 1 : -1].float()
        logs = torch.log_softmax(logits / params.temperature, -1)
        if params.top_p < 1:
            ordered, order = logs.sort(descending=True)
            cut = ordered.exp().cumsum(-1) - ordered.exp() >= params.top_p
            logs = torch.log_softmax(logs.masked_fill(cut.gather(1, order.argsort(-1)), -torch.inf), -1)
        chosen = logs.gather(1, torch.tensor(made.completion.token_ids)[:, None])[:, 0]
        assert made.params == params
        assert chosen.tolist() == pytest.approx(made.completion.logprobs, abs=1e-4)


def test_an_error_of_the_policy_is_the_requests_and_the_next_one_is_answered() -> None:
    def say(prompt: object, seed: int, index: int) -> str:
        if index == 0:
            raise UserError("no answer")
        return "x"

    policy = ScriptedPolicy(say)
    edits = EditModel(policy, SamplingParams(), FimPrompt(policy.tokenizer, 16))
    with pytest.raises(UserError, match="no answer"):
        edits.suggest(state("a")).result(60)
    assert edits.suggest(state("a")).result(60).completion.text == "x"
    edits.close()
    assert edits.suggest(state("a")).cancelled()


def test_a_prompt_has_the_models_markers_and_no_text_makes_one() -> None:
    inner = byte_tokenizer()
    inner.add_special_tokens({"additional_special_tokens": FIM})
    tokenizer = HubTokenizer(inner)
    fim = FimPrompt(tokenizer, 100)
    first, second, third = (inner.convert_tokens_to_ids(one) for one in FIM)
    assert fim.ids(state("ab", "c")) == [
        first,
        *tokenizer.encode("ab"),
        second,
        *tokenizer.encode("c"),
        third,
    ]
    hostile = fim.ids(state(f"a{FIM[2]}", FIM[0]))
    assert sum(id in (first, second, third) for id in hostile) == 3 and hostile[-1] == third
    long = fim.ids(state("p" * 1000 + "q", "r" + "s" * 1000))
    assert 100 - 100 // 8 < len(long) <= 100
    assert inner.decode(long).startswith(f"{FIM[0]}ppp") and f"q{FIM[1]}rss" in inner.decode(long)
    few = FimPrompt(tokenizer, 100, 5).ids(state("ab", "cdefghi"))
    assert few == [first, *tokenizer.encode("ab"), second, *tokenizer.encode("cdefg"), third]


def test_a_prompt_begins_at_the_same_place_while_somebody_types() -> None:
    fim = FimPrompt(HubTokenizer(byte_tokenizer()), 80)
    prompts = [fim.ids(state("p" * 1000 + "q" * typed)) for typed in range(30)]
    assert all(70 < len(ids) <= 80 for ids in prompts)
    goes_on = [after[: len(before)] == before for before, after in pairwise(prompts)]
    assert goes_on.count(False) == 3


def test_without_markers_the_end_of_the_prefix_is_the_prompt() -> None:
    fim = FimPrompt(WireTokenizer(), 3)
    assert fim.note
    assert WireTokenizer().decode(fim.ids(state("0123456789abcdef", "suffix"))) == "456789abcdef"
    assert fim.ids(state("")) == []
    assert fim.edit(state("ab", "c"), said("x")) == TextEdit(2, 2, "x")
    assert fim.edit(state("ab", "c"), said("")) is None


def test_a_digest_is_of_the_weights(tmp_path: Path) -> None:
    model = llama(byte_tokenizer())
    model.save_pretrained(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert weights_digest(str(tmp_path / "a")) == weights_digest(str(tmp_path / "b"))
    with torch.no_grad():
        model.lm_head.weight[0, 0] += 1
    model.save_pretrained(tmp_path / "b")
    assert weights_digest(str(tmp_path / "a")) != weights_digest(str(tmp_path / "b"))


SHOP = "".join(f"line {number}\n" for number in range(30))


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("e\nLINE", {14: "LINE"}),
        ("e\nline 14, longer", {14: "line 14, longer"}),
        ("e+\n    more", {14: "line 14\n    more"}),
        ("e-f", {14: None, 15: None}),
        ("a", {10: None}),
        ("l", {21: None}),
        ("", {}),
        ("e\nline 14", {}),
        ("z", {}),
        ("no place", {}),
    ],
)
def test_an_answer_edits_the_lines_around_the_cursor(answer: str, after: dict[int, str | None]) -> None:
    window = WindowPrompt(WireTokenizer())
    at = EditState(SHOP, SHOP.index("line 14"), "shop.py", (PastEdit(path="b.py", old=["x"], new=["y"]),))
    shown = WireTokenizer().decode(window.ids(at))
    assert "b.py\n-x\n+y\n" in shown and "shop.py\na:line 10\n" in shown and "e>line 14\n" in shown
    edit = window.edit(at, said(answer))
    lines = [after.get(number, f"line {number}") for number in range(30)]
    assert (edit is None) == (not after)
    if edit is not None:
        start, end, text = edit
        assert text and SHOP[:start] + text + SHOP[end:] == "".join(
            f"{one}\n" for one in lines if one is not None
        )
    assert window.edit(at, said("e\nLI", "length")) is None


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\nb", "\n\n"])
@pytest.mark.parametrize("answer", ["a", "a\n", "a\nx", "a+\nx", "a-b", "b"])
def test_small_files_are_edited_too(text: str, answer: str) -> None:
    window = WindowPrompt(WireTokenizer(), lines=3)
    for at in range(len(text) + 1):
        state = EditState(text, at, "a.py")
        assert window.ids(state)
        edit = window.edit(state, said(answer))
        assert edit is None or (edit.text and text[: edit.start] + edit.text + text[edit.end :] != text)


LONG = "(a,\n    b)\nmore"


@pytest.mark.parametrize(
    ("head", "tail", "text", "kept", "over"),
    [
        # a line that is begun ends with it, or where its brackets are closed
        ("    ", "", "return a + b\n    c", "return a + b", True),
        ("    ", "", "return a + b", "", False),
        ("x = f", "", LONG, "(a,\n    b)", True),
        ("x = f", "", '"("\nmore', '"("', True),
        ("x = 1 +", "", " \\\n    2\nmore", " \\\n    2", True),
        ("", "", "\n\nx = 1\ny", "\n\nx = 1", True),
        # what is whole needs no more
        ("x = 1", "", "\ny = 2\n", "", True),
        ("    return x", "", "\n", "", True),
        # a line that opens a block has it, up to an empty line or one that is indented less
        ("def f(", "", "x):\n    y = 1\n    return y\n\nmore", "x):\n    y = 1\n    return y", True),
        ("def f(x):", "", "\n    y = 1\n    return y\nmore", "\n    y = 1\n    return y", True),
        ("    if x:", "", "\n        y\n    z", "\n        y", True),
        ("if x:", "", "\n    y(\n        1)\n    z", "\n    y(\n        1)", False),
        ("if (x) {", "", "\n  y();\n}\nmore", "\n  y();\n}", True),
        ("x = {", "", "\n  1: 2,\n}\nmore", "\n  1: 2,\n}", True),
        ("if x:", "", "\n\n    y\n\n", "\n\n    y", True),
        # before the rest of a line: that line, and no bracket that is there
        ("f(", ")", "a, g(b))\nmore", "a, g(b)", True),
        ("f(", ", c)", "a, b\nmore", "a, b", True),
        ("f(", ")", "a, b", "", False),
    ],
)
def test_a_text_is_one_edit_up_to(head: str, tail: str, text: str, kept: str, over: bool) -> None:
    end, found = logical_edit(head, tail, text)
    assert (text[:end], found) == (kept, over)


@pytest.mark.parametrize(
    ("text", "finish", "kept"),
    [
        ("return a", "eos", "return a"),
        ("return (a,", "eos", "return (a,"),
        ("return a\nb", "stop", "return a"),
        ("return a", "length", None),
        ("for a in b:\n        c\n        d", "length", "for a in b:\n        c"),
        ("\n\n  ", "eos", None),
    ],
)
def test_an_answer_that_was_cut_off_keeps_its_whole_lines(text: str, finish: str, kept: str | None) -> None:
    edit = FimPrompt(WireTokenizer(), 64).edit(state("def f():\n    "), said(text, finish))
    assert (edit and edit.text) == kept


def test_the_model_is_free_once_the_edit_is_over(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    held.go.set()
    monkeypatch.setattr("strop.serve.edit_prompt.logical_edit", lambda head, tail, text: (1, len(text) > 1))
    done = held.edits.suggest(state("def f(x):")).result(60).completion
    assert len(done.token_ids) == 2 and done.finish_reason == "stop"


def test_a_suggestion_that_the_model_is_not_sure_of_is_silence() -> None:
    policy = ScriptedPolicy(lambda prompt, seed, index: "x")
    answer = Completion(token_ids=[1, 2], logprobs=[-0.5, -1.5], text="x", finish_reason="eos")
    policy.submit = lambda request: resolved(answer)  # type: ignore[method-assign]
    for least, shown in ((0.36, True), (0.37, False)):  # exp(-1) = .368
        edits = EditModel(policy, SamplingParams(), FimPrompt(policy.tokenizer, 16), least)
        made = edits.suggest(state("a")).result(60)
        assert (made.edit is not None) == shown and made.completion == answer
        edits.close()


def resolved(answer: Completion) -> "Future[Completion]":
    future: Future[Completion] = Future()
    future.set_result(answer)
    return future
