"""Writes docs/models.md: what Strop does with each causal architecture of the installed transformers.

python docs/models.py [TYPE ...]; a test holds each row. Every architecture is a tiny random model with its own
mechanisms switched on (docs/architectures.py). What Strop samples and updates is compared with the plain forward pass
of another copy of the model, on other texts than those that Strop tries itself; gradients against those of all weights.
"""

import sys
import tempfile
import time
import warnings
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from architectures import LEFT_OUT, build, tiny_configs
from peft import LoraConfig, get_peft_model
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

from strop.policies.loading import named_weights
from strop.policies.proof import plain_logps
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.training.backend import unadaptable
from strop.training.logps import token_logps, update_of
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import Sample, SamplingParams

PAGE = Path(__file__).parent / "models.md"
BOUND = 1e-3
"""Nats, and for gradients a share of their size."""
SILENT = "**differs**"
"""In a cell: Strop took a way, and its numbers are not the model's."""

TITLE = "| architecture | sampled | updated | LoRA | export |\n|---|---|---|---|---|\n"
"""Of the table; what stands above it in the page is written by hand."""


@dataclass
class Row:
    """One line of the table."""

    name: str
    sampled: str
    updated: str
    lora: str
    export: str

    def __str__(self) -> str:
        return f"| {' | '.join(astuple(self))} |"


def tokenizer() -> HubTokenizer:
    """One token a byte."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(
        models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[])
    )
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(name, special=True) for name in ("<pad>", "<eos>")])
    return HubTokenizer(
        PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="<eos>")
    )


def ids(count: int, seed: int) -> list[int]:
    """Random ones."""
    return torch.randint(10, 250, (count,), generator=torch.Generator().manual_seed(1000 + seed)).tolist()


def row(name: str, config: Any) -> Row:
    """What Strop does with one architecture."""
    return Row(f"`{name}`", _sampled(config), _updated(config), _lora(config), _exported(config))


WORDS = {
    "shared prompts": "shared",
    "the model's cache, padded": "cache",
    "the model's cache, prompts of one length": "cache, even",
    "no cache": "none",
}


def _sampled(config: Any) -> str:
    try:
        policy = TransformersPolicy(build(config), tokenizer())
    except UserError:
        return "refused"
    far = _sampling_gap(policy, build(config))
    return WORDS[policy.proof.way] if far <= BOUND else f"{SILENT} by {far:.2g}"


def _sampling_gap(policy: TransformersPolicy, plain: Any) -> float:
    """Largest difference of rows that join at different times."""
    prompts = [ids(count, count) for count in (37, 45, 50)]
    waiting = [
        (prompt, policy.submit(Request(tuple(prompt), seed, SamplingParams(max_tokens=6 + 5 * seed))))
        for seed, prompt in enumerate([prompts[0], prompts[0], prompts[1]])
    ]
    for _ in range(4):
        policy.work(1)
    waiting.append((prompts[2], policy.submit(Request(tuple(prompts[2]), 9, SamplingParams(max_tokens=9)))))
    while not all(future.done() for _, future in waiting):
        policy.work(1)
    gaps = []
    with torch.no_grad():
        for prompt, future in waiting:
            done = future.result()
            own = plain_logps(plain, [*prompt, *done.token_ids], len(prompt))
            gaps.append((torch.tensor(done.logprobs) - own).abs().max())
    return float(torch.stack(gaps).max())


def samples() -> list[Sample]:
    """Two tasks of three and two answers of unlike length, of which one has two turns."""
    found = []
    for prompt, answers in ((ids(41, 1), (19, 3, 12)), (ids(29, 2), (8, 25))):
        for answer in answers:
            whole = [*prompt, *ids(answer, answer)]
            mask = [0] * len(prompt) + [1] * answer
            if answer == 19:
                mask[len(prompt) + 5 : len(prompt) + 9] = [0] * 4
            nothing = [0] * len(whole)
            found.append(Sample(whole, mask, nothing, nothing, nothing, len(prompt)))
    return found


def _updated(config: Any) -> str:
    model, plain = build(config), build(config)
    try:
        way = update_of(model).way
    except UserError:
        return "refused"
    far = max(
        _update_gap(model, plain, token_logps),
        _update_gap(build(config), build(config), partial(token_logps, way="rows")),
    )
    return way if far <= BOUND else f"{SILENT} by {far:.2g}"


def _update_gap(model: Any, plain: Any, logps: Any) -> float:
    """The larger of two: of log-probabilities, and of the gradient of all weights, relative to its size."""
    some = samples()
    found, _ = logps(model, some, head=model.get_output_embeddings(), temperature=1.0)
    weights = torch.linspace(-1, 2, len(found))
    (found * weights).sum().backward()
    own = torch.cat(
        [
            plain_logps(plain, one.ids, one.prompt)[torch.tensor(one.mask[one.prompt :], dtype=torch.bool)]
            for one in some
        ]
    )
    (own * weights).sum().backward()
    pairs = list(zip(model.parameters(), plain.parameters(), strict=True))
    one, other = (
        torch.cat([torch.zeros_like(w).flatten() if w.grad is None else w.grad.flatten() for w in side])
        for side in zip(*pairs, strict=True)
    )
    return max(float((found - own).detach().abs().max()), float((one - other).norm() / other.norm()))


def _lora(config: Any) -> str:
    """Adapters that are not zero: sampled and updated against the plain pass of a copy with the same ones."""
    found = []
    try:
        for _ in range(2):
            torch.manual_seed(0)
            model = build(config)
            update_of(model)
            found.append((model, adapted(model)))
        (model, one), (_, plain) = found
        with torch.no_grad():
            plain_logps(plain, ids(40, 3), 1)
    except UserError:
        return "refused"
    except (ValueError, RuntimeError, AttributeError) as error:
        return f"not by PEFT ({type(error).__name__})"
    far = max(
        _update_gap(one, plain, token_logps), _sampling_gap(TransformersPolicy(model, tokenizer()), plain)
    )
    return "yes" if far <= BOUND else f"{SILENT} by {far:.2g}"


def adapted(model: Any) -> Any:
    """With adapters in place that are not zero."""
    lora = LoraConfig(
        r=2, target_modules="all-linear", exclude_modules=unadaptable(model), init_lora_weights=False,
        task_type="CAUSAL_LM",
    )  # fmt: skip
    return get_peft_model(model, lora).eval()


def _exported(config: Any) -> str:
    """Saved with adapters added in, and loaded again."""
    torch.manual_seed(0)
    text = ids(40, 3)
    model = build(config)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        try:
            before = plain_logps(adapted(model), text, 1)
        except (ValueError, RuntimeError, AttributeError):
            model = build(config)
            before = plain_logps(model, text, 1)
        try:
            whole = build(config)
            whole.load_state_dict(dict(named_weights(model)), strict=False)
            whole.save_pretrained(folder)
            again = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
            far = float((plain_logps(again, text, 1) - before).abs().max())
        except (ValueError, RuntimeError, AttributeError, NotImplementedError) as error:
            return f"not by transformers ({type(error).__name__})"
    return "yes" if far <= BOUND else f"{SILENT} by {far:.2g}"


def main() -> None:
    """Every row, or those of the types that are named, printed alone."""
    warnings.filterwarnings("ignore")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    configs, named = tiny_configs(), sys.argv[1:]
    rows = []
    for name in named or configs:
        started = time.perf_counter()
        rows.append(row(name, configs[name]))
        print(rows[-1], f"({time.perf_counter() - started:.1f} s)", flush=True)
    if not named:
        left = "\n".join(f"- `{name}`: {why}" for name, why in sorted(LEFT_OUT.items()))
        head = PAGE.read_text().partition(TITLE)[0]
        text = "\n".join(map(str, rows))
        PAGE.write_text(f"{head}{TITLE}{text}\n\nLeft out:\n\n{left}\n")


if __name__ == "__main__":
    main()
