"""Options that commands share: single ones as type aliases, groups as frozen dataclasses.

A command under `@grouped` takes a group as one parameter; on the command line the fields are separate options.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from typer import Argument, Option

from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop.config.schema import Recipe
    from strop_verify.sandbox.limits import Limits


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each dataclass parameter expanded into its fields."""
    groups: dict[str, Any] = {}
    spread: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if is_dataclass(kind) and isinstance(kind, type):
            groups[name] = kind
            inner = get_type_hints(kind, include_extras=True)
            spread += [_keyword(f.name, f.default, inner[f.name]) for f in fields(kind)]
        else:
            spread.append(_keyword(name, parameter.default, hints[name]))

    def called(**given: Any) -> None:
        built = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **built)

    called.__doc__, called.__name__ = command.__doc__, command.__name__
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    called.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    return called


def _keyword(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    empty = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=empty, annotation=annotation)


class RecipeDefault(str):
    """A recipe key, such as "evaluation.samples", whose default is shown in a help text; looked up when printed."""

    def __str__(self) -> str:
        from functools import reduce

        from strop.config.schema import Recipe

        value: object = reduce(getattr, self.split("."), Recipe())
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def of_recipe(key: str, *names: str, help: str, **more: Any) -> Any:
    """An option that sets a recipe key; its default is the recipe's."""
    return Option(*names, help=help, show_default=RecipeDefault(key), **more)


_RECIPES = Argument(
    metavar="[NAME|RECIPE.yaml...] [KEY=VALUE...]", help="recipes, merged left to right, then overrides"
)
Recipes = Annotated[list[str], _RECIPES]
AnyRecipes = Annotated[list[str] | None, _RECIPES]
Overrides = Annotated[
    list[str] | None,
    Argument(metavar="[KEY=VALUE...]", help="recipe overrides, such as sampling.temperature=0.7"),
]
Host = Annotated[str, Option(help="address to listen on")]
Port = Annotated[int, Option(min=0, max=65535, help="port to listen on; 0 picks a free one")]
Source = Annotated[
    str,
    Argument(
        help="python-functions, rust-functions, humaneval, a file or folder, hub:ID[@SPLIT], or FORMAT:PLACE"
    ),
]
Column = Annotated[
    list[str] | None,
    Option("--column", "-c", help="PART=COLUMN for the columns of another data set, e.g. tests=test_list"),
]
Side = Annotated[Literal["train", "held-out"] | None, Option("--split", help="only this side of the split")]
AllowUnsafe = Annotated[bool, Option("--allow-unsafe", help="run without a jail if none is available")]
Workers = Annotated[int | None, Option(min=1, help="answers at a time; one per core by default")]
VerifyWorkers = Annotated[
    int | None, Option(min=1, help="answers verified at a time; one per core by default")
]
CpuSeconds = Annotated[float | None, Option(min=0.01, help="CPU seconds for one answer")]
MemoryMb = Annotated[int | None, Option(min=16, help="memory for one answer, in MiB")]
Jail = Annotated[str, Option(help="jail configuration; `strop doctor` lists them")]
RustVendor = Annotated[
    Path | None,
    Option(help="folder of vendored crates for Rust answers, as `sandbox.rust_vendor` in a recipe"),
]
DryRun = Annotated[bool, Option("--dry-run", help="check everything that a run needs, then stop")]
Plain = Annotated[bool, Option("--plain", help="one line per step, no live view")]


@dataclass(frozen=True)
class EngineOptions:
    """Options for the engine of models that name none."""

    engine: Annotated[
        str,
        Option(
            help="engine for models that name none: transformers, vllm, openai (MODEL is the name on the server), "
            "scripted (MODEL is a file of answers), or a package's"
        ),
    ] = "transformers"
    base_url: Annotated[str | None, Option(help="server address for openai models that name none")] = None


@dataclass(frozen=True)
class RecipeOptions:
    """Options for tasks and prompts. Those that are not given keep the recipe's values."""

    tasks: Annotated[
        str | None, of_recipe("tasks.source", help="task set, written like tasks.source in a recipe")
    ] = None
    style: Annotated[
        str | None, of_recipe("tasks.style", help="prompt style, as tasks.style in a recipe")
    ] = None
    max_tokens: Annotated[
        int | None, of_recipe("sampling.max_tokens", min=1, help="longest answer in tokens")
    ] = None
    seed: Annotated[int | None, of_recipe("seed", min=0, help="seed of every random choice")] = None

    def given(self) -> dict[str, object]:
        """{recipe key: value}; None for options that are not given."""
        return {
            "seed": self.seed,
            "tasks.style": self.style,
            "tasks.source": self.tasks,
            "sampling.max_tokens": self.max_tokens,
        }

    def overrides(self) -> list[str]:
        """The given options as overrides of a recipe."""
        return [f"{key}={value}" for key, value in self.given().items() if value is not None]


@dataclass(frozen=True)
class TaskFilters:
    """Filters on the tasks of a source."""

    column: Column = None
    topic: Annotated[list[str] | None, Option("--topic", help="only this topic; may be repeated")] = None
    level: Annotated[list[int] | None, Option("--level", help="only this level; may be repeated")] = None
    limit: Annotated[int | None, Option("--limit", min=1, help="stop after this many tasks")] = None


def limits_of(cpu: float | None, memory_mb: int | None, wall: float | None = None) -> "Limits | None":
    """The limits of one answer, None if none is given; wall time grows with CPU time. Raises UserError."""
    if (cpu, memory_mb, wall) == (None, None, None):
        return None
    usual = usual_limits()
    wall = wall or max(usual.wall_seconds, 4 * (cpu or 0))
    cpu = cpu or usual.cpu_seconds
    if wall < cpu:
        raise UserError(f"--wall-seconds {wall:g} is below --cpu-seconds {cpu:g}; raise it")
    memory = usual.memory_bytes if memory_mb is None else memory_mb * 2**20
    return replace(usual, cpu_seconds=cpu, wall_seconds=wall, memory_bytes=memory)


def usual_limits() -> "Limits":
    """The default limits of one answer: those of a recipe that sets none."""
    from strop_verify.verification import settings

    return settings.usual_limits()


def folder_of_crates(given: Path | None) -> Path | None:
    """The absolute folder of --rust-vendor. Raises UserError if it does not exist."""
    if given is not None and not given.is_dir():
        raise UserError(f"--rust-vendor {given}: no such folder; `cargo vendor` makes one")
    return given and given.resolve()


def columns_of(pairs: list[str] | None) -> dict[str, str] | None:
    """The column mapping of `PART=COLUMN` options, None if there are none. Raises UserError."""
    columns: dict[str, str] = {}
    for pair in pairs or []:
        part, equals, column = pair.partition("=")
        if not (part and equals and column):
            raise UserError(f"bad --column {pair!r}: write PART=COLUMN, such as statement=prompt")
        columns[part] = column
    return columns or None


def recipe_of(words: list[str], more: Sequence[str] = ()) -> "Recipe":
    """The recipe of a command's words: files, then KEY=VALUE overrides, then `more` overrides."""
    from strop.config.load import load_recipe

    files = [word for word in words if "=" not in word]
    return load_recipe(files, [*(word for word in words if "=" in word), *more])


def newest_run() -> Path:
    """The run that changed last, in runs/ or the working directory. Raises UserError if there is none."""
    from strop.reports.terminal.run_list import find_runs

    for folder in (Path("runs"), Path()):
        if folder.is_dir() and (found := find_runs([folder])):
            return found[0]
    raise UserError("no runs in runs/; name a run's folder, or make one with: strop train demo")


def say(text: str) -> None:
    """Prints a line on stderr, with control characters escaped."""
    print(printable(text), file=sys.stderr, flush=True)
