"""OpenAI's protocol against OpenAI's client: drawn exchanges, over a socket, with the client's own types."""

import json
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import httpx
import pytest
from openai import BadRequestError, OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter
from tests.policies.drawn_chats import TOOLS, Chat, Drawer
from tests.scale import most, seed

from strop.policies.chat_options import ChatTerms, RefusedChat
from strop.policies.chat_server import ChatServer
from strop.policies.chat_wire import ChatChoice, ChatReply, ChatRequest, Hear, read_body, request_of, said_as
from strop_verify.core.listening import listen

PARAMS: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsNonStreaming)


class Scripted:
    """A server whose policy says `text`, and a client that holds every answer to its types."""

    def __init__(self) -> None:
        self.text, self.asked = "", list[ChatRequest]()
        self._said: dict[Any, str] = {}
        terms = ChatTerms(play=True)
        self.server = ChatServer(listen("127.0.0.1", 0), self._ask, model="m", terms=terms, said=self._said)
        self.client, self.loose = (
            OpenAI(
                base_url=self.server.url, api_key="x", max_retries=0, _strict_response_validation=strict,
                http_client=httpx.Client(trust_env=False),
            )
            for strict in (True, False)
        )  # fmt: skip

    def _ask(self, request: ChatRequest, hear: Hear) -> "Future[ChatReply]":
        self.asked.append(request)
        self._said[said_as(*request.tools.parts(self.text))] = self.text
        future: Future[ChatReply] = Future()
        future.set_result(ChatReply(3, (ChatChoice(self.text, False, 4),)))
        return future

    def completion(self, body: dict[str, Any], stream: bool) -> ChatCompletion:
        """What the client makes of the answer."""
        if not stream:
            whole: ChatCompletion = self.client.chat.completions.create(**body)
            return whole
        state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
        options = {"stream": True, "stream_options": {"include_usage": True}}
        for chunk in self.client.chat.completions.create(**body, **options):
            state.handle_chunk(chunk)
        return state.get_final_completion()


@pytest.fixture(scope="module")
def scripted() -> Iterator[Scripted]:
    made = Scripted()
    yield made
    made.client.close()
    made.server.close()


def seen(request: ChatRequest, chat: Chat) -> None:
    """Asserts that each mark stands in the prompt, in order and in its role."""
    prompt = [message for message in request.prompt if not isinstance(message, str)]
    whole = "\n".join(message.content for message in prompt)
    places = [whole.find(json.dumps(mark)[1:-1] if mark not in whole else mark) for _, mark in chat.marks]
    assert -1 not in places and places == sorted(places), (chat, whole)
    for role, mark in chat.marks:
        assert [message.role for message in prompt if mark in message.content] == [role], (role, mark)


def test_drawn_exchanges_are_understood_or_refused(scripted: Scripted) -> None:
    drawer, refused, count = Drawer(seed()), 0, most(1000, 120)
    for _ in range(count):
        chat, stream = drawer.chat(), drawer.random.random() < 0.5
        scripted.text, calls = drawer.sampled()
        PARAMS.validate_python(chat.body)
        if chat.refused:
            refused += 1
            with pytest.raises(BadRequestError) as caught:
                scripted.completion(chat.body, stream)
            assert caught.value.status_code == 400 and "\n" not in caught.value.message, chat.body
            continue
        found = scripted.completion(chat.body, stream)
        seen(scripted.asked[-1], chat)
        told = answered(found, chat.body, scripted.text, calls)
        chat.body["messages"] += [found.choices[0].message.model_dump(exclude_none=True)]
        if told:
            replies, marks = drawer.replies(told)
            chat.body["messages"] += replies
            chat.marks += [("user", mark) for mark in marks]
        chat.body["messages"].append({"role": "user", "content": "Go on."})
        sampled = scripted.text
        scripted.completion(chat.body, stream)
        seen(scripted.asked[-1], chat)
        assert sampled in [m.content for m in scripted.asked[-1].prompt if not isinstance(m, str)]
    assert (
        count // 12 < refused < count // 2
    )  # a quarter is expected; of 120, 10 or fewer with probability 3e-6


def answered(
    found: ChatCompletion, body: dict[str, Any], text: str, calls: list[tuple[str, dict[str, str]]]
) -> list[str]:
    """The ids of the calls that the client was told, which are those that were made."""
    (choice,) = found.choices
    assert found.usage is not None and found.usage.total_tokens == 7
    called = choice.message.tool_calls or []
    told = [
        (one.function.name, json.loads(one.function.arguments)) for one in called if one.type == "function"
    ]
    if "tools" not in body or body.get("tool_choice") == "none" or not calls:
        assert choice.message.content == text and not told and choice.finish_reason == "stop"
        return []
    assert told == calls and choice.message.content == (text.partition("<tool_call>")[0].strip() or None)
    assert choice.finish_reason == "tool_calls"
    return [one.id for one in called]


@pytest.mark.parametrize("stream", [False, True])
def test_text_completions(scripted: Scripted, stream: bool) -> None:
    scripted.text = "so it is"
    # The client's own type of a streamed text has a reason for its end in every chunk, which OpenAI's API leaves null.
    client = scripted.loose if stream else scripted.client
    given = client.completions.create(model="m", prompt="Tell", stream=stream)
    texts = [one.choices[0].text for one in given] if stream else [given.choices[0].text]
    assert "".join(texts) == "so it is" and scripted.asked[-1].prompt == "Tell"
    for field in (
        {"echo": True},
        {"suffix": "x"},
        {"best_of": 2},
        {"logprobs": 1},
        {"n": 2},
        {"prompt": [1, 2]},
    ):
        with pytest.raises(BadRequestError, match=next(iter(field))):
            scripted.client.completions.create(**{"model": "m", "prompt": "Tell", **field})


@pytest.mark.parametrize(
    "change",
    [
        {"messages": 3}, {"messages": [3]}, {"messages": [{"role": "x"}]}, {"tools": 3}, {"tools": [3]},
        {"functions": 3}, {"functions": [{"name": 1}]}, {"tools": TOOLS, "tool_choice": 3}, {"function_call": "auto"},
        {"tools": TOOLS, "tool_choice": {"function": 3}}, {"messages": [{"role": "assistant", "tool_calls": 3}]},
        {"messages": [{"role": "assistant", "tool_calls": [3]}]}, {"messages": [{"role": "user", "content": 3}]},
        {"messages": [{"role": "assistant", "function_call": 3}]}, {"messages": [{"role": "tool", "content": "1"}]},
        {"messages": [{"role": "assistant", "refusal": 3}]}, {"response_format": 3},
    ],
)  # fmt: skip
def test_what_no_client_sends_is_refused(change: dict[str, Any]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], **change}
    with pytest.raises(RefusedChat) as caught:
        request_of(read_body(json.dumps(body).encode()), "chat", ChatTerms(), {})
    assert caught.value.status == 400 and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("required", "Call a function."),
        ({"type": "function", "function": {"name": "put"}}, "Call the function put."),
    ],
)
def test_a_call_that_must_be_is_asked_for(choice: Any, said: str) -> None:
    body = {"messages": [{"role": "user", "content": "x"}], "tools": TOOLS, "tool_choice": choice}
    (head, _) = request_of(read_body(json.dumps(body).encode()), "chat", ChatTerms(), {}).prompt
    assert not isinstance(head, str) and head.role == "system" and head.content.endswith(f"\n\n{said}")
