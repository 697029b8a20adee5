"""Policy-gradient losses over the sampled tokens of a micro-batch, each with its formula. `LOSSES` names them, and
`objective` combines one with the recipe's KL term and correction.

Legend: N is the number of sampled tokens of a micro-batch, laid end to end, B its number of rows (one sample each); R
and T are the rows and sampled tokens of the whole update. i is a row, t a token, A the advantage, pi the policy being
trained, old the policy before the step's first update, mu the policy that sampled.

A loss is a sum over tokens: per-token objective times that token's share. Shares add up over the micro-batches of an
update, so the split into micro-batches and processes does not change the result.

Deviations: (1) R includes rows without any token in the loss (truncated, not scored), as in TRL; (2) the KL term has
the same share as the policy term, as in eq. 3 of DeepSeekMath.

Your own loss is a function of the same kind; its options are its annotated keyword-only parameters:

    def surrogate(tokens: Tokens, *, most: float = 5.0) -> Terms:
        return cispo(tokens, most)[0], None, "tokens"

    grpo: {loss: {type: "mine.py:surrogate", most: 3}}
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import torch

from strop.config import algorithms as config
from strop.config.training import GrpoConfig
from strop_verify.core.errors import UserError
from strop_verify.core.registry import Registry
from strop_verify.core.user_code import at_line, checked_options, file_of

Level = Literal["token", "sequence"]
Share = Literal["answers", "tokens", "constant"]


@dataclass(frozen=True)
class Tokens:
    """The tokens of a micro-batch: the input of a loss.

    logps       (N,) log pi, with gradient
    old         (N,) log pi_old
    sampled     (N,) log mu, as recorded when the tokens were sampled
    reference   (N,) log pi_ref of the frozen model, or None without a KL term
    advantages  (N,) a row's tokens share one, unless turns have their own
    rows        (N,) int64, each token's row in [0, B)
    """

    logps: torch.Tensor
    old: torch.Tensor
    sampled: torch.Tensor
    advantages: torch.Tensor
    rows: torch.Tensor
    count: int
    """B, the number of rows."""
    reference: torch.Tensor | None = None

    def row_sums(self, values: torch.Tensor) -> torch.Tensor:
        """Sums the tokens' values by row: (N,) -> (B,)."""
        return values.new_zeros(self.count).index_add(0, self.rows, values)

    @property
    def lengths(self) -> torch.Tensor:
        """(B,) number of tokens of each row, at least 1."""
        return self.row_sums(torch.ones_like(self.advantages)).clamp(min=1)


@dataclass(frozen=True)
class UpdateSize:
    """Sizes of the whole update: rows R, tokens T in the loss, and the constant length T_max (longest)."""

    rows: int
    tokens: int
    longest: int


def importance(tokens: Tokens, level: Level) -> torch.Tensor:
    """(N,) ratio pi / pi_old.

    token: exp(log pi - log pi_old). sequence: exp of its mean over the row's tokens, the same for all of them (GSPO,
    arXiv 2507.18071, eq. 7).
    """
    gap = tokens.logps - tokens.old
    if level == "sequence":
        gap = (tokens.row_sums(gap) / tokens.lengths)[tokens.rows]
    return gap.exp()


def clipped(tokens: Tokens, level: Level, low: float, high: float) -> tuple[torch.Tensor, torch.Tensor]:
    """-min(ratio A, clip(ratio, 1 - low, 1 + high) A) (PPO, arXiv 1707.06347, eq. 7), and which tokens it clips.

    high > low is "clip-higher" (DAPO, arXiv 2503.14476, eq. 10). A clipped token has no gradient. Both (N,).
    """
    ratio, advantages = importance(tokens, level), tokens.advantages
    bounded = ratio.clamp(1 - low, 1 + high)
    acts = ((ratio < 1 - low) & (advantages < 0)) | ((ratio > 1 + high) & (advantages > 0))
    return -torch.minimum(ratio * advantages, bounded * advantages), acts


def cispo(tokens: Tokens, high: float) -> tuple[torch.Tensor, torch.Tensor]:
    """-sg[min(ratio, high)] A log pi (MiniMax-M1, arXiv 2506.13585, eq. 4), and which weights are cut: each token keeps
    a gradient. `high` is the bound itself, not its distance to 1. Both (N,).
    """
    ratio = importance(tokens, "token").detach()
    return -ratio.clamp(max=high) * tokens.advantages * tokens.logps, ratio > high


def reinforce(tokens: Tokens) -> torch.Tensor:
    """(N,) -A log pi (Williams 1992): correct for samples from the policy itself."""
    return -tokens.advantages * tokens.logps


def sequence_weighted(tokens: Tokens, most: float) -> tuple[torch.Tensor, torch.Tensor]:
    """-sg[w] A log pi with one weight per row, w = product over its tokens of pi / mu, and which tokens it drops.

    SWE-grep's form (cognition.ai/blog/swe-grep, 2025-10-16). Rows whose weight is outside [1 / most, most] are dropped.
    """
    weight = tokens.row_sums((tokens.logps - tokens.sampled).detach()).exp()
    dropped = ((weight > most) | (weight < 1 / most))[tokens.rows]
    per_token = -weight[tokens.rows] * tokens.advantages * tokens.logps
    return torch.where(dropped, torch.zeros_like(per_token), per_token), dropped


def k3(tokens: Tokens) -> torch.Tensor:
    """(N,) ref / pi - log(ref / pi) - 1 >= 0, an unbiased estimate of KL(pi, ref) (DeepSeekMath, eq. 4)."""
    assert tokens.reference is not None, "a KL term needs the reference model's log-probabilities"
    gap = tokens.reference - tokens.logps
    return gap.exp() - gap - 1


def correction(
    tokens: Tokens, level: Level, how: Literal["truncate", "mask"], most: float, least: float = 0.0
) -> torch.Tensor:
    """(N,) weight old / mu without gradient, for a sampler whose numerics or weights differ from the trainer's.

    truncate  min(weight, most) (Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL")
    mask      weight if it is in [least, most], else 0 (IcePop, arXiv 2510.18855)
    A sequence's weight is the product over its tokens.
    """
    gap = (tokens.old - tokens.sampled).detach()
    if level == "sequence":
        gap = tokens.row_sums(gap)[tokens.rows]
    weight = gap.exp()
    if how == "truncate":
        return weight.clamp(max=most)
    return weight.masked_fill((weight > most) | (weight < least), 0.0)


def shares(tokens: Tokens, size: UpdateSize, share: Share) -> torch.Tensor:
    """(N,) each token's share of the update.

    answers      1 / (R |o_i|): the mean of answers' means (GRPO, arXiv 2402.03300, eq. 3)
    tokens       1 / T: the mean over all tokens (DAPO, arXiv 2503.14476, eq. 8)
    constant     1 / (R T_max): no length is favoured (Dr. GRPO, arXiv 2503.20783, section 3.2)
    """
    match share:
        case "answers":
            return 1 / (size.rows * tokens.lengths[tokens.rows])
        case "tokens":
            value = 1 / max(1, size.tokens)
        case "constant":
            value = 1 / (size.rows * size.longest)
    return torch.full_like(tokens.advantages, value)


Terms = tuple[torch.Tensor, torch.Tensor | None, Share]
"""(each token's objective (N,); the clipped or dropped tokens (N,), or None; how tokens are averaged)."""
Loss = Callable[[Tokens], Terms]


def _grpo(tokens: Tokens, *, epsilon_low: float, epsilon_high: float) -> Terms:
    """Clipped ratios per token, averaged per answer, then over answers."""
    return *clipped(tokens, "token", epsilon_low, epsilon_high), "answers"


def _dapo(tokens: Tokens, *, epsilon_low: float, epsilon_high: float) -> Terms:
    """Clipped ratios per token, averaged over all tokens of an update."""
    return *clipped(tokens, "token", epsilon_low, epsilon_high), "tokens"


def _dr_grpo(tokens: Tokens, *, epsilon_low: float, epsilon_high: float) -> Terms:
    """Clipped ratios per token, over a constant length."""
    return *clipped(tokens, "token", epsilon_low, epsilon_high), "constant"


def _gspo(tokens: Tokens, *, epsilon_low: float, epsilon_high: float, average: Share) -> Terms:
    """One clipped ratio per sequence."""
    return *clipped(tokens, "sequence", epsilon_low, epsilon_high), average


def _cispo(tokens: Tokens, *, max_weight: float) -> Terms:
    """Clipped weights; each token keeps a gradient."""
    return *cispo(tokens, max_weight), "tokens"


def _reinforce(tokens: Tokens, *, average: Share) -> Terms:
    """The advantage times the token's log-probability."""
    return reinforce(tokens), None, average


def _sequence_weighted(tokens: Tokens, *, max_weight: float) -> Terms:
    """One weight per answer: its ratio to the policy that sampled it."""
    return *sequence_weighted(tokens, max_weight), "constant"


LOSSES: Registry[Callable[..., Terms]] = Registry(
    "losses",
    {
        "grpo": _grpo,
        "dapo": _dapo,
        "dr-grpo": _dr_grpo,
        "gspo": _gspo,
        "cispo": _cispo,
        "reinforce": _reinforce,
        "sequence-weighted": _sequence_weighted,
    },
)
"""{grpo.loss.type: loss}."""


def find_loss(form: config.Loss) -> Loss:
    """The recipe's loss function, with its options bound. Raises UserError with a remedy, also if your own loss fails
    on a few sample tokens.
    """
    place = "grpo.loss"
    kind = LOSSES.find(form.type, place, "loss", "file.py:function")
    loss = partial(kind, **checked_options(kind, form.model_dump(exclude={"type"}), place))
    if not isinstance(form, config.AddedLoss):
        return loss
    some, rows = torch.tensor([-0.5, -1.0, -0.7, -0.2]), torch.tensor([0, 0, 1, 1])
    own = partial(_of_ones_own, form.type, loss)
    own(Tokens(some.clone().requires_grad_(), some, some, some + 0.6, rows, count=2, reference=some))
    return own


def _of_ones_own(name: str, loss: partial[Terms], tokens: Tokens) -> Terms:
    """Raises UserError if a loss raises, or returns another shape, which would silently broadcast over the tokens."""
    try:
        found = loss(tokens)
    except (UserError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        where = at_line(error, file_of(loss.func))
        raise UserError(f"loss {name!r} raised {type(error).__name__}: {error}{where}") from error
    each, acts, share = found if isinstance(found, tuple) and len(found) == 3 else (found, None, "")
    shapes = [getattr(values, "shape", None) for values in (each, *(() if acts is None else (acts,)))]
    if share not in get_args(Share) or any(shape != tokens.logps.shape for shape in shapes):
        what = f"(each token's objective, which are clipped or None, one of {', '.join(get_args(Share))})"
        given = tuple(getattr(value, "shape", value) for value in (each, acts, share))
        raise UserError(
            f"loss {name!r} must return {what}, here for {tokens.logps.numel()} tokens, not {given!r:.90}"
        )
    if tokens.logps.requires_grad and not each.requires_grad:
        raise UserError(f"loss {name!r} has no gradient: it must depend on tokens.logps")
    return each, acts, share


def objective(
    grpo: GrpoConfig, loss: Loss, tokens: Tokens, size: UpdateSize
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """(the micro-batch's part of the loss, logged values summed over its tokens) for the recipe's `loss`.

    clip_ratio  tokens that the loss clips, cuts or drops
    kl  with a KL term; correction, corrected  with a correction: its weight, and whether it was cut or masked
    """
    each, acts, share = loss(tokens)
    sums = {"clip_ratio": torch.zeros((), device=each.device) if acts is None else acts.sum()}
    if not isinstance(grpo.correction, config.NoCorrection):
        weight, cut = corrected(grpo.correction, tokens)
        each = each * weight
        sums |= {"correction": weight.sum(), "corrected": cut.sum()}
    if grpo.beta:
        divergence = k3(tokens)
        each = each + grpo.beta * divergence
        sums["kl"] = divergence.detach().sum()
    return (each * shares(tokens, size, share)).sum(), sums


def corrected(
    form: config.CutWeights | config.MaskedWeights, tokens: Tokens
) -> tuple[torch.Tensor, torch.Tensor]:
    """(each token's weight (N,), which of them were cut or masked (N,))."""
    whole = isinstance(form, config.SequenceTruncated | config.SequenceMasked)
    level: Level = "sequence" if whole else "token"
    if isinstance(form, config.CutWeights):
        weight = correction(tokens, level, "truncate", form.max_weight)
        return weight, weight >= form.max_weight
    weight = correction(tokens, level, "mask", form.max_weight, form.min_weight)
    return weight, weight == 0
