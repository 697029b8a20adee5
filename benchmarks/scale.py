"""Computes the cost of runs at scale: GPUs, CPU cores and hours. Prints the tables of docs/launch.md.

    python benchmarks/scale.py

A step is sampling, verdicts and update in sequence. Sampling: rows decode together, each token reading the weights and
the rows' cache from memory; after the mean length, a tenth of the rows continues to the longest. Update: 6 operations
per weight and token, 2 more with gradient checkpointing, and attention. Verdicts are judged during sampling, so they
cost cores but no time if there are enough cores. `H100` holds the assumptions about the machine. Nothing here was
measured on a GPU.
"""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace

from strop.config.load import load_recipe
from strop.policies.model_shape import PUBLISHED, ModelShape
from strop.training.memory import memory_plan
from strop_verify.core.rollout import Completion

MODELS = {
    "1.5B": "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
    "14B": "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B",
    "32B": "Qwen/Qwen2.5-Coder-32B-Instruct",
    "70B": "meta-llama/Llama-3.3-70B-Instruct",
}
GB, HOUR = 1e9, 3600.0
TAIL = 0.1
"""Share of the rows that continue after the mean length."""


@dataclass(frozen=True)
class Gpu:
    """A GPU: the maker's numbers, and the assumed efficiencies."""

    memory: float = 80 * GB
    operations: float = 989e12
    bandwidth: float = 3.35e12
    computing: float = 0.35
    reading: float = 0.6
    token: float = 0.005
    """Seconds of each decoding step besides reading: scheduling, exchange between the GPUs of a copy."""
    cache: float = 0.6
    """Share of memory available to a sampler's cache and weights."""


H100 = Gpu()

VERDICTS = {
    "Python function (HumanEval)": 0.003,
    "Rust answer, strict, in batches of 32": 0.0216,
    "Python project, with canaries": 0.99,
}
"""CPU seconds of one verdict, measured (experiments/LOG.md)."""
PROGRAM = 2.0
"""CPU seconds of up to 15 tests of a competitive program: assumed, not measured."""


@dataclass(frozen=True)
class Run:
    """The size of a run. mean, longest: sampled tokens of an answer; spread: GPUs of one sampling copy."""

    model: str
    gpus: int
    rows: int
    prompt: int
    mean: float
    longest: int
    steps: int
    spread: int = 1
    passes: int = 0
    """Forward passes besides the update's: log-probs of the old policy and of the reference."""
    verdict: float = PROGRAM

    @property
    def shape(self) -> ModelShape:
        """Parameters of its model."""
        shape = ModelShape.of_config(PUBLISHED[MODELS.get(self.model, self.model)], published=True)
        assert shape is not None
        return shape


@dataclass(frozen=True)
class Step:
    """Seconds of a step's parts, and the cores that judge its answers while the next ones are sampled."""

    sampling: float
    update: float
    cores: float

    @property
    def seconds(self) -> float:
        """Seconds of the whole step."""
        return self.sampling + self.update


def step_of(run: Run, gpu: Gpu = H100) -> Step:
    """The cost of one step."""
    sampling = _sampling(run, gpu)
    return Step(sampling, _update(run, gpu), run.rows * run.verdict / sampling)


def _sampling(run: Run, gpu: Gpu) -> float:
    shape, copies = run.shape, run.gpus // run.spread
    weights, cached = 2 * shape.parameters / run.spread, 2 * shape.cached / run.spread
    fit = (gpu.cache * gpu.memory - weights) / (cached * (run.prompt + run.longest))
    if fit < 1:
        raise ValueError(f"{run.model}: an answer's cache does not fit beside the weights; raise spread")
    wanted = run.rows / copies
    waves, rows = max(1.0, wanted / fit), min(wanted, fit)

    def token(rows: float, context: float) -> float:
        read = (weights + rows * context * cached) / (gpu.bandwidth * gpu.reading)
        computed = 2 * rows * shape.parameters / run.spread / (gpu.operations * gpu.computing)
        return max(read, computed) + gpu.token

    together = run.mean * token(rows, run.prompt + run.mean / 2)
    tail = (run.longest - run.mean) * token(TAIL * rows, run.prompt + (run.mean + run.longest) / 2)
    return waves * together + tail


def _update(run: Run, gpu: Gpu) -> float:
    shape, tokens = run.shape, run.rows * (run.prompt + run.mean)
    forward = 2 * shape.parameters + 2 * shape.layers * shape.queries * (run.prompt + run.mean)
    return tokens * forward * (4 + run.passes) / (run.gpus * gpu.operations * gpu.computing)


@dataclass(frozen=True)
class Published:
    """A reported run. low, high: its stages, with unreported values at their minimum and maximum."""

    name: str
    hours: float
    low: tuple[Run, ...]
    high: tuple[Run, ...]

    def computed(self) -> tuple[float, float]:
        """Minimum and maximum hours."""
        least, most = (
            sum(one.steps * step_of(one).seconds for one in side) for side in (self.low, self.high)
        )
        return least / HOUR, most / HOUR


_DEEPCODER = Run("14B", 32, 1024, 1024, 8_000, 32_768, 576, spread=2, passes=1)
_FIRST = replace(_DEEPCODER, longest=16_384, steps=180)
_SWE_RL = Run("70B", 512, 512, 4_000, 500, 2_000, 1600, spread=8, passes=1, verdict=0.01)
RUNS = (
    Published(
        "DeepCoder-14B, 32 H100",
        2.5 * 7 * 24,
        (replace(_FIRST, rows=256, mean=5_000), _DEEPCODER),
        (replace(_FIRST, mean=9_000), replace(_DEEPCODER, mean=16_000)),
    ),
    Published(
        "SWE-RL 70B, 512 H100", 32, (_SWE_RL,), (replace(_SWE_RL, prompt=8_000, mean=2_000, longest=8_000),)
    ),
)
"""DeepCoder: 2.5 weeks at 2,000 s per step (rLLM's scripts) are 756 steps, 180 of them in the 16K stage."""

WORKLOAD = {
    "1.5B": Run("1.5B", 8, 1024, 1024, 8_000, 16_384, 250),
    "14B": Run("14B", 32, 1024, 1024, 8_000, 16_384, 250, spread=2),
    "32B": Run("32B", 64, 1024, 1024, 8_000, 16_384, 250, spread=4),
    "70B": Run("70B", 128, 1024, 1024, 8_000, 16_384, 250, spread=8),
}
"""One workload at four sizes: 128 tasks of 8 answers, 8K tokens on average, at most 16K, 250 steps."""


def least_gpus(model: str, gpu: Gpu = H100) -> int:
    """The fewest GPUs, a power of two, on which ZeRO-3 trains whole weights on 16K answers, by the memory plan."""
    words = [
        f"model.name={MODELS[model]}", "launch.engine=zero3", "policy.engine=vllm-server", "launch.servers=1",
        "sampling.max_tokens=16384",
        "tasks.max_prompt_tokens=1024", "optim.micro_batch_tokens=17408", "optim.shared_prefix=true",
    ]  # fmt: skip
    shape = ModelShape.of_config(PUBLISHED[MODELS[model]])
    assert shape is not None
    world = 1
    while world < 4096:
        plan = memory_plan(load_recipe([], [*words, f"launch.processes={world}"]), shape)[0]
        if sum(plan.held.values()) + sum(plan.updating.values()) <= gpu.memory:
            return world
        world *= 2
    raise ValueError(f"{model} does not fit on {world} GPUs")


def bytes_a_token() -> float:
    """Bytes of a sampled token when ranks exchange their rollouts (`training.ranks`)."""
    count = 4096
    ids, logprobs = [(7919 * at) % 150_000 for at in range(count)], [-1 / (at + 1) for at in range(count)]
    return (
        len(pickle.dumps(Completion(text="", token_ids=ids, logprobs=logprobs, finish_reason="stop"))) / count
    )


INTERRUPTED = 419 / (54 * 24) / 2048
"""Unplanned interruptions per hour and node of 8 GPUs: Llama 3 405B, 419 in 54 days on 16,384 GPUs (arXiv
2407.21783, section 3.3.4)."""
DISK = 2 * GB
"""Assumed bytes per second that one process writes to a shared disk."""
SHARED = 50 * GB
"""Assumed bytes per second that a shared disk gives to all readers together."""


def table(head: str, rows: Iterator[str]) -> str:
    """A Markdown table."""
    columns = head.count("|") - 1
    return "\n".join([head, "|" + "---|" * columns, *rows])


def against() -> Iterator[str]:
    """The published runs."""
    for one in RUNS:
        low, high = one.computed()
        ratio = f"{low / one.hours:.2f} to {high / one.hours:.2f}"
        yield f"| {one.name} | {one.hours:,.0f} | {low:,.0f} to {high:,.0f} | {ratio} |"


def workloads() -> Iterator[str]:
    """The one workload at four sizes."""
    for name, run in WORKLOAD.items():
        step = step_of(run)
        hours = run.steps * step.seconds / HOUR
        parts = f"{step.sampling:,.0f} | {step.update:,.0f} | {step.cores:.0f}"
        yield f"| {name} | {least_gpus(name)} | {run.gpus} | {parts} | {hours:,.0f} | {run.gpus * hours:,.0f} |"


def cores() -> Iterator[str]:
    """Verdicts per core and second."""
    for name, seconds in VERDICTS.items():
        yield f"| {name} | {1000 * seconds:,.1f} | {1 / seconds:,.1f} | {1024 * seconds / 60:,.2f} |"


def breaks() -> Iterator[str]:
    """Costs that grow with the number of nodes: 8 GPUs each, 32 rows of 8,000 tokens per GPU, a 70B model."""
    shape = WORKLOAD["70B"].shape
    for nodes in (10, 100, 1000):
        rows = 32 * 8 * nodes
        gathered = rows * 8_000 * bytes_a_token()
        read = 2 * shape.parameters * nodes / SHARED
        yield (
            f"| {nodes:,} | {rows:,} | {gathered / GB:,.1f} GB | {gathered / GB * 8:,.0f} GB | "
            f"{12 * shape.parameters / DISK / 60:.0f} min | {read:,.0f} s | {1 / (INTERRUPTED * nodes):,.0f} h |"
        )


HEADS = {
    "published": "| run | published, h | computed, h | computed / published |",
    "workload": "| model | fewest GPUs that train it | GPUs | sampling, s | update, s | cores | hours | GPU hours |",
    "verdicts": "| verdict | CPU ms | a core and second | cores for 1,024 a minute |",
    "breaks": "| nodes | rows a step | each rank receives | each node | one writes a checkpoint | all read weights | "
    "failure every |",
}
ROWS = {"published": against, "workload": workloads, "verdicts": cores, "breaks": breaks}


def tables() -> dict[str, str]:
    """The tables by their names in docs/launch.md."""
    return {name: table(head, ROWS[name]()) for name, head in HEADS.items()}


if __name__ == "__main__":
    for name, text in tables().items():
        print(f"{name}\n\n{text}\n")
