"""One model that answers one request at a time, the newest: an older one is cancelled, and frees the model at once."""

import secrets
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from strop.core.errors import StropError
from strop.core.protocols import Policy, Request, Tokenizer
from strop.core.rollout import Completion, SamplingParams

_BEAT = 0.02
"""Seconds that a policy which waits for another process is left alone."""
_MARKERS = (
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # noqa: RUF001
    ("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),
    ("<PRE>", "<SUF>", "<MID>"),
)
"""What models that infill put before the prefix, before the suffix and before the middle."""
_CHARACTERS = 8
"""Characters a token, at most: longer texts are cut before they are encoded."""


@dataclass(frozen=True)
class Suggested:
    """A completion, and what it was sampled from."""

    prompt: Sequence[int]
    seed: int
    params: SamplingParams
    completion: Completion


class FimPrompt:
    """Fill-in-the-middle prompts for a tokenizer: with its own markers where it has some, else the prefix alone.

    Text that is given never becomes a marker.
    """

    def __init__(self, tokenizer: Tokenizer, context: int) -> None:
        """`context`: most tokens of a prompt; three quarters of them are for what stands before the cursor."""
        self._tokenizer, self._context = tokenizer, context
        inner = getattr(tokenizer, "inner", None)
        added = inner.added_tokens_decoder.items() if inner else ()
        ids = {str(token.content): id for id, token in added}
        self.markers = next(
            (tuple(ids[one] for one in three) for three in _MARKERS if all(one in ids for one in three)), None
        )

    def ids(self, prefix: str, suffix: str) -> list[int]:
        """Token ids; the far ends of the texts are cut."""
        most = self._context
        if self.markers is None:
            return self._tokenizer.encode_text(prefix[-_CHARACTERS * most :])[-most:]
        after = self._tokenizer.encode(suffix[: _CHARACTERS * most])[: most // 4] if suffix else []
        room = most - len(after) - len(self.markers)
        before = self._tokenizer.encode(prefix[-_CHARACTERS * most :])[-room:] if prefix else []
        first, second, third = self.markers
        return [first, *before, second, *after, third]


def parts_of(prompt: str) -> tuple[str, str]:
    """(prefix, suffix) of a prompt that a client wrote with the markers of some model; (prompt, "") of another."""
    for first, second, third in _MARKERS:
        if prompt.lstrip().startswith(first) and prompt.rstrip().endswith(third) and second in prompt:
            prefix, _, suffix = prompt.strip().removeprefix(first).removesuffix(third).partition(second)
            if first == "<PRE>":  # written with a space around
                prefix, suffix = prefix.removeprefix(" "), suffix.removesuffix(" ")
                prefix = prefix.removesuffix(" ")
            return prefix, suffix
    if prompt.startswith("[SUFFIX]") and "[PREFIX]" in prompt:
        suffix, _, prefix = prompt.removeprefix("[SUFFIX]").partition("[PREFIX]")
        return prefix, suffix
    return prompt, ""


class EditModel:
    """A policy in a thread of its own. `suggest` may be called from any thread."""

    def __init__(self, policy: Policy, params: SamplingParams, *, context: int) -> None:
        self.policy, self.params = policy, params
        self._fim = FimPrompt(policy.tokenizer, context)
        self._asked: tuple[Request, Future[Suggested]] | None = None
        self._wanted, self._closed = threading.Condition(), False
        self._thread = threading.Thread(target=self._run, daemon=True, name="edit model")
        self._thread.start()

    @property
    def infills(self) -> bool:
        """Whether the model sees what stands after the cursor."""
        return self._fim.markers is not None

    def suggest(self, prefix: str, suffix: str, params: SamplingParams | None = None) -> "Future[Suggested]":
        """What goes between the two. An older request is cancelled; cancelling the future frees the model.

        The future raises StropError where the policy does.
        """
        request = Request(self._fim.ids(prefix, suffix), secrets.randbits(62), params or self.params)
        future: Future[Suggested] = Future()
        with self._wanted:
            if self._asked:
                self._asked[1].cancel()
            if self._closed:
                future.cancel()
            self._asked = request, future
            self._wanted.notify()
        return future

    def close(self) -> None:
        """Gives up what is asked."""
        with self._wanted:
            self._closed = True
            if self._asked:
                self._asked[1].cancel()
            self._wanted.notify()
        self._thread.join()
        getattr(self.policy, "close", lambda: None)()

    def _run(self) -> None:
        while True:
            with self._wanted:
                self._wanted.wait_for(lambda: self._closed or self._asked)
                if self._closed:
                    return
                assert self._asked is not None
                asked = request, future = self._asked
            try:
                self._answer(request, future)
            except Exception as error:
                if future.set_running_or_notify_cancel():
                    future.set_exception(error if isinstance(error, StropError) else StropError(repr(error)))
            with self._wanted:
                if self._asked is asked:
                    self._asked = None

    def _answer(self, request: Request, future: "Future[Suggested]") -> None:
        answer = self.policy.submit(request)
        future.add_done_callback(lambda done: done.cancelled() and answer.cancel())
        while not answer.done():
            self.policy.work(_BEAT)
        if answer.cancelled():
            self.policy.work(0)  # takes it out
            return
        made = Suggested(request.prompt, request.seed, request.params, answer.result())
        if future.set_running_or_notify_cancel():
            future.set_result(made)
