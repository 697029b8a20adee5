"""Recipe section `launch`: the processes of a run, and how they hold the model."""

from typing import Literal

from pydantic import Field

from strop.config.section import Section

Engine = Literal["ddp", "fsdp2", "zero2", "zero3"]
SHARDED: tuple[Engine, ...] = ("fsdp2", "zero3")
"""Engines under which no process holds the whole model; such a model is never sampled in place."""


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
