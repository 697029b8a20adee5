"""What goes wrong while a run trains, or when it is resumed: one line, the right exit code, and nothing lost."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from tests.small_models import byte_tokenizer
from tests.waiting import wait_until
from tests.warm import strop
from transformers import LlamaConfig, LlamaForCausalLM

from strop.config.schema import Recipe
from strop.training.checkpoints import MARKER, damage
from strop.training.failures import explained, kept_trace

pytestmark = pytest.mark.train(4)
TRIED = "    if verdict.passed:\n        return 1.0\n"
"""In a reward whose mistake shows in the run alone: before it, a reference is played."""
GOOD = "def f(task, rollout, verdict):\n    return sum(i % 2 for i in rollout.flat()[0])\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 7,000 weights whose tokens are bytes."""
    folder, tokenizer = tmp_path_factory.mktemp("model"), byte_tokenizer(None)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=2048, tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=tokenizer.bos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class Place:
    """A folder with a reward in rewards.py, whose run is the folder `run`."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder, self.model, self.run = folder, model, folder / "run"

    def words(self, **changes: Any) -> list[str]:
        settings = {
            "model.name": self.model, "model.compute_dtype": "float32", "model.sampling_dtype": "float32",
            "model.gradient_checkpointing": "false", "tasks.style": "continue", "tasks.limit": 12,
            "sampling.max_tokens": 8, "grpo.group_size": 4, "grpo.tasks_per_step": 2, "grpo.refill": "false",
            "grpo.mask_truncated": "false", "optim.steps": 4, "optim.learning_rate": 0.003, "run.save_every": 2,
            "run.dir": self.run, "evaluation.before": "false", "evaluation.after": "false", "sandbox.workers": 1,
            "rewards": "[{name: rewards.py:f}]",
        }  # fmt: skip
        settings |= {key.replace("__", "."): value for key, value in changes.items()}
        return [f"{key}={value}" for key, value in settings.items()]

    def train(self, reward: str = GOOD, **changes: Any) -> subprocess.CompletedProcess[str]:
        (self.folder / "rewards.py").write_text(reward)
        return strop("train", *self.words(**changes), cwd=self.folder)

    def resume(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return strop("train", "--resume", self.run, *words, cwd=cwd or self.folder)

    def metrics(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.run / "metrics.jsonl").read_text().splitlines()]

    def weights(self, name: str = "final") -> str:
        return hashlib.sha256((self.run / name / "model.safetensors").read_bytes()).hexdigest()

    def checkpoints(self) -> list[str]:
        return sorted(path.name for path in (self.run / "checkpoints").iterdir())


@pytest.fixture
def place(tmp_path: Path, tiny: Path) -> Place:
    return Place(tmp_path, tiny)


@pytest.fixture(scope="module")
def four_steps(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A finished run of four steps that kept its optimiser. Copy it before it is changed."""
    made = Place(tmp_path_factory.mktemp("four"), tiny)
    done = made.train(run__keep_optimizer="true")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def stopped(four_steps: Place, place: Place) -> Place:
    """The same as if it had been killed before it was finished."""
    shutil.copytree(four_steps.folder, place.folder, dirs_exist_ok=True)
    (place.run / "summary.json").unlink()
    shutil.rmtree(place.run / "final")
    return place


def one_line(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The only line on stderr, of an end with that exit code."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    return line


def test_a_reward_that_raises_ends_the_run_with_its_line(place: Place) -> None:
    done = place.train(
        f"import json\n\ndef f(task, rollout, verdict):\n{TRIED}    return json.loads('{{')['x']\n"
    )
    line = one_line(done, 1)
    assert "8 of 8 rollouts could not be scored" in line and "limits.max_error_rate" in line
    assert "JSONDecodeError" in line and "(rewards.py:6)" in line
    listed = strop("runs", place.folder)
    assert "ended by: 8 of 8 rollouts" in " ".join(listed.stdout.split())
    assert "JSONDecodeError" in (place.run / "error.txt").read_text()


def test_a_reward_that_fails_for_a_moment_is_tried_again(place: Place) -> None:
    reward = (
        f"from pathlib import Path\n\ndef f(task, rollout, verdict):\n{TRIED}    if not Path('seen').exists():\n"
        "        Path('seen').touch()\n        raise ConnectionError('judge is away')\n    return rollout.seed % 3\n"
    )
    done = place.train(reward, optim__steps=1)
    assert done.returncode == 0, done.stderr
    assert (place.folder / "seen").exists() and "rewards_failed" not in place.metrics()[0]
    assert place.metrics()[0]["seconds_rewards"] >= 0.5 and "rewards 0." in done.stdout


def test_a_rollout_whose_reward_keeps_failing_is_unscored_and_counted(place: Place) -> None:
    reward = (
        f"def f(task, rollout, verdict):\n{TRIED}    return 1 / rollout.index if rollout.index < 2 else 0.5\n"
    )
    done = place.train(reward, optim__steps=1, limits__max_error_rate=0.5)
    assert done.returncode == 0, done.stderr
    assert "2 rollouts could not be scored" in done.stdout and "(rewards.py:4)" in done.stdout
    (line,) = place.metrics()
    assert line["rewards_failed"] == 0.25 and line["reward"] == pytest.approx(4 / 6)
    shown = strop("show", place.run, "--step", "1", "--json")
    rewards = [json.loads(one)["reward"] for one in shown.stdout.splitlines()] if not shown.returncode else []
    assert not rewards or rewards.count(None) == 2


def test_numbers_of_numpy_and_tensors_without_dimensions_are_rewards(place: Place) -> None:
    reward = (
        "import numpy, torch\n\ndef f(task, rollout, verdict):\n    x = float(rollout.index)\n"
        "    return [numpy.float32(x), torch.tensor(x), numpy.int64(x), numpy.array(x)][rollout.index]\n"
    )
    done = place.train(reward, optim__steps=1)
    assert done.returncode == 0, done.stderr
    assert place.metrics()[0]["reward"] == 1.5


@pytest.mark.parametrize(
    ("returned", "said"),
    [("'good'", "it must be a finite number or None"), ("[1.0]", "it must be a finite number or None")],
)
def test_a_reward_that_is_no_number(place: Place, returned: str, said: str) -> None:
    done = place.train(f"def f(task, rollout, verdict):\n    return {returned}\n")
    line = one_line(done, 2)
    assert said in line and "reward 'f' returned" in line


def test_a_batched_reward_that_returns_one_number(place: Place) -> None:
    done = place.train("import strop\n\n@strop.batched\ndef f(judged):\n    return 0.5\n")
    assert "@batched and returned 0.5 for 1 rollouts; it must return a list with one value each" in one_line(
        done, 2
    )


def test_rewards_that_are_all_none_end_the_run(place: Place) -> None:
    done = place.train("def f(task, rollout, verdict):\n    return None\n", optim__steps=9)
    line = one_line(done, 1)
    assert "3 steps in a row had nothing to learn from" in line and "every reward gives None" in line
    assert "step 1: 8 without a reward of 8 rollouts" in done.stdout
    assert "signal 0/2" in done.stdout and "reward 0.000" not in done.stdout
    assert len(place.metrics()) == 3


def test_answers_that_are_all_cut_off_and_masked_end_the_run(place: Place) -> None:
    done = place.train(grpo__mask_truncated="true", optim__steps=9)
    line = one_line(done, 1)
    assert "8 cut off of 8 rollouts" in line and "raise sampling.max_tokens" in line
    assert "signal 0/2" in done.stdout and "signal 2/2" not in done.stdout


def test_plays_that_are_all_dropped_end_the_run(place: Place) -> None:
    line = one_line(place.train(play__seconds=0.001, optim__steps=9), 1)
    assert "8 dropped of 8 rollouts" in line


HUGE = (
    "def f(task, rollout, verdict):\n    step = rollout.turns[0].completion.policy_version\n"
    "    return (-1) ** rollout.index * (1e300 if {when} else 1.0)\n"
)
"""Rewards whose advantages are too large for float32."""


def test_three_updates_that_are_not_finite_end_the_run_and_lose_nothing(place: Place) -> None:
    changes = {"grpo__advantage__scale": "none", "optim__steps": 9}
    done = place.train(HUGE.format(when="step >= 3"), **changes)
    line = one_line(done, 1)
    assert (
        "3 updates in a row were not finite and not applied" in line and "optim.learning_rate=0.0015" in line
    )
    assert "alarm at step 4: not finite" in done.stdout
    assert len(place.metrics()) == 6 and place.checkpoints() == ["checkpoint-4", "checkpoint-6"]
    straight = Place(place.folder / "straight", place.model)
    straight.folder.mkdir()
    assert straight.train(HUGE.format(when="False"), **changes | {"optim__steps": 3}).returncode == 0
    for name in ("checkpoints/checkpoint-4", "checkpoints/checkpoint-6", "final"):
        assert place.weights(name) == straight.weights()  # three finite updates, and no other
    assert not (place.run / "final" / "optimizer.pt").exists()
    (place.folder / "rewards.py").write_text(HUGE.format(when="False"))
    again = place.resume("optim.learning_rate=0.001")
    assert again.returncode == 0, again.stderr
    assert "from step 7 on optim.learning_rate is 0.001, not 0.003" in again.stdout
    assert [line["step"] for line in place.metrics()] == list(range(1, 10))


def test_one_update_that_is_not_finite_is_left_out(place: Place) -> None:
    done = place.train(HUGE.format(when="step == 1"), grpo__advantage__scale="none")
    assert done.returncode == 0, done.stderr
    lines = place.metrics()
    assert [line.get("updates_not_finite") for line in lines] == [None, 1, None, None]
    assert lines[1]["loss"] is None and all(line["loss"] is not None for line in (lines[0], *lines[2:]))


def test_a_full_disk_at_a_checkpoint(place: Place) -> None:
    # No file may grow beyond 20 kB from step 3 on: the model has 28 kB.
    reward = (
        "import resource\n\ndef f(task, rollout, verdict):\n    if rollout.turns[0].completion.policy_version >= 2:\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))\n"
        "    return rollout.index\n"
    )
    line = one_line(place.train(reward), 1)
    assert "cannot save" in line and "no space left" in line and "checkpoint-2 is intact" in line
    assert f"strop train --resume {place.run}" in line
    assert place.checkpoints() == ["checkpoint-2"]
    assert "Traceback" in (place.run / "error.txt").read_text()
    (place.folder / "rewards.py").write_text(reward.replace("20_000", "20_000_000"))
    assert place.resume().returncode == 0 and not (place.run / "error.txt").exists()


def flip(file: Path, place: int, bit: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 1 << bit
    file.write_bytes(data)


@pytest.mark.train(25)
@pytest.mark.parametrize("rank", [0, 2])
def test_a_flipped_byte_in_any_file_of_a_checkpoint(place: Place, rank: int) -> None:
    changes = {
        "grpo__max_staleness": 1,
        "grpo__correction": "{type: token-truncated}",
        "model__lora__rank": rank,
    }
    if rank:
        changes |= {"sft__warm_start": "true", "sft__steps": 1}
    done = place.train(run__keep_optimizer="true", **changes)
    assert done.returncode == 0, done.stderr
    (place.run / "summary.json").unlink()
    whole, newest = (place.run / "checkpoints" / f"checkpoint-{n}" for n in (2, 4))
    files = [path for path in sorted(newest.rglob("*")) if path.is_file()]
    weights = "adapter_model.safetensors" if rank else "model.safetensors"
    assert {path.name for path in files} >= {weights, "optimizer.pt", "strop_state.json", "STROP_COMPLETE"}
    assert (whole / "ahead.jsonl.zst").is_file()
    random = Random()
    for file in [*files, *((place.run / "warm").iterdir() if rank else ())]:
        where = random.randrange(file.stat().st_size), random.randrange(8)
        flip(file, *where)
        line = one_line(place.resume(), 2)
        assert f"{file} is damaged" in line, (file, where, line)
        if file.parent == newest:
            assert f"remove {newest} to resume from checkpoint-2, which is intact" in line
        flip(file, *where)
    flip(whole / "ahead.jsonl.zst", 20, 3)
    (newest / weights).unlink()
    line = one_line(place.resume(), 2)
    assert f"{newest / weights} is missing; remove {newest} and {whole} to resume from the start" in line
    shutil.rmtree(newest)
    flip(whole / "ahead.jsonl.zst", 20, 3)
    done = place.resume()
    assert done.returncode == 0 and "from checkpoint-2" in done.stdout, done.stderr


def test_every_byte_of_a_seal_counts(four_steps: Place, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint-4"
    shutil.copytree(four_steps.run / "checkpoints" / folder.name, folder)
    marker, random = folder / MARKER, Random()
    assert damage(folder) == ""
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", MARKER], cwd=folder, check=True)
    for place in range(marker.stat().st_size):
        bit = random.randrange(8)
        flip(marker, place, bit)
        assert damage(folder) == f"{marker} is damaged", (place, bit)
        flip(marker, place, bit)
    marker.write_bytes(marker.read_bytes()[:-1])
    assert damage(folder) == f"{marker} is damaged"


def test_a_damaged_model_is_neither_evaluated_nor_exported(stopped: Place) -> None:
    newest = stopped.run / "checkpoints" / "checkpoint-4"
    flip(newest / "model.safetensors", 9_000, 2)
    evaluated = strop("eval", stopped.run, "demo", "--limit", "1", cwd=stopped.folder)
    exported = strop("export", stopped.run, "-o", "out", "--checkpoint", "4", cwd=stopped.folder)
    for done in (evaluated, exported):
        assert f"{newest / 'model.safetensors'} is damaged" in one_line(done, 2)
    assert not (stopped.folder / "out").exists()


@pytest.mark.parametrize(
    ("left", "lost"), [(None, "1 to 4"), ([2], "1, 3 to 4"), ([1, 2, 4], "3"), ([1, 2, 3, 4], "")]
)
def test_steps_that_metrics_lack_are_said(stopped: Place, left: list[int] | None, lost: str) -> None:
    lines = stopped.metrics()
    (stopped.run / "metrics.jsonl").unlink()
    if left is not None:
        kept = [json.dumps(line) for line in lines if line["step"] in left]
        (stopped.run / "metrics.jsonl").write_text("".join(f"{line}\n" for line in kept))
    done = stopped.resume("optim.steps=5")
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if "metrics.jsonl" in line]
    assert len(said) == bool(lost)
    assert not lost or f"metrics.jsonl lacks the finished steps {lost}" in said[0]
    assert [line["step"] for line in stopped.metrics()] == [*(left or []), 5]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["optim.betas=[0.5,0.9]"], "optim.betas cannot change in a run that has begun"),
        (["seed=3"], "seed cannot change"),
        (["optim.steps=3"], "optim.steps=3 is less than the 4 steps"),
        (["other.yaml"], "--resume takes KEY=VALUE only"),
        (["optim.stepz=9"], "did you mean optim.steps"),
    ],
)
def test_what_a_resumed_run_cannot_change(stopped: Place, words: list[str], said: str) -> None:
    before = (stopped.run / "recipe.yaml").read_text()
    assert said in one_line(stopped.resume(*words), 2)
    assert (stopped.run / "recipe.yaml").read_text() == before


def test_a_finished_run_is_extended_to_the_bit(four_steps: Place, place: Place) -> None:
    straight = Place(place.folder / "straight", place.model)
    straight.folder.mkdir()
    assert straight.train(optim__steps=6).returncode == 0
    shutil.copytree(four_steps.folder, place.folder, dirs_exist_ok=True)
    assert "optim.steps=8" in place.resume().stdout  # how to go on
    done = place.resume("optim.steps=6")
    assert done.returncode == 0, done.stderr
    assert "from step 5 on optim.steps is 6, not 4" in done.stdout and "step 6/6" in done.stdout
    assert place.weights() == straight.weights()
    assert json.loads((place.run / "changes.jsonl").read_text()) == {
        "after_step": 4,
        "changes": {"optim.steps": [4, 6]},
    }
    assert "steps: 6" in (place.run / "recipe.yaml").read_text()


def test_a_finished_run_drops_its_optimiser_and_says_so_when_it_is_extended(place: Place) -> None:
    assert place.train(optim__steps=2).returncode == 0
    assert not list(place.run.rglob("optimizer.pt"))
    modes = {
        path.stat().st_mode & 0o777
        for path in place.run.rglob("*")
        if path.is_file() and path.name != ".lock"
    }
    assert modes == {0o644}
    assert (place.run / "checkpoints" / "checkpoint-2" / "tokenizer.json").is_file()
    done = place.resume("optim.steps=3")
    assert done.returncode == 0, done.stderr
    assert "has no optimiser state (run.keep_optimizer=false): AdamW starts afresh" in done.stdout


HELPED = "import helper\n\ndef f(task, rollout, verdict):\n    return helper.value(rollout)\n"


def test_a_run_folder_holds_its_code_and_is_resumed_from_anywhere(place: Place, tmp_path: Path) -> None:
    helper = place.folder / "helper.py"
    helper.write_text("def value(rollout):\n    return rollout.index\n")
    assert place.train(HELPED, optim__steps=2).returncode == 0
    copies = place.run / "code" / "000000"
    assert (copies / "helper.py").read_text() == helper.read_text()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    helper.write_text("def value(rollout):\n    return rollout.index + 10\n")
    done = place.resume("optim.steps=3", cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    assert "rewards.py changed since this run began: steps after 2 use the new code" in done.stdout
    assert [line["reward"] for line in place.metrics()] == [1.5, 1.5, 11.5]
    assert (place.run / "code" / "000002" / "helper.py").read_text() == helper.read_text()
    helper.unlink()
    (place.folder / "rewards.py").unlink()
    moved = tmp_path / "moved"
    place.run.rename(moved)
    place.run = moved
    done = place.resume("optim.steps=4", cwd=elsewhere)
    assert done.returncode == 0 and "changed since" not in done.stdout, done.stderr
    assert place.metrics()[-1]["reward"] == 11.5


def test_adapters_for_modules_that_are_not_there(place: Place) -> None:
    line = one_line(place.train(model__lora__rank=4, model__lora__target_modules="[qkv]"), 2)
    assert "model.lora.target_modules: no layer is named 'qkv'; there are " in line


def test_an_error_that_nobody_foresaw(place: Place) -> None:
    reward = (
        "import shutil\n\ndef f(task, rollout, verdict):\n"
        "    if rollout.turns[0].completion.policy_version == 1:\n"
        f"        shutil.rmtree({str(place.run / 'rollouts')!r}, ignore_errors=True)\n    return rollout.index\n"
    )
    done = place.train(reward)
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert "step-000002" in line
    assert "Traceback" in (place.run / "error.txt").read_text()


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (
            torch.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total of 79 GiB"
            ),
            "RunFailure",
            "CUDA is out of memory (asked for 20.00 GiB): lower optim.micro_batch_tokens (now 8192)",
        ),
        (
            RuntimeError(
                "[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory: you tried"
            ),
            "RunFailure",
            "the machine is out of memory",
        ),
        (
            ModuleNotFoundError("No module named 'peft'", name="peft"),
            "UserError",
            "pip install 'strop[train]'",
        ),
        (ModuleNotFoundError("no", name="tree_sitter"), "UserError", "pip install 'strop[strength]'"),
        (OSError(28, "No space left on device"), "RunFailure", "free some room"),
        (KeyError("x"), "RunFailure", "KeyError: 'x'"),
    ],
)
def test_errors_in_one_line(tmp_path: Path, error: Exception, kind: str, said: str) -> None:
    kept_trace(tmp_path, error, "", "process 0 of 1")
    found = explained(error, Recipe(), Path("runs/a"))
    assert type(found).__name__ == kind and said in str(found) and "\n" not in str(found)
    assert "strop train --resume runs/a" in str(found) and f"{tmp_path}/error.txt" in str(found)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_says_how_to_resume(place: Place, number: signal.Signals) -> None:
    (place.folder / "rewards.py").write_text(
        "import time\n\ndef f(task, rollout, verdict):\n    time.sleep(0.2)\n    return rollout.index\n"
    )
    command = [sys.executable, "-m", "strop.cli", "train", *place.words(optim__steps=500)]
    process = subprocess.Popen(
        command,
        cwd=place.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # nohup has it ignored
    )
    try:
        wait_until((place.run / "vocabulary.json.zst").exists, process)
        process.send_signal(number)
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert errors.strip() == f"terminated; resume with: strop train --resume {place.run}"
    assert "ended by: terminated" in " ".join(strop("runs", place.folder).stdout.split())
