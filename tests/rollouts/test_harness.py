"""Plays with agents: turns out of requests, retries, forks, what is judged, and the end."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.rollouts.agents import RIGHT, WIRE, ask, play, post, said, shown, user

from strop.policies.scripted import ScriptedPolicy
from strop.training.batch import samples_of
from strop_verify.core.errors import UserError
from strop_verify.core.play import PlayLimits

CALL = '<tool_call>\n{"name": "look", "arguments": {"path": "a.py"}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {}}}]


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_that_goes_on_is_one_row_and_the_files_are_the_answer(
    verifier: Any, stream: bool
) -> None:
    def agent(url: str, task: Any, workspace: Any) -> None:
        messages = [{"role": "developer", "content": "Be brief."}, user(task.statement)]
        for word in ("one", "two"):
            answer = ask(url, messages, stream=stream)
            messages += [said(answer), user(word)]
        assert ask(url, messages, stream=stream) == "heard two"
        assert workspace.run(["python3", "-c", "print(open('solution.py').read())"]).output.startswith(
            "def f"
        )
        workspace.put({"solution.py": RIGHT})

    found = play(verifier, agent)
    assert found.verdict and found.verdict.passed and found.stop_reason == "answered"
    assert [(m.role, m.content) for m in shown(found)] == [
        ("system", "Be brief."), ("user", "Return x + 1."), ("assistant", "heard Return x + 1."),
        ("user", "one"), ("assistant", "heard one"), ("user", "two"), ("assistant", "heard two"),
    ]  # fmt: skip
    (sample,) = samples_of(found.model_copy(update={"reward": 1.0, "advantage": 1.0}), False)
    sampled = [number for turn in found.turns for number in turn.completion.token_ids]
    assert sample.weight == 1 and [n for n, m in zip(sample.ids, sample.mask, strict=True) if m] == sampled


def test_a_changed_history_is_another_row_that_shares_the_weight(verifier: Any) -> None:
    def agent(url: str, task: Any, workspace: Any) -> None:
        begun = [user("a")]
        first = ask(url, begun)
        ask(url, [*begun, said(first), user("b")])
        ask(url, [*begun, said(f" {first}\n"), user("c")])  # goes on from the first turn, not from the last
        ask(url, [*begun, said("I never said this"), user("d")])
        ask(url, [*begun, said(first), user("b"), said("heard b"), user("e")])

    found = play(verifier, agent)
    assert [turn.row for turn in found.turns] == [0, 0, 1, 2, 0]
    first, second, third = ([m.content for m in shown(found, row)] for row in range(3))
    assert first == ["a", "heard a", "b", "heard b", "e", "heard e"]
    assert second == ["a", "heard a", "c", "heard c"]
    assert third == ["a", "I never said this", "d", "heard d"]
    samples = samples_of(found.model_copy(update={"reward": 1.0, "advantage": 1.0}), False)
    assert sum(sample.weight for sample in samples) == pytest.approx(1)
    lengths = [[len(turn.completion.token_ids) for turn in row] for row in found.rows()]
    assert [sample.tokens for sample in samples] == [sum(row) for row in lengths]  # each sampled token once


def test_a_retry_is_the_same_turn(verifier: Any) -> None:
    policy = ScriptedPolicy(lambda prompt, seed, index: f"answer {index}")

    def agent(url: str, task: Any, workspace: Any) -> None:
        with ThreadPoolExecutor(8) as pool:
            answers = [
                pool.submit(ask, url, [user("a")], temperature=n / 10, stream=n % 2 > 0) for n in range(8)
            ]
        assert {answer.result() for answer in answers} == {"answer 0"}
        assert ask(url, [user("a")]) == "answer 0"

    found = play(verifier, agent, policy=policy)
    assert len(found.turns) == 1


def test_calls_of_tools_go_both_ways(verifier: Any) -> None:
    answers = iter([f"I'll look.\n{CALL}", "<tool_call>{broken", "nothing to call"])

    def agent(url: str, task: Any, workspace: Any) -> None:
        messages: list[Any] = [user("go")]
        for _ in range(2):
            _, body = post(url, {"messages": messages, "tools": TOOLS})
            message = body["choices"][0]["message"]
            messages.append(message)
            if calls := message.get("tool_calls"):
                assert (
                    message["content"] == "I'll look." and body["choices"][0]["finish_reason"] == "tool_calls"
                )
                assert json.loads(calls[0]["function"]["arguments"]) == {"path": "a.py"}
                messages.append({"role": "tool", "tool_call_id": calls[0]["id"], "content": "x = 1"})
        assert messages[-1]["content"] == "<tool_call>{broken"
        _, events = post(url, {"messages": [*messages, user("and?")], "tools": TOOLS, "stream": True})
        assert events[0]["choices"][0]["delta"]["content"] == "nothing to call"

    found = play(verifier, agent, policy=ScriptedPolicy(lambda *_: next(answers)))
    system, *rest = shown(found)
    assert '"name": "look"' in system.content and len(found.rows()) == 1
    assert [m.content for m in rest] == [
        "go", f"I'll look.\n{CALL}", "<tool_response>\nx = 1\n</tool_response>", "<tool_call>{broken", "and?",
        "nothing to call",
    ]  # fmt: skip


def test_a_text_that_goes_on_is_one_row(verifier: Any) -> None:
    policy = ScriptedPolicy(lambda prompt, seed, index: f"<{index}>")

    def agent(url: str, task: Any, workspace: Any) -> None:
        _, body = post(url, {"prompt": "abc"}, path="/completions")
        assert body["choices"][0]["text"] == "<0>"
        post(url, {"prompt": "abc<0>def"}, path="/completions")
        post(url, {"prompt": "other"}, path="/completions")

    found = play(verifier, agent, policy=policy)
    assert [turn.row for turn in found.turns] == [0, 0, 1]


def test_a_prompt_beyond_the_budget_ends_the_play_in_words_that_clients_know(verifier: Any) -> None:
    seen: list[Any] = []

    def agent(url: str, task: Any, workspace: Any) -> None:
        workspace.put({"solution.py": RIGHT})
        answer = ask(url, [user("a")])
        seen.append(post(url, {"messages": [user("a"), said(answer), user("b" * 5000)]}))

    found = play(verifier, agent, limits=PlayLimits(context=600), max_tokens=100)
    assert found.stop_reason == "context" and found.verdict and found.verdict.outcome.value == "no answer"
    assert len(found.turns) == 1 and found.left_out == ""
    (status, body), = seen  # fmt: skip
    assert status == 400 and body["error"]["code"] == "context_length_exceeded"
    assert "maximum context length" in body["error"]["message"]


def test_after_its_turns_an_agent_is_refused_and_what_it_left_is_judged(verifier: Any) -> None:
    seen: list[Any] = []

    def agent(url: str, task: Any, workspace: Any) -> None:
        for number in range(2):
            ask(url, [user(str(number))])
        seen.append(post(url, {"messages": [user("more")]})[0])
        seen.append(post(url, {"messages": [user("0")]})[0])  # an answer that it has got
        workspace.put({"solution.py": RIGHT})

    found = play(verifier, agent, turns=2)
    assert seen == [403, 403] and len(found.turns) == 2
    assert found.verdict and found.verdict.passed


def test_an_agent_that_asks_on_for_ever_is_ended_and_what_it_left_is_judged(
    verifier: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strop.environments.play_endpoint._LEAVING", 0.5)
    code = f"""
import json, os, time, urllib.error, urllib.request
open("solution.py", "w").write({RIGHT!r})
while True:
    data = json.dumps({{"messages": [{{"role": "user", "content": str(time.time())}}]}}).encode()
    try:
        urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/chat/completions", data)
    except urllib.error.HTTPError:
        time.sleep(0.1)
"""
    found = play(verifier, command=["python", "-c", code], turns=2, seconds=900.0)
    assert found.verdict and found.verdict.passed and len(found.turns) == 2
    assert "kept asking" in found.turns[-1].events[-1].result


def test_the_last_message_may_be_the_answer(verifier: Any) -> None:
    policy = ScriptedPolicy(lambda *_: f"Here:\n```python\n{RIGHT}```")

    def agent(url: str, task: Any, workspace: Any) -> None:
        ask(url, [user(task.statement)])

    found = play(verifier, agent, policy=policy, answer="message")
    assert found.verdict and found.verdict.passed


def test_a_command_plays_in_the_jail_and_reaches_its_endpoint_alone(verifier: Any) -> None:
    code = """
import json, os, socket, sys, urllib.request
url = os.environ["OPENAI_BASE_URL"]
def ask(text):
    data = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    asked = urllib.request.Request(url + "/chat/completions", data)
    return json.load(urllib.request.urlopen(asked))["choices"][0]["message"]["content"]
assert ask("hello") == "heard hello" and sys.argv[1] == "Return x + 1."
faults = []
for place in (("127.0.0.1", 22), ("127.0.0.1", PORT), ("10.0.0.1", 8000), ("1.1.1.1", 8000)):
    try:
        socket.create_connection(place, 5)
    except OSError as error:
        faults.append(type(error).__name__)
for family, kind in ((socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM), (17, socket.SOCK_RAW)):
    try:
        socket.socket(family, kind)
    except OSError as error:
        faults.append(type(error).__name__)
try:
    socket.create_server(("127.0.0.1", 9000))
except OSError as error:
    faults.append(type(error).__name__)
ask(" ".join(faults))
open("solution.py", "w").write(RIGHT)
os._exit(3)
"""
    with socket.create_server(("127.0.0.1", 0)) as other:
        code = code.replace("PORT", str(other.getsockname()[1])).replace("RIGHT", repr(RIGHT))
        found = play(verifier, command=["python", "-c", code, "{task}"])
    assert found.verdict and found.verdict.passed, found.turns[-1].events
    asked = shown(found, 1)[0].content.split()
    assert len(asked) == 8 and set(asked) <= {"PermissionError", "OSError", "ConnectionRefusedError"}
    assert "status 3" in found.turns[-1].events[0].result


def test_wrong_settings_are_said_before_anything_is_played(verifier: Any) -> None:
    with pytest.raises(UserError, match="either `command` or `play`"):
        play(verifier)
    with pytest.raises(UserError, match="no program 'no-such-agent'"):
        play(verifier, command="no-such-agent")
    with pytest.raises(UserError, match="command"):
        play(verifier, command="python -c 1", play="x.py:y")


def test_an_agent_that_never_asks_is_no_failure_of_the_policy(verifier: Any) -> None:
    found = play(verifier, command=["python", "-c", "print('oh'); raise SystemExit(4)"])
    assert found.stop_reason == "infra" and found.verdict and not found.verdict.scored
    assert "before its first request" in found.verdict.detail and "status 4" in found.verdict.detail


def test_the_address_is_no_part_of_what_the_policy_sees(verifier: Any) -> None:
    code = (
        "import json, os, urllib.request as u; url = os.environ['OPENAI_BASE_URL'];"
        "u.urlopen(url + '/chat/completions', json.dumps({'messages': [{'role': 'user', 'content': url}]}).encode())"
    )
    found = [play(verifier, command=["python", "-c", code], order="deterministic") for _ in range(2)]
    assert [shown(one)[0].content for one in found] == ["http://127.0.0.1:8000/play/v1"] * 2
    assert found[0].flat() == found[1].flat()


def test_a_conversation_of_responses_is_one_row_too(verifier: Any) -> None:
    answers = iter([f"I'll look.\n{CALL}", "It is 1."])

    def agent(url: str, task: Any, workspace: Any) -> None:
        tools = [{"type": "function", **TOOLS[0]["function"]}]  # type: ignore[dict-item]
        asked: dict[str, Any] = {"instructions": "Be brief.", "input": [user("go")], "tools": tools}
        status, body = post(url, asked, path="/responses")
        message, call = body["output"]
        assert status == 200 and message["content"][0]["text"] == "I'll look." and body["created_at"] == 0
        assert post(url, asked, path="/responses")[1] == body  # a retry
        reply = {"type": "function_call_output", "call_id": call["call_id"], "output": "x = 1"}
        asked["input"] += [message, call, reply]
        assert post(url, asked, path="/responses")[1]["output"][0]["content"][0]["text"] == "It is 1."
        status, body = post(url, {**asked, "text": {"format": {"type": "json_object"}}}, path="/responses")
        assert status == 400 and body["error"]["param"] == "text"

    found = play(verifier, agent, policy=ScriptedPolicy(lambda *_: next(answers)))
    assert [turn.row for turn in found.turns] == [0, 0]
    assert [m.content for m in shown(found)][1:] == [
        "go", f"I'll look.\n{CALL}", "<tool_response>\nx = 1\n</tool_response>", "It is 1.",
    ]  # fmt: skip


@pytest.mark.parametrize("calls", ["hermes", "mistral"])
def test_a_call_that_must_be_is_begun_for_the_policy_and_that_is_not_sampled(
    verifier: Any, calls: str
) -> None:
    from strop.policies.model_calls import MODEL_FORMS
    from strop.policies.tool_calls import ToolCall

    form = MODEL_FORMS[calls]
    begun, whole = "".join(form.begun("look")), form.write(ToolCall("look", {"path": "a.py"}))
    rest = iter([whole.removeprefix(begun), "seen"])

    def agent(url: str, task: Any, workspace: Any) -> None:
        messages: list[Any] = [user("go")]
        named = {"type": "function", "function": {"name": "look"}}
        _, body = post(url, {"messages": messages, "tools": TOOLS, "tool_choice": named})
        message = body["choices"][0]["message"]
        (call,) = message["tool_calls"]
        assert json.loads(call["function"]["arguments"]) == {"path": "a.py"} and message["content"] is None
        messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": "x = 1"}]
        _, body = post(url, {"messages": messages, "tools": TOOLS, "tool_choice": named, "stream": True})

    found = play(verifier, agent, policy=ScriptedPolicy(lambda *_: next(rest)), calls=calls)
    first, second = found.turns
    assert first.completion.text == whole.removeprefix(begun) and [turn.row for turn in found.turns] == [0, 0]
    ids = [n for part in form.begun("look") for n in WIRE.encode(part)]
    assert all(turn.prompt_ids[-len(ids) :] == ids for turn in found.turns)
    assert [m.content for m in shown(found)][2:] == [
        whole,
        "<tool_response>\nx = 1\n</tool_response>",
        f"{begun}seen",
    ]
    (sample,) = samples_of(found.model_copy(update={"reward": 1.0, "advantage": 1.0}), False)
    sampled = [*first.completion.token_ids, *second.completion.token_ids]
    assert [n for n, m in zip(sample.ids, sample.mask, strict=True) if m] == sampled
