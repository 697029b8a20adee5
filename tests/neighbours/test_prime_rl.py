"""What `strop export --prime-rl` writes is read by prime-rl's own configuration.

That needs a checkout of prime-rl in STROP_TEST_PRIME_RL and Python 3.12, which its configurations ask for.
"""

import json
import os
import tomllib
from pathlib import Path

import pytest
from tests.neighbours.venvs import neighbour, working
from tests.warm import strop

from strop.config.load import load_recipe
from strop.neighbours.prime_rl import settings_of, write_prime_rl
from strop_verify.core.errors import UserError

CONFIGS = Path(os.environ.get("STROP_TEST_PRIME_RL", "/nowhere"), "packages/prime-rl-configs/src")
READ = """
import json, sys
from prime_rl.configs.rl import RLConfig
from prime_rl.utils.config import cli

read = cli(RLConfig, args=["@", sys.argv[1]])
print(json.dumps(read.model_dump(mode="json")))
"""
MORE = (
    ["model.lora.rank=16", "grpo.beta=0.01", "sampling.stop=[x]", "sampling.top_p=0.9"],
    ["grpo.loss={type: gspo}", "grpo.advantage={type: group, scale: none}", "optim.warmup_steps=3"],
)


def test_the_folder_holds_a_taskset_and_settings(tmp_path: Path) -> None:
    done = strop("export", "python-1.5b", "--prime-rl", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    settings, left = settings_of(load_recipe(["python-1.5b"]), "python-1-5b-tasks")
    found = tomllib.loads((tmp_path / "out" / "rl.toml").read_text())
    assert found["trainer"]["optim"] == settings["trainer"]["optim"]
    assert found["orchestrator"]["train"]["source"] == settings["orchestrator"]["train"]["source"]
    assert all(line in (tmp_path / "out" / "README.md").read_text() for line in left)
    lines = (tmp_path / "out" / "tasks" / "python_1_5b_tasks" / "tasks.jsonl").read_text().splitlines()
    assert len(lines) > 700 and "not carried over: grpo.mask_truncated" in done.stdout


@pytest.mark.soak(60)
@pytest.mark.skipif(not CONFIGS.is_dir(), reason="STROP_TEST_PRIME_RL names no checkout of prime-rl")
@pytest.mark.parametrize("more", MORE)
def test_prime_rl_reads_every_setting(more: list[str], tmp_path: Path) -> None:
    python = working("python3.12")
    if python is None:
        pytest.skip("there is no python3.12")
    recipe = load_recipe(["python-1.5b"], more)
    write_prime_rl(recipe, tmp_path / "out")
    packages = ("prime-pydantic-config>=0.4.3", "renderers>=0.1.9", "tomli", "tomli-w", "verifiers==0.4.0")
    theirs = neighbour("prime-rl", *packages, folder=tmp_path, python=python)
    paths = (CONFIGS, tmp_path / "out" / "tasks")
    done = theirs.run("python", "-c", READ, tmp_path / "out" / "rl.toml", paths=paths)
    assert done.returncode == 0, done.stderr

    def lost(asked: object, read: object, key: str = "") -> list[str]:
        if isinstance(asked, dict) and isinstance(read, dict):
            return [
                line for name in asked for line in lost(asked[name], read.get(name, "?"), f"{key}.{name}")
            ]
        if isinstance(asked, list) and isinstance(read, list):
            return [line for a, b in zip(asked, read, strict=True) for line in lost(a, b, key)]
        return [] if asked == read else [f"{key}: {asked!r}, read {read!r}"]

    settings = tomllib.loads((tmp_path / "out" / "rl.toml").read_text())
    assert lost(settings, json.loads(done.stdout)) == []


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("grpo.advantage=leave-one-out", "leave-one-out has no counterpart"),
        ("tasks.style=continue", "set tasks.style=chat"),
    ],
)
def test_what_prime_rl_cannot_do_is_refused_by_name(setting: str, told: str) -> None:
    with pytest.raises(UserError, match=told.replace(".", r"\.")):
        settings_of(load_recipe(["python-1.5b"], [setting, "grpo.refill=false"]), "tasks")
