"""Peak memory of each process while it reads its shards of a model (launch.engine=fsdp2), on CPUs with gloo.

    python benchmarks/loading.py [--json FILE] [--millions 268] [--processes 2 4]

A random Llama with that many million float32 weights is written once; then two, and four, processes load it as a run
does, after a tiny one that loads the libraries' code into memory. Written and printed for each number of processes,
the maximum over processes:

    share    bytes of its weights
    peak     largest growth of its resident memory during loading in bytes: VmHWM, reset before (clear_refs)
    ratio    peak / share
    seconds  time to load

Unchanged weights are parts of the mapped files, so all are read once before the peak is taken. Measured on CPUs (263
million weights, 1.05 GB): 1.02 with two processes (537 of 526 MB), 1.06 with four (280 of 263 MB). The exit code is 1
if a ratio is above 1.2.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.ranks import finished, started

MOST = 1.2
WIDTH, INNER, WORDS = 1024, 4096, 32_000


def make_model(folder: Path, millions: float) -> None:
    """A Llama with as many layers as the weights need."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    layer = WIDTH * (2 * WIDTH + 2 * WIDTH // 4) + 3 * WIDTH * INNER + 2 * WIDTH
    layers = max(1, round((millions * 1e6 - 2 * WORDS * WIDTH) / layer))
    sizes = {
        "vocab_size": WORDS,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": layers,
    }
    config = LlamaConfig(**sizes, num_attention_heads=16, num_key_value_heads=4)
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(folder / "model", max_shard_size="300MB")
    tiny = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": layers}
    LlamaForCausalLM(LlamaConfig(**tiny, num_attention_heads=2)).save_pretrained(folder / "tiny")


def resident(what: str) -> int:
    """Bytes of this process by a line of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{what}:"))


def load(folder: Path, target: Path) -> None:
    """One process: loads as a run does and writes its measurements."""
    from strop.config.load import load_recipe
    from strop.training.ranks import join, leave
    from strop.training.sharded_backends import load_backend

    ranks = join()
    words = ["model.dtype=float32", "policy.engine=vllm", "launch.engine=fsdp2"]
    load_backend(load_recipe([], [*words, f"model.name={folder}/tiny"]), ranks)
    recipe = load_recipe([], [*words, f"model.name={folder}/model"])
    ranks.barrier()
    Path("/proc/self/clear_refs").write_text("5")
    before, began = resident("VmRSS"), time.perf_counter()
    backend = load_backend(recipe, ranks)
    assert all(
        float(one.to_local().detach().sum()) for one in backend.model.parameters()
    )  # reads the mapped weights
    seconds, peak = time.perf_counter() - began, resident("VmHWM") - before
    held = {id(one): one for one in backend.model.parameters()}.values()
    share = sum(one.to_local().nbytes for one in held)
    found = ranks.gather({"share": share, "peak": peak, "ratio": peak / share, "seconds": seconds})
    if ranks.main:
        target.write_text(json.dumps({key: max(one[key] for one in found) for key in found[0]}))
    leave()


def measure(folder: Path, millions: float, processes: list[int]) -> dict[str, Any]:
    """The whole benchmark, in `folder`."""
    subprocess.run([sys.executable, __file__, "--make", str(folder), "--millions", str(millions)], check=True)
    found = {}
    for count in processes:
        target = folder / f"{count}.json"
        finished(started(count, [__file__, "--load", str(folder), "--json", str(target)]))
        found[str(count)] = json.loads(target.read_text())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--millions", type=float, default=268)
    parser.add_argument("--processes", type=int, nargs="*", default=[2, 4])
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)  # one process
    args = parser.parse_args()
    if args.make:
        make_model(args.make, args.millions)
        return 0
    if args.load:
        load(args.load, args.json)
        return 0
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), args.millions, args.processes)
    print(json.dumps(found, indent=2))
    if args.json:
        args.json.write_text(json.dumps(found) + "\n")
    return 0 if all(one["ratio"] <= MOST for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
