"""Which curves a run has: the numbers of metrics.jsonl that are drawn, their order, and their captions."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal


@dataclass(frozen=True)
class Curve:
    """One chart: which numbers it shows, and what is said about them."""

    title: str
    description: str
    section: str = ""
    value: tuple[str, ...] = ()
    """Where a line of metrics has the numbers, dotted; `NAME.*`: every name below NAME; empty: the curve's own name."""
    over: str = ""
    """The number that it is a share of; empty: none."""
    complement: bool = False
    """Shows one minus the share."""
    kind: Literal["line", "each", "together", "evaluation", "parts"] = "line"
    """each: a chart for every name, `{name}` in the texts; together: a line for every name in one chart."""
    format: Literal["number", "percent", "seconds"] = "number"
    absent: float | None = None
    """The value of a name that a line lacks where it has others below NAME; none: the point is left out."""
    zero: bool = True
    """The axis holds zero."""


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
            "Reward tells passing from failing",
            "Share of pairs of a group, one passed and one failed, in which the one that passed has more reward.",
        ),
        "pass_rate": _share("Pass rate", "Share of scored answers that passed, on training tasks."),
        "stages": _share(
            "Rates by stage",
            "Share of scored answers that came through build, lint and test.",
            value=("stages.*",),
            kind="together",
        ),
        "length": Curve(
            "Completion length",
            "Sampled tokens of an answer, mean.",
            value=("completion_tokens",),
            zero=False,
        ),
        "truncated": _share("Truncated", "Share of answers that ran into the token limit."),
        "duplicates": _share("Duplicates", "Share of answers that repeat another one of their group."),
        "refused": _share(
            "Refused", "Share of scored answers that came through every stage and did not pass."
        ),
        "error_rate": _share(
            "Error rate", "Share of verdicts that are errors of the grader; they carry no reward."
        ),
    },
    "Plays": {
        "turns": Curve("Turns", "Turns of a play, mean.", zero=False),
        "effects": Curve("Effects", "What environments had done in a play, such as tool calls, mean."),
        "turns_with_effects": _share(
            "Turns with an effect", "Share of turns after which the environment had something done."
        ),
        "stops": _share(
            "Why plays ended",
            "Share of plays by the reason for which they ended.",
            value=("stops.*",),
            kind="together",
            absent=0.0,
        ),
    },
    "Learning": {
        "no_signal": _share(
            "Groups without signal",
            "Share of groups whose rewards are all equal: nothing is learnt from them.",
            value=("groups_with_signal",),
            over="groups_played",
            complement=True,
        ),
        "entropy": Curve("Entropy", "Of the next token's distribution, mean over tokens, nats."),
        "surprise": Curve(
            "Sampling surprise",
            "Minus the log-probability of the sampled tokens, mean, nats.",
            value=("sampling_surprise",),
        ),
        "loss": Curve("Loss", "Of the policy update.", zero=False),
        "grad_norm": Curve("Gradient norm", "Norm of the gradient, as the trainer reports it."),
        "clip": _share(
            "Clip fraction", "Share of tokens whose probability ratio was clipped.", value=("clip_ratio",)
        ),
        "kl": Curve("KL", "Divergence from the reference model, nats a token."),
        "teacher_kl": Curve(
            "KL to the teacher", "Of the policy that sampled, estimated, nats a token.", zero=False
        ),
        "learning_rate": Curve("Learning rate", "Of the optimiser."),
    },
    "Time": {
        "seconds": Curve("Seconds a step", "Wall time of a step.", format="seconds"),
        "time_split": Curve(
            "Time of a step: {name}",
            "Wall seconds of a step by what they were spent on.",
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
            "What a play's effects took, mean; other plays are sampled meanwhile.",
            format="seconds",
        ),
    },
}
CURVES = {
    name: replace(curve, section=section, value=curve.value or (name,))
    for section, curves in _SECTIONS.items()
    for name, curve in curves.items()
}
"""Every chart that the page knows, in its order. One without data is not shown."""
