"""Mistakes that `strop train` says before anything is loaded: each with its line, its remedy and exit code 2."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.warm import strop
from tests.without import without

from strop.cli import app
from strop.tasks import write_tasks
from strop_verify.core.checks import Case, CasesCheck, CommandCheck, CommandStep
from strop_verify.core.task import Task

REWARDS = """
import helper
import strop

def fine(task, rollout, verdict):
    return helper.half(verdict.passed)

def one_argument(rollout):
    return 1.0

def raises(task, rollout, verdict):
    table = {}
    return table[task.topic]

def text(task, rollout, verdict):
    return "good"

@strop.batched
def one_number(rollouts):
    return 1.0

@strop.batched
def too_few(rollouts):
    return []

class NoStep:
    def __init__(self, task, opening, read):
        pass

    def begin(self):
        return None

class Begins:
    def __init__(self, task, opening, read):
        self.opening = opening

    def begin(self):
        return self.opening.nothing

    def step(self, completion):
        return strop.Done("")

def leaves(task, rollout, verdict):
    raise SystemExit(3)
"""


def add(name: str, **changes: object) -> Task:
    given = {
        "id": name,
        "statement": f"Return the sum of a and b. ({name})",
        "signature": "def add(a: int, b: int) -> int:",
        "reference": "def add(a: int, b: int) -> int:\n    return a + b\n",
        "check": CasesCheck(
            entry_point="add", cases=[Case(args=[1, 2], expected=3), Case(args=[0, 5], expected=5)]
        ),
        "split": "train",
    }
    return Task.model_validate(given | changes)


@pytest.fixture(scope="module")
def speaker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real Llama of a few kilobytes, with 512 positions."""
    from tests.small_models import byte_tokenizer, write_speaker

    tokenizer = byte_tokenizer()
    return write_speaker(tmp_path_factory.mktemp("models") / "m", tokenizer, "\n", tokenizer.encode("ok"))


@pytest.fixture
def place(tmp_path: Path, speaker: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model, tasks and rewards in it, where the command runs."""
    shutil.copytree(speaker, tmp_path / "m")
    write_tasks([add("one"), add("two", split="held-out")], tmp_path / "tasks.jsonl")
    (tmp_path / "r.py").write_text(REWARDS)
    (tmp_path / "helper.py").write_text("def half(passed):\n    return passed / 2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def faults(place: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """The lines on stderr of a `strop train --dry-run` with these words, which must end with exit code 2."""

    def asked(*words: str) -> list[str]:
        code, _, err = dry_run(capsys, *words)
        assert code == 2 and "Traceback" not in err, err
        lines = err.splitlines()
        assert lines and all(line.startswith("error: ") for line in lines), err
        return [line.removeprefix("error: ") for line in lines]

    return asked


def usual() -> tuple[str, ...]:
    words = ("model.name=m", "tasks.source=jsonl:tasks.jsonl", "sampling.max_tokens=40", "sandbox.workers=1")
    return (*words, "tasks.max_prompt_tokens=4000")


def dry_run(
    capsys: pytest.CaptureFixture[str], *words: str, command: Sequence[str] = ("train", "--dry-run")
) -> tuple[object, str, str]:
    """Exit code, stdout and stderr, in this process; paths as they are written from this folder."""
    with pytest.raises(SystemExit) as end:
        app([*command, *usual(), *words], prog_name="strop")
    out, err = (text.replace(f"{Path.cwd()}/", "") for text in capsys.readouterr())
    return end.value.code, out, err


def write(name: str, text: str | bytes) -> Callable[[Path], None]:
    return lambda place: (
        (place / name).write_bytes(text if isinstance(text, bytes) else text.encode()) and None
    )


def remove(pattern: str) -> Callable[[Path], None]:
    return lambda place: [path.unlink() for path in place.glob(pattern)] and None


def change(name: str, **values: object) -> Callable[[Path], None]:
    """Changes keys of a JSON file; None takes one out."""

    def done(place: Path) -> None:
        data = json.loads((place / name).read_text()) | values
        (place / name).write_text(
            json.dumps({key: value for key, value in data.items() if value is not None})
        )

    return done


def cut(name: str, size: int) -> Callable[[Path], None]:
    return lambda place: write(name, (place / name).read_bytes()[:-size])(place)


def more_tokens(place: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(place / "m" / "tokenizer.json"))
    tokenizer.add_tokens([f"<extra{number}>" for number in range(5)])
    tokenizer.save(str(place / "m" / "tokenizer.json"))


def tasks(*made: Task) -> Callable[[Path], None]:
    return lambda place: write_tasks(list(made), place / "tasks.jsonl") and None


def nothing(place: Path) -> None:
    """The mistake is in the words."""


INDEX = json.dumps({"weight_map": {"a": "model-00001-of-00002.safetensors"}})
ADAPTERS = json.dumps({"base_model_name_or_path": "/gone/base", "peft_type": "LORA"})
NODE = CommandCheck(path="a.js", steps=[CommandStep(stage="test", argv=["no-such-node", "a.js"])])
WRONG = "def add(a, b):\n    return a - b\n"

MISTAKES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "no such control": (nothing, "--controls=ssd,foo", "--controls ssd,foo: 'foo' is none of ssd, rft, warm, room"),
    # The model.
    "no such folder": (nothing, "model.name=./nowhere", "model.name=nowhere: there is no such folder or file; give"),
    "a file": (nothing, "model.name=./r.py", "model.name=r.py: not a GGUF file; give a model's folder"),
    "an empty folder": (remove("m/*"), "", "model.name=m: the folder has no config.json, so it holds no model"),
    "no tokenizer": (remove("m/tokenizer*"), "", "model.name=m: the folder holds no tokenizer (tokenizer.json); save"),
    "damaged config": (write("m/config.json", '{"model_type": "lla'), "", "config.json cannot be read: Unterminated"),
    "no model type": (change("m/config.json", model_type=None), "", "config.json has no model_type, so"),
    "weights cut off": (cut("m/model.safetensors", 9), "", "model.safetensors cannot be read: it is cut off, "),
    "weights damaged": (write("m/model.safetensors", b"PK\3\4" * 9), "", "model.safetensors cannot be read: its"),
    "no weights": (remove("m/*.safetensors"), "", "model.name=m: the folder holds no weights (model.safetensors)"),
    "a missing part": (
        write("m/model.safetensors.index.json", INDEX), "", "model-00001-of-00002.safetensors is missing; copy",
    ),
    "damaged tokenizer": (write("m/tokenizer.json", "{}"), "", "model.name=m: its tokenizer cannot be read ("),
    "the base of adapters is gone": (
        lambda place: (remove("m/*")(place), write("m/adapter_config.json", ADAPTERS)(place), shutil.copy(
            Path(__file__).parent / "conftest.py", place / "m" / "adapter_model.bin")),
        "", "model.name=/gone/base: there is no such folder",
    ),
    "a tokenizer that is too large": (
        more_tokens, "", "model.name=m: its tokenizer has token ids up to 265, its embedding only 261 rows; use",
    ),
    "no chat template": (remove("m/chat_template.jinja"), "", "tasks.style=chat, but this model's tokenizer has no"),
    "no such chat template": (nothing, "model.chat_template=no.jinja", "no.jinja': cannot be read"),
    "answers longer than the model": (
        nothing, "sampling.max_tokens=512", "sampling.max_tokens=512 leaves no room for a prompt: the model m has 512",
    ),
    "adapters for no layer": (
        nothing, "model.lora={rank: 4, target_modules: [q_proj, c_attn]}",
        "model.lora.target_modules: no layer is named 'c_attn'; there are down_proj, ",
    ),
    # Engines and extras.
    "an engine without weights": (nothing, "policy.engine=openai", "policy.engine=openai has no weights to train; use"),
    "no flash attention": (
        nothing, "model.attention=flash_attention_2", "needs flash_attn: pip install flash-attn, or leave it out",
    ),
    "no such tracker": (nothing, "run.report_to=[wandb]", "run.report_to: wandb is not installed; install it with"),
    # Tasks.
    "no such tasks": (nothing, "tasks.source=jsonl:no.jsonl", "no such file: no.jsonl"),
    "no such tasks to evaluate on": (
        nothing, "evaluation.extra=[{name: more, source: 'jsonl:no.jsonl'}]", "no such file: no.jsonl",
    ),
    "no such template": (nothing, "tasks.template=no.txt", "cannot read the prompt template no.txt: No such file"),
    "a placeholder": (write("t.txt", "{task}"), "tasks.template=t.txt", "t.txt:1: unknown placeholder {task}"),
    "a long prompt": (nothing, "tasks.max_prompt_tokens=9", "tokens, more than tasks.max_prompt_tokens=9; raise"),
    "another entry point": (
        tasks(add("one", check=CasesCheck(entry_point="sum", cases=[Case(args=[1], expected=1)]))), "",
        "task one: its entry point 'sum' is not in its signature 'def add(a: int, b: int) -> int:'; correct one",
    ),
    "a reference that fails": (
        tasks(add("one", reference=WRONG)), "", "task one: its reference fails its own tests (failed: ",
    ),
    "no program": (
        tasks(add("one", language="javascript", check=NODE, signature="", reference="1")), "",
        "the command check needs 'no-such-node', which is not in ",
    ),
    "no demonstrations": (nothing, "sft={warm_start: true, demos: no.jsonl}", "no.jsonl"),
    # Rewards and environments.
    "no such reward": (nothing, "rewards=[{name: pased}]", "rewards: no reward named 'pased'; did you mean 'passed'?"),
    "no such file": (nothing, "rewards=[{name: 'no.py:f'}]", "rewards: 'no.py:f': there is no file 'no.py'"),
    "other arguments": (
        nothing, "rewards=[{name: 'r.py:one_argument'}]",
        "reward 'one_argument' must take (task, rollout, verdict), or (rollouts) under @strop.batched: too many "
        "positional arguments (r.py:8)",
    ),
    "a reward that ends the process": (
        nothing, "rewards=[{name: 'r.py:leaves'}]", "reward 'leaves' raised SystemExit: 3 (r.py:44), task one",
    ),
    "a reward that raises": (
        nothing, "rewards=[{name: 'r.py:raises'}]", "reward 'raises' raised KeyError: '' (r.py:13), task one",
    ),
    "a reward that says a text": (nothing, "rewards=[{name: 'r.py:text'}]", "reward 'text' returned 'good' for task"),
    "one number for many": (
        nothing, "rewards=[{name: 'r.py:one_number'}]",
        "reward 'one_number' is @batched and returned 1.0 for 1 rollouts; it must return a list with one value each",
    ),
    "fewer numbers": (
        nothing, "rewards=[{name: 'r.py:too_few'}]", "reward 'too_few' returned 0 values for 1 rollouts, not one each",
    ),
    "no such environment": (nothing, "tasks.environment=feedbak", "no environment named 'feedbak'; did you mean"),
    "half an environment": (nothing, "tasks.environment=r.py:NoStep", "environment NoStep has no step (r.py:"),
    "an environment that raises": (
        nothing, "tasks.environment=r.py:Begins",
        "begin: AttributeError: 'Opening' object has no attribute 'nothing' (r.py:",
    ),
    # The disk.
    "a run folder that exists": (
        lambda place: (place / "runs/run/a").mkdir(parents=True), "",
        "run folder runs/run exists and is not empty; choose",
    ),
    "no room": (nothing, "run.dir=/sys/run", "run folder /sys/run: 0.0 GB are free, but "),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_said_in_one_line(name: str, place: Path, faults: Callable[..., list[str]]) -> None:
    make, word, expected = MISTAKES[name]
    make(place)
    found = faults(*filter(None, [word]))
    assert [line for line in found if expected in line], found
    assert len(found) == 1 or name in ("no room", "the base of adapters is gone"), found
    assert name == "no room" or not (place / "runs/run/recipe.yaml").exists()


def test_all_faults_are_said_at_once(faults: Callable[..., list[str]]) -> None:
    found = faults(
        "model.lora={rank: 4, target_modules: [c_attn]}", "policy.engine=vllm", "tasks.template=no.txt",
        "rewards=[{name: pased}, {name: 'r.py:one_argument'}]", "sampling.max_tokens=600",
    )  # fmt: skip
    named = (
        "ask for 4600 tokens",
        "c_attn",
        *([] if find_spec("vllm") else ["vllm: pip install"]),
        "no.txt",
        "'pased'",
        "(r.py:8)",
        "has 512 positions",
    )
    assert len(found) == len(named) and all(any(part in line for line in found) for part in named), found


def test_a_recipe_that_can_run_says_what_was_looked_at(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A module beside the user's file is found too."""
    code, out, err = dry_run(capsys, "rewards=[{name: 'r.py:fine'}, {name: passed}]")
    assert (code, err) == (0, ""), err
    assert "model: m, " in out and " million weights, 512 positions\n" in out and "disk: " in out
    assert "references: 1 of 1 tried pass their own tests\n" in out
    assert "with the reference: fine 0.5, passed 1\n" in out
    assert out.splitlines()[-1].startswith("ok: 1 training tasks, 1 held out; ")
    assert not (place / "runs").exists()


def test_tasks_with_long_prompts_are_left_out_and_counted(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = add("long", statement="Add two numbers. " + "They are whole. " * 200)
    write_tasks([add("one"), long, add("two", split="held-out")], place / "tasks.jsonl")
    words = ("tasks.max_prompt_tokens=400", "tasks.too_long=leave-out")
    code, out, err = dry_run(capsys, *words)
    assert code == 0 and "1 of 2 training tasks, 0 of 1 held out\n" in out, err
    assert out.splitlines()[-1].startswith("ok: 1 training tasks, 1 held out; ")
    code, _, err = dry_run(capsys, "tasks.max_prompt_tokens=9", words[1])
    assert code == 2 and "all 2 training tasks have prompts of more than tasks.max_prompt_tokens=9" in err


def test_what_need_not_end_a_run_is_said(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tasks([add("one"), add("two", reference=WRONG)], place / "tasks.jsonl")
    code, out, _ = dry_run(capsys, "sampling.max_tokens=500")
    assert code == 0
    assert "references: 1 of 2 tried pass their own tests\n" in out
    assert "task two: its reference fails its own tests (" in out and "), so it is not trained on\n" in out
    assert "no task is held out, so nothing is evaluated" in out
    assert (
        " and the model 512 positions, which leaves " in out and " tokens of sampling.max_tokens=500\n" in out
    )


def test_no_rust_compiler_is_said(faults: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (line,) = faults("tasks.source=rust-functions", "tasks.limit=4")
    assert line.startswith("Rust answers cannot be judged: no rustc on PATH; install Rust with clippy")


@pytest.mark.parametrize("offline", [False, True])
def test_a_hub_that_is_not_reached_is_said_at_once(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, offline: bool
) -> None:
    """Of a model that is not in the cache; one that is, is taken from there."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(place / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    name = f"org/small-{offline}"
    code, _, err = dry_run(capsys, f"model.name={name}")
    (line,) = err.splitlines()
    why = "HF_HUB_OFFLINE is set" if offline else "Connection refused"
    assert code == 2 and f"model.name={name}: no folder has that name, the Hub's cache has no" in line
    assert why in line, line
    kept = place / "hub" / f"models--{name.replace('/', '--')}"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("1" * 40)
    shutil.copytree(place / "m", kept / "snapshots" / ("1" * 40))
    code, out, err = dry_run(capsys, f"model.name={name}")
    assert code == 0 and f"model: {name}, " in out, err


@pytest.mark.parametrize("command", [("train", "--dry-run"), ("sft",)])
def test_missing_extras_are_said(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    for name in ("torch", "transformers", "accelerate", "peft"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    code, _, err = dry_run(capsys, "model.lora.rank=4", command=command)
    assert code == 2
    assert err == "error: training needs torch, transformers, accelerate, peft: pip install 'strop[train]'\n"


def test_tree_sitter_is_needed_for_rust_and_torch_for_nothing(place: Path) -> None:
    """In a process of its own, where neither is loaded before."""
    words = [
        "train",
        "--dry-run",
        *usual(),
        "tasks.source=rust-functions",
        "tasks.limit=4",
        "sandbox.workers=1",
    ]
    code = f"import sys\nsys.argv = {['strop', *words]!r}\nfrom strop.cli import main\n"
    code += "try:\n    main()\nfinally:\n    print('torch loaded:', 'torch' in sys.modules)\n"
    environment = without(place / "site", "tree_sitter")
    ran: Any = {"cwd": place, "env": environment, "capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run([sys.executable, "-c", code], **ran)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and "pip install 'strop-verify[strength]'" in line, line
    assert done.stdout.endswith("torch loaded: False\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trian", "demo"], "No such command 'trian'. Did you mean train or trace?"),
        (["train", "demo", "--lr", "1e-5"], "written without dashes: optim.learning_rate=VALUE"),
        (["train", "demo", "--optim.steps=3"], "written without dashes: optim.steps=VALUE"),
        (["train", "demo", "--num-generations", "4"], "written without dashes: grpo.group_size=VALUE"),
        (["runs", "--nope"], "No such option: --nope"),
    ],
)
def test_a_wrong_word_is_told_the_right_one(words: list[str], said: str) -> None:
    done = strop(*words)
    assert done.returncode == 2 and said in " ".join(done.stderr.split()), done.stderr
