"""The code blocks of docs/harness.md, plays.md, workspace.md and neighbours.md, executed as documented.

What a block leaves to the reader (a model, a file, a port) is put in its place, and what would take long is made short;
`test_every_block_is_executed` finds a block that no test here takes.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.scale import full
from tests.warm import strop

from strop.tasks import load_tasks
from strop.tasks.jsonl import write_tasks

ROOT = Path(__file__).parents[1]
PAGES = ("harness", "plays", "workspace", "neighbours")
BLOCKS = {
    page: re.findall(
        r"^```\w*\n(.*?)^```", (ROOT / "docs" / f"{page}.md").read_text(), re.MULTILINE | re.DOTALL
    )
    for page in PAGES
}
TAKEN: list[str] = []
pytestmark = pytest.mark.jail
needs_pip = pytest.mark.skipif(not full(), reason="pip installs the neighbour: in a full run (--full)")


def block(page: str, words: str) -> str:
    """The one block of a page that holds these words."""
    (found,) = (text for text in BLOCKS[page] if words in text)
    TAKEN.append(found)
    return found


def lines(text: str) -> list[list[str]]:
    """The words of each command of a block, without `strop`."""
    commands = (re.sub(r"\s+#.*", "", line) for line in text.splitlines() if line.startswith("strop "))
    return [shlex.split(command)[1:] for command in commands]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.small_models import byte_tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM

    folder, tokenizer = tmp_path_factory.mktemp("model"), byte_tokenizer()
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=32768, eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def few(model: Path) -> list[str]:
    """Overrides by which a run is short."""
    return [
        f"model.name={model}", "model.compute_dtype=float32", "model.sampling_dtype=float32", "optim.steps=1",
        "grpo.tasks_per_step=1", "grpo.group_size=2", "grpo.refill=false", "sampling.max_tokens=16",
        "evaluation.before=false", "evaluation.after=false", "evaluation.room=1", "sandbox.workers=1",
        "tasks.max_prompt_tokens=8000",
        "play.max_tokens=16000",
    ]  # fmt: skip


def well(*words: object, cwd: Path, timeout: float = 600) -> str:
    """What a command prints that ends well."""
    done = strop(*words, cwd=cwd, timeout=timeout)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def scripted(folder: Path, *answers: str, name: str = "said.jsonl") -> str:
    """A MODEL that says these."""
    task = load_tasks("python-functions", limit=1)[0]
    said = "".join(json.dumps({"task_id": task.id, "answer": answer}) + "\n" for answer in answers)
    (folder / name).write_text(said)
    return f"scripted:{name}"


@contextmanager
def serving(*words: object, cwd: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """What a server says where it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "strop.cli", *map(str, words)], cwd=cwd, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
    )  # fmt: skip
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.search(r"http://\S+", line):
            break
    else:
        pytest.fail("".join(said))
    try:
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


# docs/harness.md

HARNESS = block("harness", 'agent.py {task}", turns: 20}')
HARNESS_COMMANDS = block("harness", "strop eval MODEL")
CHECKS = block("harness", "strop harness check")
MINI = block("harness", "MSWEA_CONFIGURED")
SERVED = block("harness", "openssl rand")
AGENT = """
import sys
from openai import OpenAI
asked = [{"role": "user", "content": sys.argv[1]}]
OpenAI().chat.completions.create(model="policy", messages=asked)
"""


@pytest.mark.train(30)
def test_an_agent_as_the_rollout(tmp_path: Path, few: list[str], model: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "recipe.yaml").write_text(HARNESS.replace("toy-repositories:2000", "toy-repositories:4"))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    train, evaluate, play = lines(HARNESS_COMMANDS)
    well(*train, *few, "run.name=agent", cwd=tmp_path)
    line = json.loads((tmp_path / "runs/agent/metrics.jsonl").read_text().splitlines()[0])
    assert line["turns"] >= 1 and line["seconds_starting"] > 0 and line["seconds_tools"] >= 0
    more = [
        "--tasks",
        "python-functions",
        "--limit",
        "1",
        "-n",
        "1",
        "-k",
        "1",
        *few[:3],
        "sampling.max_tokens=16",
    ]
    more += ["tasks.max_prompt_tokens=8000"]
    well(*[str(model) if word == "MODEL" else word for word in evaluate], *more, cwd=tmp_path)
    task = load_tasks("python-functions", limit=1)[0]
    said = scripted(tmp_path, f"```python\n{task.reference}\n```")
    shown = well(*[said if word == "MODEL" else word for word in play], cwd=tmp_path)
    assert "passed" in shown


def test_an_agent_is_checked(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "recipe.yaml").write_text(HARNESS)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    first, second = lines(CHECKS)
    assert "files: as in the policy's answer" in well(*first, cwd=tmp_path)
    done = strop(*second, cwd=tmp_path)  # an agent that asks and does nothing
    assert done.returncode == 1 and "nothing was changed in the folder" in done.stdout, (
        done.stdout + done.stderr
    )


@needs_pip
@pytest.mark.soak(120)
def test_mini_swe_agent_in_a_recipe(tmp_path: Path) -> None:
    from tests.neighbours.venvs import made

    place = made("mini-swe-agent", "mini-swe-agent==2.4.6", folder=tmp_path)
    recipe = yaml.safe_load(MINI)
    environment = recipe["tasks"]["environment"]
    environment["command"] = f"{place}/bin/{environment['command']}"
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    shown = well("harness", "check", "recipe.yaml", "play.setup_seconds=600", cwd=tmp_path, timeout=1200)
    assert "files: as in the policy's answer" in shown


@pytest.mark.train(20)
def test_a_policy_for_any_client(tmp_path: Path, few: list[str], model: Path, run: Path) -> None:
    from tests.cli.test_serve_policy import sent

    first, second = lines(SERVED)
    first[first.index("8080")] = "0"
    with serving(*[str(model) if word == "smollm2-135m" else word for word in first], cwd=tmp_path) as url:
        assert sent(url, "/models")[0] == 200
    shutil.copytree(run / "runs", tmp_path / "runs")
    (key,) = (line for line in SERVED.splitlines() if "openssl" in line)
    subprocess.run(["sh", "-c", key], cwd=tmp_path, check=True)
    with serving(*second, "--port", "0", cwd=tmp_path) as url:
        url = url.replace("0.0.0.0", "127.0.0.1")
        assert sent(url, "/models")[0] == 401
        assert sent(url, "/models", key=(tmp_path / "key.txt").read_text().strip())[0] == 200


# docs/plays.md

MINE = block("plays", 'type: "mine.py:TryAgain", tries: 3')
SKELETON = block("plays", "class TryAgain:")
WATCH = block("plays", "strop play 3f2a")
EXPERT = block("plays", "def demonstrate(self, rng):  # ->")
DEMOS = block("plays", "strop build demos")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    """A folder with mine.py, its recipe, tasks and runs/mine."""
    folder = tmp_path_factory.mktemp("mine")
    shutil.copy(ROOT / "examples/environments/try_again.py", folder / "mine.py")
    first, *others = load_tasks("python-functions", limit=4)
    write_tasks([first.model_copy(update={"id": f"3f2a{first.id}"}), *others], folder / "tasks.jsonl")
    for name in ("mine.yaml", "recipe.yaml"):
        (folder / name).write_text(MINE)
    words = [
        f"model.name={model}", "model.compute_dtype=float32", "model.sampling_dtype=float32", "optim.steps=1",
        "grpo.tasks_per_step=1", "grpo.group_size=2", "grpo.refill=false", "sampling.max_tokens=16",
        "evaluation.before=false", "evaluation.after=false", "sandbox.workers=1", "run.name=mine",
    ]  # fmt: skip
    well("train", "mine.yaml", *words, cwd=folder)
    return folder


@pytest.mark.train(20)
def test_plays_are_watched(run: Path, model: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    task = load_tasks("python-functions", limit=1)[0]
    said = scripted(tmp_path, "I do not know.", f"```python\n{task.reference}\n```")
    (tmp_path / "said.jsonl").write_text(
        (tmp_path / "said.jsonl").read_text().replace(task.id, f"3f2a{task.id}")
    )
    by_id, by_number, saved, of_run = lines(WATCH)
    shown = well(*[said if word == "smollm2-135m" else word for word in by_id], cwd=tmp_path)
    assert "That failed" in shown and "passed" in shown
    well(*by_number, "sampling.max_tokens=16", cwd=tmp_path)
    assert well(*saved, cwd=tmp_path)
    assert well(*[word.replace("t.12.3.1", "t.1.0.1") for word in of_run], cwd=tmp_path)


@pytest.mark.train(30)
def test_an_environment_of_your_own_with_an_expert(
    run: Path, model: Path, tmp_path: Path, few: list[str]
) -> None:
    from strop.config.tasks import EnvironmentConfig
    from strop.environments.registry import find_environment

    (tmp_path / "skeleton.py").write_text(SKELETON)
    asked = EnvironmentConfig.model_validate({"type": f"{tmp_path}/skeleton.py:TryAgain", "tries": 3})
    kind: Any = find_environment(asked)
    assert kind.keywords == {"tries": 3}
    shutil.copytree(run, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("runs"))
    indented = "".join(f"    {line}\n" for line in EXPERT.splitlines())
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text() + "\n" + indented)
    build, train = lines(DEMOS)
    limited = [*few, "sampling.max_tokens=2000", "tasks.limit=4"]
    well(*build, *limited, cwd=tmp_path)
    assert len((tmp_path / "demos.jsonl").read_text().splitlines()) == 8
    well(*train, *limited, "run.name=warm", cwd=tmp_path)


# docs/workspace.md

WORKSPACE = block("workspace", "calls: tags, turns: 8")
CALLS = block("workspace", "<edit>shop/cart.py")
DESK = block("workspace", "class Desk(strop.Toolbox)")
DESK_COMMAND = block("workspace", "mine.py:Desk")


@pytest.mark.train(20)
def test_plays_with_tools(tmp_path: Path, few: list[str]) -> None:
    (tmp_path / "recipe.yaml").write_text(WORKSPACE.replace("toy-repositories:2000", "toy-repositories:8"))
    done = strop("train", "recipe.yaml", "--dry-run", *few, cwd=tmp_path)
    assert done.returncode == 0 and "of the environment's expert: passed 1" in done.stdout, (
        done.stdout + done.stderr
    )


def test_calls_are_read_in_both_forms() -> None:
    from strop.environments.repository_tools import RepositoryTools
    from strop.environments.toolbox import tools_of
    from strop.policies.tool_calls import CALL_FORMS

    tools = tools_of(RepositoryTools)
    by_tags, by_hermes = CALLS.splitlines()
    for form, text in (("tags", by_tags), ("hermes", by_hermes)):
        (call,) = CALL_FORMS[form].read(text, tools, whole=True)
        assert call.name == "edit" and call.arguments["path"] == "shop/cart.py"
        assert "a + b" in call.arguments["new"] and "a - b" in call.arguments["old"]


@pytest.mark.train(20)
def test_tools_of_your_own(tmp_path: Path, few: list[str]) -> None:
    (tmp_path / "mine.py").write_text(f"import strop\n\n\n{DESK}")
    ((*words,),) = lines(DESK_COMMAND)
    well(*words, *few, "run.name=desk", cwd=tmp_path)
    task = load_tasks("python-functions", limit=1)[0]
    said = scripted(tmp_path, f"<save>{task.reference}</save>", "<finish></finish>")
    shown = well("play", "-m", said, "--tasks", "python-functions", words[-1], "--full", cwd=tmp_path)
    assert re.search(r"solution\.py:\s+def ", shown) and "passed" in shown


# docs/neighbours.md

HARBOR = block("neighbours", "strop tasks export python-functions --harbor")
TERMINAL = block("neighbours", "harbor:TERMINAL-BENCH -o tasks.jsonl\nstrop verify")
IMAGES = block("neighbours", "skopeo copy")  # executed by test_image_tasks.py, with an image made here
SWE_BENCH = block("neighbours", "--predictions predictions.jsonl")
INSPECT = block("neighbours", "from inspect_ai import Task")
VERIFIERS = block("neighbours", "vf-validate")
EXPORTS = block("neighbours", "strop export python-1.5b --verl")
TASKSET = block("neighbours", 'source: "verifiers:NAME"')
TRL = block("neighbours", "environment_factory=tool_environment()")
OPENENV = block("neighbours", "strop serve-environment rust-laptop")
REMOTE = block("neighbours", "openenv:http://127.0.0.1:8000")


def test_harbor_tasks_of_others(tmp_path: Path) -> None:
    well("tasks", "export", "python-functions", "--harbor", "TERMINAL-BENCH", "--limit", "2", cwd=tmp_path)
    answers = [
        {"task_id": task.id, "answer": task.reference} for task in load_tasks("python-functions", limit=2)
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    for words in lines(TERMINAL):
        well(*words, cwd=tmp_path)
    found = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    assert len(found) == 2 and all("passed" in json.dumps(line) for line in found)


@pytest.mark.train(20)
def test_predictions_and_reports(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run / "runs", tmp_path / "runs")
    predict, official = lines(SWE_BENCH)  # between them the harness, which needs Docker
    (tmp_path / "judged").mkdir()
    write_tasks(
        list(load_tasks("edits:search-replace:toy-repositories:2")), tmp_path / "judged/tasks.jsonl.gz"
    )
    words = [word.replace("runs/NAME", "runs/mine") for word in predict]
    well(*words, "--style", "chat", "tasks.max_prompt_tokens=30000", "sampling.max_tokens=16", cwd=tmp_path)
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == 2
    report = {
        "schema_version": 2, "resolved_ids": ["a"], "unresolved_ids": ["b"], "empty_patch_ids": [], "error_ids": [],
        "incomplete_ids": [], "submitted_ids": ["a", "b"], "infra_failure_ids": [],
    }  # fmt: skip
    for name in ("first", "second"):
        (tmp_path / f"{name}.json").write_text(json.dumps(report))
    assert "first" in well(*official, cwd=tmp_path)


@pytest.mark.train(5)
def test_tools_for_a_trl_script(model: Path) -> None:
    trl = pytest.importorskip("trl")
    from datasets import Dataset

    task = load_tasks("python-functions", limit=1)[0]
    rows = [{"prompt": [{"role": "user", "content": task.statement}], "task": task.model_dump_json()}] * 2
    template = Path(trl.__file__).parent / "chat_templates" / "qwen2_5.jinja"
    from strop.policies.loading import load_tokenizer

    tokenizer = load_tokenizer(str(model))
    tokenizer.chat_template = template.read_text()
    given = {"GRPOTrainer": trl.GRPOTrainer, "dataset_with_a_task_column": Dataset.from_list(rows)}
    more = "model=MODEL, processing_class=TOKENIZER, args=ARGUMENTS"
    with tempfile.TemporaryDirectory() as folder:
        arguments = trl.GRPOConfig(
            output_dir=folder, num_generations=2, per_device_train_batch_size=2, use_cpu=True, bf16=False,
            report_to="none",
        )  # fmt: skip
        given |= {"MODEL": str(model), "TOKENIZER": tokenizer, "ARGUMENTS": arguments}
        exec(TRL.replace("model=...", more), given)
    assert given["trainer"].environment_factories[None].__name__ == "RepositoryTools"


def test_a_server_of_environments_and_its_client(tmp_path: Path) -> None:
    pytest.importorskip("websockets")
    ((*words,),) = lines(OPENENV)
    words[words.index("8000")] = "0"
    words[words.index("rust-laptop")] = "demo"  # needs no compiler
    with serving(*words, "sandbox.workers=1", cwd=tmp_path) as url:
        (tmp_path / "recipe.yaml").write_text(REMOTE.replace("http://127.0.0.1:8000", f"{url.rstrip('/')}#1"))
        task = load_tasks("python-functions", limit=1)[0]
        (served,) = load_tasks(f"openenv:{url}#1")
        said = scripted(tmp_path, "I do not know.", "Nor now.", "No.")
        (tmp_path / "said.jsonl").write_text(
            (tmp_path / "said.jsonl").read_text().replace(task.id, served.id)
        )
        assert "openenv 0" in well("play", "1", "recipe.yaml", "-m", said, cwd=tmp_path)


def test_recipes_go_to_other_trainers_as_documented(tmp_path: Path) -> None:
    """Their own configurations read what is written in test_verl.py and test_prime_rl.py."""
    for words in lines(EXPORTS):
        assert "README.md says how to start it" in well(*words, cwd=tmp_path)
    assert (tmp_path / "for-verl" / "train.sh").is_file() and (tmp_path / "for-prime" / "rl.toml").is_file()


def installed(name: str, wheels: Path, folder: Path, python: str = sys.executable) -> dict[str, str]:
    """The environment variables under which a block's commands are those of a new environment with Strop in it."""
    from tests.neighbours.venvs import made

    place = made(
        name, "--find-links", str(wheels), *map(str, wheels.glob("*.whl")), folder=folder, python=python
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "STROP"))}
    return {
        **clean,
        "PATH": f"{place}/bin:{os.environ['PATH']}",
        "PIP_FIND_LINKS": str(wheels),
        "NO_COLOR": "1",
    }


def in_shell(text: str, environment: dict[str, str], cwd: Path) -> str:
    done = subprocess.run(
        ["bash", "-euc", text], cwd=cwd, env=environment, text=True, capture_output=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that is not in /tmp, where a jail could not write then."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="strop-docs-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@needs_pip
@pytest.mark.soak(300)
def test_harbor_as_documented(wheels: Path, place: Path) -> None:
    from tests.neighbours.venvs import LATER, working

    python = working(*LATER)
    if python is None:
        pytest.skip("harbor needs Python 3.12 or later, and there is none here")
    shown = in_shell(
        HARBOR.replace("--limit 20", "--limit 2"), installed("harbor", wheels, place, python), place
    )
    assert "1.0" in shown


ASKED = """
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

output = ModelOutput.from_content("m", "I do not know.")
output.usage = ModelUsage(total_tokens=1)  # else it is counted with a vocabulary from the network
model = get_model("mockllm/model", custom_outputs=[output])
(log,) = eval(task, model=model, limit=1, display="none")
assert log.status == "success", log.error
"""


@needs_pip
@pytest.mark.soak(200)
def test_inspect_as_documented(wheels: Path, place: Path) -> None:
    environment = installed("inspect", wheels, place)
    (place / "task.py").write_text(f"{INSPECT}{ASKED}")
    in_shell("pip install -q 'strop[inspect]' && python task.py", environment, place)


@needs_pip
@pytest.mark.soak(300)
def test_verifiers_as_documented(wheels: Path, place: Path) -> None:
    from tests.neighbours.test_verifiers import MIRROR

    environment = installed("verifiers", wheels, place)
    asked = VERIFIERS.replace(
        "strop tasks export python-functions", "strop tasks export python-functions --limit 2"
    )
    with serving("serve-policy", scripted(place, "I do not know."), "--port", "0", cwd=place) as url:
        asked = asked.replace("-m MODEL", "-m scripted").replace("http://HOST:PORT/v1", url)
        in_shell(asked, {**environment, "OPENAI_API_KEY": "none", "PRIME_API_KEY": "none"}, place)
    (place / "mirror.py").write_text(MIRROR)
    (place / "recipe.yaml").write_text(TASKSET.replace("NAME", "mirror"))
    first = "python -c \"import strop; print(strop.load_tasks('verifiers:mirror')[0].id)\""
    task = in_shell(first, {**environment, "PYTHONPATH": str(place)}, place).strip()
    (place / "said.jsonl").write_text(json.dumps({"task_id": task, "answer": "ports"}) + "\n")
    plays = "strop play 1 recipe.yaml -m scripted:said.jsonl"
    assert "verifiers" in in_shell(plays, {**environment, "PYTHONPATH": str(place)}, place)


@needs_pip
@pytest.mark.soak(60)
@pytest.mark.parametrize(
    "extra", ["harbor", "terminal", "inspect", "verifiers", "openenv", "serve", "guided"]
)
def test_every_install_line_names_an_extra(wheels: Path, tmp_path: Path, extra: str) -> None:
    from tests.installs import by_pip

    install = by_pip(tmp_path / "environment", "--upgrade", "pip")
    words = ("-m", "pip", "install", "-q", "--dry-run", "--find-links", wheels, f"strop[{extra}]")
    done = install.run(*words, cwd=tmp_path)
    assert done.returncode == 0 and "does not provide the extra" not in done.stderr, done.stderr


def test_every_block_is_executed() -> None:
    assert {page: [text for text in found if text not in TAKEN] for page, found in BLOCKS.items()} == {
        page: [] for page in PAGES
    }
