"""The client of `runner`: one jailed process that runs tests on trees of files.

The jail never holds the snapshot, only the tree to judge, sent as bytes. Compiled files and the modules to import
ahead come from a run of the unchanged snapshot; compiled files of sources that a run changes are left out.
"""

import json
import secrets
import socket
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from strop_verify.core.errors import WorkerDied
from strop_verify.core.verdict import Outcome
from strop_verify.sandbox.jailed import JailedProcess, WorkFolder
from strop_verify.sandbox.jails import choose
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Capture, Pump, stopped
from strop_verify.verification.project.layout import Layout, layout_of
from strop_verify.verification.project.needs import needs_of
from strop_verify.verification.project.runs import BARE, PLAIN, CompileCache, Listener, ProjectRun, RunRequest
from strop_verify.verification.python.child import ExitStatus, cause_of_death, reap
from strop_verify.verification.python.suite.check import BOX, testing_site
from strop_verify.verification.python.wire import frame
from strop_verify.verification.settings import Settings

_USAGE, _INTERNAL = 4, 3
_DESCRIPTORS = 200
"""Size of the range from which the channel's descriptor is drawn."""
_LOOK = 0.5
"""Seconds between checks that the tests' process was not stopped."""


class TestsProcess(JailedProcess):
    """Runs tests on a project's snapshot `base`, with an earlier run's compiled files. For the starting thread only."""

    def __init__(
        self, base: Mapping[str, bytes], settings: Settings, warmth: CompileCache, *, hash_seed: int = 0
    ) -> None:
        self.base, self.warm = base, warmth
        self.layout: Layout = layout_of(base)
        chosen, runs, needs = choose(settings.jail), testing_site(), needs_of(dict(base), settings.packages)
        sites = [*([needs.given] if needs.given else []), needs.site]
        read = [path for one in sites for path in one.read]
        ahead = [name for name in self.warm.modules if name.partition(".")[0] not in self.layout.own]
        super().__init__(
            "strop_verify.verification.project.runner",
            chosen,
            allow_unsafe=settings.allow_unsafe,
            arguments=(
                runs.packages,
                json.dumps([one.packages for one in sites]),
                json.dumps(read),
                json.dumps(ahead),
            ),
            read=[*read, *runs.read],
            folder=WorkFolder(chosen, "strop-project-"),
            hash_seed=hash_seed,
        )

    def take(self, base: Mapping[str, bytes], warmth: CompileCache) -> None:
        """Switches to another snapshot, with its compiled files and pytest options."""
        self.base, self.layout, self.warm = base, layout_of(base), warmth

    def run(
        self,
        request: RunRequest,
        limits: Limits,
        *,
        files: Mapping[str, bytes] | None = None,
        removed: Collection[str] = (),
    ) -> ProjectRun:
        """Runs tests on the snapshot with `files` written and `removed` deleted. Raises WorkerDied."""
        tree = self._tree(files or {}, removed)
        secret = secrets.token_bytes(32)
        listener, pump = Listener(secret), Pump(limits)
        ours, theirs = socket.socketpair()
        try:
            with ours, theirs:
                asked = {"op": "fork", "limits": asdict(limits)}
                pid = self.ask(asked, [theirs.fileno()])["pid"]
                theirs.close()
                pump.watch(pid, fresh=True)
                pump.read(ours.fileno(), listener.feed)
                pump.write(ours.fileno(), frame(self._job(request, tree, secret)) + b"".join(tree.values()))
                while not listener.over and pump.step(_LOOK):
                    if stopped(pid):
                        listener.run.tampered = "the tests' process was stopped"
                        break
                pump.drain(ours.fileno())
                unfinished = listener.run.status is None
                end = reap(self, kill=bool(pump.expired or listener.run.tampered or unfinished))
        except WorkerDied:
            self.close()
            raise
        return self._concluded(listener, pump, end, request)

    def _concluded(self, listener: Listener, pump: Pump, end: ExitStatus, request: RunRequest) -> ProjectRun:
        run = listener.run
        if not listener.heard:  # no code of the project has run
            self.close()
            raise WorkerDied(f"the tests' process could not start: {listener.broken or end}")
        run.cpu_seconds, run.peak_bytes = end.cpu, end.peak
        run.uncollected = run.uncollected.replace(self.work, BOX)
        for name, result in run.results.items():
            run.results[name] = result.model_copy(update={"message": result.message.replace(self.work, BOX)})
        if run.tampered:
            run.stop = (Outcome.TAMPERED, run.tampered)
        elif run.status is None and run.stop is None:
            run.stop = cause_of_death(end, pump, (Capture(1),))
        elif run.status == _INTERNAL and run.stop is None:
            run.stop = (Outcome.FAILED, "pytest ended with an internal error")
        if request.keep and run.stop is None:
            run.warmth = listener.warmth(self.warm.options)
        return run

    def _tree(self, files: Mapping[str, bytes], removed: Collection[str]) -> dict[str, bytes]:
        tree = {path: data for path, data in {**self.base, **files}.items() if path not in removed}
        tree |= self.layout.extra
        stale = {_cache_stem(path) for path in (*files, *removed)}
        for path, data in self.warm.compiled.items():
            stem = path.rpartition("/")[0], PurePosixPath(path).name.partition(".")[0]
            if stem not in stale:
                tree[path] = data
        return tree

    def _job(self, request: RunRequest, tree: Mapping[str, bytes], secret: bytes) -> dict[str, Any]:
        return {
            "files": [[path, len(data)] for path, data in tree.items()],
            "tests": None if request.tests is None else sorted(request.tests),
            "left_out": sorted(request.left_out),
            "order": request.order,
            "fd": 4 + secrets.randbelow(_DESCRIPTORS),
            "collect": request.collect,
            "probes": [list(probe) for probe in request.probes],
            "seconds": request.seconds,
            "loading": request.loading,
            "patience": request.patience,
            "traced": list(request.traced),
            "reach": request.reach,
            "roots": list(self.layout.roots),
            "own": sorted(self.layout.own),
            "options": list(self.warm.options),
            "arguments": _arguments(request),
            "keep": request.keep,
            "secret": secret,
        }


def warm_up(base: Mapping[str, bytes], limits: Limits, settings: Settings) -> tuple[CompileCache, ProjectRun]:
    """Collects the snapshot's tests; returns what speeds up later runs, and the run. Raises WorkerDied."""
    run = ProjectRun()
    for options in (PLAIN, BARE):
        with closing(TestsProcess(base, settings, CompileCache(options=options))) as process:
            run = process.run(RunRequest(collect=True, keep=True), limits)
        if run.collected or run.endless or run.status not in (_USAGE, _INTERNAL, None):
            break
    return run.warmth or CompileCache(), run


def _cache_stem(path: str) -> tuple[str, str]:
    pure = PurePosixPath(path)
    folder = str(pure.parent)
    return ("__pycache__" if folder == "." else f"{folder}/__pycache__"), pure.name.partition(".")[0]


def _arguments(request: RunRequest) -> list[str]:
    """pytest's arguments for the tests: functions without parameters, whose text may be unusual."""
    if request.tests is None:
        return [*request.within]
    named = (test for test in request.tests if test.partition("::")[0] not in request.beside)
    return sorted({*(test.partition("[")[0] for test in named), *request.beside})
