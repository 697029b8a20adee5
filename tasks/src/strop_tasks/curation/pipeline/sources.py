"""The first stage: tasks from all sources, with unique ids and the names of their sets."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from strop.config.tasks import WindowConfig
from strop.tasks import sources
from strop.tasks.task_sets import date_of
from strop_tasks.curation.pipeline.read import Pipeline, SourceEntry
from strop_tasks.curation.pipeline.stage import Watcher
from strop_tasks.curation.pipeline.step import Dropped, drop
from strop_verify.core.task import Task


def names(given: Sequence[SourceEntry]) -> list[str]:
    """A unique name for each source: its own, or one made from its place."""
    found: list[str] = []
    for source in given:
        name, number = source.name or _made_name(source.source), 1
        while name in found or (not source.name and any(other.name == name for other in given)):
            number += 1
            name = f"{source.name or _made_name(source.source)}-{number}"
        found.append(name)
    return found


def _made_name(source: str) -> str:
    _, hub, place = source.partition("hub:")
    rest = place.partition("@")[0] if hub else source.rpartition(":")[2]
    last = re.sub(r"\.(jsonl|json|ndjson|parquet|gz|zst)\b", "", rest.rstrip("/").rpartition("/")[2])
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", last) or "tasks"


def read_all(pipeline: Pipeline, watcher: Watcher) -> Iterator[Task | Dropped]:
    """Every row of every source: a task, or dropped with its reason. Raises UserError for a missing source.

    Memory: about 16 bytes per task.
    """
    owners: dict[bytes, tuple[int, bytes]] = {}
    done = 0
    for number, (source, name) in enumerate(zip(pipeline.source, names(pipeline.source), strict=True)):
        for item in _read(source, name, watcher):
            done += 1
            watcher.at(done, None)
            if isinstance(item, Task):
                item = _owned(item, number, name, owners, pipeline.collisions)
            yield item


def _read(source: SourceEntry, name: str, watcher: Watcher) -> Iterator[Task | Dropped]:
    """One source, each of its bad rows as a Dropped in its place."""
    bad: list[str] = []
    tasks = sources.iter_tasks(
        source.source, columns=source.columns or None, on_bad=bad.append, on_guess=watcher.say
    )
    taken = 0
    for task in tasks:
        yield from _bad(bad, name)
        if why := _outside(task, source.window):
            yield drop(task, "outside the window", why)
            continue
        metadata = {**task.metadata, "set": name}
        yield task if "set" in task.metadata else task.model_copy(update={"metadata": metadata})
        taken += 1
        if taken == source.limit:
            break
    yield from _bad(bad, name)


def _outside(task: Task, window: WindowConfig) -> str:
    """Why the task is outside the window; empty if inside."""
    if window.is_open:
        return ""
    day = date_of(task)
    if not day:
        return "it has no date"
    inside = (window.from_ is None or window.from_ <= day) and (window.to is None or day <= window.to)
    return "" if inside else f"{day} is not in {window}"


def _bad(lines: list[str], name: str) -> Iterator[Dropped]:
    yield from (Dropped("", name, "bad row", line) for line in lines)
    lines.clear()


def _owned(
    task: Task, number: int, name: str, owners: dict[bytes, tuple[int, bytes]], collisions: str
) -> Task | Dropped:
    """The task under a unique id; dropped if seen before."""
    content = _digest(task.model_dump_json(exclude={"id", "metadata", "source"}))
    key = _digest(task.id)
    if key not in owners:
        owners[key] = number, content
        return task
    first, other = owners[key]
    if first == number:
        return drop(task, "repeated id", f"{task.id} occurs twice in {name}")
    if content == other:
        return drop(task, "same task in an earlier source")
    if collisions == "drop":
        return drop(task, "id of an earlier source", task.id)
    renamed = task.model_copy(update={"id": f"{name}:{task.id}"})
    key = _digest(renamed.id)
    if key in owners:
        return drop(task, "repeated id", f"{renamed.id} already exists")
    owners[key] = number, content
    return renamed


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def files_of(source: str) -> list[Path]:
    """The file or folder that a source reads, or nothing for a built-in set or the Hub."""
    parts = source.split(":")
    candidates = [":".join(parts[start:]) for start in range(len(parts))]
    return [path for text in candidates if text and (path := Path(text).expanduser()).exists()][:1]


def sha256_of(path: Path) -> str:
    """Hash of a file's bytes, or of a folder's files with their names. Raises OSError."""
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
        if path.is_dir():
            digest.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as data:
            hashlib.file_digest(data, lambda: digest)
    return digest.hexdigest()
