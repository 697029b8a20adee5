"""What ended a run, in one line with its remedy; the full trace goes to RUN/error.txt."""

import errno
import re
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from strop.config.schema import Recipe
from strop.reports.run_folder import ERROR
from strop.training.ranks import Ranks
from strop_verify.core.errors import StropError, UserError
from strop_verify.core.user_code import at_line

_FULL = ("No space left", "os error 28", "inline_container", "Disk quota", "File too large", "os error 27")
"""How the system, safetensors and torch.save report a full disk."""
_KEPT = "strop_trace"
"""Attribute of an error that holds the path of its trace."""
_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "OutOfMemoryError")


class RunFailure(StropError):
    """A run failed for a reason that probably does not lie in its recipe."""


class RunStopped(StropError):
    """Not a failure: the run ended after a step, with a checkpoint, because its `stop` file asked for it."""


def explained(error: Exception, recipe: Recipe, run: Path | None = None) -> StropError:
    """The error as one line: what happened, what to do, how to resume `run`, where its trace is."""
    if isinstance(error, StropError):
        return error
    trace = getattr(error, _KEPT, None)
    more = f"; resume with: strop train --resume {run}" if run else ""
    kept = f" (the trace is in {trace})" if trace else ""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, ImportError):
        return UserError(f"{_missing(error)}{more}{kept}")
    if isinstance(error, MemoryError) or any(sign in what for sign in _MEMORY):
        where = "CUDA" if "CUDA" in what else "HIP" if "HIP" in what else "the machine"
        tried = re.search(r"[Tt]ried to allocate ([\d.]+ \w+)", what)
        asked = f" (asked for {tried[1]})" if tried else ""
        return RunFailure(f"{where} is out of memory{asked}: {_lower(recipe)}{more}{kept}")
    if is_full(error):
        return RunFailure(f"no space left: {_cut(what)}; free some room{more}{kept}")
    return RunFailure(f"{_cut(what)}{at_line(error, None)}{more}{kept}")


def is_full(error: BaseException) -> bool:
    """Whether the error reports a full disk."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return True
    return any(sign in str(error) for sign in _FULL)


@contextmanager
def error_kept(recipe: Recipe, run: Path, ranks: Ranks) -> Iterator[None]:
    """Writes the cause and trace of an error that ends a run to its error.txt; a finished run has no such file."""
    who = f"process {ranks.rank} of {ranks.world}"
    try:
        yield
    except RunStopped:
        raise
    except BaseException as error:
        stops = {KeyboardInterrupt: "interrupted", SystemExit: "terminated", GeneratorExit: "terminated"}
        cause = str(explained(error, recipe)) if isinstance(error, Exception) else stops.get(type(error), "")
        kept_trace(run, error, cause, who)
        raise
    if ranks.main:
        (run / ERROR).unlink(missing_ok=True)


def kept_trace(folder: Path, error: BaseException, cause: str, who: str) -> None:
    """Appends time, process, cause and trace to a run folder's error.txt."""
    trace = "".join(traceback.format_exception(error))
    setattr(error, _KEPT, folder / ERROR)
    with suppress(OSError), open(folder / ERROR, "a", encoding="utf-8", errors="replace") as file:
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}, {who}: {' '.join(cause.split())}\n{trace}\n")


def keep_loose(error: BaseException) -> None:
    """Writes the trace of an error that occurred before the run folder existed to a temporary file."""
    if hasattr(error, _KEPT):
        return
    with (
        suppress(OSError),
        tempfile.NamedTemporaryFile(
            "w", prefix="strop-error-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file,
    ):
        file.write("".join(traceback.format_exception(error)))
        setattr(error, _KEPT, Path(file.name))


def _lower(recipe: Recipe) -> str:
    """Settings that reduce memory use, with their current values."""
    ways = [f"optim.micro_batch_tokens (now {recipe.optim.micro_batch_tokens})"]
    if (most := getattr(recipe.policy, "concurrency", None)) is not None:
        ways.append(f"policy.concurrency (now {most})")
    if (share := getattr(recipe.policy, "gpu_memory_utilization", None)) is not None:
        ways.append(f"policy.gpu_memory_utilization (now {share:g})")
    ways.append(f"sampling.max_tokens (now {recipe.sampling.max_tokens})")
    also = [] if recipe.model.gradient_checkpointing else ["set model.gradient_checkpointing=true"]
    also += [] if recipe.model.lora.rank else ["train adapters with model.lora.rank=16"]
    also += [] if recipe.optim.shared_prefix else ["set optim.shared_prefix=true"]
    return "; or ".join([f"lower {', '.join(ways)}", *also])


def _missing(error: ImportError) -> str:
    """The missing package and the command that installs it."""
    name = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not name:
        return f"a package does not load: {_cut(' '.join(str(error).split()))}{at_line(error, None)}"
    plain = name.replace("_", "-").lower()
    for part in ("strop", "strop-verify", "strop-tasks"):  # the first has the extras of the others
        with suppress(PackageNotFoundError):
            for needed in requires(part) or ():
                found = re.match(r"([A-Za-z0-9._-]+).*extra == ['\"]([\w-]+)['\"]", needed)
                if found and found[1].replace("_", "-").lower() == plain and found[2] != "dev":
                    return f"the package {name} is not installed: pip install 'strop[{found[2]}]'"
    return f"the package {name} is not installed: pip install {name}{at_line(error, None)}"


def _cut(text: str, limit: int = 400) -> str:
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
