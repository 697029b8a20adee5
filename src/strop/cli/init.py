"""`strop init`: creates a starter folder for your own model, tasks and rewards."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def init(
    folder: Annotated[Path, Argument(metavar="DIR", help="folder to create; may exist, but must be empty")],
    model: Annotated[
        str, Option(help="model to train: a Hub id or a folder")
    ] = "Qwen/Qwen2.5-Coder-1.5B-Instruct",
) -> None:
    """Start your own experiment: a recipe, five sample tasks, a reward, an environment, a README."""
    import json
    import re

    from strop.config.recipes import RECIPES
    from strop_verify.core.errors import UserError

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists and is not an empty folder; name another")
    local = Path(model).expanduser()
    values = {
        "NAME": re.sub(r"[^A-Za-z0-9._+-]+|^[._+-]+", "-", folder.resolve().name).strip("-")[:100] or "run",
        "MODEL": json.dumps(str(local.resolve()) if local.is_dir() else model)[1:-1],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in sorted((RECIPES / "start").iterdir()):
            if file.is_file():
                text = file.read_text(encoding="utf-8")
                text = re.sub(r"\b(NAME|MODEL)\b", lambda match: values[match[0]], text)
                (folder / file.name).write_text(text, encoding="utf-8")
                print(folder / file.name)
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from None
    print(
        f"\nNext: strop train {folder / 'recipe.yaml'} --dry-run; {folder / 'README.md'} explains the files"
    )
