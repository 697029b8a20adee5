"""The process that runs pytest suites, separate from the answer: forks one jailed child per suite.

Trusted code in a jail. The answer is not among the files on disk: an import hook serves its module as proxies of what
lives in the candidate (`verification.python.suite.proxies`). So the only conftest.py, ini file and plugins are the
task's own.

Control packets: {"op": "fork", "limits"} with the descriptors of job channel and candidate gives {"pid"}; {"op":
"reap"} ends it. Job channel: takes {"code", "path", "work", "files", "paths", "hidden", "result_bytes", "draws",
"alter", "changes"}; sends the candidate's stages as the tester does, {"test": id, "ok", "x", "s"} for each test (with
the fields of `SuiteCalls.report`), {"collect": where, "x"} for a file that could not be collected, {"collected": calls
until then} if calls are recorded, {"done": why, "changed"}.
"""

import json
import os
import random
import sys
from collections.abc import Callable
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any, NoReturn

from strop_verify.core.syntax import syntax_tree
from strop_verify.sandbox import confine, workdir
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.python import fork_server
from strop_verify.verification.python.candidate_client import CandidateGone, failure_of_tests
from strop_verify.verification.python.names import module_names, star_names, used_names
from strop_verify.verification.python.suite.altered_calls import SuiteCalls
from strop_verify.verification.python.suite.proxies import RemoteModule, make
from strop_verify.verification.python.suite.session import Session
from strop_verify.verification.python.wire import Closed, FrameReader, read_blocking, write_blocking

_CHANNEL, _PEER = 3, 4
_Send = Callable[[dict[str, Any]], None]


class SuiteRecorder:
    """The plugin that reports results. A test passes when all its phases passed and no breach was seen in it."""

    def __init__(self, session: Session, send: _Send) -> None:
        self.session, self.send = session, send
        self.collected = ""
        """A failure during collection; fails every test."""
        self.failures: dict[str, str] = {}
        self.phases: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}

    def pytest_collection_finish(self) -> None:
        """Counts the breaches so far against every test."""
        self.collected = "; ".join(self.session.faults)
        if self.session.calls.noting:
            self.send({"collected": self.session.calls.end_collection()})

    def pytest_collectreport(self, report: Any) -> None:
        """Reports a file that cannot be imported."""
        if report.failed:
            self.send({"collect": report.nodeid, "x": self._cause(None)})

    def pytest_runtest_setup(self, item: Any) -> None:
        """Each test starts without breaches."""
        self.session.calls.begin(item.nodeid)
        self.session.faults.clear()
        self.session.raised = None
        random.seed(0)

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Keeps why a phase failed; the report itself may hold expected values."""
        if call.excinfo is not None:
            self.failures.setdefault(item.nodeid, self._cause(call.excinfo.value))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Counts the phases; the last one is teardown."""
        number = report.nodeid
        self.seconds[number] = self.seconds.get(number, 0.0) + report.duration
        if report.outcome == "passed" and not hasattr(report, "wasxfail"):
            self.phases.setdefault(number, set()).add(report.when)
        if report.when != "teardown":
            return
        fault = self.session.gone or self.collected or "; ".join(self.session.faults)
        passed = self.phases.get(number) == {"setup", "call", "teardown"} and not fault
        why = "" if passed else fault or self.failures.get(number) or "skipped or expected to fail"
        told = {"test": number, "ok": passed, "x": why[:300], "s": self.seconds[number]}
        self.send(told | self.session.calls.report())

    def _cause(self, error: BaseException | None) -> str:
        raised = self.session.raised
        if raised is not None and (error is None or error is raised):
            return f"{type(raised).__name__}: {raised}"
        if error is None or isinstance(error, CandidateGone):
            return "the file could not be collected" if error is None else "the answer's process is gone"
        return failure_of_tests(error)


class AnswerFinder(MetaPathFinder, Loader):
    """Provides the answer's module under every name by which the file at `path` could be imported."""

    def __init__(self, path: str, session: Session, hidden: frozenset[str], used: frozenset[str]) -> None:
        self.names = module_names(path)
        self.module = RemoteModule(self.names[0], session, hidden, used)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The spec of the answer's module; None for any other."""
        return spec_from_loader(fullname, self) if fullname in self.names else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The one proxy, whatever the name."""
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing: the candidate has loaded the module."""


def run_suite(job: dict[str, Any], session: Session, send: _Send) -> None:
    """Runs one job from the candidate's first frame to {"done"}."""
    texts = [text for path, text in job["files"] if path.endswith(".py")]
    brought = {name for text in texts for name in star_names(syntax_tree(text).body)}
    used = frozenset(name for text in texts for name in used_names(text))
    finder = AnswerFinder(job["path"], session, frozenset(job["hidden"]) | brought, used)
    session.takes_changes = job["changes"]
    if session.begin(
        {"code": job["code"], "module": finder.names[0], "near": sorted(used) if job["near"] else None}, send
    ):
        _pytest(job, finder, SuiteRecorder(session, send))
        send({"done": session.gone or None, "changed": session.changed, "uncrossed": session.met_objects})


def _pytest(job: dict[str, Any], finder: AnswerFinder, recorder: SuiteRecorder) -> None:
    import pytest

    work = job["work"]
    os.chdir(work)
    sys.meta_path.insert(0, finder)
    sys.path[:0] = [work, os.path.join(work, "src")]
    os.environ.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", HOME=work, TMPDIR=work)
    sys.argv = ["pytest"]
    quiet = ["-q", "--tb=no", "--no-header", "--no-summary"]
    plugins = [f"-pno:{name}" for name in ("cacheprovider", "faulthandler", "junitxml", "pastebin")]
    where = [f"--rootdir={work}", f"--basetemp={work}/.tmp"]
    pytest.main([*quiet, *plugins, *where, *job["paths"]], plugins=[recorder])


def main() -> NoReturn:
    """Serves forks until the parent hangs up. Own arguments: work directory, folder of packages, JSON list of
    paths to read for them.
    """
    work, packages, read = sys.argv[5], sys.argv[6], json.loads(sys.argv[7])
    sys.path.append(packages)
    control, settings, hello = fork_server.start(preload=fork_server.PYTEST, read=tuple(read), work=work)
    fork_server.serve(control, hello, partial(_child, settings.unsafe))


def _child(unsafe: bool, request: dict[str, Any], fds: tuple[int, ...]) -> fork_server.Become:
    return partial(_become, unsafe, Limits(**request["limits"]), fds, os.getpid())


def _become(unsafe: bool, limits: Limits, fds: tuple[int, ...], server: int) -> None:
    try:
        fork_server.take_over(server, fds)
        confine.seal(limits, writes_files=True, tolerant=unsafe)
        _job()
    except Closed:
        pass
    except BaseException as error:
        write_blocking(_CHANNEL, {"broken": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(0)


def _job() -> None:
    job = read_blocking(_CHANNEL, FrameReader())
    workdir.clear(job["work"])
    for name, text in job["files"]:
        workdir.put(job["work"], name, text.encode("utf-8", "surrogatepass"), 0)
    package = os.path.join(job["work"], os.path.dirname(job["path"]))
    os.makedirs(package, exist_ok=True)  # it may have no file
    calls = SuiteCalls(dict(job["alter"] or ()), noting=job["alter"] is not None)
    session = Session(_PEER, job["result_bytes"], make, calls, random.Random(job["draws"]))
    run_suite(job, session, partial(write_blocking, _CHANNEL))
