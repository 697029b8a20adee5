"""The options of a request to OpenAI's API: a request with a field that cannot be honoured is refused, naming it.

A null field counts as absent. Fields that do not affect an answer (`HINTS`) are ignored. In a play the run decides how
to sample, so the client's `SAMPLING` fields are ignored too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from strop.policies.model_calls import MODEL_FORMS, ModelCalls
from strop_verify.core.errors import StropError

Api = Literal["chat", "text", "responses"]
HINTS = frozenset(
    ("metadata", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "user")
)  # fmt: skip
"""Fields about billing, caching and abuse, which do not affect an answer."""
SAMPLING = frozenset(
    ("frequency_penalty", "logit_bias", "max_completion_tokens", "max_output_tokens", "max_tokens", "min_p",
     "presence_penalty", "reasoning", "reasoning_effort", "repetition_penalty", "seed", "stop", "temperature",
     "top_k", "top_p")
)  # fmt: skip
_ONLY: Mapping[str, tuple[Any, ...]] = {
    "audio": (), "background": (False,), "best_of": (1,), "conversation": (), "echo": (False,),
    "frequency_penalty": (0,), "function_call": (), "functions": ([],),
    "include": ([], ["reasoning.encrypted_content"]), "logit_bias": ({},), "max_tool_calls": (), "min_p": (0,),
    "modalities": (["text"],), "moderation": (), "prediction": (), "presence_penalty": (0,),
    "previous_response_id": (), "prompt": (), "reasoning": ({},), "reasoning_effort": ("none",),
    "repetition_penalty": (1,), "service_tier": ("auto", "default"), "store": (False,), "suffix": ("",),
    "top_k": (-1, 0), "top_logprobs": (0,), "truncation": ("disabled",), "verbosity": (), "web_search_options": (),
}  # fmt: skip
"""{field: its only allowed values, which request the default behaviour}."""
_COMMON = frozenset(
    ("min_p", "model", "repetition_penalty", "stream", "stream_options", "temperature", "top_k", "top_p")
)
_TOOLS = frozenset(("parallel_tool_calls", "tool_choice", "tools", "top_logprobs"))
_COMPLETIONS = frozenset(
    ("frequency_penalty", "logit_bias", "logprobs", "max_tokens", "n", "presence_penalty", "seed", "stop")
)
_KNOWN: Mapping[Api, frozenset[str]] = {
    "chat": _COMMON | _TOOLS | _COMPLETIONS | {
        "audio", "function_call", "functions", "max_completion_tokens", "messages", "modalities", "moderation",
        "prediction", "reasoning_effort", "response_format", "service_tier", "store", "verbosity", "web_search_options",
    },
    "text": _COMMON | _COMPLETIONS | {"best_of", "echo", "prompt", "suffix"},
    "responses": _COMMON | _TOOLS | {
        "background", "conversation", "include", "input", "instructions", "max_output_tokens", "max_tool_calls",
        "moderation", "previous_response_id", "prompt", "reasoning", "service_tier", "store", "text", "truncation",
    },
}  # fmt: skip


class RefusedChat(StropError):
    """An error instead of an answer: HTTP status, error code for clients, and the field at fault, if any."""

    def __init__(
        self, message: str, status: int = 400, code: str = "invalid_request", *, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.param = status, code, param

    def body(self) -> dict[str, Any]:
        """The error in OpenAI's format."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


@dataclass(frozen=True)
class ChatTerms:
    """What an endpoint honours.

    model     the name that a request may give; "" for any
    play      whether it serves a play: the run decides how to sample, and a repeated request is the same turn, with the
              same ids and times
    choices   largest `n`
    logprobs  whether log-probabilities of the sampled tokens are available
    schemas   whether an answer can be constrained to a JSON schema
    calls     how the policy writes function calls
    """

    model: str = ""
    play: bool = False
    choices: int = 1
    logprobs: bool = False
    schemas: bool = False
    calls: ModelCalls = field(default_factory=lambda: MODEL_FORMS["hermes"])


_Name = Annotated[str, Field(min_length=1)]
_Length = Annotated[int, Field(ge=1, le=1 << 31)]


class _StreamOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    include_usage: bool | None = None
    include_obfuscation: Literal[False] | None = None


class ChatOptions(BaseModel):
    """A request's fields, except prompt and tools."""

    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)
    model: str | None = None
    stream: bool = False
    stream_options: _StreamOptions | None = None
    n: Annotated[int, Field(ge=1)] = 1
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    stop: _Name | list[_Name] | None = None
    seed: Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] | None = None
    max_tokens: _Length | None = None
    max_completion_tokens: _Length | None = None
    logprobs: bool | int | None = None
    parallel_tool_calls: bool | None = None

    @property
    def sampling(self) -> dict[str, Any]:
        """The given sampling fields, named as in `SamplingParams`, and `seed`; the shorter of two length limits."""
        lengths = [one for one in (self.max_tokens, self.max_completion_tokens) if one is not None]
        stop = None if self.stop is None else (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        asked = {
            "temperature": self.temperature, "top_p": self.top_p, "seed": self.seed, "stop": stop,
            "max_tokens": min(lengths, default=None),
        }  # fmt: skip
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def usage(self) -> bool:
        """Whether a stream ends with token counts."""
        return bool(self.stream_options and self.stream_options.include_usage)


def read_options(data: Mapping[str, Any], api: Api, terms: ChatTerms) -> ChatOptions:
    """The options in a request's body. Raises RefusedChat, naming the field."""
    given = {name: value for name, value in data.items() if value is not None}
    for name in given:
        if name not in _KNOWN[api] and name not in HINTS:
            raise RefusedChat(
                f"{name:.80} is not known here: leave it out", code="unknown_parameter", param=name
            )
    if terms.play:
        given = {name: value for name, value in given.items() if name not in SAMPLING}
    for name, values in _ONLY.items():
        if name in given and given[name] not in values and not (name == "prompt" and api == "text"):
            only = f"; only {' or '.join(map(json.dumps, values))} is" if values else ""
            raise _unhonoured(name, f"{name} is not supported here{only}: leave it out")
    try:
        options = ChatOptions.model_validate(given)
    except ValidationError as error:
        # The deepest location belongs to the nearest member of a union.
        first = max(error.errors(include_url=False), key=lambda one: len(one["loc"]))
        name = str(first["loc"][0])
        raise RefusedChat(f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}", param=name) from None
    _within(options, api, terms)
    return options


def _within(options: ChatOptions, api: Api, terms: ChatTerms) -> None:
    """Raises RefusedChat for options that these terms do not offer."""
    if terms.model and options.model not in (None, terms.model):
        fault = f"The model {options.model!r:.80} does not exist: there is {terms.model}"
        raise RefusedChat(fault, 404, "model_not_found", param="model")
    if options.n > terms.choices:
        most = "1: send a different request for another answer" if terms.play else f"at most {terms.choices}"
        raise _unhonoured("n", f"n must be {most}")
    if options.stream_options and not options.stream:
        raise _unhonoured("stream_options", "stream_options is for streams: set stream to true")
    kind = int if api == "text" else bool
    if options.logprobs is None:
        return
    if type(options.logprobs) is not kind:
        raise _unhonoured("logprobs", f"logprobs is {'a number' if api == 'text' else 'true or false'} here")
    if api == "text" and options.logprobs:
        raise _unhonoured("logprobs", "logprobs must be 0: only those of the sampled tokens are kept")
    if not terms.logprobs and (api == "text" or options.logprobs):
        raise _unhonoured("logprobs", "logprobs are not available here: leave it out")


def _unhonoured(name: str, message: str) -> RefusedChat:
    return RefusedChat(message, code="unsupported_parameter", param=name)
