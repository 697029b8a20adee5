"""Which curves a run has: the numbers of metrics.jsonl that are drawn, their order, and their captions."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Curve:
    """One chart: which numbers it shows, and what is said about them."""

    title: str
    description: str
    section: str
    value: tuple[str, ...]
    """Where the numbers stand in a line of metrics, dotted; `NAME.*` stands for every name below NAME."""
    over: str = ""
    """The number that it is a share of; empty: none."""
    complement: bool = False
    """Shows one minus the share."""
    kind: Literal["line", "each", "together", "evaluation", "parts"] = "line"
    """each: a chart for every name, `{name}` in the texts; together: a line for every name in one chart."""
    format: Literal["number", "percent", "seconds"] = "number"
    zero: bool = True
    """The axis holds zero."""


CURVES: dict[str, Curve] = {
    "held_out": Curve(
        "{name}",
        "Circle: before training, triangle: after the warm start, square: during, diamond: after.",
        "Evaluations",
        ("held_out",),
        kind="evaluation",
        format="percent",
    ),
    "reward": Curve(
        "Reward", "Weighted sum of the scores, mean over the step.", "Rewards", ("reward",), zero=False
    ),
    "scores": Curve(
        "Score: {name}", "Mean score, unweighted.", "Rewards", ("rewards.*",), kind="each", zero=False
    ),
    "pass_rate": Curve(
        "Pass rate",
        "Share of scored answers that passed, on training tasks.",
        "Answers",
        ("pass_rate",),
        format="percent",
    ),
    "stages": Curve(
        "Rates by stage",
        "Share of scored answers that came through build, lint and test.",
        "Answers",
        ("stages.*",),
        kind="together",
        format="percent",
    ),
    "length": Curve(
        "Completion length",
        "Sampled tokens of an answer, mean.",
        "Answers",
        ("completion_tokens",),
        zero=False,
    ),
    "truncated": Curve(
        "Truncated",
        "Share of answers that ran into the token limit.",
        "Answers",
        ("truncated",),
        format="percent",
    ),
    "duplicates": Curve(
        "Duplicates",
        "Share of answers that repeat another one of their group.",
        "Answers",
        ("duplicates",),
        format="percent",
    ),
    "refused": Curve(
        "Refused",
        "Share of scored answers that came through every stage and did not pass.",
        "Answers",
        ("refused",),
        format="percent",
    ),
    "error_rate": Curve(
        "Error rate",
        "Share of verdicts that are errors of the grader; they carry no reward.",
        "Answers",
        ("error_rate",),
        format="percent",
    ),
    "no_signal": Curve(
        "Groups without signal",
        "Share of groups whose rewards are all equal: nothing is learnt from them.",
        "Learning",
        ("groups_with_signal",),
        over="groups_played",
        complement=True,
        format="percent",
    ),
    "entropy": Curve(
        "Entropy", "Of the next token's distribution, mean over tokens, nats.", "Learning", ("entropy",)
    ),
    "surprise": Curve(
        "Sampling surprise",
        "Minus the log-probability of the sampled tokens, mean, nats.",
        "Learning",
        ("sampling_surprise",),
    ),
    "loss": Curve("Loss", "Of the policy update.", "Learning", ("loss",), zero=False),
    "grad_norm": Curve(
        "Gradient norm", "Norm of the gradient, as the trainer reports it.", "Learning", ("grad_norm",)
    ),
    "clip": Curve(
        "Clip fraction",
        "Share of tokens whose probability ratio was clipped.",
        "Learning",
        ("clip_ratio",),
        format="percent",
    ),
    "kl": Curve("KL", "Divergence from the reference model, nats a token.", "Learning", ("kl",)),
    "learning_rate": Curve("Learning rate", "Of the optimiser.", "Learning", ("learning_rate",)),
    "seconds": Curve("Seconds a step", "Wall time of a step.", "Time", ("seconds",), format="seconds"),
    "time_split": Curve(
        "Time of a step: {name}",
        "Wall seconds of a step by what they were spent on.",
        "Time",
        ("seconds_sampling", "seconds_verifying", "seconds_update"),
        over="seconds",
        kind="parts",
        format="seconds",
    ),
}
"""Every chart that the page knows, in its order. One without data is not shown."""
