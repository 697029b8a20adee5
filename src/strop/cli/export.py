"""`strop export`: a run's model, merged or as an adapter, with tokenizer and model card; its rollouts as a log for
Inspect; or a recipe for another trainer.
"""

import json
import os
import shlex
import shutil
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from strop_verify.core.errors import StropError, UserError

if TYPE_CHECKING:
    from strop.config.schema import Recipe

_ADAPTER = "adapter_config.json"
_LEFT = ("optimizer*", "strop_state.json", "STROP_COMPLETE", "README.md", "*.zst", "*.jsonl")
"""Files that are not part of the model."""
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM accepts as --max-lora-rank."""


def export(
    run: Annotated[
        Path,
        Argument(
            metavar="RUN",
            help="run folder, such as runs/demo; with --verl, --prime-rl or --skyrl also a recipe",
        ),
    ],
    out: Annotated[
        Path | None, Option("--out", "-o", metavar="DIR", help="folder for the model; new or empty")
    ] = None,
    adapter: Annotated[
        bool, Option("--adapter", help="only the LoRA adapter, which needs its base model")
    ] = False,
    checkpoint: Annotated[
        int | None,
        Option(help="the checkpoint after this many updates instead of the final model"),
    ] = None,
    dtype: Annotated[
        Literal["as-trained", "float32", "bfloat16"], Option(help="type of the written weights")
    ] = "as-trained",
    push: Annotated[
        str | None,
        Option(metavar="ORG/NAME", help="also upload it to the Hub, with the token of `hf auth login`"),
    ] = None,
    private: Annotated[bool, Option("--private", help="make the repository on the Hub private")] = False,
    inspect: Annotated[
        Path | None,
        Option(
            "--inspect", metavar="FILE.json", help="write the run's rollouts as a log for Inspect instead"
        ),
    ] = None,
    verl: Annotated[
        Path | None,
        Option(metavar="DIR", help="write tasks, rewards and settings for verl's trainer instead"),
    ] = None,
    prime_rl: Annotated[
        Path | None, Option("--prime-rl", metavar="DIR", help="the same for prime-rl")
    ] = None,
    skyrl: Annotated[Path | None, Option(metavar="DIR", help="the same for SkyRL")] = None,
) -> None:
    """Write a run's model for transformers and vLLM: weights, tokenizer, generation config, model card.

    Adapters are merged into their base unless --adapter is given. The last line says how to serve it.
    """
    trainers = {"verl": verl, "prime_rl": prime_rl, "skyrl": skyrl}
    if any(folder is not None for folder in trainers.values()):
        if out is not None or adapter or checkpoint is not None or push is not None or inspect is not None:
            raise UserError(
                "--verl, --prime-rl and --skyrl write a recipe, the other options a model or a log; use one at a time"
            )
        for name, folder in trainers.items():
            if folder is not None:
                _export_recipe(run, folder, name)
        return
    if inspect is not None:
        if out is not None or adapter or checkpoint is not None or push is not None:
            raise UserError("--inspect writes rollouts, the other options a model; do one after the other")
        count = resolve_name("strop.neighbours.inspect_log:write_log")(run, inspect)
        print(f"{inspect}: {count} rollouts; look at them with: inspect view --log-dir {inspect.parent}")
        return
    if out is None:
        raise UserError(
            "name the model's folder with -o DIR, or a log of its rollouts with --inspect FILE.json"
        )
    from strop.config.load import load_recipe
    from strop.policies.model_files import SHARDS
    from strop.reports.run_state import check_run
    from strop.training.checkpoints import MARKER, damage

    check_run(run)
    recipe = load_recipe([run / "recipe.yaml"])
    source = _source(run, checkpoint)
    if (source / MARKER).is_file() and (fault := damage(source)):
        raise UserError(f"{fault}; export another checkpoint with --checkpoint N")
    lora = (source / _ADAPTER).is_file()
    if adapter and not lora:
        raise UserError(f"{run} trained the whole model, so it has no adapter; leave out --adapter")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} exists and is not an empty folder; choose another -o")
    base = _base(source, recipe) if lora else ""
    if push is not None:
        _check_push(push, base if adapter else "")
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        (whole := part / "whole").mkdir(parents=True)
        read = source
        if (source / SHARDS).is_dir():
            read = whole
            resolve_name("strop.training.shards:write_model")(source, read)
        if adapter:
            _copy_adapter(read, part, base, recipe)
        else:
            _merge(read, part, base, recipe, dtype)
        shutil.rmtree(whole)
        _write_card(run, part, recipe, checkpoint)
        for path in (part, *part.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        part.rename(out)
    except OSError as error:
        raise StropError(f"cannot write {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    size = sum(path.stat().st_size for path in out.rglob("*"))
    kind = "adapter" if adapter else "merged weights" if lora else "weights"
    print(f"{source} -> {out}: {kind}, {size / 1e6:.0f} MB; for details see {out / 'README.md'}")
    if push is not None:
        print(f"pushed to {_push(out, push, private)}")
    print(_serve_line(out, base if adapter else "", recipe))


def _export_recipe(run: Path, folder: Path, name: str) -> None:
    from strop.config.load import load_recipe

    recipe = load_recipe([run / "recipe.yaml" if run.is_dir() else str(run)])
    left = resolve_name(f"strop.neighbours.{name}:write_{name}")(recipe, folder)
    print("\n".join(f"not carried over: {line}" for line in left))
    print(f"{folder}: {folder / 'README.md'} says how to start it")


def _source(run: Path, checkpoint: int | None) -> Path:
    """The folder of the chosen model. Raises UserError if there is none."""
    from strop.reports.run_state import state_of
    from strop.training.checkpoints import MARKER

    whole = sorted(
        int(p.parent.name.rpartition("-")[2]) for p in (run / "checkpoints").glob(f"checkpoint-*/{MARKER}")
    )
    there = f"checkpoints: {', '.join(map(str, whole))}" if whole else "it has no checkpoints"
    if checkpoint is not None:
        if checkpoint not in whole:
            raise UserError(f"{run} has no checkpoint {checkpoint}; {there}")
        return run / "checkpoints" / f"checkpoint-{checkpoint}"
    if not (run / "final").is_dir():
        remedy = f"or export one of its checkpoints with --checkpoint {whole[-1]}" if whole else there
        what = f"{run} has no final model ({state_of(run).text})"
        raise UserError(f"{what}; finish it with: strop train --resume {run}; {remedy}")
    return run / "final"


def _base(source: Path, recipe: "Recipe") -> str:
    """An adapter's base model: a Hub id or an absolute path."""
    from strop.training.model_card import base_of
    from strop_verify.core.files import moved_base

    if base_of(recipe).hub == recipe.model.name and not recipe.sft.warm_start:
        return recipe.model.name  # even if the adapter names the Hub's cache
    named = moved_base(source) or str(json.loads((source / _ADAPTER).read_text())["base_model_name_or_path"])
    if Path(named).is_dir():
        return str(Path(named).resolve())
    if Path(named).is_absolute() or named.startswith("."):
        raise UserError(f"{source}: its base model {named} is missing; put it back, or train again")
    return named


def _merge(source: Path, target: Path, base: str, recipe: "Recipe", dtype: str) -> None:
    from strop.policies.loading import load_model, load_tokenizer, resolve_dtype

    kept = resolve_dtype(recipe.model.dtype)
    revision = recipe.model.revision if base and not Path(base).is_dir() else None
    model: Any = load_model(base or str(source), dtype=kept, revision=revision, device="cpu")
    if base:
        from peft import PeftModel
        from transformers import GenerationConfig

        model = PeftModel.from_pretrained(model, str(source)).merge_and_unload()
        if model.generation_config and (source / "generation_config.json").is_file():
            ends = GenerationConfig.from_pretrained(str(source)).eos_token_id
            model.generation_config.eos_token_id = ends
    if dtype != "as-trained":
        model = model.to(resolve_dtype(dtype))
    model.save_pretrained(target)
    load_tokenizer(str(source)).save_pretrained(target)


def _copy_adapter(source: Path, target: Path, base: str, recipe: "Recipe") -> None:
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_LEFT))
    settings = json.loads((source / _ADAPTER).read_text())
    settings["base_model_name_or_path"] = base
    if not Path(base).is_dir():
        settings["revision"] = recipe.model.revision
    (target / _ADAPTER).write_text(json.dumps(settings, indent=2) + "\n")


def _write_card(run: Path, target: Path, recipe: "Recipe", checkpoint: int | None) -> None:
    from strop.training.model_card import base_of, write_card

    licence = None
    if (base := base_of(recipe)).licence is None and base.hub:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]  # of the client that it uses

        with suppress(OSError, HTTPError):  # offline, or no such model: unknown
            card = HfApi().model_info(base.hub, timeout=5).card_data
            licence = card.get("license") if card else None
    write_card(run, target, licence=licence, update=checkpoint)


def _check_push(name: str, base: str) -> None:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise UserError(f"--push {name}: {' '.join(str(error).split())}") from None
    if Path(base).is_absolute():
        fault = f"the adapter's base is a folder on this machine, {base}, which others cannot load"
        raise UserError(f"--push: {fault}; leave out --adapter to push merged weights")


def _push(folder: Path, name: str, private: bool) -> str:
    """Uploads the folder and returns its address. Raises StropError."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]  # of the client that it uses

    try:
        api = HfApi()
        url = api.create_repo(name, private=private or None, exist_ok=True)
        api.upload_folder(repo_id=name, folder_path=folder, commit_message="Model exported by Strop")
    except (HTTPError, OSError, ValueError) as error:
        cause = " ".join(str(error).split())[:200]
        remedy = f"log in with `hf auth login`, then: hf upload {name} {shlex.quote(str(folder))}"
        raise StropError(
            f"{folder} is written, but the upload to {name} failed ({cause}); {remedy}"
        ) from error
    return str(url)


def _serve_line(folder: Path, base: str, recipe: "Recipe") -> str:
    place = shlex.quote(str(folder))
    if not base:
        return f"vllm serve {place}"
    rank = next((rank for rank in _RANKS if rank >= recipe.model.lora.rank), recipe.model.lora.rank)
    name = shlex.quote(recipe.run.name)
    return (
        f"vllm serve {shlex.quote(base)} --enable-lora --max-lora-rank {rank} --lora-modules {name}={place}"
    )
