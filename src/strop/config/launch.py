"""Recipe section `launch`: the processes of a run, and how they hold the model; and what a cluster asks for."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from strop_verify.core.errors import ConfigError, UserError
from strop_verify.core.section import Complaint, Section

Engine = Literal["ddp", "fsdp2", "zero2", "zero3"]
SHARDED: tuple[Engine, ...] = ("fsdp2", "zero3")
"""Engines under which no process holds the whole model; such a model is never sampled in place."""
Size = Literal["small", "medium", "large"]


class LaunchConfig(Section):
    """The processes of a run, and how they hold the model. `strop train` in one process takes `ddp` alone."""

    engine: Engine = "ddp"
    """How the training processes hold the model. ddp: each the whole; zero2 (DeepSpeed): shared gradients and
    optimiser; zero3 (DeepSpeed) and fsdp2 (torch): shared weights too."""
    nodes: int = Field(default=1, ge=1)
    """Nodes that train."""
    processes: int = Field(default=1, ge=1)
    """Training processes on each of them, one a GPU."""
    servers: int = Field(default=0, ge=0)
    """vLLM servers beside them, for policy.engine vllm-server."""
    server_gpus: int = Field(default=1, ge=1)
    """GPUs of each server, over which the model is spread (tensor parallel)."""
    verifiers: int = Field(default=0, ge=0)
    """Nodes of CPUs that verify, as a Ray cluster of the job's own."""
    device: Literal["gpu", "cpu"] = "gpu"
    """cpu: no GPU is asked for."""
    cpus: int = Field(default=16, ge=1)
    """CPU cores of each process and of each server; those of each verifying node are `verifier_cpus`."""
    verifier_cpus: int = Field(default=32, ge=1)
    """CPU cores of each verifying node."""
    memory_mb: int = Field(default=4000, ge=1)
    """Memory for each of these cores."""
    minutes: int = Field(default=240, ge=1)
    """Time limit of one job on a cluster; the run goes on in the next one."""
    stop_seconds: int = Field(default=300, ge=15)
    """Seconds before the limit at which the run is told to save a checkpoint after its step; a step that is not done
    by then is given up, and done again by the next job."""
    stall_minutes: float = Field(default=5.0, gt=0)
    """Minutes after which a process of the run whose work does not move on is named, and the run ended; a job in a
    cluster tries again. Where the recipe gives one thing longer, such as policy.timeout_seconds, it has that long."""

    def complaints(self) -> Iterator[Complaint]:
        """There is time to train before the run is told to stop."""
        if self.stop_seconds >= 60 * self.minutes:
            yield "stop_seconds", f"{self.stop_seconds} leave nothing of launch.minutes={self.minutes}"


class SiteConfig(Section):
    """A SITE.yaml for `strop launch --slurm`: what one cluster asks for, whatever the recipe is."""

    size: Size | None = None
    """Published size; null: as the recipe's section `launch` has it."""
    partition: str | None = None
    """SLURM's --partition."""
    account: str | None = None
    """SLURM's --account."""
    constraint: str | None = None
    """SLURM's --constraint, such as a kind of node."""
    gpu_type: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]+$")
    """Kind of GPU, as in --gres=gpu:KIND:4; null: any."""
    gpus_per_node: int = Field(default=8, ge=1)
    """GPUs that a node has."""
    modules: list[str] = Field(default=[])
    """Modules to load first."""
    container: str | None = None
    """Apptainer image in which every part runs; null: this installation."""
    binds: list[str] = Field(default=[])
    """Folders that the container sees besides the run's, as PLACE or PLACE:INSIDE[:ro]."""
    sbatch: list[str] = Field(default=[])
    """More options of sbatch, such as --qos=long, one a line."""

    def complaints(self) -> Iterator[Complaint]:
        """What stands in a line of #SBATCH has no second one."""
        for name, values in self:
            for value in values if isinstance(values, list) else [values]:
                if isinstance(value, str) and any(ord(c) < 32 for c in value):
                    yield name, f"{value!r} has a control character; remove it"
        for option in self.sbatch:
            if not option.startswith("-"):
                yield "sbatch", f"{option!r} is no option of sbatch; write --NAME=VALUE"


def read_site(path: Path) -> SiteConfig:
    """What a SITE.yaml says. Raises UserError, or ConfigError with a line for each mistake."""
    from strop.config.yaml12 import YamlFault, read_yaml  # not loaded by --help

    try:
        data = read_yaml(path.read_text(encoding="utf-8"), lambda *_: None)
    except FileNotFoundError:
        raise UserError(f"--slurm {path}: no such file; sizes are small, medium and large") from None
    except YamlFault as fault:
        raise UserError(f"{path}:{fault.line}: {fault.what}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    try:
        return SiteConfig.model_validate({} if data is None else data, strict=True)
    except ValidationError as error:
        raise ConfigError(list(_faults(path, error))) from None


def _faults(path: Path, error: ValidationError) -> Iterator[str]:
    keys = list(SiteConfig.model_fields)
    for fault in error.errors(include_url=False):
        place = ".".join(map(str, fault["loc"]))
        if fault["type"] == "complaints":
            yield from (f"{path} {name}: {what}" for name, what in fault["ctx"]["complaints"])
        elif fault["type"] == "extra_forbidden":
            close = get_close_matches(place, keys, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(keys)}"
            yield f"{path} {place}: unknown key; {hint}"
        else:
            yield f"{path} {place}: {fault['msg'].replace('Input should', 'must')}, got {fault['input']!r}"
