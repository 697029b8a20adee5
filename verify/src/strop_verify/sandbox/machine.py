"""`Machine`: a jailed folder that looks like a container to its programs: absolute paths, a shell, variables.

    with Machine(workdir="/app") as machine:
        machine.put("/app/hello.sh", b"echo $NAME")
        machine.shell("sh hello.sh", environment={"NAME": "you"}).stdout

Its programs and libraries are this computer's, read-only, with a Python and pytest separate from Strop's own. There is
no network and one user, and no process outlives the command that started it. Only HOME and its roots are writable:
/app /logs /solution /tests /tmp and that of the work directory, except those that contain Strop itself.

With an image, programs and libraries are the image's, and all of it is writable until `protect` is called.
"""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from strop_verify.core.errors import SandboxError
from strop_verify.sandbox.box import open_box
from strop_verify.sandbox.confine import PROGRAMS_READ, SYSTEM_READ
from strop_verify.sandbox.folder import Folder
from strop_verify.sandbox.image import Image
from strop_verify.sandbox.interpreter import GIVEN, interpreter, interpreter_reads
from strop_verify.sandbox.limits import Limits
from strop_verify.sandbox.packages import TESTS, site_of
from strop_verify.sandbox.spawn import helper_reads
from strop_verify.sandbox.work import CommandResult

ROOTS = ("app", "logs", "solution", "tests", "tmp")
_SYSTEM = ("bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "opt", "sbin", "usr")
_OF_JAIL = ("proc", "dev", "sys")
LIMITS = Limits(
    cpu_seconds=3600, wall_seconds=3600, memory_bytes=16 << 30, output_bytes=4 << 20, file_bytes=1 << 30,
    dir_bytes=1 << 30, tree_bytes=3 << 30, open_files=1024, processes=256,
)  # fmt: skip
PYTHON, SOURCE = "STROP_PYTHON", "STROP_SOURCE"
"""Variables for graders that run inside: a Python with Strop's requirements, and the folders of Strop's source."""
_EXPIRED = 124
"""Exit status of a command that took too long, as of timeout(1)."""


def programs_path() -> str:
    """A machine's default PATH."""
    return f"{site_of(TESTS).folder}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def _sources() -> list[str]:
    """The folders of Strop's installed parts."""
    found = map(find_spec, ("strop_verify", "strop", "strop_tasks"))
    return list(dict.fromkeys(str(Path(s.origin).resolve().parents[1]) for s in found if s and s.origin))


class Machine:
    """A folder that looks like a container. Nothing starts before the first use. One call at a time; others wait.
    Every method raises SandboxError if the jail broke or has no root of its own here.
    """

    def __init__(
        self,
        *,
        workdir: str = "/app",
        environment: Mapping[str, str] | None = None,
        limits: Limits = LIMITS,
        jail: str = "auto",
        allow_unsafe: bool = False,
        grades: bool = False,
        image: Image | None = None,
        read: Sequence[str] = (),
    ) -> None:
        """`grades`: only a grader runs in it, which may read Strop and its packages, and so Strop's tasks; not with an
        `image`, its root. `read`: further folders of this computer that may be read, without an image.

        Raises ValueError for a work directory that is not writable, such as one below /usr without an image.
        """
        self.workdir, self.limits, self._image = str(PurePosixPath("/", workdir)), limits, image
        self._made = False
        if image:
            self.roots: tuple[str, ...] = ()
            self.environment = {**image.variables, **(environment or {})}
            self._folder = Folder(
                lambda: open_box(jail=jail, allow_unsafe=allow_unsafe, image=image, home="/"), limits=limits
            )
            return
        top = PurePosixPath(self.workdir).parts[1:2]
        if not top:
            raise ValueError("the work directory / cannot be written in the jail; name one such as /app")
        system = {PurePosixPath(path).parts[1] for path in (*SYSTEM_READ, *PROGRAMS_READ)}
        if top[0] in (*system, "box", "proc"):
            raise ValueError(
                f"the work directory {self.workdir} is in /{top[0]}, which is read-only in the jail"
            )
        site = site_of(TESTS)
        python = dict.fromkeys((*interpreter_reads(), *site.read))
        if grades:
            python |= dict.fromkeys((sys.prefix, sys.base_prefix, *_sources()))
        python |= dict.fromkeys(read)
        taken = {Path(path).resolve().parts[1] for path in (*python, *helper_reads())} | {
            Path(path).parts[1] for path in python
        }
        self.roots = tuple(sorted({*ROOTS, *top} - (taken - set(top))))
        self.environment = {"PATH": programs_path()}
        if grades:
            self.environment |= {PYTHON: sys.executable, GIVEN: str(interpreter())}
            self.environment[SOURCE] = os.pathsep.join(_sources())
        self.environment |= environment or {}
        if "tmp" in self.roots:
            self.environment.setdefault("TMPDIR", "/tmp")
        reads = tuple(python)
        self._folder = Folder(
            lambda: open_box(jail=jail, allow_unsafe=allow_unsafe, read=reads, roots=self.roots),
            limits=limits,
            read=reads,
        )

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        stdin: bytes | str = b"",
        environment: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> CommandResult:
        """Runs a program until its whole tree has ended, in `cwd` (relative to the work directory, the default).

        Exit statuses are as in a shell: 124 after `seconds` of wall time (then `expired` is set too), 126 if it cannot
        be run, 127 if it does not exist, 128 plus the number of a signal. Raises NotStarted if the folder is full.
        """
        self._make()
        wall = min(seconds or self.limits.wall_seconds, self.limits.wall_seconds)
        place = str(PurePosixPath(self.workdir, cwd or ""))
        result = self._folder.run(
            ["/bin/sh", "-c", 'cd -- "$0" && exec "$@"', place, *argv],
            stdin=stdin,
            limits=replace(self.limits, wall_seconds=wall, cpu_seconds=wall * (os.cpu_count() or 1)),
            environment={**self.environment, **(environment or {})},
        )
        status = _EXPIRED if result.expired else result.status
        return replace(result, status=status if status >= 0 else 128 - status)

    def shell(
        self,
        command: str,
        *,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> CommandResult:
        """Runs a bash command; see `run`."""
        return self.run(["bash", "-c", command], cwd=cwd, environment=environment, seconds=seconds)

    def put(self, files: Mapping[str, bytes | str], *, executable: Collection[str] = ()) -> None:
        """Writes files by path, relative to the work directory.

        Raises ValueError for a path that is not writable, and for more than the jail holds.
        """
        self._make()
        inside = {self._inside(path): data for path, data in files.items()}
        self._folder.put(inside, executable={self._inside(path) for path in executable})

    def read(self, path: str, *, limit: int = 64 << 20) -> bytes:
        """Reads a regular file; follows no link. Raises FileNotFoundError, ValueError if it is longer or not a file."""
        self._make()
        return self._folder.read(self._inside(path), limit=limit)

    def files(self, path: str) -> dict[str, bool]:
        """The regular files below a folder, by relative path, and whether they are executable. Without links.

        Raises ValueError if there are too many.
        """
        if self._image:
            try:
                inside = self._folder.files(self._inside(path))
            except FileNotFoundError:
                return {}
            return {name: info.executable for name, info in inside.items()}
        top = self._inside(path) + "/"
        found = self._folder.files()
        return {name[len(top) :]: info.executable for name, info in found.items() if name.startswith(top)}

    def protect(self) -> None:
        """In an image, stops later programs from writing to folders with programs (/usr, /etc and the like, those of
        PATH), except in the work directory.
        """
        if self._image:
            self._make()
            places = [PurePosixPath(path).parts[1:2] for path in self.environment.get("PATH", "").split(":")]
            programs = {top for part in places for top in part} - {*ROOTS}
            still_open = [] if self.workdir == "/" else [self.workdir]
            self._folder.close_folders({*_SYSTEM, *programs}, still_open)

    def close(self) -> None:
        """Ends running programs and removes everything. Safe to call twice, from any thread."""
        self._folder.close()

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make(self) -> None:
        """Makes the roots' folders once."""
        if self._made:
            return
        logs = ["logs/agent", "logs/verifier", "logs/artifacts"]
        folders = [*(ROOTS if self._image else self.roots), self.workdir[1:], *logs]
        if self._image:
            self._folder.make([name for name in folders if name])
            self._made = True
            return
        made = self._folder.run(["mkdir", "-p", *folders])
        if made.status:
            raise SandboxError(f"cannot make {self.workdir}: {made.stderr.decode(errors='replace').strip()}")
        self._made = True

    def _inside(self, path: str) -> str:
        parts = PurePosixPath(self.workdir, path).parts[1:]
        if self._image:
            if ".." in parts or not parts or parts[0] in _OF_JAIL:
                raise ValueError(f"{path} cannot be written in the jail")
            return "/".join(parts)
        if ".." in parts or parts[:1] not in {(root,) for root in self.roots}:
            raise ValueError(f"{path} cannot be written in the jail; writable: /{', /'.join(self.roots)}")
        return "/".join(parts)
