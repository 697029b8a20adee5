"""Settings of the jail and of who judges: a recipe's sections `sandbox` and `verifier` are these records."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from strop_verify.core.section import Complaint, Section
from strop_verify.core.verdict import Trust


class SandboxConfig(Section):
    """Limits of one verdict, and what to do where the jail is weak."""

    allow_unsafe: bool = False
    """Run model-written code even where Landlock and seccomp are both missing. Only on a machine that you can lose."""
    jail: Literal["auto", "minimal", "slot-uid", "namespaces", "full", "bubblewrap", "apptainer"] = "auto"
    """Configuration of the jail; auto is the strongest that the host offers (`strop doctor` lists them)."""
    root: str = ""
    """Container image that is the root of jails of plays, and of terminal tasks that bring none: oci:FOLDER or oci:TAR,
    with :TAG for one of several (docs/neighbours.md). Empty: programs are this machine's."""
    require: list[str] = Field(default=[])
    """Layers without which nothing is run: landlock, seccomp, namespaces, cgroup, ... as `strop doctor` names them."""
    workers: int | None = Field(default=None, ge=1)
    """Verdicts worked on at a time; null is one per CPU core."""
    cpu_seconds: float = Field(default=5.0, gt=0)
    """CPU time of one answer, in seconds."""
    wall_seconds: float = Field(default=10.0, gt=0)
    """Wall time of one answer, in seconds."""
    memory_mb: int = Field(default=512, ge=16)
    """Memory of one answer, in MiB."""
    rust_verdict: Literal["strict", "cargo"] = "strict"
    """strict: no forged passes; cargo: what cargo build, clippy and test would say, forgeable as they are."""
    rust_vendor: str | None = None
    """Folder of vendored crates that Rust answers may use."""
    trust: Trust = "same-process"
    """Least trust of a pass: value, typed or same-process (docs/verification.md); one with less is *failed*."""

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "verifier_urls" not in value:
            return value
        if value["verifier_urls"]:
            what = (
                "is now the section verifier: {engine: server, url: http://HOST:PORT} for one machine, "
                "{engine: ray} for several"
            )
            fault = {"text": f"verifier_urls: {what}", "complaints": [("verifier_urls", what)]}
            raise PydanticCustomError("complaints", "{text}", fault)
        return {key: given for key, given in value.items() if key != "verifier_urls"}

    def complaints(self) -> Iterator[Complaint]:
        """CPU time is spent within wall time; a root is an image."""
        if self.root and not self.root.startswith("oci:"):
            yield "root", f"{self.root!r} is no image; name one as oci:FOLDER or oci:TAR"
        if self.wall_seconds < self.cpu_seconds:
            yield (
                "wall_seconds",
                f"{self.wall_seconds:g} is below cpu_seconds ({self.cpu_seconds:g}); raise it or lower cpu_seconds",
            )


class LocalVerifierConfig(Section):
    """This machine judges."""

    engine: Literal["local"] = "local"
    """Which of them."""


class ServerVerifierConfig(Section):
    """One machine judges, by `strop serve-verifier`; its token is read from STROP_VERIFIER_TOKEN."""

    engine: Literal["server"] = "server"
    """Which of them."""
    url: str = Field(min_length=1)
    """Where it listens, such as http://cpu-1:8765, or a file that will say so."""

    def complaints(self) -> Iterator[Complaint]:
        """It is a URL, or a path."""
        if not self.url.startswith(("http://", "https://")) and "/" not in self.url:
            yield "url", f"{self.url!r} is not a URL; it must start with http:// or https://"


class RayVerifierConfig(Section):
    """The nodes of a Ray cluster judge, by actors on each (docs/verify.md)."""

    engine: Literal["ray"] = "ray"
    """Which of them."""
    address: str | None = Field(default="auto", min_length=1)
    """The cluster: auto (the one that this node belongs to), HOST:PORT, or a path: a file that will say so. null starts
    one on this machine alone. In a process that has joined a cluster already, it is that one."""
    workers: int | None = Field(default=None, ge=1)
    """Verification workers (actors), spread over the nodes; null: as many as it has cores for. Those
    that find no free ones yet join when they do."""
    cpus: int = Field(default=1, ge=1)
    """CPU cores that each takes, on one node; it judges as many answers at a time."""


VerifierConfig = Annotated[
    LocalVerifierConfig | ServerVerifierConfig | RayVerifierConfig, Field(discriminator="engine")
]
"""Who judges; `engine` says which class it is."""
VERIFIERS: Mapping[str, type[Section]] = {
    "local": LocalVerifierConfig, "server": ServerVerifierConfig, "ray": RayVerifierConfig
}  # fmt: skip
