"""Processes that hold parts of a model train as those that hold it whole, and save what those save."""

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
from benchmarks import ranks
from tests.scale import some
from tests.sharded_runs import learn, read
from tests.warm import in_ranks

from strop.policies.loading import load_model
from strop.policies.model_files import SHARDS
from strop.training.checkpoints import OPTIMISER_SHARDS
from strop.training.shards import read_whole, write_model
from strop_verify.core.errors import ConfigError, UserError

from .conftest import metrics
from .test_engines import add_engines

MODEL = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1}
LORA = ("model.lora.rank=2", "model.lora.dropout=0")
FORMS = {
    "plain": (),
    "padded": ("optim.shared_prefix=false", "model.gradient_checkpointing=true"),
    "reference": ("grpo.beta=0.04", "grpo.minibatches=2"),
    "adapters": (*LORA, "grpo.beta=0.04"),
    "short": ("model.compute_dtype=bfloat16",),
    "short adapters": (*LORA, "grpo.beta=0.04", "model.dtype=bfloat16", "model.compute_dtype=bfloat16"),
}
"""Forms of an update that ask different things of a model in parts, by what they set."""
needs_deepspeed = pytest.mark.skipif(
    importlib.util.find_spec("deepspeed") is None,
    reason="deepspeed is not installed: pip install 'strop[deepspeed]'",
)
ENGINES = [
    pytest.param("fsdp2", marks=pytest.mark.unit),
    pytest.param("zero2", marks=[needs_deepspeed, pytest.mark.train(60)]),
    pytest.param("zero3", marks=[needs_deepspeed, pytest.mark.train(60)]),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of some thousand parameters, whose number of tokens no number of processes divides."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=103, num_hidden_layers=2, tie_word_embeddings=True, **MODEL)
    made = LlamaForCausalLM(config)
    with torch.no_grad():
        made.get_input_embeddings().weight.mul_(16)
    folder = tmp_path_factory.mktemp("sharded") / "model"
    made.save_pretrained(folder)
    return folder


def learnt(
    folder: Path,
    model: Path,
    engine: str,
    count: int,
    form: str,
    steps: tuple[int, int] = (0, 3),
    begin: str = "",
) -> dict[str, Any]:
    """What `count` processes came to; `begin` names the run whose checkpoint they go on from."""
    import torch

    name = f"{engine}-{count}-{form}-{steps[0]}-{steps[1]}" + (f"-after-{begin}" if begin else "")
    if not (folder / name).is_dir():
        checkpoint = str(folder / begin) if begin else None
        in_ranks(count, learn, str(model), engine, FORMS[form], str(folder / name), steps, checkpoint)
    return {"name": name, **torch.load(folder / name / "found.pt")}


def difference(one: dict[str, Any], two: dict[str, Any]) -> float:
    """The largest between losses, norms and weights."""
    logged = zip(one["logged"], two["logged"], strict=True)
    numbers = [
        abs(a[name] - b[name])
        for a, b in logged
        for name in ("loss", "grad_norm", *(["kl"] if "kl" in a else []))
    ]
    assert one["weights"].keys() == two["weights"].keys()
    weights = [float((one["weights"][name] - two["weights"][name]).abs().max()) for name in one["weights"]]
    return max(*numbers, *weights)


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all these runs."""
    return tmp_path_factory.mktemp("learnt")


@pytest.mark.parametrize("form", some(["plain", "padded", "reference", "adapters"], 1))
@pytest.mark.parametrize("engine", ENGINES)
def test_parts_train_as_the_whole_does(sharded: Path, model: Path, engine: str, form: str) -> None:
    """Micro-batches are of very different size, and differ in number between the processes."""
    whole, parts = learnt(sharded, model, "ddp", 1, form), learnt(sharded, model, engine, 2, form)
    assert whole["logged"][0]["grad_norm"] > 0.01
    assert difference(whole, parts) < 1e-5
    assert (
        difference(whole, {**whole, "weights": learnt(sharded, model, "ddp", 1, form, (0, 1))["weights"]})
        > 1e-3
    )


@pytest.mark.parametrize("form", some(["short", "short adapters"], 1))
@pytest.mark.parametrize("engine", ENGINES)
def test_parts_compute_in_bfloat16(sharded: Path, model: Path, engine: str, form: str) -> None:
    """They round in other places than one whole model does."""
    whole, parts = learnt(sharded, model, "ddp", 1, form), learnt(sharded, model, engine, 2, form)
    for one, two in zip(whole["logged"], parts["logged"], strict=True):
        assert abs(one["loss"] - two["loss"]) < 1e-3 and abs(one["grad_norm"] - two["grad_norm"]) < 3e-3


@pytest.mark.parametrize("form", some(["plain", "adapters"], 1))
@pytest.mark.parametrize("engine", [pytest.param("ddp", marks=pytest.mark.unit), *ENGINES])
def test_two_processes_go_on_to_the_bit_and_one_from_two_or_two_from_one(
    sharded: Path, model: Path, engine: str, form: str
) -> None:
    parts = learnt(sharded, model, engine, 2, form)
    begun, rest = learnt(sharded, model, engine, 2, form, (0, 1)), (1, 3)
    again = learnt(sharded, model, engine, 2, form, rest, begun["name"])
    assert difference({**parts, "logged": parts["logged"][1:]}, again) == 0

    whole_begun = learnt(sharded, model, "ddp", 1, form, (0, 1))
    for count, other, begin in ((1, "ddp", begun["name"]), (2, engine, whole_begun["name"])):
        found = learnt(sharded, model, other, count, form, rest, begin)
        assert difference({**parts, "logged": parts["logged"][1:]}, found) < 1e-5


@pytest.mark.parametrize("form", some(["plain", "adapters"], 1))
@pytest.mark.parametrize("engine", ENGINES)
def test_a_saved_model_is_the_gathered_one(sharded: Path, model: Path, engine: str, form: str) -> None:
    from transformers import AutoModelForCausalLM

    from strop.policies.loading import named_weights

    parts = learnt(sharded, model, engine, 2, form)
    saved = [sharded / parts["name"] / "model"]
    if engine == "fsdp2":
        saved.append(sharded / parts["name"] / "written")
        saved[-1].mkdir(exist_ok=True)
        write_model(sharded / parts["name"], saved[-1])
    for folder in saved:
        if form == "adapters":
            from peft import PeftModel

            base = AutoModelForCausalLM.from_pretrained(model)
            loaded = PeftModel.from_pretrained(base, folder).get_base_model()
        else:
            loaded = AutoModelForCausalLM.from_pretrained(folder)
            assert loaded.config.architectures == ["LlamaForCausalLM"]
        found = dict(named_weights(loaded))
        assert found.keys() == parts["weights"].keys()
        for name, weight in found.items():
            assert (weight - parts["weights"][name]).abs().max() <= (1e-7 if form == "adapters" else 0)


@pytest.mark.train(30)
@pytest.mark.parametrize("form", some(["plain", "adapters"], 1))
def test_shards_of_four_processes_are_loaded_by_two_to_the_bit(sharded: Path, model: Path, form: str) -> None:
    """These then go on as two did from the start, and four as four did to the bit."""
    four = learnt(sharded, model, "fsdp2", 4, form, (0, 1))
    whole = learnt(sharded, model, "fsdp2", 4, form)
    again = learnt(sharded, model, "fsdp2", 4, form, (1, 3), four["name"])
    assert difference({**whole, "logged": whole["logged"][1:]}, again) == 0
    two = learnt(sharded, model, "fsdp2", 2, form, (1, 1), four["name"])
    for part in (SHARDS, OPTIMISER_SHARDS):
        saved, again = (read_whole(sharded / one["name"] / part) for one in (four, two))
        assert saved.keys() == again.keys() and len(saved) > 3
        assert all(value.equal(again[name]) for name, value in saved.items())
    rest = learnt(sharded, model, "fsdp2", 2, form, (1, 3), four["name"])
    parts = learnt(sharded, model, "fsdp2", 2, form)
    assert difference({**parts, "logged": parts["logged"][1:]}, rest) < 1e-5


@pytest.mark.train(30)
def test_a_model_is_read_in_shards_as_it_is_whole(tmp_path: Path) -> None:
    """Also with fewer rows than processes, with other names in the files, and with experts that are stacked while they
    are read; a model whose rows are rearranged is refused.
    """
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    small = {**MODEL, "vocab_size": 103, "num_hidden_layers": 2, "head_dim": 8, "pad_token_id": 0}
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8}
    configs: dict[str, dict[str, Any]] = {
        "llama": small,
        "gemma2": {**small, "query_pre_attn_scalar": 8},
        "qwen3_moe": {**small, **experts},
        "olmoe": {**small, **experts, "num_experts": 6},
        "gpt2": {"vocab_size": 103, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64},
        "hrm_text": {**small, "num_key_value_heads": 2},
    }
    folders = {}
    for name, settings in configs.items():
        torch.manual_seed(0)
        made = AutoModelForCausalLM.from_config(CONFIG_MAPPING[name](**settings))
        made.save_pretrained(tmp_path / name)
        folders[name] = str(tmp_path / name)
    in_ranks(4, read, folders, str(tmp_path / "read.pt"))
    found = torch.load(tmp_path / "read.pt")
    assert "rearranges its weights" in found.pop("hrm_text")
    assert "its 6 experts leave some of 4 processes none" in found.pop("olmoe")
    for name, parts in found.items():
        whole = load_model(folders[name], device="cpu")
        weights = dict(whole.named_buffers()) | dict(whole.named_parameters())
        assert parts.keys() == weights.keys()
        assert all(torch.equal(parts[key], value) for key, value in weights.items()), name


@pytest.mark.train(90)
@pytest.mark.parametrize("engine", ["fsdp2", pytest.param("zero3", marks=needs_deepspeed)])
def test_strop_train_with_a_model_in_parts(
    peaked_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
) -> None:
    """From the command line, sampled by an engine that is given the weights; killed, resumed, and loaded as saved."""
    monkeypatch.setenv("PYTHONPATH", str(add_engines(tmp_path)), prepend=os.pathsep)
    words = [*ranks.words(tmp_path, peaked_model, 3), "policy.engine=elsewhere", f"launch.engine={engine}"]

    ranks.killed(tmp_path / "killed", 1, words)
    ranks.finished(ranks.launched(2, [*words, f"run.dir={tmp_path}/undisturbed"]))
    assert ranks.counted(tmp_path / "killed", 3) == {"groups_lost": 0, "groups_doubled": 0}
    assert ranks.groups(tmp_path / "killed") == ranks.groups(tmp_path / "undisturbed")
    assert ranks.digest(tmp_path / "killed") == ranks.digest(tmp_path / "undisturbed")
    assert metrics(tmp_path / "killed")[0]["grad_norm"] > 0.1
    load_model(str(tmp_path / "killed" / "final"), device="cpu")
    if engine == "fsdp2":
        last = tmp_path / "killed" / "checkpoints" / "checkpoint-3"
        with pytest.raises(UserError, match=r"strop export .*killed --checkpoint 3"):
            load_model(str(last), device="cpu")
        made = tmp_path / "made"
        words = ["export", str(tmp_path / "killed"), "--checkpoint", "3", "-o", str(made)]
        ranks.finished(ranks.started(1, ["-m", "strop.cli", *words]))
        weights = [
            dict(load_model(str(one)).named_parameters()) for one in (made, tmp_path / "killed" / "final")
        ]
        assert all(value.equal(weights[1][name]) for name, value in weights[0].items())


@pytest.mark.unit
@pytest.mark.parametrize("engine", ["fsdp2", "zero3"])
def test_a_recipe_that_needs_the_whole_model_in_a_process_is_refused(engine: str) -> None:
    from strop.config.load import load_recipe

    with pytest.raises(ConfigError, match=r"(?s)policy.engine.*vllm-server.*sft.warm_start"):
        load_recipe([], [f"launch.engine={engine}", "sft.warm_start=true"])
    load_recipe([], [f"launch.engine={engine}", "policy.engine=vllm"])
    load_recipe([], ["launch.engine=zero2", "sft.warm_start=true"])


@pytest.mark.unit
def test_one_process_says_that_it_cannot_hold_a_part(model: Path) -> None:
    from strop.config.load import load_recipe
    from strop.training.ranks import Ranks
    from strop.training.sharded_backends import load_backend

    recipe = load_recipe([], [f"model.name={model}", "launch.engine=fsdp2", "policy.engine=vllm"])
    with pytest.raises(UserError, match=r"launch.engine=fsdp2 .* torchrun"):
        load_backend(recipe, Ranks())
