"""A new user in an empty folder: install the wheel, begin an experiment, train, look, evaluate, load the result."""

import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import warm
from tests.installs import PARTS, in_environment
from tests.small_models import byte_tokenizer

ROOT = Path(__file__).parents[1]
GENERATE = """
import sys
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer, model = (kind.from_pretrained(sys.argv[1]) for kind in (AutoTokenizer, AutoModelForCausalLM))
made = model.generate(**tokenizer("def f():", return_tensors="pt"), max_new_tokens=4, do_sample=False)
print(len(made[0]) - len(tokenizer("def f():").input_ids))
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def user(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program of a fresh environment, whose other packages are those of the tests, in the user's folder."""
    there, folder = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("user")
    install = in_environment(wheels, there)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "STROP"))}

    def run(program: str, *words: object, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        command = [str(there / "bin" / program), *map(str, words)]
        return subprocess.run(
            command, cwd=folder, env=clean, capture_output=True, text=True, timeout=timeout, check=False
        )

    where = run("python", "-c", "import os, strop; print(strop.__file__, os.getcwd())").stdout.split()
    assert Path(where[0]).is_relative_to(install.own) and Path(where[1]) == folder
    return run


def own_model(folder: Path) -> Path:
    """A model of a few thousand weights that nobody has trained."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_tokenizer()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=4096, eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("part", "package"), list(zip(PARTS, ("strop_verify", "strop", "strop_tasks"), strict=True))
)
def test_a_wheel_is_pure_and_has_all_of_its_part(wheels: Path, part: str, package: str) -> None:
    (wheel,) = wheels.glob(f"{package}-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    folder = ROOT / part / "src"
    data = {p.relative_to(folder) for p in (folder / package).rglob("*") if p.is_file()}
    assert {str(p) for p in data if "__pycache__" not in p.parts} <= names
    assert not {n for n in names if not n.startswith(f"{package}/") and ".dist-info/" not in n}
    assert package != "strop_verify" or wheel.stat().st_size < 3e6


@pytest.mark.train(40)
def test_from_an_empty_folder_to_a_model_of_ones_own(user: Run, tmp_path: Path) -> None:
    model = own_model(tmp_path / "my-model")

    def done(*words: object) -> str:
        result = user("strop", *words)
        assert result.returncode == 0 and "Traceback" not in result.stderr, result.stdout + result.stderr
        return result.stdout

    assert "demo: SmolLM2" in done("recipes") and " attacks\n" in done("attack", "--list", "--language", "c")
    assert "mine/recipe.yaml" in done("init", "mine", "--model", model)
    assert "error: no runs" in user("strop", "show").stderr, "what init wrote is no run"
    assert "5 fit (0 of them with warnings)" in done("audit", "mine/tasks.jsonl")
    assert "3 training tasks, 2 held out" in done("train", "mine/recipe.yaml", "--dry-run")
    small = ["optim.steps=3", "grpo.group_size=2", "grpo.tasks_per_step=2", "grpo.refill=false",
             "sampling.max_tokens=6", "evaluation.samples=1", "evaluation.k=[1]",
             "tasks.environment=mine/environment.py:SecondTry"]  # fmt: skip
    said = done("train", "mine/recipe.yaml", *small, "--plain")
    assert "The run is in runs/mine" in said
    # From any folder, and with a recipe that is nowhere near: what it names lies beside it.
    folder = Path(user("python", "-c", "import os; print(os.getcwd())").stdout.strip())
    rollouts = [json.loads(line) for line in (folder / "runs/mine/metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in rollouts] == [1, 2, 3]
    assert "rewards.py" in done("train", folder / "mine/recipe.yaml", "--print-config")
    assert "mine" in done("show")
    assert "report.html" in done("report")
    assert "pass@1" in done(
        "eval", "runs/mine", "--tasks", "mine/tasks.jsonl", "-n", "1", "--max-tokens", "6"
    )
    assert "vllm serve carried" in done("export", "runs/mine", "-o", "carried")
    card = (folder / "carried/README.md").read_text()
    assert "More Information Needed" not in card and "mine/tasks.jsonl" in card
    made = user("python", "-c", GENERATE, folder / "carried")
    assert made.stdout.strip() in ("1", "2", "3", "4"), made.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["init", "full"], "error: full exists and is not an empty folder; name another\n"),
        (["train", "demoo"], "error: no recipe named 'demoo'; did you mean demo?"),
        (
            ["train", "recipes/demo.yaml"],
            "error: recipes/demo.yaml: there is no such file; did you mean demo?\n",
        ),
        (["curate", "smal", "-o", "x"], "error: no pipeline named 'smal'; did you mean small?"),
        (["show"], "error: no runs in runs/; name a run's folder, or make one with: strop train demo\n"),
        (["report"], "error: no runs in runs/; name a run's folder"),
        (["view"], "error: no runs in runs/; name a run's folder"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, words: list[str], line: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").touch()
    done = warm.strop(*words, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(line) and done.stderr.count("\n") == 1
