"""Runs a pipeline: one stage after the other, each on disk before the next begins, then the results and the manifest.

A killed run resumes after the last finished stage, or after the remembered results of a costly one; its files equal
those of an uninterrupted run, except for the recorded seconds.
"""

from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strop import __version__
from strop.tasks.row_sources import placed
from strop_tasks.curation.pipeline import sources
from strop_tasks.curation.pipeline.folder import (
    CHANGES,
    DROPPED,
    FORMAT,
    MANIFEST,
    TASKS,
    CurationFolder,
    opened,
)
from strop_tasks.curation.pipeline.lines import read_tasks
from strop_tasks.curation.pipeline.read import Planned
from strop_tasks.curation.pipeline.stage import (
    Index,
    StageCounts,
    StageFiles,
    StageLedger,
    Watcher,
    copied,
    index_of,
)
from strop_tasks.curation.pipeline.step import Context, Dropped, part_of
from strop_verify.core.errors import UserError
from strop_verify.core.files import write_json
from strop_verify.core.ids import derive_seed
from strop_verify.core.task import Task
from strop_verify.core.text import printable
from strop_verify.verification.config import SandboxConfig
from strop_verify.verification.verifier import OpenVerifier


@dataclass(frozen=True)
class RunOptions:
    """Options that may change between two runs of one curation."""

    workers: int | None = None
    allow_unsafe: bool = False
    overwrite: bool = False


def curate(
    planned: Planned, path: Path, options: RunOptions | None = None, watcher: Watcher | None = None
) -> dict[str, Any]:
    """Runs a pipeline into a folder and returns its manifest; a finished run is only read.

    Raises UserError, one line, for the user's mistakes; then and after any kill the same call resumes.
    """
    options, watcher = options or RunOptions(), watcher or Watcher()
    for _, step in planned.steps:
        step.check()
    identity = _identity(planned)
    with opened(path, identity, overwrite=options.overwrite) as folder:
        manifest = folder.manifest()
        if manifest is None:
            with ExitStack() as stack:
                entries, last = _Runner(planned, folder, options, watcher, stack).run()
            manifest = _write(planned, identity, folder, entries, last)
        else:
            watcher.say(f"{path} is finished; nothing to do (--overwrite starts over)")
        folder.finish()
    return manifest


def _identity(planned: Planned) -> dict[str, Any]:
    """The settings that identify a curation."""
    resolved = planned.resolved()
    for key in ("workers", "allow_unsafe"):
        resolved["sandbox"].pop(key)
    for key in ("about", "verifier"):
        resolved.pop(key)
    paths = [file for source in planned.pipeline.source for file in sources.files_of(source.source)]
    paths += [path for _, step in planned.steps for path in step.inputs()]
    try:
        hashes = {str(path): sources.sha256_of(path) for path in dict.fromkeys(paths)}
    except OSError as error:
        raise UserError(f"cannot read {error.filename}: {error.strerror}; name another file") from error
    return {"version": __version__, "pipeline": resolved, "inputs": hashes}


class _Runner:
    """The stages of one run."""

    def __init__(
        self,
        planned: Planned,
        folder: CurationFolder,
        options: RunOptions,
        watcher: Watcher,
        stack: ExitStack,
    ) -> None:
        self._planned, self._folder, self._options = planned, folder, options
        self._watcher, self._stack = watcher, stack
        self._verifier: OpenVerifier | None = None
        self._index: Index | None = None
        names = ["source", *(name for name, _ in planned.steps)]
        self._stages = [StageFiles(folder.work, number, name) for number, name in enumerate(names)]

    def run(self) -> tuple[list[StageCounts], StageFiles]:
        """Every entry, and the last stage, whose tasks are the result."""
        entries: list[StageCounts] = []
        for number, stage in enumerate(self._stages):
            entry = stage.entry()
            if entry is None:
                size = entries[-1].kept if entries else None
                self._watcher.begin(stage.name, number, len(self._stages) - 1, size)
                entry = self._run_stage(number, size)
                self._watcher.end(entry)
            entries.append(entry)
            if not entry.kept:
                self._refuse_nothing(stage, entry)
            if number:
                self._stages[number - 1].tasks.unlink(missing_ok=True)
        return entries, self._stages[-1]

    def _run_stage(self, number: int, size: int | None) -> StageCounts:
        before = self._stages[max(number - 1, 0)].tasks
        if number and self._index is None:
            self._index = index_of(before)

        def made(books: StageLedger) -> Iterator[Task | Dropped]:
            if not number:
                return sources.read_all(self._planned.pipeline, self._watcher)
            step = self._planned.steps[number - 1][1]
            return step.run(lambda: read_tasks(before), self._context(number, size, books))

        entry, self._index = self._stages[number].run(made, self._index)
        return entry

    def _context(self, number: int, size: int | None, books: StageLedger) -> Context:
        name = self._stages[number].name
        same = [n for n, (other, _) in enumerate(self._planned.steps, start=1) if other == name]
        seed = derive_seed(self._planned.pipeline.seed, name, same.index(number))
        return Context(
            seed, self._stages[number].scratch, self._open, self._reseeded, self._box, self._watcher.say,
            self._watcher.at, size, books.note, books.totals,
        )  # fmt: skip

    def _open(self) -> OpenVerifier:
        if self._verifier is None:
            from strop_verify.verification import open_configured

            verifier = open_configured(self._box, self._planned.pipeline.verifier)
            self._verifier = self._stack.enter_context(verifier)
        return self._verifier

    @property
    def _box(self) -> SandboxConfig:
        box, options = self._planned.pipeline.sandbox, self._options
        unsafe = options.allow_unsafe or box.allow_unsafe
        return box.model_copy(update={"workers": options.workers or box.workers, "allow_unsafe": unsafe})

    def _reseeded(self, seed: int) -> OpenVerifier:
        from strop_verify.verification import open_verifier
        from strop_verify.verification.settings import limits_of

        box = self._box
        return open_verifier(
            workers=1, limits=limits_of(box), jail=box.jail, require=box.require, allow_unsafe=box.allow_unsafe,
            hash_seed=seed,
        )  # fmt: skip

    def _refuse_nothing(self, stage: StageFiles, entry: StageCounts) -> None:
        if not entry.taken:
            remedy = "name another file, or a built-in set such as python-functions"
            raise UserError(f"the sources hold no task: {remedy}")
        most = sorted(entry.reasons.items(), key=lambda item: -item[1])
        first = next(copied(stage.dropped), b"").decode("utf-8", "replace")
        reasons = ", ".join(f"{count} {reason}" for reason, count in most[:3])
        raise UserError(
            f"no task is left after the step {entry.step} ({reasons}); the first: {printable(first)[:300]}; "
            "change its settings"
        )


def _write(
    planned: Planned,
    identity: dict[str, Any],
    folder: CurationFolder,
    entries: list[StageCounts],
    last: StageFiles,
) -> dict[str, Any]:
    """Writes the result files, and the manifest last."""
    work = [StageFiles(folder.work, number, entry.step) for number, entry in enumerate(entries)]
    given = planned.pipeline.source
    read = [path.resolve() for entry in given for path in sources.files_of(entry.source)]
    homes = {path if path.is_dir() else path.parent for path in read}

    def result(part: str | None = None) -> Iterator[bytes]:
        """The tasks, or those of a part; copies the files and folders that they name into the folder."""
        for task in read_tasks(last.tasks):
            if part is None or part_of(task) == part:
                yield placed(task, lambda name: _carried(name, folder, homes)).model_dump_json().encode()

    files = {TASKS: folder.write(TASKS, result())}
    parts = [part for _, step in planned.steps for part in getattr(step, "parts", ())]
    for part in dict.fromkeys(parts):
        files[f"{part}.jsonl"] = folder.write(f"{part}.jsonl", result(part))
    files[DROPPED] = folder.write(DROPPED, (line for stage in work for line in copied(stage.dropped)))
    files[CHANGES] = folder.write(CHANGES, (line for stage in work for line in copied(stage.changes)))
    named = zip(given, sources.names(given), strict=True)
    manifest = {
        "format": FORMAT, "version": __version__, "about": planned.pipeline.about, "seed": planned.pipeline.seed,
        "sources": [{"source": entry.source, "name": name} for entry, name in named],
        "tasks": entries[-1].kept,
        "steps": [entry.as_json() for entry in entries],
        "files": files,
        **({"carried": sorted(folder.carried.values())} if folder.carried else {}),
        "identity": identity,
    }  # fmt: skip
    write_json(folder.path / MANIFEST, manifest)
    return manifest


def _carried(name: str, folder: CurationFolder, homes: Collection[Path]) -> str:
    """The name, in the result's folder, of a copied file or of a folder beside a source; other names are unchanged."""
    path = Path(name)
    if not path.is_absolute() or not (path.is_file() or (path.is_dir() and path.parent in homes)):
        return name
    return folder.carry(path)
