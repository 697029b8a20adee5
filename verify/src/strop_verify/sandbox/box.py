"""`open_box`: a worker process of the jail that runs programs in work directories, one at a time.

    with open_box() as box, box.work({"hello.py": "print(1)"}) as work:
        result = work.run(["python3", "hello.py"])

The process (strop_verify.sandbox.box_supervisor) starts with the first program, by a fresh exec, and enters its
namespaces once. A box belongs to one thread: the kernel ends the process with the thread that started it.
"""

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from strop_verify.core.errors import NotStarted, SandboxError
from strop_verify.sandbox import landlock
from strop_verify.sandbox.jailed import ANSWER_SECONDS, JailedProcess, WorkFolder
from strop_verify.sandbox.jails import LAUNCHER_BYTES, Jail, choose
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.pump import Capture, Pump
from strop_verify.sandbox.report import require_jail
from strop_verify.sandbox.streams import input_file, output_pipe
from strop_verify.sandbox.work import CommandResult, Profile, Work

if TYPE_CHECKING:
    from strop_verify.sandbox.image import Image

_ROOM = 1 << 20
"""Bytes of a pipe for a program's output; the maximum for an ordinary user."""


def open_box(
    *,
    jail: str = "auto",
    allow_unsafe: bool = False,
    read: Sequence[str] = (),
    roots: Sequence[str] = (),
    image: "Image | None" = None,
    home: str = "/box",
) -> "Box":
    """A box in the jail of that name (strop_verify.sandbox.jails). Close it or use it as a context manager.

    read   paths that its programs may read, as far as known; `Work.run` takes more
    roots  folders of the work directory that its programs also see at the root: "app" as /app
    image  the root of its programs, which they may change; changes are lost with the work directory
    home   the folder of the image that is the work directory, made if missing
    Raises SandboxError if the host cannot contain hostile code or does not offer that jail, or the jail has no `roots`
    or `image`.
    """
    require_jail(allow_unsafe)
    chosen = choose(jail)
    if roots and not chosen.namespaces:
        raise SandboxError(
            f"jail {chosen.name} has no root of its own, which /{roots[0]} needs; `strop doctor` tells why "
            "namespaces do not work here"
        )
    if image and not (chosen.namespaces and landlock.abi()):
        raise SandboxError(
            f"jail {chosen.name} cannot have the image {image.source} as its root, which needs namespaces and "
            "Landlock; `strop doctor` tells why they do not work here"
        )
    return Box(chosen, allow_unsafe=allow_unsafe, read=read, roots=roots, image=image, home=home)


def run_command(
    argv: Sequence[str],
    *,
    files: Mapping[str, bytes | str] | None = None,
    stdin: bytes = b"",
    limits: Limits | None = None,
    profile: Profile = "run",
    read: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    jail: str = "auto",
    allow_unsafe: bool = False,
) -> CommandResult:
    """Runs `argv` in a new work directory with `files`; see `strop_verify.sandbox.work.Work.run`.

    Raises SandboxError if the jail cannot be built or the program cannot be started, ValueError for a file name that
    leaves the work directory.
    """
    with open_box(jail=jail, allow_unsafe=allow_unsafe, read=read) as box, box.work(files) as work:
        return work.run(argv, stdin=stdin, limits=limits, profile=profile, read=read, environment=environment)


class Box:
    """One worker process. If it breaks, every method raises SandboxError; close it and open another."""

    def __init__(
        self,
        jail: Jail,
        *,
        allow_unsafe: bool,
        read: Sequence[str],
        roots: Sequence[str] = (),
        image: "Image | None" = None,
        home: str = "/box",
    ) -> None:
        self.jail, self._image = jail, image
        self._home = home
        self._allow_unsafe = allow_unsafe
        self._read, self._roots = set(read), sorted(roots)
        self._folder = WorkFolder(jail, "strop-")
        self.path = self._home if image else self._folder.path
        """The work directory as programs see it; also their current directory, HOME and TMPDIR."""
        self._supervisor: JailedProcess | None = None
        self._busy = False
        self._running: JailedProcess | None = None
        """The process whose program `stop` ends."""
        self._lock = threading.Lock()

    @contextmanager
    def work(
        self, files: Mapping[str, bytes | str] | None = None, *, read: Sequence[str] = ()
    ) -> "Iterator[Work]":
        """A new work directory with `files` (relative names), wiped at the end. One at a time.

        `read`: paths that all its programs may read.
        Raises ValueError for a file name that leaves the work directory.
        """
        if self._busy:
            raise ValueError("this box has a work directory in use")
        self._busy = True
        try:
            work = Work(self._run, self._ask, read)
            work.put(files or {})
            yield work
            if self._supervisor is not None and work.used:
                self._ask({"op": "wipe"}, (), False)
        except BaseException:
            self.close()  # in an unknown state: the next program gets a new process
            raise
        finally:
            self._busy = False

    def sized(self, limits: Limits) -> bool:
        """Whether the work directory cannot exceed `limits.dir_bytes`."""
        launched = self.jail.launcher == "bwrap" and limits.dir_bytes >= LAUNCHER_BYTES
        return self.jail.namespaces or launched

    def stop(self) -> None:
        """Ends the running program, if any; from any thread."""
        with self._lock, contextlib.suppress(SandboxError):
            if self._running is not None:
                self._running.send({"bytes": 0})

    def close(self) -> None:
        """Ends the process and all it started, and removes the work directory. Safe to call twice, from any thread.

        Raises SandboxError if something that it started cannot be killed.
        """
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            supervisor.close()
        self._folder.clear()

    def __enter__(self) -> "Box":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self, read: Sequence[str], *, fresh: bool) -> JailedProcess:
        """A running supervisor that sees the paths. `fresh`: it may be restarted for them."""
        if self.jail.own_root and not set(read) <= self._read:
            if not fresh:
                missing = sorted(set(read) - self._read)
                raise SandboxError(
                    f"{missing} must be passed with the first program of a work directory, or to open_box"
                )
            self._read |= set(read)
            if self._supervisor is not None:
                self.close()
        if self._supervisor is None:
            root = {"layers": self._image.layers, "home": self._home} if self._image else None
            try:
                self._supervisor = JailedProcess(
                    "strop_verify.sandbox.box_supervisor",
                    self.jail,
                    allow_unsafe=self._allow_unsafe,
                    arguments=[json.dumps(one) for one in (sorted(self._read), self._roots, root)],
                    read=sorted(self._read),
                    folder=self._folder,
                    programs=True,
                    error=SandboxError,
                )
            except OSError as error:
                raise SandboxError(f"the jail's worker process could not be started: {error}") from error
        return self._supervisor

    def _run(
        self,
        job: dict[str, Any],
        contents: Sequence[bytes],
        stdin: bytes | socket.socket,
        limits: Limits,
        fresh: bool,
    ) -> CommandResult:
        supervisor = self._started(job["read"], fresh=fresh)
        if self._image:
            job["environment"] = {**self._image.variables, **job["environment"]}
        try:
            return self._conversation(supervisor, job, contents, stdin, limits)
        except NotStarted:
            raise
        except SandboxError:
            self.close()
            raise

    def _conversation(
        self,
        supervisor: JailedProcess,
        job: dict[str, Any],
        contents: Sequence[bytes],
        stdin: bytes | socket.socket,
        limits: Limits,
    ) -> CommandResult:
        began = time.monotonic()
        with ExitStack() as stack:
            in_read = stdin.detach() if isinstance(stdin, socket.socket) else input_file(stdin)
            (out_read, out_write), (err_read, err_write) = output_pipe(_ROOM), output_pipe()
            for fd in (out_read, err_read):
                stack.callback(os.close, fd)
            kills = 0
            if supervisor.cgroup is not None:
                supervisor.cgroup.limit(limits.tree_bytes, limits.processes + 8)
                kills = supervisor.cgroup.kills()
            try:
                self._request(supervisor, job, contents, [in_read, out_write, err_write])
            finally:
                for fd in (in_read, out_write, err_write):
                    os.close(fd)
            out, err = (Capture(limits.output_bytes, limits.printed_bytes) for _ in range(2))
            messages: list[bytes] = []
            pump = Pump(Limits(cpu_seconds=1e9, wall_seconds=limits.wall_seconds + ANSWER_SECONDS))
            pump.read(supervisor.control.fileno(), messages.append)
            pump.read(out_read, out)
            pump.read(err_read, err)
            flood = False
            self._running = supervisor
            while not messages:
                if not pump.step():
                    raise supervisor.died("it did not answer")
                if not flood and (out.flood or err.flood):
                    flood = True
                    supervisor.send({"bytes": 0})  # ends the program
            with self._lock:
                self._running = None
            report = supervisor.parsed(messages[0])
            pump.drain(out_read)
            pump.drain(err_read)
        if report["error"]:
            kind = NotStarted if report["asked"] else SandboxError
            raise kind(f"{job['argv'][0]!r} could not be started in the jail: {report['error']}")
        return CommandResult(
            status=report["status"],
            expired="output" if flood else report["expired"],
            stdout=bytes(out.kept),
            stderr=bytes(err.kept),
            truncated=out.seen > out.limit or err.seen > err.limit,
            seconds=time.monotonic() - began,
            cpu_seconds=report["cpu"],
            peak_bytes=report["peak"],
            left=report["left"],
            sized=self.sized(limits),
            out_of_memory=supervisor.cgroup is not None and supervisor.cgroup.kills() > kills,
            captured=(out, err),
        )

    def _request(
        self,
        supervisor: JailedProcess,
        job: dict[str, Any],
        contents: Sequence[bytes],
        fds: Sequence[int] = (),
    ) -> None:
        data = json.dumps(job).encode()
        supervisor.send({"bytes": len(data)}, fds)
        for part in (data, *contents):
            supervisor.send_bytes(part)

    def _ask(
        self, job: dict[str, Any], contents: Sequence[bytes], fresh: bool
    ) -> tuple[dict[str, Any], list[int]]:
        supervisor = self._started(job["read"], fresh=True) if fresh else self._supervisor
        if supervisor is None:
            raise SandboxError("the box was closed")
        fds: list[int] = []
        try:
            self._request(supervisor, job, contents)
            return supervisor.receive(fds=fds), fds
        except SandboxError:
            self.close()
            raise
