"""OpenEnv's protocol: both sides against each other, and against the messages of its own server and client."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from tests.neighbours.venvs import neighbour
from tests.scale import full
from tests.waiting import wait_until
from tests.warm import strop as command

import strop
from strop.neighbours import openenv
from strop.tasks.jsonl import write_tasks
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

connect = pytest.importorskip("websockets.sync.client").connect
ConnectionClosed = pytest.importorskip("websockets.exceptions").ConnectionClosed
pytestmark = pytest.mark.jail
RIGHT, WRONG = (f"```python\ndef double(x):\n    return {body}\n```" for body in ("2 * x", "x + 7"))
EQUAL = (
    "```python\nclass Any:\n    def __eq__(self, other): return True\n    __ne__ = lambda self, other: False\n"
    "def double(x): return Any()\n```"
)


def double(name, **more):
    cases = [Case(args=[1], expected=2, shown=True), Case(args=[0], expected=0)]
    check = CasesCheck(entry_point="double", cases=cases)
    return Task(
        id=name, statement="Double it.", signature="def double(x):", check=check, split="train", **more
    )


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A server whose plays have two turns of feedback, and three sessions at most."""
    folder = tmp_path_factory.mktemp("server")
    write_tasks([double("one"), double("two"), double("rust", language="rust")], folder / "t.jsonl")
    words = f"tasks.source=strop:{folder}/t.jsonl", "tasks.environment={type: feedback, turns: 2}"
    options = "sandbox.workers=1", "--port", "0", "--sessions", "3"
    process = subprocess.Popen(
        [sys.executable, "-m", "strop.cli", "serve-environment", *words, *options],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    line = process.stdout.readline()
    assert line.startswith("3 tasks on http://127.0.0.1:"), line
    yield line.split()[-1]
    process.terminate()
    assert process.wait(60) == 0


class Talk:
    """A client's session, message by message."""

    def __init__(self, url):
        self.socket = connect(url.replace("http", "ws") + "/ws").__enter__()

    def __call__(self, kind, text=None, **data):
        self.socket.send(json.dumps({"type": kind, "data": data}) if text is None else text)
        reply = json.loads(self.socket.recv(timeout=240))
        return reply["type"], reply["data"]


@pytest.fixture
def say(url):
    talk = Talk(url)
    yield talk
    talk.socket.close()


def test_plays_over_the_wire(say):
    kind, first = say("reset", seed=1, episode_id="e", task_id="one")
    assert kind == "observation" and (first["reward"], first["done"]) == (None, False)
    assert [m["role"] for m in first["observation"]["messages"]] == ["user"]
    assert "Double it." in first["observation"]["messages"][0]["content"]
    kind, told = say("step", text=json.dumps({"type": "step", "data": {"text": WRONG}}))
    assert not told["done"] and "Your code failed" in told["observation"]["messages"][0]["content"]
    kind, last = say("step", text=json.dumps({"type": "step", "data": {"text": RIGHT}}))
    assert (last["done"], last["reward"], last["observation"]["outcome"]) == (True, 1.0, "passed")
    assert say("state") == ("state", {"episode_id": "e", "step_count": 2})
    assert say("step", text='{"type": "step", "data": {"text": "x"}}')[1]["code"] == "SESSION_ERROR"
    say("reset", task_id="two")  # a session goes on, and a play may be left
    say("reset", task_id="one")
    say("step", text=json.dumps({"type": "step", "data": {"text": EQUAL}}))
    kind, last = say("step", text=json.dumps({"type": "step", "data": {"text": EQUAL}}))
    assert (last["done"], last["reward"], last["observation"]["outcome"]) == (True, 0.0, "failed")


def test_what_could_not_be_judged_has_no_reward(say):
    say("reset", task_id="rust")
    answer = "```rust\nfn double(x: i64) -> i64 { 2 * x }\n```"
    kind, last = say("step", text=json.dumps({"type": "step", "data": {"text": answer}}))
    assert kind == "observation" and (last["done"], last["reward"]) == (True, None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "INVALID_JSON"),
        ("[" * 50_000, "INVALID_JSON"),
        ("[1]", "VALIDATION_ERROR"),
        ('{"type": "dance"}', "UNKNOWN_TYPE"),
        ('{"type": "step", "data": {"text": "x"}}', "SESSION_ERROR"),
        ('{"type": "step", "data": {"text": 1}}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"text": "x", "reward": 1}}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"task_id": "../one"}}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"split": "train", "index": 9}}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"split": "secret"}}', "VALIDATION_ERROR"),
    ],
)
def test_mistakes_are_errors_of_the_protocol_and_the_session_goes_on(say, text, code):
    kind, said = say("", text=text)
    assert (kind, said["code"]) == ("error", code)
    assert say("state")[0] == "state"


def test_more_sessions_than_allowed_are_told(url):
    open_ones = wait_until(lambda: three(url))
    refused = json.loads(Talk(url).socket.recv(timeout=60))
    assert refused["data"]["code"] == "CAPACITY_REACHED"
    for one in open_ones:
        one.socket.close()
    for one in wait_until(lambda: three(url)):  # what is closed makes room
        one.socket.close()


def test_who_says_nothing_holds_no_session(url):
    for one in wait_until(lambda: three(url)):
        one.socket.close()
    silent = [Talk(url) for _ in range(12)]
    talk = Talk(url)
    assert wait_until(lambda: talk("reset", task_id="one"))[0] == "observation"
    for one in (talk, *silent):
        one.socket.close()


def three(url):
    """Three sessions; nothing while the server has not noticed that earlier ones are closed."""
    talks = [Talk(url) for _ in range(3)]
    try:
        if all(talk("state")[0] == "state" for talk in talks):
            return talks
    except ConnectionClosed:
        pass
    for talk in talks:
        talk.socket.close()
    return []


def test_routes_show_tasks_without_what_judges_them(url):
    assert httpx.get(f"{url}/health").json() == {"status": "healthy"}
    assert httpx.get(f"{url}/schema").json()["action"]["required"] == ["text"]
    assert httpx.post(f"{url}/strop/num_tasks", json={"split": "train"}).json() == {"num_tasks": 3}
    whole = httpx.post(f"{url}/strop/tasks", json={"split": "train"}).text
    assert "Double it." in whole and "expected" not in whole and "cases" not in whole
    assert httpx.post(f"{url}/strop/task", json={"index": 1}).json()["task"]["id"] == "two"
    assert httpx.post(f"{url}/strop/tasks", json={"split": "x"}).status_code == 422
    assert httpx.post(f"{url}/strop/tasks", content=b"{").status_code == 400


def played(url, script, **options):
    for one in wait_until(lambda: three(url)):
        one.socket.close()
    tasks = strop.load_tasks(f"openenv:{url}")[:1]
    policy = strop.ScriptedPolicy(lambda prompt, seed, asked: script.pop(0))
    environment = {"type": "openenv", **options}
    recipe = strop.recipe({"rewards": [{"name": "openenv"}], "tasks": {"environment": environment}})
    (group,) = strop.play(policy, tasks, recipe=recipe)
    return group.rollouts[0]


def test_a_server_of_strop_is_an_environment_of_strop(url):
    rollout = played(url, [WRONG, RIGHT])
    assert (rollout.reward, len(rollout.turns), rollout.stop_reason) == (1.0, 2, "answered")
    assert played(url, [EQUAL, EQUAL]).reward == 0.0
    assert {t.metadata["openenv"]["reset"]["index"] for t in strop.load_tasks(f"openenv:{url}")} == {0, 1, 2}


RECORDED = Path(__file__).with_name("openenv_wire.jsonl")


@pytest.fixture
def recorded():
    """A server that answers as one of OpenEnv's did; the messages must be those that its client sent."""
    from websockets.sync.server import serve

    lines = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    schema = json.dumps(lines.pop(0)).encode()
    heard = []

    def talk(session):
        for line in lines:
            heard.append(json.loads(session.recv()))
            if line.get("break"):
                return
            session.send(json.dumps(line))

    def route(connection, request):
        if request.path == "/schema":
            response = connection.respond(200, "")
            response.body, response.headers["Content-Length"] = schema, str(len(schema))
            del response.headers["Content-Length"]
            response.headers["Content-Length"] = str(len(schema))
            return response
        return None

    with serve(talk, "127.0.0.1", 0, process_request=route) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}", heard
        server.shutdown()


def check_guesses(tasks):
    said = ["5", "no number", "7"]
    policy = strop.ScriptedPolicy(lambda prompt, seed, asked: said.pop(0))
    recipe = strop.recipe({"rewards": [{"name": "openenv"}], "tasks": {"environment": "openenv"}})
    (group,) = strop.play(policy, tasks[:1], recipe=recipe)
    (rollout,) = group.rollouts
    assert (rollout.reward, len(rollout.turns)) == (0.75, 3)
    assert "guess a number" in rollout.prompt and "should match" in rollout.turns[1].events[0].result


def test_messages_as_the_package_sends_them(recorded):
    url, heard = recorded
    tasks = strop.load_tasks(f"openenv:{url}#2")
    assert [t.metadata["openenv"]["reset"] for t in tasks] == [{"seed": 0}, {"seed": 1}]
    check_guesses(tasks)
    assert [message["type"] for message in heard[:4]] == ["reset", "step", "step", "step"]
    assert heard[0]["data"] == {"seed": 0} and heard[1]["data"] == {"guess": "5"}


def test_a_server_that_breaks_leaves_the_play_unscored(url):
    task = strop.load_tasks(f"openenv:{url}")[0]
    task = task.model_copy(update={"metadata": {"openenv": {"url": "http://127.0.0.1:9", "reset": {}}}})
    policy = strop.ScriptedPolicy({})
    recipe = strop.recipe({"rewards": [{"name": "openenv"}], "tasks": {"environment": "openenv"}})
    (group,) = strop.play(policy, [task], recipe=recipe)
    assert (group.rollouts[0].reward, group.rollouts[0].stop_reason) == (None, "infra")


def test_mistakes_in_a_source_are_one_line():
    for source, said in {
        "openenv:somewhere": "not the URL of a server",
        "openenv:http://127.0.0.1:9": "start the server, or name a number of seeds",
    }.items():
        with pytest.raises(UserError, match=said) as caught:
            strop.load_tasks(source)
        assert "\n" not in str(caught.value)
    done = command("serve-environment", "tasks.source=nowhere")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert (
        openenv._text_field({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]}) == ""
    )


CLIENT = """
import sys
from openenv.core.generic_client import GenericEnvClient

url, wrong, right, equal = sys.argv[1:]
with GenericEnvClient(base_url=url).sync() as client:
    first = client.reset(task_id="one")
    print(first.observation["messages"][0]["role"], first.done, first.reward)
    again = client.step({"text": wrong})
    print("failed" in again.observation["messages"][0]["content"], again.done)
    last = client.step({"text": right})
    print(last.done, last.reward, client.state()["step_count"])
    client.reset(split="train", index=1)
    client.step({"text": equal})
    print(client.step({"text": equal}).reward)
"""
SERVER = """
import sys
import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

class Guess(Action):
    guess: str = Field(pattern="^[0-9]+$")

class Told(Observation):
    text: str = ""

class Numbers(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed=None, episode_id=None, split=None, index=None, **kw):
        self.secret = 7
        return Told(text="guess a number")

    def step(self, action, timeout_s=None, **kw):
        right = int(action.guess) == self.secret
        return Told(text="right" if right else "too low", done=right, reward=0.75 if right else 0.25)

    @property
    def state(self):
        return State(episode_id="e", step_count=0)

    def list_splits(self):
        return ["train", "test"]

    def num_tasks(self, split):
        return 2 if split == "train" else 1

app = create_fastapi_app(Numbers, Guess, Told, env_name="numbers", max_concurrent_envs=4)
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
"""


@pytest.mark.skipif(not full(), reason="pip installs openenv: in a full run (--full)")
@pytest.mark.soak(120)
def test_with_the_package_itself_on_the_other_side(url, tmp_path):
    package = neighbour("openenv", "openenv==0.10.*", folder=tmp_path)
    (tmp_path / "client.py").write_text(CLIENT)
    (tmp_path / "server.py").write_text(SERVER)
    for one in wait_until(lambda: three(url)):
        one.socket.close()
    done = package.run("python", tmp_path / "client.py", url, WRONG, RIGHT, EQUAL)
    assert done.stdout == "user False None\nTrue False\nTrue 1.0 2\n0.0\n", done.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([package.programs / "python", tmp_path / "server.py", str(port)])
    theirs = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: listens(port), server)
        assert [len(strop.load_tasks(f"openenv:{theirs}{end}")) for end in ("", "#test", "#5")] == [2, 1, 5]
        check_guesses(strop.load_tasks(f"openenv:{theirs}"))
    finally:
        server.terminate()
        server.wait(60)


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
