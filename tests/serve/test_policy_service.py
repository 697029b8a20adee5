"""The endpoint of `strop serve-policy` with OpenAI's own client: each field is honoured, or refused by its name."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai import APIStatusError, AsyncOpenAI, BadRequestError, InternalServerError, NotFoundError
from tests.scale import most
from tests.serve.served import LOOK, PUT, Served, served, user

from strop.policies.chat_options import ChatTerms, read_options
from strop.policies.model_calls import MODEL_FORMS, form_of
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import WireTokenizer
from strop.policies.tool_calls import ToolCall

WIRE = WireTokenizer()
CALLS = {
    name: form.write(ToolCall("look", {"path": "a.py é", "lines": 3})) for name, form in MODEL_FORMS.items()
}


def answer(prompt: Sequence[int], seed: int, index: int) -> str:
    """What was said last, with the seed where it is asked for, or the rest of a call that is begun."""
    messages = WIRE.messages(prompt)
    if messages is None:
        return f"after {WIRE.decode(prompt)}"
    last = messages[-1]
    if last.role == "assistant":
        whole = next((call for call in CALLS.values() if call.startswith(last.content)), "")
        if "final_answer" in messages[0].content:
            return ' "final_answer", "arguments": {"answer": "3"}}\n</tool_call>'
        return whole.removeprefix(last.content) if whole and messages[-2].content != "refuse" else " no"
    return f"seed {seed}" if last.content == "seed" else f"heard {last.content}"


@pytest.fixture(scope="module")
def scripted() -> Iterator[Served]:
    with served(ScriptedPolicy(answer)) as made:
        yield made


def said(server: Served, text: str, **more: Any) -> Any:
    return server.client.chat.completions.create(model="scripted", messages=user(text), **more)


REFUSED: list[tuple[str, Any]] = [
    ("frequency_penalty", 0.1), ("presence_penalty", -1), ("logit_bias", {"5": 3}), ("top_logprobs", 1), ("n", 129),
    ("n", 0), ("temperature", 2.5), ("temperature", "hot"), ("top_p", 0), ("stop", [""]), ("stop", 3), ("seed", "x"),
    ("seed", 1 << 64), ("max_tokens", 0), ("max_tokens", 65), ("max_completion_tokens", -1), ("logprobs", 1),
    ("response_format", {"type": "json_object"}), ("response_format", {"type": "grammar"}), ("store", True),
    ("modalities", ["audio"]), ("audio", {"voice": "x"}), ("service_tier", "flex"), ("reasoning_effort", "low"),
    ("verbosity", "low"), ("prediction", {"type": "content", "content": "x"}), ("web_search_options", {}),
    ("functions", [{"name": "f"}]), ("function_call", "auto"), ("tool_choice", "required"), ("tool_choice", "some"),
    ("parallel_tool_calls", "no"), ("stream", "yes"), ("stream_options", {"include_usage": True}), ("top_k", 5),
    ("min_p", 0.1), ("repetition_penalty", 1.1), ("guided_json", {}), ("a\ud800", 1), ("echo", True),
    ("messages", []),
    ("tools", [{"type": "custom", "custom": {"name": "x"}}]),
    ("tools", [{"type": "function", "function": {"name": "f", "strict": True, "parameters": {"pattern": "(a+)+"}}}]),
    ("tools", [{"type": "function", "function": {"name": "f", "strict": True, "parameters": {"type": 3}}}]),
    ("tools", [{"type": "function", "function": {"name": "f", "strict": True, "parameters": {"enum": [0] * 9999}}}]),
]  # fmt: skip


def test_what_cannot_be_honoured_is_refused_by_its_name(scripted: Served) -> None:
    for name, value in REFUSED:
        body = json.dumps({"messages": user("a"), name: value}).encode()
        found = scripted.post("/chat/completions", body)
        error = found.json()["error"]
        assert found.status_code == 400 and error["type"] == "invalid_request_error", (name, value, error)
        assert error["param"] == name
        assert error["message"] and "\n" not in error["message"], error
    for name, value in (("logprobs", 1), ("echo", True), ("best_of", 2), ("suffix", "x"), ("prompt", [[1]])):
        found = scripted.post("/completions", {"prompt": "a", name: value})
        assert found.status_code == 400 and found.json()["error"]["param"] == name


def test_what_asks_for_nothing_is_no_hindrance(scripted: Served) -> None:
    hints = {"user": "u", "metadata": {"a": "b"}, "safety_identifier": "s", "prompt_cache_key": "k"}
    plain = {
        "frequency_penalty": 0, "presence_penalty": 0.0, "logit_bias": {}, "store": False, "n": 1, "tools": [],
        "response_format": {"type": "text"}, "modalities": ["text"], "service_tier": "auto", "tool_choice": "auto",
        "logprobs": False, "stop": None, "audio": None, "verbosity": None,
    }  # fmt: skip
    found = scripted.post("/chat/completions", {"messages": user("a"), **hints, **plain})
    assert found.json()["choices"][0]["message"]["content"] == "heard a"


def test_errors_are_json_wherever_they_come_from(scripted: Served) -> None:
    root = scripted.url.removesuffix("/v1")
    for method, path, status in (
        ("GET", "/nowhere", 404), ("GET", "/v1/chat/completions", 405), ("DELETE", "/v1/models", 405),
        ("GET", "/v1/models/other", 404), ("POST", "/v1/embeddings", 404),
    ):  # fmt: skip
        found = httpx.request(method, root + path, trust_env=False)
        assert found.status_code == status and found.json()["error"]["message"], path
    for body, status in ((b"{", 400), (b"[]", 400), (b"\xff", 400), (b"x" * (5 << 20), 413)):
        for path in ("/chat/completions", "/completions", "/responses"):
            found = scripted.post(path, body)
            assert found.status_code == status and found.json()["error"]["message"]
    assert scripted.client.models.retrieve("scripted").id == "scripted"
    with pytest.raises(NotFoundError) as caught:
        scripted.client.models.retrieve("a/b")
    assert caught.value.code == "model_not_found"
    with pytest.raises(NotFoundError):
        scripted.client.chat.completions.create(model="gpt", messages=user("a"))


def test_choices_are_samples_of_their_own_and_a_seed_gives_them_again(scripted: Served) -> None:
    def texts(**more: Any) -> list[str]:
        found = said(scripted, "seed", n=3, **more)
        assert [one.index for one in found.choices] == [0, 1, 2]
        sampled = sum(len(WIRE.encode(one.message.content)) for one in found.choices)
        assert found.usage.completion_tokens == sampled
        return [one.message.content for one in found.choices]

    first, again, other, free = texts(seed=5), texts(seed=5), texts(seed=6), texts()
    assert first == again and len({*first, *other, *free}) == 9 and texts() != free
    streamed: dict[int, str] = {}
    for chunk in said(scripted, "seed", n=3, seed=5, stream=True):
        for one in chunk.choices:
            streamed[one.index] = streamed.get(one.index, "") + (one.delta.content or "")
    assert [streamed[n] for n in range(3)] == first


def test_usage_and_ids_are_true(scripted: Served) -> None:
    from strop_verify.core.rollout import Message

    found = [said(scripted, "a") for _ in range(20)]
    assert len({one.id for one in found}) == 20 and all(one.created > 1e9 for one in found)
    prompt = len(WIRE.encode_chat([Message(role="user", content="a")]))
    assert {one.usage.prompt_tokens for one in found} == {prompt}
    assert {one.usage.completion_tokens for one in found} == {len(WIRE.encode("heard a"))}
    *_, last = said(scripted, "a", stream=True, stream_options={"include_usage": True})
    assert last.usage == found[0].usage and last.choices == []


def test_what_has_no_room_is_refused_in_words_that_clients_know() -> None:
    class Short(ScriptedPolicy):
        context = 40

    with served(Short(answer)) as server:
        assert said(server, "a").choices[0].message.content == "heard a"
        for asked in ({"max_tokens": 40}, {"messages": user("b" * 200)}):
            with pytest.raises(BadRequestError, match="maximum context length") as caught:
                server.client.chat.completions.create(**{"model": "scripted", "messages": user("a"), **asked})
            assert caught.value.code == "context_length_exceeded" and caught.value.param == "messages"


def test_length_and_stop_are_kept(scripted: Served) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        found = said(scripted, "abcdefgh", **{name: 2})
        assert found.choices[0].finish_reason == "length" and found.usage.completion_tokens == 2
    assert said(scripted, "abc", stop="b").choices[0].message.content == "heard a"
    assert said(scripted, "abc", stop=["x", "rd"]).choices[0].message.content == "hea"


def test_log_probabilities_are_those_of_the_tokens_of_the_text(scripted: Served) -> None:
    (choice,) = said(scripted, "aé€😀b.", logprobs=True, stop=["none"]).choices
    content = choice.logprobs.content
    assert "".join(one.token for one in content) == choice.message.content == "heard aé€😀b."
    assert bytes(byte for one in content for byte in one.bytes).decode() == choice.message.content
    (cut,) = said(scripted, "aé€😀b.", logprobs=True, stop="€").choices
    assert cut.message.content == "heard aé" and len(cut.logprobs.content) == 3  # none that begins behind it
    assert {one.logprob for one in content} == {0.0}  # a script has one choice
    text = scripted.client.completions.create(model="scripted", prompt="x", logprobs=0).choices[0]
    assert "".join(text.logprobs.tokens) == text.text and text.logprobs.text_offset[:2] == [0, 4]
    with served(ScriptedPolicy(answer), logprobs=False) as other, pytest.raises(BadRequestError) as caught:
        said(other, "a", logprobs=True)
    assert caught.value.param == "logprobs"


@pytest.mark.parametrize("form", MODEL_FORMS)
def test_calls_of_each_form_are_read_and_forced(form: str) -> None:
    def script(prompt: Sequence[int], seed: int, index: int) -> str:
        (last,) = (WIRE.messages(prompt) or [])[-1:]
        return answer(prompt, seed, index) if last.role == "assistant" else CALLS[form]

    with served(ScriptedPolicy(script), calls=form) as server:
        for choice in ("auto", "required", {"type": "function", "function": {"name": "look"}}):
            for stream in (False, True):
                found = said(server, "go", tools=[LOOK, PUT], tool_choice=choice, stream=stream)
                calls = streamed_calls(found) if stream else found.choices[0].message.tool_calls
                assert [one.function.name for one in calls] == ["look"], choice
                assert json.loads(calls[0].function.arguments) == {"path": "a.py é", "lines": 3}
        # The same text is nothing but text where no function may be called.
        for none in ({"tool_choice": "none", "tools": [LOOK]}, {}):
            assert said(server, "go", **none).choices[0].message.content == CALLS[form]
        with pytest.raises(InternalServerError, match="tool_choice"):
            said(
                server, "go", tools=[LOOK, PUT], tool_choice={"type": "function", "function": {"name": "put"}}
            )


def streamed_calls(chunks: Any) -> list[Any]:
    """As a client puts them together."""
    from openai.lib.streaming.chat import ChatCompletionStreamState

    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    (choice,) = state.get_final_completion().choices
    assert choice.finish_reason == "tool_calls" and choice.message.content is None
    return list(choice.message.tool_calls or [])


def test_a_forced_call_that_is_none_is_an_error(scripted: Served) -> None:
    for stream in (False, True):
        with pytest.raises((InternalServerError, Exception), match="tool_choice"):
            list(said(scripted, "refuse", tools=[LOOK], tool_choice="required", stream=stream))


def test_calls_are_held_to_one_and_to_a_strict_schema() -> None:
    two = "Both. " + CALLS["hermes"] + CALLS["hermes"]
    schema = {**LOOK["function"]["parameters"], "required": ["path", "lines"], "additionalProperties": False}
    strict = {"type": "function", "function": {"name": "look", "parameters": schema, "strict": True}}
    bad = CALLS["hermes"].replace('"lines": 3', '"lines": "3"')
    texts = {"two": two, "good": CALLS["hermes"], "bad": bad}
    with served(
        ScriptedPolicy(lambda prompt, *_: texts[(WIRE.messages(prompt) or [])[-1].content])
    ) as server:

        def calls(text: str, **more: Any) -> int:
            message = said(server, text, **more).choices[0].message
            assert message.tool_calls or message.content == texts[text]
            return len(message.tool_calls or [])

        assert calls("two", tools=[LOOK]) == 2
        assert calls("two", tools=[LOOK], parallel_tool_calls=False) == 1
        assert calls("good", tools=[strict]) == 1 and calls("bad", tools=[LOOK]) == 1
        assert calls("bad", tools=[strict]) == 0


def test_the_form_is_that_of_the_chat_template() -> None:
    assert form_of(None) == form_of("{{ messages }}") == form_of("<tool_call>") == "hermes"
    assert form_of("<tool_call>\n<function=x>") == "qwen-coder"
    assert form_of("[TOOL_CALLS]") == "mistral" and form_of('{"name": x, "parameters": y}') == "llama"


def test_other_ways_to_write_calls() -> None:
    def read(form: str, text: str) -> list[ToolCall]:
        return MODEL_FORMS[form].read(text, [LOOK, PUT], whole=True)

    look, put = ToolCall("look", {"path": "a"}), ToolCall("put", {"lines": 2})
    assert read("llama", '<|python_tag|>{"name": "look", "parameters": {"path": "a"}}') == [look]
    two = '{"name": "look", "arguments": {"path": "a"}}; {"name": "put", "parameters": "{\\"lines\\": 2}"}'
    assert read("llama", two) == [look, put]
    assert read("mistral", 'So. [TOOL_CALLS]look[ARGS]{"path": "a"}[TOOL_CALLS]put{"lines": 2}') == [
        look,
        put,
    ]
    assert read("qwen-coder", "<function=look><parameter=path>a</parameter></function>") == [look]
    for form, text in (
        ("llama", '{"name": "Ann", "parameters": {}}'), ("llama", '{"answer": 3}'), ("mistral", "[TOOL_CALLS]look"),
        ("qwen-coder", "<function=look><parameter=path>a"), ("qwen-coder", "no call"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"."):
            read(form, text)


def test_responses_as_openai_asks_for_them(scripted: Served) -> None:
    client = scripted.client
    found = client.responses.create(
        model="scripted", input="hello", instructions="Be brief.", max_output_tokens=3
    )
    assert found.output_text == "heard hello" and found.status == "completed" and found.usage
    assert found.usage.output_tokens == 3 and found.usage.total_tokens == found.usage.input_tokens + 3
    cut = client.responses.create(model="scripted", input=user("hello"), max_output_tokens=2)
    assert cut.status == "incomplete" and cut.incomplete_details
    assert cut.incomplete_details.reason == "max_output_tokens"
    tools: Any = [{**LOOK["function"], "type": "function", "strict": False}]
    for stream in (False, True):
        first = _response(client, stream, input=user("go"), tools=tools, tool_choice="required")
        (call,) = first.output
        assert call.type == "function_call" and json.loads(call.arguments)["lines"] == 3
        replied = [*user("go"), call.model_dump(exclude_none=True), {
            "type": "function_call_output", "call_id": call.call_id, "output": [{"type": "input_text", "text": "7"}],
        }]  # fmt: skip
        second = _response(client, stream, input=replied, tools=tools)
        assert "7" in second.output_text and second.id != first.id


def _response(client: Any, stream: bool, **asked: Any) -> Any:
    if not stream:
        return client.responses.create(model="scripted", **asked)
    with client.responses.stream(model="scripted", **asked) as events:
        seen = list(events)
        final = events.get_final_response()
    assert [one.sequence_number for one in seen] == list(range(len(seen)))
    deltas = "".join(one.delta for one in seen if one.type == "response.output_text.delta")
    assert deltas == final.output_text and seen[0].type == "response.created"
    assert [one.item.id for one in seen if one.type == "response.output_item.done"] == [
        one.id for one in final.output
    ]
    return final


def test_what_responses_do_not_have_is_refused_by_its_name(scripted: Served) -> None:
    reply = {"type": "function_call_output", "call_id": "nowhere", "output": "x"}
    for name, value in (
        ("store", True), ("previous_response_id", "r"), ("conversation", "c"), ("background", True), ("input", []),
        ("truncation", "auto"), ("reasoning", {"effort": "low"}), ("include", ["file_search_call.results"]),
        ("max_output_tokens", 65), ("max_output_tokens", 0), ("prompt", {"id": "p"}), ("n", 2), ("top_logprobs", 2),
        ("tools", [{"type": "web_search"}]), ("text", {"verbosity": "low"}), ("seed", 3), ("input", [reply]),
        ("text", {"format": {"type": "json_schema", "name": "x", "schema": {}}}), ("tool_choice", {"type": "mcp"}),
        ("input", [{"type": "item_reference", "id": "x"}]), ("input", [{"role": "user", "content": [{"type": "x"}]}]),
        ("instructions", 3), ("max_tool_calls", 2),
    ):  # fmt: skip
        found = scripted.post("/responses", {"input": "a", name: value})
        error = found.json()["error"]
        assert found.status_code == 400 and error["param"] == name and "\n" not in error["message"], (
            name,
            error,
        )
    plain = {
        "store": False,
        "truncation": "disabled",
        "reasoning": {"effort": None},
        "include": [],
        "text": {},
    }
    assert scripted.post("/responses", {"input": "a", **plain}).status_code == 200


FIRST = Path(__file__).with_name("agent_requests.jsonl")
"""Requests as agents made them of this endpoint, their prompts shortened: mini-swe-agent 2.4.6, openai-agents 0.24.0,
pydantic-ai 2.68.0 and smolagents 1.26.0.
"""


def test_agents_first_requests_are_answered(scripted: Served) -> None:
    agents = Counter[str]()
    for line in FIRST.read_text().splitlines():
        agent, body = (made := json.loads(line))["agent"], made["body"]
        agents[agent] += 1
        found = scripted.post("/responses" if "input" in body else "/chat/completions", body)
        assert found.status_code == 200, (agent, found.text)
        if body.get("stream"):
            last = found.text.strip().split("\n\n")[-1]
            assert last == "data: [DONE]" or last.startswith("event: response.completed")
        elif body.get("tool_choice") == "required":
            assert found.json()["choices"][0]["finish_reason"] == "tool_calls"
    assert set(agents) == {"mini-swe-agent", "openai-agents", "pydantic-ai", "smolagents"}


@pytest.mark.soak(15)
def test_many_clients_lose_double_and_cross_nothing() -> None:
    """64 clients, 2,000 streamed requests; what is said depends on the request."""
    with served(ScriptedPolicy(answer)) as server:
        total = most(2000, 400)

        async def one(client: AsyncOpenAI, number: int) -> tuple[int, str, str]:
            word, kind = f"word {number} é", number % 3
            if kind == 0:
                chunks = await client.completions.create(model="scripted", prompt=word, stream=True)
                parts = [(chunk.id, chunk.choices[0].text) async for chunk in chunks]
            else:
                chat = await client.chat.completions.create(
                    model="scripted", messages=user(word), stream=True, n=kind
                )
                parts = [
                    (chunk.id, chunk.choices[0].delta.content or "")
                    async for chunk in chat
                    if chunk.choices[0].index == kind - 1
                ]
            assert len({name for name, _ in parts}) == 1
            expected = f"after {word}" if kind == 0 else f"heard {word}"
            text = "".join(text for _, text in parts)
            assert text == expected, (text, expected)
            return number, parts[0][0], text

        async def client(numbers: range) -> list[tuple[int, str, str]]:
            http = httpx.AsyncClient(trust_env=False, timeout=120)
            async with AsyncOpenAI(base_url=server.url, api_key="x", max_retries=0, http_client=http) as made:
                return [await one(made, number) for number in numbers]

        async def all_of_them() -> list[tuple[int, str, str]]:
            found = await asyncio.gather(*(client(range(start, total, 64)) for start in range(64)))
            return [one for part in found for one in part]

        answers = asyncio.run(all_of_them())
        assert sorted(number for number, _, _ in answers) == list(range(total))
        assert len({name for _, name, _ in answers}) == len({text for *_, text in answers}) == total


def test_in_a_play_how_to_sample_is_the_runs_and_all_else_is_refused() -> None:
    terms = ChatTerms(play=True)
    asked = {"temperature": "hot", "seed": [], "logit_bias": {"5": 100}, "max_tokens": 10**9, "top_k": 3}
    assert read_options(asked, "chat", terms).sampling == {}
    for name, value in (("n", 2), ("logprobs", True), ("store", True), ("guided_json", {})):
        with pytest.raises(Exception, match=name) as caught:
            read_options({name: value}, "chat", terms)
        assert getattr(caught.value, "param", "") == name
    assert issubclass(BadRequestError, APIStatusError)
