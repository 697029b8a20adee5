"""The memory plan against real bytes: those of weights, gradients, Adam's states, the cache, and of a whole update."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from strop.config.load import load_recipe
from strop.config.recipes import recipe_names
from strop.config.run_stages import stages_of
from strop.config.schema import Recipe
from strop.policies.model_shape import PUBLISHED, ModelShape
from strop.training import machine
from strop.training.backend import TrainingBackend
from strop.training.learner import Learner
from strop.training.machine import Comparison, memory, plan_lines, precision, ram_here
from strop.training.memory import DevicePlan, memory_plan
from strop.training.ranks import Ranks
from strop_verify.core.rollout import Batch, Sample

pytestmark = pytest.mark.unit
ROOT = Path(__file__).parents[2]
PROMPT, ANSWER, GROUP = 32, 128, 8


def config_of(vocabulary: int = 512, *, tied: bool = False) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=vocabulary, hidden_size=128, intermediate_size=352, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=tied,
    )  # fmt: skip


CONFIG = config_of()
SHAPE = ModelShape.of_config(CONFIG.to_dict())
assert SHAPE is not None


def recipe_of(*words: str) -> Recipe:
    together = PROMPT + GROUP * ANSWER  # a group is a micro-batch
    return load_recipe(
        [],
        [
            f"sampling.max_tokens={ANSWER}", f"grpo.group_size={GROUP}", "grpo.tasks_per_step=2", "optim.steps=2",
            f"optim.micro_batch_tokens={together}", f"tasks.max_prompt_tokens={PROMPT}", "model.dtype=float32",
            "model.compute_dtype=float32", "model.sampling_dtype=float32", "evaluation.before=false",
            "evaluation.after=false", *words,
        ],
    )  # fmt: skip


def plan(*words: str) -> DevicePlan:
    return memory_plan(recipe_of(*words), SHAPE)[0]


class Peak(TorchDispatchMode):
    """The most bytes at a time, beside tensors that are known, of those that operations made or looked at."""

    def __init__(self, known: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self._live: dict[int, tuple[StorageWeakRef, int]] = {}
        self._total = self.most = 0
        self._keep(known)
        self._known = self.most

    @property
    def more(self) -> int:
        return self.most - self._known

    def _keep(self, tensors: Iterable[Any]) -> None:
        for one in tensors:
            if isinstance(one, torch.Tensor):
                storage = one.untyped_storage()
                before = self._live.get(storage._cdata)
                if before is None or before[0].expired():
                    self._live[storage._cdata] = StorageWeakRef(storage), storage.nbytes()
                    self._total += storage.nbytes()
        if self._total > self.most:  # by those that are gone as well
            self._live = {key: pair for key, pair in self._live.items() if not pair[0].expired()}
            self._total = sum(size for _, size in self._live.values())
            self.most = max(self.most, self._total)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self._keep(tree_leaves(out))
        return out


def trained(config: LlamaConfig, *words: str) -> tuple[TrainingBackend, int]:
    """A backend after an update, and the most bytes that a second one took beside weights and Adam's states."""
    recipe = recipe_of(*words)
    torch.manual_seed(0)
    model = LlamaForCausalLM(config).to(getattr(torch, recipe.model.dtype))
    if not recipe.model.train_embeddings:
        model.get_input_embeddings().requires_grad_(False)
    backend = TrainingBackend(model, recipe, Ranks())
    learner, (stage,) = Learner(backend, recipe), stages_of(recipe)

    def sample(task: int, number: int) -> Sample:
        length = PROMPT + ANSWER
        ids = [(7 * task + 3 * at + (number * at if at >= PROMPT else 0)) % 500 for at in range(length)]
        mask, sign = [0] * PROMPT + [1] * ANSWER, (-1.0) ** number
        return Sample(
            ids, mask, [-6.0 * one for one in mask], [sign * one for one in mask], [0] * length, PROMPT
        )

    batch = Batch((tuple(sample(task, number) for task in range(2) for number in range(GROUP)),))
    learner.update(batch, stage, 0)
    with Peak([*backend._bare.parameters(), *states(backend)]) as peak:
        learner.update(batch, stage, 1)
    return backend, peak.more


def states(backend: TrainingBackend) -> list[torch.Tensor]:
    return [one for state in backend._optimiser.state.values() for one in state.values() if one.dim()]


CHECKPOINTS, EVERYTHING = "model.gradient_checkpointing=true", "model.gradient_checkpointing=false"
BF16, LORA, PADDED = "model.compute_dtype=bfloat16", "model.lora.rank=8", "optim.shared_prefix=false"
LOW = (BF16, LORA, "model.dtype=bfloat16")
WIDE, TIED = config_of(16384), config_of(16384, tied=True)
UPDATES: dict[str, tuple[LlamaConfig, tuple[str, ...]]] = {
    "whole": (CONFIG, (CHECKPOINTS,)),
    "whole, all activations": (CONFIG, (EVERYTHING,)),
    "whole, autocast": (CONFIG, (CHECKPOINTS, BF16)),
    "whole, autocast, all activations": (CONFIG, (EVERYTHING, BF16)),
    "whole, autocast, padded": (CONFIG, (CHECKPOINTS, BF16, PADDED)),
    "whole, bfloat16": (CONFIG, (CHECKPOINTS, BF16, "model.dtype=bfloat16")),
    "whole, many words": (WIDE, (CHECKPOINTS, BF16)),
    "whole, many words, tied": (TIED, (CHECKPOINTS, BF16)),
    "whole, many words, frozen": (TIED, (EVERYTHING, BF16, "model.train_embeddings=false")),
    "adapters": (CONFIG, (CHECKPOINTS, LORA)),
    "adapters, all activations": (CONFIG, (EVERYTHING, BF16, LORA)),
    "adapters on bfloat16": (CONFIG, (CHECKPOINTS, *LOW)),
    "adapters on bfloat16, padded": (CONFIG, (CHECKPOINTS, *LOW, PADDED)),
    "adapters on bfloat16, many words": (WIDE, (EVERYTHING, *LOW)),
}


@pytest.mark.train(3)
@pytest.mark.parametrize("form", UPDATES)
def test_an_update_takes_what_is_planned(form: str) -> None:
    config, words = UPDATES[form]
    backend, peak = trained(config, *words)
    shape = ModelShape.of_config(config.to_dict())
    assert shape is not None
    (planned,) = memory_plan(recipe_of(*words), shape, gpu=False)
    assert planned.held["weights"] == sum(weight.nbytes for weight in backend._bare.parameters())
    assert planned.held["Adam"] == sum(one.nbytes for one in states(backend))
    assert planned.updating["gradients"] == sum(weight.nbytes for weight in backend._trained)
    assert 0.85 < sum(planned.updating.values()) / peak < 1.2


@pytest.mark.train(1)
def test_a_warm_start_trains_all_weights_before_there_are_adapters() -> None:
    whole, adapters = plan(), plan("model.lora.rank=4")
    warm = plan("model.lora.rank=4", "sft.warm_start=true")
    both = sum(whole.updating.values()) + whole.held["Adam"]
    assert sum(warm.updating.values()) + warm.held["Adam"] == pytest.approx(both)
    assert warm.held == adapters.held and adapters.peak < warm.peak < whole.peak + adapters.peak
    ways = (), ("model.lora.rank=4",), ("model.lora.rank=4", "sft.warm_start=true")
    plans = [memory_plan(recipe_of(*words), SHAPE, gpu=False)[0] for words in ways]
    kept, less, again = (one.held["torch's own"] for one in plans)
    assert kept == again > less
    assert plan("sft.warm_start=true") == whole


def test_the_cache_takes_what_is_planned() -> None:
    model, cache = LlamaForCausalLM(CONFIG).eval(), DynamicCache()
    rows = 5
    with torch.no_grad():
        model(torch.ones(rows, PROMPT + ANSWER, dtype=torch.long), past_key_values=cache)
    real = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    words = f"policy.batch_rows={rows}", "grpo.tasks_per_step=8", "grpo.group_size=2"
    assert plan(*words).sampling["cache"] == real
    assert plan(*words, "policy.batch_tokens=320").sampling["cache"] == 2 * real / rows


def test_the_shape_is_the_model_s() -> None:
    model = LlamaForCausalLM(CONFIG)
    assert SHAPE.parameters == sum(weight.numel() for weight in model.parameters())
    assert SHAPE.embeddings == 512 * 128 and SHAPE.layers == 4 and len(SHAPE.linear) == 7 * 4
    assert SHAPE.block == sum(weight.numel() for weight in model.model.layers[0].parameters())
    assert SHAPE.inner == sum(weight.numel() for weight in model.model.parameters()) - SHAPE.embeddings
    assert SHAPE.inside == 7 * 128 + 2 * 128 + 2 * 64 + 3 * 352 and SHAPE.normed == 2 * 128
    assert ModelShape.of_config({"model_type": "of-nobody"}) is None
    assert ModelShape.of_config({"model_type": "llama", "hidden_size": "wide"}) is None


OTHERS: dict[str, dict[str, int]] = {
    "gpt2": {"queries": 768, "keys": 768, "attending": 12, "inside": 16 * 768},
    "falcon": {"queries": 71 * 64},
    "mixtral": {"keys": 1024, "inside": 6 * 4096 + 2 * 1024 + 8 + 4096 + 2 * (28672 + 4096 + 4096 + 14336)},
    "qwen3_moe": {"layers": 24},
    "deepseek_v3": {"layers": 61},
    "gpt_oss": {"keys": 512},
    "gemma3_text": {"normed": 4 * 2304 + (8 + 4) * 256},
    "gemma4_text": {"layers": 30},
    "mamba": {"attending": 0, "queries": 0},
    "qwen3_next": {"layers": 48, "attending": 12},
    "jamba": {"attending": 4},
    "lfm2": {"keys": 640},
}
"""Sizes by transformers' default configurations."""


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize(
    "words", [(), ("model.lora.rank=8", "model.dtype=bfloat16", "model.quantization=nf4")]
)
def test_other_architectures_are_planned(kind: str, words: tuple[str, ...]) -> None:
    shape = ModelShape.of_config(CONFIG_MAPPING[kind]().to_dict())
    assert shape is not None
    assert {name: getattr(shape, name) for name in OTHERS[kind]} == OTHERS[kind]
    recipe = load_recipe([], list(words))
    (one,) = memory_plan(recipe, shape)
    assert (one.sampling["cache"] > 0) == (shape.attending > 0)
    assert 0 < one.held["weights"] < one.peak
    assert f"at most {one.peak / 1e9:,.1f} GB" in next(one.lines())


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("Qwen/Qwen2.5-Coder-1.5B-Instruct", 1.54), ("Qwen/Qwen2.5-Coder-7B-Instruct", 7.62),
        ("Qwen/Qwen3-0.6B", 0.6), ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", 14.77),
        ("meta-llama/Llama-3.2-1B-Instruct", 1.24), ("meta-llama/Llama-3.3-70B-Instruct", 70.55),
    ],
)  # fmt: skip
def test_published_sizes(name: str, billions: float) -> None:
    shape = ModelShape.of_config(PUBLISHED[name], published=True)
    assert shape is not None and round(shape.parameters / 1e9, 2) == billions


def test_models_of_recipes_are_known_without_their_files() -> None:
    named = {load_recipe([name], []).model.name for name in recipe_names()}
    assert named <= PUBLISHED.keys()


def test_engines_divide() -> None:
    one, words, apart = plan(), ("launch.processes=2", "launch.nodes=2"), "policy.engine=vllm-server"
    ddp, zero2 = plan(*words), plan(*words, "launch.engine=zero2")
    assert ddp.held == one.held and ddp.updating["buckets of DDP"] == one.updating["gradients"]
    assert zero2.held["weights"] == one.held["weights"] and zero2.held["Adam"] == one.held["Adam"] / 4
    assert zero2.held["DeepSpeed's float32 weights"] == one.held["weights"] / 4
    low = plan(*words, "launch.engine=zero2", "model.dtype=bfloat16").held  # moments stay float32
    assert low["Adam"] == zero2.held["Adam"] and low["weights"] == one.held["weights"] / 2
    for engine in ("zero3", "fsdp2"):
        shared = plan(*words, apart, f"launch.engine={engine}")
        assert shared.count == 4 and shared.held["weights"] == one.held["weights"] / 4
        assert shared.updating["gradients"] == one.updating["gradients"] / 4
        assert shared.updating["layers put together"] > 0
    short = "model.compute_dtype=bfloat16"
    assert plan(*words, apart, short, "launch.engine=zero3").held["weights"] == one.held["weights"] / 8
    assert plan(*words, apart, short, "launch.engine=fsdp2").held["weights"] == one.held["weights"] / 4
    assert plan(short, EVERYTHING).updating["weights in bfloat16"] == 2 * SHAPE.inner
    assert plan("grpo.beta=0.1").held["reference"] == one.held["weights"]
    assert plan("grpo.beta=0.1", "model.lora.rank=4").held["reference"] == 0
    assert plan("grpo.max_staleness=1").peak > one.peak + one.held["weights"]


def test_an_engine_with_a_share_of_the_gpu() -> None:
    half = plan("policy.engine=vllm", "policy.gpu_memory_utilization=0.5")
    mine = half.peak - sum(half.sampling.values())
    assert half.smallest == 2 * mine > half.peak
    assert plan("policy.engine=vllm", "policy.gpu_memory_utilization=0.25").smallest == pytest.approx(
        mine / 0.75
    )


def test_an_engine_that_sleeps_leaves_its_share_to_the_update() -> None:
    words = ("policy.engine=vllm", "policy.gpu_memory_utilization=0.25")
    awake, asleep = plan(*words), plan(*words, "policy.sleep=true")
    held, update = sum(awake.held.values()), sum(awake.updating.values())
    assert asleep.peak == held + max(update, sum(awake.sampling.values())) < awake.peak
    assert asleep.smallest == max(held / 0.75, held + update) < awake.smallest
    assert " or sampling " in asleep.line() and " and sampling " in awake.line()
    # Where both do not fit, it is the first remedy.
    size = int(asleep.smallest)
    small = machine.Device(True, size + 1, size + 1, True)
    assert machine._remedy(recipe_of(*words), SHAPE, small).endswith(" with policy.sleep=true")


def test_longer_answers_take_more_in_proportion() -> None:
    """Twice the tokens of everything: at most about twice the activations."""

    def activations(answer: int) -> float:
        words = f"sampling.max_tokens={answer}", f"optim.micro_batch_tokens={4 * answer}"
        return plan(*words, EVERYTHING).updating["activations"]

    assert 1.9 < activations(2048) / activations(1024) < 2.6


def folder_of(place: Path, **sizes: int) -> Path:
    """A model's folder, as far as it is looked at before it is loaded."""
    folder = place / "model"
    folder.mkdir(exist_ok=True)
    config = LlamaConfig(**{**CONFIG.to_dict(), "tie_word_embeddings": True, **sizes})
    config.save_pretrained(folder)
    save_file({"model.embed_tokens.weight": torch.zeros(2, 2)}, folder / "model.safetensors")
    return folder


def test_what_is_planned_is_held_against_this_machine(tmp_path: Path) -> None:
    total, free = ram_here()
    assert 1e8 < free <= total

    def found(*words: str, **sizes: int) -> Comparison:
        name = f"model.name={folder_of(tmp_path, **sizes)}"
        return memory(recipe_of(name, "launch.device=cpu", *words))

    small = found()
    assert not small.faults and not small.warnings
    (fact,) = small.facts
    assert re.match(
        r"memory: at most 0\.[5-9] GB: weights .*; update .* or sampling .*; this machine has ", fact
    )

    wide = total // 4 // 512  # a layer of it with Adam's states is three times as many bytes as there are
    large = found("optim.micro_batch_tokens=64", vocab_size=wide, hidden_size=512)
    assert not large.facts and not large.warnings
    assert large.faults[0].startswith("memory: weights and optimiser alone take ")

    tokens = 3 * total // (4 * 4 * 128 * 4)  # inputs of the layers alone take three times what there is
    long = found(f"optim.micro_batch_tokens={tokens}")
    assert long.facts and not long.faults
    (warning,) = long.warnings
    assert warning.startswith("memory: the run may need ")
    remedy = warning.rpartition(" with ")[2].split()
    assert remedy[0].startswith("optim.micro_batch_tokens=") and not found(*remedy).warnings


@pytest.mark.parametrize("key", ["model.dtype", "model.compute_dtype", "model.sampling_dtype"])
def test_types_that_the_cpu_has_no_instructions_for(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    slow, fast = (machine.Device(False, 2**34, 2**34, bfloat16) for bfloat16 in (False, True))
    recipe = recipe_of("model.lora.rank=8", f"{key}=bfloat16")
    monkeypatch.setattr(machine.Device, "here", lambda _: slow)
    (warning,) = precision(recipe).warnings
    remedy = warning.partition("; set ")[2].partition(",")[0]
    assert remedy == f"{key}=auto" and not precision(recipe_of(remedy)).warnings
    assert not precision(load_recipe([ROOT / "src/strop/recipes/start/recipe.yaml"], [])).warnings
    assert "bfloat16" not in dict(machine._ways(recipe, slow, plan())).values()
    monkeypatch.setattr(machine.Device, "here", lambda _: fast)
    assert not precision(recipe).warnings
    assert "bfloat16" in dict(machine._ways(recipe, fast, plan())).values()


def test_a_model_that_nobody_knows(tmp_path: Path) -> None:
    recipe = recipe_of(f"model.name={tmp_path}/nothing")
    line = f"memory: not computed, since config.json of {tmp_path}/nothing cannot be read"
    assert plan_lines(recipe) == [line] and memory(recipe) == Comparison([line])


def test_four_bits_fit_a_small_gpu() -> None:
    shape = ModelShape.of_config(PUBLISHED["Qwen/Qwen2.5-Coder-7B-Instruct"])
    assert shape is not None
    lora = ("model.lora.rank=16", "model.dtype=bfloat16")
    short, wide = (
        memory_plan(load_recipe([], [*lora, *words]), shape)[0] for words in (("model.quantization=nf4",), ())
    )
    assert short.peak < 23e9 < wide.peak and "sampler's copy" not in {n for n, s in short.held.items() if s}
    assert 5e9 < short.held["weights"] < 6e9


def test_the_first_recipe_fits_24_gb(tmp_path: Path) -> None:
    """That of `strop init`, with the model that README names."""
    shape = ModelShape.of_config(PUBLISHED["Qwen/Qwen2.5-Coder-1.5B-Instruct"])
    assert shape is not None
    recipe = load_recipe(
        [Path(machine.__file__).parents[1] / "recipes" / "start" / "recipe.yaml"], ["run.name=x"]
    )
    (one,) = memory_plan(recipe, shape)
    (whole,) = memory_plan(load_recipe([], []), shape)
    readme = (ROOT / "README.md").read_text()
    assert f"at most {one.peak / 1e9:.1f} GB, whole weights {whole.peak / 1e9:.1f} GB" in readme
    assert one.peak < 23e9


def test_the_page_has_the_plan_s_numbers() -> None:
    """The table of docs/gpu.md in GB: what is held and gradients, the rest of an update, and a copy."""
    page = (ROOT / "docs" / "gpu.md").read_text()
    rows = re.findall(r"^\| (\S+/\S+) \| [\d.]+ B \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) >= 5
    lora, short = "model.lora.rank=16", "model.dtype=bfloat16"
    forms: list[tuple[str, ...]] = [(), (lora,), (lora, short), (lora, short, "model.quantization=nf4")]

    def told(size: float) -> str:
        return f"{size / 1e9:.{0 if size >= 9.95e9 else 1}f}"

    for name, cells in rows:
        shape = ModelShape.of_config(PUBLISHED[name])
        assert shape is not None
        expected = []
        for words in forms:
            (one,) = memory_plan(load_recipe([], ["policy.engine=vllm", *words]), shape)
            gradients, update = one.updating["gradients"], sum(one.updating.values())
            expected.append(f"{told(sum(one.held.values()) + gradients)} + {told(update - gradients)}")
        assert cells.split(" | ") == [*expected, told(2 * shape.parameters)], name
