"""Rollouts: what a policy sampled while playing a task, with exact tokens, masks and log-probabilities; and what an
update consumes of them: samples, grouped in a batch.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import Field, model_validator

from strop_verify.core.records import Record
from strop_verify.core.verdict import Verdict

T = TypeVar("T")
FinishReason = Literal["stop", "eos", "length"]
"""stop: a stop string was met; eos: the end-of-sequence token; length: the token limit."""


class Message(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str


class SamplingParams(Record):
    """How to sample. `temperature` 0 means greedy."""

    temperature: float = Field(default=1.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=128, ge=1)
    """Largest number of sampled tokens in one completion."""
    stop: tuple[str, ...] = ()
    """Strings that end a completion; the text from the first one on is dropped from `Completion.text`."""

    def before_stop(self, text: str) -> str | None:
        """The text before the first stop string; None if there is none."""
        cut = min((at for stop in self.stop if (at := text.find(stop)) >= 0), default=-1)
        return None if cut < 0 else text[:cut]


class Completion(Record):
    """What the policy sampled in one turn.

    token_ids  T  sampled tokens, including the one that completed a stop string or EOS
    logprobs   T  natural log-probability of each under the sampling distribution (temperature applied)
    entropies  T  entropy of that distribution in nats; empty if the engine does not report it
    """

    token_ids: list[int]
    logprobs: list[float]
    entropies: list[float] = Field(default_factory=list)
    text: str
    """Decoded tokens up to the stop string or EOS."""
    finish_reason: FinishReason
    policy_version: int = 0
    """Number of policy updates before this was sampled."""

    @model_validator(mode="after")
    def _same_length(self) -> "Completion":
        if len(self.token_ids) != len(self.logprobs):
            raise ValueError(f"{len(self.token_ids)} tokens but {len(self.logprobs)} log-probabilities")
        if self.entropies and len(self.token_ids) != len(self.entropies):
            raise ValueError(f"{len(self.token_ids)} tokens but {len(self.entropies)} entropies")
        return self


class Score(Record):
    """A named number, or None for "not scored"."""

    name: str
    value: float | None
    weight: float = 1.0
    error: str = Field(default="", exclude_if=lambda value: not value)
    """Why the reward failed, which leaves its rollout without a reward; left out if it did not fail."""


class Event(Record):
    """An effect that an environment asked for after a turn, and what came back."""

    name: str
    """Name of the effect's class."""
    asked: str
    """The effect as text, cut to `EVENT_TEXT` characters, as is `result`."""
    result: str
    seconds: float
    """Wall time until the result arrived."""
    bytes: int
    """Size of the whole result's text in UTF-8."""


EVENT_TEXT = 4000
"""Maximum characters of an event's texts."""


class ProcessStep(Record):
    """A statement of an answer, or a few of them."""

    end: int
    """Number of the completion's tokens up to the end of the step."""
    value: float | None
    """Share of the answers continued from there that pass; for the last step, whether the answer passed."""
    advantage: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """Advantage of its tokens; left out until the group's are computed."""


class Turn(Record):
    """One exchange: tokens the environment gave (P, no loss), then tokens the policy sampled (T, loss).

    `prompt_ids` holds only what is new since the last turn: a rollout's tokens are its turns laid end to end, so a
    multi-turn prompt is extended by token ids and never decoded and encoded again. A changed history begins
    another row.
    """

    prompt_ids: list[int]
    completion: Completion
    row: int = Field(default=0, exclude_if=lambda value: not value)
    """Index of the row of tokens that the turn continues; a row's first `prompt_ids` are its whole context. Left out
    for the first row, which is the only one unless something external keeps the conversation."""
    advantage: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """The turn's own; None, and left out, if all turns share the rollout's."""
    verdict: Verdict | None = Field(default=None, exclude_if=lambda value: value is None)
    """On what the environment had judged after this turn; this and the next four fields are left out if empty."""
    answer: str = Field(default="", exclude_if=lambda value: not value)
    """What the environment had judged."""
    events: list[Event] = Field(default_factory=list, exclude_if=lambda value: not value)
    """Effects that the environment asked for between this turn and the next, in the order of their results."""
    scores: list[Score] = Field(default_factory=list, exclude_if=lambda value: not value)
    reward: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """The turn's own, if turns are rewarded; the play's reward is that of its last turn."""
    steps: list[ProcessStep] = Field(default_factory=list, exclude_if=lambda value: not value)
    """Its completion in steps, if steps are rewarded; otherwise left out."""

    @property
    def tokens(self) -> "TurnTokens":
        """The tokens that were given, and those that were sampled."""
        return self.prompt_ids, self.completion.token_ids


TurnTokens = tuple[list[int], list[int]]
"""Tokens of a turn: those given, which carry no loss, and those sampled."""


def end_to_end(turns: Iterable[TurnTokens]) -> tuple[list[int], list[int]]:
    """(ids, mask) of turns laid end to end: mask is 1 for sampled tokens and 0 for given ones."""
    ids: list[int] = []
    mask: list[int] = []
    for turn in turns:
        for answered, part in enumerate(turn):
            ids += part
            mask += [answered] * len(part)
    return ids, mask


def at_sampled(mask: Sequence[int], values: Iterable[T], elsewhere: T) -> list[T]:
    """The values in order where the mask is 1, and `elsewhere` where it is 0."""
    left = iter(values)
    return [next(left) if one else elsewhere for one in mask]


CUT = "turn"
"""`Rollout.stop_reason` of a play that went on but is cut after one of its turns, as turn rewards receive it."""


class Rollout(Record):
    """One play of a task."""

    task_id: str
    task_name: str = Field(default="", exclude_if=lambda value: not value)
    """The task's readable name, in written rollouts; else empty, and left out."""
    index: int
    """Which of the group's G rollouts this is."""
    seed: int
    prompt: str
    """The first prompt as text, for readers; training uses the token ids."""
    turns: list[Turn]
    answer: str = ""
    """What was verified: the code taken from the last turn's text."""
    verdict: Verdict | None = None
    scores: list[Score] = Field(default_factory=list)
    reward: float | None = None
    """Weighted sum of the scores; None when the rollout is not scored."""
    advantage: float | None = None
    stop_reason: str = Field(default="answered", exclude_if=lambda value: value == "answered")
    """Why the play ended (`core.play.StopReason`); left out if it is "answered"."""
    left_out: Literal["", "loss", "scores"] = Field(default="", exclude_if=lambda value: not value)
    """"loss": its tokens carry no loss; "scores": it has no reward either (`core.play.StopAction` mask, drop)."""
    flags: list[str] = Field(default_factory=list)
    """Ways in which the answer bypasses its task, as found in its parse tree."""

    @property
    def prompt_ids(self) -> list[int]:
        """Tokens before the first sampled one; empty if nothing was sampled."""
        return self.turns[0].prompt_ids if self.turns else []

    def rows(self) -> list[list[Turn]]:
        """The turns of each row of tokens."""
        count = max((turn.row for turn in self.turns), default=-1) + 1
        return [[turn for turn in self.turns if turn.row == row] for row in range(count)]

    def flat(self) -> tuple[list[int], list[int], list[float]]:
        """(completion_ids, mask, logprobs) after the first prompt, all of one length.

        mask is 1 for sampled tokens and 0 for the environment's; log-probs of the latter are 0. Several rows are
        concatenated.
        """
        turns = [turn for row in self.rows() for turn in row]
        ids, mask = end_to_end(turn.tokens for turn in turns)
        logprobs = at_sampled(mask, [one for turn in turns for one in turn.completion.logprobs], 0.0)
        first = len(turns[0].prompt_ids) if turns else 0
        return ids[first:], mask[first:], logprobs[first:]

    @property
    def truncated(self) -> bool:
        """Whether the last turn hit the token limit."""
        return bool(self.turns) and self.turns[-1].completion.finish_reason == "length"


class Group(Record):
    """The G rollouts of one task that share a baseline."""

    task_id: str
    step: int
    rollouts: list[Rollout]
    task_set: str = Field(default="", exclude_if=lambda name: not name)
    """The set that the task belongs to, in a run with several."""

    @property
    def rewards(self) -> list[float | None]:
        """Reward of each rollout; None if it was not scored."""
        return [r.reward for r in self.rollouts]

    @property
    def has_signal(self) -> bool:
        """Whether scored rewards differ, so that at least one advantage is not zero."""
        scored = [r for r in self.rewards if r is not None]
        return len(scored) > 1 and max(scored) - min(scored) > 1e-9


@dataclass(frozen=True)
class Sample:
    """One rollout as the update sees it. The five lists have one length L: the prompt and all that followed.

    ids         L  tokens
    mask        L  1 for sampled tokens that carry loss, 0 for the prompt, the environment's tokens and what is masked
    logprobs    L  natural log-probability when it was sampled; 0 for tokens that were not
    advantages  L  0 for tokens that were not sampled
    versions    L  updates that the policy had seen when it sampled the token; 0 for tokens that were not
    prompt      tokens before the first sampled one; the samples of a group that share them are neighbours in a batch
    weight      share of a row that it counts as, a factor of its advantages; 1 if its rollout has no other sample
    """

    ids: Sequence[int]
    mask: Sequence[int]
    logprobs: Sequence[float]
    advantages: Sequence[float]
    versions: Sequence[int]
    prompt: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        lengths = {len(x) for x in (self.ids, self.mask, self.logprobs, self.advantages, self.versions)}
        if len(lengths) != 1 or not 0 < self.prompt <= len(self.ids):
            raise ValueError(f"a sample's lists have the lengths {sorted(lengths)}, its prompt {self.prompt}")

    @property
    def tokens(self) -> int:
        """How many tokens carry loss."""
        return sum(self.mask)

    @property
    def moves(self) -> bool:
        """Whether a token that carries loss has an advantage other than 0."""
        return any(keep and advantage for keep, advantage in zip(self.mask, self.advantages, strict=True))


@dataclass(frozen=True)
class Batch:
    """The samples of a step, group after group, divided into minibatches of whole groups."""

    minibatches: tuple[tuple[Sample, ...], ...]

    @property
    def samples(self) -> list[Sample]:
        """The samples of all minibatches, in order."""
        return [sample for part in self.minibatches for sample in part]
