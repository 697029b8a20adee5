"""A model that answers only the newest request: an older one is cancelled and frees the model at once."""

import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from strop.serve.edit_prompt import EditState, SuggestionPrompt, TextEdit
from strop_verify.core.errors import StropError
from strop_verify.core.protocols import CacheHandle, Policy, Request
from strop_verify.core.rollout import Completion, SamplingParams

_BEAT = 0.02
"""Seconds of each call of `Policy.work`, between which cancelled requests are noticed."""
FILES = 4
"""Number of files whose newest prompt stays cached."""


@dataclass(frozen=True)
class Suggested:
    """A completion, its prompt and sampling parameters, and the resulting edit, None for silence."""

    prompt: Sequence[int]
    seed: int
    params: SamplingParams
    completion: Completion
    edit: TextEdit | None


def confidence(completion: Completion) -> float:
    """The geometric mean of the tokens' probabilities under the sampling distribution; 1 for no tokens."""
    logprobs = completion.logprobs
    return math.exp(min(0.0, math.fsum(logprobs) / len(logprobs))) if logprobs else 1.0


class EditModel:
    """A policy in its own thread. `suggest` may be called from any thread.

    least  confidence below which a suggestion becomes silence

    Each of the FILES most recently requested files has a cache handle: its next prompt usually begins like its last
    one, and the common prefix is not computed again.
    """

    def __init__(
        self, policy: Policy, params: SamplingParams, prompt: SuggestionPrompt, least: float = 0.0
    ) -> None:
        self.policy, self.params, self.prompt, self._least = policy, params, prompt, least
        self._asked: tuple[EditState, Request, Future[Suggested]] | None = None
        self._plays: OrderedDict[str, CacheHandle] = OrderedDict()
        """By path; the most recently requested file comes last."""
        self._wanted, self._closed = threading.Condition(), False
        self._thread = threading.Thread(target=self._run, daemon=True, name="edit model")
        self._thread.start()

    def suggest(self, state: EditState, params: SamplingParams | None = None) -> "Future[Suggested]":
        """An edit, or silence. Cancels an older request; cancelling the future frees the model.

        The future raises StropError if the policy fails.
        """
        with self._wanted:
            if self._asked:
                self._asked[2].cancel()
        prompt, seed = self.prompt.ids(state), secrets.randbits(62)
        ends = partial(self.prompt.ends, state)
        future: Future[Suggested] = Future()
        with self._wanted:
            if self._asked:
                self._asked[2].cancel()
            if self._closed:
                future.cancel()
            request = Request(prompt, seed, params or self.params, self._play_of(state.path), ends)
            self._asked = state, request, future
            self._wanted.notify()
        return future

    def close(self) -> None:
        """Cancels the current request, ends the thread and closes the policy."""
        with self._wanted:
            self._closed = True
            if self._asked:
                self._asked[2].cancel()
            self._wanted.notify()
        self._thread.join()
        getattr(self.policy, "close", lambda: None)()

    def _play_of(self, path: str) -> CacheHandle:
        play = self._plays.setdefault(path, CacheHandle())
        self._plays.move_to_end(path)
        if len(self._plays) > FILES:
            self._plays.popitem(last=False)
        return play

    def _run(self) -> None:
        while True:
            with self._wanted:
                self._wanted.wait_for(lambda: self._closed or self._asked)
                if self._closed:
                    return
                assert self._asked is not None
                asked = state, request, future = self._asked
            try:
                self._answer(state, request, future)
            except Exception as error:
                if future.set_running_or_notify_cancel():
                    future.set_exception(error if isinstance(error, StropError) else StropError(repr(error)))
            with self._wanted:
                if self._asked is asked:
                    self._asked = None

    def _answer(self, state: EditState, request: Request, future: "Future[Suggested]") -> None:
        answer = self.policy.submit(request)
        future.add_done_callback(lambda done: done.cancelled() and answer.cancel())
        while not answer.done():
            self.policy.work(_BEAT)
        if answer.cancelled():
            self.policy.work(0)  # lets the policy drop it
            return
        done = answer.result()
        edit = self.prompt.edit(state, done) if confidence(done) >= self._least else None
        made = Suggested(request.prompt, request.seed, request.params, done, edit)
        if future.set_running_or_notify_cancel():
            future.set_result(made)
