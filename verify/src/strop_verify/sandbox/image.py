"""Container images as roots of jails, from an OCI image layout or a saved image, without Docker.

    image = open_image("oci:images/python:3.11")
    with Machine(image=image) as machine:
        machine.shell("python3 --version")

A place is `oci:FOLDER`, an OCI image layout as written by `skopeo copy docker://IMAGE oci:FOLDER:TAG`, or `oci:TAR`, as
written by `docker save` or by `skopeo copy` to docker-archive: or oci-archive:, plain or compressed; `:TAG` selects one
of several images. Each layer is unpacked once, below the cache; images with the same lowest layers share them. A
layer's contents are compared with its digest. When a new one is unpacked and the layers exceed $STROP_LAYERS_GB (100),
the least recently used ones are removed; a process keeps the layers of its images.

A store is a folder of layouts and tars, named after images without docker.io/ and library/, and with + for /. So
`python:3.11` is `STORE/python`, tag 3.11, and `ghcr.io/a/b:1` is `STORE/ghcr.io+a+b`, tag 1; a tar has the suffix .tar.
"""

import fcntl
import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import tarfile
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from strop_verify.core.cache import held, kept_dir, remove_unused
from strop_verify.core.errors import UserError
from strop_verify.sandbox.image_layer import MOST_BYTES, LayerFault, unpack

KIND = "oci:"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_LARGEST_JSON = 16 << 20
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_REFERENCE = "org.opencontainers.image.ref.name"
LIMIT, _GB = "STROP_LAYERS_GB", 100.0
"""Variable that limits the unpacked layers, in GB of their tars, and its default."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Image:
    """An unpacked image.

    layers       folders of its layers, uppermost first
    environment  variables of its programs, as pairs
    workdir      their work directory; empty if the image has none
    """

    source: str
    layers: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    workdir: str = ""

    @property
    def variables(self) -> dict[str, str]:
        """Variables of its programs, including those of every container."""
        return {"PATH": _PATH, "HOME": "/root", "TMPDIR": "/tmp", **dict(self.environment)}


@dataclass(frozen=True)
class _Manifest:
    """Names of the layers' blobs in order, digests of their tars, and the configuration."""

    layers: tuple[str, ...]
    digests: tuple[str, ...]
    config: Mapping[str, Any]


def open_image(source: str) -> Image:
    """The unpacked image, whose layers stay as long as the object. Raises UserError if it is not an image, is for
    another machine, or has a hostile layer.
    """
    found, folders = _manifest_of(source), list[str]()
    with ExitStack() as holds:
        for number, name in enumerate(found.layers):
            chain = hashlib.sha256("\n".join(found.digests[: number + 1]).encode()).hexdigest()[:32]
            place = kept_dir() / "layers" / chain
            while (lock := held(place)) is None:
                with _opened(source) as blobs:
                    _unpack_once(blobs, name, found.digests[number], place, folders, source)
            holds.callback(os.close, lock)
            os.utime(place)
            folders = [str(place / "root"), *([] if (place / "alone").exists() else folders)]
        image = replace(_configured(found, source), layers=tuple(folders))
        weakref.finalize(image, holds.pop_all().close)
    return image


def check_image(source: str) -> Image:
    """The image without its layers: nothing is unpacked. Raises UserError if there is no such image."""
    return _configured(_manifest_of(source), source)


def _configured(found: "_Manifest", source: str) -> Image:
    given = found.config.get("config") or {}
    pairs = (str(pair).partition("=") for pair in given.get("Env") or ())
    environment = tuple((name, value) for name, _, value in pairs)
    return Image(source, (), environment, str(given.get("WorkingDir") or ""))


def stored(store: Path | str, name: str) -> str:
    """The place of an image in a store, by its name. Raises UserError with the command that fetches it."""
    bare, _, digest = name.strip().partition("@")
    repository, colon, tag = bare.rpartition(":")
    if not colon or "/" in tag:
        repository, tag = bare, "latest"
    short = repository.removeprefix("docker.io/").removeprefix("library/")
    tag = digest.rpartition(":")[2] or tag
    folder = Path(store).absolute() / short.replace("/", "+")
    remedy = f"skopeo copy docker://{name} {KIND}{folder}:{tag}"
    if not re.fullmatch(r"[a-z0-9][a-zA-Z0-9._/:-]*", short):
        raise UserError(f"{name!r:.200} is not the name of an image")
    for place in (folder, folder.with_name(f"{folder.name}.tar")):
        if place.exists():
            source = f"{KIND}{place}:{tag}"
            try:
                check_image(source)
            except UserError as error:
                raise UserError(f"image {name}: {error}; fetch it: {remedy}") from None
            return source
    raise UserError(f"image {name} is not in {store}; fetch it: {remedy}")


def _unpack_once(blobs: "_Blobs", name: str, digest: str, place: Path, lower: list[str], source: str) -> None:
    """Unpacks one layer to `place`, unless another process has done so first."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in {*place.parent.glob(".*")} - {
            Path(lock.name)
        }:  # left by a killed process: only we hold the lock
            shutil.rmtree(left, ignore_errors=True)
        if place.is_dir():
            return
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=place.parent))
        try:
            (part / "root").mkdir(mode=0o755)
            with blobs.open(name) as packed:
                stream = _HashedStream(_plain(packed))
                alone = unpack(cast(IO[bytes], stream), str(part / "root"), lower)
                while stream.read(1 << 20):
                    pass
            if f"sha256:{stream.digest()}" != digest:
                raise LayerFault(f"its digest is sha256:{stream.digest()}, not {digest:.80}")
            if alone:
                (part / "alone").touch()
            (part / _BYTES).write_text(str(stream.bytes))
            part.chmod(0o755)
            part.rename(place)
            _remove_old(place)
        except LayerFault as error:
            raise UserError(f"{source}: layer {digest:.19}: {error}") from None
        except (OSError, zlib.error, zstandard.ZstdError, EOFError) as error:
            cause = " ".join(str(error).split())
            raise UserError(f"{source}: layer {digest:.19} cannot be unpacked: {cause:.300}") from None
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _remove_old(made: Path) -> None:
    """Removes layers that no process uses, least recently opened first, until the others fit."""
    with suppress(OSError):
        sizes = {place: _size(place) for place in made.parent.iterdir() if not place.name.startswith(".")}
        left = sum(sizes.values()) - 1e9 * float(os.environ.get(LIMIT) or _GB)
        for place in sorted({*sizes} - {made}, key=lambda place: place.stat().st_mtime):
            if left > 0 and remove_unused(place):
                left -= sizes[place]


_BYTES = "bytes"


def _size(place: Path) -> int:
    with suppress(OSError, ValueError):
        return int((place / _BYTES).read_text())
    return 0


class _HashedStream:
    """Hashes a stream as it is read. Raises LayerFault if it is too long."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._hash, self.bytes = stream, hashlib.sha256(), 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._hash.update(data)
        self.bytes += len(data)
        if self.bytes > MOST_BYTES:
            raise LayerFault(f"more than {MOST_BYTES} bytes")
        return data

    def digest(self) -> str:
        return self._hash.hexdigest()


def _plain(packed: io.BufferedReader) -> IO[bytes]:
    """The stream without its compression."""
    first = packed.peek(4)
    if first[:2] == b"\x1f\x8b":
        return cast(IO[bytes], gzip.GzipFile(fileobj=packed))
    if first[:4] == b"\x28\xb5\x2f\xfd":
        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True))
    return packed


class _Blobs:
    """Files of a layout, in a folder or in a tar."""

    def __init__(self, folder: Path | None = None, archive: tarfile.TarFile | None = None) -> None:
        self._folder, self._archive = folder, archive
        self._names = frozenset(archive.getnames()) if archive else frozenset[str]()

    def open(self, name: str) -> io.BufferedReader:
        """Opens a file. Raises UserError if there is none."""
        try:
            if self._folder is not None and ".." not in Path(name).parts and not name.startswith("/"):
                return (self._folder / name).open("rb")
            inside = name if name in self._names else f"./{name}"
            if self._archive and (found := self._archive.extractfile(inside)) is not None:
                return cast(io.BufferedReader, found)
        except (OSError, KeyError, tarfile.TarError):
            pass
        raise UserError(f"it has no {name:.100}")

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        with suppress(UserError):
            self.open(name).close()
            return True
        return False

    def json(self, name: str) -> Any:
        """Reads a JSON file. Raises UserError."""
        with self.open(name) as file:
            data = file.read(_LARGEST_JSON + 1)
        try:
            if len(data) <= _LARGEST_JSON:
                return json.loads(data)
        except (ValueError, RecursionError):
            pass
        raise UserError(f"its {name:.100} is not valid JSON")


@contextmanager
def _opened(source: str) -> Iterator[_Blobs]:
    """The files of a place. Raises UserError that names it, also for faults of its contents."""
    path, _ = _place(source)
    try:
        if path.is_dir():
            yield _Blobs(folder=path)
        else:
            with tarfile.open(path) as archive:
                yield _Blobs(archive=archive)
    except (OSError, tarfile.TarError, zlib.error, EOFError) as error:
        raise UserError(f"{source}: {' '.join(str(error).split()):.300}") from None
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise UserError(f"{source}: it is not an image ({type(error).__name__}: {error})") from None
    except UserError as error:
        raise error if source in str(error) else UserError(f"{source}: {error}") from None


def _place(source: str) -> tuple[Path, str]:
    """(folder or file, tag). Raises UserError."""
    if not source.startswith(KIND):
        raise UserError(
            f"{source!r:.200} is not an image; name one as oci:FOLDER or oci:TAR, with :TAG for one of several"
        )
    path, tag = Path(source.removeprefix(KIND)), ""
    try:
        if not path.exists() and ":" in path.name:
            front, _, tag = str(path).rpartition(":")
            path = Path(front)
        if not path.exists():
            raise UserError(f"{source}: there is no such folder or file")
    except OSError as error:
        raise UserError(f"{source:.200}: {error.strerror}") from None
    return path, tag


def _manifest_of(source: str) -> _Manifest:
    """The manifest, read again if the index or tar has changed. Raises UserError."""
    path, _ = _place(source)
    index = path / "index.json"
    status = (index if index.exists() else path).stat()
    return _manifest_as_of(source, status.st_mtime_ns, status.st_size)


@lru_cache(256)
def _manifest_as_of(source: str, changed: int, size: int) -> _Manifest:
    with _opened(source) as blobs:
        return _manifest(blobs, _place(source)[1])


def _manifest(blobs: _Blobs, tag: str) -> _Manifest:
    """The manifest of the image with that tag. Raises UserError."""
    if blobs.has("index.json"):
        manifest = blobs.json(_blob(_chosen(blobs, tag)))
        config = blobs.json(_blob(manifest["config"]))
        layers = tuple(_blob(layer) for layer in manifest["layers"])
    elif blobs.has("manifest.json"):
        saved = blobs.json("manifest.json")
        fitting = [
            one
            for one in saved
            if not tag or any(name.rpartition(":")[2] == tag for name in one.get("RepoTags") or ())
        ]
        one = _only(fitting, saved, tag, lambda one: ", ".join(one.get("RepoTags") or ["one without a tag"]))
        config, layers = blobs.json(one["Config"]), tuple(one["Layers"])
    else:
        raise UserError("it is neither an OCI image layout (index.json) nor a saved image (manifest.json)")
    digests = tuple(config["rootfs"]["diff_ids"])
    if len(digests) != len(layers) or not layers:
        raise UserError(f"its configuration names {len(digests)} layers, its manifest {len(layers)}")
    if (built := config.get("architecture")) and built != (mine := _MACHINES.get(platform.machine(), "")):
        raise UserError(f"it is for {built!r:.40}, this machine is {mine or platform.machine()}")
    return _Manifest(layers, digests, config)


def _chosen(blobs: _Blobs, tag: str) -> Any:
    """The descriptor of the manifest with that tag for this machine, also in nested indexes."""
    entries = [*blobs.json("index.json")["manifests"]]
    fitting = [one for one in entries if tag in ("", _tag(one), _tag(one).rpartition(":")[2])]
    found = _only([one for one in fitting if _suits(one)], entries, tag, _tag)
    for _ in range(8):
        inner = blobs.json(_blob(found))
        if "manifests" not in inner:
            return found
        found = _only([one for one in inner["manifests"] if _suits(one)], inner["manifests"], "", _tag)
    raise UserError("its indexes are nested too deeply")


def _tag(entry: Mapping[str, Any]) -> str:
    return str((entry.get("annotations") or {}).get(_REFERENCE, ""))


def _suits(entry: Mapping[str, Any]) -> bool:
    built = entry.get("platform") or {}
    machine = _MACHINES.get(platform.machine(), "")
    return (built.get("os", "linux"), built.get("architecture", machine)) == ("linux", machine)


def _only(found: list[Any], every: list[Any], tag: str, name: Any) -> Any:
    if len(found) == 1:
        return found[0]
    there = ", ".join(sorted({name(one) or "one without a tag" for one in every}))
    if tag:
        raise UserError(f"it has no image with the tag {tag!r:.80} for this machine; it has {there:.300}")
    raise UserError(f"it has {len(found)} images for this machine; name one by :TAG of {there:.300}")


def _blob(descriptor: Mapping[str, Any]) -> str:
    digest = descriptor["digest"]
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise UserError(f"{digest!r:.80} is not a SHA-256 digest")
    return f"blobs/sha256/{digest.partition(':')[2]}"
