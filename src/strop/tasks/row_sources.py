"""Reads rows from files, folders of files, and data sets on the Hub."""

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from strop.tasks import jsonl, parquet, tables
from strop.tasks.lines import Report
from strop.tasks.row_limits import plain_row
from strop.tasks.rows import Row
from strop_verify.core.checks import ProjectCheck, RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.task import Task

KINDS = ("jsonl", "csv", "parquet", "hub")
"""Kinds of places. A place may be written as KIND:REST if its name does not show the kind."""


def is_place(place: str) -> bool:
    """Whether a text names a place by its kind, by its extension, or as an existing folder."""
    kind, colon, _ = place.partition(":")
    path = Path(place).expanduser()
    return bool(colon and kind in KINDS) or _is_known(path) or (bool(place) and path.is_dir())


def read_place(place: str, report: Report) -> Iterator[tuple[str, Row]]:
    """(where, row) of each row of a place; for a folder, of its files in the order of their names.

    place   a path that ends in .jsonl, .ndjson, .json, .csv or .tsv (each alone or with .gz or .zst) or .parquet; a
            folder of such files, or one that `save_to_disk` of the package datasets wrote; "jsonl:PATH", "csv:PATH" or
            "parquet:PATH" whatever the name is; "hub:ID[:CONFIG][@SPLIT]", where ID may be such a folder
    report  takes one line about each row that is left out; without it the first one raises UserError

    Raises UserError for a place that does not exist, and for a folder without such files.
    """
    kind, colon, rest = place.partition(":")
    if colon and kind in KINDS:
        if not rest:
            raise UserError(f"{place!r} names no data set: write {kind}:{'ID' if kind == 'hub' else 'PATH'}")
        if kind == "hub":
            return _read_hub(rest, report)
        read = {"csv": tables.read_rows, "parquet": parquet.read_rows}.get(kind, jsonl.read_rows)
        return read(Path(rest).expanduser(), report)
    path = Path(place).expanduser()
    if not path.is_dir() and not _is_known(path):
        endings = ", ".join((*jsonl.SUFFIXES, *tables.SUFFIXES))
        raise UserError(
            f"cannot tell what {place!r} holds: name a file that ends in {endings} (perhaps "
            "with .gz or .zst) or .parquet, a folder of such files, or hub:ID"
        )
    if _is_saved(path):
        return _read_hub(place, report)
    return chain.from_iterable(_read_file(Path(file).expanduser(), report) for file in parts(place))


def has_files(folder: Path) -> bool:
    """Whether a folder directly holds files of rows, or was written by `save_to_disk`."""
    return bool(_files(folder)) or _is_saved(folder)


def _is_saved(folder: Path) -> bool:
    """Whether `save_to_disk` wrote the folder, for a data set with or without splits."""
    whole = (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file()
    return whole or (folder / "dataset_dict.json").is_file()


def _read_file(path: Path, report: Report) -> Iterator[tuple[str, Row]]:
    if path.suffix == ".parquet":
        return parquet.read_rows(path, report)
    return tables.read_rows(path, report) if tables.is_table(path) else jsonl.read_rows(path, report)


def parts(place: str) -> list[str]:
    """The parts of a place: the files of a folder, else itself. Raises UserError for an empty folder."""
    path = Path(place).expanduser()
    if place.partition(":")[0] in KINDS or not path.is_dir() or _is_saved(path):
        return [place]
    files = _files(path)
    if not files:
        raise UserError(
            f"the folder {path} holds no file that ends in .jsonl, .ndjson, .csv (perhaps with .gz or .zst) or .parquet"
        )
    return [str(file) for file in files]


def beside(place: str, tasks: Iterable[Task]) -> Iterator[Task]:
    """The tasks of a place; a project's snapshot, or a tree to search, that is named without a folder is looked up next
    to their file.
    """
    kind, colon, rest = place.partition(":")
    path = Path(rest if colon and kind in KINDS else place).expanduser()
    folder = path if path.is_dir() else path.parent

    def found(name: str) -> str:
        there = folder / name
        return str(there.resolve()) if Path(name).name == name and there.exists() else name

    return (placed(task, found) for task in tasks)


def placed(task: Task, place: Callable[[str], str]) -> Task:
    """The task with `place` applied to each place that its check names: a project's snapshot and packages, or a tree to
    search.
    """
    edit = task.edit
    check = task.check if edit is None else edit.effective()
    if isinstance(check, ProjectCheck):
        named = {"project": check.project, "packages": check.packages}
    else:
        named = {"tree": check.tree} if isinstance(check, RetrievalCheck) else {}
    if not (
        changed := {field: new for field, name in named.items() if name and (new := place(name)) != name}
    ):
        return task
    check = check.model_copy(update=changed)
    return task.model_copy(
        update={"check": check if edit is None else edit.model_copy(update={"judge": check})}
    )


def _files(folder: Path) -> list[Path]:
    """Files of rows in a folder, without `.json`, because folders keep settings in such files."""
    try:
        found = [p for p in folder.iterdir() if _is_known(p) and ".json" not in p.suffixes and p.is_file()]
    except OSError as error:
        raise UserError(f"cannot read the folder {folder}: {error.strerror or error}") from error
    return sorted(p for p in found if p.name[0] != ".")


def _is_known(path: Path) -> bool:
    return path.suffix == ".parquet" or jsonl.is_jsonl(path) or tables.is_table(path)


def _read_hub(name: str, report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    """(`name[split]:row`, row) of `ID`, `ID@SPLIT` or `ID:CONFIG@SPLIT`; ID may be a local folder.

    The default split is the only one, or "train". Raises UserError with the cause for a data set or split that cannot
    be loaded. A row that cannot be read ends the set and is reported.
    """
    datasets = require("datasets", package="datasets", extra="data", purpose=f"the data set {name!r}")
    rest, _, split = name.partition("@")
    identifier, _, config = rest.partition(":")
    saved = Path(identifier).expanduser()
    try:
        if _is_saved(saved):
            loaded = datasets.load_from_disk(str(saved))
            loaded = loaded if isinstance(loaded, dict) else {"train": loaded}
        else:
            with _without_retries(datasets):
                loaded = datasets.load_dataset(identifier, config or None)
    except Exception as error:  # the package raises many kinds: connection, not found, bad files
        raise UserError(f"cannot load the data set {identifier!r}: {_cause(error)}") from error
    chosen = split or ("train" if "train" in loaded or len(loaded) != 1 else next(iter(loaded)))
    if chosen not in loaded:
        raise UserError(
            f"the data set {identifier!r} has no split {chosen!r}: it has {', '.join(loaded)}; write hub:ID@SPLIT"
        )
    place = f"{identifier}[{chosen}]"
    rows = enumerate(loaded[chosen], start=1)
    while True:
        try:
            number, row = next(rows)
        except StopIteration:
            return
        except Exception as error:  # as above
            report(f"{place}: cannot be read further: {_cause(error)}")
            return
        try:
            kept = plain_row(row, f"{place}:{number}")
        except UserError as error:
            report(str(error))
        else:
            yield f"{place}:{number}", kept


@contextmanager
def _without_retries(datasets: Any) -> Iterator[None]:
    """Uses only the cache if the Hub's name cannot be resolved, because retries would take half a minute."""
    from huggingface_hub import constants

    try:
        if not getproxies():
            socket.getaddrinfo(urlsplit(constants.ENDPOINT).hostname, 443)
        known = True
    except OSError:
        known = False
    before = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    if not known:
        constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before


def _cause(error: Exception) -> str:
    return " ".join(str(error).split())[:500] or type(error).__name__
