"""Recipe section `launch`: the processes of a run and how they hold the model; and the settings of a cluster."""

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
    """The processes of a run, and how they hold the model. `strop train` in one process supports only `ddp`."""

    engine: Engine = "ddp"
    """How the training processes hold the model. ddp: whole in each; zero2 (DeepSpeed): sharded gradients and
    optimiser; zero3 (DeepSpeed) and fsdp2 (torch): also sharded weights."""
    nodes: int = Field(default=1, ge=1)
    """Number of nodes that train."""
    processes: int = Field(default=1, ge=1)
    """Training processes per node, one per GPU."""
    servers: int = Field(default=0, ge=0)
    """vLLM servers in addition to them, for policy.engine vllm-server."""
    server_gpus: int = Field(default=1, ge=1)
    """GPUs of each server, over which the model is spread (tensor parallel)."""
    verifiers: int = Field(default=0, ge=0)
    """CPU nodes that verify answers, as a Ray cluster of the job."""
    environments: Literal["local", "ray"] = "local"
    """Where plays' environments, tools and agents run: in the training process and its jails, or also on every node of
    the Ray cluster that `verifier` names (docs/launch.md)."""
    device: Literal["gpu", "cpu"] = "gpu"
    """Hardware to request; cpu requests no GPU."""
    cpus: int = Field(default=16, ge=1)
    """CPU cores of each process and of each server; verifying nodes have `verifier_cpus`."""
    verifier_cpus: int = Field(default=32, ge=1)
    """CPU cores of each verifying node."""
    memory_mb: int = Field(default=4000, ge=1)
    """Memory per CPU core."""
    minutes: int = Field(default=240, ge=1)
    """Time limit of one job on a cluster; the run continues in the next one."""
    stop_seconds: int = Field(default=300, ge=15)
    """Seconds before the limit at which the run is told to save a checkpoint after its step; an unfinished step is
    abandoned, and repeated by the next job."""
    stall_minutes: float = Field(default=5.0, gt=0)
    """Minutes without progress after which the run names the stuck process and ends; a cluster job tries again.
    Longer deadlines of the recipe, such as policy.timeout_seconds, still apply."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that time is left to train."""
        if self.stop_seconds >= 60 * self.minutes:
            yield "stop_seconds", f"{self.stop_seconds} leave nothing of launch.minutes={self.minutes}"


class SiteConfig(Section):
    """A SITE.yaml for `strop launch`: settings of one cluster or rented machine for any recipe."""

    size: Size | None = None
    """Predefined size; null: the recipe's section `launch`."""
    partition: str | None = None
    """SLURM's --partition."""
    account: str | None = None
    """SLURM's --account."""
    constraint: str | None = None
    """SLURM's --constraint, such as a kind of node."""
    gpu_type: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]+$")
    """Type of GPU, as in --gres=gpu:TYPE:4, as SkyPilot's accelerator or as a flavor of HF Jobs; null: any."""
    gpus_per_node: int = Field(default=8, ge=1)
    """GPUs per node."""
    modules: list[str] = Field(default=[])
    """Environment modules to load first."""
    container: str | None = None
    """Apptainer image that every part runs in; null: this installation. On a rented machine, the Docker image."""
    binds: list[str] = Field(default=[])
    """Folders that the container sees besides the run's, as PLACE or PLACE:INSIDE[:ro]. On a rented machine, also
    buckets, such as s3://BUCKET:/runs."""
    sbatch: list[str] = Field(default=[])
    """More sbatch options, such as --qos=long, one per line."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks for control characters, which could add lines to the script."""
        for name, values in self:
            for value in values if isinstance(values, list) else [values]:
                if isinstance(value, str) and any(ord(c) < 32 for c in value):
                    yield name, f"{value!r} has a control character; remove it"
        for option in self.sbatch:
            if not option.startswith("-"):
                yield "sbatch", f"{option!r} is not an sbatch option; write --NAME=VALUE"


def read_site(path: Path) -> SiteConfig:
    """Reads a SITE.yaml. Raises UserError, or ConfigError with a line for each mistake."""
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
