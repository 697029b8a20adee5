"""`strop serve-edits`: suggestions for editors over LSP and HTTP."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from strop.cli.options import EngineOptions, Overrides, grouped, say
from strop_verify.core.errors import UserError
from strop_verify.core.listening import listen, read_key, url_of

if TYPE_CHECKING:
    from strop.config.schema import Recipe
    from strop.config.tasks import TasksConfig
    from strop.config.training import SamplingConfig
    from strop.serve.edit_model import EditModel
    from strop_verify.core.protocols import Policy

PORT = 8012
"""The port that llama.vim and llama.vscode use."""
TASK = "edit"
"""The task_id in a scripted policy's file; its lines are used in turn."""


@grouped
def serve_edits(
    answering: EngineOptions,
    model: Annotated[
        str,
        Option(
            "--model",
            "-m",
            help="model: a run, folder, preset, Hub id, openai:NAME@URL or scripted:FILE",
        ),
    ],
    overrides: Overrides = None,
    port: Annotated[
        int | None,
        Option(min=0, max=65535, help=f"port of HTTP on 127.0.0.1; {PORT} by default, 0 picks a free one"),
    ] = None,
    token_file: Annotated[Path | None, Option(help="file with a token that HTTP clients must send")] = None,
    log: Annotated[
        Path | None, Option(help="folder of the event log; default: edit-events in strop's cache")
    ] = None,
    context: Annotated[int, Option(min=16, help="maximum tokens of a prompt")] = 1024,
    behind: Annotated[
        int | None,
        Option(
            min=0,
            help="maximum tokens of it for the text after the cursor, by default 64, at most a quarter",
        ),
    ] = None,
    max_tokens: Annotated[int, Option(min=1, help="maximum tokens of a suggestion")] = 64,
    min_confidence: Annotated[
        float,
        Option(min=0, max=1, help="suppress suggestions whose tokens have a lower mean probability"),
    ] = 0.0,
    calibrate: Annotated[
        Path | None,
        Option(
            help="choose --min-confidence by next-edit tasks (a .jsonl file) or a folder of logs, print it, and exit"
        ),
    ] = None,
) -> None:
    """Suggest edits over LSP to the editor that starts this command, and over HTTP to others on this machine. A log
    records the outcome of each suggestion; `strop online` learns from it.
    """
    from strop_verify.core.optional_packages import require

    for package in ("pygls", "uvicorn", "starlette"):
        require(package, package=package, extra="edits", purpose="strop serve-edits")
    from strop.cli.models import recipe_for, trained_in
    from strop.serve import edit_server
    from strop.serve.edit_events import EditEventLog
    from strop.serve.edit_http import EditHttp
    from strop_verify.core.cache import cache_dir

    trained = trained_in(model, "next-edit")  # such a model also gets the newest edits
    recipe = recipe_for(model, answering, _sampling(max_tokens, trained and trained[0].sampling), overrides)
    if calibrate:
        _calibrate(recipe, calibrate, trained and _windows(trained[1]), (context, behind))
        return
    token = read_key("--token-file", token_file)
    lsp = edit_server.started_by_an_editor()
    try:
        listening = listen("127.0.0.1", PORT if port is None else port, "--port, or 0 for a free one")
    except UserError as error:
        if port is not None or not lsp:
            raise
        say(f"note: no HTTP ({error})")  # a second editor: the first has the port
        listening = None
    windows = trained and _windows(trained[1])
    suggesting, digest = _opened(recipe, windows, (context, behind), min_confidence)
    events = EditEventLog(log or cache_dir() / "edit-events", checkpoint=digest)
    ways = [
        *(["LSP on stdin and stdout"] if lsp else []),
        *([url_of("127.0.0.1", listening)] if listening else []),
    ]
    say(f"suggesting with {model} ({digest}) over {' and '.join(ways)}; log: {events.path}")
    http = EditHttp(suggesting, events, name=model, token=token)
    edit_server.serve(suggesting, events, http, listening=listening, lsp=lsp)


def _sampling(max_tokens: int, trained: "SamplingConfig | None") -> list[str]:
    """Sampling settings of suggestions: those of the model's training, if known."""
    options = [f"sampling.max_tokens={max_tokens}"]
    if trained:
        options += [f"sampling.temperature={trained.temperature}", f"sampling.top_p={trained.top_p}"]
        options.append(f"sampling.stop={json.dumps(list(trained.stop or ()))}")
    return options


def _windows(tasks: "TasksConfig") -> dict[str, int]:
    """The maximum lines of a window and earlier edits in a model's training; {} if its tasks are gone."""
    from strop.tasks.sources import load_tasks
    from strop_verify.core.checks import NextEditCheck

    try:
        checks = [task.check.only(NextEditCheck) for task in load_tasks(tasks.source)]
    except UserError as error:
        say(
            f"note: using windows of the default size, since the model's training tasks cannot be read: {error}"
        )
        return {}
    most = max(len(check.window) for check in checks), max(len(check.history) for check in checks)
    return {"lines": most[0], "history": max(1, most[1])}


def _calibrate(
    recipe: "Recipe", source: Path, windows: dict[str, int] | None, room: tuple[int, int | None]
) -> None:
    """Prints the calibration computed from a source."""
    from strop.serve.edit_confidence import judged_from, learn

    model, digest = _opened(recipe, windows, room, 0.0)
    try:
        judged = judged_from(source, model, digest)
        found = learn(judged)
    finally:
        model.close()
    said = sum(one.accepted is not None for one in judged)
    taken = sum(one.accepted is True for one in judged)
    print(f"all: {said} suggestions in {len(judged)} states, {taken} accepted, utility {found.all:+.3f}")
    print(
        f"--min-confidence {found.least:.2f}: {found.shown} suggestions, {found.accepted} accepted, utility "
        f"{found.utility:+.3f}; learnt from one half, on the other: {found.other:+.3f}"
    )


def _opened(
    recipe: "Recipe", windows: dict[str, int] | None, room: tuple[int, int | None], least: float
) -> tuple["EditModel", str]:
    """The model and its digest; it is prompted with windows of these sizes or, for None, the text at the cursor.

    room  `--context` and `--behind`
    """
    from strop.serve.edit_model import EditModel
    from strop.serve.edit_prompt import FimPrompt, SuggestionPrompt, WindowPrompt

    policy, digest = _policy(recipe)
    params = recipe.sampling.params(recipe.sampling.stop)
    most = (getattr(policy, "context", None) or sys.maxsize) - params.max_tokens
    prompt: SuggestionPrompt = (
        FimPrompt(policy.tokenizer, max(1, min(room[0], most)), room[1])
        if windows is None
        else WindowPrompt(policy.tokenizer, **windows)
    )
    if prompt.note:
        say(f"note: {prompt.note}")
    return EditModel(policy, params, prompt, least), digest


def _policy(recipe: "Recipe") -> tuple["Policy", str]:
    """The policy, and a digest of everything that determines its answers."""
    from strop.policies.model_files import weights_digest
    from strop.policies.open import open_policy
    from strop_verify.core.ids import content_hash

    policy, engine = open_policy(recipe, prompts=lambda tokenizer: {TASK: []}), recipe.policy
    if engine.script:
        return policy, content_hash(Path(engine.script).read_text(encoding="utf-8"))
    if engine.server:
        return policy, content_hash([engine.server[0], engine.server[2]])
    return policy, weights_digest(recipe.model.name, recipe.model.revision)
