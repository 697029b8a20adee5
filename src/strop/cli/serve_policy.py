"""`strop serve-policy`: serves any policy over OpenAI's API."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.options import EngineOptions, Host, Overrides, Port, grouped, of_recipe, say
from strop_verify.core.errors import UserError
from strop_verify.core.listening import end_on_sigterm, is_loopback, listen, read_key

if TYPE_CHECKING:
    from socket import socket as Socket

    from strop.config.schema import Recipe
    from strop_verify.core.protocols import Policy


@grouped
def serve_policy(
    answering: EngineOptions,
    model: Annotated[
        str,
        Argument(
            help="a preset, folder, run or MODEL of any engine, written as for strop eval, or scripted:FILE",
        ),
    ],
    overrides: Overrides = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    key_file: Annotated[
        Path | None, Option(help="file with the key that clients must send; needed beyond this machine")
    ] = None,
    temperature: Annotated[
        float | None,
        of_recipe(
            "sampling.temperature", "--temperature", "-t", min=0.001, help="for requests that name none"
        ),
    ] = None,
    max_tokens: Annotated[
        int | None, of_recipe("sampling.max_tokens", min=1, help="longest answer to any request, in tokens")
    ] = None,
    calls: Annotated[
        str | None,
        Option(
            help="form of function calls: hermes, qwen-coder, llama or mistral; by default that of the chat template"
        ),
    ] = None,
) -> None:
    """Serve a model to clients of OpenAI's API: chat and text completions, responses, streams, function calls."""
    from strop.cli.models import recipe_for

    given = {"sampling.temperature": temperature, "sampling.max_tokens": max_tokens}
    options = [f"{key}={value}" for key, value in given.items() if value is not None]
    recipe = recipe_for(model, answering, options, overrides)
    key = read_key("--key-file", key_file)
    from strop_verify.core.optional_packages import require

    for package in ("starlette", "uvicorn"):
        require(package, package=package, extra="serve", purpose="strop serve-policy")
    if not key and not is_loopback(host):
        raise UserError(
            f"{host} can be reached from other machines: give --key-file, a file with a key for clients"
        )
    from strop.policies.open import open_policy
    from strop_verify.core.files import read_jsonl

    with listen(host, port) as socket:
        # A script gives its answers in turn, whatever is asked.
        script = Path(recipe.policy.script)
        policy = open_policy(recipe, prompts=lambda _: {line["task_id"]: () for line in read_jsonl(script)})
        try:
            _serve(policy, recipe, socket, key, calls)
        finally:
            getattr(policy, "close", lambda: None)()


def _serve(policy: "Policy", recipe: "Recipe", socket: "Socket", key: str, calls: str | None) -> None:
    from strop.policies.chat_options import ChatTerms
    from strop.policies.chat_server import ChatServer
    from strop.policies.model_calls import MODEL_FORMS, form_of
    from strop.serve.policy_service import MOST_CHOICES, PolicyService

    end_on_sigterm()
    if calls and calls not in MODEL_FORMS:
        raise UserError(f"--calls {calls!r:.40}: there are {', '.join(MODEL_FORMS)}")
    template = getattr(getattr(policy.tokenizer, "inner", None), "chat_template", None)
    form = calls or form_of(template if isinstance(template, str) else None)
    terms = ChatTerms(
        policy.name,
        choices=MOST_CHOICES,
        logprobs=getattr(policy, "keeps_logprobs", True),
        schemas=getattr(policy, "follows_grammars", False),
        calls=MODEL_FORMS[form],
    )
    service = PolicyService(policy, recipe.sampling.params(recipe.sampling.stop), recipe.seed)
    server = ChatServer(socket, service.ask, model=policy.name, terms=terms, key=key, connections=1024)
    if proof := getattr(policy, "proof", None):
        say(f"sampling {proof}")
    say(f"listening on {server.url} for {policy.name}")
    try:
        service.run()
    finally:
        server.close()
