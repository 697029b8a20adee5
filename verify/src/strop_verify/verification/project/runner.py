"""The jailed process that runs projects' tests: imports pytest once and forks a child for each run.

A child receives a tree of files over its channel, writes it to the work directory, drops modules that its parent had
imported under the project's own names, gives up the right to start processes, and runs pytest. It holds no other tree,
no earlier content of an edited file and no other run's results. Its messages are signed with a secret of the run: bytes
that the project's code writes to the channel count as tampering. Code that searches the process's memory can find the
secret.

Control packets as in `verification.python.zygote`. Job channel: takes a frame of "files" ([path, size] each), "secret",
"keep", "roots", "own", "options", "arguments" and what `recorder.Recorder` reads, then the files' bytes. Sends
{"begun"}, the recorder's messages, {"modules"}, {"cache": path, "data": bytes} and {"done": exit status}, each behind
16 bytes of signature; {"broken"} alone is unsigned.
"""

import contextlib
import hashlib
import json
import os
import sys
from functools import partial
from typing import Any, NoReturn

from strop_verify.sandbox import confine, workdir
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.project.recorder import Guard, Recorder
from strop_verify.verification.python import fork_server
from strop_verify.verification.python.codec import message
from strop_verify.verification.python.decoder import fields
from strop_verify.verification.python.wire import HEADER, UNSIGNED, Closed, framed, write_all

_CHANNEL = 3
TIME = 1_000_000_000
"""Modification time of every file of a tree, in Unix seconds; constant, so that compiled files stay valid."""
_PLUGINS = ("cacheprovider", "faulthandler", "junitxml", "pastebin", "stepwise")
ENVIRONMENT = {
    "CI": "1", "TZ": "UTC", "LANG": "C.UTF-8", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1",
}  # fmt: skip
"""The tests' environment, with HOME and TMPDIR. CI makes Hypothesis use the same examples each time."""


class Channel:
    """Reads the job, then writes signed messages."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def exactly(self, count: int) -> bytes:
        """Reads the next `count` bytes. Raises Closed at the end."""
        parts = []
        while count:
            part = os.read(self._fd, min(count, 1 << 20))
            if not part:
                raise Closed("end of stream")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def job(self) -> dict[str, Any]:
        """Reads the job's frame."""
        return fields(self.exactly(int.from_bytes(self.exactly(HEADER), "big")))


def _signed(fd: int, secret: bytes) -> Any:
    """Returns a function that sends a message, signed together with its number."""
    keyed, count = hashlib.blake2b(key=secret, digest_size=len(UNSIGNED)), [0]
    pack, in_frame, write = message, framed, write_all

    def send(named: dict[str, Any]) -> None:
        body, mac = pack(named), keyed.copy()
        mac.update(b"%d:" % count[0] + body)
        count[0] += 1
        write(fd, in_frame(mac.digest() + body))

    return send


def main() -> NoReturn:
    """Serves forks until the parent hangs up.

    Arguments: work directory, folder with pytest; JSON lists of package folders, readable paths, modules to import.
    """
    work, testing = sys.argv[5:7]
    packages, read, ahead = map(json.loads, sys.argv[7:10])
    os.environ.update(ENVIRONMENT, HOME=work, TMPDIR=work)
    sys.path += [packages[-1], testing]  # our own pytest and its requirements, not the project's
    control, settings, hello = fork_server.start(preload=fork_server.PYTEST, read=tuple(read), work=work)
    sys.path[-2:] = packages
    for name in ahead:
        with contextlib.suppress(Exception):
            __import__(name)
    fork_server.serve(control, hello, partial(_child, settings.unsafe, work))


def _child(unsafe: bool, work: str, request: dict[str, Any], fds: tuple[int, ...]) -> fork_server.Become:
    return partial(_become, unsafe, work, Limits(**request["limits"]), fds, os.getpid())


def _become(unsafe: bool, work: str, limits: Limits, fds: tuple[int, ...], server: int) -> None:
    status = 0
    try:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        fork_server.take_over(server, fds)
        channel = Channel(_CHANNEL)
        job = channel.job()
        top = _lay_out(work, job.pop("files"), channel)
        confine.seal(limits, writes_files=True, tolerant=unsafe)
    except Closed:
        os._exit(0)
    except BaseException as error:
        write_all(_CHANNEL, framed(UNSIGNED + message({"broken": f"{type(error).__name__}: {error}"})))
        os._exit(0)
    try:
        status = _run(job, top)
    finally:
        os._exit(status)


def _lay_out(work: str, files: list[tuple[str, int]], channel: Channel) -> str:
    """Writes the tree and returns its folder."""
    workdir.clear(work)
    os.chdir(work)
    top = os.path.join(work, "project")
    for folder in {os.path.dirname(path) for path, _ in files}:
        os.makedirs(os.path.join(top, folder), exist_ok=True)
    for path, size in files:
        full = os.path.join(top, path)
        with open(full, "wb") as file:
            file.write(channel.exactly(size))
        os.utime(full, (TIME, TIME))
    os.makedirs(os.path.join(work, "tmp"), exist_ok=True)
    return top


def _run(job: dict[str, Any], top: str) -> int:
    import pytest

    own, fd = frozenset(job["own"]), job.pop("fd")
    os.dup2(_CHANNEL, fd)
    os.close(_CHANNEL)
    _hide()
    send = _signed(fd, job.pop("secret"))
    send({"begun": True})  # from here on a failure is the project's
    work = os.path.dirname(top)
    os.chdir(top)
    for name in [name for name in sys.modules if name.partition(".")[0] in own]:
        del sys.modules[name]
    sys.path[:0] = [os.path.normpath(os.path.join(top, root)) for root in job["roots"]]
    os.environ.update(TMPDIR=f"{work}/tmp")
    sys.dont_write_bytecode = not job["keep"]
    sys.argv = ["pytest"]
    before = set(sys.modules)
    recorder = Recorder(send, Guard(), job, top)
    quiet = ["-q", "--tb=no", "--no-header", "--no-summary", "--continue-on-collection-errors"]
    plugins = [f"-pno:{name}" for name in _PLUGINS]
    where = [f"--rootdir={top}", f"--basetemp={work}/tmp/pytest"]
    asked = [*quiet, *plugins, *where, *job["options"], *job["arguments"]]
    status = int(pytest.main(asked, plugins=[recorder]))
    if job["keep"]:
        send({"modules": sorted(name for name in set(sys.modules) - before if _from_outside(name, top))})
        for path, data in _compiled(top):
            send({"cache": path, "data": data})
    send({"done": status})
    return 0


def _hide() -> None:
    """Removes this program's modules and gives its classes random names, so that no code can name them."""
    for kind in (Guard, Recorder, Channel):
        kind.__name__ = kind.__qualname__ = "C" + os.urandom(6).hex()
        kind.__module__ = "m" + os.urandom(6).hex()
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("strop")]:
        del sys.modules[name]


def _from_outside(name: str, top: str) -> bool:
    module = sys.modules.get(name)
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    return bool(origin) and not str(origin).startswith(top + "/")


def _compiled(top: str) -> Any:
    for folder, _, names in os.walk(top):
        if os.path.basename(folder) == "__pycache__":
            for name in names:
                full = os.path.join(folder, name)
                with open(full, "rb") as file:
                    yield os.path.relpath(full, top), file.read()
