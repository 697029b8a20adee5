"""The command line. `main` is the entry point; each command is a module here or in a package, imported when used.

To keep `strop --help` fast, the top of a command module imports only typer, the standard library and what this module
imports. Exit codes: 0 done; 1 failed; 2 the input is wrong, with one line per mistake; 75 a launched run stalled and
may be retried; 130 interrupted; 143 terminated.
"""

import difflib
import importlib
import io
import os
import signal
import sys
import threading
from typing import Annotated, Any

import typer
import typer.core
import typer.main
from typer import Option

from strop import __version__
from strop_verify.core.errors import ConfigError, StropError, UserError
from strop_verify.core.registry import Registry
from strop_verify.core.text import printable

COMMANDS = (
    "init", "recipes", "train", "launch", "distill", "sft", "train-reward", "online", "eval", "scale", "answer", "play",
    "harness", "verify",
    "serve-verifier", "serve-sampler", "serve-policy", "serve-environment", "search", "serve-search", "serve-edits",
    "attack", "report", "view", "runs", "show", "export", "explain", "trace", "tasks", "repair", "doctor",
)  # fmt: skip
"""Modules of this folder, `_` for `-`. Each has a function of the same name, or a typer `app` with several commands."""

ELSEWHERE = {
    "attack": "strop.attack.command",
    "repair": "strop.repair.command",
    "serve-environment": "strop.neighbours.serve_environment",
}
"""Command modules of other packages in strop."""
ADDED: Registry[Any] = Registry(
    "commands", {}, reserved=COMMANDS, fits=lambda found: callable(found) or isinstance(found, typer.Typer)
)
"""Commands that packages add: a function, or a typer app with several commands."""


USAGE: Any = typer.BadParameter.__base__
"""Base class of usage errors; typer has no public name for it."""


class Commands(typer.core.TyperGroup):
    """Loads a command's module on demand, and turns errors into messages and exit codes."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all installed commands, including those of other packages."""
        return [*COMMANDS, *ADDED]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        return _load(cmd_name) if cmd_name in self.list_commands(ctx) else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names; for an unknown one the error suggests the nearest names."""
        try:
            return super().resolve_command(ctx, args)
        except USAGE as error:
            if near := difflib.get_close_matches(args[0], self.list_commands(ctx)):
                error.message = f"{error.message.rstrip('.')}. Did you mean {' or '.join(near)}?"
            raise

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that the arguments name."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except USAGE as error:
            if hasattr(error, "option_name"):  # an unknown option
                error.message += _as_a_key(error)
            raise
        except StropError as error:
            raise SystemExit(tell(error)) from None
        except KeyboardInterrupt as stop:
            how_to_resume = f"; {printable(str(stop))}" if str(stop) else ""
            print(f"interrupted{how_to_resume}", file=sys.stderr)
            raise SystemExit(130) from None
        except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise SystemExit(141) from None
        return result


app = typer.Typer(
    cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip


def _as_a_key(error: Any) -> str:
    """The hint for a recipe key that was given as an option."""
    params = error.ctx.command.params if error.ctx else []
    if not any("KEY=VALUE" in (one.metavar or "") for one in params):
        return ""
    from strop.config.explain import keys
    from strop.config.messages import ALIASES

    name = error.option_name.lstrip("-").replace("-", "_")
    known = [one.name for one in keys()]
    key = name if name in known else ALIASES.get(name)
    likely = sorted(
        known, key=lambda one: not one.startswith("optim.")
    )  # a key of optim is the most likely one
    key = key or next((one for one in likely if one.rpartition(".")[2] == name), None)
    return f". Keys of a recipe are written without dashes: {key}=VALUE" if key else ""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"strop {__version__}")
        raise typer.Exit


@app.callback(no_args_is_help=True)
def strop(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Train code language models on compilers and tests."""


def main() -> None:
    """Runs the command line and exits. Characters that stdout cannot encode are written as escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _terminated)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup ignores it
        signal.signal(signal.SIGHUP, _terminated)
    sys.unraisablehook = _sent_again
    app(prog_name="strop")


def _terminated(number: int, frame: object) -> None:
    """Ends the process like an error, so no unfinished file is left."""
    raise SystemExit(128 + number)


def _sent_again(lost: Any) -> None:
    """Resends a signal whose exception Python dropped, because it came in a `__del__` or in an import's clean-up."""
    number = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}.get(lost.exc_type)
    if number is None:
        sys.__unraisablehook__(lost)
    else:
        threading.Timer(
            0.05, os.kill, (os.getpid(), number)
        ).start()  # not here, where it would be dropped again


def tell(error: StropError) -> int:
    """Prints an error on stderr, one line per mistake, and returns the exit code."""
    faults = error.faults if isinstance(error, ConfigError) else [" ".join(str(error).split("\n"))]
    rank = os.environ.get("RANK", "0")  # several processes may write to one terminal
    place = "" if rank == "0" else f"rank {rank}: "
    for fault in faults if not getattr(error, "said", False) else ():
        print(f"{place}error: {printable(fault)}", file=sys.stderr)
    return 2 if isinstance(error, UserError) else 1


def _failing(error: UserError) -> Any:
    def command() -> None:
        raise error

    command.__doc__ = str(error)
    return command


def _load(name: str) -> Any:
    if name in COMMANDS:
        module = importlib.import_module(ELSEWHERE.get(name) or f"strop.cli.{name.replace('-', '_')}")
        named = "evaluate" if name == "eval" else name.replace("-", "_")
        inner = getattr(module, "app", None) or getattr(module, named)
    else:
        try:
            inner = ADDED[name]
        except UserError as error:  # reported on use, so that the other commands still work
            inner = _failing(error)
    if isinstance(inner, typer.Typer):
        inner.rich_markup_mode = None
        command: Any = typer.main.get_group(inner)
        command.name = name
        return command
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name)(inner)
    return typer.main.get_command(single)
