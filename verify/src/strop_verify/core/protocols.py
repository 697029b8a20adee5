"""The interfaces between folders: implementations can be exchanged without changing the code that uses them."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

from strop_verify.core.play import Next, Opening
from strop_verify.core.rollout import Completion, Message, Rollout, SamplingParams
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict


class Tokenizer(Protocol):
    """Text to tokens and back, as the policy's model sees them."""

    def encode(self, text: str) -> list[int]:
        """Token ids of a text that stands after another, without added special tokens."""

    def encode_text(self, text: str) -> list[int]:
        """Token ids of a prompt that is plain text, with what the model expects at the start of one."""

    def mark(self, names: Sequence[str]) -> list[int]:
        """The control token that has one of these names; the first as plain text where there is none."""

    def decode(self, ids: Sequence[int], *, after: Sequence[int] = ()) -> str:
        """The text of token ids as it stands after a prompt's, special tokens left out."""

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to the start of the assistant's reply."""

    def keeps(self, messages: Sequence[Message], more: Sequence[Message]) -> bool:
        """Whether a conversation that ends with what the assistant said is still written as it was, with what follows:
        some chat templates leave out earlier thoughts. Raises ValueError where the template refuses it.
        """

    def encode_turn(self, messages: Sequence[Message], *, ended: int | None) -> list[int]:
        """Token ids that follow what the assistant sampled: the end of its turn, these messages, the start of its next.

        ended  the end token that was sampled, if any
        """


Heard = Callable[[str, Sequence[int], Sequence[float]], None]
"""Hears a completion as it is sampled: its text, token ids and log-probabilities so far. The text may end inside a
character (U+FFFD) or a stop string; the lists go on growing."""


class CacheHandle:
    """One play's requests, one after another: as long as it lives, an engine may keep what it computed for the next."""


@dataclass(frozen=True)
class Request:
    """One completion that is wanted: what it depends on, and nothing else does."""

    prompt: Sequence[int]
    """Token ids. Requests in flight at the same time that have the same prompt may share its computation."""
    seed: int
    params: SamplingParams
    play: CacheHandle | None = None
    """Of a play that may go on from here: what its next prompt has in common with this one and its completion, from
    the start, need not be computed again."""
    ends: Callable[[str], bool] | None = None
    """Whether a completion whose text is this may end here, with the reason "stop". An engine that computes itself asks
    after every token; others leave it out, and say more."""
    grammar: str = ""
    """Grammar, in llguidance's dialect of Lark, that the completion fits unless it is cut off, of policies that say
    `follows_grammars`; its log-probabilities are those under the distribution that this leaves."""
    heard: Heard | None = None
    """Called after each token but the last, in `work`, by engines that sample token by token in this process."""


@runtime_checkable
class Policy(Protocol):
    """Who answers: samples completions for prompts given as token ids. One thread at a time."""

    name: str
    version: int

    @property
    def tokenizer(self) -> Tokenizer:
        """Text to tokens and back, as this policy sees them."""

    def submit(self, request: Request) -> Future[Completion]:
        """Takes a request and returns at once; `work` moves it on. Cancelling the future takes it out again.

        A completion's tokens depend on the request and the weights, and on nothing else that is random. The future
        raises what kept the policy from answering: a UserError ends everything, another StropError this play.
        """

    def work(self, seconds: float) -> None:
        """Moves all requests on by one step where the policy computes itself; waits for an answer, at most that long,
        where another process does. Returns at once when there is none.
        """


@runtime_checkable
class Trainable(Policy, Protocol):
    """A policy that samples by given weights: what training needs of it."""

    def update(self, version: int, weights: Iterable[tuple[str, Any]]) -> None:
        """Takes over weights that have seen `version` updates, as (name, tensor) pairs by transformers' names.

        A policy that samples from the trained model itself need not read them. Raises StropError while requests are in
        flight.
        """


@runtime_checkable
class Sleeper(Trainable, Protocol):
    """A trainable policy that can give up memory while nothing is sampled."""

    def sleep(self) -> None:
        """Frees memory, if it is configured to; nothing can be sampled from then until `update`. Raises StropError
        while requests are in flight.
        """


class Verifier(Protocol):
    """Decides about answers, many at a time, outside the caller's process."""

    def submit(self, task: Task, answer: str) -> Future[Verdict]:
        """Starts verification and returns at once. The future never raises: a failure of ours is outcome *error*."""

    def close(self) -> None:
        """Ends every process. Safe to call twice."""


class Toolchain(Protocol):
    """Judges answers of some languages and checks. Owned by one pool worker; its processes start with the first job."""

    batch: int
    """Most jobs that `judge` takes at once; 1 where nothing is gained by more."""

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict a job, in order. Raises WorkerDied when a process of ours broke (the pool tries once more),
        BatchFailed where one of several holds the others up (each goes alone), VerificationError when the first job's
        task cannot be judged and nothing was.
        """

    def close(self) -> None:
        """Ends its processes; the next job starts fresh ones. Safe to call twice and from any thread."""


class Environment(Protocol):
    """How a task is played. Single use: one environment is one rollout, there is no reset.

    Methods are called in threads beside the decoding, one at a time. Where it holds something, such as a folder or a
    server, it may have either or both of

        setup() or setup(services)  called once, before `begin`. What it raises ends the play as "infra".
        close()                     called once, after `setup` came to its end, however that and the play ended.
    """

    def begin(self) -> Opening:
        """The first prompt."""

    def step(self, completion: Completion) -> Next:
        """What follows a completion."""

    def result(self, effect: Any, result: Any) -> Next:
        """What follows the effect that `step` or `result` asked for; of several, effects and results as tuples."""


Reward = Callable[[Task, Rollout, Verdict], float | None]
"""A pure function of (task, rollout, verdict); None means "not scored". The score's name is the reward's name."""


class JudgedRollout(NamedTuple):
    """A rollout with what it is scored by."""

    task: Task
    rollout: Rollout
    verdict: Verdict


BatchReward = Callable[[Sequence[JudgedRollout]], Sequence[float | None]]
"""One value a rollout, in order, of many at a time: for a model that scores. None means "not scored"."""
_BATCHED = "strop_batched"


def batched(reward: BatchReward) -> BatchReward:
    """Marks a reward that takes all rollouts of a step's tasks at once, as a list of `JudgedRollout`."""
    setattr(reward, _BATCHED, True)
    return reward


def is_batched(reward: Reward | BatchReward) -> TypeGuard[BatchReward]:
    """Whether it was marked by `batched`."""
    return bool(getattr(reward, _BATCHED, False))
