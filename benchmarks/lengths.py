"""Peak memory and seconds of an update by text length: Strop's compared with the model's plain forward pass.

python benchmarks/lengths.py --json lengths.json [--type mistral] [--answers 4] [--way rows] [--most 16384]

A random model, a forward and a backward pass over one text (or some answers to one prompt of a quarter of the length).
Memory is that of a separate process above the model; seconds are medians of both, in turns in one process. Plain:
transformers' forward pass of the texts as rows of one batch, with whole logits and log-softmax.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
SIZES: dict[str, Any] = dict(
    hidden_size=128, intermediate_size=384, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, head_dim=32, max_position_embeddings=32768,
)  # fmt: skip


def resident(name: str) -> int:
    """A number of this process's /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(name)


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """The numbers of one process."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from strop.policies.proof import plain_logps
    from strop.training import logps
    from strop_verify.core.rollout import Sample

    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    config = AutoConfig.for_model(args.type, **SIZES, vocab_size=args.vocabulary)
    model = AutoModelForCausalLM.from_config(config).eval()
    head = model.get_output_embeddings()

    def samples(length: int) -> list[Sample]:
        prompt = length // 4
        start = torch.randint(10, args.vocabulary, (prompt,)).tolist()
        texts = [
            [*start, *torch.randint(10, args.vocabulary, (length - prompt,)).tolist()]
            for _ in range(args.answers)
        ]
        nothing = [0] * length
        mask = [0] * prompt + [1] * (length - prompt)
        return [Sample(text, mask, nothing, nothing, nothing, prompt) for text in texts]

    def plain(some: list[Sample]) -> torch.Tensor:
        ids = torch.tensor([one.ids for one in some])
        logits = model(input_ids=ids, use_cache=False).logits[:, some[0].prompt - 1 : -1]
        found = torch.log_softmax(logits.float(), dim=-1)
        return found.gather(2, ids[:, some[0].prompt :, None]).flatten()

    def ours(some: list[Sample]) -> torch.Tensor:
        return logps.token_logps(model, some, head=head, temperature=1.0)[0]

    way = logps.update_of(model, ways=[args.way] if args.way else None).way
    computed = {"plain": [plain], "ours": [ours], "times": [ours, plain]}[args.side]
    if args.side != "plain":
        (one, *_) = short = samples(256)
        far = (ours(short)[: one.tokens] - plain_logps(model, one.ids, one.prompt)).abs().max()
        assert far < 1e-3, far
    for compute in computed:
        compute(samples(64)).sum().backward()
    some = samples(args.length)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    seconds: list[list[float]] = [[] for _ in computed]
    while not seconds[0] or (len(computed) > 1 and sum(seconds[0]) < args.seconds and len(seconds[0]) < 25):
        for compute, times in zip(computed, seconds, strict=True):
            model.zero_grad(set_to_none=True)
            started = time.perf_counter()
            compute(some).sum().backward()
            times.append(time.perf_counter() - started)
    found: dict[str, Any] = {"bytes": resident("VmHWM") - before, "way": way}
    return found | dict(zip(("ours", "plain"), map(statistics.median, seconds), strict=False))


def one(args: argparse.Namespace, side: str, length: int) -> dict[str, Any]:
    """`measure` in a separate process."""
    words = [sys.executable, __file__, "--side", side, "--length", str(length), "--type", args.type]
    words += [
        "--vocabulary",
        str(args.vocabulary),
        "--answers",
        str(args.answers),
        "--threads",
        str(args.threads),
        "--seconds",
        str(args.seconds),
    ]
    words += ["--way", args.way] if args.way else []
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(told.splitlines()[-1])
    return found


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--type", default="llama", help="a model type of transformers")
    parser.add_argument("--answers", type=int, default=1, help="to one prompt")
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--way", help="tree, cache, rows or one; the first that is right without it")
    parser.add_argument("--most", type=int, default=LENGTHS[-1])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0, help="that a text is repeated for")
    parser.add_argument("--side", choices=("ours", "plain", "times"), help=argparse.SUPPRESS)
    parser.add_argument("--length", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        print(json.dumps(measure(args)))
        return
    rows = []
    for length in (length for length in LENGTHS if length <= args.most):
        ours, plain, times = (one(args, side, length) for side in ("ours", "plain", "times"))
        rows.append(
            {
                "length": length, "way": ours["way"],
                "ours_mb": ours["bytes"] / 1e6, "plain_mb": plain["bytes"] / 1e6,
                "memory_ratio": ours["bytes"] / plain["bytes"],
                "ours_s": times["ours"], "plain_s": times["plain"], "time_ratio": times["ours"] / times["plain"],
            }
        )  # fmt: skip
        print(
            "{length:6} tokens, {way}: {ours_mb:8.1f} against {plain_mb:8.1f} MB ({memory_ratio:.2f}), "
            "{ours_s:7.3f} against {plain_s:7.3f} s ({time_ratio:.2f})".format(**rows[-1]),
            flush=True,
        )
    if args.json:
        args.json.write_text(
            json.dumps(
                {"type": args.type, "answers": args.answers, "vocabulary": args.vocabulary, "rows": rows},
                indent=1,
            )
        )


if __name__ == "__main__":
    main()
