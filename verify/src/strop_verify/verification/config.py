"""The sections `sandbox` (the jail) and `verifier` (who judges) of a recipe."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from strop_verify.core.section import Complaint, Section
from strop_verify.core.verdict import Trust


class SandboxConfig(Section):
    """Limits of one verdict, and what the jail must offer."""

    allow_unsafe: bool = False
    """Run model-written code even without Landlock and seccomp. Only on a machine that you can afford to lose."""
    jail: Literal["auto", "minimal", "slot-uid", "namespaces", "full", "bubblewrap", "apptainer"] = "auto"
    """Configuration of the jail; auto: the strongest that the host offers (`strop doctor` lists them)."""
    root: str = ""
    """Container image used as the root of the jails of plays and of terminal tasks without an image of their own:
    oci:FOLDER or oci:TAR, with :TAG to choose one of several (docs/neighbours.md). Empty: this machine's programs."""
    require: list[str] = Field(default=[])
    """Layers that the jail must have: landlock, seccomp, namespaces, cgroup, ... as `strop doctor` lists them."""
    workers: int | None = Field(default=None, ge=1)
    """Answers judged at a time; null: one per CPU core, at most 16."""
    cpu_seconds: float = Field(default=5.0, gt=0)
    """CPU time limit per answer, in seconds."""
    wall_seconds: float = Field(default=10.0, gt=0)
    """Wall time limit per answer, in seconds."""
    memory_mb: int = Field(default=512, ge=16)
    """Memory limit per answer, in MiB."""
    rust_verdict: Literal["strict", "cargo"] = "strict"
    """strict: passes cannot be forged; cargo: the results of cargo build, clippy and test, which answers can forge."""
    rust_vendor: str | None = None
    """Folder of vendored crates that Rust answers may use."""
    trust: Trust = "same-process"
    """Minimum trust of a pass: value, typed or same-process (docs/verification.md); with less it is *failed*."""

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
        """Checks that the wall limit is not below the CPU limit and that the root is an image."""
        if self.root and not self.root.startswith("oci:"):
            yield "root", f"{self.root!r} is not an image; name one as oci:FOLDER or oci:TAR"
        if self.wall_seconds < self.cpu_seconds:
            yield (
                "wall_seconds",
                f"{self.wall_seconds:g} is below cpu_seconds ({self.cpu_seconds:g}); raise it or lower cpu_seconds",
            )


class LocalVerifierConfig(Section):
    """Judges on this machine."""

    engine: Literal["local"] = "local"
    """Selects a verifier on this machine."""


class ServerVerifierConfig(Section):
    """Judges on another machine, which runs `strop serve-verifier`; the token is read from STROP_VERIFIER_TOKEN."""

    engine: Literal["server"] = "server"
    """Selects a verifier over HTTP."""
    url: str = Field(min_length=1)
    """The server's address, such as http://cpu-1:8765, or a file that will contain it."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that the address is a URL or a path."""
        if not self.url.startswith(("http://", "https://")) and "/" not in self.url:
            yield "url", f"{self.url!r} is not a URL; it must start with http:// or https://"


class RayVerifierConfig(Section):
    """Judges with actors on the nodes of a Ray cluster (docs/verify.md)."""

    engine: Literal["ray"] = "ray"
    """Selects a verifier on a Ray cluster."""
    address: str | None = Field(default="auto", min_length=1)
    """The cluster: auto (the one that this node belongs to), HOST:PORT, or a file that will contain it. null starts one
    on this machine alone. A process that has already joined a cluster uses that one."""
    workers: int | None = Field(default=None, ge=1)
    """Verification workers (actors), spread over the nodes; null: as many as there are cores for. Workers without free
    cores join when some become free."""
    cpus: int = Field(default=1, ge=1)
    """CPU cores of each worker, on one node; it judges that many answers at a time."""


VerifierConfig = Annotated[
    LocalVerifierConfig | ServerVerifierConfig | RayVerifierConfig, Field(discriminator="engine")
]
"""Who judges; `engine` selects the class."""
VERIFIERS: Mapping[str, type[Section]] = {
    "local": LocalVerifierConfig, "server": ServerVerifierConfig, "ray": RayVerifierConfig
}  # fmt: skip
