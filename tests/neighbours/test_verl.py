"""What `strop export --verl` writes is read by verl's own configuration, and its rewards are Strop's."""

import json
import os
import runpy
import subprocess
from pathlib import Path

import pytest
from pyarrow import parquet
from tests.neighbours.venvs import made
from tests.warm import strop

from strop.config.load import load_recipe
from strop.neighbours.verl import settings_of
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

PACKAGES = (
    "--no-deps", "verl==0.9.1", "hydra-core==1.3.2", "omegaconf==2.3.0", "antlr4-python3-runtime==4.9.3", "pyyaml",
    "packaging",
)  # fmt: skip
COMPOSE = """
import json, sys
from importlib.util import find_spec
from pathlib import Path
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

place = Path(find_spec("verl").submodule_search_locations[0], "trainer", "config")
with initialize_config_dir(str(place), version_base=None):
    config = compose("ppo_trainer", sys.argv[1:])
print(json.dumps({key.partition("=")[0]: OmegaConf.select(config, key.partition("=")[0], default="?") for key in sys.argv[1:]}, default=list))
"""  # noqa: E501


@pytest.mark.soak(60)
@pytest.mark.parametrize("loss", ["grpo", "dapo", "dr-grpo", "gspo"])
def test_verl_reads_every_setting(loss: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = made("verl", *PACKAGES, folder=tmp_path_factory.getbasetemp())
    for more in ([], ["model.lora.rank=16", "grpo.beta=0.01", "grpo.advantage=leave-one-out"]):
        recipe = load_recipe(["python-1.5b"], [f"grpo.loss={{type: {loss}}}", *more])
        settings, _ = settings_of(recipe)
        words = [f"{key}={str(v).lower() if isinstance(v, bool) else v}" for key, v in settings.items()]
        done = subprocess.run(
            [place / "bin/python", "-c", COMPOSE, *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        read = json.loads(done.stdout)
        assert read["actor_rollout_ref.rollout.n"] == recipe.grpo.group_size
        assert read["actor_rollout_ref.actor.optim.betas"] == list(recipe.optim.betas)
        for key, value in settings.items():
            if not isinstance(value, str):
                assert read[key] == value, key


def test_the_folder_is_whole_and_its_rewards_are_verdicts(tmp_path: Path) -> None:
    out = tmp_path / "verl"
    done = strop("export", "python-1.5b", "--verl", out)
    assert done.returncode == 0, done.stderr
    assert "grpo.mask_truncated" in (out / "README.md").read_text()
    rows = parquet.read_table(out / "train.parquet").to_pylist()
    assert len(rows) > 700 and rows[0]["prompt"][-1]["role"] == "user"
    score = runpy.run_path(str(out / "reward.py"))["compute_score"]
    row = rows[0]
    truth = row["reward_model"]["ground_truth"]
    task = Task.model_validate_json(truth)
    right = score("strop", f"```python\n{task.reference}\n```", truth, row["extra_info"])
    wrong = score("strop", "```python\nraise SystemExit\n```", truth, row["extra_info"])
    assert (right["score"], right["graded"], wrong["score"], wrong["graded"]) == (1.0, 1.0, 0.0, 1.0)
    fake = tmp_path / "bin" / "python3"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    fake.chmod(0o755)
    path = f"{fake.parent}:{os.environ['PATH']}"
    command = ["sh", out / "train.sh", "trainer.total_training_steps=3", "a=b c"]
    told = subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, check=True, cwd="/")
    words = told.stdout.splitlines()
    settings = (out / "settings.txt").read_text().splitlines()
    assert words[:2] == ["-m", "verl.trainer.main_ppo"] and sorted(words[2:-5]) == sorted(settings)
    assert words[-2:] == ["trainer.total_training_steps=3", "a=b c"]
    assert f"data.train_files='{out}/train.parquet'" in words[-5:-2]
    again = strop("export", "python-1.5b", "--verl", out)
    assert again.returncode == 2 and "is not empty" in again.stderr


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("grpo.loss={type: cispo}", "grpo.loss=cispo has no counterpart"),
        ("grpo.advantage={type: running-baseline}", "running-baseline has no counterpart"),
        ("tasks.style=continue", "set tasks.style=chat"),
    ],
)
def test_what_verl_cannot_do_is_refused_by_name(setting: str, told: str) -> None:
    with pytest.raises(UserError, match=told.replace(".", r"\.")):
        settings_of(load_recipe(["python-1.5b"], [setting, "grpo.refill=false"]))
