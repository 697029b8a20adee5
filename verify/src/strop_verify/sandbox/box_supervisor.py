"""The worker process of a box: starts jailed programs in its work directory, one at a time, and reaps their trees.

A small separate process, started with a fresh exec; if the jail has namespaces, it enters them once and is their init
process. However a program ends (by itself, by a limit, by the parent's request or death), every descendant is killed
and reaped before the supervisor answers, including those in other sessions.

Threat model: programs are hostile. They cannot signal this process (because of the process namespace, Landlock's scope
or seccomp), and files that they leave in the work directory are only opened through descriptors, following no link.

Control socket (`strop_verify.sandbox.jailed`): a request is {"bytes": count}, for "run" with the program's three
descriptors, then `count` bytes of JSON and the files' bytes; {"bytes": 0} ends a running program. An answer is one
message; for "read", "list" and "listen" with a descriptor.
"""

import contextlib
import errno
import json
import os
import resource
import shutil
import signal
import socket
import sys
from typing import Any, NoReturn

from strop_verify.sandbox import confine, kernel, landlock, namespaces, tree, workdir
from strop_verify.sandbox.image_root import INODES, UPPER, ImageRoot
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.program_start import NoProgram, ProgramStart

_PACKET_BYTES, _REMOUNT = 1 << 16, 0x20
PORT = 8000
"""Port of a server for programs, in their own network."""
_ASKED = {
    errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EINVAL, errno.EILSEQ, errno.EFBIG,
    errno.EACCES, errno.EPERM, errno.ELOOP,  # modes of folders that a program has set
}  # fmt: skip
"""Errors caused by the requested names and sizes of files; all others are the machine's."""


def main() -> NoReturn:
    """argv: -, control descriptor, parent's pid, settings (confine.WorkerSettings), work directory, paths, roots,
    image: {"layers", "home"} or null (image_root).
    """
    control_fd, parent = int(sys.argv[2]), int(sys.argv[3])
    work, read = sys.argv[5], tuple(json.loads(sys.argv[6]))
    roots, given = json.loads(sys.argv[7]), json.loads(sys.argv[8])
    settings = confine.WorkerSettings(**json.loads(sys.argv[4]), image=bool(given))
    image = ImageRoot(given["layers"], given["home"], work, read, settings.uid) if given else None
    kernel.die_with_parent(parent, signal.SIGTERM)
    control = socket.socket(fileno=control_fd)
    if settings.holds >= 0:
        os.set_inheritable(settings.holds, False)  # programs must not inherit it
    supervisor: BoxSupervisor | None = None
    try:
        if not control.recv(_PACKET_BYTES):  # by now the parent has put this process into its cgroup
            os._exit(0)
        if settings.namespaces:
            _move_in(control_fd, work, read, roots, settings, image)
        names = ("/",) if roots else ()
        supervisor = BoxSupervisor(control, settings, work, (*read, *names), image)
        supervisor.serve()
    except EOFError:
        pass  # the parent is gone
    except BaseException as error:
        with contextlib.suppress(OSError):
            control.send(_packed({"broken": f"{type(error).__name__}: {error}"}))
    finally:
        try:
            if supervisor is not None:
                supervisor.end()
        except BaseException as error:
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(0)


def _move_in(
    control: int,
    work: str,
    read: tuple[str, ...],
    roots: list[str],
    settings: confine.WorkerSettings,
    image: ImageRoot | None,
) -> None:
    """Continues as pid 1 of new namespaces, in a child; the original process waits outside."""
    namespaces.unshare(processes=True)
    inner = os.fork()
    if inner:
        os.close(control)
        signal.signal(signal.SIGTERM, lambda number, frame: os.kill(inner, signal.SIGKILL))
        while True:
            with contextlib.suppress(InterruptedError):
                os.waitpid(inner, 0)
                os._exit(0)
    kernel.die_with_parent(0, signal.SIGKILL)
    if image:
        return image.enclose(_options(Limits(), settings.uid, INODES))
    paths = (*confine.SYSTEM_READ, *confine.PROGRAMS_READ, *read)
    namespaces.enclose(
        paths,
        work=work,
        work_options=_options(Limits(), settings.uid),
        processes=True,
        roots=roots,
        hidden=settings.hidden,
    )


def _options(limits: Limits, uid: int, inodes: int = workdir.ENTRIES) -> str:
    return f"size={limits.dir_bytes},nr_inodes={inodes},mode=700" + (f",uid={uid},gid={uid}" if uid else "")


def _packed(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


def _stored(found: dict[str, Any]) -> int:
    """A descriptor of a file in memory with `found` as JSON."""
    fd = os.memfd_create("listing", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(_packed(found))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class BoxSupervisor:
    """Serves requests until the parent hangs up."""

    def __init__(
        self,
        control: socket.socket,
        settings: confine.WorkerSettings,
        work: str,
        read: tuple[str, ...],
        image: ImageRoot | None = None,
    ) -> None:
        self.control, self.settings, self.work, self.image = control, settings, work, image
        control.set_inheritable(False)  # programs must not inherit it
        self.read: tuple[str, ...] = (work,)
        if not image:
            system = confine.readable((*confine.SYSTEM_READ, *confine.PROGRAMS_READ), settings.hidden)
            self.read = (*system, *read, work)
        self.sized = settings.namespaces
        self.size = Limits().dir_bytes
        self.port = 0  # port that programs may connect to
        self.wake, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGTERM, lambda number, frame: None)
        kernel.become_subreaper()
        kernel.undumpable()
        if not settings.namespaces:
            os.makedirs(work, exist_ok=True)
            if settings.uid:
                os.chown(work, settings.uid, settings.uid)
        os.chdir(work)

    def serve(self) -> None:
        """Serves requests one after another. Raises EOFError when the parent is gone."""
        self.control.send(_packed({"hello": os.getpid()}))
        while True:
            data, fds, _, _ = socket.recv_fds(self.control, _PACKET_BYTES, 3)
            if not data:
                raise EOFError
            count = json.loads(data)["bytes"]
            if not count:
                continue  # a request to end a program that has already ended
            job = json.loads(self._receive(count))
            if job["op"] == "run":
                self.control.send(_packed(self._run(job, fds)))
            else:
                self._answer(job)

    def end(self) -> None:
        """Kills what is left and removes the work directory, unless it ends with this process. Raises OSError."""
        tree.kill_all(self.settings.uid)
        if not self.settings.namespaces:
            os.chdir("/")
            with contextlib.suppress(OSError):
                workdir.clear(self.work)
            shutil.rmtree(self.work, ignore_errors=True)

    def _receive(self, count: int) -> bytes:
        parts = []
        while count:
            part = self.control.recv(_PACKET_BYTES)
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _answer(self, job: dict[str, Any]) -> None:
        """Sends the result, with a descriptor if there is one, or what was wrong with the request."""
        fds: list[int] = []
        reply: dict[str, Any] = {"error": ""}
        try:
            fds = self._done(job)
        except FileNotFoundError as error:
            reply = {"error": str(error.filename), "absent": True}
        except ValueError as error:
            reply["error"] = str(error)
        except OSError as error:
            if not self._asked(error):
                raise
            reply["error"] = os.strerror(error.errno or 0)
        socket.send_fds(self.control, [_packed(reply)], fds)
        for fd in fds:
            os.close(fd)

    def _done(self, job: dict[str, Any]) -> list[int]:
        match job["op"]:
            case "put":
                self._furnish(job["files"], Limits(**job["limits"]))
            case "read":
                return [workdir.open_regular(self.work, self._inside(job["name"]))]
            case "list":
                return [_stored(workdir.listing(self.work, self._inside(job["under"])))]
            case "folders":
                for name in job["names"]:
                    workdir.make_folder(self.work, self._inside(name), self.settings.uid)
            case "close" if self.image:
                self.image.close_folders(job["closed"], job["open"])
            case "listen":
                if self.settings.namespaces:
                    namespaces.raise_loopback()
                with socket.create_server(("127.0.0.1", PORT), backlog=64) as listener:
                    self.port = PORT
                    return [os.dup(listener.fileno())]
            case "remove":
                for name in job["names"]:
                    workdir.remove(self.work, self._inside(name))
            case _:
                self._renew()
        return []

    def _inside(self, name: str) -> str:
        """A file's name below the work directory; in an image, names are relative to its home folder."""
        return f"{self.image.home}/{name}".strip("/") if self.image else name

    def _renew(self) -> None:
        """Replaces the work directory with a new one: nothing of it remains, not even its attributes."""
        os.chdir("/")
        if self.image:
            self.size = Limits().dir_bytes
            self.image.renew(_options(Limits(), self.settings.uid, INODES))
        elif self.settings.namespaces:
            kernel.unmount(self.work)
            self.size = Limits().dir_bytes
            namespaces.mount_work(self.work, _options(Limits(), self.settings.uid))
        else:
            workdir.renew(self.work, self.settings.uid)
        landlock.forget()  # its rules refer to the old directory
        self.port = 0
        os.chdir(self.work)

    def _asked(self, error: OSError) -> bool:
        """Whether requested names or sizes caused the error."""
        return error.errno in _ASKED or (self.sized and error.errno == errno.ENOSPC)

    def _run(self, job: dict[str, Any], streams: list[int]) -> dict[str, Any]:
        report: dict[str, Any] = {"status": -1, "error": "", "asked": False, "expired": ""}
        limits = Limits(**job["limits"])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            try:
                self._furnish(job["files"], limits)
            except OSError as error:
                report["asked"] = self._asked(error)
                raise
            child = self._start(job, limits, streams, report)
            for fd in streams:
                os.close(fd)
            streams = []
            if not report["error"]:
                report["expired"] = tree.watch(child, limits, (self.control.fileno(), self.wake))
            tree.end(child, report)
        except OSError as error:
            report["error"] = f"{type(error).__name__}: {error}"
        finally:
            for fd in streams:
                os.close(fd)
            report["left"] = tree.kill_all(self.settings.uid)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        report["cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        higher = after.ru_maxrss > before.ru_maxrss
        report["peak"] = after.ru_maxrss * 1024 if higher else report.pop("own", 0)
        return report

    def _furnish(self, files: list[tuple[str, int, bool]], limits: Limits) -> None:
        """Reads all files that follow a request, each (name, bytes, executable), and writes them. Raises OSError."""
        left = list(reversed(files))
        try:
            if self.sized and limits.dir_bytes != self.size:
                options = _options(limits, self.settings.uid, INODES if self.image else workdir.ENTRIES)
                kernel.mount("none", UPPER if self.image else self.work, "", _REMOUNT, options)
                self.size = limits.dir_bytes
            if self.image:
                self.image.make_home()
            while left:
                name, size, executable = left.pop()
                name = self._inside(name)
                workdir.put(self.work, name, self._receive(size), self.settings.uid, executable=executable)
        finally:
            for _, size, _ in left:
                self._receive(size)

    def _start(self, job: dict[str, Any], limits: Limits, streams: list[int], report: dict[str, Any]) -> int:
        build = job["profile"] == "build"
        program = ProgramStart(
            job["argv"], job["environment"], self.work, streams, limits,
            read=self.read if self.image else (*self.read, *job["read"]),
            write=(self.image.writable if self.image else (self.work,)) if build else (), build=build,
            settings=self.settings, port=self.port, image=self.image,
        )  # fmt: skip
        failed, fail = os.pipe()  # close-on-exec: the stream ends when the program runs
        child = os.fork()
        if child == 0:
            try:
                program()
            except BaseException as error:
                os.write(fail, f"{type(error).__name__}: {error}"[:500].encode(errors="replace"))
            finally:
                os._exit(127)
        os.close(fail)
        report["error"] = os.read(failed, 1000).decode(errors="replace")
        report["asked"] = report["error"].startswith(NoProgram.__name__)
        os.close(failed)
        return child
