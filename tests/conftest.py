"""What holds for every test: its tier, what a short run draws, what it needs, how Ctrl-C reaches its children, and
that a failure is told at once.
"""

import ast
import functools
import gc
import hashlib
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from tests import installs, needs, scale, tiers

from strop_verify.core.syntax import retried

if TYPE_CHECKING:
    from strop_verify.verification.verifier import OpenVerifier

SUSPECT = pytest.StashKey[list[str]]()
"""Tests that are in more than one tier or in none."""

# A background job of a shell has SIGINT ignored, and its children with it: tests of Ctrl-C would wait for ever.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch in each of them would take every core

if sys.version_info < (3, 11, 8):
    # It fails by chance (see strop_verify.core.syntax); where pytest itself parses, that would end the process.
    ast.parse = functools.wraps(ast.parse)(functools.partial(retried, ast.parse))

hypothesis.settings.register_profile("short", max_examples=25, deadline=None)
hypothesis.settings.register_profile("full", max_examples=300, deadline=None)


@pytest.fixture(scope="session")
def verifier() -> "Iterator[OpenVerifier]":
    """One whose answers have little time, with the default settings otherwise, for every test that needs no other."""
    from strop_verify.sandbox.limits import Limits
    from strop_verify.verification import open_verifier

    with open_verifier(workers=1, limits=Limits()) as opened:
        yield opened


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of this tree's wheels."""
    return installs.build_wheels(tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--short", action="store_true", help="draw a part of the dear tiers (see tests/README.md)"
    )
    parser.addoption("--full", action="store_true", help="everything in full, nothing sampled")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    gc.disable()
    for name, text in tiers.TIERS.items():
        config.addinivalue_line("markers", f"{name}(seconds): {text}")
    if config.getoption("full"):
        os.environ["STROP_TEST_FULL"] = "1"
    # Processes of pytest-xdist get it from here, so that all draw the same.
    os.environ["STROP_TEST_SEED"] = scale.seed()
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(int.from_bytes(scale.seed().encode(), "big"))
    hypothesis.settings.load_profile("full" if scale.full() else "short")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Long texts get short ids: the environment of every process started by a test holds the test's id."""
    if isinstance(val, str | bytes) and len(val) > 100:
        data = val if isinstance(val, bytes) else val.encode("utf-8", "surrogatepass")
        return f"{argname}-{hashlib.sha256(data).hexdigest()[:8]}"
    return None


def pytest_report_header() -> str:
    return f"drawn by STROP_TEST_SEED={scale.seed()}" if not scale.full() else "a full run: nothing is drawn"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[SUSPECT] = [item.nodeid for item in items if len(tiers.tiers(item)) != 1]
    for item in items:
        if not item.get_closest_marker(tiers.tier(item)):
            item.add_marker(tiers.tier(item))
        if name := tiers.group(item):
            item.add_marker(pytest.mark.xdist_group(name))
    if config.getoption("short"):
        chosen = tiers.drawn(items, scale.seed())
        kept = set(chosen)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = chosen
    if "PYTEST_XDIST_WORKER" in os.environ:
        items[:] = tiers.dear_first(items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests and the libraries stay to the end: the garbage collector never looks at them."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Iterator[Any]:
    """Reports as a process of pytest-xdist can send them: with half of a surrogate pair in one, all tests would end."""
    return _encodable((yield))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(one) for key, one in value.items()}
    return type(value)(map(_encodable, value)) if isinstance(value, list | tuple) else value


class FailuresAtOnce:
    """Prints each failure when it comes: a run that is cut off, by whatever signal, has told those that it had."""

    def __init__(self, config: pytest.Config) -> None:
        self._reporter: Any = config.pluginmanager.getplugin("terminalreporter")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = _encodable(str(getattr(crash, "message", report.longrepr)).strip().partition("\n")[0])
            self._reporter.write(f"\nfailed: {report.nodeid} - {said:.120}\n", flush=True)


def pytest_sessionstart(session: pytest.Session) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:  # workers send theirs
        session.config.pluginmanager.register(FailuresAtOnce(session.config))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("rust"):
        needs.need("cargo")
    for mark in item.iter_markers("needs"):
        needs.need(*mark.args)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many tests of each tier ran, and their seconds."""
    count: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name in tiers.TIERS.keys() & getattr(report, "keywords", {}).keys():
                count[name] += getattr(report, "when", "") == "call"
                spent[name] += getattr(report, "duration", 0.0)
    if sum(count.values()) > 1:
        rows = (f"{name} {count[name]} in {spent[name]:.0f} s" for name in tiers.TIERS if count[name])
        drawn = "" if scale.full() else f"; drawn by STROP_TEST_SEED={scale.seed()}"
        terminalreporter.write_line(f"tiers: {', '.join(rows)}{drawn}")
