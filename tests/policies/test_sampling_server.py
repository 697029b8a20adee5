"""Asking vLLM servers, without vLLM: a real server on loopback that answers as vLLM does, and may forget weights."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch
from tests.small_models import byte_tokenizer
from tests.waiting import DEADLINE, wait_until

from strop.config.model import VllmServerPolicyConfig as Config
from strop.policies.open import answers
from strop.policies.sampling_server import read_key
from strop.policies.tokenizer import HubTokenizer
from strop.policies.vllm_server import VllmServerPolicy
from strop.policies.weight_sync import FileSync, Processes, Published
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.protocols import Request
from strop_verify.core.rollout import SamplingParams

KEY = "k" * 32


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.weights, self.taken, self.asked, self.status = "default", [], [], 200
        self.open, self.well = threading.Event(), True
        self.open.set()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/health":
            return self.say({}, 200 if self.server.well else 503)
        if self.headers["authorization"] != f"Bearer {KEY}":
            return self.say({"error": "Unauthorized"}, 401)
        models = [{"id": "m", "max_model_len": 64}]
        return self.say(
            {"/weight_info": {"weight_version": self.server.weights}}.get(self.path, {"data": models})
        )

    def do_POST(self):
        server, body = self.server, json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/take":
            server.weights = body["version"]
            server.taken.append(server.weights)
            return self.say({})
        if server.status != 200:
            return self.say({"error": "no"}, server.status)
        server.asked.append(body)
        server.open.wait(DEADLINE)
        tokens = [{"token_id": 65, "logprob": -1.0}]
        choice = {
            "token_ids": [65], "logprobs": {"content": tokens}, "finish_reason": "length", "stop_reason": None,
            "weight_versions": [{"version": server.weights, "start": 0, "end": 1}],
        }  # fmt: skip
        return self.say({"choices": [choice]})

    def say(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Taking:
    """A way for weights to get to such servers."""

    def publish(self, name, weights):
        list(weights)
        return Published(name, "m", name)

    async def held(self, server, weights):
        return (await server.ask("GET", "/weight_info"))["weight_version"] == weights.version

    async def send(self, server, weights):
        await server.ask("POST", "/take", {"version": weights.version})


@pytest.fixture
def servers():
    found = [Server(), Server()]
    yield found
    for one in found:
        one.shutdown()


def opened(*places, key=KEY, **settings):
    config = Config(urls=list(places), **{"wait_seconds": DEADLINE, **settings})
    policy = VllmServerPolicy(
        config, HubTokenizer(byte_tokenizer()), key=key, name="m", processes=Processes()
    )
    policy.sync = Taking()
    return policy


def play(policy, prompts):
    return dict(answers(policy, prompts, list(range(len(prompts))), SamplingParams(max_tokens=4)))


def test_weights_come_first_and_groups_stay_together(servers):
    policy = opened(*(one.url for one in servers))
    with pytest.raises(StropError, match="do not have the weights of this step"):
        play(policy, [[1]])
    policy.update(3, [])
    for one in servers:
        one.open.clear()
    rows = [Request([number // 4], number, SamplingParams(max_tokens=4)) for number in range(32)]
    asked = [policy.submit(row) for row in rows]
    wait_until(lambda: sum(len(one.asked) for one in servers) == 32)
    for one in servers:
        one.open.set()
    assert {row.result(DEADLINE).policy_version for row in asked} == {3}
    prompts = [[body["token_ids"][0] for body in one.asked] for one in servers]
    assert not {*prompts[0]} & {*prompts[1]} and {*map(len, prompts)} == {16}
    assert servers[0].asked[0]["sampling_params"]["stop_token_ids"] == sorted(policy.tokenizer.eos_ids)
    assert {body["cache_salt"] for one in servers for body in one.asked} == {servers[0].weights}
    policy.close()


def test_a_server_that_forgot_gets_the_weights_and_its_rows_are_asked_again(servers):
    policy = opened(servers[0].url)
    policy.update(1, [])
    play(policy, [[1]])
    servers[0].weights = "default"
    assert play(policy, [[1]])[0].policy_version == 1
    assert len(servers[0].asked) == 3 and len(servers[0].taken) == 2 and len({*servers[0].taken}) == 1
    policy.update(2, [])
    assert len({*servers[0].taken}) == 2
    policy.close()


def test_rows_of_a_server_that_fails_go_to_the_other(servers):
    policy = opened(*(one.url for one in servers))
    policy.update(1, [])
    servers[0].status = 500
    found = play(policy, [[number] for number in range(8)])
    assert len(found) == 8 and len(servers[1].asked) == 8
    # One that is away when the next weights come gets these, not those of before.
    wait_until(lambda: policy._servers[0].holds)
    first, servers[0].status, servers[0].well = servers[0].weights, 200, False
    servers[0].weights = "default"
    play(policy, [[number] for number in range(8)])
    threading.Timer(0.3, lambda: setattr(servers[0], "well", True)).start()
    policy.update(2, [])
    assert servers[0].weights == servers[1].weights != first and servers[0].taken.count(first) == 1
    policy.close()


def test_what_a_server_refuses_is_the_users(servers):
    policy = opened(servers[0].url)
    policy.update(1, [])
    servers[0].status = 400
    with pytest.raises(UserError, match="vLLM refuses a row"):
        play(policy, [[1]])
    with pytest.raises(UserError, match="raise it to 70"):
        policy.submit(Request([1] * 66, 0, SamplingParams(max_tokens=4)))
    policy.close()


def test_a_place_may_be_a_file_that_comes_later_and_changes(servers, tmp_path):
    file = tmp_path / "url"
    threading.Timer(0.3, lambda: file.write_text(f"{servers[0].url}\n")).start()
    policy = opened(str(file))
    policy.update(1, [])
    servers[0].shutdown()
    servers[0].server_close()
    file.write_text(servers[1].url)
    assert play(policy, [[1]])[0].policy_version == 1 and servers[1].taken == [servers[1].weights]
    policy.close()


def test_a_server_that_never_comes_ends_at_the_deadline(tmp_path):
    began = time.monotonic()
    with pytest.raises(
        StropError, match=r"no vLLM server at .*url .there is no such file yet.; .*policy.wait_seconds"
    ):
        opened(str(tmp_path / "url"), wait_seconds=1)
    assert time.monotonic() - began < DEADLINE / 2
    (tmp_path / "url").write_text("nonsense")
    with pytest.raises(UserError, match="must hold an address, not 'nonsense'"):
        opened(str(tmp_path / "url"))


def test_another_key_or_another_model_is_the_users(servers):
    with pytest.raises(UserError, match=r"refuses /v1/models .401.; start it with strop serve-sampler"):
        opened(servers[0].url, key="x" * 32)
    config = Config(urls=[servers[0].url], wait_seconds=DEADLINE)
    with pytest.raises(UserError, match=r"serves m, not model.name=n; start it with the same recipe"):
        VllmServerPolicy(config, HubTokenizer(byte_tokenizer()), key=KEY, name="n", processes=Processes())


def test_an_evaluation_takes_a_server_as_it_is(servers):
    policy = opened(servers[0].url)
    policy.take_as_they_are()
    assert play(policy, [[1]])[0].policy_version == 0
    servers[0].weights = "strop-1-1"
    with pytest.raises(UserError, match=r"has weights of a training run; restart it"):
        policy.take_as_they_are()
    policy.close()


def test_the_key_is_in_a_file_that_is_named(tmp_path):
    with pytest.raises(UserError, match="STROP_SAMPLER_KEY_FILE is not set"):
        read_key({})
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "key").chmod(0o600)
    assert read_key({"STROP_SAMPLER_KEY_FILE": str(tmp_path / "key")}) == KEY


class Kept(FileSync):
    """Files, of which such a server is told."""

    async def send(self, server, weights):
        await server.ask("POST", "/take", {"version": weights.version})


def _one_of_two(rank, port, url, folder, found):
    address = f"tcp://127.0.0.1:{port}"
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    policy = opened(url)
    policy.sync = Kept(folder, "m", torch.float32, Processes())
    policy.update(1, [("w", torch.ones(3))])
    first = policy._served

    def broken():
        yield "w", torch.ones(3)
        if rank == 0:
            raise StropError("no room")

    with pytest.raises(StropError, match="no room"):
        policy.update(2, broken())
    policy.update(3, [("w", torch.zeros(3))])
    found.put(
        (first.name, policy._served.name, play(policy, [[rank]])[0].policy_version, first.folder.exists())
    )
    policy.close()
    torch.distributed.destroy_process_group()


@pytest.mark.soak(12)
def test_two_processes_send_once_and_fail_together(servers, tmp_path):
    context = torch.multiprocessing.get_context("spawn")
    found = context.Queue()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = (port, servers[0].url, tmp_path / "weights", found)
    processes = [context.Process(target=_one_of_two, args=(rank, *arguments)) for rank in range(2)]
    for process in processes:
        process.start()
    first, second = (found.get(timeout=DEADLINE) for _ in processes)
    for process in processes:
        process.join(DEADLINE)
        assert process.exitcode == 0
    assert first == second and first[2:] == (3, False)
    assert servers[0].taken == [first[0], first[1]]
    assert not (tmp_path / "weights").exists()
