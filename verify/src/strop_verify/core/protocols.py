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
        """Token ids of a text that follows another, without added special tokens."""

    def encode_text(self, text: str) -> list[int]:
        """Token ids of a plain-text prompt, with the tokens that the model expects at its start."""

    def mark(self, names: Sequence[str]) -> list[int]:
        """The control token that has one of these names; the first name as plain text if there is none."""

    def decode(self, ids: Sequence[int], *, after: Sequence[int] = ()) -> str:
        """The text of token ids as it reads after the prompt's ids, without special tokens."""

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to the start of the assistant's reply."""

    def keeps(self, messages: Sequence[Message], more: Sequence[Message]) -> bool:
        """Whether a conversation that ends with the assistant's message is encoded the same with `more` after it: some
        chat templates leave out earlier thoughts. Raises ValueError if the template rejects it.
        """

    def encode_turn(self, messages: Sequence[Message], *, ended: int | None) -> list[int]:
        """Token ids that follow what the assistant sampled: the end of its turn, these messages, the start of its next.

        ended  the end token that was sampled, if any
        """


Heard = Callable[[str, Sequence[int], Sequence[float]], None]
"""Receives a completion as it is sampled: its text, token ids and log-probabilities so far. The text may end inside a
character (U+FFFD) or a stop string; the lists keep growing."""


class CacheHandle:
    """Marks one play's successive requests: while it is alive, an engine may keep what it computed for the next one."""


@dataclass(frozen=True)
class Request:
    """A request for one completion: everything that the completion depends on."""

    prompt: Sequence[int]
    """Token ids. Requests with the same prompt that are in flight at the same time may share its computation."""
    seed: int
    params: SamplingParams
    play: CacheHandle | None = None
    """The handle of a play that may continue from here: the prefix that its next prompt shares with this one and its
    completion need not be computed again."""
    ends: Callable[[str], bool] | None = None
    """Whether a completion with this text may end here, with the reason "stop". An engine that computes itself asks
    after every token; others ignore it and sample on."""
    grammar: str = ""
    """Grammar, in llguidance's dialect of Lark, that the completion matches unless it is cut off, for policies with
    `follows_grammars`; its log-probabilities are those under the constrained distribution."""
    heard: Heard | None = None
    """Called after each token but the last, in `work`, by engines that sample token by token in this process."""


@runtime_checkable
class Policy(Protocol):
    """Samples completions for prompts given as token ids. Use it from one thread at a time."""

    name: str
    version: int

    @property
    def tokenizer(self) -> Tokenizer:
        """Text to tokens and back, as this policy sees them."""

    def submit(self, request: Request) -> Future[Completion]:
        """Takes a request and returns at once; `work` advances it. Cancelling the future withdraws it.

        A completion's tokens depend on the request and the weights, and on nothing else that is random. The future
        raises what kept the policy from answering: a UserError ends everything, another StropError only this play.
        """

    def work(self, seconds: float) -> None:
        """Advances all requests by one step if the policy computes itself; if another process does, waits at most that
        long for an answer. Returns at once if there are no requests.
        """


@runtime_checkable
class Trainable(Policy, Protocol):
    """A policy whose weights can be replaced, as training needs."""

    def update(self, version: int, weights: Iterable[tuple[str, Any]]) -> None:
        """Loads weights that have seen `version` updates, as (name, tensor) pairs with transformers' names.

        A policy that samples from the trained model itself need not read them. Raises StropError while requests are in
        flight.
        """


@runtime_checkable
class Sleeper(Trainable, Protocol):
    """A trainable policy that can give up memory while nothing is sampled."""

    def sleep(self) -> None:
        """Frees memory, if configured to; nothing can be sampled after that until `update`. Raises StropError while
        requests are in flight.
        """


class Verifier(Protocol):
    """Judges answers, many at a time, outside the caller's process."""

    def submit(self, task: Task, answer: str) -> Future[Verdict]:
        """Starts verification and returns at once. The future never raises: a failure of ours is outcome *error*."""

    def close(self) -> None:
        """Ends every process. Safe to call twice."""


class Toolchain(Protocol):
    """Judges answers of some languages and checks. Owned by one pool worker; its processes start with the first job."""

    batch: int
    """Most jobs that `judge` takes at once; 1 if more gain nothing."""

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job, in order. Raises WorkerDied if a process of ours broke (the pool retries once),
        BatchFailed if one of several jobs blocks the others (each is then judged alone), VerificationError if the first
        job's task cannot be judged and no other was.
        """

    def close(self) -> None:
        """Ends its processes; the next job starts fresh ones. Safe to call twice and from any thread."""


class Environment(Protocol):
    """How a task is played. Single use: one environment is one rollout, there is no reset.

    Methods are called in threads beside the decoding, one at a time. If it holds a resource, such as a folder or a
    server, it may have either or both of

        setup() or setup(services)  called once, before `begin`. What it raises ends the play as "infra".
        close()                     called once, after `setup` has returned or raised, however the play ended.
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
    """A rollout with the task and the verdict that it is scored by."""

    task: Task
    rollout: Rollout
    verdict: Verdict


BatchReward = Callable[[Sequence[JudgedRollout]], Sequence[float | None]]
"""One value per rollout, in order, many rollouts at a time: for a scoring model. None means "not scored"."""
_BATCHED = "strop_batched"


def batched(reward: BatchReward) -> BatchReward:
    """Marks a reward that takes all rollouts of a step's tasks at once, as a list of `JudgedRollout`."""
    setattr(reward, _BATCHED, True)
    return reward


def is_batched(reward: Reward | BatchReward) -> TypeGuard[BatchReward]:
    """Whether it was marked by `batched`."""
    return bool(getattr(reward, _BATCHED, False))
