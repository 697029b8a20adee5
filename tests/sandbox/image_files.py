"""Images for tests: layers out of entries, layouts and saved images out of layers, and what layers make by a model."""

import copy
import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import zstandard

from strop_verify.sandbox.interpreter import interpreter
from strop_verify.sandbox.packages import TESTS, site_of

TYPES = {
    "file": tarfile.REGTYPE, "folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE,
    "device": tarfile.CHRTYPE, "pipe": tarfile.FIFOTYPE,
}  # fmt: skip
MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), "")
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
ABOVE, BELOW = "..", "."


@dataclass(frozen=True)
class Entry:
    """Of a layer. `text`: a file's content, a link's target."""

    name: str
    kind: str = "file"
    mode: int = 0o644
    text: str | bytes = ""


PROGRAMS = [
    "sh",
    "bash",
    "cat",
    "chmod",
    "chroot",
    "cp",
    "dd",
    "env",
    "find",
    "grep",
    "head",
    "id",
    "ln",
    "ls",
    "mkdir",
    "mknod",
    "mv",
    "pwd",
    "rm",
    "sleep",
    "stat",
    "touch",
    "true",
]


@cache
def programs():
    """Entries of a small system out of this machine's programs, with their libraries."""
    found = {f"usr/bin/{name}": Path(shutil.which(name)).resolve() for name in PROGRAMS}
    told = subprocess.run(["ldd", *found.values()], capture_output=True, text=True, check=True).stdout
    for path in sorted({word for word in told.split() if word.startswith("/") and not word.endswith(":")}):
        found[f"usr/{path.lstrip('/').removeprefix('usr/')}"] = Path(path).resolve()
    folders = ["usr", "usr/bin", "usr/lib", "usr/lib64", "etc", "root", "app", "srv"]
    links = {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64"}
    return (
        *(Entry(name, "folder", 0o755) for name in folders),
        *(Entry(name, "link", text=target) for name, target in links.items()),
        Entry("tmp", "folder", 0o1777),
        Entry("etc/passwd", text="root:x:0:0::/root:/bin/sh\n"),
        *(Entry(name, mode=0o755, text=path.read_bytes()) for name, path in found.items()),
    )


UNUSED = {"lib2to3", "tkinter", "ensurepip", "pydoc_data", "idlelib", "sqlite3", "distutils"}
"""Folders of Python that no test needs."""


@cache
def python():
    """Entries of this Python with pytest below /opt/python, and the shared libraries that it loads."""
    top, site = interpreter(), Path(site_of(TESTS).packages)
    found = {}
    for folder, place in ((top, "opt/python"), (site, f"opt/python/lib/{PYTHON}/site-packages")):
        for path, folders, names in os.walk(folder, followlinks=True):
            folders[:] = sorted({*folders} - UNUSED)
            inside = Path(path).relative_to(folder)
            found |= {f"{place}/{inside / name}": Path(path, name) for name in names}
    objects = [path for name, path in found.items() if ".so" in name or "/bin/python3" in name]
    told = subprocess.run(["ldd", *objects], capture_output=True, text=True).stdout
    for path in {word for word in told.split() if word.startswith("/") and not word.endswith(":")}:
        found[f"{'usr' if path.startswith('/lib') else ''}{path}".lstrip("/")] = Path(path)
    return tuple(Entry(name, mode=0o755, text=path.read_bytes()) for name, path in sorted(found.items()))


def tar_of(entries, **pax):
    """The tar of a layer."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry in entries:
            member = tarfile.TarInfo(entry.name)
            member.type, member.mode, member.mtime = TYPES[entry.kind], entry.mode, 1_700_000_000
            member.uid = member.gid = 1234
            member.pax_headers = dict(pax)
            text = entry.text
            data = (text.encode() if isinstance(text, str) else text) if entry.kind == "file" else b""
            if entry.kind in ("link", "hard"):
                member.linkname = entry.text
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _config(layers, environment, workdir, architecture):
    given = {"Env": [f"{name}={value}" for name, value in environment.items()], "WorkingDir": workdir}
    config = {
        "architecture": architecture, "os": "linux", "config": given,
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer) for layer in layers]},
    }  # fmt: skip
    return json.dumps(config).encode()


def packed(layer, how):
    """A layer as a blob: plain, gzip or zstd."""
    if how == "gzip":
        return gzip.compress(layer, 1, mtime=0)
    return zstandard.ZstdCompressor().compress(layer) if how == "zstd" else layer


def layout(
    folder,
    layers,
    *,
    tag="latest",
    how="gzip",
    environment=(),
    workdir="",
    architecture=MACHINE,
    nested=False,
):
    """Writes an OCI image layout, or adds an image to one; returns its folder."""
    kind = "application/vnd.oci.image.{}.v1+json"
    folder = Path(folder)
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True, exist_ok=True)

    def put(data, kind, **more):
        (blobs / _digest(data).partition(":")[2]).write_bytes(data)
        return {"mediaType": kind, "digest": _digest(data), "size": len(data), **more}

    config = put(_config(layers, dict(environment), workdir, architecture), kind.format("config"))
    held = [put(packed(layer, how), f"application/vnd.oci.image.layer.v1.tar+{how}") for layer in layers]
    manifest = json.dumps({"schemaVersion": 2, "config": config, "layers": held}).encode()
    suits = {"os": "linux", "architecture": architecture}
    entry = put(manifest, kind.format("manifest"), platform=suits)
    if nested:
        other = {**entry, "platform": {"os": "unknown", "architecture": "unknown"}}
        inner = json.dumps({"schemaVersion": 2, "manifests": [other, entry]}).encode()
        entry = put(inner, kind.format("index"))
    entry["annotations"] = {"org.opencontainers.image.ref.name": tag}
    index = folder / "index.json"
    before = json.loads(index.read_text())["manifests"] if index.exists() else []
    index.write_text(json.dumps({"schemaVersion": 2, "manifests": [*before, entry]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return folder


def saved(path, layers, *, tags=("demo:latest",), environment=(), workdir=""):
    """Writes the tar that `docker save` made before it wrote layouts; returns its path."""
    with tarfile.open(path, "w") as archive:

        def put(name, data):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))

        names = [f"{number}/layer.tar" for number in range(len(layers))]
        for name, layer in zip(names, layers, strict=True):
            put(name, layer)
        put("config.json", _config(layers, dict(environment), workdir, MACHINE))
        told = [{"Config": "config.json", "RepoTags": list(tags), "Layers": names}]
        put("manifest.json", json.dumps(told).encode())
    return Path(path)


class Refused(Exception):
    """The model's word for a layer that nobody may apply."""


def stacked(layers):
    """What layers make, one on another, by the words of the image specification: {path: Entry}. Raises Refused."""
    tree = {}
    for entries in layers:
        tree = _applied(tree, entries)
    return {"/".join(parts): entry for parts, entry in tree.items()}


def _mode(entry):
    runs = entry.kind == "folder" or entry.mode & 0o111
    return entry.mode & 0o1777 | 0o600 | (0o100 if runs else 0)


def _drop(tree, parts, *, itself=True):
    for path in [p for p in tree if p[: len(parts)] == parts and (itself or p != parts)]:
        del tree[path]


def _applied(lower, entries):
    upper, gone, hidden = {}, set(), set()

    def folders(parts):
        for depth in range(1, len(parts) + 1):
            above = parts[:depth]
            if above not in upper:
                below = lower.get(above)
                mode = below.mode if below and below.kind == "folder" else 0o755
                upper[above] = Entry("", "folder", mode)
            elif upper[above].kind != "folder":
                raise Refused(above)

    for entry in entries:
        parts = tuple(part for part in entry.name.split("/") if part not in ("", BELOW))
        if ABOVE in parts or any(part.startswith(".wh.") for part in parts[:-1]):
            raise Refused(entry)
        if not parts:
            if entry.kind != "folder":
                raise Refused(entry)
            continue
        if parts[-1].startswith(".wh."):
            name = parts[-1].removeprefix(".wh.")
            if name == ".wh..opq":
                hidden.add(parts[:-1])
            elif name in ("", BELOW, ABOVE):
                raise Refused(entry)
            elif not name.startswith(".wh."):
                gone.add((*parts[:-1], name))
            continue
        if parts[0] == "dev" and len(parts) > 1:
            continue
        folders(parts[:-1])
        if entry.kind == "device":
            raise Refused(entry)
        made = replace(entry, name="", mode=_mode(entry) if entry.kind != "link" else 0)
        if entry.kind == "folder":
            if parts in upper and upper[parts].kind != "folder":
                del upper[parts]
            upper[parts] = made
            continue
        if entry.kind == "hard":
            target = tuple(part for part in entry.text.split("/") if part not in ("", BELOW))
            if target not in upper or upper[target].kind == "folder":
                raise Refused(entry)
            if target == parts:
                continue
            if target[: len(parts)] == parts:
                raise Refused(entry)
            made = copy.copy(upper[target])
        _drop(upper, parts)
        upper[parts] = made
    tree = dict(lower)
    for parts in sorted(gone):
        folders(parts[:-1])
        if parts not in upper:
            _drop(tree, parts)
        elif upper[parts].kind == "folder":
            hidden.add(parts)
    for parts in sorted(hidden):
        folders(parts)
        _drop(tree, parts, itself=False)
    for parts, made in upper.items():
        if made.kind != "folder" or (parts in tree and tree[parts].kind != "folder"):
            _drop(tree, parts)
        tree[parts] = made
    return tree
