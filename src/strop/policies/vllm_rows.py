"""What vLLM is asked for a row and what comes back, alike in process and by a server."""

from collections.abc import Sequence
from typing import Any

from strop.core.errors import StropError, UserError
from strop.core.protocols import Request
from strop.core.rollout import Completion, FinishReason
from strop.policies.tokenizer import HubTokenizer


def sampling_of(request: Request, tokenizer: HubTokenizer) -> dict[str, Any]:
    """The fields of vLLM's SamplingParams. Each of the tokenizer's end tokens ends a row."""
    params = request.params
    return {
        "temperature": params.temperature,
        "top_p": params.top_p if params.temperature else 1.0,
        "max_tokens": params.max_tokens,
        "seed": request.seed,
        "stop": list(params.stop),
        "stop_token_ids": sorted(tokenizer.eos_ids),
        "ignore_eos": True,  # the tokenizer's ids, above, are what ends a row
        "skip_special_tokens": False,  # stop strings are looked for in the text that `decode` gives
        "spaces_between_special_tokens": False,
        "logprobs": 0,
    }


def check_room(request: Request, context: int | None) -> None:
    """Raises UserError when the prompt and `max_tokens` do not fit into vLLM's context."""
    needed = len(request.prompt) + request.params.max_tokens
    if needed > (context or 0):
        raise UserError(
            f"policy.max_model_len={context} is too small for a prompt of {len(request.prompt)} tokens and "
            f"sampling.max_tokens={request.params.max_tokens}; raise it to {needed}"
        )


def completion_of(
    request: Request,
    tokenizer: HubTokenizer,
    version: int,
    ids: Sequence[int],
    logprobs: Sequence[float],
    ended: tuple[str | None, str | int | None],
    text: str | None = None,
) -> Completion:
    """What a finished row says; it holds every sampled token, also the one that completed a stop string.

    ended  vLLM's finish_reason and stop_reason
    text   as vLLM has it, for a stop string that is not found in what the tokenizer makes of the ids
    """
    finished, stopped = ended
    if finished not in ("stop", "length"):
        raise StropError(f"vLLM ended a row with {finished!r}; it has no completion")
    reason: FinishReason = "length" if finished == "length" else "eos"
    if reason == "eos" and isinstance(stopped, str):
        reason = "stop"
    ours = tokenizer.decode(ids[:-1] if reason == "eos" else ids, after=request.prompt)
    if reason == "stop":
        before = request.params.before_stop(ours)
        ours = before if before is not None else ours if text is None else text
    return Completion(
        token_ids=list(ids), logprobs=list(logprobs), text=ours, finish_reason=reason, policy_version=version
    )
