"""Packages for verifiers, and tasksets of verifiers played here; with verifiers 0.4 itself in a full run."""

import json
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

import pytest
from tests.neighbours.venvs import neighbour
from tests.scale import full
from tests.warm import strop

from strop.neighbours.verifiers_package import write_package
from strop.tasks import load_tasks
from strop.tasks.jsonl import write_tasks
from strop.tasks.prompts import render
from strop_verify.core.errors import UserError
from strop_verify.core.registry import Registry

COUNT = 20
EQUAL = "class Any:\n    def __eq__(self, other): return True\n    __ne__ = None\ndef {0}(*a, **k): return Any()\n"
needs_package = pytest.mark.skipif(not full(), reason="pip installs verifiers: in a full run (--full)")


def test_a_package_is_data_and_a_few_lines(tmp_path):
    place = tmp_path / "code_tasks"
    done = strop(
        "tasks", "export", "python-functions", "--verifiers", "code-tasks", "--limit", 3, "-o", place
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.startswith(f"3 tasks, 0 left out: {place}")
    project = tomllib.loads((place / "pyproject.toml").read_text())
    assert project["project"]["name"] == "code-tasks" and project["project"]["dependencies"] == [
        "strop[verifiers]"
    ]
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["code_tasks"]
    held = load_tasks(f"strop:{place}/code_tasks/tasks.jsonl")
    given = load_tasks("python-functions", limit=3)
    assert held == [
        task.model_copy(update={"split": one.split}) for task, one in zip(given, held, strict=True)
    ]
    compile((place / "code_tasks/__init__.py").read_text(), "init", "exec")
    assert not list(tmp_path.glob(".*"))


def test_what_cannot_be_asked_or_judged_is_left_out(tmp_path):
    sound, silent = load_tasks("python-functions", limit=2)
    silent = silent.model_copy(update={"statement": ""})
    write_tasks([sound, silent], tmp_path / "t.jsonl")
    words = "tasks", "export", f"strop:{tmp_path}/t.jsonl", "--verifiers", "a-b", "-o", tmp_path / "p"
    done = strop(*words, "--strict")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and silent.id in done.stderr
    assert strop(*words).returncode == 2  # the folder is there
    with pytest.raises(UserError, match="nothing is written"):
        write_package([silent], "c", tmp_path / "c", source="s", report=lambda line: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "t.jsonl"]


@pytest.mark.parametrize("name", ["Code", "code_tasks", "-a", "a--b", "", "../a", "1a"])
def test_names_that_no_module_can_have(name, tmp_path):
    done = strop("tasks", "export", "python-functions", "--verifiers", name, "-o", tmp_path / "p")
    assert done.returncode == 2 and "not a package name" in done.stderr and done.stderr.count("\n") == 1


def test_what_for_has_to_be_said():
    done = strop("tasks", "export", "python-functions")
    assert (done.returncode, done.stderr) == (2, "error: name a target: --verifiers NAME, or --harbor DIR\n")


@pytest.mark.skipif(find_spec("verifiers") is not None, reason="verifiers is installed")
def test_without_the_package_the_remedy_is_said():
    done = strop("tasks", "list", "verifiers:any")
    assert (
        done.returncode == 2
        and "pip install 'strop[verifiers]'" in done.stderr
        and done.stderr.count("\n") == 1
    )


def test_own_entries_of_a_registry_are_imported_when_looked_up():
    own = Registry(
        "none", {"one": "tests.neighbours.venvs:neighbour", "bad": "strop.nowhere:x", "two": neighbour}
    )
    assert own["one"] is own["two"] is neighbour and list(own) == ["one", "bad", "two"]
    with pytest.raises(UserError, match="does not load"):
        own["bad"]


@pytest.fixture(scope="module")
def vf(tmp_path_factory):
    return neighbour("verifiers", "verifiers==0.4.*", folder=tmp_path_factory.mktemp("venv"))


class Model(ThreadingHTTPServer):
    """Answers chats by their user's message; None is a failure of the server."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []
        super().__init__(("127.0.0.1", 0), Reply)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Reply(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        said = self.server.answers[body["messages"][-1]["content"]]
        reply = {
            "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        data = json.dumps(reply).encode()
        self.send_response(200 if said is not None else 500)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@needs_package
@pytest.mark.soak(300)
def test_validated_and_evaluated_by_verifiers(vf, tmp_path):
    tasks = load_tasks("python-functions", limit=COUNT)
    package = tmp_path / "code_tasks"
    write_package(tasks, "code-tasks", package, source="python-functions")
    outside = "--runtime.type", "subprocess", "--no-rich"
    done = vf.run("vf-validate", "code-tasks", *outside, "-o", tmp_path / "v", paths=[package])
    (summary,) = (tmp_path / "v").rglob("summary.json")
    checks = json.loads(summary.read_text())["checks"]
    assert checks["gold"]["valid"] == checks["noop"]["valid"] == COUNT, done.stdout + done.stderr

    def prompt(task):
        return render(task, "chat").messages[-1].content

    answers = {prompt(task): f"```python\n{task.reference}\n```" for task in tasks}
    equal, wrong, lost = tasks[:3]
    answers[prompt(equal)] = f"```python\n{EQUAL.format(equal.check.function)}```"
    answers[prompt(wrong)] = "I do not know."
    answers[prompt(lost)] = None
    model = Model(answers)
    done = vf.run(
        "vf-eval", "code-tasks", "--no-push", "--no-rich", "-m", "m", "--client.base-url", model.url,
        "--client.api-key-var", "KEY", "--env.agent.runtime.type", "subprocess", "-n", COUNT, "-r", 2,
        "-o", tmp_path / "e", paths=[package], env={"KEY": "k"},
    )  # fmt: skip
    model.shutdown()
    (file,) = (tmp_path / "e").rglob("traces.jsonl")
    text = file.read_text()
    traces = [trace for line in text.splitlines() for trace in json.loads(line)["traces"]]
    assert len(traces) == 2 * COUNT, done.stdout + done.stderr
    found = {}
    for trace in traces:
        reward = (trace["rewards"].get("passed") or {}).get("score")
        found.setdefault(trace["task"]["data"]["id"], []).append(reward)
    expected = {task.id: [1.0, 1.0] for task in tasks}
    expected |= {equal.id: [0.0, 0.0], wrong.id: [0.0, 0.0], lost.id: [None, None]}
    assert found == expected, done.stdout + done.stderr
    assert tasks[5].reference not in text.replace(json.dumps(answers[prompt(tasks[5])])[1:-1], "")
    assert {trace["agent"]["config"]["harness"]["id"] for trace in traces} == {"code-tasks"}


MIRROR = """
import verifiers.v1 as vf

class Word(vf.TaskData):
    word: str

class Mirror(vf.Task[Word]):
    @vf.reward(weight=2.0)
    async def mirrored(self, task, trace: vf.Trace) -> float:
        if trace.last_reply == "raise":
            raise RuntimeError("broken")
        return float(trace.last_reply == task.word[::-1])

    @vf.reward(weight=0.5)
    async def short(self, trace: vf.Trace) -> float:
        return float(len(trace.last_reply) < 9)

class Mirrors(vf.Taskset[Mirror, vf.TasksetConfig]):
    def load(self):
        for word in ("strop", "hone", "steel"):
            yield Mirror(Word(prompt=f"Mirror {word}", system_prompt="One word.", word=word), self.config.task)

__all__ = ["Mirrors"]
"""
PLAY = """
import json, sys, strop

tasks = strop.load_tasks("verifiers:mirror")
script = {"strop": "ports", "hone": "no, thank you", "steel": "raise"}
asked = []

def say(prompt, seed, index):
    asked.append([m.model_dump() for m in policy.tokenizer.messages(prompt)])
    return script[asked[-1][-1]["content"].split()[1]]

policy = strop.ScriptedPolicy(say)
recipe = strop.recipe({"rewards": [{"name": "verifiers"}], "tasks": {"environment": "verifiers"}})
groups = strop.play(policy, tasks, recipe=recipe)
rewards = {task.statement: group.rollouts[0].reward for task, group in zip(tasks, groups)}
print(json.dumps({"rewards": rewards, "asked": asked[0], "ids": [t.id for t in tasks]}))
for name in sys.argv[1:]:
    try:
        strop.load_tasks("verifiers:" + name)
    except strop.UserError as error:
        print(error)
"""
REFUSED = {
    "a container": "    NEEDS_CONTAINER = True\n",
    "tools": "    @classmethod\n    def toolsets(cls, config):\n        return [1]\n",
    "a runtime for its looks": "    @vf.reward\n    async def looks(self, runtime) -> float:\n        return 1.0\n",
    "its setup in a runtime": "    async def setup(self, trace, runtime):\n        pass\n",
}


@needs_package
@pytest.mark.soak(60)
def test_a_foreign_taskset_is_played_and_scored_by_itself(vf, tmp_path):
    (tmp_path / "mirror.py").write_text(MIRROR)
    names = [f"refused{number}" for number in range(len(REFUSED))]
    for name, lines in zip(names, REFUSED.values(), strict=True):
        (tmp_path / f"{name}.py").write_text(
            MIRROR.replace("class Mirror(vf.Task[Word]):\n", f"class Mirror(vf.Task[Word]):\n{lines}")
        )
    (tmp_path / "play.py").write_text(PLAY)
    done = vf.run("python", tmp_path / "play.py", *names, "nowhere", paths=[tmp_path])
    first, *refusals, missing = done.stdout.splitlines()
    said = json.loads(first)
    assert said["rewards"] == {"Mirror strop": 2.5, "Mirror hone": 0.0, "Mirror steel": None}, done.stderr
    assert [message["role"] for message in said["asked"]] == ["system", "user"] and len({*said["ids"]}) == 3
    for name, lacking, line in zip(names, REFUSED, refusals, strict=True):
        assert line == f"verifiers:{name}: needs {lacking}; play it with verifiers itself"
    assert missing.startswith("verifiers:nowhere: no taskset")
