"""What `strop export --skyrl` writes is read by SkyRL's own configuration, and its environment gives Strop's rewards.

The configuration needs a checkout of SkyRL 0.4 in STROP_TEST_SKYRL.
"""

import json
import os
from pathlib import Path

import pytest
from pyarrow import parquet
from tests.neighbours.venvs import neighbour
from tests.warm import strop

from strop.config.load import load_recipe
from strop.neighbours.skyrl import settings_of
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

CHECKOUT = Path(os.environ.get("STROP_TEST_SKYRL", "/nowhere"))
PACKAGES = ("skyrl-gym==0.4.0", "loguru")
READ = """
import dataclasses, json, sys, types

# The import of its inference servers asks for vLLM, only to look at LoRA.
servers = types.ModuleType("servers")
servers._uses_lora_weight_sync = lambda config: False
sys.modules["skyrl.backends.skyrl_train.inference_servers.utils"] = servers
from skyrl.train.config.config import SkyRLTrainConfig

config = SkyRLTrainConfig.from_cli_overrides(sys.argv[1:])
found = {}
for word in sys.argv[1:]:
    at = config
    for name in word.partition("=")[0].split("."):
        at = getattr(at, name)
    found[word.partition("=")[0]] = at
print(json.dumps(found))
"""
PLAY = """
import json, sys
from skyrl_gym.envs.registration import make, register

register(id="strop", entry_point="strop.neighbours.skyrl:environment", kwargs={"rewards": {"passed": 1.0}})
found = []
for answer in json.loads(sys.argv[2]):
    played = make("strop", env_config={}, extras=json.loads(sys.argv[1]))
    prompt, _ = played.init([{"role": "user", "content": "?"}])
    step = played.step(answer)
    found.append([step["reward"], step["done"], step["observations"], played.get_metrics()])
    played.close()
print(json.dumps(found))
"""


@pytest.mark.soak(60)
@pytest.mark.skipif(not CHECKOUT.is_dir(), reason="STROP_TEST_SKYRL names no checkout of SkyRL")
@pytest.mark.parametrize("loss", ["grpo", "dapo", "dr-grpo", "gspo"])
def test_skyrl_reads_every_setting(loss: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    theirs = neighbour("skyrl", *PACKAGES, folder=tmp_path_factory.getbasetemp())
    for more in ([], ["model.lora.rank=16", "grpo.beta=0.01", "grpo.advantage=leave-one-out"]):
        settings, _ = settings_of(load_recipe(["python-1.5b"], [f"grpo.loss={{type: {loss}}}", *more]))
        words = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
        done = theirs.run("python", "-c", READ, *words, paths=[CHECKOUT])
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == settings


@pytest.mark.soak(60)
def test_its_environment_gives_the_rewards_of_verdicts(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    theirs = neighbour("skyrl", *PACKAGES, folder=tmp_path_factory.getbasetemp())
    assert strop("export", "python-1.5b", "--skyrl", tmp_path / "out").returncode == 0
    row = parquet.read_table(tmp_path / "out" / "train.parquet").to_pylist()[0]
    task = Task.model_validate_json(row["reward_spec"]["ground_truth"])
    answers = [f"```python\n{task.reference}\n```", "```python\nraise SystemExit\n```"]
    done = theirs.run("python", "-c", PLAY, json.dumps(row), json.dumps(answers))
    assert done.returncode == 0, done.stderr
    right, wrong = json.loads(done.stdout)
    assert right == [1.0, True, [], {"passed": 1.0, "graded": 1.0}]
    assert wrong == [0.0, True, [], {"passed": 0.0, "graded": 1.0}]


def test_the_folder_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "skyrl"
    done = strop("export", "python-1.5b", "--skyrl", out)
    assert done.returncode == 0, done.stderr
    recipe = load_recipe(["python-1.5b"])
    settings, left = settings_of(recipe)
    told = (out / "README.md").read_text()
    assert all(f"- {line}\n" in told for line in left) and "{" not in told
    lines = dict(line.split("=", 1) for line in (out / "settings.txt").read_text().splitlines())
    assert {key: json.loads(value) for key, value in lines.items()} == settings
    rows = parquet.read_table(out / "train.parquet").to_pylist()
    assert len(rows) > 700 and {row["env_class"] for row in rows} == {"strop"}
    compile((out / "train.py").read_text(), "train.py", "exec")
    again = strop("export", "python-1.5b", "--skyrl", out)
    assert again.returncode == 2 and "is not empty" in again.stderr


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("grpo.loss={type: cispo}", "grpo.loss=cispo has no counterpart in SkyRL"),
        ("grpo.advantage={type: running-baseline}", "running-baseline has no counterpart"),
        ("tasks.style=continue", "SkyRL prompts by chat templates"),
    ],
)
def test_what_skyrl_cannot_do_is_refused_by_name(setting: str, told: str) -> None:
    with pytest.raises(UserError, match=told.replace(".", r"\.")):
        settings_of(load_recipe(["python-1.5b"], [setting, "grpo.refill=false"]))
