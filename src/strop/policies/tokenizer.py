"""Tokenizers for policies: they know which tokens end an answer, and never encode text from data as control tokens.

A chat template writes control tokens (`<|im_start|>`) and contents into one text. Only those that the template wrote
become control ids; the same characters in a task, a file or a program's output are encoded as plain text. All other
text is encoded exactly as by the model's tokenizer.

Sampled text keeps its tags: `<think>`, `<tool_call>` or `<|channel|>` remain as text even if they are special tokens.
Only what separates turns is dropped: BOS, EOS, padding, end tokens and the template's own markers.

Conversations are adapted to the template: a system message is put before the user's next message if the template
refuses or ignores that role, and consecutive messages of one role are joined if roles must alternate.
"""

import json
import re
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any

from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_PRIVATE = range(0xE000, 0xF8FF)
"""Code points of Unicode's private use area."""

_MARK = "9f86d081884c7d65"
_ASKED, _SAID = {"role": "user", "content": "x"}, {"role": "assistant", "content": _MARK}
"""A conversation that shows what a chat template writes after the mark."""
_TAG = re.compile("think|thought|reason|channel", re.IGNORECASE)
"""Control tokens around a thought. Some templates write one at the start of every turn, but it does not mark a turn."""
BEGIN, END = 0, 1
"""Token ids around a conversation; every other id is 256 or above."""
BYTES_PER_TOKEN = 4


class TemplateRefusal(UserError, ValueError):
    """The chat template refuses a conversation."""


class HubTokenizer:
    """A transformers tokenizer as a `core.protocols.Tokenizer`.

    control_ids  ids that structure a conversation: special tokens, and added ones that are not white space
    text_end     ids that end a text: the tokenizer's EOS; empty without one
    turn_end     ids that end the assistant's turn: what the chat template writes up to its end token, else `text_end`
    eos_ids      ids that end sampling: those of the two above, and the model's own
    """

    def __init__(self, inner: "PreTrainedTokenizerBase", ends: Iterable[int] = ()) -> None:
        """`ends` are the model's own end tokens, see `loading.load_end_ids`."""
        self.inner, self._pieces = inner, dict[int, str]()
        self.pad_id = int(inner.pad_token_id or 0)
        added = inner.added_tokens_decoder
        self._control = {
            str(token.content): token
            for token in added.values()
            if token.special or str(token.content).strip()
        }
        self._id_of = {str(token.content): number for number, token in added.items()}
        self.control_ids = frozenset(self._id_of[text] for text in self._control)
        longest_first = sorted(self._control, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._closing = re.compile(rf"\s*({self._pattern.pattern})")
        self._begin = list(takewhile(self.control_ids.__contains__, inner.encode("x")))
        first = "".join(map(str, inner.convert_ids_to_tokens(self._bare("x"))))[:1]
        self._anchor = self._bare("a") if first in ("\u2581", "\u0120") else []
        """Prepended to a text that continues another, if the tokenizer adds a space to the start of a text."""
        known = [*([] if inner.eos_token_id is None else [int(inner.eos_token_id)]), *ends]
        self.text_end, self.eos_ids = known[:1], frozenset(known)
        self.turn_end, self._opening = self.text_end, list[int]()
        with suppress(ValueError):  # reported when a conversation is encoded
            if inner.chat_template:
                self.turn_end = self._turn_end() or self.text_end
                opening = self._rendered([_marked("user")]).partition(_MARK)[2]
                self._opening = self._markup(opening, "", None)[-3:]
        self.eos_ids |= {*self.turn_end[-1:]}
        named = {*self.eos_ids, inner.pad_token_id, inner.bos_token_id, *self._turn_markers()}
        self._silent = self.control_ids & named
        """Control ids that `decode` drops; an ordinary token is text even if it ends an answer."""

    def encode(self, text: str, *, opens: bool = False) -> list[int]:
        """Token ids of a text that follows another, none of them a control id; `decode` returns the same text.

        opens  whether it begins the assistant's turn, where some tokenizers add a space that is not part of it
        """
        before = ("a" if text[:1].isspace() else "\n") if self._anchor and not opens else ""
        head, whole = self._plain(before), self._plain(before + text)
        return whole[len(head) :] if whole[: len(head)] == head else self._plain(text)

    def encode_text(self, text: str) -> list[int]:
        """Token ids of a text at the start of a sequence, with the BOS if the tokenizer writes one."""
        return [*self._begin, *self._plain(text)]

    def mark(self, names: Sequence[str]) -> list[int]:
        """The first of these names that is a control token, else the first name as plain text."""
        return next(([self._id_of[name]] for name in names if name in self._control), self.encode(names[0]))

    def decode(self, ids: Sequence[int], *, after: Sequence[int] = ()) -> str:
        """The text of token ids that follow the prompt `after`.

        BOS, EOS, padding, end tokens and the chat template's markers around turns are dropped. Every other special
        token is text: the tags of thoughts, channels and calls, and the unknown token.
        """
        opens = self._opening and list(after[-len(self._opening) :]) == self._opening
        anchor = [] if opens else self._anchor
        said = ids if self._silent.isdisjoint(ids) else [one for one in ids if one not in self._silent]
        whole = [*anchor, *said]
        text = self.inner.decode(whole, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return str(text).partition("a")[2] if anchor else str(text)

    def piece(self, token: int) -> str:
        """The characters that a token may add to a text, alone or after another; U+FFFD if it may be part of one."""
        known = self._pieces.get(token)
        if known is None:
            own = [] if token in self._silent else [token]
            alone, after = (
                str(self.inner.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))
                for ids in (own, [*self._bare("a"), *own])
            )
            known = self._pieces[token] = alone + after.partition("a")[2]
        return known

    def vocabulary(self) -> list[str]:
        """The text of each token id, special tokens by name; partial characters appear as U+FFFD."""
        ids = range(len(self.inner))
        pieces = self.inner.convert_ids_to_tokens(list(ids))
        texts = self.inner.batch_decode([[i] for i in ids], clean_up_tokenization_spaces=False)
        # SentencePiece drops a text's leading space.
        return [
            f" {text}" if str(piece).startswith("\u2581") and not text.startswith(" ") else text
            for piece, text in zip(pieces, texts, strict=True)
        ]

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to where the assistant begins to speak; contents have no control ids.

        Raises UserError without a chat template, TemplateRefusal if it refuses the conversation in every form.
        """
        if not self.inner.chat_template:
            fault = "this model's tokenizer has no chat template"
            raise UserError(f"tasks.style=chat, but {fault}; use tasks.style=continue")
        if not any(self._pattern.search(message.content) for message in messages):
            return self._bare(self._rendered([message.model_dump() for message in messages]))
        guard, guarded = self._guarded(messages)
        return self._markup(self._rendered(guarded), guard, "")

    def keeps(self, messages: Sequence[Message], more: Sequence[Message]) -> bool:
        """Whether the chat template keeps a conversation's beginning (the prompt, then the answer, except for white
        space around the answer) when `more` follows. Raises TemplateRefusal.
        """
        *before, said = (message.model_dump() for message in messages)
        head = self._rendered(before)
        whole = self._rendered([*before, said, *(message.model_dump() for message in more)])
        return whole.startswith(head) and whole[len(head) :].lstrip().startswith(said["content"].strip())

    def encode_turn(self, messages: Sequence[Message], *, ended: int | None) -> list[int]:
        """Token ids that follow what the assistant sampled: the end of its turn, these messages, the start of its next.

        ended  the end token that was sampled, if any; the template's is added unless it is the same
        The markup is what the chat template writes after an assistant message. Raises TemplateRefusal.
        """
        guard, guarded = self._guarded(messages)
        text = self._rendered([_ASKED, _SAID, *guarded]).partition(_MARK)[2]
        closing = self._closing.match(text)
        if closing and self._id_of[closing[1]] == ended:
            return self._markup(text[closing.end() :], guard, closing[1])
        return self._markup(text, guard, None)

    def _turn_end(self) -> list[int]:
        for more in ([], [_ASKED]):
            text = self._rendered([_ASKED, _SAID, *more], go_on=False).partition(_MARK)[2]
            closing = self._closing.match(text)
            # Some templates end a turn with the token that begins the user's: an end token if the model says so.
            if closing and (not more or self._id_of[closing[1]] in self.eos_ids):
                return self._markup(closing[0], "", None)
        return []

    def _turn_markers(self) -> set[int]:
        """Ids that the chat template writes around turns, without those inside the assistant's turn."""
        first, turns = [_marked("system"), _marked("user")], [_marked("user"), _SAID, _marked("user")]
        try:
            parts = self._rendered(first).split(_MARK)[:-1] if self.inner.chat_template else []
            around = [one for part in parts for one in self._leading(part)]
            head, *others = self._rendered(turns).split(_MARK) if parts else [""]
        except ValueError:
            return set()
        around += self._leading(head)
        if len(others) == len(turns):
            said, asked, goes_on = map(self._pattern.findall, others)
            pairs = zip(said, goes_on, strict=False)
            begun = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
            inside = {*said[len(begun) :], *goes_on[len(begun) :]}
            around = [one for one in (*around, *begun, *asked) if one not in inside]
        return {self._id_of[one] for one in around if not _TAG.search(one)}

    def _leading(self, text: str) -> list[str]:
        """The control tokens with which a text begins."""
        run = re.match(rf"(?:\s*(?:{self._pattern.pattern}))+", text)
        return self._pattern.findall(run[0]) if run else []

    def _rendered(self, turns: list[dict[str, str]], *, go_on: bool = True) -> str:
        """The text of a conversation in the first form that the chat template accepts. Raises TemplateRefusal."""
        first = turns if self._takes_system else _without_system(turns)
        refused: Exception | None = None
        for form in (first, _joined(first), _joined(_without_system(turns))):
            try:
                return self._by_template(form, go_on)
            except _refusals() as error:
                refused = refused or error
        words = " ".join(str(refused).split()) or type(refused).__name__
        name = self.inner.name_or_path or "this model"
        raise TemplateRefusal(
            f"the chat template of {name} refuses this conversation: {words}; set model.chat_template=FILE, or use "
            "tasks.style=continue"
        ) from refused

    @cached_property
    def _takes_system(self) -> bool:
        """Whether the chat template writes system messages; some refuse them, others ignore them."""
        try:
            return _MARK in self._by_template([_marked("system"), _ASKED], True)
        except _refusals():
            return False

    def _by_template(self, turns: list[dict[str, str]], go_on: bool) -> str:
        return str(self.inner.apply_chat_template(turns, tokenize=False, add_generation_prompt=go_on))

    def _bare(self, text: str) -> list[int]:
        return list(self.inner.encode(text, add_special_tokens=False))

    def _guarded(self, messages: Sequence[Message]) -> tuple[str, list[dict[str, str]]]:
        """(a character that no content contains, the messages with it inserted into the text of control tokens)."""
        used = {character for message in messages for character in message.content}
        guard = next(character for character in map(chr, _PRIVATE) if character not in used)
        inside = re.compile(f"(?={self._pattern.pattern})(.)", re.DOTALL)  # overlapping ones too
        texts = [inside.sub(rf"\1{guard}", message.content) for message in messages]
        return guard, [{"role": m.role, "content": text} for m, text in zip(messages, texts, strict=True)]

    def _markup(self, text: str, guard: str, head: str | None) -> list[int]:
        """Ids of a rendered conversation: control ids for what the template wrote, plain ones for the rest.

        head  the control token before it; "" if nothing is before it, None for other text
        """
        ids: list[int] = []
        end = 0
        for found in [*self._pattern.finditer(text), None]:
            between = (text[end : found.start()] if found else text[end:]).replace(guard, "")
            if found and self._control[found[0]].lstrip:
                between = between.rstrip()
            if head and self._control[head].rstrip:
                between = between.lstrip()
            # Some tokenizers add a space after a control token too.
            opens = head is not None and self._bare(head + "x")[bool(head) :] == self._bare("x")
            ids += self.encode(between, opens=opens) if between else []
            if found:
                ids.append(self._id_of[found[0]])
                end, head = found.end(), found[0]
        return ids

    def _plain(self, text: str) -> list[int]:
        """Token ids of a text, without control ids."""
        if self.control_ids.isdisjoint(ids := self._bare(text)):
            return ids
        if self.control_ids.isdisjoint(
            ids := self._without_control.encode(text, add_special_tokens=False).ids
        ):
            return list(ids)
        # The vocabulary itself has a piece with that text; encoding single characters cannot produce it.
        return [number for character in text for number in self._bare(character)]

    @cached_property
    def _without_control(self) -> Any:
        """The same tokenizer without control tokens. Raises UserError for one written in Python."""
        backend = getattr(self.inner, "backend_tokenizer", None)
        if backend is None:
            raise UserError(
                f"a task has the text of a control token, which {type(self.inner).__name__} cannot encode as plain "
                "text; use a model with a fast tokenizer"
            )
        data = json.loads(backend.to_str())
        never = secrets.token_hex(16)  # renamed, not removed, which would shift other ids
        for number, token in enumerate(data["added_tokens"]):
            if token["content"] in self._control:
                token["content"] = f"{never}.{number}"
        return type(backend).from_str(json.dumps(data))


def _marked(role: str) -> dict[str, str]:
    return {"role": role, "content": _MARK}


def _refusals() -> tuple[type[Exception], ...]:
    """What a chat template raises, on purpose or by an expression that does not fit the conversation."""
    from jinja2 import TemplateError

    return TemplateError, ValueError, TypeError, LookupError, AttributeError


def _without_system(turns: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The conversation with each system message put before the user's next message."""
    found: list[dict[str, str]] = []
    told: list[str] = []
    for turn in turns:
        if turn["role"] == "system":
            told += [turn["content"]] if turn["content"].strip() else []
        elif told and turn["role"] == "user":
            found.append({**turn, "content": "\n\n".join([*told, turn["content"]])})
            told = []
        else:
            found.append(turn)
    return [*found, {"role": "user", "content": "\n\n".join(told)}] if told else found


def _joined(turns: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The conversation with consecutive messages of one role joined."""
    return [
        {"role": role, "content": "\n\n".join(turn["content"] for turn in alike)}
        for role, alike in groupby(turns, lambda turn: turn["role"])
    ]


class WireTokenizer:
    """A tokenizer without a vocabulary, for policies without a local model: a reversible encoding of texts and
    conversations.

    A token is up to four bytes of UTF-8, about as much code as a token of a code model, so limits in tokens keep their
    meaning. A conversation is its messages as JSON between two markers. Token lists can be concatenated: text outside
    the markers is what the assistant said, as in a multi-turn rollout.
    """

    def encode(self, text: str) -> list[int]:
        """Token ids of a text; lone surrogates become "?"."""
        data = text.encode("utf-8", errors="replace")
        return [
            int.from_bytes(b"\x01" + data[at : at + BYTES_PER_TOKEN], "big")
            for at in range(0, len(data), BYTES_PER_TOKEN)
        ]

    encode_text = encode

    def mark(self, names: Sequence[str]) -> list[int]:
        """The first name as text, since there are no control tokens."""
        return self.encode(names[0])

    def decode(self, ids: Sequence[int], *, after: Sequence[int] = ()) -> str:
        """The text of token ids; for a conversation the contents of its messages, one per line."""
        messages = self.messages(ids)
        return self._text(ids) if messages is None else "\n".join(m.content for m in messages)

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to the point where the assistant begins to speak."""
        text = json.dumps([m.model_dump() for m in messages], ensure_ascii=False, separators=(",", ":"))
        return [BEGIN, *self.encode(text), END]

    def keeps(self, messages: Sequence[Message], more: Sequence[Message]) -> bool:
        """Always True, since nothing is dropped."""
        return True

    def encode_turn(self, messages: Sequence[Message], *, ended: int | None) -> list[int]:
        """The messages as a further conversation; text between two conversations is what the assistant said."""
        return self.encode_chat(messages)

    def messages(self, ids: Sequence[int]) -> list[Message] | None:
        """The conversation in token ids, or None for plain text. Text between and after conversations becomes an
        assistant message. Raises ValueError for ids that `encode` and `encode_chat` did not make.
        """
        if BEGIN not in ids:
            return None
        found: list[Message] = []
        rest = list(ids)
        while rest:
            start = rest.index(BEGIN) if BEGIN in rest else len(rest)
            if start:
                found.append(Message(role="assistant", content=self._text(rest[:start])))
            if start < len(rest):
                end = rest.index(END, start)
                found += [Message.model_validate(m) for m in json.loads(self._text(rest[start + 1 : end]))]
                start = end + 1
            rest = rest[start:]
        return found

    @staticmethod
    def _text(ids: Sequence[int]) -> str:
        if any(i < 256 for i in ids):
            raise ValueError("these token ids are not WireTokenizer's")
        data = b"".join(i.to_bytes((i.bit_length() + 7) // 8, "big")[1:] for i in ids)
        return data.decode("utf-8", errors="replace")
