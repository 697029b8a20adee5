"""A policy behind OpenAI's API: requests come from the server's thread, the policy runs in the thread of `run`."""

import queue
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate

from strop.policies.chat_options import Api, RefusedChat
from strop.policies.chat_wire import ChatChoice, ChatReply, ChatRequest, Hear, choice_of
from strop.policies.grammars import answer_grammar
from strop.policies.model_calls import cut_off
from strop_verify.core.errors import StropError
from strop_verify.core.ids import derive_seed
from strop_verify.core.protocols import Policy, Request, Tokenizer
from strop_verify.core.rollout import Completion, SamplingParams

MOST_WAITING = 1024
"""Maximum requests in progress, and maximum waiting ones."""
MOST_CHOICES = 128
"""Maximum choices of one request."""
_PROMPTS: Mapping[Api, str] = {"chat": "messages", "text": "prompt", "responses": "input"}
_SCHEMAS: Mapping[Api, str] = {"chat": "response_format", "text": "response_format", "responses": "text"}
_LENGTHS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""The names of a request's fields for the number of tokens."""
_CUT = "\ufffd"
"""The decoder's replacement for an incomplete character."""
_IDLE_SECONDS, _STEP_SECONDS = 0.2, 0.02


class TokenPieces:
    """The texts of an answer's tokens, which concatenate to the answer's text.

    A token that ends inside a character has the text ""; the token that completes the character has all of it.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int]) -> None:
        self._tokenizer, self._prompt = tokenizer, prompt
        self.texts: list[str] = []
        self._start = self._read = 0

    def take(self, ids: Sequence[int], *, last: bool = False) -> None:
        """Reads the new tokens from all of the answer's tokens so far; `last` keeps an incomplete character at the
        end."""
        for end in range(len(self.texts) + 1, len(ids) + 1):
            known, whole = self._text(ids[self._start : self._read]), self._text(ids[self._start : end])
            if whole.endswith(_CUT) and not (last and end == len(ids)):
                self.texts.append("")
                continue
            self.texts.append(whole[len(known) :])
            self._start, self._read = self._read, end

    def _text(self, ids: Sequence[int]) -> str:
        if not ids:
            return ""
        return self._tokenizer.decode(ids, after=() if self._start else self._prompt)


@dataclass(eq=False)
class _Asked:
    """A request in progress.

    prompt   token ids, including the prefilled start of the answer
    pieces   the tokens' texts of each choice, if requested
    answers  one completion per choice
    """

    request: ChatRequest
    hear: Hear
    reply: "Future[ChatReply]"
    prompt: Sequence[int] = ()
    pieces: list[TokenPieces] = field(default_factory=list)
    answers: list[Future[Completion]] = field(default_factory=list)

    def end(self, how: ChatReply | RefusedChat) -> None:
        """Cancels the samples and sets the reply."""
        for answer in self.answers:
            answer.cancel()
        with suppress(InvalidStateError):  # the client has gone
            if isinstance(how, RefusedChat):
                self.reply.set_exception(how)
            else:
                self.reply.set_result(how)


class PolicyService:
    """Answers independent requests.

    params  default sampling parameters; `max_tokens` is also the limit for a request
    seed    from which the seeds of requests without one are derived
    """

    def __init__(self, policy: Policy, params: SamplingParams, seed: int) -> None:
        self._policy, self._params, self._seed, self._number = policy, params, seed, 0
        self._context: int | None = getattr(policy, "context", None)
        self._asked: queue.Queue[_Asked] = queue.Queue(MOST_WAITING)
        self._answering: list[_Asked] = []

    def ask(self, request: ChatRequest, hear: Hear) -> "Future[ChatReply]":
        """See `policies.chat_server.Ask`. Cancelling the reply stops its sampling."""
        asked = _Asked(request, hear, Future())
        try:
            self._asked.put_nowait(asked)
        except queue.Full:
            raise RefusedChat(
                f"{MOST_WAITING} requests are already waiting", 429, "rate_limit_exceeded"
            ) from None
        return asked.reply

    def run(self) -> None:
        """Answers requests until an exception ends the loop."""
        while True:
            self._take(_IDLE_SECONDS)
            while self._answering:
                self._policy.work(_STEP_SECONDS)
                self._deliver()
                self._take(0.0)

    def _take(self, seconds: float) -> None:
        """Starts the queued requests; waits up to `seconds` for the first one."""
        try:
            while len(self._answering) < MOST_WAITING:
                asked = self._asked.get(timeout=seconds) if seconds else self._asked.get_nowait()
                seconds = 0.0
                try:
                    self._begin(asked)
                except RefusedChat as error:
                    asked.end(error)
        except queue.Empty:
            pass

    def _begin(self, asked: _Asked) -> None:
        prompt, tokenizer = asked.request.prompt, self._policy.tokenizer
        schema = asked.request.schema
        try:
            ids = tokenizer.encode_text(prompt) if isinstance(prompt, str) else tokenizer.encode_chat(prompt)
            asked.prompt = [*ids, *asked.request.tools.begun_ids(tokenizer)]
            params, seed = self._sampling(asked.request, len(asked.prompt))
            grammar = self._call_grammar(asked.request) if schema is None else answer_grammar(schema)
            for number in range(asked.request.choices):
                asked.pieces.append(TokenPieces(tokenizer, asked.prompt))
                heard = self._hearing(asked, number, params) if asked.request.stream else None
                mine = derive_seed(seed, "choice", number)
                wanted = Request(asked.prompt, mine, params, grammar=grammar, heard=heard)
                asked.answers.append(self._policy.submit(wanted))
        except (ValueError, StropError) as error:
            if isinstance(error, RefusedChat):
                raise
            param = _SCHEMAS[asked.request.api] if schema is not None else _PROMPTS[asked.request.api]
            raise RefusedChat(" ".join(str(error).split()), param=param) from None
        self._answering.append(asked)

    def _call_grammar(self, request: ChatRequest) -> str:
        """The grammar of a forced call if the policy supports it, else "", and the answer is checked at the end."""
        can: Callable[[str], bool] | None = getattr(self._policy, "can_follow", None)
        rest = request.tools.rest
        return rest if rest and can and can(rest) else ""

    def _sampling(self, request: ChatRequest, prompt: int) -> tuple[SamplingParams, int]:
        """Sampling parameters and seed. Raises RefusedChat if the limit or the context has no room for the request."""
        given, own, most = request.sampling, self._params, self._params.max_tokens
        wanted = given.get("max_tokens", most)
        if wanted > most:
            name = next(one for one in _LENGTHS if request.body.get(one))
            fault = f"{name}: {wanted} is more than {most}, this server's limit for an answer; lower it"
            raise RefusedChat(fault, param=name)
        room = wanted if self._context is None else self._context - prompt
        if room < (wanted if "max_tokens" in given else 1):
            asked = f" and {wanted} are requested" if "max_tokens" in given else ""
            full = f"This model's maximum context length is {self._context} tokens; the prompt has {prompt}{asked}"
            raise RefusedChat(full, 400, "context_length_exceeded", param=_PROMPTS[request.api])
        names = ("temperature", "top_p", "stop")
        update = {name: given[name] for name in names if name in given} | {"max_tokens": min(wanted, room)}
        self._number += 1
        seed = given["seed"] if "seed" in given else derive_seed(self._seed, "request", self._number)
        return own.model_copy(update=update), seed

    def _hearing(
        self, asked: _Asked, number: int, params: SamplingParams
    ) -> Callable[[str, Sequence[int], Sequence[float]], None]:
        """Sends the part of an answer that is final: complete characters, without a possible beginning of a stop
        string."""
        before = "".join(asked.request.tools.begun)

        def heard(text: str, ids: Sequence[int], logprobs: Sequence[float]) -> None:
            text = text.rstrip(_CUT)
            text = text[: len(text) - max((cut_off(text, stop) for stop in params.stop), default=0)]
            asked.hear(
                number, ChatChoice(before + text, pieces=self._pieces(asked, number, text, ids, logprobs))
            )

        return heard

    def _pieces(
        self, asked: _Asked, number: int, text: str, ids: Sequence[int], logprobs: Sequence[float], *,
        last: bool = False,
    ) -> list[tuple[str, float]]:  # fmt: skip
        """(text, log-probability) of the tokens that begin in a text, if requested."""
        if not asked.request.logprobs:
            return []
        pieces = asked.pieces[number]
        pieces.take(ids, last=last)
        begins = [*accumulate(map(len, pieces.texts), initial=0)][:-1]
        count = bisect_left(begins, len(text))
        return list(zip(pieces.texts[:count], logprobs[:count], strict=True))

    def _deliver(self) -> None:
        """Sends the finished replies and drops requests whose clients have gone."""
        left = []
        for asked in self._answering:
            if asked.reply.cancelled():
                asked.end(RefusedChat("the client has gone"))
                self._policy.work(0.0)  # lets the policy drop its rows
            elif (error := next(filter(None, map(_error, asked.answers)), None)) is not None:
                asked.end(RefusedChat(str(error), 500, "policy_error"))
            elif all(answer.done() for answer in asked.answers):
                asked.end(self._reply(asked))
            else:
                left.append(asked)
        self._answering = left

    def _reply(self, asked: _Asked) -> ChatReply | RefusedChat:
        choices = []
        for number, answer in enumerate(asked.answers):
            said = answer.result()
            pieces = self._pieces(asked, number, said.text, said.token_ids, said.logprobs, last=True)
            try:
                choices.append(choice_of(asked.request, said, pieces))
            except RefusedChat as refused:
                return refused
        return ChatReply(len(asked.prompt), tuple(choices))


def _error(answer: Future[Completion]) -> BaseException | None:
    return answer.exception() if answer.done() and not answer.cancelled() else None
