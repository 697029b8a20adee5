"""Proves that a fast way to compute log-probabilities is correct by comparing it with the model's plain forward pass.

The plain pass computes one text alone, without a cache, padding or any of our code. Every faster way is tried on a few
short texts of random tokens before it is used, and on texts beyond the model's windows if a run has any.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel

from strop.policies.attention import (
    PREFIX,
    Watch,
    alone,
    attend_alone,
    attend_in_groups,
    grouped,
    prefix_tree,
)
from strop.policies.cohorts import CohortBatch
from strop.policies.decode_batch import DecodeBatch, DecodedRow, DecodedRows, Decoder
from strop.policies.graph_batch import GraphBatch, GraphWarning
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import SamplingParams

BOUND = 1e-3
"""Maximum difference of a log-probability in float32, in nats."""
ROUNDINGS = 2
"""In shorter types, the mean may additionally differ by this multiple of the effect of rounding."""
PROMPT, ANSWERS = 30, (7, 4)
"""Token counts of the texts that are tried: a prompt, and two answers to it."""


@dataclass(frozen=True)
class Proof:
    """Evidence that a way of computing is correct.

    way      its name
    gap      difference from the plain pass in nats: the largest in float32, the mean in shorter types
    bound    limit of the gap
    tokens   of the longest text that was tried
    left     {faster way: why it was not chosen}
    """

    way: str
    gap: float
    bound: float
    tokens: int
    left: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        left = "".join(f"; not by {name}: {why}" for name, why in self.left.items())
        return f"by {self.way}, within {self.gap:.1g} nats of the model's plain forward pass{left}"


def bare(model: Any) -> PreTrainedModel:
    """The transformers model inside wrappers (DDP, PEFT, DeepSpeed)."""
    return next(one for one in model.modules() if isinstance(one, PreTrainedModel))


def plain_rows(model: Any, ids: Sequence[int], start: int) -> torch.Tensor:
    """(T - start, V) float32 log-probabilities of all words at positions `start` to T of a text, by the plain pass."""
    row = torch.tensor([list(ids)], device=next(model.parameters()).device)
    with alone(bare(model)):
        logits = model(input_ids=row, use_cache=False).logits[0, start - 1 : -1]
    return torch.log_softmax(logits.float(), dim=-1)


def plain_logps(model: Any, ids: Sequence[int], start: int) -> torch.Tensor:
    """(T - start,) log-probabilities of the text's own tokens, by the plain pass."""
    rows = plain_rows(model, ids, start)
    return rows.gather(1, torch.tensor(list(ids[start:]), device=rows.device)[:, None])[:, 0]


def random_ids(model: Any, count: int, seed: int) -> list[int]:
    """Random token ids from the middle of a model's vocabulary, where there are no special tokens."""
    size = model.get_input_embeddings().weight.shape[0] if model.get_input_embeddings() is not None else 64
    size = min(size, getattr(model.config.get_text_config(), "vocab_size", size) or size)
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(size // 8, max(size // 8 + 1, size * 3 // 4), (count,), generator=generator)
    return [int(one) for one in ids]


@dataclass
class Text:
    """A text and its log-probabilities from `start` on by the plain pass, either of its tokens or of all words."""

    ids: list[int]
    start: int
    logps: torch.Tensor


class Yardstick:
    """Decides which difference from the plain pass is too large for a model."""

    def __init__(self, model: Any) -> None:
        self._model = model
        quantised = getattr(model, "quantization_method", None) is not None  # computes in bfloat16
        self._step = torch.finfo(torch.bfloat16 if quantised else model.dtype).eps
        self.exact = self._step <= torch.finfo(torch.float32).eps
        """Whether the model computes in float32 or wider."""

    def gap(self, found: Sequence[torch.Tensor], texts: Sequence[Text]) -> tuple[float, float]:
        """(the gap, its bound). The gap is infinite if a value is not finite."""
        far = torch.cat([(a.float() - t.logps).abs().flatten() for a, t in zip(found, texts, strict=True)])
        if not far.isfinite().all():
            return float("inf"), BOUND
        if self.exact:
            size = torch.cat([text.logps.abs().flatten() for text in texts])
            return float((far - 1e-5 * size).max().clamp(min=0)), BOUND
        noise = (self._rounded(texts[-1]) - texts[-1].logps).abs()
        return float(far.mean()), BOUND + ROUNDINGS * float(noise.mean())

    @torch.no_grad()
    def _rounded(self, text: Text) -> torch.Tensor:
        """The plain pass with the outputs of all matrices moved up or down by half of their last bit."""
        generator = torch.Generator().manual_seed(0)

        def move(_module: Any, _inputs: Any, out: Any) -> Any:
            if not isinstance(out, torch.Tensor) or not out.is_floating_point():
                return None
            sign = torch.randint(0, 2, out.shape, generator=generator).to(out.device) * 2 - 1
            return (out.float() * (1 + self._step / 2 * sign)).to(out.dtype)

        kinds = (torch.nn.Linear, torch.nn.Embedding)
        moved = [one for one in self._model.modules() if isinstance(one, kinds)]
        plain = plain_logps if text.logps.dim() == 1 else plain_rows
        with ExitStack() as hooks:
            for one in moved:
                hooks.enter_context(one.register_forward_hook(move))
            return plain(self._model, text.ids, text.start)


@contextmanager
def at_rest(model: Any) -> Iterator[None]:
    """Temporarily puts the model into eval mode."""
    training = [one for one in model.modules() if one.training]
    model.eval()
    try:
        yield
    finally:
        for one in training:
            one.training = True


_watched: WeakKeyDictionary[Any, Watch | None] = WeakKeyDictionary()
_kinds: dict[tuple[type, str, str], Watch | None] = {}
"""`_watched` by (class, attention, configuration), which determine a model's layers."""


def watch(model: PreTrainedModel) -> Watch | None:
    """What a model's layers ask of attention; the model attends in groups from now on. Returns None, and leaves it as
    it is, if a layer bypasses transformers' attention interface or needs what `group_attention` does not support.
    """
    if model not in _watched:
        config = model.config
        told = {name: value for name, value in config.to_dict().items() if name != "dtype"}
        kind = type(model), config._attn_implementation, repr(told)
        attend_in_groups(model)
        if kind not in _kinds:
            _kinds[kind] = _seen(model)
        _watched[model] = seen = _kinds[kind]
        if seen is None:
            attend_alone(model)
    return _watched[model]


@torch.no_grad()
def _seen(model: PreTrainedModel) -> Watch | None:
    prompt = random_ids(model, PROMPT, 0)
    tree, _ = prefix_tree([[*prompt, *random_ids(model, 3, n)] for n in (1, 2)], model.device)
    sharded = isinstance(next(model.parameters()), DTensor)
    decoder = model if sharded else model.base_model  # FSDP2 gathers if the whole model is called
    try:
        with at_rest(model), grouped() as seen:
            decoder(
                input_ids=tree.ids[None], position_ids=tree.positions[None], prefix_tree=tree, use_cache=False
            )
    except (torch.OutOfMemoryError, MemoryError):
        raise
    except Exception:  # the model's code does not know prefix trees
        return None
    layers = model.config.get_text_config().num_hidden_layers
    right = seen.layers == layers and not seen.others and seen.masks == seen.windows
    return seen if right else None


_decoders: WeakKeyDictionary[Any, dict[tuple[Any, ...], tuple[Decoder, Proof]]] = WeakKeyDictionary()


def decoder_of(model: PreTrainedModel, pad_id: int, *, longest: int = 0) -> tuple[Decoder, Proof]:
    """The fastest way of sampling that reproduces a model's own log-probabilities; cached per model.

    longest  tokens of the longest text to come
    Raises UserError if there is none.
    """
    known = _decoders.setdefault(model, {})
    kind = (model.dtype, model.config._attn_implementation.removeprefix(PREFIX), *turns(model, longest))
    if kind not in known:
        known[kind] = _found(model, pad_id, longest)
    return known[kind]


def _found(model: PreTrainedModel, pad_id: int, longest: int) -> tuple[Decoder, Proof]:
    ways: dict[str, Decoder] = {}
    seen, context = watch(model), getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if seen is not None and all(context and context <= window for window in seen.windows):
        if model.device.type == "cuda":
            ways["shared prompts, CUDA graphs"] = GraphBatch
        ways["shared prompts"] = DecodeBatch
    ways["the model's cache, padded"] = partial(CohortBatch, kind="padded")
    ways["the model's cache, prompts of one length"] = partial(CohortBatch, kind="even")
    ways["no cache"] = partial(CohortBatch, kind="uncached")
    lengths = [PROMPT, PROMPT - 9, *around(turns(model, longest))]
    prompts = [random_ids(model, count, count) for count in lengths]

    def tried(way: Decoder) -> tuple[list[torch.Tensor], list[Text]]:
        rows = _sampled(way(model, pad_id), prompts)
        texts = []
        for row, _ in rows:
            ids, start = [*row.request.prompt, *row.tokens], len(row.request.prompt)
            texts.append(Text(ids, start, plain_rows(model, ids, start)))
        return [found for _, found in rows], texts

    with at_rest(model), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        return first_right(model, ways, tried, "sampling", longest)


Way = TypeVar("Way")


def first_right(
    model: Any,
    ways: dict[str, Way],
    tried: Callable[[Way], tuple[list[torch.Tensor], list[Text]]],
    what: str,
    longest: int,
) -> tuple[Way, Proof]:
    """The first way that reproduces a model's own log-probabilities. Raises UserError if none does."""
    yardstick, left = Yardstick(model), dict[str, str]()
    for name, way in ways.items():
        try:
            found, texts = tried(way)
            gap, bound = yardstick.gap(found, texts)
        except (torch.OutOfMemoryError, MemoryError, UserError):
            raise
        except Exception as error:  # from a model's own code
            left[name] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            continue
        if gap <= bound:
            return way, Proof(name, gap, bound, max(len(text.ids) for text in texts), left)
        left[name] = f"differs by {gap:.2g} nats"
    told = "; ".join(f"{name}: {why}" for name, why in left.items())
    places = turns(model, longest)
    until = (
        f" on texts of more than {places[0]} tokens (prompt and answer); keep them shorter" if places else ""
    )
    fault = f"{type(model).__name__} is not supported{until}"
    raise UserError(f"{fault}: no way of {what} gives its own log-probabilities ({told})")


def around(places: Sequence[int]) -> list[int]:
    """Lengths of prompts just below and above each of these lengths, so that answers or prompts cross them."""
    return [place + more for place in places for more in (-2, 8)]


def turns(model: PreTrainedModel, longest: int) -> list[int]:
    """Lengths below `longest` beyond which a model computes differently: windows, chunks, scaled positions."""
    config = model.config.get_text_config()
    names = ("sliding_window", "attention_chunk_size", "chunk_size", "mamba_chunk_size")
    found = {getattr(config, name, None) for name in names}
    rope = getattr(config, "rope_parameters", None) or {}
    for one in [rope, *(value for value in rope.values() if isinstance(value, dict))]:
        if one.get("rope_type") in ("dynamic", "longrope"):
            found.add(one.get("original_max_position_embeddings"))
    return sorted(place for place in found if isinstance(place, int) and PROMPT < place < longest)


def _sampled(batch: DecodedRows, prompts: Sequence[Sequence[int]]) -> list[tuple[DecodedRow, torch.Tensor]]:
    """Samples rows after the prompts: two after the first, one of which ends early; one more joins later. Returns each
    row with the log-probabilities of all words, token by token (T, V).
    """
    sizes = [(prompts[0], 2), (prompts[0], 4), *((prompt, 4) for prompt in prompts[1:]), (prompts[1], 2)]
    requests = [
        Request(tuple(prompt), at, SamplingParams(max_tokens=size)) for at, (prompt, size) in enumerate(sizes)
    ]
    words: dict[DecodedRow, list[torch.Tensor]] = {}
    waiting = [requests[:-1], [], requests[-1:]]
    while batch.rows or waiting:
        if waiting and (joining := waiting.pop(0)):
            words |= {row: [] for row in batch.join(joining, [None] * len(joining))}
        for row, logps in zip(batch.rows, batch.logits.float().log_softmax(dim=-1), strict=True):
            if row is not None:
                words[row].append(logps)
        for row in list(batch.choose()):
            if len(row.tokens) == row.request.params.max_tokens:
                batch.drop(row)
        batch.forward()
    return [(row, torch.stack(found)) for row, found in words.items()]
