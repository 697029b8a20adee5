"""Every causal architecture of transformers, tiny and random: Strop's numbers are its own, or it is refused."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from tests.sharded_runs import learn
from tests.warm import in_ranks

DOCS = Path(__file__).parents[2] / "docs"


def page_script() -> ModuleType:
    """docs/models.py as a module."""
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location("models_page", DOCS / "models.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["models_page"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(DOCS))


page = page_script()
configs = page.tiny_configs()
written = {line.split("`")[1]: line for line in page.PAGE.read_text().splitlines() if line.startswith("| `")}


def test_the_page_has_every_architecture_and_no_difference() -> None:
    rows = {name: line for name, line in written.items() if name in configs}
    assert rows.keys() == configs.keys()
    assert len(rows) >= 40
    assert page.SILENT not in page.PAGE.read_text()
    assert sum("refused" in line for line in rows.values()) <= 3


UNSTEADY = {
    "axk2",
    "deepseek_v32",
    "deepseek_v4",
    "glm_moe_dsa",
    "hy_v4",
    "minimax_m3_vl_text",
    "doge",
    "kimi_linear",
}
"""Those that choose keys or experts by a rank that is close: a last bit, of another processor, chooses another one."""


@pytest.mark.train(6)
@pytest.mark.parametrize("name", configs)
def test_a_row_is_what_the_page_says(name: str) -> None:
    """Where it is not: python docs/models.py."""
    found = str(page.row(name, configs[name]))
    assert found == written[name] or name in UNSTEADY or name.startswith("qwen4_exp")


LOOPS = ["mistral", "gemma2", "granite", "granitemoehybrid", "deepseek_v3", "gpt_oss", "qwen3_next"]


@pytest.mark.train(12)
@pytest.mark.parametrize("adapters", [False, True])
@pytest.mark.parametrize("name", LOOPS)
def test_two_processes_update_as_one_by_plain_rows(name: str, adapters: bool, tmp_path: Path) -> None:
    """Three updates of groups that share prompts of 20 tokens, whole weights and LoRA."""
    page.build(configs[name]).save_pretrained(tmp_path / "model")
    forms = {
        "one": ("ddp", 1, ("optim.shared_prefix=false",)),
        "two": ("ddp", 2, ()),
        "parts": ("fsdp2", 2, ()),
    }
    found = {}
    lora = ("model.lora.rank=2", "grpo.beta=0.04") if adapters else ()
    for form, (engine, count, changes) in forms.items():
        target = tmp_path / form
        words = ("optim.micro_batch_tokens=96", *changes, *lora)
        in_ranks(count, learn, str(tmp_path / "model"), engine, words, str(target), (0, 3), None, 20)
        found[form] = torch.load(target / "found.pt")
    assert found["one"]["way"] == "rows" and found["one"]["logged"][0]["grad_norm"] > 0.01
    assert found["two"]["way"] in written[name].split("|")[3]
    for form in ("two", "parts"):
        for one, other in zip(found["one"]["logged"], found[form]["logged"], strict=True):
            assert other["loss"] == pytest.approx(one["loss"], abs=1e-4)
            assert other["grad_norm"] == pytest.approx(one["grad_norm"], rel=1e-3)
        for key, weight in found["one"]["weights"].items():
            torch.testing.assert_close(found[form]["weights"][key], weight, rtol=0, atol=5e-4)
