"""Attention over shared prefixes: the keys of a prefix that several rows share are stored once.

`PrefixTree` is for the update, `SharedPrompts` for decoding. In both, heads that share keys (GQA) become query
positions, so that no key is repeated.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, takewhile
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, AttentionMaskInterface
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

PREFIX = "strop-"
"""Prefix of this attention's name in transformers; the name of the usual one follows, such as sdpa."""
LEAST = 16
"""Minimum number of common tokens that are worth computing only once."""


@dataclass(frozen=True)
class Fork:
    """Segments of a prefix tree that continue one path; each attends to the path and itself, not to the others.

    path      (P,) indices of its tokens in the row
    segments  (G, C) indices of each segment's tokens, padded on the right with any index
    """

    path: torch.Tensor
    segments: torch.Tensor


@dataclass(frozen=True)
class PrefixTree:
    """Sequences of tokens as one row of L tokens that contains common prefixes once.

    ids, positions  (L,) of the tokens; a position is the token's index in its sequence
    reads   the padded segments of all forks end to end, then their paths
    origin  (L,) each token's index in `reads`
    """

    ids: torch.Tensor
    positions: torch.Tensor
    forks: list[Fork]
    reads: torch.Tensor
    origin: torch.Tensor


def prefix_tree(sequences: Sequence[Sequence[int]], device: Any) -> tuple[PrefixTree, list[list[int]]]:
    """(the tree, for each sequence the indices of its tokens in the row). No sequence may be empty."""
    ids, positions, origin = list[int](), list[int](), list[int]()
    forks, end = list[Fork](), 0
    places: list[list[int]] = [[] for _ in sequences]
    waiting = [sorted(range(len(sequences)), key=lambda number: list(sequences[number]))]
    while waiting:  # sequences whose path is laid out
        numbers = waiting.pop()
        path, segments = places[numbers[0]], list[list[int]]()
        for some in _bunches(sequences, numbers, len(path)):
            stop = common(sequences[some[0]], sequences[some[-1]])
            segments.append(list(range(len(ids), len(ids) + stop - len(path))))
            ids += sequences[some[0]][len(path) : stop]
            positions += range(len(path), stop)
            for number in some:
                places[number] = path + segments[-1]
            if longer := [number for number in some if len(sequences[number]) > stop]:
                waiting.append(longer)
        longest = max(map(len, segments))
        for number, segment in enumerate(segments):
            origin += range(end + number * longest, end + number * longest + len(segment))
        end += len(segments) * longest
        padded = [segment + [0] * (longest - len(segment)) for segment in segments]
        forks.append(
            Fork(torch.tensor(path, dtype=torch.long, device=device), torch.tensor(padded, device=device))
        )
    row, where, back = (torch.tensor(values, device=device) for values in (ids, positions, origin))
    reads = torch.cat([*(fork.segments.flatten() for fork in forks), *(fork.path for fork in forks)])
    return PrefixTree(row, where, forks, reads, back), places


def _bunches(sequences: Sequence[Sequence[int]], numbers: list[int], start: int) -> list[list[int]]:
    """Groups sorted sequences that share at least LEAST tokens from `start` on, or one whole sequence."""
    bunches = [[numbers[0]]]
    for before, number in pairwise(numbers):
        shared = common(sequences[before], sequences[number])
        if shared - start >= LEAST or shared == len(sequences[before]):
            bunches[-1].append(number)
        else:
            bunches.append([number])
    return bunches


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """Length of the common prefix."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@dataclass(frozen=True)
class SharedPrompts:
    """The prompts of the rows that are being decoded: U prompts of up to P tokens, R rows.

    keys, values  one (U, key heads, P, size) per layer
    mask   (U, P) bool, False for padding
    rows   (U, maximum rows per prompt) the rows of each prompt, padded with any row
    place  (R,) each row's index in the flattened `rows`
    own    (R, K) bool, False for those of a row's K own places that hold no token yet; None if all hold one
    """

    keys: list[torch.Tensor]
    values: list[torch.Tensor]
    mask: torch.Tensor
    rows: torch.Tensor
    place: torch.Tensor
    own: torch.Tensor | None = None

    @classmethod
    def of_rows(
        cls, keys: list[torch.Tensor], values: list[torch.Tensor], mask: torch.Tensor, prompt: list[int]
    ) -> tuple["SharedPrompts", list[int]]:
        """(the prompts that have rows, each row's prompt index among them); row r has the prompt prompt[r]."""
        used = sorted(set(prompt))
        members = [[row for row, p in enumerate(prompt) if p == one] for one in used]
        most = max(map(len, members))
        place = {row: at * most + i for at, group in enumerate(members) for i, row in enumerate(group)}
        if len(used) < len(mask):
            kept = torch.tensor(used, device=mask.device)
            keys, values = ([layer[kept] for layer in layers] for layers in (keys, values))
            mask = mask[kept]
        shared = cls(
            keys=keys,
            values=values,
            mask=mask,
            rows=torch.tensor([group + [0] * (most - len(group)) for group in members], device=mask.device),
            place=torch.tensor([place[row] for row in range(len(prompt))], device=mask.device),
        )
        return shared, [used.index(p) for p in prompt]


@dataclass
class Watch:
    """What a model asks of this attention during one forward pass.

    layers   number of calls
    windows  window sizes of the layers that have one
    masks    window and chunk sizes of the masks that the model makes
    others   unsupported arguments: soft caps, sinks, biases, dropout
    """

    layers: int = 0
    windows: set[int] = field(default_factory=set)
    masks: set[int] = field(default_factory=set)
    others: set[str] = field(default_factory=set)


_watch: ContextVar[Watch | None] = ContextVar("_watch", default=None)


@contextmanager
def grouped() -> Iterator[Watch]:
    """Keeps a model that attends in groups from making masks: `PrefixTree` and `SharedPrompts` replace them."""
    seen = Watch()
    token = _watch.set(seen)
    try:
        yield seen
    finally:
        _watch.reset(token)


def group_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    usual: Callable[..., Any],
    prefix_tree: PrefixTree | None = None,
    shared_prompts: SharedPrompts | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """query (rows, heads, length, size) against (rows, key heads, key length, size) -> (rows, length, heads, size)."""
    if prefix_tree is None and shared_prompts is None:
        return usual(module, query, key, value, attention_mask, **options)  # type: ignore[no-any-return]
    scale, window = options.get("scaling") or query.shape[-1] ** -0.5, options.get("sliding_window")
    if seen := _watch.get():
        seen.layers += 1
        seen.windows |= {window} if window else set()
        seen.others |= {name for name in _OTHERS if options.get(name) is not None}
        seen.others |= {"dropout"} if options.get("dropout") else set()
    if shared_prompts is not None:
        return _attend_behind_prompts(module.layer_idx, query, key, value, shared_prompts, scale), None
    assert prefix_tree is not None
    return _attend_tree(prefix_tree, query[0], key[0], value[0], scale, window)[None], None


_OTHERS = ("softcap", "s_aux", "position_bias", "indices")
"""Arguments of attention functions, besides scale and window, that change the result."""


def _no_mask(*arguments: Any, usual: Callable[..., Any], **options: Any) -> Any:
    """A mask function for transformers that makes no mask within `grouped`."""
    seen = _watch.get()
    if seen is None:
        return usual(*arguments, **options)
    if options.get("local_size"):
        seen.masks.add(options["local_size"])
    return None


SHORT = 512
"""Up to this many keys, a CPU attends in float32: its kernel's backward pass is three times slower in bfloat16."""
BLOCK = 512
"""Queries per mask, so that memory grows with the length and not with its square."""


def _attend_tree(
    tree: PrefixTree,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    window: int | None,
) -> torch.Tensor:
    """(L, heads, size): attention of the tree's tokens, from query, key and value (heads, L, size)."""
    if len(tree.forks) == len(tree.forks[0].segments) == 1:  # a single text
        return _attend_fork(tree.forks[0], query, (key, value), (key[:, :0], value[:, :0]), scale, window)
    own = [fork.segments.numel() for fork in tree.forks]
    queries = query.index_select(1, tree.reads[: sum(own)]).split(own, dim=1)
    sizes = [*own, *(len(fork.path) for fork in tree.forks)]
    keys, values = (tensor.index_select(1, tree.reads).split(sizes, dim=1) for tensor in (key, value))
    paths, blocks = len(own), list[torch.Tensor]()
    for at, fork in enumerate(tree.forks):
        segment, path = (keys[at], values[at]), (keys[paths + at], values[paths + at])
        blocks.append(_attend_fork(fork, queries[at], segment, path, scale, window))
    return torch.cat(blocks).index_select(0, tree.origin)


def _attend_fork(
    fork: Fork,
    query: torch.Tensor,
    segment: tuple[torch.Tensor, torch.Tensor],
    path: tuple[torch.Tensor, torch.Tensor],
    scale: float,
    window: int | None,
) -> torch.Tensor:
    """(G x C, heads, size), from the segments' query (heads, G x C, size), their key and value, and the path's key and
    value (key heads, P, size).
    """
    rows, longest = fork.segments.shape
    before, dtype = len(fork.path), segment[1].dtype
    short = query.device.type == "cpu" and before + longest <= SHORT
    read = [query, *segment, *path]
    query, *pairs = [one.float() for one in read] if short else read
    queries, keys, values = (one.unflatten(1, (rows, longest)).transpose(0, 1) for one in (query, *pairs[:2]))
    if before:
        keys, values = (
            torch.cat([one.expand(rows, -1, -1, -1), mine], dim=2)
            for one, mine in zip(pairs[2:], (keys, values), strict=True)
        )
    if window and window >= before + longest:
        window = None
    with torch.autocast("cpu", enabled=False) if short else nullcontext():
        if not before and window is None:
            out = scaled_dot_product_attention(
                queries, keys, values, is_causal=True, scale=scale, enable_gqa=True
            )
        else:
            out = _attend_in_blocks(queries, keys, values, scale, window)
    return out.to(dtype).transpose(1, 2).flatten(0, 1)


def _attend_in_blocks(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float, window: int | None
) -> torch.Tensor:
    """(rows, heads, C, size): the last C of P + C positions, each query over the `window` keys up to its own."""
    length, keys = query.shape[2], key.shape[2]
    size = min(BLOCK, length)
    width = keys if window is None else min(keys, size + window - 1)
    mask = torch.ones(size, width, dtype=torch.bool, device=query.device).tril(width - size)
    if window is not None:
        mask = mask.triu(width - size - window + 1)
    blocks = []
    for start in range(0, length, size):
        end = min(start + size, length)
        last = keys - length + end
        first = 0 if window is None else max(0, last - (end - start) - window + 1)
        part = slice(first, last)
        blocks.append(
            _attend(
                query[:, :, start:end], key[:, :, part], value[:, :, part],
                mask[size - (end - start) :, width - (last - first) :], scale,
            )
        )  # fmt: skip
    return torch.cat(blocks, dim=2)


def _attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor, scale: float
) -> torch.Tensor:
    """(rows, heads, length, size), without copying keys that heads share. mask: (length, key length) bool."""
    if query.device.type == "cpu":
        return scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale, enable_gqa=True)
    rows, heads, length, size = query.shape  # a GPU's kernels do not share keys under a mask
    shared = heads // key.shape[1]
    folded = query.reshape(rows, key.shape[1], shared * length, size)
    out = scaled_dot_product_attention(folded, key, value, attn_mask=mask.repeat(shared, 1), scale=scale)
    return out.reshape(rows, heads, length, size)


def _attend_behind_prompts(
    layer: int,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    prompts: SharedPrompts,
    scale: float,
) -> torch.Tensor:
    """(R, 1, heads, size): attention of each row's newest token to its prompt and its own key and value (R, ...).

    The two parts are weighted by their softmax masses, as flash attention joins blocks (arXiv 2205.14135, section 3.1).
    """
    rows, heads, _, size = query.shape
    key_heads = key.shape[1]
    folded = query.reshape(rows, key_heads, heads // key_heads, size)
    written = None if prompts.own is None else prompts.own[:, None, None]
    own, own_mass = _masses(folded, key, value, written, scale)
    count, most = prompts.rows.shape
    queries = folded[prompts.rows].transpose(1, 2).reshape(count, key_heads, -1, size)
    far = _masses(queries, prompts.keys[layer], prompts.values[layer], prompts.mask[:, None, None], scale)
    seen, seen_mass = (
        part.reshape(count, key_heads, most, -1, part.shape[-1]).transpose(1, 2).flatten(0, 1)[prompts.place]
        for part in far
    )
    out = torch.lerp(own.float(), seen.float(), torch.sigmoid(seen_mass - own_mass))
    return out.to(query.dtype).reshape(rows, 1, heads, size)


def _masses(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """(values (..., length, size), logarithm of the softmax's denominator (..., length, 1) in float32)."""
    if query.device.type == "cpu":  # the kernel of scaled_dot_product_attention
        bias = None
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, -torch.inf)
        out, log = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, attn_mask=bias, scale=scale
        )
        return out, log[..., None]
    scores = torch.matmul(query * scale, key.transpose(-1, -2)).float()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    mass = scores.logsumexp(dim=-1, keepdim=True)
    return torch.matmul((scores - mass).exp().to(value.dtype), value), mass


def attend_in_groups(model: Any) -> None:
    """Makes a transformers model able to attend in groups; without a shared prefix it attends as before. Idempotent.

    Eager attention, which is part of the model's code, cannot be replaced: such a model stays as it is.
    """
    usual = model.config._attn_implementation
    if usual not in ALL_ATTENTION_FUNCTIONS or usual.startswith(PREFIX):
        return
    kernel, mask = ALL_ATTENTION_FUNCTIONS[usual], ALL_MASK_ATTENTION_FUNCTIONS[usual]
    AttentionInterface.register(PREFIX + usual, partial(group_attention, usual=kernel))
    AttentionMaskInterface.register(PREFIX + usual, partial(_no_mask, usual=mask))
    model.config._attn_implementation = PREFIX + usual


def attend_alone(model: Any) -> None:
    """Undoes `attend_in_groups`."""
    if model.config._attn_implementation.startswith(PREFIX):
        model.config._attn_implementation = model.config._attn_implementation.removeprefix(PREFIX)


@contextmanager
def alone(model: Any) -> Iterator[None]:
    """Temporarily restores the model's usual attention, since some classes check the attention's name."""
    name = model.config._attn_implementation
    attend_alone(model)
    try:
        yield
    finally:
        if name.startswith(PREFIX):
            model.config._attn_implementation = name
