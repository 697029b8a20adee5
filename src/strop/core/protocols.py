"""The interfaces between folders: implementations can be exchanged without changing the code that uses them."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Protocol, runtime_checkable

from strop.core.rollout import Completion, Message, Rollout, SamplingParams
from strop.core.task import Task
from strop.core.verdict import Verdict


class Tokenizer(Protocol):
    """Text to tokens and back, as the policy's model sees them."""

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, without added special tokens."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, special tokens left out."""

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to the start of the assistant's reply."""


@runtime_checkable
class Policy(Protocol):
    """Who answers: samples completions for prompts given as token ids."""

    name: str
    version: int

    @property
    def tokenizer(self) -> Tokenizer:
        """Text to tokens and back, as this policy sees them."""

    def sample(
        self, prompts: Sequence[Sequence[int]], seeds: Sequence[int], params: SamplingParams
    ) -> Iterator[tuple[int, Completion]]:
        """Yields (row, completion) as each row finishes, in any order, every row once.

        `seeds` has one seed a row; a row's tokens depend on its prompt, its seed and the weights, and on nothing else
        that is random. Equal neighbouring prompts are a group and may share their prefill.
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
        VerificationError when the first job's task is at fault and nothing was judged.
        """

    def close(self) -> None:
        """Ends its processes; the next job starts fresh ones. Safe to call twice and from any thread."""


class Environment(Protocol):
    """How a task is played. Single use: one environment is one rollout, there is no reset."""

    @property
    def text(self) -> str:
        """The first prompt as text, for readers."""

    @property
    def stop(self) -> tuple[str, ...]:
        """Stop strings that suit the prompt, used where the recipe names none."""

    def prompt(self, tokenizer: Tokenizer) -> list[int]:
        """Tokens of the first prompt."""

    def answer(self, completion: Completion) -> str:
        """The text to verify, taken from what the policy said."""

    def observe(
        self, completion: Completion, verdict: Verdict | None, tokenizer: Tokenizer
    ) -> list[int] | None:
        """Tokens to append for the next turn, or None when the play is over."""


Reward = Callable[[Task, Rollout, Verdict], float | None]
"""A pure function of (task, rollout, verdict); None means "not scored". The score's name is the reward's name."""
