"""The curves of a run: the numbers of metrics.jsonl, their order and captions."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal


@dataclass(frozen=True)
class Curve:
    """One chart: its numbers and its caption."""

    title: str
    description: str
    section: str = ""
    value: tuple[str, ...] = ()
    """Dotted path of the numbers in a line of metrics; `NAME.*`: every name below NAME; empty: the curve's name."""
    over: str = ""
    """The denominator of a share; empty: none."""
    complement: bool = False
    """Shows one minus the share."""
    kind: Literal["line", "each", "together", "evaluation", "parts"] = "line"
    """each: a chart for every name, `{name}` in the texts; together: a line for every name in one chart."""
    format: Literal["number", "percent", "seconds"] = "number"
    absent: float | None = None
    """The value of a missing name if a line has others below NAME; none: no point."""
    zero: bool = True
    """Whether the axis includes zero."""


_share = partial(Curve, format="percent")
_SECTIONS: dict[str, dict[str, Curve]] = {
    "Evaluations": {
        "held_out": _share(
            "{name}",
            "Circle: before training, triangle: after the warm start, square: during, diamond: after.",
            kind="evaluation",
        ),
    },
    "Rewards": {
        "reward": Curve("Reward", "Weighted sum of the scores, mean over the step.", zero=False),
        "scores": Curve(
            "Score: {name}", "Mean score, unweighted.", value=("rewards.*",), kind="each", zero=False
        ),
    },
    "Answers": {
        "reward_auc": _share(
            "Reward separates passing from failing",
            "Share of a group's pairs of a passing and a failing answer in which the passing one has more reward.",
        ),
        "pass_rate": _share("Pass rate", "Share of scored answers that passed, on training tasks."),
        "stages": _share(
            "Rates by stage",
            "Share of scored answers that passed build, lint and test.",
            value=("stages.*",),
            kind="together",
        ),
        "length": Curve(
            "Completion length",
            "Mean sampled tokens per answer.",
            value=("completion_tokens",),
            zero=False,
        ),
        "truncated": _share("Truncated", "Share of answers that hit the token limit."),
        "duplicates": _share("Duplicates", "Share of answers that repeat another in their group."),
        "refused": _share("Refused", "Share of scored answers that passed every stage but were refused."),
        "error_rate": _share("Error rate", "Share of verdicts that are grader errors; they carry no reward."),
    },
    "Plays": {
        "turns": Curve("Turns", "Mean turns per play.", zero=False),
        "effects": Curve("Effects", "Mean effects per play, such as tool calls."),
        "turns_with_effects": _share(
            "Turns with an effect", "Share of turns with an effect, such as a tool call."
        ),
        "stops": _share(
            "Why plays ended",
            "Share of plays by reason of their end.",
            value=("stops.*",),
            kind="together",
            absent=0.0,
        ),
    },
    "Learning": {
        "no_signal": _share(
            "Groups without signal",
            "Share of groups whose rewards are all equal: they teach nothing.",
            value=("groups_with_signal",),
            over="groups_played",
            complement=True,
        ),
        "entropy": Curve("Entropy", "Entropy of the next token's distribution, mean over tokens, nats."),
        "surprise": Curve(
            "Sampling surprise",
            "Mean negative log-probability of the sampled tokens, nats.",
            value=("sampling_surprise",),
        ),
        "loss": Curve("Loss", "Loss of the policy update.", zero=False),
        "grad_norm": Curve("Gradient norm", "Norm of the gradient, as the trainer reports it."),
        "clip": _share(
            "Clip fraction", "Share of tokens whose probability ratio was clipped.", value=("clip_ratio",)
        ),
        "kl": Curve("KL", "Divergence from the reference model, nats per token."),
        "teacher_kl": Curve(
            "KL to the teacher",
            "KL of the sampling policy to the teacher, estimated, nats per token.",
            zero=False,
        ),
        "learning_rate": Curve("Learning rate", "Learning rate of the optimiser."),
    },
    "Time": {
        "seconds": Curve("Seconds per step", "Wall time of a step.", format="seconds"),
        "time_split": Curve(
            "Time of a step: {name}",
            "Wall seconds of a step by activity.",
            value=(
                "seconds_sampling",
                "seconds_starting",
                "seconds_tools",
                "seconds_verifying",
                "seconds_rewards",
                "seconds_update",
            ),
            over="seconds",
            kind="parts",
            format="seconds",
        ),
        "seconds_sampler_idle": Curve(
            "Idle sampler", "Seconds of a step in which it waited for weights.", format="seconds"
        ),
        "seconds_update_idle": Curve(
            "Idle update", "Seconds of a step in which it waited for rollouts.", format="seconds"
        ),
        "seconds_effects": Curve(
            "Seconds of effects",
            "Mean seconds of a play's effects; other plays are sampled meanwhile.",
            format="seconds",
        ),
    },
}
CURVES = {
    name: replace(curve, section=section, value=curve.value or (name,))
    for section, curves in _SECTIONS.items()
    for name, curve in curves.items()
}
"""All charts of the page in order. Charts without data are hidden."""
